/* test_coord_place.c - which host each process lives on, at first and after a rollback. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

/* The index of each process's host, as digits; checks what the hosts know of themselves. */
static const char *homes(void)
{
    static char text[64];
    uint32_t count[3] = {0}, first[3];

    for (uint32_t pid = coord->processes; pid-- > 0;) {
        text[pid] = (char)('0' + coord->home[pid]);
        count[coord->home[pid]]++;
        first[coord->home[pid]] = pid;
    }
    text[coord->processes] = '\0';
    for (uint32_t i = 0; i < coord->host_count; i++) {
        ck_assert_uint_eq(coord->hosts[i].count, count[i]);
        if (count[i] > 0)
            ck_assert_uint_eq(coord->hosts[i].first, first[i]);
    }
    return text;
}

/* Hosts with 2, 2 and 4 slots. */
START_TEST(at_first)
{
    static const struct {
        bool by_node;
        uint32_t registered, processes;
        const char *homes;
    } cases[] = {
        {false, 0, 1, "0"},
        {false, 0, 5, "00112"},
        {false, 0, 8, "00112222"},
        {false, 2, 6, "222200"},
        {false, 1, 3, "110"},
        {false, 0, 9, "000112222"},
        {false, 0, 16, "0000111122222222"},
        {false, 2, 17, "22222222200001111"},
        {true, 0, 1, "0"},
        {true, 0, 5, "01201"},
        {true, 0, 8, "01201222"},
        {true, 2, 5, "20120"},
        {true, 0, 9, "012012022"},
        {true, 0, 16, "0120120120122222"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(3, CONFIG(.by_node = cases[i].by_node));
        coord->registered_host = cases[i].registered;
        coord_place(coord, cases[i].processes);
        ck_assert_str_eq(homes(), cases[i].homes);
        tear_down();
    }
}
END_TEST

/* copies: where the frozen copies are, a digit for each process, '-' where there is none; groups:
 * of each process the lowest of its group, or '-'. */
static void place_again(const char *copies, const char *groups)
{
    uint16_t copy_on[32] = {0};
    uint32_t together[32], processes = (uint32_t)strlen(copies);

    for (uint32_t pid = 0; pid < processes; pid++) {
        bool grouped = groups[0] && groups[pid] != '-';

        if (copies[pid] != '-')
            copy_on[pid] = (uint16_t)(copies[pid] - '0' + 1);
        together[pid] = grouped ? (uint32_t)(groups[pid] - '0') : pid;
    }
    struct coord_held from = {.processes = processes,
                              .copy_on = copy_on,
                              .together = together,
                              .needs = (uint64_t[32]){0}};
    ck_assert(coord_place_again(coord, &from));
}

START_TEST(after_a_rollback)
{
    static const struct {
        bool by_node;
        const char *copies, *homes;
    } cases[] = {
        {false, "00112222", "00112222"},
        /* A host was lost, and another one has come that has nothing yet: all goes there ... */
        {false, "00--2222", "00112222"},
        {true, "0-20-222", "01201222"},
        /* ... or, when the lost one was larger, no more than is fair. */
        {false, "0011----", "00112222"},
        {false, "----2222", "01012222"},
        {false, "-0-0----2222", "101020122222"},
        /* No copy at all: as at first, from the first host on. */
        {false, "-----", "00112"},
        {true, "-----", "01201"},
        {false, "----------------", "0000111122222222"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(3, CONFIG(.by_node = cases[i].by_node));
        place_again(cases[i].copies, "");
        ck_assert_str_eq(homes(), cases[i].homes);
        tear_down();
    }
}
END_TEST

START_TEST(drained_hosts_get_nothing)
{
    static const struct {
        const char *drained, *copies, *groups, *homes; /* drained: indexes */
        bool anew;
    } cases[] = {
        {"1", "00112222", "", "00202222", false},
        {"2", "00112222", "", "00110101", false},
        {"12", "00112222", "", "00000000", false},
        {"012", "00112222", "", "00112222", false}, /* there is no other */
        {"1", "--------", "", "00022222", false},
        {"2", "------", "", "000111", false},
        {"0", "0-1-2-", "002244", "221122", false},
        {"", "00222222", "", "00112222", true},
        {"1", "00222222", "", "00022222", true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(3, CONFIG(.anew = cases[i].anew));
        for (const char *at = cases[i].drained; *at; at++)
            coord->hosts[*at - '0'].drained = true;
        coord->all_drained = strlen(cases[i].drained) == 3;
        place_again(cases[i].copies, cases[i].groups);
        ck_assert_msg(strcmp(homes(), cases[i].homes) == 0, "case %zu: %s", i, homes());
        tear_down();
    }
    /* Process 0 is where the program began, whatever is said of that host. */
    start(3, CONFIG());
    coord->registered_host = 1;
    coord->hosts[1].drained = coord->hosts[0].drained = true;
    coord_place(coord, 4);
    ck_assert_str_eq(homes(), "1122");
}
END_TEST

START_TEST(processes_go_where_they_are_wanted)
{
    static const struct {
        const char *moves, *copies, *groups, *homes; /* moves: pairs of a pid and a host */
        bool anew;
    } cases[] = {
        {"02", "00112222", "", "20112222", false},
        {"0277", "00112222", "", "20112222", false},
        {"0102", "00112222", "", "20112222", false}, /* the last word counts */
        {"21", "00112222", "", "00112222", false},
        {"60", "0011--2-", "", "00112202", false},
        {"82", "00112222", "", "00112222", false}, /* no such process */
        {"09", "00112222", "", "00112222", false}, /* no such host */
        {"02", "00222222", "", "20112222", true},
        {"02", "--------", "", "20112222", false},
        /* With all of its group; and nothing goes to a drained host. */
        {"32", "00112222", "00224444", "00222222", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_move moves[4];
        uint32_t count = (uint32_t)strlen(cases[i].moves) / 2;
        for (uint32_t j = 0; j < count; j++) {
            uint32_t at = (uint32_t)(cases[i].moves[2 * j + 1] - '0');
            moves[j] = (struct wire_move){(uint32_t)(cases[i].moves[2 * j] - '0'),
                                          at < 3 ? (uint32_t[]){0, 7, 3}[at] : 4000};
        }
        start(3, CONFIG(.anew = cases[i].anew, .moves = {moves, count}));
        place_again(cases[i].copies, cases[i].groups);
        ck_assert_msg(strcmp(homes(), cases[i].homes) == 0, "case %zu: %s", i, homes());
        tear_down();
    }
}
END_TEST

START_TEST(groups_stay_together)
{
    static const struct {
        const char *copies, *groups, *homes;
    } cases[] = {
        /* Where copies of the group are, however full it is there ... */
        {"0-112222", "00224444", "00112222"},
        {"-0------", "00------", "00212212"},
        {"----2-22", "----4444", "01012222"},
        /* ... or where there is room for all of those that are left. */
        {"00--2222", "0022----", "00112222"},
        {"00------", "00222222", "00222222"},
        {"00------", "0022255-", "00222112"},
        /* No copies at all: as at first, as long as that takes no group apart. */
        {"--------", "00224444", "00112222"},
        {"--------", "00033---", "22200112"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(3, CONFIG(.by_node = false));
        place_again(cases[i].copies, cases[i].groups);
        ck_assert_str_eq(homes(), cases[i].homes);
        tear_down();
    }
}
END_TEST

/* Hosts are as busy as bsprun has read: in hundredths of a process, with the speeds of their cores.
 */
START_TEST(where_others_are_busy)
{
    static const struct {
        struct coord_load loads[3];
        const char *copies, *homes;
    } cases[] = {
        {{{0, 0}, {0, 0}, {0, 0}}, "00--22", "001222"},
        {{{0, 0}, {200, 0}, {0, 0}}, "00--22", "002222"},
        {{{0, 0}, {99, 0}, {0, 0}}, "00--2222", "00122222"},
        {{{0, 0}, {COORD_BUSY_MAX, 1}, {300, 1}}, "--------0", "022022020"},
        {{{0, 0}, {UINT32_MAX, 1}, {300, 1}}, "--0", "020"},
        {{{0, 100}, {0, 100}, {0, 400}}, "0-----", "022222"},
        {{{0, 100}, {0, 100}, {0, 0}}, "0-----", "021220"},
        {{{0, 1}, {0, UINT32_MAX}, {0, 1}}, "0-----", "011111"},
        /* At first, and without copies, the order of the hosts is what counts. */
        {{{9900, 0}, {0, 0}, {0, 0}}, "----", "0011"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(3, CONFIG(.loads = cases[i].loads));
        place_again(cases[i].copies, "");
        ck_assert_str_eq(homes(), cases[i].homes);
        tear_down();
    }
}
END_TEST

/* However many hosts, slots and processes: each process has one host, nobody more than its share.
 */
START_TEST(any_numbers)
{
    struct wire_host hosts[7];
    unsigned random = 1;

    for (int round = 0; round < 2000; round++) {
        uint32_t count = 1 + (random >> 8) % 7, total = 0, most = 0;
        struct coord_config config = {.term = 1,
                                      .host_count = count,
                                      .hosts = hosts,
                                      .by_node = round % 2,
                                      .processes_max = 128,
                                      .abort_at = COORD_NEVER};

        for (uint32_t i = 0; i < count; i++) {
            random = random * 1103515245u + 12345u;
            hosts[i] = (struct wire_host){i, 1 + (random >> 16) % 9, ""};
            total += hosts[i].slots;
        }
        random = random * 1103515245u + 12345u;
        uint32_t processes = 1 + (random >> 16) % 100;
        struct coord *state = coord_new(&config);
        ck_assert_ptr_nonnull(state);
        state->registered_host = (random >> 8) % count;
        coord_place(state, processes);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct coord_host *host = &state->hosts[i];
            uint32_t here = 0;
            for (uint32_t pid = 0; pid < processes; pid++)
                here += state->home[pid] == i;
            ck_assert_uint_eq(host->count, here);
            if (processes <= total)
                ck_assert_uint_le(here, host->slots);
            else
                ck_assert_uint_le(here, processes * host->slots / total + 1);
            seen += here;
            most = here > most ? here : most;
        }
        ck_assert_uint_eq(seen, processes);
        ck_assert_uint_eq(state->home[0], state->registered_host);
        coord_free(state);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord_place");
    TCase *tests = tcase_create("place");

    tcase_add_test(tests, at_first);
    tcase_add_test(tests, after_a_rollback);
    tcase_add_test(tests, processes_go_where_they_are_wanted);
    tcase_add_test(tests, groups_stay_together);
    tcase_add_test(tests, drained_hosts_get_nothing);
    tcase_add_test(tests, where_others_are_busy);
    tcase_add_test(tests, any_numbers);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
