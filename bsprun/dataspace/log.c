/* log.c - see log.h. */
#include "bsprun/dataspace/log.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/base/digest.h"

struct answer {
    struct answer *next;
    uint64_t number, what;
    struct object *object; /* NULL: a put */
};

struct answers {
    struct answer *first, *last;
    struct answer *found; /* the last one: the next is looked for from here */
    uint64_t newest;      /* number */
    uint64_t given_up;    /* the last one that was, beyond the bound; 0: none */
    uint64_t bytes;
};

struct log {
    uint32_t nprocs;
    uint64_t most, bytes;
    struct answers *answers; /* by process */
};

struct log *log_open(uint32_t nprocs, uint64_t most)
{
    struct log *log = malloc(sizeof *log);

    if (!log)
        return NULL;
    *log = (struct log){.nprocs = nprocs, .most = most};
    log->answers = calloc(nprocs, sizeof *log->answers);
    if (log->answers)
        return log;
    free(log);
    return NULL;
}

uint64_t log_what(unsigned kind, const void *tag, size_t size)
{
    unsigned char first = (unsigned char)kind;

    return bspz_digest(bspz_digest(BSPZ_DIGEST_NOTHING, &first, 1), tag, size);
}

static uint64_t bytes_of(const struct answer *answer)
{
    return LOG_ENTRY + (answer->object ? answer->object->size : 0);
}

static void drop_first(struct log *log, struct answers *answers)
{
    struct answer *answer = answers->first;

    answers->first = answer->next;
    if (!answers->first)
        answers->last = NULL;
    if (answers->found == answer)
        answers->found = NULL;
    answers->bytes -= bytes_of(answer);
    log->bytes -= bytes_of(answer);
    object_drop(answer->object);
    free(answer);
}

void log_close(struct log *log)
{
    if (!log)
        return;
    for (uint32_t pid = 0; pid < log->nprocs; pid++)
        while (log->answers[pid].first)
            drop_first(log, &log->answers[pid]);
    free(log->answers);
    free(log);
}

int log_add(struct log *log, uint32_t pid, uint64_t number, uint64_t what, struct object *object)
{
    struct answers *answers = &log->answers[pid];
    struct answer *answer = number > 0 ? malloc(sizeof *answer) : NULL;

    if (!answer) {
        object_drop(object);
        return number > 0 ? -ENOMEM : 0;
    }
    *answer = (struct answer){.number = number, .what = what, .object = object};
    *(answers->last ? &answers->last->next : &answers->first) = answer;
    answers->last = answer;
    answers->newest = number;
    answers->bytes += bytes_of(answer);
    log->bytes += bytes_of(answer);
    while (log->bytes > log->most && answers->first) {
        answers->given_up = answers->first->number;
        drop_first(log, answers);
    }
    return 0;
}

/* NULL: there is none. */
static struct answer *find(struct answers *answers, uint64_t number)
{
    struct answer *answer = answers->found;

    if (!answer || answer->number > number)
        answer = answers->first;
    while (answer && answer->number < number)
        answer = answer->next;
    if (!answer || answer->number != number)
        return NULL;
    answers->found = answer;
    return answer;
}

enum log_found log_find(struct log *log, uint32_t pid, uint64_t number, uint64_t what, bool repeats,
                        struct object **object)
{
    struct answers *answers = &log->answers[pid];
    struct answer *answer;

    if (number == 0 || (number > answers->newest && !repeats))
        return LOG_NEW;
    answer = number <= answers->newest ? find(answers, number) : NULL;
    if (!answer || answer->what != what)
        return LOG_DIFFERS;
    if (!answer->object)
        return LOG_STORED;
    *object = object_share(answer->object);
    return LOG_OBJECT;
}

bool log_had(struct log *log, uint32_t pid, uint64_t number, uint64_t *what)
{
    const struct answer *answer = find(&log->answers[pid], number);

    if (answer)
        *what = answer->what;
    return answer != NULL;
}

void log_cut(struct log *log, uint32_t pid, uint64_t number)
{
    struct answers *answers = &log->answers[pid];

    while (answers->first && answers->first->number < number)
        drop_first(log, answers);
    if (answers->given_up < number)
        answers->given_up = 0;
}

bool log_gave_up(const struct log *log)
{
    for (uint32_t pid = 0; pid < log->nprocs; pid++)
        if (log->answers[pid].given_up > 0)
            return true;
    return false;
}

uint64_t log_newest(const struct log *log, uint32_t pid)
{
    return log->answers[pid].newest;
}

void log_raise(struct log *log, uint32_t pid, uint64_t number)
{
    if (log->answers[pid].newest < number)
        log->answers[pid].newest = number;
}

void log_each(const struct log *log,
              void (*show)(void *context, uint32_t pid, uint64_t number, uint64_t what,
                           struct object *object),
              void *context)
{
    for (uint32_t pid = 0; pid < log->nprocs; pid++)
        for (struct answer *at = log->answers[pid].first; at; at = at->next)
            show(context, pid, at->number, at->what, at->object);
}

uint64_t log_count(const struct log *log, uint32_t pid)
{
    uint64_t count = 0;

    for (const struct answer *at = log->answers[pid].first; at; at = at->next)
        count++;
    return count;
}

uint64_t log_bytes(const struct log *log, uint32_t pid)
{
    return log->answers[pid].bytes;
}

uint64_t log_bytes_all(const struct log *log)
{
    return log->bytes;
}
