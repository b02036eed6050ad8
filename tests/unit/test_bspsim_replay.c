/* test_bspsim_replay.c - bspsim replay: profiles, made-up messages, what is known of them, and
 * sums. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/suite.h"
#include "tools/bspsim/known.h"
#include "tools/bspsim/replay.h"
#include "tools/profile/profile.h"
#include "tools/profile/profile_fields.h"
#include "tools/profile/traffic.h"

#define RANKS_MOST 40u

/* ---- Messages ------------------------------------------------------------------------------ */

static uint64_t drawn(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* Assigns and checks everything that is promised. */
static uint32_t assign(const struct traffic *sums, uint32_t ranks, struct traffic_message *messages)
{
    struct traffic rest[RANKS_MOST], counted[RANKS_MOST] = {{0, 0}};
    memcpy(rest, sums, ranks * sizeof(*sums));
    ck_assert_int_eq(traffic_check(sums, ranks), TRAFFIC_GOOD);
    uint32_t count = traffic_assign(rest, ranks, messages);
    ck_assert_uint_lt(count, 2 * ranks);
    bool good = true; /* one assertion for all: each takes a system call */
    for (uint32_t i = 0; i < count && good; i++) {
        good = messages[i].from < ranks && messages[i].to < ranks &&
               messages[i].from != messages[i].to && messages[i].bytes > 0;
        counted[messages[i].from].out += messages[i].bytes;
        counted[messages[i].to].in += messages[i].bytes;
    }
    ck_assert_msg(good && memcmp(counted, sums, ranks * sizeof(*sums)) == 0,
                  "%u messages of %u processes", count, ranks);
    return count;
}

START_TEST(equal_sums_make_a_ring)
{
    struct traffic sums[5];
    struct traffic_message messages[10];
    for (int i = 0; i < 5; i++)
        sums[i] = (struct traffic){8, 8};
    ck_assert_uint_eq(assign(sums, 5, messages), 5);
    for (uint32_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(messages[i].to, (messages[i].from + 1) % 5);
        ck_assert_uint_eq(messages[i].bytes, 8);
    }
}
END_TEST

START_TEST(no_message_goes_to_its_sender)
{
    struct traffic_message messages[2 * RANKS_MOST];
    const struct traffic none[3] = {{0, 0}, {0, 0}, {0, 0}};
    const struct traffic gathered[3] = {{30, 0}, {0, 10}, {0, 20}};
    const struct traffic scattered[3] = {{0, 30}, {10, 0}, {20, 0}};
    /* In order, process 2 would be left with its own bytes. */
    const struct traffic hub[3] = {{5, 5}, {5, 5}, {10, 10}};
    const struct traffic most[2] = {{TRAFFIC_BYTES_MAX, TRAFFIC_BYTES_MAX},
                                    {TRAFFIC_BYTES_MAX, TRAFFIC_BYTES_MAX}};
    ck_assert_uint_eq(assign(none, 3, messages), 0);
    ck_assert_uint_eq(assign(gathered, 3, messages), 2);
    ck_assert_uint_eq(assign(scattered, 3, messages), 2);
    ck_assert_uint_eq(assign(hub, 3, messages), 4);
    ck_assert_uint_eq(assign(most, 2, messages), 2);
}
END_TEST

START_TEST(any_sums_have_few_messages)
{
    struct traffic_message messages[2 * RANKS_MOST], again[2 * RANKS_MOST];
    uint64_t state = 7;
    for (int round = 0; round < 20000; round++) {
        struct traffic sums[RANKS_MOST] = {{0, 0}};
        uint32_t ranks = 2 + (uint32_t)drawn(&state, RANKS_MOST - 1);
        uint64_t pairs = drawn(&state, 3 * ranks), most = 1 + drawn(&state, 100);
        for (uint64_t i = 0; i < pairs; i++) {
            uint64_t from = drawn(&state, ranks), bytes = drawn(&state, most);
            uint64_t to = (from + 1 + drawn(&state, ranks - 1)) % ranks;
            if (round % 3 == 0)
                to = from == 0 ? to : 0; /* one that has a part in all */
            sums[from].out += bytes;
            sums[to].in += bytes;
        }
        uint32_t count = assign(sums, ranks, messages);
        ck_assert_uint_eq(assign(sums, ranks, again), count);
        ck_assert_int_eq(memcmp(messages, again, count * sizeof(*again)), 0);
    }
}
END_TEST

START_TEST(sums_that_cannot_be_are_told)
{
    const struct traffic unequal[2] = {{8, 8}, {8, 0}}, itself[2] = {{8, 8}, {0, 0}},
                         alone[1] = {{1, 1}}, nothing[1] = {{0, 0}};
    ck_assert_int_eq(traffic_check(unequal, 2), TRAFFIC_UNEQUAL);
    ck_assert_int_eq(traffic_check(itself, 2), TRAFFIC_TO_ITSELF);
    ck_assert_int_eq(traffic_check(alone, 1), TRAFFIC_TO_ITSELF);
    ck_assert_int_eq(traffic_check(nothing, 1), TRAFFIC_GOOD);
}
END_TEST

START_TEST(what_was_simulated_is_known)
{
    struct known *known = known_new(3);
    struct traffic one[3] = {{1, 2}, {2, 1}, {0, 0}}, other[3] = {{1, 2}, {2, 1}, {0, 1}};
    double seconds;
    ck_assert_ptr_nonnull(known);
    ck_assert(!known_find(known, one, &seconds));
    known_store(known, one, 0.25);
    ck_assert(known_find(known, one, &seconds) && seconds == 0.25);
    ck_assert(!known_find(known, other, &seconds));
    for (uint64_t i = 0; i < 20000; i++) { /* more than there is room for */
        other[0].in = i;
        known_store(known, other, (double)i);
        ck_assert(known_find(known, other, &seconds) && seconds == (double)i);
    }
    ck_assert(!known_find(known, one, &seconds) || seconds == 0.25);
    known_free(known);
}
END_TEST

/* ---- Profiles ------------------------------------------------------------------------------ */

static enum profile_event take(struct profile *profile, const char *line, char text[PROFILE_ERROR])
{
    return profile_take(profile, line, strlen(line), text);
}

START_TEST(a_profile_is_read_line_by_line)
{
    struct profile profile = {0};
    char text[PROFILE_ERROR];
    ck_assert_int_eq(take(&profile, "D Sat Nov 21 05:30:07 2026", text), PROFILE_NOTHING);
    ck_assert_int_eq(take(&profile, "P 2", text), PROFILE_RANKS);
    ck_assert_uint_eq(profile.ranks, 2);
    ck_assert_int_eq(take(&profile, "c 1 0.000227415 0.5 1 2 3 4 @@ 10 20 20 10", text),
                     PROFILE_SUPERSTEP);
    ck_assert_uint_eq(profile.step.statement, 1);
    ck_assert_uint_eq(profile.step.start_ns, 227415);
    ck_assert_uint_eq(profile.step.end_ns, 500000000);
    ck_assert_uint_eq(profile.step.computing_ns, 227415);
    ck_assert_uint_eq(profile.traffic[1].in, 20);
    ck_assert_uint_eq(profile.traffic[1].out, 10);
    ck_assert_int_eq(take(&profile, "c 0 2 2.000000001 0 0 0 0 @@ 0 0 0 0", text),
                     PROFILE_SUPERSTEP);
    ck_assert_uint_eq(profile.step.computing_ns, UINT64_C(1500000000));
    ck_assert_int_eq(take(&profile, "s 0 7 a file.c", text), PROFILE_NOTHING);
    ck_assert_int_eq(take(&profile, "E 3.25", text), PROFILE_NOTHING);
    ck_assert(!profile_finish(&profile, text));
    ck_assert_str_eq(text, "the line s of statement 1 is missing");
    profile.complete = false; /* as if it ended before the line E */
    ck_assert(profile_finish(&profile, text));
    ck_assert_int_eq(take(&profile, "s 1 8 b.c", text), PROFILE_NOTHING);
    ck_assert_str_eq(profile.statements[0].file, "a file.c");
    ck_assert_uint_eq(profile.statements[1].line, 8);
    ck_assert_uint_eq(profile.total_ns, UINT64_C(3250000000));
    ck_assert_uint_eq(profile.supersteps, 2);
    profile_free(&profile);
}
END_TEST

static const struct {
    const char *line, *text;
} bad[] = {
    {"", "this is not a line of a profile"},
    {"P", "this is not a line of a profile"},
    {"hello", "this is not a line of a profile"},
    {"Q 1", "this is not a line of a profile"},
    {"P 3", "a second line P"},
    {"c", "this is not a line of a profile"},
    {"c -1 0 1 0 0 0 0 @@ 0 0 0 0", "c: this is not the number of a statement"},
    {"c 65536 0 1 0 0 0 0 @@ 0 0 0 0", "c: this is not the number of a statement"},
    {"c 0 x 1 0 0 0 0 @@ 0 0 0 0", "start and end must be seconds"},
    {"c 0 0 1.0000000001 0 0 0 0 @@ 0 0 0 0", "start and end must be seconds"},
    {"c 0 0 1000000001 0 0 0 0 @@ 0 0 0 0", "start and end must be seconds"},
    {"c 0 0 99999999999999999999999 0 0 0 0 @@ 0 0 0 0", "start and end must be seconds"},
    {"c 0 2 1 0 0 0 0 @@ 0 0 0 0", "times run backwards"},
    {"c 0 0.5 2 0 0 0 0 @@ 0 0 0 0", "times run backwards"},
    {"c 0 1 2 0 0 0 @@ 0 0 0 0", "process 1: calls are missing"},
    {"c 0 1 2 0 0 0 18446744073709551616 @@ 0 0 0 0", "process 1: calls are missing"},
    {"c 0 1 2 0 0 0 0 0 0 0 0", "there is no @@"},
    {"c 0 1 2 0 0 0 0 @@ 0 0 0", "process 1: the bytes are missing"},
    {"c 0 1 2 0 0 0 0 @@ 0 0 0 -1", "process 1: the bytes are missing"},
    {"c 0 1 2 0 0 0 0 @@ 281474976710657 0 0 281474976710657", "process 0: the bytes are missing"},
    {"c 0 1 2 0 0 0 0 @@ 0 0 0 0 0", "more numbers than for 2 processes"},
    {"c 0 1 2 0 0 0 0 @@ 8 0 0 7", "the bytes into all processes are not those out of all"},
    {"c 0 1 2 0 0 0 0 @@ 8 8 0 0", "a process sends and receives more bytes than there are"},
    {"s 0 7", "s: there must be the number"},
    {"s 0 x a.c", "s: there must be the number"},
    {"s 65536 7 a.c", "s: there must be the number"},
    {"s 1 7 a.c", "a second line s of statement 1"},
    {"E", "this is not a line of a profile"},
    {"E x", "E: this is not a time"},
    {"E 0.5", "E: less than the end of the last superstep"},
};

START_TEST(what_is_wrong_with_a_profile_is_said)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct profile profile = {0};
        char text[PROFILE_ERROR] = "";
        ck_assert_int_eq(take(&profile, "P 2", text), PROFILE_RANKS);
        ck_assert_int_eq(take(&profile, "c 0 0 1 0 0 0 0 @@ 0 0 0 0", text), PROFILE_SUPERSTEP);
        ck_assert_int_eq(take(&profile, "s 1 7 a.c", text), PROFILE_NOTHING);
        ck_assert_msg(take(&profile, bad[i].line, text) == PROFILE_WRONG, "%s", bad[i].line);
        ck_assert_msg(strncmp(text, bad[i].text, strlen(bad[i].text)) == 0, "%s: %s", bad[i].line,
                      text);
        profile_free(&profile);
    }
}
END_TEST

