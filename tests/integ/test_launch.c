/* test_launch.c - the pure parts of bsprun and bspnode: states of a job, verdicts, faults,
 * relayed lines, tables. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/job.h"
#include "bsprun/fault.h"
#include "bsprun/launcher/account.h"
#include "bsprun/launcher/show.h"
#include "bsprun/rank_times.h"
#include "bsprun/usage.h"
#include "bsprun/verdict.h"
#include "bsprun/whereabouts.h"
#include "lib/base/units.h"
#include "tests/unit/suite.h"

/* ---- Faults ---- */

START_TEST(faults_list)
{
    struct faults list;

    ck_assert(faults_parse(NULL, &list) && list.consult_every == 0 && list.abort_at == UINT64_MAX);
    ck_assert(faults_parse("abort-at:0", &list) && list.abort_at == 0);
    ck_assert(faults_parse("consult:3,abort-at:4", &list));
    ck_assert(list.consult_every == 3 && list.abort_at == 4);
    ck_assert(!faults_parse("consult", &list));
    ck_assert(!faults_parse("consult:", &list));
    ck_assert(!faults_parse("consult:-1", &list));
    ck_assert(!faults_parse("consult:1x", &list));
    ck_assert(!faults_parse("consult:99999999999999999999", &list));
    ck_assert(!faults_parse("other:1", &list));
}
END_TEST

/* ---- States ---- */

START_TEST(job_moves)
{
    static const enum job_state path[] = {JOB_NEW,     JOB_SEQUENTIAL, JOB_REGISTERED, JOB_FORMING,
                                          JOB_RUNNING, JOB_ENDING,     JOB_OVER};
    enum job_state state = JOB_NEW;

    for (size_t i = 1; i < sizeof path / sizeof *path; i++) {
        ck_assert(job_may_move(path[i - 1], path[i]));
        ck_assert(!job_may_move(path[i], path[i - 1]));
        job_move(&state, path[i]);
    }
    ck_assert_int_eq(state, JOB_OVER);
    for (int from = 0; from < JOB_STATE_COUNT; from++) {
        ck_assert(!job_may_move(from, from));
        ck_assert(job_may_move(from, JOB_OVER) == (from != JOB_OVER));
        ck_assert(job_may_move(from, JOB_STOPPING) == (from < JOB_STOPPING));
        ck_assert(job_is_stopping(from) == (from >= JOB_STOPPING));
    }
    ck_assert(!job_may_move(JOB_STATE_COUNT, JOB_OVER) && !job_may_move(JOB_NEW, JOB_STATE_COUNT));
}
END_TEST

START_TEST(job_wrong_move)
{
    enum job_state state = JOB_ENDING;

    job_move(&state, JOB_RUNNING);
}
END_TEST

/* ---- Verdicts ---- */

static struct whereabouts somewhere(enum bspz_rank_state mark)
{
    struct whereabouts where = {.pid = 2,
                                .mark = mark,
                                .exit_status = 3,
                                .superstep = 5,
                                .call = BSPZ_CALL_SYNC,
                                .function = "bsp_sync",
                                .begin = "bsp_begin",
                                .end = "bsp_end",
                                .file = "prog.c",
                                .line = 12};

    return where;
}

static void expect_verdict(enum bspz_rank_state mark, struct death death, enum wire_cause cause,
                           int status, const char *text)
{
    struct whereabouts where = somewhere(mark);
    struct verdict verdict;

    verdict_of_rank(&where, &death, &verdict);
    ck_assert_int_eq(verdict.cause, cause);
    ck_assert_int_eq(verdict.status, status);
    ck_assert_str_eq(verdict.text, text);
}

