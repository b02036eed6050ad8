/* test_copies.c - parts of the dataspace that several hosts hold: what an answer waits for, and who
 * takes over.  Losses at any moment are played in tests/sim/copies.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/log.h"
#include "tests/unit/suite.h"

#define HOSTS  4u
#define QUEUED 64u

static struct pool *pool;
static struct host {
    uint32_t number;
    struct copies *copies;
    unsigned answers, differs, lost_parts, complaints;
    char text[16]; /* of the last answer */
} hosts[HOSTS];

/* Messages on their way, in order. */
static struct {
    uint32_t from, to;
    struct copy_message message;
    char tag[16];
} queue[QUEUED];
static unsigned queued;

static char tag[8]; /* of host 0 */

static void on_send(void *context, uint32_t to, const struct copy_message *message)
{
    const struct host *host = context;

    ck_assert_uint_lt(queued, QUEUED);
    queue[queued].from = host->number;
    queue[queued].to = to;
    queue[queued].message = *message;
    memcpy(queue[queued].tag, message->tag ? message->tag : "", message->tag_size);
    queue[queued].message.tag = queue[queued].tag;
    if (message->object) { /* on the other host it is another one */
        struct object *object = object_make(pool, message->object->size);

        memcpy(object->bytes, message->object->bytes, object->size);
        queue[queued].message.object = object;
    }
    queued++;
}

static void on_answer(void *context, const struct asker *to, struct object *object)
{
    struct host *host = context;

    (void)to;
    host->answers++;
    snprintf(host->text, sizeof host->text, "%.*s", object ? (int)object->size : 0,
             object ? (const char *)object->bytes : "");
    object_drop(object);
}

static void on_differs(void *context, const struct asker *asker)
{
    (void)asker;
    ((struct host *)context)->differs++;
}

static void on_part_lost(void *context, uint32_t part)
{
    (void)part;
    ((struct host *)context)->lost_parts++;
}

static void on_no_memory(void *context, uint32_t pid, uint64_t bytes)
{
    (void)context, (void)pid, (void)bytes;
    ck_abort_msg("no memory");
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    (void)host, (void)complaint;
    ((struct host *)context)->complaints++;
}

static const struct copies_calls calls = {on_send,      on_answer,    on_differs,
                                          on_part_lost, on_no_memory, on_broken};

static void open_hosts_with_log(uint32_t copies, uint64_t log)
{
    static const uint32_t ring[HOSTS] = {0, 1, 2, 3};

    for (uint32_t i = 0; i < HOSTS; i++) {
        struct copies_setup setup = {.host = i,
                                     .hosts = HOSTS,
                                     .ring = ring,
                                     .parts = HOSTS,
                                     .nprocs = 4,
                                     .copies = copies,
                                     .pool = pool,
                                     .log = log};

        hosts[i] = (struct host){.number = i, .copies = copies_open(&setup, &calls, &hosts[i])};
        ck_assert_ptr_nonnull(hosts[i].copies);
    }
    for (unsigned i = 0; i == 0 || copies_part(hosts[0].copies, tag, strlen(tag)) != 0; i++)
        snprintf(tag, sizeof tag, "t%u", i % 1000);
}

static void open_hosts(uint32_t copies)
{
    open_hosts_with_log(copies, UINT64_MAX);
}

static void set_up(void)
{
    memset(hosts, 0, sizeof hosts);
    queued = 0;
    pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL);
    ck_assert_ptr_nonnull(pool);
}

/* What is on its way never comes. */
static void forget_all(void)
{
    while (queued > 0)
        object_drop(queue[--queued].message.object);
}

static void tear_down(void)
{
    forget_all();
    for (uint32_t i = 0; i < HOSTS; i++)
        copies_close(hosts[i].copies);
    pool_close(pool);
}

