/* test_shell.c - Processor Zero's shell: what it sends, which messages it refuses, and that a
 * function it calls may hand in the next message at once. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/shell.h"
#include "lib/wire/schema.h"
#include "tests/unit/suite.h"
#include "tests/unit/wire_dump.h"
#include "tests/unit/wire_sample.h"

static const unsigned char job[WIRE_JOB_SIZE] = "job of the test";
static const struct wire_host hosts[] = {{4, 1, "a"}, {2, 2, "b"}};

static struct coord_shell *shell;
static char history[16384]; /* every call of the shell, a line each */
static size_t used;
static bool answer;       /* the agent answers from inside `send` */
static bool answer_trace; /* a host says what it has from inside `trace`, once */
static unsigned sending;  /* depth of calls of on_send */

static void note(const char *line)
{
    used += (size_t)snprintf(history + used, sizeof(history) - used, "%s\n", line);
    ck_assert_uint_lt(used, sizeof(history));
}

static struct wire_message make(enum wire_kind kind, uint32_t host)
{
    struct wire_message message = {.kind = kind, .envelope = {.term = 5}};
    memcpy(message.envelope.job, job, WIRE_JOB_SIZE);
    if (wire_way(kind) == WIRE_WAY_TO_ZERO)
        *wire_sender(&message) = host;
    return message;
}

static void ask_to_stop(enum wire_stop_how how, uint32_t signal, const char *text)
{
    coord_shell_order(shell,
                      &(struct wire_message){.kind = WIRE_STOP, .stop = {how, signal, text}});
}

static void hand_in(uint32_t host, struct wire_message message)
{
    coord_shell_message(shell, host, &message);
}

/* What the agent of a host does at once. */
static void answer_from_inside(uint32_t host, const struct wire_message *message)
{
    struct wire_message reply;
    switch (message->kind) {
    case WIRE_PLACE:
        reply = make(WIRE_RANKS_READY, host);
        for (uint32_t i = 0; i < message->place.host_of.count; i++)
            reply.ranks_ready.count += message->place.host_of.items[i] == host;
        break;
    case WIRE_RUN:
        reply = make(WIRE_ARRIVE, host);
        reply.arrive.barrier = WIRE_BARRIER_END;
        break;
    case WIRE_STOP_RANKS:
        reply = make(WIRE_RANKS_STOPPED, host);
        break;
    default:
        return;
    }
    hand_in(host, reply);
}

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    char text[512], line[600];
    ck_assert_ptr_eq(context, &shell);
    ck_assert_uint_eq(sending, 0);
    ck_assert_uint_ne(host, COORD_BSPRUN); /* without snapshots it has nothing to hear */
    ck_assert_int_eq(memcmp(message->envelope.job, job, WIRE_JOB_SIZE), 0);
    sending++;
    wire_dump(message, text, sizeof(text));
    snprintf(line, sizeof(line), "to %u: %s", host, text);
    note(line);
    if (answer)
        answer_from_inside(host, message);
    sending--;
}

static void on_set_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    ck_assert_int_eq(timer, COORD_TIMER_STOP);
    char line[64];
    ck_assert_ptr_eq(context, &shell);
    snprintf(line, sizeof(line), "timer %llu", (unsigned long long)milliseconds);
    note(line);
}

static void on_cancel_timer(void *context, enum coord_timer timer)
{
    ck_assert_int_eq(timer, COORD_TIMER_STOP);
    ck_assert_ptr_eq(context, &shell);
    note("no timer");
}

static void on_drop_host(void *context, uint32_t host, const char *complaint)
{
    char line[256];
    ck_assert_ptr_eq(context, &shell);
    snprintf(line, sizeof(line), "drop %u: %s", host, complaint);
    note(line);
}

static void on_finish(void *context, const struct coord_outcome *outcome)
{
    char line[256];
    ck_assert_ptr_eq(context, &shell);
    snprintf(line, sizeof(line), "finish %d: %s (%s)", outcome->status,
             wire_cause_text(outcome->cause), outcome->text);
    note(line);
}

