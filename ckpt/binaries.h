/* binaries.h - programs and libraries that an image needs, and copies of those that are not here.
 *
 * An image names the files that its process has mapped.  A host that lacks one, or has another one
 * at its path, gets a copy from a host that has it and keeps that in a directory of the user's,
 * under a name made of the build id (ckpt/format/binary.h): $XDG_CACHE_HOME/bspzero/binaries, or
 * below $HOME/.cache, or bspzero-UID/binaries in $TMPDIR or /tmp (bspzero-UID-2 and so on where
 * another user has that name).  A copy is used only if its size and build id match its name; they
 * are compared each time.
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
    const struct binaries_file *program; /* the one the process runs; NULL: it has no build id */
};

/* The files that the image in this descriptor maps, each once; -EBADMSG: it is damaged.  Release
 * with binaries_free, whatever the result. */
int binaries_of_image(int image, struct binaries *needed, char *why);
void binaries_free(struct binaries *needed);

/* Whether the same file is at `path`. */
bool binaries_is_at(const struct binaries_file *file, const char *path);

/* Whether the file at `program` may be executed to restore the image in the descriptor: -ESTALE: it
 * is not the program of the image, or a library differs and there are no copies (have_copies);
 * -EPERM: its directory is writable for everybody and it belongs neither to the caller, nor root,
 * nor the directory's owner; -EACCES: it cannot be executed. */
int binaries_check_program(int image, const char *program, bool have_copies, char *why);

/* Opens the directory of copies, which is created if missing and writable for the user only.
 * Returns a descriptor and its path in `path` (PATH_MAX bytes), or a negative errno value. root:
 * used instead of the places above; may be NULL. */
int binaries_directory(const char *root, char *path, char *why);

/* Whether there is a valid copy. */
bool binaries_kept(int directory, const struct binaries_file *file);

/* Opens the file at `path` for reading if its name is `name`, else the copy in the directory (-1:
 * none), to be sent to a host that lacks it.  Returns a descriptor and the size, or a negative
 * errno value. */
int binaries_open(int directory, const char *name, const char *path, uint64_t *size, char *why);

/* A copy in the making: a temporary file, and the name, size and build id it must have. */
struct binaries_copy;
int binaries_begin(int directory, const struct binaries_file *file, struct binaries_copy **copy,
                   char *why);
/* Appends the next bytes. */
int binaries_add(struct binaries_copy *copy, const void *bytes, size_t size, char *why);
/* To be called after the last byte: verifies the copy and gives it its name.  Frees `copy` in any
 * case. */
int binaries_finish(struct binaries_copy *copy, char *why);
/* Removes an incomplete copy; harmless for NULL. */
void binaries_give_up(struct binaries_copy *copy);

/* Makes a directory below `directory_path` in which the copies of all missing files have their
 * original names, for LD_LIBRARY_PATH: without it a program that lacks a library does not start.
 * Writes its path into `path` (PATH_MAX bytes); "" when nothing is missing. */
int binaries_link(int directory, const char *directory_path, const struct binaries *needed,
                  char *path, char *why);

#endif
