/* test_fetch.c - files that come from other agents, and are sent to them: in pieces, of whoever has
 * them; hosts that lie, repeat themselves, stop in the middle, or ask for too much. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/roster.h"
#include "ckpt/inside.h"
#include "tests/ckpt/store_sample.h"
#include "tests/unit/fetch_play.h"
#include "tests/unit/loop_play.h"
#include "tests/unit/suite.h"

static void set_up(void)
{
    loop_set_up(); /* so that descriptors are counted */
    fetch_set_up();
}

static void tear_down(void)
{
    fetch_tear_down();
    loop_tear_down();
}

START_TEST(an_image_comes_in_pieces)
{
    fetch_play_want(WIRE_THING_IMAGE, 1);
    ck_assert(fetch_play_asked(1, 1));
    ck_assert_uint_eq(said[0].message.envelope.superstep, fetch_name.superstep);
    ck_assert_uint_eq(said[0].message.fetch.from, fetch_name.term);
    ck_assert_uint_eq(said[0].message.fetch.pid, 1);
    ck_assert(!fetch_play_has_image(1));
    fetch_play_send(1, &fetch_image[1], (size_t)_i);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_image(1));
    ck_assert(!fetch_play_has_image(0));
}
END_TEST

/* Whoever asks meanwhile is answered. */
START_TEST(an_image_is_checked_beside)
{
    fetch_play_unsettled = true;
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_play_send(1, &fetch_image[1], 1000);
    ck_assert_uint_eq(done_count, 0);
    ck_assert(fetch_play_asked(1, 1));
    fetch_play_piece(1, 0, fetch_image[1].bytes, 1, fetch_image[1].size); /* not wanted any more */
    ck_assert_uint_eq(dropped, 0);
    fetch_play_settle();
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_image(1));
    ck_assert(fetch_play_asked(2, 1));
    ck_assert_uint_eq(said[1].message.fetch.thing, WIRE_THING_MANIFEST);
}
END_TEST

START_TEST(the_term_ends_meanwhile)
{
    fetch_play_unsettled = true;
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_send(1, &fetch_image[1], 1000);
    agent_fetch_forget(&agent);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    ck_assert_uint_eq(done_count, 0);
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_send(1, &fetch_image[0], 1000);
    fetch_play_settle();
    ck_assert_uint_eq(done_count, 1);
    ck_assert(fetch_play_has_image(0));
}
END_TEST

static sem_t has_read, is_joined;
static unsigned reads;
static ssize_t (*read_it)(void *context, int descriptor, void *bytes, size_t size, uint64_t offset);

static ssize_t read_slowly(void *context, int descriptor, void *bytes, size_t size, uint64_t offset)
{
    if (reads++ == 0) {
        sem_post(&has_read);
        sem_wait(&is_joined);
    }
    return read_it(context, descriptor, bytes, size, offset);
}

int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

int __wrap_pthread_join(pthread_t thread, void **result)
{
    sem_post(&is_joined);
    return __real_pthread_join(thread, result);
}

/* A large image is not read to its end first: the agent would be silent for so long. */
START_TEST(the_term_ends_while_an_image_is_read)
{
    sem_init(&has_read, 0, 0);
    sem_init(&is_joined, 0, 0);
    reads = 0;
    read_it = agent.store->io.read;
    agent.store->io.read = read_slowly;
    fetch_play_unsettled = true;
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_send(1, &fetch_image[1], 1000);
    sem_wait(&has_read);
    agent_fetch_forget(&agent);
    ck_assert_uint_eq(reads, 1);
    ck_assert(!fetch_play_has_image(1));
    ck_assert_uint_eq(done_count, 0);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    agent.store->io.read = read_it;
}
END_TEST

START_TEST(a_manifest_comes_in_pieces)
{
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_play_send(1, &fetch_manifest, 7);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_manifest());
}
END_TEST

START_TEST(one_host_after_the_other_is_asked)
{
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_want(WIRE_THING_IMAGE, 1); /* waits for its turn */
    ck_assert(fetch_play_asked(1, 1));
    fetch_play_refuse(1, ENOENT);
    ck_assert(fetch_play_asked(2, 2));
    fetch_play_send(2, &fetch_image[0], 1000);
    ck_assert_uint_eq(done_count, 1);
    ck_assert(fetch_play_asked(3, 1));
    fetch_play_refuse(1, ENOENT);
    fetch_play_refuse(2, EIO);
    ck_assert_uint_eq(done_count, 2);
    ck_assert_int_eq(done_error, -ENOENT);
    ck_assert_uint_eq(said_count, 4);
}
END_TEST