/* The lists are the caller's, and are something else when the event's turn comes. */
static void hold_from_inside(void)
{
    uint64_t images[2] = {0, 1}, copies[2] = {1, 0}, together[2] = {0, 0};
    struct wire_message held = make(WIRE_HELD, 4);
    held.envelope.superstep = 7;
    held.held.name.term = 4;
    held.held.processes = 2;
    held.held.manifest = true;
    held.held.images = (struct wire_numbers){images, 2};
    held.held.copies = (struct wire_numbers){copies, 2};
    held.held.together = (struct wire_numbers){together, 2};
    hand_in(4, held);
    memset(images, 0xff, sizeof(images));
    memset(copies, 0xff, sizeof(copies));
    memset(together, 0xff, sizeof(together));
}

static void on_trace(void *context, const char *text)
{
    char line[300];
    ck_assert_ptr_eq(context, &shell);
    if (answer_trace) {
        answer_trace = false;
        hold_from_inside();
    }
    snprintf(line, sizeof(line), "# %s", text);
    note(line);
}

static void start(uint32_t host_count, bool traced)
{
    struct coord_config config = {.term = 5,
                                  .host_count = host_count,
                                  .hosts = hosts,
                                  .consult_every = host_count > 1,
                                  .abort_at = COORD_NEVER};
    struct coord_shell_calls calls = {on_send,      on_set_timer, on_cancel_timer,
                                      on_drop_host, on_finish,    traced ? on_trace : NULL};
    memcpy(config.job, job, WIRE_JOB_SIZE);
    shell = coord_shell_new(&config, &calls, &shell);
    ck_assert_ptr_nonnull(shell);
    used = 0;
    history[0] = '\0';
    answer = false;
}

static void tear_down(void)
{
    coord_shell_free(shell);
    shell = NULL;
}

static void expect(const char *golden)
{
    ck_assert_msg(strcmp(history, golden) == 0, "it was\n%sinstead of\n%s", history, golden);
}

/* Both hosts ready, process 0 on host 4 wanting three processes. */
static void register_three(void)
{
    hand_in(4, make(WIRE_HOST_READY, 4));
    hand_in(2, make(WIRE_HOST_READY, 2));
    struct wire_message message = make(WIRE_REGISTERED, 4);
    message.registered.wanted = 3;
    hand_in(4, message);
}

START_TEST(a_job_from_message_to_message)
{
    start(2, false);
    register_three();
    struct wire_message ready = make(WIRE_RANKS_READY, 4);
    ready.ranks_ready.count = 1;
    hand_in(4, ready);
    ready = make(WIRE_RANKS_READY, 2);
    ready.ranks_ready.count = 2;
    hand_in(2, ready);
    struct wire_message arrive = make(WIRE_ARRIVE, 4);
    hand_in(4, arrive);
    arrive = make(WIRE_ARRIVE, 2);
    hand_in(2, arrive);
    struct wire_message abort = make(WIRE_ABORT, 2);
    abort.abort.pid = 2;
    abort.abort.cause = WIRE_CAUSE_ABORT_CALLED;
    abort.abort.status = 1;
    abort.abort.text = "enough";
    hand_in(2, abort);
    hand_in(2, make(WIRE_RANKS_STOPPED, 2));
    hand_in(4, make(WIRE_RANKS_STOPPED, 4));
    expect("to 4: PLACE term=5 superstep=0 processes=3 host_of=[4, 2, 2] leads=[] snapshot=no "
           "copies=1\n"
           "to 2: PLACE term=5 superstep=0 processes=3 host_of=[4, 2, 2] leads=[] snapshot=no "
           "copies=1\n"
           "to 4: RUN term=5 superstep=0 processes=3 consult=0 measure=no\n"
           "to 2: RUN term=5 superstep=0 processes=3 consult=0 measure=no\n"
           "to 4: RELEASE term=5 superstep=0 decision=0 consult=1 captures=[] objects=no measure=no urgent=no "
           "last=no\n"
           "to 2: RELEASE term=5 superstep=0 decision=0 consult=1 captures=[] objects=no measure=no urgent=no "
           "last=no\n"
           "to 4: STOP_RANKS term=5 superstep=1 cause=1 pid=2 again=no\n"
           "to 2: STOP_RANKS term=5 superstep=1 cause=1 pid=2 again=no\n"
           "timer 10000\n"
           "to 4: END term=5 superstep=1 status=1 cause=1\n"
           "to 2: END term=5 superstep=1 status=1 cause=1\n"
           "no timer\n"
           "finish 1: bsp_abort was called (enough)\n");
}
END_TEST

