/* terminal.h - a pseudo terminal that a program has as an output, and its size. */
#ifndef BSPRUN_TERMINAL_H
#define BSPRUN_TERMINAL_H

#include <stdint.h>

/* Opens a new one of this size that passes bytes on unchanged: the program's output to *writer is
 * read from *reader, which does not block.  Both are close-on-exec. 0 or -errno. */
int terminal_open(unsigned rows, unsigned columns, int *reader, int *writer);

/* Its device number (st_rdev), by which a program recognises it. */
uint64_t terminal_device(int writer);

void terminal_resize(int reader, unsigned rows, unsigned columns);

#endif