START_TEST(verdicts_of_ranks)
{
    static const struct death unknown, killed = {true, 9, 0}, left = {true, 0, 4},
                                       quiet = {true, 0, 0}, own = {true, 0, 3};

    expect_verdict(BSPZ_RANK_RUNNING, killed, WIRE_CAUSE_RANK_SIGNALLED, 137,
                   "pid 2 was killed by signal 9 (Killed) in superstep 5, last call bsp_sync at "
                   "prog.c:12");
    expect_verdict(BSPZ_RANK_RUNNING, left, WIRE_CAUSE_RANK_EXITED, 4,
                   "pid 2 ended with status 4 without bsp_end in superstep 5, last call bsp_sync "
                   "at prog.c:12");
    expect_verdict(BSPZ_RANK_RUNNING, quiet, WIRE_CAUSE_RANK_EXITED, 1,
                   "pid 2 ended with status 0 without bsp_end in superstep 5, last call bsp_sync "
                   "at prog.c:12");
    expect_verdict(BSPZ_RANK_RUNNING, unknown, WIRE_CAUSE_RANK_EXITED, 1,
                   "pid 2 has died without bsp_end in superstep 5, last call bsp_sync at "
                   "prog.c:12");
    expect_verdict(BSPZ_RANK_READY, killed, WIRE_CAUSE_RANK_SIGNALLED, 137,
                   "pid 2 was killed by signal 9 (Killed) in bsp_begin");
    expect_verdict(BSPZ_RANK_EXITED, unknown, WIRE_CAUSE_RANK_EXITED, 3,
                   "pid 2 called exit(3) in superstep 5 before bsp_end");
    expect_verdict(BSPZ_RANK_ABORTED, unknown, WIRE_CAUSE_ABORT_CALLED, 3, "");
    expect_verdict(BSPZ_RANK_FAILED, killed, WIRE_CAUSE_RANK_ERROR, 1, "");
    expect_verdict(BSPZ_RANK_ENDED, unknown, WIRE_CAUSE_NONE, 0, "");
    expect_verdict(BSPZ_RANK_ENDED, quiet, WIRE_CAUSE_NONE, 0, "");
    expect_verdict(BSPZ_RANK_ENDED, own, WIRE_CAUSE_NONE, 3, "");
    expect_verdict(BSPZ_RANK_ENDED, left, WIRE_CAUSE_EXITED_AFTER_END, 4,
                   "pid 2 ended with status 4 after bsp_end");
    expect_verdict(BSPZ_RANK_ENDED, killed, WIRE_CAUSE_KILLED_AFTER_END, 137,
                   "pid 2 was killed by signal 9 (Killed) after bsp_end");
}
END_TEST

/* MPI_Abort(0) and bsp_abort, which has no status, must not look like success. */
START_TEST(aborted_without_a_status)
{
    struct whereabouts where = somewhere(BSPZ_RANK_ABORTED);
    struct death death = {false, 0, 0};
    struct verdict verdict;

    where.exit_status = 0;
    verdict_of_rank(&where, &death, &verdict);
    ck_assert_int_eq(verdict.status, 1);
    where.exit_status = 256;
    verdict_of_rank(&where, &death, &verdict);
    ck_assert_int_eq(verdict.status, 1);
}
END_TEST

START_TEST(verdicts_of_programs)
{
    static const struct death killed = {true, 11, 0}, left = {true, 0, 4}, quiet = {true, 0, 0};
    struct verdict verdict;

    verdict_of_program("a", true, &quiet, &verdict);
    ck_assert(verdict.cause == WIRE_CAUSE_NONE && verdict.status == 0 && !verdict.text[0]);
    verdict_of_program("a", true, &left, &verdict);
    ck_assert(verdict.cause == WIRE_CAUSE_NONE && verdict.status == 4 && !verdict.text[0]);
    verdict_of_program("a", false, &quiet, &verdict);
    ck_assert_int_eq(verdict.status, 1);
    ck_assert_ptr_nonnull(strstr(verdict.text, "bspcc"));
    verdict_of_program("a", false, &left, &verdict);
    ck_assert_int_eq(verdict.status, 4);
    verdict_of_program("a", true, &killed, &verdict);
    ck_assert_int_eq(verdict.status, 139);
    ck_assert_str_eq(verdict.text,
                     "a was killed by signal 11 (Segmentation fault) before bsp_begin");
}
END_TEST

