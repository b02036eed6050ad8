/* exact.h - structs that are stored, sent or hashed byte by byte.
 *
 * Padding in them would be uninitialised: equal structs would differ, and former contents of memory
 * would leak.  Between these two marks gcc rejects padding. */
#ifndef BSPZ_BASE_EXACT_H
#define BSPZ_BASE_EXACT_H

#define BSPZ_EXACT_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"")
#define BSPZ_EXACT_END   _Pragma("GCC diagnostic pop")

#endif
