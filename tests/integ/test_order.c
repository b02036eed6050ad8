/* test_order.c - output of several hosts comes superstep by superstep, and marks between. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/order.h"
#include "tests/unit/suite.h"

#define HOSTS 3u

static struct spool *spool;
static struct order *order;
static char shown[65536];
static size_t size;
static int lost, files;
static bool flushes; /* whatever is shown */

static void note(const char *text, size_t length)
{
    ck_assert_uint_lt(size + length, sizeof shown);
    memcpy(shown + size, text, length);
    size += length;
    shown[size] = '\0';
}

static void show(void *context, int pid, int stream, const char *data, size_t length)
{
    (void)context;
    ck_assert_int_eq(stream, pid < 0 ? 2 : 1);
    note(data, length);
    if (flushes)
        order_flush(order);
}

static void marked(void *context, struct bspz_snapshot_name name)
{
    char text[32];

    (void)context;
    snprintf(text, sizeof text, "<%llu.%u>", (unsigned long long)name.superstep, name.term);
    note(text, strlen(text));
}

static void is_lost(void *context, int error)
{
    (void)context;
    ck_assert_int_lt(error, 0);
    lost++;
}

static int new_file(void *context)
{
    FILE *file = tmpfile();

    (void)context;
    files++;
    return file ? fileno(file) : -1;
}

static int no_file(void *context)
{
    (void)context;
    return -28;
}

static void make(size_t memory, spool_file *file)
{
    const struct order_calls calls = {show, marked, is_lost};

    spool = spool_new(memory, file, NULL);
    ck_assert_ptr_nonnull(spool);
    order = order_new(HOSTS, spool, &calls, NULL);
    ck_assert_ptr_nonnull(order);
    size = 0;
    shown[0] = '\0';
    lost = files = 0;
    flushes = false;
}

static void begin(void)
{
    order_begin(order);
    for (uint32_t host = 0; host < HOSTS; host++)
        order_join(order, host);
}

static void set_up(void)
{
    make(4096, new_file);
    begin();
}

static void tear_down(void)
{
    order_free(order);
    spool_free(spool);
}

static void piece(uint32_t host, uint64_t superstep, const char *text)
{
    order_piece(order, host, superstep, (int)host, 1, text, strlen(text));
}

static void mark(uint32_t host, uint64_t superstep)
{
    order_mark(order, host, (struct bspz_snapshot_name){superstep, 1});
}

static void mark_all(uint64_t superstep)
{
    for (uint32_t host = 0; host < HOSTS; host++)
        mark(host, superstep);
}

static void expect(const char *text)
{
    ck_assert_str_eq(shown, text);
}

static void expect_question(uint64_t superstep)
{
    uint64_t asked = UINT64_MAX;

    ck_assert(order_asks(order, &asked));
    ck_assert_uint_eq(asked, superstep);
    ck_assert(!order_asks(order, &asked)); /* once is enough */
}

static void expect_no_question(void)
{
    uint64_t asked;

    ck_assert(!order_asks(order, &asked));
}

START_TEST(before_there_is_a_term)
{
    order_begin(order);
    piece(0, 0, "a");
    expect("a");
    expect_no_question();
}
END_TEST

START_TEST(the_mark_of_bsp_begin)
{
    piece(0, 0, "a");
    mark(0, 0);
    piece(0, 0, "b");
    expect("a");
    mark(2, 0);
    expect("a");
    mark(1, 0);
    expect("a<0.1>b");
    piece(1, 0, "c"); /* within a superstep as it comes */
    expect("a<0.1>bc");
}
END_TEST

START_TEST(a_superstep_waits_for_the_one_before)
{
    mark_all(0);
    piece(1, 1, "1b");
    piece(2, 1, "1c");
    piece(2, 2, "2c");
    expect("<0.1>");
    expect_question(0);
    order_passed(order, 0, 0);
    expect("<0.1>1b1c");
    expect_question(1);
    piece(0, 1, "1a"); /* late, but before its superstep is over */
    expect("<0.1>1b1c1a");
    order_passed(order, 0, 1);
    expect("<0.1>1b1c1a");
    order_passed(order, 1, 7);
    expect("<0.1>1b1c1a2c");
    expect_no_question();
}
END_TEST

START_TEST(output_says_that_nothing_older_comes)
{
    mark_all(0);
    piece(0, 5, "5a");
    piece(1, 4, "4b");
    expect("<0.1>");
    piece(2, 4, "4c");
    expect("<0.1>4b4c");
    piece(1, 5, "5b");
    piece(2, 5, "5c");
    expect("<0.1>4b4c5a5b5c");
}
END_TEST

START_TEST(marks_divide)
{
    mark_all(0);
    piece(0, 2, "2a");
    mark(0, 3);
    piece(0, 3, "3a");
    order_passed(order, 1, 2);
    order_passed(order, 2, 2);
    expect("<0.1>2a"); /* all have passed, but the snapshot's mark is not reached */
    expect_question(3);
    mark(1, 3);
    piece(1, 3, "3b");
    expect("<0.1>2a");
    mark(2, 3);
    expect("<0.1>2a<3.1>3a3b");
}
END_TEST