START_TEST(whatever_comes_is_taken_or_refused)
{
    static const char *const lines[] = {
        "P 3", "c 0 0.000227415 0.000327972 1 1 1 1 1 1 @@ 8 8 8 8 8 8", "s 0 12 heat.c", "E 0.5"};
    static const char bytes[] = "0123456789 .@csPE-x\t";
    uint64_t state = 11;
    unsigned taken = 0, refused = 0;
    for (int round = 0; round < 100000; round++) {
        struct profile profile = {0};
        char text[PROFILE_ERROR];
        for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
            size_t length = strlen(lines[i]);
            char *line = malloc(length + 1); /* of its length, for those who watch memory */
            memcpy(line, lines[i], length);
            if (drawn(&state, 3) == 0)
                line[drawn(&state, length)] = bytes[drawn(&state, sizeof(bytes))];
            if (drawn(&state, 9) == 0)
                length = drawn(&state, length + 1);
            line = realloc(line, length + 1);
            if (profile_take(&profile, line, length, text) == PROFILE_WRONG)
                refused++;
            else
                taken++;
            free(line);
        }
        profile_finish(&profile, text);
        profile_free(&profile);
    }
    ck_assert_uint_gt(taken, 100000);
    ck_assert_uint_gt(refused, 100000);
}
END_TEST