/* `done` comes from the loop, also where no host can be asked; not when the term ends before. */
START_TEST(nobody_to_ask)
{
    fetch_play_hosts = 1;
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_want(WIRE_THING_IMAGE, 1);
    ck_assert_uint_eq(done_count, 0);
    if (_i > 0)
        agent_fetch_forget(&agent);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
    ck_assert_uint_eq(done_count, _i > 0 ? 0 : 2);
    ck_assert_int_eq(done_error, _i > 0 ? 1 : -ENOENT); /* 1: not told */
}
END_TEST

static void want_of(struct bspz_snapshot_name name)
{
    const struct fetch_want want = {.thing = WIRE_THING_MANIFEST, .name = name, .from = 2};

    ck_assert_int_eq(agent_fetch(&agent, &want), 0);
}

/* The snapshot is abandoned: what it was asked for is not waited for, the next one takes its place.
 */
START_TEST(what_is_not_wanted_any_more)
{
    struct bspz_snapshot_name next = fetch_name, none = {fetch_name.superstep, fetch_name.term + 1};

    next.superstep++;
    agent_fetch_cancel(&agent, fetch_name); /* there is nothing yet */
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    if (_i > 0)
        want_of(next);
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_piece(1, 0, fetch_image[0].bytes, 100, fetch_image[0].size);
    agent_fetch_cancel(&agent, none);
    ck_assert(agent.fetches->first && agent.fetches->now.received == 100);
    agent_fetch_cancel(&agent, fetch_name);
    ck_assert(!agent.fetches->first == (_i == 0));
    fetch_play_piece(1, 100, fetch_image[0].bytes + 100, 100, fetch_image[0].size);
    ck_assert_uint_eq(dropped, 0);
    uv_run(&agent.loop, UV_RUN_NOWAIT);
    ck_assert_uint_eq(said_count, _i > 0 ? 2 : 1);
    ck_assert(_i == 0 || fetch_play_asked(2, 2));
    ck_assert(_i == 0 || said[1].message.envelope.superstep == next.superstep);
    agent_fetch_cancel(&agent, next);
    ck_assert_ptr_null(agent.fetches->first);
    ck_assert_uint_eq(done_count, 0);

    fetch_play_want(WIRE_THING_IMAGE, 1); /* as before */
    fetch_play_send(1, &fetch_image[1], 1000);
    ck_assert_uint_eq(done_count, 1);
    ck_assert(fetch_play_has_image(1));
}
END_TEST

/* It is there, and being checked: that is not interrupted. */
START_TEST(not_wanted_when_it_has_come)
{
    fetch_play_unsettled = true;
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_send(1, &fetch_image[1], 1000);
    agent_fetch_cancel(&agent, fetch_name);
    fetch_play_settle();
    ck_assert_uint_eq(done_count, 1);
    ck_assert_ptr_null(agent.fetches->first);
    ck_assert_uint_eq(said_count, 1);
}
END_TEST

/* What comes once more, too late, or from somebody else, is of nothing that is wanted. */
START_TEST(answers_of_others)
{
    fetch_play_want(WIRE_THING_IMAGE, 1);
    fetch_play_piece(2, 0, fetch_image[0].bytes, 10, fetch_image[1].size);
    fetch_play_send(1, &fetch_image[1], 5000);
    ck_assert_uint_eq(dropped, 0);
    ck_assert_uint_eq(done_count, 1);
    ck_assert(fetch_play_has_image(1));
}
END_TEST

START_TEST(answers_to_other_questions)
{
    fetch_play_want(WIRE_THING_IMAGE, 0);
    fetch_play_piece(2, 0, fetch_image[1].bytes, 10, fetch_image[1].size);
    fetch_play_refuse(1, ENOENT);
    struct wire_message late = {.kind = WIRE_PIECE};
    late.piece.request = 1;
    late.piece.size = fetch_image[1].size;
    late.piece.data = (struct wire_bytes){fetch_image[1].bytes, 10};
    fetch_play_take(1, &late);
    fetch_play_take(2, &late);
    fetch_play_send(2, &fetch_image[0], 5000);
    fetch_play_take(1, &late);
    fetch_play_piece(2, 0, fetch_image[1].bytes, 10, 10);
    ck_assert_uint_eq(dropped, 0);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_image(0));
}
END_TEST

