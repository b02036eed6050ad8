/* whereabouts.c - where each process is; see whereabouts.h. */
#include "bsprun/whereabouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_SINGLE   64 /* with more processes, consecutive ones at the same place share a line */
#define LINE_MAX_BYTES (BSPZ_NAME_BYTES + 160)

/* Past the barrier that ends its superstep, but not yet in the next one. */
static bool has_arrived(const struct bspz_rank *rank)
{
    uint64_t superstep = atomic_load(&rank->superstep);

    return atomic_load(&rank->line[superstep & 1].stamp) == superstep + 1;
}

static bool is_end(unsigned call)
{
    return call == BSPZ_CALL_END || call == BSPZ_CALL_MPI_Finalize ||
           call == BSPZ_CALL_VOLPEX_FINALIZE;
}

/* A program of MPI that has no objects shows by its rings what it is. */
static const char *end_of(const struct bspz_board *board, const struct bspz_rank *rank)
{
    if (is_end(rank->request.at_calls))
        return bspz_call_name(rank->request.at_calls);
    return board->layout.mail ? "MPI_Finalize" : "bsp_end";
}

static const char *begin_of(const struct bspz_board *board, const struct whereabouts *where)
{
    if (where->call == BSPZ_CALL_VOLPEX_INIT)
        return where->function;
    return board->layout.mail ? "MPI_Init" : "bsp_begin";
}

static enum wire_rank_state state_of(const struct bspz_rank *rank, enum bspz_rank_state mark,
                                     unsigned call)
{
    switch (mark) {
    case BSPZ_RANK_EMPTY:
        return WIRE_RANK_STARTING;
    case BSPZ_RANK_FORKED:
    case BSPZ_RANK_HELD:
    case BSPZ_RANK_READY:
        return WIRE_RANK_IN_BEGIN;
    case BSPZ_RANK_RUNNING:
        if (is_end(call))
            return WIRE_RANK_IN_END;
        if (atomic_load(&rank->in_barrier) || atomic_load(&rank->dozing) ||
            atomic_load(&rank->request.state) == BSPZ_REQUEST_POSTED)
            return WIRE_RANK_WAITING;
        return has_arrived(rank) ? WIRE_RANK_COMMUNICATING : WIRE_RANK_COMPUTING;
    case BSPZ_RANK_ENDED:
        return WIRE_RANK_ENDED;
    case BSPZ_RANK_EXITED:
    case BSPZ_RANK_ABORTED:
    case BSPZ_RANK_FAILED:
        return WIRE_RANK_KILLED;
    }
    return WIRE_RANK_KILLED;
}

void whereabouts_read(const struct bspz_board *board, int nprocs, int pid,
                      struct whereabouts *where)
{
    const struct bspz_rank *rank = bspz_rank_of(board, pid);
    uint64_t last = atomic_load(&rank->where);
    unsigned file = (unsigned)(last >> 24 & 0xff);

    memset(where, 0, sizeof *where);
    where->pid = pid;
    where->mark = (enum bspz_rank_state)atomic_load(&rank->state);
    where->exit_status = atomic_load(&rank->exit_status);
    where->superstep = atomic_load(&rank->superstep);
    where->call = (unsigned)(last >> 32);
    where->function = bspz_call_name(where->call);
    where->begin = begin_of(board, where);
    where->end = end_of(board, rank);
    where->line = (unsigned)(last & 0xffffffu);
    if (file < atomic_load(&rank->file_count) && file < BSPZ_NAME_COUNT)
        snprintf(where->file, sizeof where->file, "%.*s", (int)BSPZ_NAME_BYTES - 1,
                 bspz_name_of(board, nprocs, pid, file));
    else
        snprintf(where->file, sizeof where->file, "unprofiled");
    where->state = state_of(rank, where->mark, where->call);
}

/* One line without a newline: " pid 1: last call bsp_sync at a.c:12, superstep 3, waiting".
 * `killed`: the process has died without a mark. */