/* As take_number, one digit after the other. */
static bool take_slowly(struct rest *rest, uint64_t most, uint64_t *number)
{
    return take_blank(rest) && take_digits(rest, most, number) &&
           (rest->at == rest->end || *rest->at == ' ');
}

static char *some_numbers(uint64_t *state, size_t *length)
{
    static const char bytes[] = "/:. @x\t\xb0";
    char *line = malloc(256);
    size_t at = 0, longest = drawn(state, 3) == 0 ? 1 : drawn(state, 22) + 1;

    for (uint64_t fields = drawn(state, 10); fields > 0; fields--) {
        line[at++] = ' ';
        for (uint64_t digits = drawn(state, longest) + 1; digits > 0; digits--)
            line[at++] = (char)('0' + drawn(state, 10));
    }
    if (at > 0 && drawn(state, 3) == 0)
        line[drawn(state, at)] = bytes[drawn(state, sizeof bytes)];
    *length = at;
    return realloc(line, at + 1); /* of its length, for those who watch memory */
}

START_TEST(numbers_are_read_in_any_way)
{
    uint64_t seed = (uint64_t)time(NULL), state = seed;

    printf("seed %llu\n", (unsigned long long)seed);
    for (int round = 0; round < 200000; round++) {
        size_t length;
        char *line = some_numbers(&state, &length);
        struct rest fast = {line, line + length}, slow = fast, passing = fast;
        uint64_t most = drawn(&state, 2) ? UINT64_MAX : drawn(&state, 1000000), one, other;
        bool good = true, more = true; /* one assertion for all: each takes a system call */

        for (uint32_t passed = pass_digits(&passing, 9); passed > 0; passed--)
            good = take_slowly(&slow, 9, &one) && good;
        good = good && passing.at == slow.at;
        for (slow = fast; more;) {
            more = take_slowly(&slow, most, &one);
            good = take_number(&fast, most, &other) == more && good;
            good = good && (!more || (one == other && fast.at == slow.at));
        }
        ck_assert_msg(good, "seed %llu, round %d: %.*s", (unsigned long long)seed, round,
                      (int)length, line);
        free(line);
    }
}
END_TEST