/* The first `count` messages come. */
static void deliver(unsigned count)
{
    for (unsigned i = 0; i < count && queued > 0; i++) {
        struct copy_message message = queue[0].message;
        char of_tag[16];
        uint32_t from = queue[0].from, to = queue[0].to;

        memcpy(of_tag, queue[0].tag, sizeof of_tag);
        message.tag = of_tag;
        for (unsigned j = 1; j < queued; j++) {
            queue[j - 1] = queue[j];
            queue[j - 1].message.tag = queue[j - 1].tag;
        }
        queued--;
        copies_message(hosts[to].copies, from, &message);
        object_drop(message.object);
    }
}

/* All messages come, but those from and to a host that is lost. */
static void deliver_all(void)
{
    deliver(10000);
}

static struct copies_request request_of(uint32_t pid, uint64_t number)
{
    return (struct copies_request){.asker = {.host = pid, .pid = pid, .number = number},
                                   .tag = tag,
                                   .tag_size = (uint32_t)strlen(tag)};
}

static void put(uint32_t at, uint32_t pid, uint64_t number, const char *text)
{
    struct object *object = object_make(pool, strlen(text));

    ck_assert_ptr_nonnull(object);
    memcpy(object->bytes, text, strlen(text));
    copies_put(hosts[at].copies, request_of(pid, number), object);
}

static void ask(uint32_t at, uint32_t pid, uint64_t number, bool removes)
{
    copies_ask(hosts[at].copies, request_of(pid, number), removes);
}

static uint64_t waiting(const struct copies *copies)
{
    return copies_totals(copies).waiting;
}

static void check_complaints(void)
{
    for (uint32_t i = 0; i < HOSTS; i++)
        ck_assert_uint_eq(hosts[i].complaints, 0);
}

START_TEST(an_answer_waits_for_all_copies)
{
    open_hosts(3);
    put(0, 0, 1, "one");
    ck_assert_uint_eq(hosts[0].answers, 0);
    deliver(3); /* to two hosts, and back from one */
    ck_assert_uint_eq(hosts[0].answers, 0);
    put(0, 0, 1, "one"); /* it has taken effect, and is not answered yet */
    ck_assert_uint_eq(hosts[0].answers, 0);
    deliver(1);
    ck_assert_uint_eq(hosts[0].answers, 2);
    ck_assert_uint_gt(copies_logged(hosts[1].copies, 4), 0);
    ck_assert_uint_gt(copies_logged(hosts[2].copies, 4), 0);
    ck_assert_uint_eq(copies_logged(hosts[3].copies, 4), 0);
    check_complaints();
}
END_TEST

START_TEST(alone_nothing_waits)
{
    open_hosts(1);
    put(0, 0, 1, "one");
    ask(0, 1, 1, true);
    ck_assert_uint_eq(hosts[0].answers, 2);
    ck_assert_str_eq(hosts[0].text, "one");
    ck_assert_uint_eq(queued, 0);
}
END_TEST

START_TEST(the_next_takes_over)
{
    open_hosts(2);
    ask(0, 2, 1, true);
    put(0, 0, 1, "one"); /* process 2 gets it */
    put(0, 0, 2, "two");
    deliver_all();
    ck_assert_uint_eq(hosts[0].answers, 3);
    copies_lost(hosts[1].copies, 0);
    deliver_all();
    ck_assert_uint_eq(copies_owner(hosts[3].copies, 0), 1);
    ask(1, 2, 1, true); /* again */
    deliver_all();
    ck_assert_str_eq(hosts[1].text, "one");
    put(1, 0, 2, "two"); /* again */
    ask(1, 3, 1, false);
    deliver_all();
    ck_assert_str_eq(hosts[1].text, "two");
    ck_assert_uint_eq(hosts[1].answers, 3);
    ask(1, 3, 2, true);
    ask(1, 3, 3, true); /* there is none left */
    deliver_all();
    ck_assert_uint_eq(hosts[1].answers, 4);
    ck_assert_uint_eq(waiting(hosts[1].copies), 1);
    check_complaints();
}
END_TEST

