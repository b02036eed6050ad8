/* test_frames.c - streams of frames, sealed ones above all: what an outsider may do to them. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/net/cipher.h"
#include "lib/net/frames.h"
#include "tests/unit/suite.h"

#define FRAMES    5u
#define FRAME_MAX 1000u

static const unsigned char key[32] = "a key of the session, 32 bytes.";
static const unsigned char other_key[32] = "b key of the session, 32 bytes.";

static struct net_frames_out out;
static struct net_frames_in in;
static int sink; /* what is written, from its beginning */

/* The sealed stream of FRAMES messages: where each begins, and the whole. */
static unsigned char stream[4096];
static size_t starts[FRAMES + 2]; /* the last two: the mark of the end, and what is behind it */

static void set_up(void)
{
    out = (struct net_frames_out){0};
    in = (struct net_frames_in){.frame_max = FRAME_MAX};
    sink = memfd_create("sink", MFD_CLOEXEC);
    ck_assert_int_ge(sink, 0);
}

static void tear_down(void)
{
    net_frames_out_free(&out);
    net_frames_in_free(&in);
    close(sink);
}

/* Writes all there is and reads it back; returns how much. */
static size_t write_out(unsigned char *bytes, size_t room)
{
    ck_assert_int_eq(net_frames_out_write(&out, sink), 0);
    ck_assert_uint_eq(out.written, out.accepted);
    ck_assert_uint_le(out.written, room);
    ck_assert_int_eq(pread(sink, bytes, room, 0), (ssize_t)out.written);
    return out.written;
}

static void add(unsigned number)
{
    struct wire_message message = {.kind = WIRE_NOTICE, .envelope = {.superstep = number}};
    message.notice.text = "a secret sentence";
    ck_assert_int_eq(net_frames_out_add(&out, &message, SIZE_MAX), 0);
}

static void make_stream(void)
{
    ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
    for (unsigned i = 0; i < FRAMES; i++) {
        starts[i] = out.accepted;
        add(i);
    }
    starts[FRAMES] = out.accepted;
    net_frames_out_last(&out);
    starts[FRAMES + 1] = out.accepted;
    write_out(stream, sizeof(stream));
    net_frames_in_seal(&in, key);
}

static void feed(const unsigned char *bytes, size_t size)
{
    size_t room;
    while (size > 0) {
        unsigned char *to = net_frames_in_room(&in, &room);
        size_t part = size < room ? size : room;
        memcpy(to, bytes, part);
        net_frames_in_filled(&in, part);
        bytes += part;
        size -= part;
    }
}

static void feed_frame(unsigned number)
{
    feed(stream + starts[number], starts[number + 1] - starts[number]);
}

/* Reads frames while there are any: how many messages came, in order; *result: what ended it. */
static unsigned read_all(int *result)
{
    const unsigned char *body;
    uint32_t size;
    char text[WIRE_ERROR_SIZE] = "";
    unsigned count = 0;
    while ((*result = net_frames_in_next(&in, &body, &size, text, sizeof(text))) > 0) {
        struct wire_message message;
        ck_assert_int_eq(wire_decode(body, size, &message, NULL, 0), 0);
        ck_assert_uint_eq(message.envelope.superstep, count++);
        ck_assert_str_eq(message.notice.text, "a secret sentence");
        wire_message_free(&message);
    }
    ck_assert(*result == 0 || text[0] != '\0');
    return count;
}

static void expect(unsigned messages, int end)
{
    int result;
    ck_assert_uint_eq(read_all(&result), messages);
    ck_assert_int_eq(result, end);
}

/* ---- Sealed streams ----------------------------------------------------------------------- */

START_TEST(sealed_stream_is_read)
{
    make_stream();
    if (_i == 0) {
        feed(stream, starts[FRAMES + 1]);
        ck_assert(net_frames_in_ready(&in));
        expect(FRAMES, 0);
    } else {
        unsigned count = 0;
        const unsigned char *body;
        uint32_t size;
        char text[WIRE_ERROR_SIZE];
        for (size_t at = 0; at < starts[FRAMES + 1]; at++) {
            feed(stream + at, 1);
            if (net_frames_in_next(&in, &body, &size, text, sizeof(text)) == 1)
                ck_assert_uint_eq(at + 1, starts[++count]);
            net_frames_in_relax(&in);
        }
        ck_assert_uint_eq(count, FRAMES);
    }
    ck_assert_ptr_null(net_frames_in_end(&in));
    ck_assert(!net_frames_in_ready(&in));
}
END_TEST

