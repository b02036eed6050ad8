/* test_coord_replicas.c - Processor Zero: processes with replicas on several hosts. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

static void start_four(uint64_t every)
{
    start_cells(SAVING(EVERY(every), .replicas = 2, .by_node = true));
}

/* The barriers up to that superstep that are decided pass by the first hosts alone. */
static void pass_until(uint64_t superstep)
{
    while (coord->consult < superstep) {
        uint64_t next = coord->consult;

        play_now_ns += UINT64_C(10000000);
        arrived(0, next, WIRE_BARRIER_SYNC);
        arrived(7, next, WIRE_BARRIER_SYNC);
    }
}

static bool captures(uint32_t host)
{
    const struct wire_numbers *list = &said()->release.captures;

    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] == host)
            return true;
    return false;
}

START_TEST(cells)
{
    start_four(100);
    ck_assert_uint_eq(host_of(0), 0);
    ck_assert_uint_eq(host_of(1), 7);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[2])); /* host 3 */
    ck_assert(coord_lives_on(coord, 1, &coord->hosts[3])); /* host 5 */
    ck_assert(!coord_lives_on(coord, 1, &coord->hosts[2]));
}
END_TEST

START_TEST(what_is_left_over_gets_nothing)
{
    start(3, SAVING(EVERY(2), .replicas = 2));
    host_ready(0, 2);
    host_ready(7, 2);
    host_ready(3, 2);
    registered(7, 2); /* it is first, and takes the next one of the list */
    ck_assert_uint_eq(host_of(0), 7);
    ck_assert_uint_eq(host_of(1), 7);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[2]));
    ck_assert_uint_eq(coord->hosts[0].count, 0);
}
END_TEST

START_TEST(too_few_hosts)
{
    start(2, CONFIG(.replicas = 3));
    host_ready(0, 2);
    host_ready(7, 2);
    registered(0, 2);
    expect_outcome(1, WIRE_CAUSE_PLACEMENT, COORD_NOBODY);
}
END_TEST