/* ---- Tables ---- */

#define MANY 100

static struct bspz_board *made_board(int nprocs)
{
    struct bspz_board *board = calloc(1, bspz_agent_bytes(nprocs));

    ck_assert_ptr_nonnull(board);
    for (int pid = 0; pid < nprocs; pid++) {
        struct bspz_rank *rank = bspz_rank_of(board, pid);

        strcpy(bspz_name_of(board, nprocs, pid, 1), "prog.c");
        atomic_store(&rank->file_count, 2);
        atomic_store(&rank->state, BSPZ_RANK_RUNNING);
        atomic_store(&rank->superstep, 7);
        atomic_store(&rank->where, (uint64_t)BSPZ_CALL_PUT << 32 | BSPZ_POSITION(1, 33));
    }
    return board;
}

START_TEST(table_of_all)
{
    struct bspz_board *board = made_board(3);
    bool killed[3] = {false, false, true};
    char *table;

    atomic_store(&bspz_rank_of(board, 0)->in_barrier, 1);
    atomic_store(&bspz_rank_of(board, 1)->line[1].stamp, 8);
    table = whereabouts_table(board, 3, killed);
    ck_assert_str_eq(table, "  pid 0: last call bsp_put at prog.c:33, superstep 7, waiting\n"
                            "  pid 1: last call bsp_put at prog.c:33, superstep 7, communicating\n"
                            "  pid 2: last call bsp_put at prog.c:33, superstep 7, died\n");
    free(table);
    free(board);
}
END_TEST

START_TEST(table_of_garbage)
{
    struct bspz_board *board = made_board(2);
    struct bspz_rank *rank = bspz_rank_of(board, 1);
    char *table;

    memset(rank, 0xff, sizeof *rank);
    memset(bspz_name_of(board, 2, 0, 0), 'x', BSPZ_NAMES_BYTES);
    table = whereabouts_table(board, 2, NULL);
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_nonnull(strstr(table, "  pid 1: "));
    free(table);
    free(board);
}
END_TEST

static void expect_times(const struct bspz_board *board, enum wire_rank_state state, uint64_t now,
                         uint64_t compute, uint64_t communicate, uint64_t wait)
{
    struct rank_times times = rank_times_read(board, 1, state, now);

    ck_assert_uint_eq(times.compute_ns, compute);
    ck_assert_uint_eq(times.communicate_ns, communicate);
    ck_assert_uint_eq(times.wait_ns, wait);
}

