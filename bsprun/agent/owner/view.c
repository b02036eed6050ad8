/* view.c - see view.h. */
#include "bsprun/agent/owner/view.h"

#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/owner/parts.h"

struct owner_view {
    char *root;
    pid_t bsprun;
    struct owner_interrupts interrupts;
    struct owner_others others;
};

struct owner_view *owner_view_new(const char *root, uid_t own, pid_t bsprun)
{
    struct owner_view *view = calloc(1, sizeof *view);

    if (!view)
        return NULL;
    view->root = strdup(root);
    if (!view->root) {
        free(view);
        return NULL;
    }
    view->bsprun = bsprun;
    owner_others_begin(&view->others, root, own);
    return view;
}

void owner_view_free(struct owner_view *view)
{
    if (!view)
        return;
    free(view->root);
    free(view->others.items);
    free(view);
}

void owner_view_look(struct owner_view *view, uint64_t now_ms, struct owner_sample *sample)
{
    uint64_t terminals = owner_terminals_age_ms(view->root, view->bsprun);
    uint64_t interrupts = owner_interrupts_age_ms(view->root, &view->interrupts, now_ms);

    *sample = (struct owner_sample){
        .now_ms = now_ms,
        .input_age_ms = terminals < interrupts ? terminals : interrupts,
        .others_ms = owner_others_ms(&view->others, view->root, now_ms),
        .on_battery = owner_on_battery(view->root),
    };
}
