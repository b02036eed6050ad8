/* test_room.c - requests that do not fit into the memory of the hosts. */
#include <check.h>
#include <string.h>

#include "bsprun/launcher/room.h"
#include "tests/unit/suite.h"

#define ANY PLACEMENT_UNKNOWN

static struct room_host hosts[4];
static struct room_process processes[4];
static struct room room;
static char text[ROOM_REPLICAS_TEXT];

/* Three hosts with 2 slots; processes 0, 1 on host a, 2, 3 on host b, each with 5 bytes. */
static void begin(void)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    for (uint32_t i = 0; i < 4; i++) {
        hosts[i] =
            (struct room_host){.name = names[i], .slots = 2, .takes_part = i < 3, .available = 100};
        processes[i] = (struct room_process){i / 2, 5};
    }
    room = (struct room){.hosts = hosts,
                         .host_count = 4,
                         .processes = processes,
                         .process_count = 4,
                         .leaves = ROOM_NOBODY,
                         .moves = ROOM_NOBODY,
                         .to = ROOM_NOBODY};
}

static void have(uint64_t a, uint64_t b, uint64_t c)
{
    hosts[0].available = a;
    hosts[1].available = b;
    hosts[2].available = c;
}

static void refused(const char *why)
{
    ck_assert(!room_suffices(&room, text));
    ck_assert_str_eq(text, why);
}

static void fits(void)
{
    ck_assert(room_suffices(&room, text));
    ck_assert_str_eq(text, "");
}

START_TEST(moves)
{
    room.moves = 3;
    room.to = 2;
    fits();
    have(100, 100, 5);
    fits();
    have(100, 100, 4);
    refused("process 3 needs 5 B of memory; host c has 4 B left");
    have(0, 0, ANY);
    fits();
    have(0, 0, 0);
    processes[3].memory = 0;
    fits();
    /* Back to where it is. */
    processes[3].memory = 5;
    room.to = 1;
    fits();
}
END_TEST

START_TEST(hosts_are_left)
{
    room.leaves = 1;
    hosts[1].drained = true;
    fits();
    have(0, 0, 10);
    fits();
    have(5, 0, 5);
    fits();
    have(7, 50, 4);
    refused("process 3 needs 5 B of memory; host c has 4 B left, host a has 2 B left beside what "
            "else goes there");
    have(4, 50, 3);
    refused("process 2 needs 5 B of memory; host a has 4 B left, host c has 3 B left");
    /* One that takes no part does not count, nor one that is drained. */
    hosts[3].available = 100;
    ck_assert(!room_suffices(&room, text));
    hosts[2].drained = true;
    have(4, 50, 50);
    refused("process 2 needs 5 B of memory; host a has 4 B left");
    hosts[2].drained = false;
    fits();
    /* It goes altogether, with what is there. */
    hosts[1].takes_part = false;
    fits();
    have(4, 50, 3);
    refused("process 2 needs 5 B of memory; host a has 4 B left, host c has 3 B left");
    /* The greater one first. */
    processes[3].memory = 9;
    have(5, 0, 9);
    fits();
}
END_TEST

START_TEST(all_are_placed_anew)
{
    room.anew = true;
    fits();
    have(0, 0, 0);
    fits(); /* nothing moves */
    for (uint32_t pid = 0; pid < 4; pid++)
        processes[pid].host = 2;
    ck_assert(!room_suffices(&room, text));
    have(10, 9, 0);
    refused("process 3 needs 5 B of memory; host b has 4 B left beside what else goes there");
    have(10, 10, 0);
    fits();
    room.by_node = true; /* 0, 3 on a, 1 on b, and 2 stays */
    have(10, 5, 0);
    fits();
}
END_TEST

/* Those that are not moved are not in question, nor what is not known. */
START_TEST(others)
{
    have(0, 0, 0);
    hosts[0].drained = true; /* since long, and what is there could not leave */
    room.moves = 2;
    room.to = 2;
    have(0, 0, 5);
    fits();
    begin();
    have(0, 0, 0);
    for (uint32_t pid = 0; pid < 4; pid++)
        processes[pid] = (struct room_process){.host = ROOM_NOBODY};
    room.leaves = 1;
    hosts[1].drained = true;
    fits();
    room.process_count = 0;
    fits();
    begin();
    for (uint32_t i = 0; i < 4; i++)
        hosts[i].takes_part = false;
    fits();
}
END_TEST