/* A barrier is decided when the first of each cell is there, and known beforehand. */
START_TEST(the_first_count)
{
    start_four(100);
    ck_assert_uint_eq(coord->consult, 0);
    arrived(3, 0, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(7, 0, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
    ck_assert_uint_gt(coord->consult, 0);
    ck_assert_uint_lt(coord->consult, 4);
    ck_assert_int_eq(arrived(0, 0, WIRE_BARRIER_SYNC), 0); /* later: nothing */
    ck_assert(effects.dropped);
    coord_consult(coord, &effects); /* some may have passed what could be asked for */
    ck_assert(!has_message(WIRE_CONSULT));
}
END_TEST

/* How many supersteps, of 20 ms each, there are at last from one barrier that is decided to the
 * next. */
static uint64_t steps_between(uint64_t way_ns)
{
    uint64_t before = 0;

    start_four(1 << 20);
    for (unsigned i = 0; i < 12; i++) {
        uint64_t superstep = coord->consult;

        play_now_ns += (superstep - before) * 20000000 + 20000000 - way_ns;
        arrived(0, superstep, WIRE_BARRIER_SYNC);
        play_now_ns += way_ns;
        arrived(7, superstep, WIRE_BARRIER_SYNC);
        before = superstep + 1;
    }
    return coord->consult - before;
}

/* Each costs two ways from host to host, and not more than a two hundredth of the time; but a host
 * may just have been late. */
START_TEST(seldom_over_long_ways)
{
    static const struct {
        uint64_t way_ns, steps;
    } cases[] = {{0, 50},        {100000, 50},    {2500000, 50},
                 {5000000, 100}, {10000000, 200}, {19000000, 200}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_uint_eq(steps_between(cases[i].way_ns), cases[i].steps);
        tear_down();
    }
}
END_TEST

/* It has one image of each process, those of the hosts that came first. */
START_TEST(a_snapshot)
{
    start_four(4);
    pass_until(3);
    ck_assert_uint_eq(coord->consult, 3);
    arrived(3, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert(captures(3) && captures(7) && !captures(0) && !captures(5));
    captured(3, 3);
    captured(7, 3);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    durable(3, 4, 0);
    durable(7, 4, 1);
    ck_assert(has_message(WIRE_PERSIST));
    ck_assert_uint_eq(said()->persist.writer, 3);
    ck_assert(!coord_is_addressed(coord, 0, WIRE_PERSIST));
    persisted(3, 4, 0);
    ck_assert(has_message(WIRE_COMMITTED));
}
END_TEST

/* An image that waits for a slow replica delays neither the next snapshot's barrier nor a request,
 * which is met once it is committed. */
static void check_while_not_sure(bool request)
{
    start_four(4);
    pass_until(3);
    arrived(3, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    captured(3, 3);
    captured(7, 3);
    durable(3, 4, 0);
    pass_until(7);
    if (request)
        SAY(SAVE);
    arrived(3, 7, WIRE_BARRIER_SYNC);
    arrived(7, 7, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(said()->release.decision, WIRE_DECISION_GO);
    ck_assert_uint_gt(coord->consult, 8);
    durable(7, 4, 1);
    ck_assert(has_message(WIRE_PERSIST));
    persisted(3, 4, 0);
    for (uint32_t i = 0; i < 4; i++)
        known((uint32_t[]){0, 7, 3, 5}[i], 4);
    uint64_t next = coord->consult;
    arrived(0, next, WIRE_BARRIER_SYNC);
    arrived(7, next, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(said()->release.decision == WIRE_DECISION_SNAPSHOT, request || next == 11);
}

START_TEST(a_snapshot_that_is_not_sure)
{
    check_while_not_sure(false);
}
END_TEST

START_TEST(a_request_while_one_is_not_sure)
{
    check_while_not_sure(true);
}
END_TEST

START_TEST(a_loss_is_covered)
{
    start_four(100);
    pass_until(2);
    arrived(7, coord->consult, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(lost(7), 0); /* which had arrived */
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    uint64_t superstep = coord->consult;
    arrived(0, superstep, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(5, superstep, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
    lost(5); /* the last one with process 1 */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
}
END_TEST

/* Before they run: when there is snapshot 0, of which those that are left are made. */
START_TEST(a_loss_while_they_are_made)
{
    start(4, SAVING(EVERY(100), .replicas = 2, .by_node = true));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 2);
    ck_assert(!coord_can_lose(coord, 5));
    durable(0, 0, 0);
    persisted(0, 0, 0);
    ck_assert_int_eq(lost(5), 0);
    known(0, 0);
    known(7, 0);
    known(3, 0);
    ranks_ready(0, 1);
    ranks_ready(7, 1);
    ck_assert_int_eq(lost(0), 0);
    ck_assert(!has_message(WIRE_RUN));
    ranks_ready(3, 1);
    ck_assert(has_message(WIRE_RUN));
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* The barrier waits for the host that was lost only as long as it is not. */
START_TEST(a_loss_completes_a_barrier)
{
    start_four(4);
    pass_until(3);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    captured(0, 3);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    lost(7); /* its image would have been part of the snapshot */
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(coord->ticket.state, COORD_TICKET_NONE);
    ck_assert(has_message(WIRE_RESUME));
    ck_assert(has_message(WIRE_ABANDON));
}
END_TEST

/* Where hosts share no directory each image has a copy on another host, which may be lost before it
 * has it. */
START_TEST(a_copy_is_lost)
{
    start(4,
          SAVING(.rule = {POLICY_SUPERSTEPS, 4, 0}, .replicas = 2, .by_node = true, .copies = 2));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 2);
    durable(0, 0, 0);
    durable(7, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        persisted((uint32_t[]){0, 7, 3, 5}[i], 0, 0);
    for (uint32_t i = 0; i < 4; i++) {
        known((uint32_t[]){0, 7, 3, 5}[i], 0);
        ranks_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    }
    pass_until(3);
    arrived(0, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    captured(0, 3);
    captured(7, 3);
    durable(0, 4, 0);
    ck_assert_int_eq(lost(5), 0); /* which was to keep it */
    ck_assert_int_eq(coord->ticket.state, COORD_TICKET_NONE);
    ck_assert(has_message(WIRE_ABANDON));
}
END_TEST

/* The end is decided: a host that has not come to it, and dies, is not needed; nor does the last
 * one with a process hold up those that end. */
START_TEST(one_trails_at_the_end)
{
    start_four(100);
    uint64_t end = coord->consult;
    arrived(0, end, WIRE_BARRIER_END);
    arrived(5, end, WIRE_BARRIER_END);
    SAY(CLOSED);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    ck_assert(coord_can_lose(coord, 3));
    lost(3);
    ck_assert(coord_can_lose(coord, 0));
    exited(7, 1, 0);
    lost(0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, 0);
}
END_TEST

START_TEST(the_first_to_end)
{
    start_four(100);
    uint64_t end = coord->consult;
    arrived(0, end, WIRE_BARRIER_END);
    arrived(5, end, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_CLOSING);
    SAY(CLOSED);
    ck_assert_int_eq(arrived(7, end, WIRE_BARRIER_END), 0);
    ck_assert_int_eq(exited(5, 1, 0), 0);
    ck_assert_int_eq(exited(7, 1, 0), 0); /* another replica */
    ck_assert(effects.dropped);
    lost(0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    exited(3, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_NONE);
}
END_TEST

START_TEST(replicas_that_differ)
{
    start(4, SAVING(EVERY(100), .replicas = 2, .by_node = true, .back_on_mismatch = true));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 2);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (uint32_t i = 0; i < 4; i++)
        ranks_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    abort_job(3, 0, WIRE_CAUSE_MISMATCH, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
}
END_TEST

static void take_one(uint64_t superstep, bool compared)
{
    pass_until(superstep - 1);
    arrived(3, superstep - 1, WIRE_BARRIER_SYNC);
    arrived(7, superstep - 1, WIRE_BARRIER_SYNC);
    captured(3, superstep - 1);
    captured(7, superstep - 1);
    durable(3, superstep, 0);
    if (compared)
        durable(7, superstep, 1);
    else
        durable_uncompared(7, superstep, 1);
    persisted(3, superstep, 0);
    for (uint32_t i = 0; i < 4; i++)
        known((uint32_t[]){0, 7, 3, 5}[i], superstep);
}

static void differ(uint64_t since)
{
    SAY(ABORT, .envelope.superstep = since,
        .abort = {.host = 3, .cause = WIRE_CAUSE_MISMATCH, .status = 1, .text = ""});
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
}

/* Snapshots that were committed though one was too slow to agree do not count when they differ,
 * whatever a slower one has not told yet. */
START_TEST(differ_behind_snapshots_that_were_not_compared)
{
    start_four(4);
    coord->config.back_on_mismatch = true;
    take_one(4, true);
    for (uint64_t superstep = 8; superstep <= 16; superstep += 4)
        take_one(superstep, false);
    ck_assert_uint_eq(coord->committed.superstep, 16);
    differ(6);
    ck_assert_uint_eq(coord_outcome(coord).right.superstep, 4);
    ck_assert_uint_eq(coord_outcome(coord).right.term, coord->config.term);
}
END_TEST

START_TEST(differ_behind_one_that_was_compared)
{
    start_four(4);
    coord->config.back_on_mismatch = true;
    take_one(4, false);
    take_one(8, true);
    differ(9);
    ck_assert_uint_eq(coord_outcome(coord).right.term, 0);
    ck_assert_uint_eq(coord_outcome(coord).bad.term, 0);
}
END_TEST

/* ---- Processes with different numbers of replicas ---- */

static struct replica_counts counts_of(const char *text)
{
    struct replica_counts counts;
    char why[REPLICA_WHY];

    ck_assert(replica_counts_parse(&counts, text, why));
    return counts;
}

/* Process 0 on hosts 0 and 7; processes 1 and 2, with one replica each, on hosts 3 and 5. */
static void start_mixed(void)
{
    start(4, SAVING(EVERY(100), .counts = counts_of("0=2"), .process_limit = 3, .by_node = true));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 0);
    durable(0, 0, 0);
    persisted(0, 0, 0);
    for (uint32_t i = 0; i < 4; i++) {
        known((uint32_t[]){0, 7, 3, 5}[i], 0);
        ck_assert_int_eq(ranks_ready((uint32_t[]){0, 7, 3, 5}[i], 1), 0);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}

START_TEST(mixed_cells)
{
    start_mixed();
    ck_assert_uint_eq(coord->processes, 3);
    ck_assert_uint_eq(host_of(0), 0);
    ck_assert_uint_eq(host_of(1), 3);
    ck_assert_uint_eq(host_of(2), 5);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[1]));
    ck_assert(!coord_lives_on(coord, 1, &coord->hosts[3]));
    ck_assert_uint_eq(coord->hosts[3].first, 2);
    ck_assert_uint_eq(coord->hosts[1].count, 1);
    ck_assert_uint_eq(coord_leads(coord).count, 2);
}
END_TEST

START_TEST(one_of_two_is_lost)
{
    start_mixed();
    ck_assert_int_eq(lost(7), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    lost(5); /* the only one with process 2 */
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
}
END_TEST

/* The barrier waits for each process, whatever its number of replicas. */
START_TEST(mixed_barrier)
{
    start_mixed();
    arrived(7, 0, WIRE_BARRIER_SYNC);
    arrived(3, 0, WIRE_BARRIER_SYNC);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived(5, 0, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
}
END_TEST

/* Each host has processes of one group only, of which the one with the registered host is first. */
START_TEST(groups_by_crowd)
{
    start(4, SAVING(EVERY(100), .counts = counts_of("5=2"), .process_limit = 6));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 4);
    registered(3, 0);
    ck_assert_uint_eq(host_of(0), 3); /* five with one replica have two of four hosts */
    ck_assert_uint_eq(coord->hosts[2].count + coord->hosts[3].count, 5);
    ck_assert_uint_eq(host_of(5), 0);
    ck_assert_uint_eq(coord->hosts[0].count, 1);
    ck_assert_uint_eq(coord->hosts[1].count, 1);
    ck_assert(coord_lives_on(coord, 5, &coord->hosts[1]));
}
END_TEST

START_TEST(too_few_for_a_list)
{
    start(4, CONFIG(.counts = counts_of("0=3,1=2"), .process_limit = 2));
    for (uint32_t i = 0; i < 4; i++)
        host_ready((uint32_t[]){0, 7, 3, 5}[i], 1);
    registered(0, 0);
    ck_assert_ptr_nonnull(strstr(coord_outcome(coord).text, "need 5 hosts"));
    expect_outcome(1, WIRE_CAUSE_PLACEMENT, COORD_NOBODY);
}
END_TEST

/* A list names processes that the program does not want: the others need fewer hosts. */
START_TEST(a_list_of_more_than_there_are)
{
    start(2, CONFIG(.counts = counts_of("0=2,1=4"), .process_limit = 2));
    host_ready(0, 1);
    host_ready(7, 1);
    registered(0, 1);
    ck_assert_uint_eq(coord->processes, 1);
    ck_assert(coord_lives_on(coord, 0, &coord->hosts[1]));
}
END_TEST

/* It goes on with fewer replicas, where hosts are too few for the list. */
START_TEST(restored_on_too_few)
{
    start(3, SAVING(EVERY(100), .counts = counts_of("0=4,1-2=2"), .restore = true, .recover = true,
                    .wanted = COORD_NEVER));
    held(0, 7, 1, (struct wire_numbers){NULL, 0});
    for (uint32_t i = 0; i < 3; i++)
        host_ready((uint32_t[]){0, 7, 3}[i], 2);
    ck_assert_int_eq(coord_phase(coord), COORD_CHOOSING);
    ck_assert_uint_eq(coord_replicas_of(coord, 0, NULL), 2); /* with those that have two */
    ck_assert_uint_eq(coord_replicas_of(coord, 2, NULL), 2);
    ck_assert_uint_eq(coord_replicas_of(coord, 3, NULL), 1);
    ck_assert_uint_eq(coord->home[0], coord->home[2]);
    ck_assert_uint_ne(coord->home[0], coord->home[3]);
}
END_TEST

static void check_loss_in_passing(bool any_ready)
{
    start(2, SAVING(EVERY(100), .replicas = 2, .restore = true, .recover = true,
                    .wanted = COORD_NEVER));
    for (uint32_t i = 0; i < 2; i++) {
        held((uint32_t[]){0, 7}[i], 7, 1, (struct wire_numbers){NULL, 0});
        host_ready((uint32_t[]){0, 7}[i], 4);
    }
    SAY(TERM_RECORDED);
    SAY(STAGED, .staged = {.host = 0, .count = 4});
    SAY(STAGED, .staged = {.host = 7, .count = 4});
    ck_assert_int_eq(coord_phase(coord), COORD_PASSING);
    if (any_ready)
        ranks_ready(0, 4);
    ck_assert(!coord_can_lose(coord, 0));
    ck_assert_int_eq(lost(7), 0); /* which has a replica of each process, and so has the other */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    expect_outcome(1, WIRE_CAUSE_HOST_LOST, COORD_NOBODY);
    ck_assert(coord_outcome(coord).again);
    ck_assert_uint_eq(coord_outcome(coord).bad.term, 0);
    ck_assert_uint_eq(coord_outcome(coord).committed.superstep, 7);
    ranks_ready(0, 4); /* on its way */
    ck_assert(effects.dropped);
}

/* Nothing has run: the term is over, and the next one begins from the same snapshot. */
START_TEST(a_loss_while_restored_ones_become_ranks)
{
    check_loss_in_passing(false);
    tear_down();
    check_loss_in_passing(true);
}
END_TEST

/* ---- The dataspace -------------------------------------------------------------------------- */

static int uses_objects(uint32_t host)
{
    return SAY(OBJECTS, .objects = {.host = host});
}

static const struct wire_numbers *losses_said(void)
{
    for (uint32_t i = 0; i < effects.count; i++)
        if (effects.items[i].message.kind == WIRE_LOSSES)
            return &effects.items[i].message.losses.hosts;
    return NULL;
}

/* Once it is used all hosts are told of all that are lost, before that or later; others need not
 * know. */
START_TEST(the_dataspace_hears_of_losses)
{
    start_four(100);
    lost(3);
    ck_assert(!losses_said());
    ck_assert_int_eq(uses_objects(7), 0);
    ck_assert_ptr_nonnull(losses_said());
    ck_assert_uint_eq(losses_said()->count, 1);
    ck_assert_uint_eq(losses_said()->items[0], 3);
    ck_assert_int_eq(uses_objects(0), 0); /* another host has told it */
    ck_assert(!losses_said());
    lost(7);
    ck_assert_uint_eq(losses_said()->count, 2);
    ck_assert_uint_eq(losses_said()->items[0], 7);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    lost(5); /* the last one that had process 1 */
    ck_assert(!losses_said());
    ck_assert_int_ne(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Those whose processes are not saved are told to send what they have. */
START_TEST(a_snapshot_with_objects)
{
    start_four(4);
    uses_objects(0);
    pass_until(3);
    arrived(3, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    ck_assert_int_eq(coord_phase(coord), COORD_CAPTURING);
    ck_assert(said()->release.objects);
    captured(3, 3);
    captured(7, 3);
    lost(5); /* its objects are on other hosts */
    ck_assert(!has_message(WIRE_ABANDON));
    durable(3, 4, 0);
    durable(7, 4, 1);
    persisted(3, 4, 0);
    ck_assert(has_message(WIRE_COMMITTED));
}
END_TEST

START_TEST(objects_are_lost_before_they_are_kept)
{
    start_four(4);
    uses_objects(0);
    pass_until(3);
    arrived(3, 3, WIRE_BARRIER_SYNC);
    arrived(7, 3, WIRE_BARRIER_SYNC);
    captured(3, 3);
    lost(5);
    ck_assert(has_message(WIRE_ABANDON));
    captured(7, 3);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

START_TEST(only_replicas_say_that)
{
    start(2, SAVING(EVERY(2)));
    host_ready(0, 1);
    expect_broken(uses_objects(0));
}
END_TEST

static void all_wait(uint64_t round)
{
    static const struct {
        uint32_t host;
        const char *waits;
    } hosts[] = {{0, "\n pid 0"}, {3, "\n pid 0"}, {7, "\n pid 1"}, {5, "\n pid 1"}};

    for (uint32_t i = 0; i < 4; i++)
        if (!coord->hosts[i].lost)
            SAY(QUIET,
                .quiet = {
                    .host = hosts[i].host, .round = round, .quiet = true, .waits = hosts[i].waits});
}

/* Of the replicas of a process that waits for ever one is named. */
START_TEST(those_that_wait_are_named_once)
{
    start_four(100);
    uses_objects(0);
    SAY(QUIET, .quiet = {.host = 5, .quiet = true, .waits = ""});
    all_wait(1);
    all_wait(2);
    expect_outcome(1, WIRE_CAUSE_RANKS_STUCK, COORD_NOBODY);
    ck_assert_str_eq(coord->text,
                     "all processes wait, and nothing is on its way to them:\n pid 0\n pid 1");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {cells,
                                  what_is_left_over_gets_nothing,
                                  too_few_hosts,
                                  the_first_count,
                                  seldom_over_long_ways,
                                  a_snapshot,
                                  a_snapshot_that_is_not_sure,
                                  a_request_while_one_is_not_sure,
                                  a_loss_is_covered,
                                  a_loss_while_they_are_made,
                                  a_loss_completes_a_barrier,
                                  a_copy_is_lost,
                                  one_trails_at_the_end,
                                  the_first_to_end,
                                  replicas_that_differ,
                                  differ_behind_snapshots_that_were_not_compared,
                                  differ_behind_one_that_was_compared,
                                  mixed_cells,
                                  one_of_two_is_lost,
                                  mixed_barrier,
                                  groups_by_crowd,
                                  too_few_for_a_list,
                                  a_list_of_more_than_there_are,
                                  restored_on_too_few,
                                  a_loss_while_restored_ones_become_ranks,
                                  the_dataspace_hears_of_losses,
                                  a_snapshot_with_objects,
                                  objects_are_lost_before_they_are_kept,
                                  only_replicas_say_that,
                                  those_that_wait_are_named_once};

    return suite_run_tests("coord_replicas", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