START_TEST(nothing_can_be_read_by_others)
{
    make_stream();
    ck_assert_ptr_null(memmem(stream, starts[FRAMES + 1], "secret", 6));
    ck_assert_ptr_null(memmem(stream, starts[FRAMES + 1], key, sizeof(key)));
    /* Equal messages do not look alike. */
    ck_assert_mem_ne(stream + starts[0] + 4, stream + starts[1] + 4, 16);
}
END_TEST

START_TEST(every_flipped_bit_is_noticed)
{
    make_stream();
    /* Header, first frame and second frame. */
    for (size_t bit = 0; bit < 8 * starts[2]; bit++) {
        net_frames_in_free(&in);
        in = (struct net_frames_in){.frame_max = FRAME_MAX};
        net_frames_in_seal(&in, key);
        stream[bit / 8] ^= 1u << bit % 8;
        feed(stream, starts[FRAMES + 1]);
        stream[bit / 8] ^= 1u << bit % 8;
        int result;
        ck_assert_uint_eq(read_all(&result), bit < 8 * starts[1] ? 0 : 1);
        /* A length that was made longer may wait for what never comes. */
        ck_assert(result == -EPROTO || (result == 0 && net_frames_in_end(&in) != NULL));
        size_t in_frame = bit / 8 - (bit / 8 < starts[0]   ? bit / 8
                                     : bit / 8 < starts[1] ? starts[0]
                                                           : starts[1]);
        if (bit / 8 < starts[0] || in_frame >= WIRE_HEADER)
            ck_assert_int_eq(result, -EPROTO);
    }
}
END_TEST

START_TEST(frames_keep_their_order)
{
    make_stream();
    feed(stream, starts[1]);
    feed_frame(2);
    feed_frame(1);
    expect(1, -EPROTO);
}
END_TEST

START_TEST(a_dropped_frame_is_noticed)
{
    make_stream();
    feed(stream, starts[1]);
    feed_frame(2);
    expect(1, -EPROTO);
}
END_TEST

START_TEST(a_dropped_first_frame_is_noticed)
{
    make_stream();
    feed(stream, starts[0]);
    feed_frame(1);
    expect(0, -EPROTO);
}
END_TEST

START_TEST(a_repeated_frame_is_noticed)
{
    make_stream();
    feed(stream, starts[2]);
    feed_frame(1);
    expect(2, -EPROTO);
}
END_TEST

START_TEST(a_cut_is_noticed)
{
    make_stream();
    feed(stream, starts[_i]);
    expect((unsigned)_i, 0);
    ck_assert_ptr_nonnull(net_frames_in_end(&in));
}
END_TEST

START_TEST(nothing_comes_behind_the_last)
{
    make_stream();
    feed(stream, starts[FRAMES + 1]);
    feed_frame(_i == 0 ? FRAMES : 0);
    expect(FRAMES, -EPROTO);
}
END_TEST

START_TEST(another_key_reads_nothing)
{
    make_stream();
    net_frames_in_seal(&in, other_key);
    feed(stream, starts[FRAMES + 1]);
    expect(0, -EPROTO);
}
END_TEST

START_TEST(streams_of_one_key_do_not_mix)
{
    make_stream();
    unsigned char second[CIPHER_HEADER];
    net_frames_out_free(&out);
    out = (struct net_frames_out){0};
    ck_assert_int_eq(ftruncate(sink, 0), 0);
    ck_assert_int_eq(lseek(sink, 0, SEEK_SET), 0);
    ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
    ck_assert_uint_eq(write_out(second, sizeof(second)), CIPHER_HEADER);
    ck_assert_mem_ne(second, stream, CIPHER_HEADER);
    feed(second, CIPHER_HEADER);
    feed_frame(0);
    expect(0, -EPROTO);
}
END_TEST

