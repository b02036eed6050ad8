/* binaries.h - programs and libraries that an image needs, and copies of those that are not here.
 *
 * An image names the files that its process has mapped.  A host that lacks one, or has another one
 * at its path, gets a copy from a host that has it and keeps that in a folder of the user's, under
 * a name made of the build id (ckpt/format/binary.h): $XDG_CACHE_HOME/bspzero/binaries, or below
 * $HOME/.cache, or /tmp/bspzero-UID/binaries.  Copies are what they are called or are not used:
 * size and build id are compared each time.
 *
 * Plain blocking functions.  They return 0 or a negative errno value, and then `why` (at least
 * BINARIES_WHY bytes) holds one line.
 */
#ifndef CKPT_BINARIES_H
#define CKPT_BINARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/binary.h"

#define BINARIES_WHY 600u

struct binaries_file {
    char *path; /* where it was */
    char name[BSPZ_BINARY_NAME];
    struct bspz_binary binary;
    bool here; /* at its path */
};

struct binaries {
    struct binaries_file *files;
    size_t count;
    const struct binaries_file *program; /* that the process runs; NULL: it has no build id */
};

/* The files that the image in this descriptor maps, each once; -EBADMSG: it is damaged.  To be
 * given back with binaries_free, whatever the result. */
int binaries_of_image(int image, struct binaries *needed, char *why);
void binaries_free(struct binaries *needed);

/* Whether the file is at that path, too. */
bool binaries_is_at(const struct binaries_file *file, const char *path);

/* Whether the file at `program` may be executed to restore the image in the descriptor: -ESTALE: it
 * is not the program that the image was made of, or a library is not the one it was made with and no
 * copies (have_copies) stand in; -EPERM: it lies where everybody may write, and belongs to somebody
 * who is neither the caller, nor root, nor the owner of its folder; -EACCES: it cannot be executed. */
int binaries_check_program(int image, const char *program, bool have_copies, char *why);

/* Opens the folder, which is made if missing; only the user may write there.  A descriptor, with
 * its path in `path` (PATH_MAX bytes), or a negative errno value.  root: instead of the places
 * above; NULL. */
int binaries_folder(const char *root, char *path, char *why);

/* Whether there is a copy that is what it should be. */
bool binaries_kept(int folder, const struct binaries_file *file);

/* Opens for reading what is at `path`, if its name is that, else the copy in the folder (-1: none):
 * for whoever lacks it.  A descriptor and its size, or a negative errno value. */
int binaries_open(int folder, const char *name, const char *path, uint64_t *size, char *why);

/* A copy is being made: a temporary file, and what must be true of it. */
struct binaries_copy;
int binaries_begin(int folder, const struct binaries_file *file, struct binaries_copy **copy,
                   char *why);
/* The next bytes. */
int binaries_add(struct binaries_copy *copy, const void *bytes, size_t size, char *why);
/* All bytes have come: it gets its name, if it is the file.  Frees the copy in any case. */
int binaries_finish(struct binaries_copy *copy, char *why);
/* Removes what there is of it; harmless for NULL. */
void binaries_give_up(struct binaries_copy *copy);

/* A folder below the other one, `folder_path`, in which copies of all files that are not here have
 * the names they had: for LD_LIBRARY_PATH, without which a program that lacks a library does not
 * start. Its path into `path` (PATH_MAX bytes); "" when nothing is missing. */
int binaries_link(int folder, const char *folder_path, const struct binaries *needed, char *path,
                  char *why);

#endif
