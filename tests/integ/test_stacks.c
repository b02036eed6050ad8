/* test_stacks.c - what debuggers say of stacks, and what bspctl shows of them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/stack_lines.h"
#include "bsprun/status/stacks_text.h"
#include "tests/unit/suite.h"

static void expect_text(char *text, const char *wanted)
{
    ck_assert_str_eq(text, wanted);
    free(text);
}

static char *lines_of(const char *output, size_t most, bool cut)
{
    return stack_lines(output, strlen(output), most, cut);
}

START_TEST(frames_are_found)
{
    expect_text(
        lines_of("PID 7 - process\nTID 7:\n#0  0x1 f\n    a.c:1\n#1  0x2 main\n", 1000, false),
        "#0  0x1 f\n    a.c:1\n#1  0x2 main\n");
    expect_text(
        lines_of("0x1 in f ()\n1\tint x;\n\nThread 1 (LWP 7):\n#0  f (s=0x2 \"\033[2J\tx\")\n"
                 "    at a.c:1\n[Inferior 1 detached]",
                 1000, false),
        "#0  f (s=0x2 \"?[2J x\")\n    at a.c:1\n");
    expect_text(lines_of("TID 7:\n#0  f\nTID 8:\n#0  g", 1000, false),
                "TID 7:\n#0  f\nTID 8:\n#0  g\n");
    ck_assert_ptr_null(lines_of("", 1000, false));
    ck_assert_ptr_null(lines_of("no such process\n", 1000, false));
    ck_assert_ptr_null(lines_of("TID 7:\nTID 8:\n", 1000, false));
}
END_TEST

START_TEST(stacks_are_bounded)
{
    expect_text(lines_of("#0  f\n#1  g\n", 1000, true), "#0  f\n#1  g\n    ... (truncated)\n");
    for (size_t most = 25; most < 60; most++) {
        char *text = lines_of("#0  f\n#1  ggggggggggggg\n#2  h\n", most, false);

        ck_assert(!text || strlen(text) < most);
        ck_assert(!text || strstr(text, "#2  h\n") || strstr(text, "... (truncated)\n"));
        free(text);
    }
}
END_TEST

START_TEST(refusals_are_known)
{
    ck_assert(stack_refused("eu-stack: dwfl_linux_proc_attach pid 1: Operation not permitted\n"));
    ck_assert(stack_refused("ptrace: Operation not permitted.\n"));
    ck_assert(!stack_refused("eu-stack: no such process\n"));
    ck_assert_ptr_nonnull(strstr(stack_advice(2), "ptrace_scope is 2"));
    ck_assert_ptr_nonnull(strstr(stack_advice(3), "ptrace_scope is 3"));
    ck_assert_ptr_nonnull(strstr(stack_advice(-1), "SYS_PTRACE"));
}
END_TEST

static void add(struct stacks *stacks, uint32_t pid, enum wire_rank_state state, uint64_t superstep,
                const char *text, const char *advice)
{
    struct wire_where at = {.pid = pid,
                            .state = state,
                            .superstep = superstep,
                            .function = "bsp_sync",
                            .file = "a.c",
                            .line = 5,
                            .os_pid = 100 + pid};

    stacks_add(stacks, pid == 2 ? "h1" : "",
               &(struct wire_stack){.at = {&at, 1},
                                    .stays = true,
                                    .text = text,
                                    .why = text[0] ? "" : "there is none",
                                    .advice = advice});
}

#define PLACE(pid, on, state)                                                                      \
    "pid " #pid on " (process 10" #pid "): last call bsp_sync at a.c:5, superstep 7, " state "\n"

START_TEST(the_late_one_is_named)
{
    struct stacks stacks = {.rows = NULL};

    add(&stacks, 2, WIRE_RANK_WAITING, 7, "#0  c\n", "");
    add(&stacks, 1, WIRE_RANK_COMPUTING, 7, "#0  b\n", "");
    add(&stacks, 0, WIRE_RANK_WAITING, 7, "", "ask root");
    expect_text(
        stacks_text(&stacks), "pid 1 still computes in superstep 7, and the others wait for "
                              "it\n" PLACE(0, "", "waiting") "    no stack: there is none\n" PLACE(
                                  1, "",
                                  "computing") "#0  b\n" PLACE(2, " on h1",
                                                               "waiting") "#0  c\n"
                                                                          "ptrace is not "
                                                                          "permitted: ask root\n");
    add(&stacks, 3, WIRE_RANK_COMPUTING, 7, "#0  d\n", "ask others");
    char *text = stacks_text(&stacks);

    ck_assert_ptr_nonnull(
        strstr(text, "pids 1, 3 still compute in superstep 7, and the others wait for them\n"));
    ck_assert_ptr_null(strstr(text, "ask others"));
    free(text);
    add(&stacks, 4, WIRE_RANK_COMPUTING, 7, "#0  e\n", ""); /* most: nobody is late */
    text = stacks_text(&stacks);
    ck_assert_ptr_null(strstr(text, "still"));
    free(text);
    stacks_free(&stacks);
}
END_TEST

START_TEST(nobody_is_named_without_need)
{
    struct stacks stacks = {.rows = NULL};

    add(&stacks, 0, WIRE_RANK_WAITING, 7, "#0  a\n", "");
    add(&stacks, 1, WIRE_RANK_COMPUTING, 6, "#0  b\n", "");
    char *text = stacks_text(&stacks);

    ck_assert(strncmp(text, "pid 0 (", 7) == 0);
    free(text);
    stacks_free(&stacks);
    add(&stacks, 0, WIRE_RANK_WAITING, 7, "#0  a\n", "");
    add(&stacks, 1, WIRE_RANK_COMPUTING, 7, "#0  b\n", "");
    stacks_add_silent(&stacks, "h2");
    stacks_add_silent(&stacks, "h3");
    text = stacks_text(&stacks);
    ck_assert(strncmp(text, "pid 0 (", 7) == 0);
    ck_assert_ptr_nonnull(strstr(text, "\nhost h2 has not answered\nhost h3 has not answered\n"));
    free(text);
    stacks_free(&stacks);
    expect_text(stacks_text(&stacks),
                "the job has no processes yet: the program has not reached bsp_begin\n");
}
END_TEST

START_TEST(all_together_are_bounded)
{
    struct stacks stacks = {.bytes_most = 12};

    add(&stacks, 0, WIRE_RANK_WAITING, 7, "#0  a\n", "");
    add(&stacks, 1, WIRE_RANK_WAITING, 7, "#0  b\n", "");
    add(&stacks, 2, WIRE_RANK_WAITING, 7, "#0  c\n", "");
    char *text = stacks_text(&stacks);

    ck_assert_ptr_nonnull(strstr(text, "#0  b\n"));
    ck_assert_ptr_null(strstr(text, "#0  c\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "    no stack: the stacks of the others are too long already\n"));
    free(text);
    stacks_free(&stacks);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stacks");
    TCase *tests = tcase_create("stacks");

    tcase_add_test(tests, frames_are_found);
    tcase_add_test(tests, stacks_are_bounded);
    tcase_add_test(tests, refusals_are_known);
    tcase_add_test(tests, the_late_one_is_named);
    tcase_add_test(tests, nobody_is_named_without_need);
    tcase_add_test(tests, all_together_are_bounded);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
