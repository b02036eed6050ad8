/* tags.c - see tags.h. */
#include "bsprun/dataspace/tags.h"

#include <assert.h>
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct request {
    struct request *next;
    struct asker asker;
    bool removes;
};

/* A tag with an object or with requests that wait, never with both. */
struct tag_entry {
    struct object *object;
    struct request *first, **last;
    size_t size;
    const unsigned char *tag; /* `name`; in a key that of the caller */
    unsigned char name[];
};

struct tags {
    const struct tags_calls *calls;
    void *context;
    void *tree; /* of tsearch */
    struct tags_totals totals;
};

/* ---- Entries --------------------------------------------------------------------------------- */

static int order(const void *a, const void *b)
{
    const struct tag_entry *left = a, *right = b;

    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    return memcmp(left->tag, right->tag, left->size);
}

static struct tag_entry *find(const struct tags *tags, const void *tag, size_t size)
{
    struct tag_entry key = {.tag = tag, .size = size};
    struct tag_entry *const *at = tfind(&key, &tags->tree, order);

    return at ? *at : NULL;
}

/* NULL: no memory. */
static struct tag_entry *find_or_add(struct tags *tags, const void *tag, size_t size)
{
    struct tag_entry *entry = find(tags, tag, size);

    if (entry)
        return entry;
    entry = malloc(sizeof *entry + size);
    if (!entry)
        return NULL;
    *entry = (struct tag_entry){.size = size, .tag = entry->name, .last = &entry->first};
    memcpy(entry->name, tag, size);
    if (tsearch(entry, &tags->tree, order)) {
        tags->totals.tags++;
        return entry;
    }
    free(entry);
    return NULL;
}

static void free_entry(void *at)
{
    struct tag_entry *entry = at;

    if (entry->object)
        object_untagged(entry->object, entry->size);
    object_drop(entry->object);
    while (entry->first) {
        struct request *request = entry->first;

        entry->first = request->next;
        free(request);
    }
    free(entry);
}

static void forget_if_empty(struct tags *tags, struct tag_entry *entry)
{
    assert(!entry->object || !entry->first);
    if (entry->object || entry->first)
        return;
    tdelete(entry, &tags->tree, order);
    tags->totals.tags--;
    free_entry(entry);
}

/* ---- Operations ------------------------------------------------------------------------------ */

struct tags *tags_open(const struct tags_calls *calls, void *context)
{
    struct tags *tags = calloc(1, sizeof *tags);

    if (tags)
        *tags = (struct tags){.calls = calls, .context = context};
    return tags;
}

void tags_close(struct tags *tags)
{
    if (!tags)
        return;
    tdestroy(tags->tree, free_entry);
    free(tags);
}

static void set_object(struct tags *tags, struct tag_entry *entry, struct object *object)
{
    if (entry->object) {
        tags->totals.objects--;
        tags->totals.bytes -= entry->object->size;
        object_untagged(entry->object, entry->size);
    }
    entry->object = object;
    if (object) {
        tags->totals.objects++;
        tags->totals.bytes += object->size;
        object_tagged(object, entry->size);
    }
}

/* Returns whether a get has taken the object. */
static bool grant_waiting(struct tags *tags, struct tag_entry *entry, struct object *object)
{
    while (entry->first) {
        struct request *request = entry->first;
        bool removes = request->removes;

        entry->first = request->next;
        if (!entry->first)
            entry->last = &entry->first;
        tags->totals.waiting--;
        tags->calls->grant(tags->context, &request->asker, object_share(object));
        free(request);
        if (removes)
            return true;
    }
    return false;
}

int tags_put(struct tags *tags, const void *tag, size_t size, struct object *object)
{
    struct tag_entry *entry = find_or_add(tags, tag, size);

    if (!entry) {
        object_drop(object);
        return -ENOMEM;
    }
    if (grant_waiting(tags, entry, object)) {
        object_drop(object);
    } else {
        struct object *before = entry->object;

        set_object(tags, entry, object);
        object_drop(before);
    }
    forget_if_empty(tags, entry);
    return 0;
}