/* Of an object that was read the tag and the log hold references, also where it goes as a whole. */
START_TEST(an_object_goes_once)
{
    uint64_t before;

    open_hosts(2);
    put(0, 0, 1, "one");
    ask(0, 2, 1, false);
    ask(0, 3, 1, true);
    put(0, 0, 2, "two");
    ask(0, 2, 2, false);
    deliver_all();
    before = pool_in_memory(pool);
    copies_lost(hosts[1].copies, 0);
    deliver_all();
    ck_assert_uint_eq(pool_in_memory(pool), before + 6); /* each once */
    ck_assert_uint_eq(hosts[0].answers, 5);
    copies_lost(hosts[2].copies, 1);
    deliver_all();
    ask(2, 2, 1, false); /* again, from what host 2 has got as a whole */
    ask(2, 3, 1, true);
    deliver_all();
    ck_assert_uint_eq(hosts[2].answers, 2);
    ck_assert_str_eq(hosts[2].text, "one");
    ask(2, 2, 2, false);
    deliver_all();
    ck_assert_str_eq(hosts[2].text, "two");
    check_complaints();
}
END_TEST

/* A program none of whose processes is restarted alone pays with one message for each part. */
START_TEST(no_copies_where_they_are_of_no_use)
{
    struct copies_request request;
    struct object *object = object_make(pool, 3);

    open_hosts(3);
    memcpy(object->bytes, "one", 3);
    request = request_of(0, 0);
    request.plain = true;
    copies_put(hosts[0].copies, request, object);
    ck_assert_uint_eq(queued, 2);
    ck_assert_uint_eq(hosts[0].answers, 0); /* the others know it first */
    copies_lost(hosts[0].copies, 2);
    deliver_all();
    ck_assert_uint_eq(hosts[0].answers, 1);
    ck_assert_uint_eq(copies_logged(hosts[1].copies, 4), 0);
    ck_assert(copies_gave_up(hosts[0].copies));
    request.asker.host = request.asker.pid = 3;
    copies_ask(hosts[0].copies, request, true);
    ck_assert_uint_eq(queued, 0);
    ck_assert_uint_eq(hosts[0].answers, 2);
    copies_lost(hosts[0].copies, 1); /* nothing goes to the next one but that */
    ck_assert_uint_eq(queued, 1);
    deliver_all();
    check_complaints();
    copies_lost(hosts[3].copies, 0);
    ck_assert_uint_ge(hosts[3].lost_parts, 1);
}
END_TEST

START_TEST(one_after_the_other_is_lost)
{
    open_hosts(2);
    put(0, 0, 1, "one");
    deliver_all();
    copies_lost(hosts[1].copies, 0);
    deliver_all(); /* host 2 has it now */
    copies_lost(hosts[2].copies, 1);
    deliver_all();
    ck_assert_uint_eq(hosts[2].lost_parts, 0);
    ask(2, 2, 1, false);
    deliver_all();
    ck_assert_str_eq(hosts[2].text, "one");
    check_complaints();
}
END_TEST

START_TEST(as_many_as_there_are_copies_are_lost)
{
    open_hosts(2);
    put(0, 0, 1, "one");
    deliver_all();
    copies_lost(hosts[2].copies, 0);
    ck_assert_uint_eq(hosts[2].lost_parts, 0);
    copies_lost(hosts[2].copies, 1);
    ck_assert_uint_eq(hosts[2].lost_parts, 1);
}
END_TEST

START_TEST(half_a_copy_does_not_replace_a_whole_one)
{
    open_hosts(3);
    put(0, 0, 1, "one");
    put(0, 0, 2, "two");
    deliver_all();
    copies_lost(hosts[1].copies, 0);
    deliver(5); /* three hosts know it, and host 2 has the beginning of a new copy */
    ck_assert_uint_eq(copies_owner(hosts[2].copies, 0), 1);
    forget_all();
    copies_lost(hosts[2].copies, 1);
    ask(2, 2, 1, false);
    ck_assert_uint_eq(hosts[2].answers, 0); /* host 3 has none yet */
    deliver_all();
    ck_assert_uint_eq(hosts[2].lost_parts, 0);
    ck_assert_str_eq(hosts[2].text, "two");
    check_complaints();
}
END_TEST