START_TEST(places_are_expected)
{
    static const struct wire_move wanted[] = {{1, 2}, {9, 0}, {3, 3}};
    uint32_t to[4];

    ck_assert(room_expect(&room, to)); /* nothing is asked for: all stay */
    for (uint32_t pid = 0; pid < 4; pid++)
        ck_assert_uint_eq(to[pid], pid / 2);

    /* What was asked for, of processes that there are, to hosts that take part. */
    room.wanted = (struct wire_move_list){wanted, 3};
    ck_assert(room_expect(&room, to));
    ck_assert(to[0] == 0 && to[1] == 2 && to[2] == 1 && to[3] == 1);
    room.wanted = (struct wire_move_list){NULL, 0};

    /* A host is left; nobody goes to one that takes no part yet. */
    hosts[0].drained = true;
    ck_assert(room_expect(&room, to));
    ck_assert(to[0] == 2 && to[1] == 2 && to[2] == 1 && to[3] == 1);
    hosts[0].takes_part = false;
    ck_assert(room_expect(&room, to));
    ck_assert(to[0] == 2 && to[1] == 2 && to[2] == 1 && to[3] == 1);

    /* Load by others counts as it does for Processor Zero, speeds if all are known. */
    hosts[2].busy = 1000;
    hosts[1].slots = 8;
    ck_assert(room_expect(&room, to));
    ck_assert(to[0] == 1 && to[1] == 1);

    have(100, 4, 4);
    ck_assert(!room_expect(&room, to)); /* they fit nowhere */
    room.process_count = 0;
    ck_assert(!room_expect(&room, to));
}
END_TEST

/* Hosts a and b have all, and nothing has to be made when one of them is left. */
START_TEST(replicas_are_kept)
{
    for (uint32_t left = 0; left < 2; left++) {
        begin();
        have(0, 0, 0);
        room.leaves = left;
        hosts[left].drained = true;
        hosts[left].takes_part = left == 0; /* the other one goes altogether */
        for (uint32_t pid = 0; pid < 4; pid++) {
            processes[pid].host = ROOM_NOBODY;
            room_found(hosts, &processes[pid], (struct room_process){0, 5});
            room_found(hosts, &processes[pid], (struct room_process){1, 5});
            ck_assert_uint_eq(processes[pid].host, 1 - left);
        }
        fits();
        /* One has none elsewhere. */
        processes[3].host = ROOM_NOBODY;
        room_found(hosts, &processes[3], (struct room_process){left, 5});
        refused(left == 0
                    ? "process 3 needs 5 B of memory; host b has 0 B left, host c has 0 B left"
                    : "process 3 needs 5 B of memory; host a has 0 B left, host c has 0 B left");
    }
}
END_TEST

static bool so_many_fit(const char *replicas)
{
    struct replica_counts counts;
    char why[REPLICA_WHY];

    ck_assert(replica_counts_parse(&counts, replicas, why));
    return room_replicas_fit(&room, &counts, text);
}

/* Hosts a, b and c, which have so much left when the processes of this term have ended; each
 * process needs 5 bytes. */
START_TEST(replicas_fit)
{
    have(20, 20, 19);
    ck_assert(so_many_fit("2") && so_many_fit("0-1=2")); /* on a and b; c has none, or the rest */
    ck_assert_str_eq(text, "");
    ck_assert(!so_many_fit("3"));
    ck_assert_str_eq(text, "there is too little memory: process 3 needs 5 B of memory; host a has "
                           "4 B left beside what else goes there");
    have(20, 9, 30);
    ck_assert(!so_many_fit("2"));
    ck_assert(!so_many_fit("0-1=2"));
    hosts[1].drained = true; /* a and c, then */
    ck_assert(so_many_fit("2"));
    hosts[1].drained = false;
    hosts[1].takes_part = false;
    ck_assert(so_many_fit("2"));
    hosts[1].takes_part = true;
    have(ANY, ANY, 0);
    ck_assert(so_many_fit("2"));
    /* Not even one of each; what is not known. */
    have(4, 4, 4);
    ck_assert(!so_many_fit("2"));
    ck_assert_ptr_nonnull(strstr(text, "there is too little memory: process "));
    for (uint32_t pid = 0; pid < 4; pid++)
        processes[pid].memory = 0;
    ck_assert(so_many_fit("3"));
    room.process_count = 0;
    ck_assert(so_many_fit("3"));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {moves,       hosts_are_left,      all_are_placed_anew,
                                  others,      places_are_expected, replicas_are_kept,
                                  replicas_fit};

    return suite_run_tests("room", tests, sizeof tests / sizeof *tests, begin, NULL);
}