/* The second piece of a manifest is wrong. */
static void lie(int which)
{
    const unsigned char *bytes = fetch_manifest.bytes;
    uint64_t size = fetch_manifest.size;

    switch (which) {
    case 0:
        fetch_play_piece(1, 0, bytes, 20, size); /* the first again */
        break;
    case 1:
        fetch_play_piece(1, 21, bytes + 21, 20, size);
        break;
    case 2:
        fetch_play_piece(1, 19, bytes + 19, 20, size);
        break;
    case 3:
        fetch_play_piece(1, UINT64_MAX, bytes, 20, size);
        break;
    case 4:
        fetch_play_piece(1, 20, bytes, size - 19, size); /* one byte too many */
        break;
    case 5:
        fetch_play_piece(1, 20, bytes, 0, size);
        break;
    case 6:
        fetch_play_piece(1, 20, bytes + 20, 20, size + 1);
        break;
    case 7:
        fetch_play_piece(1, 20, bytes + 20, size - 20, UINT64_MAX);
        break;
    case 8:
        fetch_play_piece(1, 20, bytes + 20, 10, size - 1);
        break;
    case 9:
        fetch_play_piece(1, 20, bytes + 20, 20, 40); /* it would be complete */
        break;
    case 10:
        fetch_play_piece(1, 20, bytes + 20, 20, 19);
        break;
    default:
        fetch_play_piece(1, 20, bytes, 0, 20);
        break;
    }
}
#define LIES 12

START_TEST(lies_about_lengths)
{
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_play_piece(1, 0, fetch_manifest.bytes, 20, fetch_manifest.size);
    lie(_i);
    ck_assert_uint_eq(dropped, 1);
    ck_assert_uint_eq(dropped_host, 1);
    ck_assert_uint_eq(done_count, 0);
    ck_assert(!fetch_play_has_manifest());
}
END_TEST

/* No host has that much to say, and none is given memory for it. */
START_TEST(a_manifest_that_is_too_large)
{
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_play_piece(1, 0, fetch_manifest.bytes, 20, (uint64_t)WIRE_FRAME_MAX + 1);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(done_error, -EPROTO);
}
END_TEST

START_TEST(an_empty_manifest)
{
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_play_piece(1, 0, NULL, 0, 0);
    ck_assert(!fetch_play_has_manifest());
    ck_assert_uint_eq(noticed, 1);
}
END_TEST

/* Whatever it is, it is not what it should be: it is not kept under that name. */
START_TEST(a_manifest_that_is_none)
{
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    fetch_manifest.bytes[fetch_manifest.size / 2] ^= 1;
    fetch_play_send(1, &fetch_manifest, 1000);
    ck_assert(fetch_play_asked(2, 2));
    fetch_play_refuse(2, ENOENT);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_ne(done_error, 0);
    ck_assert(!fetch_play_has_manifest());
}
END_TEST

/* The term ends; the fixture looks for descriptors that stay open. */
START_TEST(one_that_stops_in_the_middle)
{
    fetch_play_want(_i == 0 ? WIRE_THING_IMAGE : WIRE_THING_MANIFEST, 0);
    fetch_play_piece(1, 0, fetch_image[0].bytes, 100, fetch_image[0].size);
    agent_fetch_lost(&agent, 1);
    agent_fetch_forget(&agent);
    ck_assert_uint_eq(done_count, 0);
    ck_assert(!fetch_play_has_image(0));
    fetch_play_want(WIRE_THING_IMAGE, 0); /* in the next term */
    fetch_play_send(1, &fetch_image[0], 100000);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_image(0));
}
END_TEST

/* The term goes on without that host: the next one is asked, and nobody asks the lost one again. */
START_TEST(the_next_after_a_lost_one)
{
    fetch_play_want(WIRE_THING_IMAGE, 0);
    ck_assert(fetch_play_asked(1, 1));
    fetch_play_piece(1, 0, fetch_image[0].bytes, 100, fetch_image[0].size);
    fetch_play_lost = 1;
    agent_fetch_lost(&agent, 1);
    ck_assert(fetch_play_asked(2, 2));
    fetch_play_send(2, &fetch_image[0], 100000);
    ck_assert_uint_eq(done_count, 1);
    ck_assert_int_eq(done_error, 0);
    ck_assert(fetch_play_has_image(0));
    fetch_play_want(WIRE_THING_MANIFEST, 0);
    ck_assert(fetch_play_asked(3, 2));
}
END_TEST