START_TEST(a_mark_that_never_comes)
{
    mark_all(0);
    mark(0, 3);
    mark(1, 3);
    piece(1, 3, "3b");
    order_passed(order, 0, 3);
    order_passed(order, 1, 3);
    expect("<0.1>");
    order_passed(order, 2, 2);
    expect("<0.1>");
    order_passed(order, 2, 3); /* it has gone on without */
    expect("<0.1>3b");
    mark(2, 6); /* another one */
    mark(0, 6);
    expect("<0.1>3b");
    mark(1, 6);
    expect("<0.1>3b<6.1>");
}
END_TEST

/* The first host has taken part in the next snapshot before anything is heard of the last one. */
START_TEST(marks_that_overtake)
{
    piece(0, 0, "a");
    mark(0, 0);
    mark(1, 0);
    piece(0, 0, "0a");
    mark(0, 1);
    piece(0, 1, "1a");
    expect("a");
    expect_question(0);
    mark(2, 0);
    expect("a<0.1>0a");
    piece(2, 0, "0c");
    mark(1, 1);
    expect("a<0.1>0a0c");
    mark(2, 1);
    expect("a<0.1>0a0c<1.1>1a");
}
END_TEST

START_TEST(marks_that_are_held)
{
    mark(0, 0);
    mark(1, 0);
    piece(0, 0, "0a");
    mark(0, 1);
    piece(0, 1, "1a");
    begin();
    order_from(order, (struct bspz_snapshot_name){0, 1});
    expect("<0.1>");
    mark_all(4);
    expect("<0.1><4.1>");
    piece(1, 5, "5b");
    mark(1, 6);
    piece(1, 7, "7b");
    mark(1, 8);
    piece(1, 8, "8b");
    begin();
    order_from(order, (struct bspz_snapshot_name){8, 1});
    expect("<0.1><4.1>5b<6.1>7b<8.1>");
}
END_TEST

START_TEST(hosts_that_leave)
{
    mark_all(0);
    piece(0, 9, "9a");
    order_passed(order, 1, 8);
    expect("<0.1>");
    order_leave(order, 2);
    expect("<0.1>9a");
    mark(0, 10);
    piece(0, 10, "10a");
    order_leave(order, 1);
    expect("<0.1>9a<10.1>10a");
}
END_TEST

START_TEST(terms)
{
    mark_all(0);
    piece(0, 4, "old");
    begin();
    expect("<0.1>");   /* it is written again */
    piece(1, 3, "3b"); /* before it is known from where */
    expect_question(2);
    order_from(order, (struct bspz_snapshot_name){3, 1});
    expect("<0.1>3b");
    piece(1, 4, "4b");
    expect("<0.1>3b");
    order_passed(order, 0, 3);
    order_passed(order, 2, 3);
    expect("<0.1>3b4b");
    begin();
    order_from(order, (struct bspz_snapshot_name){0, 1}); /* bsp_begin lies behind */
    piece(0, 0, "0a");
    expect("<0.1>3b4b0a");
}
END_TEST

/* What was written before the snapshot from which the job goes on does not come again. */
START_TEST(what_is_held)
{
    mark_all(0);
    piece(0, 3, "3a");
    piece(0, 4, "4a");
    piece(0, 5, "5a");
    mark(0, 6);
    mark(1, 6);
    piece(0, 6, "6a");
    expect("<0.1>"); /* the third host says nothing, and has nothing to say */
    begin();
    piece(1, 5, "old term, new beginning");
    begin();
    expect("<0.1>");
    order_from(order, (struct bspz_snapshot_name){6, 1});
    expect("<0.1>3a4a5a<6.1>");
    begin();
    order_from(order, (struct bspz_snapshot_name){6, 1}); /* once */
    expect("<0.1>3a4a5a<6.1>");

    piece(0, 8, "8a");
    piece(0, 9, "9a");
    begin();
    order_from(order, (struct bspz_snapshot_name){9, 1}); /* its mark was never sent */
    expect("<0.1>3a4a5a<6.1>8a");
    piece(0, 10, "A");
    begin();
    order_flush(order);
    expect("<0.1>3a4a5a<6.1>8aA");
}
END_TEST

START_TEST(the_end)
{
    mark_all(0);
    piece(0, 6, "6");
    piece(1, 5, "5");
    piece(0, 7, "7");
    order_flush(order);
    expect("<0.1>567");
}
END_TEST

/* Nobody reads any more, and the job ends while a superstep is being shown. */
START_TEST(the_end_from_within)
{
    mark_all(0);
    piece(0, 5, "5");
    piece(0, 6, "6");
    piece(0, 7, "7");
    flushes = true;
    order_passed(order, 1, 4);
    order_passed(order, 2, 4);
    expect("<0.1>567");
    order_flush(order);
    expect("<0.1>567");
}
END_TEST

