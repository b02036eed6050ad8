/* bspprof_script.h - bspprof.js as a text; made by lib/page/embed when this is built. */
#ifndef BSPPROF_BSPPROF_SCRIPT_H
#define BSPPROF_BSPPROF_SCRIPT_H

#include <stddef.h>

extern const char bspprof_script[];
extern const size_t bspprof_script_size;

#endif