static void feed_length(uint32_t length)
{
    unsigned char header[WIRE_HEADER];
    for (unsigned i = 0; i < WIRE_HEADER; i++)
        header[i] = (unsigned char)(length >> (8 * i));
    feed(header, sizeof(header));
}

/* A length is refused before its bytes are waited for, and costs no memory. */
START_TEST(a_lie_about_lengths_costs_nothing)
{
    make_stream();
    feed(stream, starts[1]);
    static const uint32_t lengths[] = {FRAME_MAX + CIPHER_EXTRA + 1, 1u << 30, UINT32_MAX, 0,
                                       CIPHER_EXTRA - 1};
    feed_length(lengths[_i]);
    if (_i == 4)
        feed(stream, CIPHER_EXTRA - 1);
    expect(1, -EPROTO);
    ck_assert_uint_le(in.bytes.room, 65536);
    ck_assert_uint_le(in.unsealed.room, FRAME_MAX + CIPHER_EXTRA);
}
END_TEST

START_TEST(the_longest_body_passes)
{
    char text[FRAME_MAX] = "";
    struct wire_message message = {.kind = WIRE_NOTICE};
    message.notice.text = text;
    struct bspz_buffer frame = {0};
    /* A text whose message is just as long as is allowed. */
    for (size_t length = FRAME_MAX - 60; frame.size != FRAME_MAX + WIRE_HEADER + (size_t)_i % 2;
         length++) {
        memset(text, 't', length);
        frame.size = 0;
        ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
        ck_assert_uint_le(frame.size, FRAME_MAX + WIRE_HEADER + 1);
    }
    bspz_buffer_free(&frame);
    if (_i < 2) {
        ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
        net_frames_in_seal(&in, key);
    }
    ck_assert_int_eq(net_frames_out_add(&out, &message, SIZE_MAX), 0);
    feed(stream, write_out(stream, sizeof(stream)));
    const unsigned char *body;
    uint32_t size;
    char why[WIRE_ERROR_SIZE];
    int result = net_frames_in_next(&in, &body, &size, why, sizeof(why));
    ck_assert_int_eq(result, _i % 2 == 0 ? NET_FRAME_MESSAGE : -EPROTO);
}
END_TEST

/* What does not fit leaves no gap in the stream. */
START_TEST(a_refused_message_was_never_there)
{
    struct wire_message message = {.kind = WIRE_NOTICE, .envelope = {.superstep = 9}};
    if (_i == 0) {
        ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
        net_frames_in_seal(&in, key);
    }
    add(0);
    size_t before = out.accepted;
    add(1);
    size_t frame = out.accepted - before, all = out.accepted;
    message.notice.text = "a secret sentence";
    ck_assert_int_eq(net_frames_out_add(&out, &message, all + frame - 1), -ENOBUFS);
    ck_assert_uint_eq(out.accepted, all);
    message.envelope.superstep = 2;
    ck_assert_int_eq(net_frames_out_add(&out, &message, all + frame), 0);
    feed(stream, write_out(stream, sizeof(stream)));
    expect(3, 0);
}
END_TEST

/* ---- Blocks among messages ----------------------------------------------------------------- */

#define BLOCK_MAX (3u << 20)

static unsigned char block[BLOCK_MAX], copy[BLOCK_MAX], came[BLOCK_MAX];

/* Adds a block of `size` bytes, of which `head_bytes` are its head and the rest lies in pieces of
 * `piece` bytes, no two of them side by side. */
static void add_block(size_t size, size_t head_bytes, size_t piece)
{
    unsigned char *head = malloc(head_bytes);
    struct iovec *data = malloc((size / piece + 1) * sizeof(*data));
    uint64_t count = 0;

    for (size_t i = 0; i < size; i++)
        block[i] = copy[i] = (unsigned char)(i * 7 + i / 251);
    memcpy(head, block, head_bytes);
    for (size_t at = head_bytes; at < size; at += piece) {
        unsigned char *from = count % 2 == 0 ? block : copy;
        data[count++] = (struct iovec){from + at, at + piece <= size ? piece : size - at};
    }
    ck_assert_int_eq(net_frames_out_block(&out, head, head_bytes, data, count), 0);
}

