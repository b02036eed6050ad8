/* Which language a source is written in, and which compiler takes it. */
#ifndef BSPZ_BSPCC_LANGUAGE_H
#define BSPZ_BSPCC_LANGUAGE_H

#include <stdbool.h>

enum tool { TOOL_C, TOOL_CXX, TOOL_FORTRAN, TOOL_COUNT };

struct language {
    enum tool tool;
    /* For literate sources: the suffix of the program extracted from it, else NULL. */
    const char *extracted_suffix;
};

/* True when the file name's suffix names a language; false means "something for the linker". */
bool language_of_file(const char *name, struct language *language);

/* The argument of -x; false for "none". */
bool language_of_option(const char *name, struct language *language);

#endif
