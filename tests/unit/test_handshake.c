/* test_handshake.c - the mutual proof: who passes, and that nobody else does. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/handshake.h"
#include "tests/unit/suite.h"

static const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";
static const unsigned char other_key[NET_KEY_SIZE] = "the key of this job, 32 bytes.!";
static struct handshake_setup caller_setup, listener_setup;
static struct handshake caller, listener;

/* What went over the connection, by direction. */
struct record {
    unsigned char bytes[512];
    size_t size;
};
static struct record to_listener, to_caller;

static void set_up(void)
{
    caller_setup = (struct handshake_setup){
        .key = key,
        .job = "a job",
        .version = 7,
        .own = {NET_AGENT, 3, 2, NET_DATA, 1},
        .wanted = {.role = NET_AGENT, .host = 5, .incarnation = 9},
    };
    listener_setup = (struct handshake_setup){
        .key = key,
        .job = "a job",
        .version = 7,
        .own = {.role = NET_AGENT, .host = 5, .incarnation = 9},
        .accepts = NET_ACCEPTS(NET_AGENT, NET_DATA) | NET_ACCEPTS(NET_AGENT, NET_CONTROL),
    };
}

static const unsigned char *fresh(void)
{
    static unsigned char random[HANDSHAKE_RANDOM];
    random[0]++;
    return random;
}

static void begin(void)
{
    to_listener.size = to_caller.size = 0;
    handshake_call(&caller, &caller_setup, fresh());
    handshake_listen(&listener, &listener_setup, fresh());
}

/* Carries what `from` has to say to `to`, as much as that wants, at most `step` bytes at a time. */
static size_t carry(struct handshake *from, struct handshake *to, struct record *record,
                    size_t step)
{
    const unsigned char *bytes;
    size_t size = handshake_output(from, &bytes);
    if (size > step)
        size = step;
    if (size > handshake_wanted(to))
        size = handshake_wanted(to);
    if (size == 0)
        return 0;
    memcpy(record->bytes + record->size, bytes, size);
    record->size += size;
    handshake_take(to, bytes, size);
    handshake_sent(from, size);
    return size;
}

static void play(size_t step)
{
    begin();
    while (carry(&caller, &listener, &to_listener, step) +
               carry(&listener, &caller, &to_caller, step) >
           0)
        ;
}

static void say(struct handshake *to, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    while (size > 0 && handshake_wanted(to) > 0) {
        size_t part = handshake_wanted(to) < size ? handshake_wanted(to) : size;
        handshake_take(to, at, part);
        at += part;
        size -= part;
    }
}

static void expect_silence(const struct handshake *handshake)
{
    const unsigned char *bytes;
    ck_assert_uint_eq(handshake_output(handshake, &bytes), 0);
}

static void expect_failure(const struct handshake *handshake, const char *text, bool key_seen)
{
    ck_assert_int_eq(handshake_state(handshake), HANDSHAKE_FAILED);
    ck_assert_msg(strstr(handshake_text(handshake), text) != NULL, "\"%s\" is not in \"%s\"", text,
                  handshake_text(handshake));
    ck_assert_int_eq(handshake_key_seen(handshake), key_seen);
    ck_assert_uint_eq(handshake_wanted(handshake), 0);
}

static void expect_met(void)
{
    ck_assert_int_eq(handshake_state(&caller), HANDSHAKE_PROVED);
    ck_assert_int_eq(handshake_state(&listener), HANDSHAKE_PROVED);
}

/* ---- Those who pass ----------------------------------------------------------------------- */

START_TEST(both_know_each_other)
{
    static const size_t steps[] = {1, 3, 50, 1000};
    play(steps[_i]);
    expect_met();
    const struct net_identity *peer = handshake_peer(&listener);
    ck_assert_uint_eq(peer->role, NET_AGENT);
    ck_assert_uint_eq(peer->host, 3);
    ck_assert_uint_eq(peer->incarnation, 2);
    ck_assert_uint_eq(peer->purpose, NET_DATA);
    ck_assert_uint_eq(peer->stripe, 1);
    peer = handshake_peer(&caller);
    ck_assert_uint_eq(peer->role, NET_AGENT);
    ck_assert_uint_eq(peer->host, 5);
    ck_assert_uint_eq(peer->incarnation, 9);
    ck_assert_uint_eq(peer->purpose, NET_DATA);
    ck_assert_uint_eq(peer->stripe, 1);
    ck_assert_uint_eq(to_listener.size, HANDSHAKE_HELLO + HANDSHAKE_CONFIRM);
    ck_assert_uint_eq(to_caller.size, HANDSHAKE_REPLY);
}
END_TEST

