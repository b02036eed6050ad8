/* warn.c - records doubtful calls, and prints warnings at the next barrier; see warn.h.
 *
 * Each rank publishes one warning per barrier: its kind and position.  All ranks keep the same list
 * of printed warnings, so they agree without communication on which rank prints.
 */
#include "lib/rt/warn.h"

#include <stdarg.h>
#include <stdio.h>

#define REMEMBERED  8  /* of one superstep of one rank; further ones are dropped */
#define TOLD        64 /* most warnings of a job */
#define PLACE_BYTES (BSPZ_NAME_BYTES + 16)

struct warning {
    enum bspz_warning kind;
    bspz_position position;
    const char *function, *file;
    int line;
    char text[256];
};

unsigned bspz_warnings_left;

static struct warning left[REMEMBERED]; /* bspz_warnings_left of them */
static uint64_t told[TOLD];
static unsigned told_count;

/* Equal for warnings that are the same to the user; never 0. */
static uint64_t key_of(enum bspz_warning kind, int pid, bspz_position position)
{
    uint64_t key = UINT64_C(14695981039346656037) + (uint64_t)kind;
    char place[PLACE_BYTES] = "";

    if (kind != BSPZ_WARN_TAG_SIZE)
        bspz_place(pid, position, place, sizeof place);
    for (const char *at = place; *at; at++)
        key = (key ^ (unsigned char)*at) * UINT64_C(1099511628211);
    return key | 1;
}

static bool is_told(uint64_t key)
{
    for (unsigned i = 0; i < told_count; i++)
        if (told[i] == key)
            return true;
    return told_count == TOLD;
}

static void say(const struct warning *warning)
{
    bspz_warn(warning->function, warning->line, warning->file, "%s", warning->text);
}

void bspz_warn_later(enum bspz_warning kind, const char *function, int line, const char *file,
                     const char *format, ...)
{
    bspz_position position = bspz_here(file, line);
    struct warning *warning = &left[bspz_warnings_left];
    va_list arguments;

    if (bspz_warnings_left == REMEMBERED || is_told(key_of(kind, bspz_rt.pid, position)))
        return;
    for (unsigned i = 0; i < bspz_warnings_left; i++)
        if (left[i].kind == kind && left[i].position == position)
            return;
    *warning = (struct warning){
        .kind = kind, .position = position, .function = function, .file = file, .line = line};
    va_start(arguments, format);
    vsnprintf(warning->text, sizeof warning->text, format, arguments);
    va_end(arguments);
    bspz_warnings_left++;
}

/* ---- At the barrier ----------------------------------------------------------------------- */

uint32_t bspz_warnings_tell(struct bspz_line *line)
{
    line->warning = (uint64_t)left[0].kind << 32 | left[0].position;
    return BSPZ_HAS_WARNING | (bspz_warnings_left > 1 ? BSPZ_HAS_MORE_WARNINGS : 0);
}

static const struct bspz_line *line_of(int pid)
{
    return &bspz_rank_of(bspz_rt.board, pid)->line[bspz_rt.superstep & 1];
}

/* Drops those that any rank has printed. */
static void drop_told(void)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < bspz_warnings_left; i++)
        if (!is_told(key_of(left[i].kind, bspz_rt.pid, left[i].position)))
            left[kept++] = left[i];
    bspz_warnings_left = kept;
}

/* There is no later barrier: the lowest rank that has more prints all of its own. */
static void print_rest(void)
{
    for (int pid = 0; pid < bspz_rt.pid; pid++)
        if (line_of(pid)->flags & BSPZ_HAS_MORE_WARNINGS)
            return;
    for (unsigned i = 0; i < bspz_warnings_left; i++)
        say(&left[i]);
}

void bspz_warnings_settle(bool last)
{
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_line *line = line_of(pid);
        uint64_t key;

        if (!(line->flags & BSPZ_HAS_WARNING))
            continue;
        key = key_of((enum bspz_warning)(line->warning >> 32), pid, (bspz_position)line->warning);
        if (is_told(key))
            continue;
        told[told_count++] = key;
        if (pid == bspz_rt.pid)
            say(&left[0]);
    }
    drop_told();
    if (last)
        print_rest();
}
