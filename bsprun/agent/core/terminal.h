/* terminal.h - a pseudo terminal that a program has as an output, and its size. */
#ifndef BSPRUN_TERMINAL_H
#define BSPRUN_TERMINAL_H

#include <stdint.h>

/* A new one, of this size, that passes bytes on as they are: what the program writes to *writer
 * comes out at *reader, which does not block.  Both close-on-exec.  0 or -errno. */
int terminal_open(unsigned rows, unsigned columns, int *reader, int *writer);

/* Its number (st_rdev), by which a program finds that a descriptor is this terminal. */
uint64_t terminal_device(int writer);

void terminal_resize(int reader, unsigned rows, unsigned columns);

#endif