START_TEST(session_keys_agree_and_differ)
{
    static const unsigned char zero[NET_KEY_SIZE];
    play(1000);
    expect_met();
    struct net_session first = *handshake_session(&caller);
    const struct net_session *session = handshake_session(&listener);
    ck_assert_mem_eq(first.send, session->receive, NET_KEY_SIZE);
    ck_assert_mem_eq(first.receive, session->send, NET_KEY_SIZE);
    ck_assert_mem_ne(first.send, first.receive, NET_KEY_SIZE);
    ck_assert_mem_ne(first.send, zero, NET_KEY_SIZE);
    ck_assert_mem_ne(first.send, key, NET_KEY_SIZE);
    play(1000);
    expect_met();
    ck_assert_mem_ne(first.send, handshake_session(&caller)->send, NET_KEY_SIZE);
    ck_assert_mem_ne(first.receive, handshake_session(&caller)->receive, NET_KEY_SIZE);
    handshake_wipe(&caller);
    ck_assert_mem_eq(caller.session.send, zero, NET_KEY_SIZE);
    ck_assert_mem_eq(caller.session.receive, zero, NET_KEY_SIZE);
}
END_TEST

START_TEST(either_side_s_random_bytes_change_the_keys)
{
    unsigned char random[2][HANDSHAKE_RANDOM] = {"one", "two"};
    struct net_session sessions[3];
    for (int i = 0; i < 3; i++) {
        handshake_call(&caller, &caller_setup, random[i == 1]);
        handshake_listen(&listener, &listener_setup, random[i == 2]);
        to_listener.size = to_caller.size = 0;
        while (carry(&caller, &listener, &to_listener, 1000) +
                   carry(&listener, &caller, &to_caller, 1000) >
               0)
            ;
        expect_met();
        sessions[i] = *handshake_session(&caller);
    }
    ck_assert_mem_ne(sessions[0].send, sessions[1].send, NET_KEY_SIZE);
    ck_assert_mem_ne(sessions[0].send, sessions[2].send, NET_KEY_SIZE);
}
END_TEST

START_TEST(wanted_may_be_anybody_there)
{
    caller_setup.wanted.host = caller_setup.wanted.incarnation = NET_ANY;
    play(1000);
    expect_met();
    ck_assert_uint_eq(handshake_peer(&caller)->host, 5);
    ck_assert_uint_eq(handshake_peer(&caller)->incarnation, 9);
}
END_TEST

/* ---- Strangers ---------------------------------------------------------------------------- */

START_TEST(wrong_key_gets_no_word)
{
    caller_setup.key = other_key;
    play(1000);
    expect_failure(&listener, "does not know the key", false);
    expect_silence(&listener);
    ck_assert_uint_eq(to_caller.size, 0);
    handshake_fail(&caller, "it closed the connection");
    expect_failure(&caller, "without an answer", false);
}
END_TEST

/* Two jobs whose keys are the same by mistake: the job's number keeps them apart. */
START_TEST(another_job_gets_no_word)
{
    memcpy(caller_setup.job, "b job", 5);
    play(1000);
    expect_failure(&listener, "does not know the key", false);
    expect_silence(&listener);
}
END_TEST

START_TEST(garbage_is_seen_by_its_first_byte)
{
    begin();
    handshake_take(&listener, "G", 1);
    expect_failure(&listener, "does not belong to this job", false);
    expect_silence(&listener);
}
END_TEST

START_TEST(garbage_behind_the_magic_gets_no_word)
{
    unsigned char garbage[HANDSHAKE_HELLO] = "bspzero\xb5";
    begin();
    handshake_take(&listener, garbage, sizeof(garbage));
    expect_failure(&listener, "does not know the key", false);
    expect_silence(&listener);
}
END_TEST

START_TEST(caller_is_not_fooled_by_garbage)
{
    unsigned char garbage[HANDSHAKE_REPLY] = {7};
    begin();
    handshake_take(&caller, garbage, sizeof(garbage));
    expect_failure(&caller, "does not know the key", false);
}
END_TEST