/* Reads the stream: *messages so many, and returns how many bytes of blocks came; parts of a plain
 * one go to their places as they do from a connection. */
static size_t read_blocks(size_t stream_bytes, unsigned *messages, size_t *ahead)
{
    size_t at = 0, got = 0;
    const unsigned char *body;
    uint32_t size;
    int what;

    ck_assert_int_eq(lseek(sink, 0, SEEK_SET), 0);
    while (at < stream_bytes) {
        size_t room, direct = net_frames_in_direct(&in);
        unsigned char *to = direct > 0 ? came + got : net_frames_in_room(&in, &room);
        size_t most = direct > 0 ? direct : room < 5000 ? room : 5000;
        ssize_t part = read(sink, to, most);

        ck_assert_int_gt(part, 0);
        at += (size_t)part;
        if (direct > 0) {
            net_frames_in_passed(&in, (uint32_t)part);
            got += (size_t)part;
            continue;
        }
        net_frames_in_filled(&in, (size_t)part);
        while ((what = net_frames_in_next(&in, &body, &size, NULL, 0)) > 0) {
            if (what == NET_FRAME_MESSAGE) {
                struct wire_message message;
                ck_assert_int_eq(wire_decode(body, size, &message, NULL, 0), 0);
                ck_assert_uint_eq(message.envelope.superstep, (*messages)++);
                wire_message_free(&message);
                *ahead = *messages == 1 ? got : *ahead;
                continue;
            }
            memcpy(came + got, body, size);
            got += size;
        }
        ck_assert_int_eq(what, 0);
    }
    ck_assert_ptr_null(net_frames_in_end(&in));
    return got;
}

/* Blocks arrive, and messages among them, whatever the pieces are; a message does not wait for all
 * of a block. */
START_TEST(blocks_arrive)
{
    static const struct {
        size_t size, head, piece;
    } kinds[] = {{8, 8, 1},
                 {100, 8, 92},
                 {5000, 64, 10},
                 {BLOCK_MAX, 100, 1000000},
                 {BLOCK_MAX, 2 << 20, BLOCK_MAX},
                 {20000, 4, 33}};
    unsigned messages = 0;
    size_t ahead = 0, size = kinds[_i % 6].size;

    in.blocks = true;
    if (_i >= 6) {
        ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
        net_frames_in_seal(&in, key);
    }
    add_block(size, kinds[_i % 6].head, kinds[_i % 6].piece);
    add(0);
    add(1);
    net_frames_out_last(&out);
    ck_assert_uint_gt(net_frames_out_waiting(&out), 0);
    ck_assert_int_eq(net_frames_out_write(&out, sink), 0);
    ck_assert_uint_eq(net_frames_out_waiting(&out), 0);
    ck_assert_uint_eq(out.written, out.accepted);
    ck_assert_uint_eq(read_blocks(out.written, &messages, &ahead), size);
    ck_assert_uint_eq(messages, 2);
    ck_assert_uint_le(ahead, NET_BLOCK_MAX);
    ck_assert_mem_eq(came, block, size);
}
END_TEST

/* Who takes no blocks, or frames of nothing, or too long ones, refuses them at once. */
START_TEST(blocks_are_refused)
{
    static const uint32_t numbers[] = {NET_FRAME_BLOCK | 8, NET_FRAME_BLOCK,
                                       NET_FRAME_BLOCK | (NET_BLOCK_MAX + 1)};
    in.blocks = _i > 0;
    feed_length(numbers[_i]);
    feed((const unsigned char *)"12345678", 8);
    expect(0, -EPROTO);
}
END_TEST