START_TEST(much_waits)
{
    static char text[20000];

    memset(text, 'x', sizeof text);
    mark_all(0);
    order_piece(order, 0, 3, 0, 1, text, sizeof text);
    order_piece(order, 0, 2, 0, 1, "y", 1); /* counts with what it comes behind */
    order_piece(order, 1, 2, 1, 1, "z", 1);
    ck_assert_int_eq(files, 1);
    expect("<0.1>");
    order_passed(order, 2, 1);
    expect("<0.1>z");
    order_passed(order, 2, 2);
    order_passed(order, 1, 2);
    ck_assert_uint_eq(size, sizeof text + 7);
    ck_assert_int_eq(shown[size - 1], 'y');
    ck_assert_int_eq(lost, 0);
}
END_TEST

/* Without a file memory has to do. */
START_TEST(no_room)
{
    static char text[20000];

    tear_down();
    make(4096, no_file);
    begin();
    memset(text, 'x', sizeof text);
    mark_all(0);
    order_piece(order, 0, 3, 0, 1, text, sizeof text);
    order_flush(order);
    ck_assert_uint_eq(size, sizeof text + 5);
}
END_TEST

/* Host 2 has replicas of the processes of host 0: the first of both counts. */
START_TEST(replicas)
{
    order_replica(order, 2, 0);
    mark_all(0);
    piece(1, 0, "a");
    order_passed(order, 2, 3); /* for host 0, too */
    order_passed(order, 1, 3);
    piece(2, 5, "b");
    piece(1, 5, "c");
    expect("<0.1>abc");
    mark(2, 10); /* the other one takes no part in the snapshot, and passes it without */
    order_passed(order, 0, 12);
    piece(1, 9, "d");
    mark(1, 10);
    expect("<0.1>abcd<10.1>");
    order_leave(order, 2); /* what it has passed is passed */
    piece(1, 10, "e");
    piece(0, 13, "f");
    order_passed(order, 1, 14);
    expect("<0.1>abcd<10.1>ef");
}
END_TEST

/* A mark comes as long as one replica has not passed it. */
START_TEST(a_replica_that_overtakes_the_mark)
{
    order_replica(order, 2, 0);
    mark_all(0);
    order_passed(order, 0, 20);
    mark(1, 10);
    expect("<0.1>");
    mark(2, 10);
    expect("<0.1><10.1>");
    mark(1, 30); /* of this one there will be none */
    order_passed(order, 0, 40);
    order_passed(order, 1, 40);
    expect("<0.1><10.1>");
    piece(1, 41, "x");
    expect("<0.1><10.1>");
    order_passed(order, 2, 40);
    expect("<0.1><10.1>x");
}
END_TEST

/* All replicas mark their output, and the first mark counts: what is written after it is. */
START_TEST(marks_of_all_replicas)
{
    order_replica(order, 2, 0);
    mark_all(0);
    mark(2, 10);
    piece(2, 10, "a");
    expect("<0.1>");
    mark(1, 10);
    expect("<0.1><10.1>a");
    mark(0, 10);
    order_passed(order, 1, 12);
    piece(0, 12, "b");
    mark(0, 20);
    mark(1, 20);
    expect("<0.1><10.1>ab<20.1>");
}
END_TEST

/* The one that was to send the mark is lost before it has, and so is later the last of all
 * replicas. */
START_TEST(a_replica_that_is_lost)
{
    order_replica(order, 2, 0);
    mark_all(0);
    mark(1, 10);
    order_passed(order, 0, 20);
    order_passed(order, 1, 20);
    piece(1, 15, "a");
    expect("<0.1>"); /* the mark of host 2 may come */
    ck_assert(order_lose(order, 2));
    expect("<0.1>a");
    piece(1, 30, "b");
    ck_assert(!order_lose(order, 0));
    expect("<0.1>a"); /* what it has not sent comes after the rollback */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("order");
    TCase *tests = tcase_create("output");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, before_there_is_a_term);
    tcase_add_test(tests, the_mark_of_bsp_begin);
    tcase_add_test(tests, a_superstep_waits_for_the_one_before);
    tcase_add_test(tests, output_says_that_nothing_older_comes);
    tcase_add_test(tests, marks_divide);
    tcase_add_test(tests, a_mark_that_never_comes);
    tcase_add_test(tests, marks_that_overtake);
    tcase_add_test(tests, marks_that_are_held);
    tcase_add_test(tests, hosts_that_leave);
    tcase_add_test(tests, terms);
    tcase_add_test(tests, what_is_held);
    tcase_add_test(tests, the_end);
    tcase_add_test(tests, the_end_from_within);
    tcase_add_test(tests, much_waits);
    tcase_add_test(tests, no_room);
    tcase_add_test(tests, replicas);
    tcase_add_test(tests, a_replica_that_overtakes_the_mark);
    tcase_add_test(tests, marks_of_all_replicas);
    tcase_add_test(tests, a_replica_that_is_lost);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
