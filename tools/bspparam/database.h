/* Listing and changing the database of machine parameters (lib/base/params.h has its format). */
#ifndef BSPZ_BSPPARAM_DATABASE_H
#define BSPZ_BSPPARAM_DATABASE_H

#include <stddef.h>

#include "lib/base/params.h"

struct row_list {
    struct bspz_params_row *rows;
    size_t count;
};

/* Reads every line of the file; malformed ones are reported on stderr as "FILE:LINE: ..." and
 * skipped.  0, or an errno value (ENOENT: there is no database yet).  The caller frees rows. */
int database_read(const char *path, struct row_list *list);

/* Puts the given rows into the database: lines for the same host and number of processes are
 * dropped, all others stay, comments too.  Missing directories are made; the file is replaced
 * atomically, and PATH.lock, which stays, keeps processes apart that store at the same time.  0, or
 * an errno value: the database is as it was. */
int database_store(const char *path, const struct bspz_params_row *rows, size_t count);

#endif