/* The agent answers each message before `send` returns; the steps still do not mix. */
START_TEST(answers_from_inside_wait)
{
    start(2, false);
    answer = true;
    register_three();
    expect("to 4: PLACE term=5 superstep=0 processes=3 host_of=[4, 2, 2] leads=[] snapshot=no "
           "copies=1\n"
           "to 2: PLACE term=5 superstep=0 processes=3 host_of=[4, 2, 2] leads=[] snapshot=no "
           "copies=1\n"
           "to 4: RUN term=5 superstep=0 processes=3 consult=0 measure=no\n"
           "to 2: RUN term=5 superstep=0 processes=3 consult=0 measure=no\n"
           "to 4: RELEASE term=5 superstep=0 decision=2 consult=never captures=[] objects=no measure=no "
           "urgent=no last=no\n"
           "to 2: RELEASE term=5 superstep=0 decision=2 consult=never captures=[] objects=no measure=no "
           "urgent=no last=no\n");
    used = 0;
    ask_to_stop(WIRE_STOP_SIGNAL, 2, "interrupted");
    expect("to 4: STOP_RANKS term=5 superstep=0 cause=9 pid=-1 again=no\n"
           "to 2: STOP_RANKS term=5 superstep=0 cause=9 pid=-1 again=no\n"
           "timer 10000\n"
           "to 4: END term=5 superstep=0 status=130 cause=9\n"
           "to 2: END term=5 superstep=0 status=130 cause=9\n"
           "no timer\n"
           "finish 130: stopped by a signal (interrupted)\n");
}
END_TEST

START_TEST(the_trace_shows_events_and_effects)
{
    start(1, true);
    hand_in(4, make(WIRE_HOST_READY, 4));
    coord_shell_timer(shell, COORD_TIMER_STOP);
    ask_to_stop(WIRE_STOP_TIMEOUT, 0, NULL);
    coord_shell_host_lost(shell, 4);
    expect("# event HOST_READY term 5 host 4 slots 0\n"
           "# event TIMER term 5\n"
           "# event dropped: too late\n"
           "# event STOP term 5 timeout 0\n"
           "# coord WAITING -> ABORTING\n"
           "# effect STOP_RANKS term 5\n"
           "to 4: STOP_RANKS term=5 superstep=0 cause=10 pid=-1 again=no\n"
           "# effect SET_TIMER term 5 10000 ms\n"
           "timer 10000\n"
           "# event HOST_LOST term 5 host 4\n"
           "# coord ABORTING -> ABORTED\n"
           "# effect END term 5\n"
           "# effect CANCEL_TIMER term 5\n"
           "no timer\n"
           "# effect FINISH term 5\n"
           "finish 124: the time limit passed ()\n");
}
END_TEST

START_TEST(the_timer_ends_a_job_that_does_not_stop)
{
    start(1, false);
    hand_in(4, make(WIRE_HOST_READY, 4));
    ask_to_stop(WIRE_STOP_KILL, 0, "");
    used = 0;
    coord_shell_timer(shell, COORD_TIMER_STOP);
    expect("no timer\nfinish 137: stopped by a signal ()\n");
}
END_TEST

START_TEST(lists_of_an_event_that_waits_are_its_own)
{
    struct coord_config config = {.term = 5,
                                  .host_count = 2,
                                  .hosts = hosts,
                                  .abort_at = COORD_NEVER,
                                  .processes_max = 8,
                                  .snapshots = true,
                                  .restore = true,
                                  .wanted = COORD_NEVER};
    struct coord_shell_calls calls = {on_send,      on_set_timer, on_cancel_timer,
                                      on_drop_host, on_finish,    on_trace};
    memcpy(config.job, job, WIRE_JOB_SIZE);
    shell = coord_shell_new(&config, &calls, &shell);
    ck_assert_ptr_nonnull(shell);
    answer_trace = true;
    hand_in(2, make(WIRE_HOST_READY, 2));
    ck_assert_msg(strstr(history, "event HELD") != NULL, "it was\n%s", history);
    ck_assert_msg(strstr(history, "drop 4") == NULL, "it was\n%s", history);
}
END_TEST

/* ---- Messages that break a rule ------------------------------------------------------------ */

enum offence { OTHER_JOB, OTHER_HOST, OTHER_KIND, OUT_OF_TURN, NEWER_TERM, OFFENCES };