START_TEST(times_of_a_process)
{
    struct bspz_board *board = made_board(2);
    struct bspz_rank *rank = bspz_rank_of(board, 1);

    /* Nobody has wanted them. */
    expect_times(board, WIRE_RANK_COMPUTING, 100, 0, 0, 0);
    /* Before it has passed a barrier, its state tells what it does; later wishes change nothing. */
    rank_times_want(board, 1, 1000);
    rank_times_want(board, 1, 1500);
    ck_assert_uint_eq(rank->timed_ns, 1000);
    atomic_store(&rank->doing, 400ull << BSPZ_DOING_SHIFT | BSPZ_COMPUTES); /* of earlier wishes */
    expect_times(board, WIRE_RANK_COMPUTING, 3000, 2000, 0, 0);
    expect_times(board, WIRE_RANK_WAITING, 3000, 0, 0, 2000);
    expect_times(board, WIRE_RANK_COMMUNICATING, 3000, 0, 2000, 0);
    expect_times(board, WIRE_RANK_IN_END, 3000, 0, 0, 2000);
    expect_times(board, WIRE_RANK_ENDED, 3000, 0, 0, 0);
    expect_times(board, WIRE_RANK_IN_BEGIN, 3000, 0, 0, 0);
    expect_times(board, WIRE_RANK_COMPUTING, 900, 0, 0, 0);
    /* Then what it writes does. */
    rank->counters.compute_ns = 10;
    rank->counters.wait_ns = 20;
    atomic_store(&rank->doing, 2000ull << BSPZ_DOING_SHIFT | BSPZ_WAITS);
    expect_times(board, WIRE_RANK_COMPUTING, 2500, 10, 0, 520);
    atomic_store(&rank->doing, 2000ull << BSPZ_DOING_SHIFT | BSPZ_PAUSES);
    expect_times(board, WIRE_RANK_COMPUTING, 2500, 10, 0, 20);
    /* While it is writing, and if it never ends. */
    atomic_store(&rank->doing, BSPZ_DOING_CHANGES);
    expect_times(board, WIRE_RANK_COMPUTING, 2500, 10, 0, 20);
    rank_times_end(board, 1);
    ck_assert_uint_eq(rank->timed_ns, 0);
    atomic_store(&rank->doing, 2000ull << BSPZ_DOING_SHIFT | BSPZ_WAITS);
    expect_times(board, WIRE_RANK_WAITING, 9000, 10, 0, 20);
    /* Who counts always is left alone. */
    rank->timed_ns = BSPZ_TIMED_ALWAYS;
    rank_times_want(board, 1, 5000);
    rank_times_end(board, 1);
    ck_assert_uint_eq(rank->timed_ns, BSPZ_TIMED_ALWAYS);
    expect_times(board, WIRE_RANK_WAITING, 9000, 10, 0, 7020);
    free(board);
}
END_TEST

static void expect_table(const struct bspz_board *board, const char *text)
{
    char *table = whereabouts_table(board, 2, NULL);

    ck_assert_str_eq(table, text);
    free(table);
}

/* The beginning and the end are named as the program has called them. */
START_TEST(names_of_the_program)
{
    static const struct death killed = {true, 9, 0};
    struct bspz_board *board = made_board(2);
    struct whereabouts where;
    struct verdict verdict;

    for (int pid = 0; pid < 2; pid++) {
        atomic_store(&bspz_rank_of(board, pid)->state, BSPZ_RANK_READY);
        atomic_store(&bspz_rank_of(board, pid)->where, 0);
        atomic_store(&bspz_rank_of(board, pid)->superstep, 0);
    }
    expect_table(board, "  pid 0: no call yet, superstep 0, in bsp_begin\n"
                        "  pid 1: no call yet, superstep 0, in bsp_begin\n");
    board->layout.mail = 4096;
    atomic_store(&bspz_rank_of(board, 1)->where,
                 (uint64_t)BSPZ_CALL_VOLPEX_INIT << 32 | BSPZ_POSITION(1, 5));
    expect_table(board,
                 "  pid 0: no call yet, superstep 0, in MPI_Init\n"
                 "  pid 1: last call volpex_init at prog.c:5, superstep 0, in volpex_init\n");
    whereabouts_read(board, 2, 0, &where);
    verdict_of_rank(&where, &killed, &verdict);
    ck_assert_str_eq(verdict.text, "pid 0 was killed by signal 9 (Killed) in MPI_Init");
    ck_assert_str_eq(where.end, "MPI_Finalize");
    free(board);
}
END_TEST

START_TEST(table_of_many)
{
    struct bspz_board *board = made_board(MANY);
    char *table;

    atomic_store(&bspz_rank_of(board, 50)->superstep, 8);
    table = whereabouts_table(board, MANY, NULL);
    ck_assert_str_eq(table,
                     "  pids 0 to 49: last call bsp_put at prog.c:33, superstep 7, computing\n"
                     "  pid 50: last call bsp_put at prog.c:33, superstep 8, computing\n"
                     "  pids 51 to 99: last call bsp_put at prog.c:33, superstep 7, computing\n");
    free(table);
    free(board);
}
END_TEST

/* Of the replicas of a process the one that is farthest ahead tells what it does; of two in the
 * same superstep the one whose agent has seen the fault. */
