/* test_watch.c - what bspstat --watch reads, shows and makes of keys. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/status/watch_facts.h"
#include "bsprun/status/watch_picture.h"
#include "bsprun/status/watch_view.h"
#include "tests/unit/suite.h"

#define MANY 1000

static const char status[] =
    "{\"pid\":99,\"program\":\"./heat 40\",\"directory\":\"/d\",\"job\":\"j\",\"zero\":\"a\","
    "\"processes\":4,\"seconds\":90.5,\"superstep\":1200,\"term\":2,\"restarts\":1,\"restarted_alone\":3,\"rate\":812.25,"
    "\"snapshot\":{\"superstep\":1000,\"taken\":7,\"age\":3.000},"
    "\"failures\":{\"known\":true,\"snapshot\":{\"seconds\":0.21,\"spread\":0,\"count\":7},"
    "\"model\":{\"rate\":0.0001,\"cost\":1,\"restore\":2,\"delay\":3},\"interval\":33,"
    "\"why\":\"because\"},"
    "\"hosts\":[{\"slots\":2,\"memory_left\":5,\"name\":\"a\",\"state\":\"up\"},"
    "{\"slots\":2,\"memory_left\":null,\"name\":\"b\",\"state\":\"drained\"}],"
    "\"ranks\":[{\"pid\":1,\"os_pid\":4101,\"superstep\":1200,\"memory\":3145728,\"computing\":1,"
    "\"communicating\":1,\"waiting\":2,\"host\":\"a\",\"state\":\"waiting\"},"
    "{\"pid\":0,\"os_pid\":4100,\"superstep\":1200,\"memory\":2048,\"computing\":4.0,"
    "\"communicating\":0,\"waiting\":0,\"host\":\"a\",\"state\":\"computing\"},"
    "{\"pid\":2,\"os_pid\":0,\"superstep\":1199,\"memory\":null,\"computing\":0,"
    "\"communicating\":0,\"waiting\":0,\"host\":\"b\",\"state\":\"starting\"}]}\n";

static struct watch_facts *facts_of(const char *text)
{
    struct watch_facts *facts = watch_facts_read(text);

    ck_assert_ptr_nonnull(facts);
    watch_facts_compare(facts, NULL);
    return facts;
}

/* The picture as lines without trailing spaces; to be freed. */
static char *drawn(unsigned rows, unsigned columns, const struct watch_scene *scene)
{
    struct watch_picture picture = {0, 0, NULL};
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    ck_assert(watch_picture_draw(&picture, rows, columns, scene));
    ck_assert_uint_eq(picture.rows, rows);
    ck_assert_uint_eq(picture.columns, columns);
    for (unsigned row = 0; row < rows; row++) {
        const struct watch_cell *cells = &picture.cells[(size_t)row * columns];
        unsigned end = columns;

        while (end > 0 && cells[end - 1].glyph == L' ')
            end--;
        for (unsigned i = 0; i < end; i++)
            if (cells[i].glyph)
                fprintf(file, "%lc", (wint_t)cells[i].glyph);
        fputc('\n', file);
    }
    fclose(file);
    watch_picture_free(&picture);
    return text;
}

static void expect_picture(unsigned rows, unsigned columns, const struct watch_scene *scene,
                           const char *expected)
{
    char *text = drawn(rows, columns, scene);

    ck_assert_str_eq(text, expected);
    free(text);
}

START_TEST(an_answer_is_read)
{
    struct watch_facts *facts = facts_of(status);

    ck_assert_int_eq(facts->pid, 99);
    ck_assert_uint_eq(facts->superstep, 1200);
    ck_assert(facts->rate == 812.25 && facts->seconds == 90.5);
    ck_assert(facts->has_snapshot && facts->snapshot_superstep == 1000);
    ck_assert(facts->snapshot_cost == 0.21 && facts->failure_rate == 0.0001);
    ck_assert_uint_eq(facts->rank_count, 3);
    ck_assert_uint_eq(facts->ranks[0].pid, 0);
    ck_assert_uint_eq(facts->ranks[1].memory, 3145728);
    ck_assert(facts->ranks[1].shares[WATCH_WAITS] == 0.5);
    ck_assert_str_eq(facts->hosts[1].state, "drained");
    watch_facts_free(facts);
    facts = facts_of("{\"pid\":1,\"rate\":null,\"snapshot\":null,\"failures\":null}");
    ck_assert(!facts->has_snapshot && facts->rate < 0 && facts->interval < 0);
    ck_assert(facts->failure_rate < 0 && facts->snapshot_cost < 0);
    ck_assert_str_eq(facts->why, "");
    watch_facts_free(facts);
    watch_facts_free(NULL);
}
END_TEST