START_TEST(what_a_lost_host_waits_for)
{
    open_hosts(2);
    ask(0, 3, 1, true);
    ck_assert_uint_eq(waiting(hosts[0].copies), 1);
    copies_lost(hosts[0].copies, 3);
    ck_assert_uint_eq(waiting(hosts[0].copies), 0);
    put(0, 0, 1, "one"); /* not backed yet, and it has asked for nothing else */
    copies_lost(hosts[0].copies, 1);
    ck_assert_uint_eq(hosts[0].answers, 0); /* host 2 is to have it */
    deliver_all();
    ck_assert_uint_eq(hosts[0].answers, 1);
    check_complaints();
}
END_TEST

START_TEST(another_host_learns_the_past)
{
    struct copies_request request;

    open_hosts(2);
    put(0, 3, 4, "one");
    put(0, 3, 7, "two");
    deliver_all();
    copies_cut(hosts[0].copies, 3, 8);
    copies_cut(hosts[1].copies, 3, 8);
    copies_lost(hosts[1].copies, 0);
    deliver_all();
    ck_assert_uint_eq(copies_newest(hosts[1].copies, 3), 7);
    ck_assert_uint_eq(copies_newest(hosts[2].copies, 3), 0); /* it only backs it */
    copies_lost(hosts[2].copies, 1);
    ck_assert_uint_eq(copies_newest(hosts[2].copies, 3), 7);
    deliver_all();
    request = request_of(3, 5); /* which it has done elsewhere, or never */
    request.asker.life = 1;
    copies_ask(hosts[2].copies, request, true);
    ck_assert_uint_eq(hosts[2].differs, 1);
    check_complaints();
}
END_TEST

START_TEST(what_is_withdrawn)
{
    open_hosts(2);
    ask(0, 2, 1, true);
    ck_assert(copies_withdraw(hosts[0].copies, request_of(2, 1)));
    ck_assert_uint_eq(waiting(hosts[0].copies), 0);
    put(0, 0, 1, "one");
    ask(0, 2, 1, true);
    ck_assert(!copies_withdraw(hosts[0].copies, request_of(2, 1))); /* though it is held */
    deliver_all();
    ck_assert_uint_eq(hosts[0].answers, 2);
    ck_assert_str_eq(hosts[0].text, "one");
    check_complaints();
}
END_TEST

START_TEST(earlier_lives)
{
    struct copies_request request;

    open_hosts(1);
    ask(0, 2, 1, true);
    request = request_of(2, 1);
    request.asker.life = 1;
    copies_ask(hosts[0].copies, request, true);
    ck_assert_uint_eq(waiting(hosts[0].copies), 1);
    ask(0, 2, 1, true); /* of one that is thought dead */
    ck_assert_uint_eq(waiting(hosts[0].copies), 1);
}
END_TEST

START_TEST(messages_that_break_the_rules)
{
    static const struct copy_message messages[] = {
        {.kind = COPY_PUT, .part = 0, .change = 2, .number = 1},  /* not the next change */
        {.kind = COPY_TAKE, .part = 0, .change = 1, .number = 1}, /* of what is not there */
        {.kind = COPY_END, .part = 0},                            /* of nothing */
        {.kind = COPY_OBJECT, .part = 0},
        {.kind = COPY_ANSWER, .part = 0, .number = 1, .same = 1}, /* which has not come */
        {.kind = COPY_BEGIN, .part = 1},                          /* which is its own */
        {.kind = COPY_BEGIN, .part = 2},                          /* which it does not own */
        {.kind = COPY_BEGIN, .part = HOSTS},
        {.kind = COPY_PUT, .pid = 4, .change = 1},
        {.kind = COPY_DONE, .part = 1},
        {.kind = COPY_LOST, .part = 1}, /* itself */
        {.kind = COPY_LOST, .part = HOSTS},
    };

    open_hosts(2);
    for (unsigned i = 0; i < sizeof messages / sizeof *messages; i++) {
        copies_message(hosts[1].copies, 0, &messages[i]);
        ck_assert_uint_eq(hosts[1].complaints, i + 1);
    }
    copies_lost(hosts[1].copies, 0);
    copies_message(hosts[1].copies, 0, &messages[0]); /* not listened to */
    ck_assert_uint_eq(hosts[1].complaints, sizeof messages / sizeof *messages);
}
END_TEST

