/* stacks_text.c - see stacks_text.h. */
#include "bsprun/status/stacks_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

#define NAMED_MOST 8u /* pids in the first line */

struct stacks_row {
    uint32_t pid, state, line, os_pid;
    uint64_t superstep;
    bool stays;
    char *host, *function, *file, *stack, *why; /* owned; NULL: no memory, or no stack */
};

void stacks_add(struct stacks *stacks, const char *host, const struct wire_stack *answer)
{
    size_t length = strlen(answer->text);
    size_t most = stacks->bytes_most ? stacks->bytes_most : STACKS_TEXT_MAX;
    bool fits = length <= most - stacks->bytes;

    if (answer->at.count == 0)
        return;
    const struct wire_where *at = &answer->at.items[0];

    if (!BSPZ_GROW(stacks->rows, stacks->count))
        return;
    stacks->rows[stacks->count++] = (struct stacks_row){
        .pid = at->pid,
        .state = at->state,
        .line = at->line,
        .os_pid = at->os_pid,
        .superstep = at->superstep,
        .stays = answer->stays,
        .host = strdup(host),
        .function = strdup(at->function),
        .file = strdup(at->file),
        .stack = length > 0 && fits ? strdup(answer->text) : NULL,
        .why = strdup(fits ? answer->why : "the stacks of the others are too long already")};
    if (fits)
        stacks->bytes += length;
    if (!stacks->advice && answer->advice[0])
        stacks->advice = strdup(answer->advice);
}

void stacks_add_silent(struct stacks *stacks, const char *host)
{
    char *text;

    if (asprintf(&text, "%shost %s has not answered\n", stacks->silent ? stacks->silent : "",
                 host) < 0)
        return;
    free(stacks->silent);
    stacks->silent = text;
}

static int by_pid(const void *a, const void *b)
{
    const struct stacks_row *left = a, *right = b;

    return (left->pid > right->pid) - (left->pid < right->pid);
}

/* Whether these processes keep all others waiting: at most half of all, in one superstep. */
static size_t count_late(const struct stacks *stacks)
{
    uint64_t superstep = stacks->count > 0 ? stacks->rows[0].superstep : 0;
    size_t late = 0;

    for (size_t i = 0; i < stacks->count; i++) {
        const struct stacks_row *row = &stacks->rows[i];
        bool computes = row->state == WIRE_RANK_COMPUTING;

        if (!row->stays || row->superstep != superstep ||
            (!computes && row->state != WIRE_RANK_WAITING && row->state != WIRE_RANK_IN_END))
            return 0;
        late += computes;
    }
    return late <= stacks->count / 2 && !stacks->silent ? late : 0;
}

static void name_late(const struct stacks *stacks, FILE *file)
{
    size_t late = count_late(stacks), waiting = stacks->count - late, named = 0;

    if (late == 0)
        return;
    fprintf(file, "pid%s", late > 1 ? "s" : "");
    for (size_t i = 0; i < stacks->count && named < NAMED_MOST; i++)
        if (stacks->rows[i].state == WIRE_RANK_COMPUTING)
            fprintf(file, "%s %u", named++ > 0 ? "," : "", stacks->rows[i].pid);
    if (late > named)
        fprintf(file, " and %zu more", late - named);
    fprintf(file, " still comput%s in superstep %llu, and the other%s for %s\n",
            late > 1 ? "e" : "es", (unsigned long long)stacks->rows[0].superstep,
            waiting == 1 ? " waits" : "s wait", late > 1 ? "them" : "it");
}

static const char *text_of(const char *text)
{
    return text ? text : "?";
}

static void print_row(const struct stacks_row *row, FILE *file)
{
    fprintf(file, "pid %u", row->pid);
    if (row->host && row->host[0])
        fprintf(file, " on %s", row->host);
    if (row->os_pid > 0)
        fprintf(file, " (process %u)", row->os_pid);
    if (row->line > 0)
        fprintf(file, ": last call %s at %s:%u, superstep %llu, %s\n", text_of(row->function),
                text_of(row->file), row->line, (unsigned long long)row->superstep,
                wire_rank_state_text(row->state));
    else
        fprintf(file, ": no call yet, superstep %llu, %s\n", (unsigned long long)row->superstep,
                wire_rank_state_text(row->state));
    if (row->stack)
        fputs(row->stack, file);
    else
        fprintf(file, "    no stack: %s\n", text_of(row->why));
}

char *stacks_text(struct stacks *stacks)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    if (stacks->count > 0)
        qsort(stacks->rows, stacks->count, sizeof *stacks->rows, by_pid);
    else if (!stacks->silent)
        fputs("the job has no processes yet: the program has not reached bsp_begin\n", file);
    name_late(stacks, file);
    for (size_t i = 0; i < stacks->count; i++)
        print_row(&stacks->rows[i], file);
    if (stacks->silent)
        fputs(stacks->silent, file);
    if (stacks->advice)
        fprintf(file, "ptrace is not permitted: %s\n", stacks->advice);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

void stacks_free(struct stacks *stacks)
{
    for (size_t i = 0; i < stacks->count; i++) {
        free(stacks->rows[i].host);
        free(stacks->rows[i].function);
        free(stacks->rows[i].file);
        free(stacks->rows[i].stack);
        free(stacks->rows[i].why);
    }
    free(stacks->rows);
    free(stacks->advice);
    free(stacks->silent);
    *stacks = (struct stacks){.rows = NULL};
}