/* Cut anywhere, and with values of other types. */
START_TEST(garbage_is_no_answer)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "null",
                                        "[]",
                                        "{}",
                                        "{\"pid\":0}",
                                        "{\"pid\":-4}",
                                        "{\"pid\":\"9\"}",
                                        "too many commands ask it at once"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!watch_facts_read(texts[i]), "%s", texts[i]);
    for (size_t length = 0; length + 2 < sizeof status - 1; length++) {
        char *text = strndup(status, length);

        ck_assert_msg(!watch_facts_read(text), "%s", text);
        free(text);
    }
    struct watch_facts *facts =
        facts_of("{\"pid\":7,\"program\":[1],\"processes\":-3,\"seconds\":{},\"rate\":\"x\","
                 "\"snapshot\":[],\"failures\":3,\"hosts\":{},\"ranks\":[1,null,{\"pid\":\"x\","
                 "\"memory\":-1,\"computing\":-5,\"host\":2},{\"pid\":99999999999999999999}]}");
    ck_assert_str_eq(facts->program, "");
    ck_assert_uint_eq(facts->processes, 0);
    ck_assert_uint_eq(facts->rank_count, 4);
    ck_assert_uint_eq(facts->ranks[3].pid, UINT32_MAX);
    ck_assert(facts->ranks[0].seconds[0] == 0 && facts->ranks[0].memory == 0);
    watch_facts_free(facts);
}
END_TEST

static struct watch_facts *times(double computing, double communicating, double waiting)
{
    char text[256];

    snprintf(text, sizeof text,
             "{\"pid\":9,\"ranks\":[{\"pid\":3,\"computing\":%f,\"communicating\":%f,"
             "\"waiting\":%f}]}",
             computing, communicating, waiting);
    return facts_of(text);
}

static void expect_shares(const struct watch_facts *facts, double computing, double communicating,
                          double waiting)
{
    const double *shares = facts->ranks[0].shares;

    ck_assert_msg(shares[0] == computing && shares[1] == communicating && shares[2] == waiting,
                  "%g %g %g", shares[0], shares[1], shares[2]);
}

START_TEST(shares_are_of_what_has_passed)
{
    struct watch_facts *before = times(10, 0, 10), *other = facts_of(status);
    struct watch_facts *after = times(11, 1, 12), *less = times(3, 1, 0);

    expect_shares(before, 0.5, 0, 0.5);
    watch_facts_compare(after, before);
    expect_shares(after, 0.25, 0.25, 0.5);
    watch_facts_compare(less, after); /* after a rollback */
    expect_shares(less, 0.75, 0.25, 0);
    watch_facts_compare(after, after); /* nothing has passed */
    expect_shares(after, 11. / 24, 1. / 24, 0.5);
    watch_facts_compare(after, other); /* which has no such process */
    expect_shares(after, 11. / 24, 1. / 24, 0.5);
    struct watch_facts *none = times(0, 0, 0);
    expect_shares(none, 0, 0, 0);
    watch_facts_free(before);
    watch_facts_free(other);
    watch_facts_free(after);
    watch_facts_free(less);
    watch_facts_free(none);
}
END_TEST