/* With two copies a host has a part of its own and one of another host; here nearly all answers are
 * in one of them. */
START_TEST(who_is_to_be_saved_before_answers_are_given_up)
{
    const uint64_t answers = 10, log = answers * LOG_ENTRY;
    uint32_t most;

    open_hosts_with_log(2, log);
    for (uint64_t number = 1; number <= answers / 2; number++) {
        put(0, 3, number, "");
        deliver_all();
        ck_assert(!copies_burdened(hosts[0].copies, 2 * log, &most));
    }
    put(0, 3, answers / 2 + 1, "");
    deliver_all();
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert(!copies_gave_up(hosts[i].copies));
        ck_assert(copies_burdened(hosts[i].copies, 2 * log, &most));
        ck_assert_uint_eq(most, 3);
        /* ... or, if a host has more parts than copies, as others are lost, of all. */
        ck_assert(copies_burdened(hosts[i].copies, answers * LOG_ENTRY, &most));
    }
    ck_assert(!copies_burdened(hosts[2].copies, 2 * log, &most));
    copies_cut(hosts[0].copies, 3, answers / 2 + 2);
    ck_assert(!copies_burdened(hosts[0].copies, 2 * log, &most));
}
END_TEST

static bool is_not(void *context, uint32_t pid)
{
    return pid != *(const uint32_t *)context;
}

static bool is(void *context, uint32_t pid)
{
    return pid == *(const uint32_t *)context;
}

/* Those that are over have most of the memory, but no share of what is still free. */
START_TEST(who_is_left_has_all_the_room)
{
    const uint64_t answers = 16, log = answers * LOG_ENTRY;
    uint32_t two = 2;

    open_hosts_with_log(1, log);
    for (uint64_t number = 1; number <= answers / 2 + 1; number++)
        put(0, 3, number, "");
    for (uint64_t number = 1; number <= 3; number++) {
        put(0, 2, number, "");
        ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is, &two), 4);
    }
    put(0, 2, 4, "");
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is, &two), 2);
}
END_TEST

/* Where the one with most answers may not be saved, another one is, once that helps. */
START_TEST(who_may_not_be_saved_does_not_keep_others_from_it)
{
    const uint64_t answers = 16, log = answers * LOG_ENTRY;
    uint32_t three = 3, nobody = 4;

    open_hosts_with_log(1, log);
    for (uint64_t number = 1; number <= answers / 2 + 1; number++)
        put(0, 3, number, "");
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &nobody), 3);
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &three), 4); /* none has any */
    put(0, 2, 1, "");
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &three), 4); /* less than 6/3 */
    put(0, 2, 2, "");
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &three), 2);
    copies_cut(hosts[0].copies, 2, 3);
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &three), 4);
    copies_cut(hosts[0].copies, 3, answers);
    ck_assert_uint_eq(copies_burden(hosts[0].copies, log, is_not, &nobody), 4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_answer_waits_for_all_copies,
                                  who_is_to_be_saved_before_answers_are_given_up,
                                  who_may_not_be_saved_does_not_keep_others_from_it,
                                  who_is_left_has_all_the_room,
                                  alone_nothing_waits,
                                  the_next_takes_over,
                                  an_object_goes_once,
                                  no_copies_where_they_are_of_no_use,
                                  one_after_the_other_is_lost,
                                  as_many_as_there_are_copies_are_lost,
                                  half_a_copy_does_not_replace_a_whole_one,
                                  what_a_lost_host_waits_for,
                                  another_host_learns_the_past,
                                  what_is_withdrawn,
                                  earlier_lives,
                                  messages_that_break_the_rules};

    return suite_run_tests("copies", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
