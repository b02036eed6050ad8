/* exact.h - structs that leave a process as they are: in an image, to another host, under a hash.
 *
 * Padding in them would be bytes that nobody set: equal structs would differ, and what memory held
 * before would be shown to others.  Between these two marks padding does not compile with gcc. */
#ifndef BSPZ_BASE_EXACT_H
#define BSPZ_BASE_EXACT_H

#define BSPZ_EXACT_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"")
#define BSPZ_EXACT_END   _Pragma("GCC diagnostic pop")

#endif