static const char *const complaints[OFFENCES] = {
    [OTHER_JOB] = "a message of another job",
    [OTHER_HOST] = "a message in the name of another host",
    [OTHER_KIND] = "a message that is not for Processor Zero",
    [OUT_OF_TURN] = "host 2 sends something that does not belong into state WAITING",
    [NEWER_TERM] = "an event of term 6, this is term 5",
};

START_TEST(offenders_are_dropped)
{
    start(2, false);
    hand_in(4, make(WIRE_HOST_READY, 4));
    hand_in(2, make(WIRE_HOST_READY, 2));
    struct wire_message message = make(WIRE_ARRIVE, 2);
    switch (_i) {
    case OTHER_JOB:
        message.envelope.job[3]++;
        break;
    case OTHER_HOST:
        message.arrive.host = 4;
        break;
    case OTHER_KIND:
        message = make(WIRE_RUN, 2);
        break;
    case NEWER_TERM:
        message.envelope.term = 6;
        break;
    default:
        break;
    }
    hand_in(2, message);
    char line[256];
    snprintf(line, sizeof(line), "drop 2: %s\n", complaints[_i]);
    ck_assert_msg(strstr(history, line) != NULL, "no '%s' in\n%s", line, history);
    ck_assert(!coord_host_alive(coord_shell_state(shell), 2));
    ck_assert_ptr_nonnull(strstr(history, "to 4: STOP_RANKS"));
    ck_assert_ptr_null(strstr(history, "to 2: "));
    hand_in(4, make(WIRE_RANKS_STOPPED, 4));
    ck_assert_ptr_nonnull(strstr(history, "finish 1: a host was lost (host b was lost)"));
}
END_TEST

/* Somebody who is none of the job's hosts is shown the door, and that is all. */
START_TEST(strangers_change_nothing)
{
    start(2, false);
    hand_in(4, make(WIRE_HOST_READY, 4));
    hand_in(77, make(WIRE_HOST_READY, 77));
    coord_shell_host_lost(shell, 78);
    expect("drop 77: an event from host 77, which is none of this job\n");
    ck_assert_int_eq(coord_phase(coord_shell_state(shell)), COORD_WAITING);
}
END_TEST

/* Whatever kind and content, from a host of the job or not: no crash, and at most a lost host. */
START_TEST(any_message_is_survived)
{
    for (unsigned variant = 0; variant < 50; variant++) {
        start(2, false);
        hand_in(4, make(WIRE_HOST_READY, 4));
        hand_in(2, make(WIRE_HOST_READY, 2));
        struct wire_message message;
        wire_sample((enum wire_kind)_i, variant, &message);
        memcpy(message.envelope.job, job, WIRE_JOB_SIZE);
        message.envelope.term = 5;
        hand_in(variant % 3 ? 2 : 99, message);
        ask_to_stop(WIRE_STOP_KILL, 9, "");
        coord_shell_timer(shell, COORD_TIMER_STOP);
        ck_assert_int_eq(coord_phase(coord_shell_state(shell)), COORD_ABORTED);
        tear_down();
    }
    start(1, false);
}
END_TEST

START_TEST(senseless_configurations)
{
    struct coord_config config = {.term = 0, .host_count = 1, .hosts = hosts};
    struct coord_shell_calls calls = {on_send,      on_set_timer, on_cancel_timer,
                                      on_drop_host, on_finish,    NULL};
    ck_assert_ptr_null(coord_shell_new(&config, &calls, NULL));
    coord_shell_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shell");
    TCase *messages = tcase_create("messages");
    tcase_set_timeout(messages, 60);
    tcase_add_checked_fixture(messages, NULL, tear_down);
    tcase_add_test(messages, a_job_from_message_to_message);
    tcase_add_test(messages, answers_from_inside_wait);
    tcase_add_test(messages, the_trace_shows_events_and_effects);
    tcase_add_test(messages, the_timer_ends_a_job_that_does_not_stop);
    tcase_add_test(messages, lists_of_an_event_that_waits_are_its_own);
    tcase_add_loop_test(messages, offenders_are_dropped, 0, OFFENCES);
    tcase_add_test(messages, strangers_change_nothing);
    tcase_add_loop_test(messages, any_message_is_survived, 0, WIRE_KIND_COUNT);
    tcase_add_test(messages, senseless_configurations);
    suite_add_tcase(suite, messages);
    return suite_run(suite);
}