START_TEST(pictures_of_several_sizes)
{
    struct watch_facts *facts = facts_of(status);
    struct watch_view view = {.message = "drain: done"};
    struct watch_scene scene = {.facts = facts, .view = &view};

    expect_picture(
        14, 80, &scene,
        "job 99: ./heat 40\n"
        "superstep 1200, 812.2 per second; 4 processes on 2 hosts for 90.5 s, 1 restart,\n"
        "snapshot of superstep 1000, 3 s ago, costs 210 ms; the next in 30 s; 7 taken\n"
        "a failure every 2.78 h, a snapshot every 33 s: because\n"
        "hosts a up, b drained\n"
        " *pid host       process    memory state          superstep #comp +comm .wait\n"
        "    0 a             4100   2.0 KiB computing           1200 ####################\n"
        "    1 a             4101   3.0 MiB waiting             1200 #####+++++..........\n"
        "    2 b                -         - starting            1199\n"
        "\n\n\n"
        "sort p m c w  s snapshot  d drain a host  e end  q quit\n"
        "drain: done\n");
    scene.unicode = true;
    scene.job_number = 2;
    scene.job_count = 3;
    view.order = WATCH_BY_WAITING;
    expect_picture(
        9, 100, &scene,
        "job 99 (2 of 3): ./heat 40\n"
        "superstep 1200, 812.2 per second; 4 processes on 2 hosts for 90.5 s, 1 restart, 3 alone\n"
        "snapshot of superstep 1000, 3 s ago, costs 210 ms; the next in 30 s; 7 taken\n"
        "a failure every 2.78 h, a snapshot every 33 s: because\n"
        "  pid host       process    memory state          superstep "
        "█ computes ▒ communicates ·* waits\n"
        "    1 a             4101   3.0 MiB waiting             1200 "
        "██████████▒▒▒▒▒▒▒▒▒▒····················\n"
        "    0 a             4100   2.0 KiB computing           1200 "
        "████████████████████████████████████████\n"
        "    2 b                -         - starting            1199\n"
        "drain: done\n");
    scene.unicode = false;
    view.message[0] = '\0';
    view.order = WATCH_BY_PID;
    expect_picture(10, 40, &scene,
                   "job 99 (2 of 3): ./heat 40\n"
                   "superstep 1200, 812.2 per second; 4 proc\n"
                   "snapshot of superstep 1000, 3 s ago, cos\n"
                   "a failure every 2.78 h, a snapshot every\n"
                   "hosts a up, b drained\n"
                   " *pid state          superstep #c +c .w\n"
                   "    0 computing           1200 #########\n"
                   "    1 waiting             1200 ##+++....\n"
                   "    2 starting            1199\n"
                   "keys: p m c w s d e q\n");
    expect_picture(3, 6, &scene, "job 99\nsupers\nkeys:\n");
    expect_picture(1, 1, &scene, "k\n");
    scene.facts = NULL;
    expect_picture(4, 20, &scene, "asking the job\n\n\nkeys: p m c w s d e\n");
    watch_facts_free(facts);
}
END_TEST

START_TEST(before_and_without)
{
    struct watch_facts *facts = facts_of("{\"pid\":9,\"program\":\"./x\",\"processes\":0}");
    struct watch_view view = {.message = ""};
    struct watch_scene scene = {.facts = facts, .view = &view};
    char text[200];

    expect_picture(5, 30, &scene,
                   "job 9: ./x\nnot yet in bsp_begin\n *pid state         #c +c .w\n\n"
                   "keys: p m c w s d e q\n");
    watch_picture_last_line(facts, 9, text, sizeof text);
    ck_assert_str_eq(text, "job 9 has ended");
    watch_picture_last_line(NULL, 9, text, sizeof text);
    ck_assert_str_eq(text, "job 9 has ended");
    watch_facts_free(facts);
    /* The first snapshot is still to come; nothing has failed. */
    facts =
        facts_of("{\"pid\":9,\"program\":\"./x\",\"processes\":1,\"seconds\":2,\"snapshot\":null,"
                 "\"failures\":{\"known\":false,\"snapshot\":{\"seconds\":null},"
                 "\"interval\":10,\"why\":\"--every\"}}");
    scene.facts = facts;
    expect_picture(9, 60, &scene,
                   "job 9: ./x\nsuperstep 0; 1 process on 0 hosts for 2 s\n"
                   "no snapshot yet; the next at a barrier\n"
                   "nothing is known of failures, a snapshot every 10 s: --every\n"
                   " *pid host          memory state          superstep #c +c .w\n\n\n\n"
                   "keys: p m c w s d e q\n");
    watch_picture_last_line(facts, 9, text, sizeof text);
    ck_assert_str_eq(text, "job 9 has ended; it was last seen in superstep 0, after 2 s");
    watch_facts_free(facts);
}
END_TEST

