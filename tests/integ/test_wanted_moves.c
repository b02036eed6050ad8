/* test_wanted_moves.c - where processes are to be in the next term, by the user and by Processor
 * Zero. */
#include <check.h>
#include <stdio.h>

#include "bsprun/launcher/wanted_moves.h"
#include "tests/unit/suite.h"

static struct wanted_moves moves;

static void set_up(void)
{
    moves = (struct wanted_moves){0};
}

static void tear_down(void)
{
    wanted_moves_free(&moves);
}

static void ask(uint32_t term, uint32_t pid, uint32_t host)
{
    ck_assert(wanted_moves_add(&moves, term, (struct wire_move){pid, host}));
}

/* How many of the decision are taken. */
static uint32_t decide(uint32_t term, uint32_t pid, uint32_t host)
{
    const struct wire_move both[] = {{pid, host}, {pid + 1, host}};

    return wanted_moves_decided(&moves, term, (struct wire_move_list){both, 2});
}

/* As "PID>HOST" one after the other. */
static void expect(const char *expected)
{
    struct wire_move_list list = wanted_moves_list(&moves);
    char text[200] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < list.count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u>%u", i > 0 ? " " : "",
                                 list.items[i].pid, list.items[i].host);
    ck_assert_str_eq(text, expected);
}

START_TEST(the_newest_counts)
{
    ask(1, 3, 1);
    ask(1, 5, 2);
    ask(1, 3, 2);
    expect("3>2 5>2");
    ck_assert(wanted_moves_elsewhere(&moves, (struct wire_move){3, 1}));
    ck_assert(!wanted_moves_elsewhere(&moves, (struct wire_move){3, 2}));
    ck_assert(!wanted_moves_elsewhere(&moves, (struct wire_move){4, 2}));
}
END_TEST

START_TEST(until_a_later_term_is_saved)
{
    ask(2, 3, 1);
    wanted_moves_saved(&moves, 2);
    expect("3>1");
    wanted_moves_saved(&moves, 3);
    expect("");
}
END_TEST

START_TEST(a_decision_replaces_those_of_earlier_terms)
{
    ask(1, 3, 1);
    ck_assert_uint_eq(decide(2, 3, 2), 2);
    expect("3>2 4>2");
    ck_assert_uint_eq(decide(3, 4, 1), 2);
    expect("3>2 4>1 5>1");
}
END_TEST

/* Whichever processes the decision is about: they may be placed together with that of the user. */
START_TEST(the_user_knows_better)
{
    ask(1, 1, 2);
    ck_assert_uint_eq(decide(1, 3, 1), 0);
    expect("1>2");
    ck_assert_uint_eq(decide(2, 3, 1), 2);
    expect("1>2 3>1 4>1");
}
END_TEST

START_TEST(all_are_placed_anew)
{
    ask(1, 1, 2);
    wanted_moves_place_anew(&moves, 2);
    expect("");
    ck_assert_uint_eq(decide(2, 3, 1), 0);
    expect("");
    ask(2, 1, 1);
    expect("1>1");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_newest_counts, until_a_later_term_is_saved,
                                  a_decision_replaces_those_of_earlier_terms, the_user_knows_better,
                                  all_are_placed_anew};

    return suite_run_tests("wanted_moves", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