/* ---- What others want ---- */

static void ask(uint32_t host, enum wire_thing thing, uint32_t pid, uint32_t request)
{
    struct wire_message message = {.kind = WIRE_FETCH};

    message.envelope.superstep = fetch_name.superstep;
    message.fetch.request = request;
    message.fetch.thing = thing;
    message.fetch.from = fetch_name.term;
    message.fetch.pid = pid;
    message.fetch.path = "";
    fetch_play_take(host, &message);
}

static void get_image(uint32_t pid)
{
    fetch_play_want(WIRE_THING_IMAGE, pid);
    fetch_play_send(1, &fetch_image[pid], 100000);
}

START_TEST(what_is_here_is_sent)
{
    size_t size = fetch_image[1].size, at = 0;

    get_image(1);
    said_count = 0;
    ask(2, WIRE_THING_IMAGE, 1, 77);
    ck_assert_uint_gt(said_count, 0);
    for (unsigned i = 0; i < said_count; i++) {
        const struct wire_piece *piece = &said[i].message.piece;

        ck_assert_uint_eq(said[i].message.kind, WIRE_PIECE);
        ck_assert_uint_eq(said[i].host, 2);
        ck_assert_uint_eq(piece->request, 77);
        ck_assert_uint_eq(piece->error, 0);
        ck_assert_uint_eq(piece->offset, at);
        ck_assert_uint_eq(piece->size, size);
        ck_assert_mem_eq(piece->data.data, fetch_image[1].bytes + at, piece->data.size);
        at += piece->data.size;
    }
    ck_assert_uint_eq(at, size);
}
END_TEST

START_TEST(what_is_not_here_is_said)
{
    static const struct {
        enum wire_thing thing;
        uint32_t pid;
        const char *path, *name;
    } wishes[] = {
        {WIRE_THING_IMAGE, 0, "", ""},
        {WIRE_THING_IMAGE, WIRE_RANKS_MAX - 1, "", ""},
        {WIRE_THING_MANIFEST, 0, "", ""},
        {WIRE_THING_BINARY, 0, "", ""},
        {WIRE_THING_BINARY, 0, "/proc/self/exe", "0000"}, /* not what it is called */
        {WIRE_THING_BINARY, 0, "/etc/passwd", ""},
        {WIRE_THING_BINARY, 0, "/etc/passwd", "../../../../etc/passwd"},
        {WIRE_THING_BINARY, 0, "/dev/zero", "x"},
        {WIRE_THING_BINARY, 0, "/", "."},
        {WIRE_THING_BINARY, 0, "", ".."},
    };
    struct wire_message message = {.kind = WIRE_FETCH};

    message.envelope.superstep = fetch_name.superstep;
    message.fetch.from = fetch_name.term;
    message.fetch.request = 5;
    message.fetch.thing = wishes[_i].thing;
    message.fetch.pid = wishes[_i].pid;
    message.fetch.path = wishes[_i].path;
    message.fetch.build_id =
        (struct wire_bytes){wishes[_i].name, (uint32_t)strlen(wishes[_i].name)};
    fetch_play_take(1, &message);
    ck_assert_uint_eq(said_count, 1);
    ck_assert_uint_eq(said[0].message.kind, WIRE_PIECE);
    ck_assert_uint_eq(said[0].message.piece.request, 5);
    ck_assert_uint_ne(said[0].message.piece.error, 0);
    ck_assert_uint_eq(said[0].message.piece.data.size, 0);
}
END_TEST

/* What may yet be written is waited for: not for any number of questions. */
START_TEST(too_many_questions)
{
    agent.coming = fetch_name;
    for (uint32_t i = 0; i < 10000 && dropped == 0; i++)
        ask(2, WIRE_THING_IMAGE, 1, i);
    ck_assert_uint_eq(dropped, 1);
    ck_assert_uint_eq(dropped_host, 2);
    ck_assert_uint_eq(said_count, 0);
    agent.coming = (struct bspz_snapshot_name){0};
}
END_TEST

