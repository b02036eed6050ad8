/* Files of dependencies (-MD, -M and the like) of literate sources.
 *
 * The compiler names what it has read: programs and headers in the temporary directory, which make
 * would not find.  Here they become the documents from which they were extracted. */
#ifndef BSPZ_BSPCC_DEPENDENCIES_H
#define BSPZ_BSPCC_DEPENDENCIES_H

#include "tools/bspcc/request.h"

/* In all files that the compilers may have written for this request. */
void mend_dependencies(const struct request *request);

/* Mends this file and copies it to the standard output. */
void show_dependencies(const char *path);

#endif
