/* test_bspprof.c - bspprof: supersteps gathered into steps and bands, the lines that only it reads,
 * and command lines. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/suite.h"
#include "tools/bspprof/arguments.h"
#include "tools/bspprof/centres.h"
#include "tools/bspprof/strata.h"

/* ---- Steps ---------------------------------------------------------------------------------- */

static uint64_t drawn(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

START_TEST(a_short_run_is_shown_superstep_by_superstep)
{
    struct strata strata;
    const struct traffic traffic[3] = {{10, 20}, {20, 9}, {4, 5}};
    const struct profile_superstep one = {7, 100, 150, 100}, two = {8, 170, 171, 20};
    ck_assert(strata_begin(&strata, 3));
    ck_assert_uint_eq(strata_h(traffic, 3), 5);
    strata_add(&strata, 0, &one, traffic, 5);
    strata_waited(&strata, 30);
    strata_add(&strata, 1, &two, traffic, 5);
    ck_assert_uint_eq(strata.count, 2);
    ck_assert_uint_eq(strata.bands, 3);
    ck_assert_uint_eq(strata.steps[0].sums.waiting, 30);
    ck_assert_uint_eq(strata.steps[0].out[1], 9);
    ck_assert_uint_eq(strata.steps[0].in[1], 20);
    ck_assert_uint_eq(strata.steps[1].start, 150);
    ck_assert_uint_eq(strata.steps[1].sums.computing, 20);
    ck_assert_uint_eq(strata.steps[1].statement, 8);
    strata_free(&strata);
}
END_TEST

/* However many there are: nothing is lost, and steps follow each other without a gap. */
START_TEST(a_long_run_is_gathered)
{
    uint64_t seed = (uint64_t)time(NULL), state = seed,
             count = STRATA_STEPS + drawn(&state, 5 * STRATA_STEPS);
    struct strata_sums all = {0}, found = {0};
    struct traffic traffic[100];
    uint64_t end = 0, longest = 0, longest_number = 0, in = 0, in_found = 0;
    struct strata strata;
    printf("seed %llu\n", (unsigned long long)seed);
    ck_assert(strata_begin(&strata, 100));
    for (uint64_t number = 0; number < count; number++) {
        struct profile_superstep one = {.computing_ns = drawn(&state, 1000)};
        one.start_ns = end + one.computing_ns;
        one.end_ns = one.start_ns + drawn(&state, 1000);
        for (int rank = 0; rank < 100; rank++) {
            traffic[rank] = (struct traffic){drawn(&state, 50), drawn(&state, 50)};
            in += traffic[rank].in;
            all.bytes += traffic[rank].out;
        }
        if (one.end_ns - end > longest) {
            longest = one.end_ns - end;
            longest_number = number;
        }
        all.computing += one.computing_ns;
        all.communicating += one.end_ns - one.start_ns;
        all.waiting += 3;
        strata_add(&strata, number, &one, traffic, 9);
        strata_waited(&strata, 3);
        end = one.end_ns;
    }
    ck_assert_uint_eq(strata.bands, STRATA_BANDS);
    ck_assert_uint_le(strata.count, STRATA_STEPS);
    ck_assert_uint_gt(strata.count, STRATA_STEPS / 2);
    for (int round = 0; round < 2; round++) {
        found = (struct strata_sums){0};
        in_found = 0;
        for (uint32_t i = 0; i < strata.count; i++) {
            const struct strata_step *step = &strata.steps[i];
            ck_assert_uint_eq(step->first, i * strata.per);
            ck_assert_uint_eq(step->start, i > 0 ? strata.steps[i - 1].end : 0);
            for (uint32_t band = 0; band < strata.bands; band++)
                in_found += step->in[band];
            if (longest_number >= step->first && longest_number < step->first + strata.per)
                ck_assert_uint_eq(step->costliest_took, longest);
            strata_sum(&found, &step->sums);
        }
        ck_assert_uint_eq(found.supersteps, count);
        ck_assert_uint_eq(found.computing, all.computing);
        ck_assert_uint_eq(found.communicating, all.communicating);
        ck_assert_uint_eq(found.waiting, all.waiting);
        ck_assert_uint_eq(found.bytes, all.bytes);
        ck_assert_uint_eq(found.h, 9 * count);
        ck_assert_uint_eq(in_found, in);
        ck_assert_uint_eq(strata.steps[strata.count - 1].end, end);
        strata_shrink(&strata, 300);
        ck_assert_uint_le(strata.count, 300);
    }
    strata_free(&strata);
}
END_TEST

START_TEST(bands_have_all_processes)
{
    for (uint32_t ranks = 1; ranks <= PROFILE_RANKS_MAX; ranks += 1 + ranks / 7) {
        struct strata strata;
        ck_assert(strata_begin(&strata, ranks));
        ck_assert_uint_eq(strata_band(&strata, 0), 0);
        ck_assert_uint_eq(strata_band(&strata, strata.bands), ranks);
        for (uint32_t band = 0; band < strata.bands; band++)
            ck_assert_uint_lt(strata_band(&strata, band), strata_band(&strata, band + 1));
        strata_free(&strata);
    }
}
END_TEST

/* ---- Cost centres --------------------------------------------------------------------------- */

static void add_centre(struct centres *centres, uint32_t statement, uint64_t h)
{
    const struct run_superstep one = {.statement = statement, .h = h};
    ck_assert(centres_add(centres, &one));
}

/* The centres of statements 1 and 2, each with both sizes, and of 3 with none, in at most so many.
 */
static void gather(struct centres *centres, uint64_t small, uint64_t large, uint64_t most)
{
    centres_begin(centres, 1, true);
    for (uint32_t statement = 1; statement <= 2; statement++) {
        add_centre(centres, statement, small);
        add_centre(centres, statement, large);
    }
    add_centre(centres, 3, 0);
    centres_list(centres, most);
}

START_TEST(buckets_grow_as_far_as_they_put_together)
{
    struct centres centres;
    gather(&centres, 10, 20, 5); /* few enough */
    ck_assert_uint_eq(centres.bucket, 1);
    ck_assert_uint_eq(centres.count, 5);
    centres_free(&centres);
    gather(&centres, 10, 20, 3);
    ck_assert_uint_eq(centres.bucket, 32);
    ck_assert_uint_eq(centres.count, 3);
    centres_free(&centres);
    gather(&centres, 10, 20, 1); /* three statements remain */
    ck_assert_uint_eq(centres.bucket, 32);
    ck_assert_uint_eq(centres.count, 3);
    for (uint32_t i = 0; i < centres.count; i++)
        ck_assert_uint_eq(centres.table[i].h, centres.table[i].statement == 3 ? 0 : 32);
    centres_free(&centres);
    gather(&centres, 10, 10, 1); /* one size: nothing can be put together */
    ck_assert_uint_eq(centres.bucket, 1);
    ck_assert_uint_eq(centres.count, 3);
    centres_free(&centres);
    gather(&centres, 0, UINT64_C(1) << 40, 1); /* 0 stays by itself */
    ck_assert_uint_eq(centres.bucket, 1);
    ck_assert_uint_eq(centres.count, 5);
    centres_free(&centres);
}
END_TEST

/* ---- Lines ---------------------------------------------------------------------------------- */

static enum profile_event take(struct profile *profile, const char *line, char text[PROFILE_ERROR])
{
    return profile_take(profile, line, strlen(line), text);
}

START_TEST(spreads_and_marks_are_read)
{
    struct profile profile = {0};
    char text[PROFILE_ERROR];
    take(&profile, "P 1", text);
    ck_assert_int_eq(take(&profile, "w 3.0 2.0 1.0", text), PROFILE_WRONG);
    ck_assert_int_eq(take(&profile, "c 0 3.5 4.0 0 0 @@ 0 0", text), PROFILE_SUPERSTEP);
    ck_assert_int_eq(take(&profile, "w 3.0 2.0 1.0", text), PROFILE_SPREAD);
    ck_assert_uint_eq(profile.spread.most, 3000000000u);
    ck_assert_uint_eq(profile.spread.least, 1000000000u);
    ck_assert_int_eq(take(&profile, "w 3.0 2.0 1.0", text), PROFILE_WRONG);
    ck_assert_int_eq(take(&profile, "m 4.0 saved 0.25", text), PROFILE_MARK);
    ck_assert_int_eq(profile.mark.kind, PROFILE_SAVED);
    ck_assert_uint_eq(profile.mark.superstep, 1);
    ck_assert_uint_eq(profile.mark.lasted_ns, 250000000u);
    ck_assert_int_eq(take(&profile, "m 4.0 restored 25", text), PROFILE_MARK);
    ck_assert_int_eq(profile.mark.kind, PROFILE_RESTORED);
    ck_assert_int_eq(take(&profile, "m 4.0 failed 25", text), PROFILE_MARK);
    ck_assert_int_eq(profile.mark.kind, PROFILE_FAILED);
    ck_assert_int_eq(take(&profile, "m 4.0 restarted 25", text), PROFILE_MARK);
    ck_assert_int_eq(profile.mark.kind, PROFILE_RESTARTED);
    ck_assert_int_eq(take(&profile, "m 4.0 moved 25", text), PROFILE_MARK);
    ck_assert_int_eq(profile.mark.kind, PROFILE_MOVED);
    profile_free(&profile);
}
END_TEST

START_TEST(wrong_spreads_and_marks_are_told)
{
    static const char *const lines[] = {"w 1.0 2.0 0.5", "w 1.0 0.5 0.6", "w 1 1",
                                        "w 1 1 1 1",     "w 1 1 x",       "m 1",
                                        "m 1 lost 2",    "m x saved 1",   "m 1 saved",
                                        "m 1 saved 1 1", "m 1 savedx 1",  "m -1 saved 1"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct profile profile = {0};
        char text[PROFILE_ERROR] = "";
        take(&profile, "P 1", text);
        take(&profile, "c 0 3.5 4.0 0 0 @@ 0 0", text);
        ck_assert_msg(take(&profile, lines[i], text) == PROFILE_WRONG, "%s", lines[i]);
        ck_assert_uint_eq(text[0], lines[i][0]);
        profile_free(&profile);
    }
}
END_TEST

#define COSTS " with 2 SYNCS 1.5 1 0.5 COMP 2 2 2 COMM 3 3 3 COMPIDLE 30 20 10 HREL "

static bool take_stack(const char *line, struct profile_stack *stack)
{
    return profile_take_stack(line, strlen(line), stack);
}

START_TEST(call_stacks_are_read)
{
    struct profile_stack stack;
    ck_assert(take_stack("A <12 of heat.c exchange, step, main, >" COSTS "1,2,3,4,5;", &stack));
    ck_assert_uint_eq(stack.line, 12);
    ck_assert_int_eq(strncmp(stack.file, "heat.c", stack.file_length), 0);
    ck_assert_uint_eq(stack.file_length, 6);
    ck_assert_int_eq(strncmp(stack.names, "exchange, step, main, ", stack.names_length), 0);
    ck_assert_uint_eq(stack.supersteps, 2);
    ck_assert_uint_eq(stack.computing.most, 1500000000u);
    ck_assert_uint_eq(stack.h.least, 10);
    /* Without names, and with a file whose name is like the rest of the line. */
    ck_assert(take_stack("A <1 of a.c >" COSTS, &stack));
    ck_assert_uint_eq(stack.names_length, 0);
    ck_assert_uint_eq(stack.file_length, 3);
    ck_assert(take_stack("A <1 of a b.c main, >" COSTS, &stack));
    ck_assert_uint_eq(stack.file_length, 5);
}
END_TEST

START_TEST(wrong_call_stacks_are_told)
{
    static const char *const lines[] = {
        "A",
        "A <12 of heat.c main, >",
        "A <12 of >" COSTS,
        "A <x of heat.c main, >" COSTS,
        "A 12 of heat.c main, >" COSTS,
        "A <12 of heat.c main, > with 2 SYNCS 1 1 COMP 2 2 2 COMM 3 3 3 COMPIDLE 30 20 10 HREL",
        "A <12 of heat.c main, > with 2 SYNCS 1 1 1 COMP 2 2 2 COMM 3 3 3 COMPIDLE 30 20 HREL",
        "A <12 of heat.c main, > with x SYNCS 1 1 1 COMP 2 2 2 COMM 3 3 3 COMPIDLE 3 2 1 HREL",
    };
    struct profile_stack stack;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        ck_assert_msg(!take_stack(lines[i], &stack), "%s", lines[i]);
}
END_TEST

START_TEST(a_call_stack_may_be_cut_anywhere)
{
    static const char line[] = "A <12 of heat.c exchange, step, main, >" COSTS;
    struct profile_stack stack;
    for (size_t length = 1; length < sizeof(line) - 2; length++) {
        char *copy = malloc(length); /* so that reading behind it is found */
        memcpy(copy, line, length);
        ck_assert_msg(!profile_take_stack(copy, length, &stack), "%zu", length);
        free(copy);
    }
}
END_TEST

/* ---- Command lines -------------------------------------------------------------------------- */

static bool parse(struct arguments *arguments, char error[ARGUMENTS_ERROR], int argc, char **argv)
{
    return bspprof_arguments_parse(ARGUMENTS_PROF, argc, argv, arguments, error);
}

#define PARSE(...)                                                                                 \
    parse(&arguments, error, sizeof((char *[]){"bspprof", __VA_ARGS__}) / sizeof(char *),          \
          (char *[]){"bspprof", __VA_ARGS__})

START_TEST(command_lines_are_taken)
{
    struct arguments arguments;
    char error[ARGUMENTS_ERROR];
    ck_assert(PARSE("-zoom", "1.5,2s", "--svg", "x"));
    ck_assert_uint_eq(arguments.section.from, 1500000000u);
    ck_assert_uint_eq(arguments.section.to, 2000000000u);
    ck_assert(arguments.svg);
    ck_assert_str_eq(arguments.files[0], "x");
    ck_assert(PARSE("-slg=1,2,3", "a", "b", "-o", "c.html"));
    ck_assert_uint_eq(arguments.file_count, 2);
    ck_assert_str_eq(arguments.params, "1,2,3");
    ck_assert(PARSE("a", "b.svg")); /* as the old one was called */
    ck_assert_uint_eq(arguments.file_count, 1);
    ck_assert_str_eq(arguments.output, "b.svg");
    ck_assert(arguments.svg);
    ck_assert(PARSE("-v"));
    ck_assert_str_eq(arguments.files[0], "PROF.bsp");
    ck_assert(PARSE("--", "-x"));
    ck_assert_str_eq(arguments.files[0], "-x");
}
END_TEST

START_TEST(wrong_command_lines_are_told)
{
    struct arguments arguments;
    char error[ARGUMENTS_ERROR];
    static const char *const zooms[] = {"1",   "2,1",   "1,1", "-1,2",  "1,2,3",
                                        "x,2", "1,nan", ",",   "1,1e99"};
    for (size_t i = 0; i < sizeof(zooms) / sizeof(*zooms); i++) {
        ck_assert_msg(!PARSE("-zoom", (char *)(uintptr_t)zooms[i]), "%s", zooms[i]);
        ck_assert_ptr_nonnull(strstr(error, "give two times in seconds"));
    }
    ck_assert(!PARSE("-zom", "1,2"));
    ck_assert_ptr_nonnull(strstr(error, "did you mean -zoom?"));
    ck_assert(!PARSE("-zoom"));
    ck_assert_ptr_nonnull(strstr(error, "-zoom: the value is missing"));
    ck_assert(!PARSE("-svg=x"));
    ck_assert(!PARSE("-slg", "1,0,3"));
    ck_assert(!PARSE("-slg", "1,2,3", "-arch", "x"));
    ck_assert(!PARSE("a", "b", "c"));
    ck_assert(!PARSE("a", "-o", "a"));
    ck_assert(!PARSE("a", "a.ps"));
    ck_assert(!PARSE("-bucket", "1")); /* of bspsig */
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_short_run_is_shown_superstep_by_superstep,
                                  a_long_run_is_gathered,
                                  bands_have_all_processes,
                                  buckets_grow_as_far_as_they_put_together,
                                  spreads_and_marks_are_read,
                                  wrong_spreads_and_marks_are_told,
                                  call_stacks_are_read,
                                  wrong_call_stacks_are_told,
                                  a_call_stack_may_be_cut_anywhere,
                                  command_lines_are_taken,
                                  wrong_command_lines_are_told};
    return suite_run_tests("bspprof", tests, sizeof(tests) / sizeof(tests[0]), NULL, NULL);
}
