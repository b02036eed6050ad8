/* test_snapshot_states.c - the lives that a snapshot, and the making of processes, may have on a
 * host; and that no other move is made. */
#include <check.h>
#include <signal.h>

#include "bsprun/agent/snapshot/snapshot_states.h"
#include "tests/unit/suite.h"

static void go_ticket(const enum ticket_state *path, unsigned count)
{
    enum ticket_state state = TICKET_NONE;

    for (unsigned i = 0; i < count; i++)
        ticket_move(&state, path[i]);
    ck_assert_int_eq(state, path[count - 1]);
}
#define GO_TICKET(...)                                                                             \
    go_ticket((const enum ticket_state[]){__VA_ARGS__},                                            \
              sizeof((const enum ticket_state[]){__VA_ARGS__}) / sizeof(enum ticket_state))

START_TEST(lives_of_a_snapshot)
{
    GO_TICKET(TICKET_CAPTURING, TICKET_CAPTURED, TICKET_PERSISTED);
    GO_TICKET(TICKET_CAPTURED, TICKET_PERSISTED,
              TICKET_FAILED); /* snapshot 0; not durable elsewhere */
    GO_TICKET(TICKET_CAPTURING, TICKET_CAPTURED, TICKET_FAILED);
    GO_TICKET(TICKET_CAPTURING, TICKET_WITHHELD, TICKET_FAILED);
    GO_TICKET(TICKET_CAPTURING, TICKET_DOOMED, TICKET_CAPTURED, TICKET_FAILED);
    GO_TICKET(TICKET_CAPTURING, TICKET_DOOMED, TICKET_PASSED, TICKET_CAPTURED, TICKET_FAILED);
}
END_TEST

/* A manifest only when all have recorded; what failed is not taken up again. */
START_TEST(moves_of_a_snapshot)
{
    for (unsigned from = 0; from < TICKET_STATES; from++) {
        ck_assert(ticket_may_move(from, TICKET_PERSISTED) == (from == TICKET_CAPTURED));
        ck_assert(!ticket_may_move(TICKET_FAILED, from));
        ck_assert(!ticket_may_move(from, TICKET_NONE));
        ck_assert(!ticket_may_move(from, TICKET_STATES));
        ck_assert(!ticket_is_recording(from) || !ticket_may_move(from, TICKET_FAILED));
        ck_assert(ticket_is_recording(from) == ticket_may_move(from, TICKET_CAPTURED) ||
                  from == TICKET_NONE);
    }
    ck_assert(!ticket_may_move(TICKET_STATES, TICKET_FAILED));
}
END_TEST

START_TEST(forbidden_snapshot)
{
    enum ticket_state state = TICKET_CAPTURING;

    ticket_move(&state, TICKET_PERSISTED);
}
END_TEST

START_TEST(lives_of_processes)
{
    enum making_state state = MAKING_NONE;

    making_move(&state, MAKING_REMOTE);
    ck_assert(making_is_remote(state));
    making_move(&state, MAKING_REMOTE_SEEN);
    ck_assert(making_is_remote(state));
    making_move(&state, MAKING_NONE); /* the next term */
    making_move(&state, MAKING_NONE); /* and one more, in which nothing was made */
    making_move(&state, MAKING_STAGING);
    ck_assert(!making_is_remote(state));
    making_move(&state, MAKING_STAGED);
    making_move(&state, MAKING_NONE);
    ck_assert(!making_is_remote(state));
}
END_TEST

START_TEST(forbidden_making)
{
    enum making_state state = MAKING_STAGED;

    making_move(&state, MAKING_REMOTE);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot states");
    TCase *tests = tcase_create("snapshot states");

    tcase_add_test(tests, lives_of_a_snapshot);
    tcase_add_test(tests, moves_of_a_snapshot);
    tcase_add_test(tests, lives_of_processes);
    tcase_add_test_raise_signal(tests, forbidden_snapshot, SIGABRT);
    tcase_add_test_raise_signal(tests, forbidden_making, SIGABRT);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