/* How much host 2 has got, piece by piece, in answer to request 77. */
static size_t passed_on(const struct fetch_bytes *file)
{
    size_t at = 0;

    for (unsigned i = 0; i < said_count; i++) {
        const struct wire_piece *piece = &said[i].message.piece;

        if (said[i].message.kind != WIRE_PIECE)
            continue;
        ck_assert_uint_eq(said[i].host, 2);
        ck_assert_uint_eq(piece->request, 77);
        ck_assert_uint_eq(piece->error, 0);
        ck_assert_uint_eq(piece->size, file->size);
        ck_assert_uint_eq(piece->offset, at);
        ck_assert_mem_eq(piece->data.data, file->bytes + at, piece->data.size);
        at += piece->data.size;
    }
    return at;
}

START_TEST(an_image_is_passed_on_as_it_comes)
{
    const struct fetch_bytes *file = &fetch_image[1];
    size_t half = file->size / 2;

    fetch_play_want(WIRE_THING_IMAGE, 1);
    if (_i == 0)
        ask(2, WIRE_THING_IMAGE, 1, 77);
    fetch_play_piece(1, 0, file->bytes, half, file->size);
    if (_i == 1)
        ask(2, WIRE_THING_IMAGE, 1, 77);
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(passed_on(file), half);
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(passed_on(file), half);
    fetch_play_piece(1, half, file->bytes + half, file->size - half, file->size);
    ck_assert(fetch_play_has_image(1));
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(passed_on(file), file->size);
}
END_TEST

/* Who got the first half is told, and asks elsewhere. */
START_TEST(an_image_that_does_not_come_on)
{
    const struct fetch_bytes *file = &fetch_image[1];
    const struct said *last;

    fetch_play_want(WIRE_THING_IMAGE, 1);
    ask(2, WIRE_THING_IMAGE, 1, 77);
    fetch_play_piece(1, 0, file->bytes, 100, file->size);
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(passed_on(file), 100);
    fetch_play_refuse(1, EIO);
    agent_fetch_pump(&agent);
    last = fetch_last_said(WIRE_PIECE);
    ck_assert_uint_eq(last->host, 2);
    ck_assert_uint_eq(last->message.piece.error, EIO);
    fetch_play_send(2, file, 1000); /* it had it after all */
    ck_assert(fetch_play_has_image(1));
}
END_TEST

/* All that processes are made of comes down the tree: also before it has been asked for here. */
START_TEST(what_will_be_asked_for)
{
    agent.job = JOB_FORMING;
    agent_set_home(&agent, 1, 1);
    agent_count_here(&agent);
    ask(2, WIRE_THING_IMAGE, 1, 77);
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(said_count, 0);
    get_image(1);
    agent_fetch_pump(&agent);
    ck_assert_uint_eq(passed_on(&fetch_image[1]), fetch_image[1].size);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fetch");
    TCase *tests = tcase_create("fetch");

    store_sample_scratch();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, an_image_comes_in_pieces, 50, 53);
    tcase_add_test(tests, an_image_is_checked_beside);
    tcase_add_test(tests, the_term_ends_meanwhile);
    tcase_add_test(tests, the_term_ends_while_an_image_is_read);
    tcase_add_test(tests, a_manifest_comes_in_pieces);
    tcase_add_test(tests, one_host_after_the_other_is_asked);
    tcase_add_loop_test(tests, nobody_to_ask, 0, 2);
    tcase_add_loop_test(tests, what_is_not_wanted_any_more, 0, 2);
    tcase_add_test(tests, not_wanted_when_it_has_come);
    tcase_add_test(tests, answers_of_others);
    tcase_add_test(tests, answers_to_other_questions);
    tcase_add_loop_test(tests, lies_about_lengths, 0, LIES);
    tcase_add_test(tests, a_manifest_that_is_too_large);
    tcase_add_test(tests, an_empty_manifest);
    tcase_add_test(tests, a_manifest_that_is_none);
    tcase_add_loop_test(tests, one_that_stops_in_the_middle, 0, 2);
    tcase_add_test(tests, the_next_after_a_lost_one);
    tcase_add_test(tests, what_is_here_is_sent);
    tcase_add_loop_test(tests, what_is_not_here_is_said, 0, 10);
    tcase_add_test(tests, too_many_questions);
    tcase_add_loop_test(tests, an_image_is_passed_on_as_it_comes, 0, 2);
    tcase_add_test(tests, an_image_that_does_not_come_on);
    tcase_add_test(tests, what_will_be_asked_for);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