/* Any flipped bit of any message ends the handshake, with nobody's wrong idea of the other. */
START_TEST(every_bit_counts)
{
    for (size_t bit = 0; bit < 8 * (HANDSHAKE_HELLO + HANDSHAKE_CONFIRM); bit++) {
        begin();
        const unsigned char *bytes;
        size_t size = handshake_output(&caller, &bytes);
        unsigned char hello[HANDSHAKE_HELLO], confirm[HANDSHAKE_CONFIRM];
        memcpy(hello, bytes, size);
        handshake_sent(&caller, size);
        if (bit < 8 * sizeof(hello))
            hello[bit / 8] ^= 1u << bit % 8;
        say(&listener, hello, sizeof(hello));
        if (bit < 8 * sizeof(hello)) {
            ck_assert_int_eq(handshake_state(&listener), HANDSHAKE_FAILED);
            expect_silence(&listener);
            continue;
        }
        ck_assert_uint_eq(carry(&listener, &caller, &to_caller, 1000), HANDSHAKE_REPLY);
        size = handshake_output(&caller, &bytes);
        ck_assert_uint_eq(size, sizeof(confirm));
        memcpy(confirm, bytes, size);
        confirm[(bit - 8 * sizeof(hello)) / 8] ^= 1u << bit % 8;
        say(&listener, confirm, sizeof(confirm));
        expect_failure(&listener, "does not know the key", false);
    }
    for (size_t bit = 0; bit < 8 * HANDSHAKE_REPLY; bit++) {
        begin();
        carry(&caller, &listener, &to_listener, 1000);
        const unsigned char *bytes;
        unsigned char reply[HANDSHAKE_REPLY];
        ck_assert_uint_eq(handshake_output(&listener, &bytes), sizeof(reply));
        memcpy(reply, bytes, sizeof(reply));
        reply[bit / 8] ^= 1u << bit % 8;
        say(&caller, reply, sizeof(reply));
        expect_failure(&caller, "does not know the key", false);
        expect_silence(&caller);
    }
}
END_TEST

/* ---- What was recorded, and what comes back ------------------------------------------------ */

START_TEST(replay_to_the_listener_ends_at_confirm)
{
    play(1000);
    expect_met();
    struct record said = to_listener;
    handshake_listen(&listener, &listener_setup, fresh());
    say(&listener, said.bytes, HANDSHAKE_HELLO);
    ck_assert_int_eq(handshake_state(&listener), HANDSHAKE_GOING);
    say(&listener, said.bytes + HANDSHAKE_HELLO, HANDSHAKE_CONFIRM);
    expect_failure(&listener, "does not know the key", false);
}
END_TEST

/* Somebody who repeats a HELLO and goes away is no news for the user. */
START_TEST(replay_and_leave_counts_as_a_stranger)
{
    play(1000);
    struct record said = to_listener;
    handshake_listen(&listener, &listener_setup, fresh());
    say(&listener, said.bytes, HANDSHAKE_HELLO);
    handshake_fail(&listener, "it closed the connection");
    expect_failure(&listener, "it closed the connection during the handshake", false);
}
END_TEST

START_TEST(replay_to_the_caller_proves_nothing)
{
    play(1000);
    expect_met();
    struct record said = to_caller;
    handshake_call(&caller, &caller_setup, fresh());
    say(&caller, said.bytes, said.size);
    expect_failure(&caller, "does not know the key", false);
}
END_TEST

/* What the caller says comes back to it: both sides' messages differ even where sizes do not. */
START_TEST(reflection_proves_nothing)
{
    const unsigned char *bytes;
    begin();
    size_t size = handshake_output(&caller, &bytes);
    say(&caller, bytes, size);
    expect_failure(&caller, "does not know the key", false);

    begin();
    carry(&caller, &listener, &to_listener, 1000);
    size = handshake_output(&listener, &bytes);
    say(&listener, bytes, size);
    expect_failure(&listener, "does not know the key", false);
}
END_TEST

/* Somebody between the two who carries a listener's REPLY of one handshake into another. */
START_TEST(handshakes_cannot_be_mixed)
{
    struct handshake second;
    begin();
    handshake_call(&second, &caller_setup, fresh());
    carry(&caller, &listener, &to_listener, 1000);
    const unsigned char *bytes;
    size_t size = handshake_output(&listener, &bytes);
    say(&second, bytes, size);
    expect_failure(&second, "does not know the key", false);
}
END_TEST

/* ---- The wrong ones of the job ------------------------------------------------------------- */

