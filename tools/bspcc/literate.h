/* Literate sources: a document with a program in it. */
#ifndef BSPZ_BSPCC_LITERATE_H
#define BSPZ_BSPCC_LITERATE_H

#include <stdbool.h>
#include <stddef.h>

/* Extracts the program in document to the file program, so that line n of the one is line n of the
 * other.  Program text is what stands between lines that begin with \begin{code} and \end{code} (or
 * \begin{tightcode}, \end{tightcode}), and, outside of such a block, every line that begins with
 * '>', which becomes a blank.  Everything else is comment.  The result begins with the line marker
 * ("#line" for C, "#" for Fortran) that tells the compiler the document's name.
 *
 * Ends the driver with a message when the document cannot be read, holds no program, or a block
 * is left open or closed twice. */
void extract_program(const char *document, const char *program, const char *marker);

/* Extracts every literate header (NAME.lh) of the directory to NAME.h in the directory `to`, unless
 * the directory has a NAME.h as well. */
void extract_headers(const char *directory, const char *to);

/* The document and the program of the extraction with this number, from 0 on.  False: there have
 * not been so many. */
bool extracted(size_t number, const char **document, const char **program);

#endif