START_TEST(a_profile_without_processes_is_refused)
{
    static const char *const lines[] = {"P 0", "P 4097", "P -1", "P 2 2", "P 99999999999999999999"};
    struct profile profile = {0};
    char text[PROFILE_ERROR];
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        ck_assert_int_eq(take(&profile, lines[i], text), PROFILE_WRONG);
    ck_assert_int_eq(take(&profile, "c 0 0 1 0 0 0 0 @@ 0 0 0 0", text), PROFILE_WRONG);
    ck_assert_ptr_nonnull(strstr(text, "the line P, with the number of processes, is missing"));
    ck_assert(!profile_finish(&profile, text));
    ck_assert_int_eq(take(&profile, "P 4096", text), PROFILE_RANKS);
    ck_assert(!profile_finish(&profile, text));
    ck_assert_str_eq(text, "it contains no superstep");
    ck_assert_int_eq(take(&profile, "E 1", text), PROFILE_NOTHING);
    ck_assert(profile_finish(&profile, text));
    ck_assert_int_eq(take(&profile, "E 1", text), PROFILE_WRONG);
    ck_assert_str_eq(text, "a line after the line E");
    profile_free(&profile);
}
END_TEST

/* ---- Sums ---------------------------------------------------------------------------------- */

START_TEST(supersteps_are_summed_by_statement)
{
    struct replay replay = {0};
    struct traffic traffic[2] = {{10, 30}, {30, 10}};
    uint32_t numbers[2];
    for (uint32_t i = 0; i < 12; i++) {
        struct profile_superstep step = {.statement = i % 4};
        struct replay_measured measured = {1, 0.5};
        struct machine_parts predicted = {i % 4 == 2 ? 5 : 2, 0.25, 0.125, 1};
        if (i % 4 != 1)
            ck_assert(replay_add(&replay, &step, traffic, 2, &measured, &predicted));
    }
    struct replay_measured rest = {4, 0};
    struct machine_parts slower = {8, 0, 0, 0};
    ck_assert(replay_add(&replay, NULL, traffic, 2, &rest, &slower));
    ck_assert_uint_eq(replay.all.supersteps, 9);
    ck_assert_double_eq(replay_measured_total(&replay.all), 9 * 1.5 + 4);
    ck_assert_double_eq(replay_predicted_total(&replay.all), 6 * 2.375 + 3 * 5.375 + 8);
    ck_assert_double_eq(replay.all.predicted.waiting, 9);
    ck_assert_double_eq(replay.h, 270);
    ck_assert_uint_eq(replay_costliest(&replay, numbers, 2), 2);
    ck_assert_uint_eq(numbers[0], 2);
    ck_assert_uint_eq(numbers[1], 0); /* as much as 3 */
    struct machine_facts facts = {.g = 0.5, .l = 2};
    ck_assert_double_eq(replay_model(&replay, &facts), 6 * 2 + 3 * 5 + 8 + 135 + 18);
    replay_sums_free(&replay);
}
END_TEST