START_TEST(table_of_replicas)
{
    char *table =
        whereabouts_merge("  pid 0: last call bsp_sync at a.c:27, superstep 2, called exit(0)\n"
                          "  pid 1: last call bsp_sync at a.c:26, superstep 0, waiting\n"
                          "  pid 10: last call bsp_sync at a.c:27, superstep 12, waiting\n",
                          "  pid 0: last call bsp_sync at a.c:27, superstep 2, waiting\n"
                          "  pid 1: last call bsp_sync at superstep 9, superstep 2, waiting\n"
                          "  pid 2: last call bsp_sync at a.c:27, superstep 2, waiting\n"
                          "  pid 10: last call bsp_sync at a.c:27, superstep 2, waiting\n");

    ck_assert_str_eq(table, "  pid 0: last call bsp_sync at a.c:27, superstep 2, called exit(0)\n"
                            "  pid 1: last call bsp_sync at superstep 9, superstep 2, waiting\n"
                            "  pid 2: last call bsp_sync at a.c:27, superstep 2, waiting\n"
                            "  pid 10: last call bsp_sync at a.c:27, superstep 12, waiting\n");
    free(table);
}
END_TEST

START_TEST(usage_texts)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},        {999, "999 B"},        {1000, "1.0 KiB"},     {1024, "1.0 KiB"},
        {10240, "10 KiB"}, {1023999, "1000 KiB"}, {1u << 20, "1.0 MiB"}, {UINT64_MAX, "16 EiB"}};
    struct wire_usage ranks[2] = {
        {.pid = 0, .supersteps = 9, .compute_ns = 1500000000u, .bytes_out = 100, .h_max = 7},
        {.pid = 1, .supersteps = 9, .compute_ns = 500000000u, .bytes_in = 100, .h_max = 8}};
    char text[32];
    char *table;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bspz_bytes_text(rows[i].bytes, text, sizeof text);
        ck_assert_str_eq(text, rows[i].text);
    }
    table = usage_table(ranks, 2);
    ck_assert_ptr_nonnull(strstr(table, "2 processes, 9 supersteps"));
    ck_assert_ptr_nonnull(strstr(table, "  all          9     2.000"));
    ck_assert_int_ne(table[strlen(table) - 1], '\n');
    free(table);
    ranks[0].supersteps = 1;
    table = usage_table(ranks, 1);
    ck_assert_ptr_nonnull(strstr(table, "1 process, 1 superstep, "));
    free(table);
}
END_TEST

START_TEST(what_faults_did)
{
    struct wire_usage ranks[2] = {{.pid = 0, .compute_ns = 1500000000u, .wait_ns = 500000000u},
                                  {.pid = 2, .communicate_ns = 250000000u}};
    uint32_t of[3] = {0, 9, 2};
    char *table = usage_faults_table(
        ranks, 2, &(struct usage_faults){7, 0.5, 3, 4, 3, of, sizeof of / sizeof *of, false});

    ck_assert_ptr_nonnull(
        strstr(table, "\n    0      2.000      3.000      4.000      0.500          7        0\n"));
    ck_assert_ptr_nonnull(
        strstr(table, "\n    2      0.250      3.000      4.000      0.500          7        2\n"));
    ck_assert_ptr_nonnull(
        strstr(table, "\n  all      2.250      6.000      8.000      1.000          7        3"));
    ck_assert_ptr_eq(strstr(table, "since the job began:\n"), table);
    ck_assert_int_ne(table[strlen(table) - 1], '\n');
    free(table);
}
END_TEST

static void has_spent(const struct account *account, uint64_t useful, uint64_t lost, uint64_t down)
{
    ck_assert_uint_eq(account->useful_ms, useful);
    ck_assert_uint_eq(account->lost_ms, lost);
    ck_assert_uint_eq(account->down_ms, down);
}

