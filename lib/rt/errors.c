/* errors.c - the format of all messages, and the end of a job that misuses the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"

#define MESSAGE_BYTES       4096
#define SPEAKER_PATIENCE_MS 1000 /* for a claimed message to be printed */
#define SPEAKER_LOOK_MS     20   /* interval of checks whether the job is being stopped */
#define SPEAKER_HOST_MS     250  /* delay for each host before this one */
#define SPEAKER_HOSTS       3    /* at most so many of them */

bool bspz_checks(void)
{
    return bspz_rt.checks;
}

/* Of bsp_begin, the call that the program knows. */
static const char *as_called(const char *function)
{
    if (bspz_rt.life != BSPZ_LIFE_BEFORE || strcmp(function, "bsp_begin") != 0)
        return function;
    return bspz_call_name(bspz_call_of_begin());
}

/* Supersteps are counted as the program sees them: those inside collective operations do not count.
 */
static BSPZ_PRINTF(4, 0) void print_message(const char *place, const char *function, int pid,
                                            const char *format, va_list arguments)
{
    char text[MESSAGE_BYTES];
    const size_t room = sizeof text - 1;
    size_t used;

    used = (size_t)snprintf(text, room, "bspzero: %s: %s: pid %d", place, as_called(function), pid);
    if (used < room && bspz_rt.nprocs > 0)
        used += (size_t)snprintf(text + used, room - used, " of %d, superstep %llu", bspz_rt.nprocs,
                                 (unsigned long long)(bspz_rt.superstep - bspz_rt.hidden));
    if (used < room)
        used += (size_t)snprintf(text + used, room - used, ": ");
    if (used < room)
        used += (size_t)vsnprintf(text + used, room - used, format, arguments);
    if (used > room)
        used = room;
    text[used++] = '\n';
    bspz_write_all(STDERR_FILENO, text, used);
}

/* Processes of other hosts may be about to print the same message: those of process 0's host, of
 * its replicas those of the first one's, print at once and end the job, which normally reaches the
 * others before their turn. */
static bool let_other_hosts_speak(struct bspz_board *board)
{
    uint64_t hosts = board->host < 1               ? 1
                     : board->host > SPEAKER_HOSTS ? SPEAKER_HOSTS
                                                   : (uint64_t)board->host;
    uint64_t patience = bspz_now_ns() + hosts * SPEAKER_HOST_MS * UINT64_C(1000000);

    bool first =
        board->first_here == 0 && (!(board->flags & BSPZ_BOARD_REPLICAS) || board->host == 0);

    if (!(board->flags & BSPZ_BOARD_HOSTS) || first)
        return true;
    while (atomic_load(&board->stop) == BSPZ_STOP_NONE && bspz_now_ns() < patience)
        bspz_word_wait(&board->stop, BSPZ_STOP_NONE, SPEAKER_LOOK_MS);
    return atomic_load(&board->stop) == BSPZ_STOP_NONE;
}

/* When all processes make the same mistake, one message suffices: true for the process that is to
 * print it.  The agent reports a speaker that dies; without such a report, or if the speaker is
 * stuck, the next one prints. */
static bool claim_message(void)
{
    struct bspz_board *board = bspz_rt.board;
    uint32_t mine = (uint32_t)bspz_rt.pid + 1;
    uint32_t holder = 0;
    uint64_t patience = bspz_now_ns() + SPEAKER_PATIENCE_MS * UINT64_C(1000000);

    if (!bspz_rt.self)
        return true;
    while (!atomic_compare_exchange_strong(&board->speaker, &holder, mine)) {
        while (!(holder & BSPZ_SPOKEN) && bspz_now_ns() < patience) {
            if (atomic_load(&board->stop) != BSPZ_STOP_NONE)
                return false;
            bspz_word_wait(&board->speaker, holder, SPEAKER_LOOK_MS);
            holder = atomic_load(&board->speaker);
        }
        if (holder & BSPZ_SPOKEN)
            return false;
    }
    return let_other_hosts_speak(board);
}

