/* Which language a source is written in, and which compiler takes it. */
#ifndef BSPZ_BSPCC_LANGUAGE_H
#define BSPZ_BSPCC_LANGUAGE_H

#include <stdbool.h>

enum tool { TOOL_C, TOOL_CXX, TOOL_FORTRAN, TOOL_COUNT };

enum source_kind {
    SOURCE_PROGRAM,
    SOURCE_HEADER,    /* makes no object: it is compiled for sources to come */
    SOURCE_ASSEMBLER, /* without macros: options of the language do not concern it */
};

struct language {
    enum tool tool;
    /* For literate sources: the suffix of the program extracted from it, else NULL. */
    const char *extracted_suffix;
    enum source_kind kind;
};

/* True when the file name's suffix names a language; false means "something for the linker". */
bool language_of_file(const char *name, struct language *language);

/* The argument of -x; false for "none". */
bool language_of_option(const char *name, struct language *language);

#endif