/* Wide characters, combining ones, and what is no text; in a terminal that shows ASCII only, too.
 */
START_TEST(names_of_all_kinds)
{
    struct watch_facts *facts = facts_of("{\"pid\":9,\"program\":\"\xe6\xbc\xa2\xc3\xa4\\u0301"
                                         "\\u0007z\"}");
    struct watch_view view = {.message = "\xc3\xa4\xff"};
    struct watch_scene scene = {.facts = facts, .view = &view, .unicode = true};

    expect_picture(2, 11, &scene, "job 9: \xe6\xbc\xa2\xc3\xa4?\n\xc3\xa4?\n");
    expect_picture(2, 8, &scene, "job 9:\n\xc3\xa4?\n"); /* a wide one does not fit by half */
    scene.unicode = false;
    expect_picture(2, 20, &scene, "job 9: ????z\n??\n");
    watch_facts_free(facts);
}
END_TEST

static struct watch_facts *facts_of_many(void)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    fprintf(file, "{\"pid\":5,\"program\":\"p\",\"processes\":%d,\"ranks\":[", MANY);
    for (int pid = 0; pid < MANY; pid++)
        fprintf(file,
                "%s{\"pid\":%d,\"memory\":%d,\"computing\":%d,\"communicating\":0,\"waiting\":%d,"
                "\"host\":\"h%d\",\"state\":\"computing\"}",
                pid > 0 ? "," : "", pid, 1000 + pid * 7 % MANY, pid * 3 % MANY, MANY, pid / 100);
    fprintf(file, "]}");
    fclose(file);
    struct watch_facts *facts = facts_of(text);
    free(text);
    return facts;
}

/* The pid in the first row of the table. */
static int first_pid(const struct watch_facts *facts, const struct watch_view *view)
{
    struct watch_scene scene = {.facts = facts, .view = view};
    char *text = drawn(24, 80, &scene), *row = text;

    while (*row && !strstr(row, "superstep #") && *row)
        row = strchr(row, '\n') + 1;
    for (int i = 0; i < 3; i++)
        row = strchr(row, '\n') + 1;
    int pid = atoi(row);
    free(text);
    return pid;
}

START_TEST(many_processes_scroll)
{
    struct watch_facts *facts = facts_of_many();
    struct watch_view view = {.message = ""};
    struct watch_scene scene = {.facts = facts, .view = &view};
    size_t page = watch_picture_page(24, facts);

    ck_assert_uint_eq(page, 19);
    ck_assert_int_eq(first_pid(facts, &view), 0);
    watch_view_key(&view, facts, WATCH_KEY_UP, page);
    ck_assert_int_eq(first_pid(facts, &view), 0);
    watch_view_key(&view, facts, WATCH_KEY_DOWN, page);
    watch_view_key(&view, facts, WATCH_KEY_PAGE_DOWN, page);
    ck_assert_int_eq(first_pid(facts, &view), 20);
    char *text = drawn(24, 80, &scene);
    ck_assert_msg(strstr(text, "\n21-39 of 1000  sort p") != NULL, "%s", text);
    free(text);
    watch_view_key(&view, facts, WATCH_KEY_END, page);
    ck_assert_int_eq(first_pid(facts, &view), MANY - 19);
    watch_view_key(&view, facts, WATCH_KEY_PAGE_DOWN, page);
    ck_assert_int_eq(first_pid(facts, &view), MANY - 19);
    watch_view_key(&view, facts, WATCH_KEY_PAGE_UP, page);
    ck_assert_int_eq(first_pid(facts, &view), MANY - 38);
    watch_view_fit(&view, 30, page); /* a smaller job */
    ck_assert_uint_eq(view.top, 11);
    watch_view_fit(&view, 30, 100); /* a larger screen */
    ck_assert_uint_eq(view.top, 0);
    watch_view_key(&view, facts, 'm', page);
    ck_assert_int_eq(first_pid(facts, &view), 857); /* 857 * 7 = 5999 */
    watch_view_key(&view, facts, 'c', page);
    ck_assert_int_eq(first_pid(facts, &view), 333);
    watch_view_key(&view, facts, 'w', page);
    ck_assert_int_eq(first_pid(facts, &view), 0);
    watch_view_key(&view, facts, WATCH_KEY_END, page);
    watch_view_key(&view, facts, 'p', page);
    ck_assert_int_eq(first_pid(facts, &view), 0);
    watch_facts_free(facts);
}
END_TEST

