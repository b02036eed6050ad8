/* match.c - see match.h. */
#include "lib/rt/mpi/match.h"

#include <stddef.h>

static void begin_list(struct match_list *list)
{
    list->first = NULL;
    list->last = &list->first;
}

static void append(struct match_list *list, struct match_entry *entry)
{
    entry->next = NULL;
    *list->last = entry;
    list->last = &entry->next;
}

static struct match_entry *take(struct match_list *list, struct match_entry **at)
{
    struct match_entry *entry = *at;

    *at = entry->next;
    if (!*at)
        list->last = at;
    return entry;
}

static bool fits(const struct match_key *receive, const struct match_key *message)
{
    return receive->context == message->context &&
           (receive->source == MATCH_ANY || receive->source == message->source) &&
           (receive->tag == MATCH_ANY || receive->tag == message->tag);
}

void bspz_match_begin(struct match *match)
{
    begin_list(&match->receives);
    begin_list(&match->messages);
}

struct match_entry *bspz_match_post(struct match *match, struct match_entry *receive)
{
    for (struct match_entry **at = &match->messages.first; *at; at = &(*at)->next)
        if (fits(&receive->key, &(*at)->key))
            return take(&match->messages, at);
    append(&match->receives, receive);
    return NULL;
}

struct match_entry *bspz_match_arrived(struct match *match, const struct match_key *message)
{
    for (struct match_entry **at = &match->receives.first; *at; at = &(*at)->next)
        if (fits(&(*at)->key, message))
            return take(&match->receives, at);
    return NULL;
}

void bspz_match_keep(struct match *match, struct match_entry *message)
{
    append(&match->messages, message);
}

const struct match_entry *bspz_match_probe(const struct match *match, const struct match_key *key)
{
    for (const struct match_entry *at = match->messages.first; at; at = at->next)
        if (fits(key, &at->key))
            return at;
    return NULL;
}