START_TEST(few_statements_are_all_shown)
{
    struct replay replay = {0};
    struct traffic traffic[1] = {{0, 0}};
    uint32_t numbers[10];
    ck_assert_uint_eq(replay_costliest(&replay, numbers, 10), 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct profile_superstep step = {.statement = 2 * i};
        struct replay_measured measured = {1, 0};
        struct machine_parts predicted = {i, 0, 0, 0};
        ck_assert(replay_add(&replay, &step, traffic, 1, &measured, &predicted));
    }
    ck_assert_uint_eq(replay_costliest(&replay, numbers, 10), 3);
    ck_assert_uint_eq(numbers[0], 4);
    ck_assert_uint_eq(numbers[1], 2);
    ck_assert_uint_eq(numbers[2], 0);
    replay_sums_free(&replay);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {equal_sums_make_a_ring,
                                  no_message_goes_to_its_sender,
                                  any_sums_have_few_messages,
                                  sums_that_cannot_be_are_told,
                                  what_was_simulated_is_known,
                                  a_profile_is_read_line_by_line,
                                  what_is_wrong_with_a_profile_is_said,
                                  whatever_comes_is_taken_or_refused,
                                  numbers_are_read_in_any_way,
                                  a_profile_without_processes_is_refused,
                                  supersteps_are_summed_by_statement,
                                  few_statements_are_all_shown};
    return suite_run_tests("bspsim replay", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