static void type(struct watch_view *view, const struct watch_facts *facts, const char *keys)
{
    for (; *keys; keys++)
        ck_assert_int_eq(watch_view_key(view, facts, *keys, 10), WATCH_NOTHING);
}

static void expect_last_line(const struct watch_view *view, const struct watch_facts *facts,
                             const char *expected)
{
    struct watch_scene scene = {.facts = facts, .view = view};
    char *text = drawn(20, 60, &scene), *line = strrchr(text, '\n');

    *line = '\0';
    ck_assert_str_eq(strrchr(text, '\n') + 1, expected);
    free(text);
}

START_TEST(what_is_requested_is_confirmed)
{
    struct watch_facts *facts = facts_of(status);
    struct watch_view view = {.message = ""};

    ck_assert_int_eq(watch_view_key(&view, facts, 's', 10), WATCH_SNAPSHOT);
    type(&view, facts, "dxyz\b\177\177\177\177");
    expect_last_line(&view, facts, "drain which host (Escape: none)?");
    type(&view, facts, "b");
    expect_last_line(&view, facts, "drain which host (Escape: none)? b");
    type(&view, facts, "\r");
    expect_last_line(&view, facts, "drain host b of job 99 (y/n)?");
    ck_assert_int_eq(watch_view_key(&view, facts, 'y', 10), WATCH_DRAIN);
    ck_assert_str_eq(view.typed, "b");
    type(&view, facts, "db\nn");
    expect_last_line(&view, facts, "not drained");
    type(&view, facts, "dnone\n");
    expect_last_line(&view, facts, "none is no host of the job");
    type(&view, facts, "d\n");
    ck_assert_int_eq(view.state, WATCH_SHOWS);
    type(&view, facts, "da\033");
    ck_assert_int_eq(view.state, WATCH_SHOWS);
    type(&view, facts, "e");
    expect_last_line(&view, facts, "end job 99 (y/n)?");
    ck_assert_int_eq(watch_view_key(&view, facts, WATCH_KEY_OTHER, 10), WATCH_NOTHING);
    expect_last_line(&view, facts, "not ended");
    type(&view, facts, "e");
    ck_assert_int_eq(watch_view_key(&view, facts, 'Y', 10), WATCH_END);
    ck_assert_int_eq(watch_view_key(&view, facts, 'q', 10), WATCH_QUIT);
    ck_assert_int_eq(watch_view_key(&view, facts, 'n', 10), WATCH_NEXT_JOB);
    /* The end of the job takes back a question. */
    type(&view, facts, "da");
    watch_view_end(&view);
    watch_view_end(&view);
    watch_view_say(&view, "job 99 has ended\nand more");
    expect_last_line(&view, facts, "job 99 has ended");
    ck_assert_int_eq(watch_view_key(&view, facts, 'q', 10), WATCH_QUIT);
    ck_assert_int_eq(watch_view_key(&view, facts, 'd', 10), WATCH_NEXT_JOB);
    /* Without facts, and with names longer than any. */
    view = (struct watch_view){.message = ""};
    type(&view, NULL, "d");
    for (int i = 0; i < 1000; i++)
        type(&view, NULL, "x");
    ck_assert_uint_eq(strlen(view.typed), WATCH_TYPED_MOST - 1);
    type(&view, NULL, "\n");
    ck_assert_int_eq(view.state, WATCH_SHOWS);
    watch_view_key(&view, NULL, WATCH_KEY_END, 0);
    ck_assert_uint_eq(view.top, 0);
    watch_facts_free(facts);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_answer_is_read,
                                  garbage_is_no_answer,
                                  shares_are_of_what_has_passed,
                                  pictures_of_several_sizes,
                                  before_and_without,
                                  names_of_all_kinds,
                                  many_processes_scroll,
                                  what_is_requested_is_confirmed};

    setlocale(LC_CTYPE, "C.UTF-8");
    return suite_run_tests("watch", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
