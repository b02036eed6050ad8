/* report_script.h - report.js as a text; made by lib/page/embed when this is built. */
#ifndef BSPRUN_REPORT_SCRIPT_H
#define BSPRUN_REPORT_SCRIPT_H

#include <stddef.h>

extern const char report_script[];
extern const size_t report_script_size;

#endif