START_TEST(another_version_is_told_to_both)
{
    caller_setup.version = 8;
    play(1000);
    expect_failure(&listener, "it speaks version 8 of the protocol, this bspzero version 7", true);
    expect_failure(&caller, "it speaks version 7 of the protocol, this bspzero version 8", true);
}
END_TEST

START_TEST(another_host_is_told_to_both)
{
    listener_setup.own.host = 6;
    play(1000);
    expect_failure(&caller, "it is the agent of host 6 and not the agent of host 5", true);
    expect_failure(&listener, "the agent of host 3 wants the agent of host 5, and came here", true);
}
END_TEST

START_TEST(another_role_is_told_to_both)
{
    caller_setup.wanted.role = NET_BSPRUN;
    play(1000);
    expect_failure(&caller, "it is the agent of host 5 and not bsprun", true);
    expect_failure(&listener, "came here", true);
}
END_TEST

START_TEST(another_incarnation_is_told_to_both)
{
    listener_setup.own.incarnation = 10;
    play(1000);
    expect_failure(&caller, "another incarnation of the agent of host 5: 10 instead of 9", true);
    expect_failure(&listener,
                   "the agent of host 3 wants incarnation 9 of the agent of host 5, this is 10",
                   true);
}
END_TEST

START_TEST(what_is_not_offered_is_refused)
{
    static const struct net_identity callers[] = {
        {NET_BSPRUN, 0, 0, NET_CONTROL, 0},      {NET_BSPRUN, 0, 0, NET_DATA, 0},
        {NET_AGENT, 3, 2, NET_PURPOSE_COUNT, 0}, {NET_ROLE_COUNT, 3, 2, NET_DATA, 0},
        {UINT32_MAX, 3, 2, NET_DATA, 0},         {NET_AGENT, 3, 2, UINT32_MAX, 0},
    };
    caller_setup.own = callers[_i];
    play(1000);
    expect_failure(&caller, "does not take such a connection", true);
    expect_failure(&listener, "wants what is not offered here", true);
}
END_TEST

/* A holder of the key that takes every caller: the caller still looks at who it is. */
START_TEST(the_caller_judges_for_itself)
{
    begin();
    carry(&caller, &listener, &to_listener, 1000);
    ck_assert_int_eq(handshake_state(&listener), HANDSHAKE_GOING);
    caller.setup.wanted.host = 6;
    carry(&listener, &caller, &to_caller, 1000);
    expect_failure(&caller, "it is the agent of host 5 and not the agent of host 6", true);
    expect_silence(&caller);
}
END_TEST

START_TEST(time_is_told)
{
    begin();
    handshake_fail(&listener, "5 s passed");
    expect_failure(&listener, "5 s passed during the handshake", false);
    handshake_fail(&listener, "something else");
    expect_failure(&listener, "5 s passed during the handshake", false);
    play(1000);
    handshake_fail(&caller, "5 s passed");
    ck_assert_int_eq(handshake_state(&caller), HANDSHAKE_PROVED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handshake");
    TCase *tests = tcase_create("handshake");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_loop_test(tests, both_know_each_other, 0, 4);
    tcase_add_test(tests, session_keys_agree_and_differ);
    tcase_add_test(tests, either_side_s_random_bytes_change_the_keys);
    tcase_add_test(tests, wanted_may_be_anybody_there);
    tcase_add_test(tests, wrong_key_gets_no_word);
    tcase_add_test(tests, another_job_gets_no_word);
    tcase_add_test(tests, garbage_is_seen_by_its_first_byte);
    tcase_add_test(tests, garbage_behind_the_magic_gets_no_word);
    tcase_add_test(tests, caller_is_not_fooled_by_garbage);
    tcase_add_test(tests, every_bit_counts);
    tcase_add_test(tests, replay_to_the_listener_ends_at_confirm);
    tcase_add_test(tests, replay_and_leave_counts_as_a_stranger);
    tcase_add_test(tests, replay_to_the_caller_proves_nothing);
    tcase_add_test(tests, reflection_proves_nothing);
    tcase_add_test(tests, handshakes_cannot_be_mixed);
    tcase_add_test(tests, another_version_is_told_to_both);
    tcase_add_test(tests, another_host_is_told_to_both);
    tcase_add_test(tests, another_role_is_told_to_both);
    tcase_add_test(tests, another_incarnation_is_told_to_both);
    tcase_add_loop_test(tests, what_is_not_offered_is_refused, 0, 6);
    tcase_add_test(tests, the_caller_judges_for_itself);
    tcase_add_test(tests, time_is_told);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