START_TEST(time_is_useful_lost_or_down)
{
    struct account account = {0};

    account_running(&account, 1000);
    account_saved(&account, (struct bspz_snapshot_name){5, 1}, 1100);
    account_saved(&account, (struct bspz_snapshot_name){9, 1}, 1300);
    account_running(&account, 1350); /* of another agent: it runs already */
    account_stopped(&account, 1400);
    account_stopped(&account, 1450);
    has_spent(&account, 400, 0, 0);
    account_back(&account, (struct bspz_snapshot_name){9, 1});
    has_spent(&account, 300, 100, 0);
    account_running(&account, 2000);
    has_spent(&account, 300, 100, 600);
    account_stopped(&account, 2010);
    account_back(&account, (struct bspz_snapshot_name){5, 1}); /* the newer one is damaged */
    has_spent(&account, 100, 310, 600);
    account_running(&account, 2020);
    account_saved(&account, (struct bspz_snapshot_name){9, 3}, 2220);
    account_stopped(&account, 2240);
    account_back(&account, (struct bspz_snapshot_name){9, 3}); /* of this term, not of the first */
    has_spent(&account, 300, 330, 610);
    account_free(&account);
}
END_TEST

START_TEST(a_restart_is_down_until_it_computes)
{
    struct account account = {0};

    account_down(&account, 500);
    account_back(&account, (struct bspz_snapshot_name){40, 2});
    account_running(&account, 700);
    account_stopped(&account, 800);
    has_spent(&account, 100, 0, 200);
    account_back(&account, (struct bspz_snapshot_name){40, 2}); /* before this bsprun took any */
    has_spent(&account, 0, 100, 200);
    account_free(&account);
}
END_TEST

/* ---- Relayed lines ---- */

static char shown[1024];

static int keep(void *context, int pid, int stream, const char *data, size_t size)
{
    size_t used = strlen(shown);

    (void)pid;
    ck_assert_ptr_null(context);
    snprintf(shown + used, sizeof shown - used, "%d<%.*s>", stream, (int)size, data);
    return 0;
}

static int full(void *context, int pid, int stream, const char *data, size_t size)
{
    (void)context;
    (void)pid;
    (void)stream;
    (void)data;
    (void)size;
    return -28;
}

static void piece(struct show *show, int pid, int stream, const char *text)
{
    ck_assert_int_eq(show_piece(show, pid, stream, text, strlen(text)), 0);
}

START_TEST(show_tags)
{
    struct show *show = show_new(WIRE_STDIO_TAG, keep, NULL);

    shown[0] = '\0';
    piece(show, 0, 1, "be");
    piece(show, 1, 1, "x\ny\nz");
    piece(show, 0, 2, "err\n");
    piece(show, 0, 1, "gin\n");
    piece(show, -1, 1, "\n");
    ck_assert_int_eq(show_flush(show), 0);
    ck_assert_str_eq(shown, "1<[1] x\n>1<[1] y\n>2<[0] err\n>1<[0] begin\n>1<[?] \n>1<[1] z\n>");
    ck_assert_int_eq(show_flush(show), 0);
    show_free(show);
    show_free(NULL);
}
END_TEST

START_TEST(show_prompts)
{
    struct show *show = show_new(WIRE_STDIO_TAG, keep, NULL);

    shown[0] = '\0';
    piece(show, 0, 1, "name? ");
    ck_assert_int_eq(show_release(show), 0);
    ck_assert_int_eq(show_release(show), 0);
    ck_assert_str_eq(shown, "1<[0] name? >");
    piece(show, 0, 1, "hello\n"); /* goes on in the same line */
    ck_assert_str_eq(shown, "1<[0] name? >1<hello\n>");
    shown[0] = '\0';
    piece(show, 0, 1, "age? ");
    show_release(show);
    piece(show, 1, 1, "meanwhile\n"); /* in a line of its own; what follows is a new line, too */
    piece(show, 0, 1, "old\n");
    ck_assert_str_eq(shown, "1<[0] age? >1<\n[1] meanwhile\n>1<[0] old\n>");
    show_free(show);
}
END_TEST