static int wait_for_one(struct tags *tags, struct tag_entry *entry, bool removes,
                        const struct asker *asker)
{
    struct request *request = malloc(sizeof *request);

    if (!request) {
        forget_if_empty(tags, entry);
        return -ENOMEM;
    }
    *request = (struct request){.asker = *asker, .removes = removes};
    *entry->last = request;
    entry->last = &request->next;
    tags->totals.waiting++;
    return 0;
}

int tags_ask(struct tags *tags, const void *tag, size_t size, bool removes,
             const struct asker *asker)
{
    struct tag_entry *entry = find_or_add(tags, tag, size);
    struct object *object = entry ? entry->object : NULL;

    if (!entry)
        return -ENOMEM;
    if (!object)
        return wait_for_one(tags, entry, removes, asker);
    if (removes)
        set_object(tags, entry, NULL); /* its reference goes to the asker */
    else
        object_share(object);
    forget_if_empty(tags, entry);
    tags->calls->grant(tags->context, asker, object);
    return 0;
}

bool tags_withdraw(struct tags *tags, const void *tag, size_t size, uint32_t pid)
{
    struct tag_entry *entry = find(tags, tag, size);
    struct request **at = entry ? &entry->first : NULL, *request;

    while (at && *at && (*at)->asker.pid != pid)
        at = &(*at)->next;
    if (!at || !*at)
        return false;
    request = *at;
    *at = request->next;
    if (!*at)
        entry->last = at;
    free(request);
    tags->totals.waiting--;
    forget_if_empty(tags, entry);
    return true;
}

struct wanted {
    uint32_t pid;
    const struct tag_entry *entry; /* for which it waits; NULL: not found */
};

static void look_for(const void *node, VISIT visit, void *closure)
{
    const struct tag_entry *entry = *(struct tag_entry *const *)node;
    struct wanted *wanted = closure;

    if (visit != postorder && visit != leaf)
        return;
    for (const struct request *request = entry->first; request; request = request->next)
        if (request->asker.pid == wanted->pid)
            wanted->entry = entry;
}

bool tags_forget(struct tags *tags, uint32_t pid)
{
    struct wanted wanted = {pid, NULL};

    twalk_r(tags->tree, look_for, &wanted);
    return wanted.entry && tags_withdraw(tags, wanted.entry->tag, wanted.entry->size, pid);
}

/* ---- What there is --------------------------------------------------------------------------- */

struct walk {
    void (*show)(void *context, const struct asker *asker, const void *tag, size_t size,
                 bool removes);
    void *context;
};

static void show_entry(const void *node, VISIT visit, void *closure)
{
    const struct tag_entry *entry = *(struct tag_entry *const *)node;
    const struct walk *walk = closure;

    if (visit != postorder && visit != leaf)
        return;
    for (const struct request *request = entry->first; request; request = request->next)
        walk->show(walk->context, &request->asker, entry->tag, entry->size, request->removes);
}

struct tour {
    void (*show)(void *context, const void *tag, size_t size, struct object *object);
    void *context;
};

static void show_object(const void *node, VISIT visit, void *closure)
{
    const struct tag_entry *entry = *(struct tag_entry *const *)node;
    const struct tour *tour = closure;

    if ((visit == postorder || visit == leaf) && entry->object)
        tour->show(tour->context, entry->tag, entry->size, entry->object);
}

void tags_each_object(const struct tags *tags,
                      void (*show)(void *context, const void *tag, size_t size,
                                   struct object *object),
                      void *context)
{
    struct tour tour = {show, context};

    twalk_r(tags->tree, show_object, &tour);
}

void tags_each_waiting(const struct tags *tags,
                       void (*show)(void *context, const struct asker *asker, const void *tag,
                                    size_t size, bool removes),
                       void *context)
{
    struct walk walk = {show, context};

    twalk_r(tags->tree, show_entry, &walk);
}

struct tags_totals tags_totals(const struct tags *tags)
{
    return tags->totals;
}
