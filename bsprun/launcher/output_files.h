/* output_files.h - --output: a file for each process and stream, DIR/PID.out and DIR/PID.err; what
 * nobody can be found to have written goes to DIR/unknown.out and DIR/unknown.err.
 *
 * Files are written at once and without waiting for a reader.  Those of an earlier job in the same
 * directory are emptied; a job that goes on with --restart appends to its own.
 */
#ifndef BSPRUN_OUTPUT_FILES_H
#define BSPRUN_OUTPUT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_files {
    const char *directory;
    bool appends;
    bool *begun; /* by process and stream: it has been emptied */
    size_t count;
    int pid, stream, file; /* that was written last; file -1: none */
    int error;             /* of the first write that failed; 0: none */
};

/* Makes the directory if it is missing, and looks whether files can be made in it.  0 or -errno. */
int output_files_prepare(const char *directory);

/* The name of the directory must stay. */
void output_files_open(struct output_files *files, const char *directory, bool appends);
/* Makes the files of processes 0 to count - 1 that are not there yet.  0 or -errno. */
int output_files_begin(struct output_files *files, uint32_t count);
/* Adds to the file of a process (-1: unknown).  0 or -errno. */
int output_files_write(struct output_files *files, int pid, int stream, const char *data,
                       size_t size);
void output_files_close(struct output_files *files); /* also when all is zero */

#endif