START_TEST(show_banners)
{
    struct show *show = show_new(WIRE_STDIO_SPLIT, keep, NULL);

    shown[0] = '\0';
    piece(show, 0, 1, "a\nb\n");
    piece(show, 0, 2, "c\n");
    piece(show, 3, 2, "d\n");
    ck_assert_str_eq(shown, "1< --- host BSP pid 0 - stdout ---\na\n>1<b\n>"
                            "2< --- host BSP pid 0 - stderr ---\nc\n>"
                            "2< --- host BSP pid 3 - stderr ---\nd\n>");
    show_free(show);
}
END_TEST

START_TEST(show_long_line)
{
    struct show *show = show_new(WIRE_STDIO_TAG, full, NULL);
    char block[4096];
    int error = 0, pieces = 0;

    memset(block, 'x', sizeof block);
    while (error == 0 && pieces++ < 1000)
        error = show_piece(show, 0, 1, block, sizeof block);
    ck_assert_int_eq(error, -28); /* written before it is complete: memory is bounded */
    ck_assert_int_le(pieces, SHOW_LINE / sizeof block + 1);
    show_free(show);
}
END_TEST

START_TEST(progress_line)
{
    struct wire_where ranks[2] = {{.superstep = 120}, {.superstep = 121}};
    struct wire_status status = {.processes = 2, .seconds = 3.0, .ranks = {ranks, 2}};
    struct wire_status early = {.processes = 0};
    struct progress progress = {.superstep = 20, .seconds = 2.0, .first = 20, .first_seconds = 2.0};
    char text[256];

    ck_assert_uint_eq(progress_superstep(&status), 120);
    progress_text(&status, &progress, text, sizeof text);
    ck_assert_str_eq(text, "superstep 120, 100/s, 3.0 s, p = 2");
    progress.total = 1120;
    progress.has_snapshot = true;
    progress.snapshot = 110;
    progress.restarts = 1;
    status.seconds = 4.0;
    ranks[0].superstep = ranks[1].superstep = 220;
    progress_text(&status, &progress, text, sizeof text);
    ck_assert_str_eq(text,
                     "superstep 220, 100/s, 4.0 s, p = 2, 9 s left, snapshot of 110, 1 restart");
    /* After a rollback nothing is reckoned with what was before it. */
    status.seconds = 5.0;
    ranks[0].superstep = 110;
    progress.restarts = 2;
    progress_text(&status, &progress, text, sizeof text);
    ck_assert_str_eq(text, "superstep 110, 0.0/s, 5.0 s, p = 2, snapshot of 110, 2 restarts");
    /* In the middle of one, processes that are not back yet have superstep 0. */
    ranks[1].superstep = 0;
    progress_text(&status, &progress, text, sizeof text);
    ck_assert_str_eq(text, "superstep 110, 0.0/s, 5.0 s, p = 2, snapshot of 110, 2 restarts");
    status.seconds = 7.0;
    ranks[0].superstep = ranks[1].superstep = 120;
    progress_text(&status, &progress, text, sizeof text);
    ck_assert_str_eq(text,
                     "superstep 120, 5.0/s, 7.0 s, p = 2, 3 min left, snapshot of 110, 2 restarts");
    progress_text(&early, &progress, text, sizeof text);
    ck_assert_str_eq(text, "before bsp_begin");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {faults_list,
                                  job_moves,
                                  verdicts_of_ranks,
                                  aborted_without_a_status,
                                  verdicts_of_programs,
                                  table_of_all,
                                  table_of_garbage,
                                  times_of_a_process,
                                  names_of_the_program,
                                  table_of_many,
                                  table_of_replicas,
                                  usage_texts,
                                  show_tags,
                                  show_prompts,
                                  show_banners,
                                  show_long_line,
                                  progress_line,
                                  what_faults_did,
                                  time_is_useful_lost_or_down,
                                  a_restart_is_down_until_it_computes};
    Suite *suite = suite_create("launch");
    TCase *cases = tcase_create("pure");

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    tcase_add_test_raise_signal(cases, job_wrong_move, 6);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
