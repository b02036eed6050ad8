/* Literate sources: a document with a program in it. */
#ifndef BSPZ_BSPCC_LITERATE_H
#define BSPZ_BSPCC_LITERATE_H

#include <stdbool.h>

/* Extracts the program in document to the file program, so that line n of the one is line n of the
 * other.  Program text is what stands between lines that begin with \begin{code} and \end{code} (or
 * \begin{tightcode}, \end{tightcode}), and, outside of such a block, every line that begins with
 * '>', which becomes a blank.  Everything else is comment.  The result begins with the line marker
 * ("#line" for C, "#" for Fortran) that tells the compiler the document's name.
 *
 * Ends the driver with a message when the document cannot be read, holds no program, or a block
 * is left open or closed twice. */
void extract_program(const char *document, const char *program, const char *marker);

/* Extracts every literate header (NAME.lh) of the directory to NAME.h in the temporary directory,
 * unless the directory has a NAME.h as well.  True when there was any. */
bool extract_headers(const char *directory);

#endif
