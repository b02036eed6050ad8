/* restore_error.c - how a restore says what is wrong; see restore.h. */
#include <errno.h>

#include "ckpt/capture/restore.h"

int bspz_restore_fail(struct bspz_restore *restore, int error, const char *text, const char *name,
                      const char *what)
{
    struct bspz_text why;

    if (restore->plan->why[0])
        return error;
    bspz_text_begin(&why, restore->plan->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, text);
    if (name && *name) {
        bspz_text_add(&why, " ");
        bspz_text_add(&why, name);
    }
    if (what) {
        bspz_text_add(&why, ": ");
        bspz_text_add(&why, what);
    }
    if (error != -ESTALE && error != -EBADMSG) {
        bspz_text_add(&why, " (error ");
        bspz_text_decimal(&why, -error);
        bspz_text_add(&why, ")");
    }
    return error;
}
