/* extents.h - places for many objects in few files: a process may have only so many mappings
 * (vm.max_map_count, 65530 by default), which a file and a mapping for each object would use up.
 * Pure: the files, and their room, are the caller's.
 *
 * A file is an extent.  Places in it begin with a page, and the first free one that is large enough
 * is taken, in the extent that has been there for longest.  Only pages that are taken have room; an
 * extent without any is closed.
 *
 * What can fail: no memory; no file; no room for the pages: nothing is taken then.
 */
#ifndef BSPRUN_DATASPACE_EXTENTS_H
#define BSPRUN_DATASPACE_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#define EXTENT_PAGE 4096u

struct extents;

/* None of them may call anything of this interface. */
struct extent_files {
    /* Memory that is a file of *size bytes, or of fewer, which is said there; it has no room yet.
     * *file: what the others are told, anything.  NULL: there is none. */
    void *(*open)(void *context, uint64_t *size, int *file);
    void (*close)(void *context, int file, void *at, uint64_t size);
    /* Room for that stretch, without which its memory must not be touched.  False: there is none,
     * or only for a part, which is given back then. */
    bool (*take)(void *context, int file, uint64_t offset, uint64_t size);
    void (*give)(void *context, int file, uint64_t offset, uint64_t size);
};

/* Extents of so many bytes, in whole pages.  NULL: no memory. */
struct extents *extents_open(uint64_t size, const struct extent_files *files, void *context);
/* All places have been given back.  Harmless for NULL. */
void extents_close(struct extents *extents);

/* A place of so many bytes, at least one; NULL: see above, or it is larger than an extent. */
void *extents_take(struct extents *extents, uint64_t size);
/* Gives it back; false: it is none of these. */
bool extents_give(struct extents *extents, void *at, uint64_t size);

#endif