/* A sealed message is not taken for a part of a block, nor the other way round. */
START_TEST(what_is_a_block_cannot_be_changed)
{
    unsigned char bytes[200];
    size_t size;
    in.blocks = true;
    ck_assert_int_eq(net_frames_out_seal(&out, key), 0);
    net_frames_in_seal(&in, key);
    if (_i == 0)
        add(0);
    else
        add_block(60, 60, 1);
    size = write_out(bytes, sizeof(bytes));
    bytes[CIPHER_HEADER + 3] ^= 0x80;
    feed(bytes, size);
    expect(0, -EPROTO);
}
END_TEST

/* ---- Chunks ------------------------------------------------------------------------------- */

START_TEST(chunks_come_back)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, CIPHER_CHUNK_MAX};
    struct cipher sealer, unsealer;
    unsigned char header[CIPHER_HEADER];
    unsigned char *chunk = malloc(CIPHER_CHUNK_MAX), *back = malloc(CIPHER_CHUNK_MAX);
    unsigned char *sealed = malloc(CIPHER_CHUNK_MAX + CIPHER_EXTRA);
    for (size_t i = 0; i < CIPHER_CHUNK_MAX; i++)
        chunk[i] = (unsigned char)(i * 7);
    cipher_seal_begin(&sealer, key, header);
    cipher_unseal_begin(&unsealer, key, header);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        bool last = i % 2 == 0;
        cipher_seal(&sealer, chunk, sizes[i], "label", 5, i % 2 == 1, sealed);
        ck_assert_int_eq(
            cipher_unseal(&unsealer, sealed, sizes[i] + CIPHER_EXTRA, "label", 5, back, &last), 0);
        ck_assert_int_eq(last, i % 2 == 1);
        ck_assert_mem_eq(chunk, back, sizes[i]);
    }
    free(chunk);
    free(back);
    free(sealed);
}
END_TEST

START_TEST(a_changed_label_is_noticed)
{
    struct cipher sealer, unsealer;
    unsigned char header[CIPHER_HEADER], sealed[5 + CIPHER_EXTRA], back[5];
    bool last;
    cipher_seal_begin(&sealer, key, header);
    cipher_unseal_begin(&unsealer, key, header);
    cipher_seal(&sealer, "chunk", 5, "label", 5, false, sealed);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 22, "lebal", 5, back, &last), -EBADMSG);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 22, "labe", 4, back, &last), -EBADMSG);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 22, NULL, 0, back, &last), -EBADMSG);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 16, "label", 5, back, &last), -EBADMSG);
    cipher_unseal_begin(&unsealer, key, header);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 22, "label", 5, back, &last), 0);
    ck_assert_mem_eq(back, "chunk", 5);
    cipher_wipe(&unsealer);
    ck_assert_int_eq(cipher_unseal(&unsealer, sealed, 22, "label", 5, back, &last), -EBADMSG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames");
    TCase *tests = tcase_create("frames");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, sealed_stream_is_read, 0, 2);
    tcase_add_test(tests, nothing_can_be_read_by_others);
    tcase_add_test(tests, every_flipped_bit_is_noticed);
    tcase_add_test(tests, frames_keep_their_order);
    tcase_add_test(tests, a_dropped_frame_is_noticed);
    tcase_add_test(tests, a_dropped_first_frame_is_noticed);
    tcase_add_test(tests, a_repeated_frame_is_noticed);
    tcase_add_loop_test(tests, a_cut_is_noticed, 0, FRAMES + 1);
    tcase_add_loop_test(tests, nothing_comes_behind_the_last, 0, 2);
    tcase_add_test(tests, another_key_reads_nothing);
    tcase_add_test(tests, streams_of_one_key_do_not_mix);
    tcase_add_loop_test(tests, a_lie_about_lengths_costs_nothing, 0, 5);
    tcase_add_loop_test(tests, the_longest_body_passes, 0, 4);
    tcase_add_loop_test(tests, a_refused_message_was_never_there, 0, 2);
    tcase_add_loop_test(tests, blocks_arrive, 0, 12);
    tcase_add_loop_test(tests, blocks_are_refused, 0, 3);
    tcase_add_loop_test(tests, what_is_a_block_cannot_be_changed, 0, 2);
    tcase_add_test(tests, chunks_come_back);
    tcase_add_test(tests, a_changed_label_is_noticed);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