static void whereabouts_line(const struct whereabouts *where, bool killed, char *text, size_t size)
{
    char state[64];

    if (where->mark == BSPZ_RANK_EXITED)
        snprintf(state, sizeof state, "called exit(%d)", where->exit_status);
    else if (where->mark == BSPZ_RANK_ABORTED)
        snprintf(state, sizeof state, "aborted");
    else if (where->mark == BSPZ_RANK_FAILED)
        snprintf(state, sizeof state, "failed");
    else if (killed)
        snprintf(state, sizeof state, "died");
    else if (where->state == WIRE_RANK_IN_BEGIN)
        snprintf(state, sizeof state, "in %s", where->begin);
    else if (where->state == WIRE_RANK_IN_END)
        snprintf(state, sizeof state, "in %s", where->function);
    else
        snprintf(state, sizeof state, "%s", wire_rank_state_text(where->state));
    if (where->call == BSPZ_CALL_NONE)
        snprintf(text, size, "  pid %d: no call yet, superstep %llu, %s", where->pid,
                 (unsigned long long)where->superstep, state);
    else
        snprintf(text, size, "  pid %d: last call %s at %s:%u, superstep %llu, %s", where->pid,
                 where->function, where->file, where->line, (unsigned long long)where->superstep,
                 state);
}

static bool is_elsewhere(const struct bspz_board *board, int pid)
{
    return board->flags & BSPZ_BOARD_HOSTS &&
           atomic_load(&bspz_rank_of(board, pid)->host) != (uint32_t)board->host;
}

/* Whether two processes are at the same place; files are compared by name. */
static bool same_place(const struct whereabouts *a, const struct whereabouts *b)
{
    return a->state == b->state && a->mark == b->mark && a->exit_status == b->exit_status &&
           a->superstep == b->superstep && a->call == b->call && a->line == b->line &&
           strcmp(a->file, b->file) == 0;
}

char *whereabouts_table(const struct bspz_board *board, int nprocs, const bool *killed)
{
    size_t capacity = (size_t)nprocs * LINE_MAX_BYTES + 1;
    size_t used = 0;
    char *table = malloc(capacity);
    int next;

    if (!table)
        return NULL;
    table[0] = '\0';
    for (int pid = 0; pid < nprocs; pid = next) {
        struct whereabouts where, other;
        char line[LINE_MAX_BYTES - 32];
        bool dead = killed && killed[pid];

        next = pid + 1;
        if (is_elsewhere(board, pid))
            continue;
        whereabouts_read(board, nprocs, pid, &where);
        whereabouts_line(&where, dead, line, sizeof line);
        /* Thousands of equal lines would hide the one that differs. */
        for (next = pid + 1; nprocs > LINES_SINGLE && next < nprocs; next++) {
            whereabouts_read(board, nprocs, next, &other);
            if ((killed && killed[next] != dead) || is_elsewhere(board, next) ||
                !same_place(&where, &other))
                break;
        }
        if (next == pid + 1)
            used += (size_t)snprintf(table + used, capacity - used, "%s\n", line);
        else
            used += (size_t)snprintf(table + used, capacity - used, "  pids %d to %d%s\n", pid,
                                     next - 1, strchr(line, ':'));
    }
    return table;
}

static int first_pid(const char *line)
{
    const char *digits = strpbrk(line, "0123456789");

    return digits ? atoi(digits) : 0;
}

static int by_pid(const void *a, const void *b)
{
    const char *one = *(char *const *)a, *two = *(char *const *)b;
    int order = first_pid(one) - first_pid(two);

    return order ? order : (one > two) - (one < two); /* as they came */
}

/* Whether the rows are of the same process, of which there are replicas. */
static bool is_same(const char *one, const char *two)
{
    size_t head = strcspn(one, ":");

    return strncmp(one, two, head + 1) == 0;
}

/* A file may have any name, and stands before it. */
static unsigned long long superstep_of(const char *line)
{
    static const char word[] = ", superstep ";
    unsigned long long superstep = 0;

    for (const char *at = line; (at = strstr(at, word)); at += sizeof word - 1)
        superstep = strtoull(at + sizeof word - 1, NULL, 10);
    return superstep;
}

char *whereabouts_merge(const char *table, const char *more)
{
    size_t bytes = strlen(table) + strlen(more) + 1, count = 0, used = 0;
    char *text = malloc(bytes), *merged = calloc(1, bytes);
    char **lines = calloc(bytes / 2 + 1, sizeof *lines);

    if (text && merged && lines) {
        snprintf(text, bytes, "%s%s", table, more);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            lines[count++] = line;
        qsort(lines, count, sizeof *lines, by_pid);
        for (size_t i = 0, next; i < count; i = next) {
            const char *farthest = lines[i];

            for (next = i + 1; next < count && is_same(lines[i], lines[next]); next++)
                if (superstep_of(lines[next]) > superstep_of(farthest))
                    farthest = lines[next];
            used += (size_t)snprintf(merged + used, bytes - used, "%s\n", farthest);
        }
    } else {
        free(merged);
        merged = NULL;
    }
    free(text);
    free(lines);
    return merged;
}