void bspz_has_spoken(void)
{
    if (bspz_rt.self)
        bspz_word_set(&bspz_rt.board->speaker, ((uint32_t)bspz_rt.pid + 1) | BSPZ_SPOKEN);
}

/* The message is printed: flushes the program's output and exits.  In a process that the program
 * forked itself the buffers of files may be copies, which its parent writes.  Why a process ends
 * that makes the mistake on its way out is known already. */
static BSPZ_NORETURN void end_failed(void)
{
    enum bspz_life life = bspz_rt.life;

    bspz_wait_for_debugger();
    if (life == BSPZ_LIFE_LEAVING)
        bspz_end_flushed_untold(bspz_rt.leaving_status);
    bspz_set_leaving(1);
    if (life != BSPZ_LIFE_INERT)
        bspz_end_flushed(BSPZ_RANK_FAILED, 1, 1);
    fflush(stdout);
    _exit(1);
}

/* The place of a call, for a message.  NULL as the file: the call that the process is in, as it has
 * noted it. */
static void name_place(char *place, size_t size, const char **function, int line, const char *file)
{
    uint64_t where = bspz_rt.self ? atomic_load(&bspz_rt.self->where) : 0;

    snprintf(place, size, "%s:%d", file ? bspz_shown_name(file) : "unprofiled", line);
    if (file || !where)
        return;
    *function = bspz_call_name((unsigned)(where >> 32));
    if ((bspz_position)where != 0) /* 0: on its way out */
        bspz_place(bspz_rt.pid, (bspz_position)where, place, size);
}

void bspz_fail(const char *function, int line, const char *file, const char *format, ...)
{
    char place[512];
    va_list arguments;

    /* Names the collective operation, not the primitives it consists of. */
    if (bspz_rt.inside.call && line == bspz_rt.inside.line && file == bspz_rt.inside.file)
        function = bspz_call_name(bspz_rt.inside.call);

    name_place(place, sizeof place, &function, line, file);
    fflush(stdout);
    if (claim_message()) {
        va_start(arguments, format);
        print_message(place, function, bspz_rt.pid, format, arguments);
        va_end(arguments);
        bspz_has_spoken();
    }
    end_failed();
}

static const struct bspz_line *line_of(int pid)
{
    return &bspz_rank_of(bspz_rt.board, pid)->line[bspz_rt.superstep & 1];
}

void bspz_fail_for(const char *function, int pid, bspz_position position, const char *format, ...)
{
    char place[512];
    va_list arguments;

    if (position == line_of(pid)->position && bspz_collective_of(pid))
        function = bspz_call_name(bspz_collective_of(pid));
    bspz_place(pid, position, place, sizeof place);
    fflush(stdout);
    if (claim_message()) {
        va_start(arguments, format);
        print_message(place, function, pid, format, arguments);
        va_end(arguments);
        bspz_has_spoken();
    }
    end_failed();
}

void bspz_warn(const char *function, int line, const char *file, const char *format, ...)
{
    char place[512];
    va_list arguments;

    name_place(place, sizeof place, &function, line, file);
    va_start(arguments, format);
    print_message(place, function, bspz_rt.pid, format, arguments);
    va_end(arguments);
}

void bspz_fail_outside(const char *function, int line, const char *file)
{
    const char *when;

    switch (bspz_rt.life) {
    case BSPZ_LIFE_BEFORE:
        when = "called before bsp_begin";
        break;
    case BSPZ_LIFE_AFTER:
        when = "called after bsp_end";
        break;
    case BSPZ_LIFE_INERT:
        when = "called in a process that the program forked itself; only processes made by "
               "bsp_begin may call BSPlib";
        break;
    default:
        when = "called while the process is ending (in an exit handler?)";
        break;
    }
    bspz_fail(function, line, file, "%s%s", when,
              bspz_rt.life == BSPZ_LIFE_INERT ? ""
                                              : "; it is legal only between bsp_begin and bsp_end");
}
