/* test_base.c - what every part may use: buffers, texts, /proc/PID/stat. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/error_text.h"
#include "lib/base/formatted.h"
#include "lib/base/hex.h"
#include "lib/base/io.h"
#include "lib/base/json.h"
#include "lib/base/process_stat.h"
#include "lib/base/units.h"
#include "lib/base/utf8.h"
#include "tests/unit/suite.h"

/* ---- Clocks -------------------------------------------------------------------------------- */

START_TEST(clocks_count_nanoseconds)
{
    struct timespec before, after;

    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now = bspz_now_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    ck_assert_uint_ge(now, (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec);
    ck_assert_uint_le(now, (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec);
    ck_assert_uint_le(bspz_wall_ns() / BSPZ_NS_PER_S - (uint64_t)time(NULL) + 1, 2);
    ck_assert_uint_eq(bspz_clock_ns((clockid_t)-12345678), 0);
    ck_assert_int_eq(bspz_ms_until(bspz_now_ns()), 0);
    ck_assert_int_eq(bspz_ms_until(0), 0);
    ck_assert_int_eq(bspz_ms_until(UINT64_MAX), INT32_MAX);
    ck_assert_int_ge(bspz_ms_until(bspz_now_ns() + 100 * BSPZ_NS_PER_S), 99000);
    ck_assert_int_le(bspz_ms_until(bspz_now_ns() + 100 * BSPZ_NS_PER_S), 100000);
}
END_TEST

/* ---- Buffers ------------------------------------------------------------------------------- */

START_TEST(a_buffer_holds_what_was_added)
{
    struct bspz_buffer buffer = {0};

    ck_assert(bspz_buffer_add(&buffer, NULL, 0));
    ck_assert_ptr_null(buffer.data);
    for (unsigned i = 0; i < 100000; i++)
        ck_assert(bspz_buffer_add(&buffer, &i, sizeof i));
    ck_assert_uint_eq(buffer.size, 100000 * sizeof(unsigned));
    ck_assert_uint_le(buffer.room, 2 * buffer.size);
    for (unsigned i = 0; i < 100000; i++)
        ck_assert_mem_eq(buffer.data + i * sizeof i, &i, sizeof i);
    bspz_buffer_clear(&buffer, buffer.room);
    ck_assert_uint_eq(buffer.size, 0);
    ck_assert_ptr_nonnull(buffer.data);
    bspz_buffer_clear(&buffer, buffer.room - 1);
    ck_assert_ptr_null(buffer.data);
    bspz_buffer_free(&buffer);
    bspz_buffer_free(NULL);
}
END_TEST

START_TEST(a_buffer_that_cannot_grow_is_as_it_was)
{
    struct bspz_buffer buffer = {0};

    ck_assert(bspz_buffer_add(&buffer, "kept", 4));
    ck_assert(!bspz_buffer_reserve(&buffer, SIZE_MAX));
    ck_assert(!bspz_buffer_reserve(&buffer, SIZE_MAX / 2));
    ck_assert_uint_eq(buffer.size, 4);
    ck_assert_mem_eq(buffer.data, "kept", 4);
    bspz_buffer_free(&buffer);
}
END_TEST

START_TEST(a_list_grows_by_doubling)
{
    size_t room = 0, grown = 0;
    uint64_t *list = NULL;

    for (size_t i = 0; i < 10000; i++) {
        size_t before = room;
        uint64_t *more = bspz_grow(list, &room, i + 1, sizeof *list);
        ck_assert_ptr_nonnull(more);
        ck_assert_uint_ge(room, i + 1);
        grown += room != before;
        list = more;
        list[i] = i;
    }
    ck_assert_uint_le(grown, 12);
    for (size_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(list[i], i);
    size_t before = room;
    ck_assert_ptr_eq(bspz_grow(list, &room, room, sizeof *list), list);
    ck_assert_uint_eq(room, before);
    ck_assert_ptr_null(bspz_grow(list, &room, SIZE_MAX / 4, sizeof *list));
    ck_assert_uint_eq(room, before);
    free(list);
}
END_TEST

START_TEST(a_list_knows_its_capacity_by_its_length)
{
    uint64_t *list = NULL, *before;
    unsigned grown = 0;
    uint32_t count = 0;

    while (count < 10000) {
        before = list;
        ck_assert(BSPZ_GROW(list, count));
        grown += (count & (count - 1)) == 0;
        ck_assert(count == 0 || (count & (count - 1)) == 0 || list == before);
        list[count] = count;
        count++;
    }
    ck_assert_uint_eq(grown, 15);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(list[i], i);
    count = 16; /* it became shorter */
    ck_assert(BSPZ_GROW(list, count));
    before = list;
    ck_assert_uint_eq(list[15], 15);
    ck_assert(!bspz_list_grow(&list, SIZE_MAX / 4 + 1, sizeof *list));
    ck_assert_ptr_eq(list, before);
    free(list);
}
END_TEST

START_TEST(a_list_reaches_an_item_with_zeros_before_it)
{
    uint64_t *list = NULL;
    size_t count = 0;

    ck_assert(BSPZ_REACH(list, count, 5));
    ck_assert_uint_eq(count, 5);
    list[4] = 7;
    ck_assert(BSPZ_REACH(list, count, 3));
    ck_assert_uint_eq(count, 5);
    ck_assert(BSPZ_REACH(list, count, 6));
    ck_assert_uint_eq(count, 10);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(list[i], i == 4 ? 7 : 0);
    ck_assert(!BSPZ_REACH(list, count, SIZE_MAX / 4));
    ck_assert_uint_eq(count, 10);
    free(list);
}
END_TEST

/* ---- Texts --------------------------------------------------------------------------------- */

START_TEST(whole_numbers_have_digits_only)
{
    static const char *const wrong[] = {"",   " 3",  "+3", "-3",  "3 ",
                                        "3x", "0x3", "1",  "101", "18446744073709551617"};
    uint64_t number = 7;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert(!bspz_whole(wrong[i], 2, 100, &number));
    ck_assert(!bspz_whole("18446744073709551616", 0, UINT64_MAX, &number));
    ck_assert_uint_eq(number, 7);
    ck_assert(bspz_whole("2", 2, 100, &number));
    ck_assert_uint_eq(number, 2);
    ck_assert(bspz_whole("0100", 2, 100, &number));
    ck_assert_uint_eq(number, 100);
    ck_assert(bspz_whole("18446744073709551615", 0, UINT64_MAX, &number));
    ck_assert_uint_eq(number, UINT64_MAX);
}
END_TEST

START_TEST(bytes_are_two_digits_each)
{
    char text[7];

    memset(text, 'x', sizeof text);
    bspz_hex(text, "\x00\xa9\xff", 3);
    ck_assert_str_eq(text, "00a9ff");
    bspz_hex(text, NULL, 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(an_error_is_a_text_and_a_status)
{
    char text[8] = "before";

    ck_assert_int_eq(bspz_error_text(text, sizeof text, -ENOENT, "%s %d", "file", 12345), -ENOENT);
    ck_assert_str_eq(text, "file 12");
    ck_assert_int_eq(bspz_error_text(NULL, 0, -EIO, "%s", "nobody reads it"), -EIO);
}
END_TEST

START_TEST(a_text_ends_where_its_memory_does)
{
    char bytes[8] = "";
    struct bspz_formatted text = {.at = bytes, .size = sizeof bytes};

    bspz_formatted_add(&text, "%d+", 12);
    bspz_formatted_add(&text, "%s", "3456");
    ck_assert_str_eq(bytes, "12+3456");
    ck_assert(!text.cut);
    bspz_formatted_add(&text, "7");
    ck_assert(text.cut);
    bspz_formatted_add(&text, "%s", "");
    ck_assert(text.cut);
    ck_assert_str_eq(bytes, "12+3456");
    ck_assert_uint_eq(text.used, 7);
}
END_TEST

START_TEST(only_characters_of_utf8_have_a_length)
{
    static const struct {
        const char *text;
        unsigned length;
    } cases[] = {
        {"a", 1},
        {"\x7f", 1},
        {"\xc3\xa4", 2},
        {"\xc2\x80", 2},
        {"\xdf\xbf", 2},
        {"\xef\xbf\xbf", 3},
        {"\xe0\xa4\xb9", 3},
        {"\xed\x9f\xbf", 3},
        {"\xee\x80\x80", 3},
        {"\xf0\x90\x80\x80", 4},
        {"\xf4\x8f\xbf\xbf", 4},
        /* Not begun, cut off, overlong, a surrogate, beyond the last one. */
        {"\x80", 0},
        {"\xff", 0},
        {"\xc3", 0},
        {"\xe2\x82", 0},
        {"\xc1\xbf", 0},
        {"\xe0\x9f\xbf", 0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xed\xa0\x80", 0},
        {"\xf4\x90\x80\x80", 0},
        {"\xf5\x80\x80\x80", 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(bspz_utf8_length(cases[i].text) == cases[i].length, "case %zu", i);
}
END_TEST

START_TEST(other_bytes_are_latin_1)
{
    const char *text = "a\xc3\xa4\xe4\xff\xf0\x9f\x98\x80\xc3", *begin = text;
    static const char *const wanted[] = {"a",        "\xc3\xa4",         "\xc3\xa4",
                                         "\xc3\xbf", "\xf0\x9f\x98\x80", "\xc3\x83"};
    static const int taken[] = {1, 3, 4, 5, 9, 10};

    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char character[BSPZ_UTF8_MOST];

        ck_assert_uint_eq(bspz_utf8_take(&text, character), strlen(wanted[i]));
        ck_assert_mem_eq(character, wanted[i], strlen(wanted[i]));
        ck_assert_int_eq(text - begin, taken[i]);
    }
}
END_TEST

/* ---- JSON ---------------------------------------------------------------------------------- */

static void write_sample(struct bspz_json *json)
{
    bspz_json_object(json, NULL);
    bspz_json_text(json, "text", "a\"b\\\n\x7f\xc3\xa4\xe0\xa4\xb9\xe4");
    bspz_json_text(json, "none", NULL);
    bspz_json_array(json, "list");
    bspz_json_number(json, NULL, UINT64_MAX);
    bspz_json_signed(json, NULL, -1);
    bspz_json_object(json, NULL);
    bspz_json_end(json);
    bspz_json_end(json);
    bspz_json_array(json, "empty");
    bspz_json_end(json);
    bspz_json_real(json, "third", 1.0 / 3);
    bspz_json_real(json, "never", INFINITY);
    bspz_json_flag(json, "yes", true);
    bspz_json_null(json, "null");
    bspz_json_bytes(json, "bytes", "\x00\xff", 2);
    bspz_json_format(json, "places", "%.3f", 0.5);
    bspz_json_end(json);
}

static char *sample_text(bool indented)
{
    char *text = NULL;
    size_t size;
    struct bspz_json json = {.file = open_memstream(&text, &size), .indented = indented};

    write_sample(&json);
    fclose(json.file);
    return text;
}

START_TEST(json_is_one_line)
{
    char *text = sample_text(false);

    ck_assert_str_eq(text, "{\"text\":\"a\\\"b\\\\\\u000a\\u007f\xc3\xa4\xe0\xa4\xb9\xc3\xa4\","
                           "\"none\":null,\"list\":[18446744073709551615,-1,{}],\"empty\":[],"
                           "\"third\":0.333333333,\"never\":null,\"yes\":true,\"null\":null,"
                           "\"bytes\":\"00ff\",\"places\":0.500}\n");
    free(text);
}
END_TEST

START_TEST(json_is_a_line_for_each_value)
{
    char *text = sample_text(true);

    ck_assert_str_eq(text,
                     "{\n  \"text\": \"a\\\"b\\\\\\u000a\\u007f\xc3\xa4\xe0\xa4\xb9\xc3\xa4\",\n"
                     "  \"none\": null,\n  \"list\": [\n    18446744073709551615,\n    -1,\n"
                     "    {}\n  ],\n  \"empty\": [],\n  \"third\": 0.333333333,\n"
                     "  \"never\": null,\n  \"yes\": true,\n  \"null\": null,\n"
                     "  \"bytes\": \"00ff\",\n  \"places\": 0.500\n}\n");
    free(text);
}
END_TEST

/* ---- System calls -------------------------------------------------------------------------- */

static void on_signal(int signal)
{
    (void)signal;
}

/* A signal that comes while the pipe is full ends the write in the midst of it. */
START_TEST(all_of_it_is_written)
{
    static unsigned char bytes[1 << 20], got[1 << 20];
    struct sigaction interrupting = {.sa_handler = on_signal};
    size_t there = 0;
    int ends[2], waiting;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 >> 3);
    sigaction(SIGUSR1, &interrupting, NULL);
    ck_assert_int_eq(pipe(ends), 0);
    int room = fcntl(ends[0], F_GETPIPE_SZ);
    pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        _exit(bspz_write_all(ends[1], bytes, sizeof bytes) == 0 ? 0 : 1);
    }
    close(ends[1]);
    for (ssize_t size = 1; size > 0; there += (size_t)size) {
        if (ioctl(ends[0], FIONREAD, &waiting) == 0 && waiting > room / 2)
            kill(writer, SIGUSR1);
        size = read(ends[0], got + there, sizeof got - there < 4099 ? sizeof got - there : 4099);
    }
    close(ends[0]);
    int status;
    ck_assert_int_eq(waitpid(writer, &status, 0), writer);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(there, sizeof bytes);
    ck_assert_mem_eq(bytes, got, sizeof got);
}
END_TEST

START_TEST(what_cannot_be_written_is_an_error)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

    ck_assert_int_eq(bspz_write_all(null, "x", 1), 0);
    ck_assert_int_eq(bspz_write_all(full, "xxxxxxxxxx", 10), -ENOSPC);
    ck_assert_int_eq(bspz_write_all(-1, "x", 1), -EBADF);
    ck_assert_int_eq(bspz_write_all(-1, NULL, 0), 0);
    close(null);
    close(full);
}
END_TEST

START_TEST(a_short_file_of_the_kernel_is_a_text)
{
    char text[64], little[4];

    ck_assert(bspz_read_text("/proc/sys/kernel/ostype", text, sizeof text));
    ck_assert_str_eq(text, "Linux\n");
    ck_assert(bspz_read_text("/proc/sys/kernel/ostype", little, sizeof little));
    ck_assert_str_eq(little, "Lin");
    ck_assert(!bspz_read_text("/dev/null", text, sizeof text)); /* nothing in it */
    ck_assert_str_eq(text, "");
    text[0] = 'x';
    ck_assert(!bspz_read_text("/proc/none", text, sizeof text));
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(fields_stand_behind_the_last_parenthesis)
{
    static const char line[] =
        "12 (a) R (b) S 34 5 6 7 -1 4194560 8 9 10 11 12 13 14 15 20 0 3 0 99";

    ck_assert_int_eq(*bspz_stat_field(line, BSPZ_STAT_STATE), 'S');
    ck_assert_uint_eq(bspz_stat_number(line, BSPZ_STAT_PARENT), 34);
    ck_assert_uint_eq(bspz_stat_number(line, BSPZ_STAT_FLAGS), 4194560);
    ck_assert_uint_eq(bspz_stat_number(line, BSPZ_STAT_THREADS), 3);
    ck_assert_uint_eq(bspz_stat_number(line, 22), 99);
    ck_assert_ptr_null(bspz_stat_field(line, 23));
    ck_assert_uint_eq(bspz_stat_number(line, 23), 0);
    ck_assert_ptr_null(bspz_stat_field("no line", BSPZ_STAT_STATE));
    ck_assert(!bspz_stat_is_dead(line));
    ck_assert(bspz_stat_is_dead("1 (x) Z 0"));
    ck_assert(bspz_stat_is_dead("1 (x) X 0"));
    ck_assert(!bspz_stat_is_dead(""));
}
END_TEST

START_TEST(the_line_of_a_process_is_read)
{
    char line[BSPZ_STAT_LINE];
    siginfo_t ended;

    ck_assert(bspz_stat_read(getpid(), line));
    ck_assert_uint_eq(bspz_stat_number(line, BSPZ_STAT_PARENT), (uint64_t)getppid());
    ck_assert_uint_eq(bspz_stat_number(line, BSPZ_STAT_THREADS), 1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    ck_assert(bspz_stat_read(child, line));
    ck_assert(bspz_stat_is_dead(line));
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert(!bspz_stat_read(child, line));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {clocks_count_nanoseconds,
                                  a_buffer_holds_what_was_added,
                                  a_buffer_that_cannot_grow_is_as_it_was,
                                  a_list_grows_by_doubling,
                                  a_list_knows_its_capacity_by_its_length,
                                  a_list_reaches_an_item_with_zeros_before_it,
                                  whole_numbers_have_digits_only,
                                  bytes_are_two_digits_each,
                                  an_error_is_a_text_and_a_status,
                                  a_text_ends_where_its_memory_does,
                                  only_characters_of_utf8_have_a_length,
                                  other_bytes_are_latin_1,
                                  json_is_one_line,
                                  json_is_a_line_for_each_value,
                                  all_of_it_is_written,
                                  what_cannot_be_written_is_an_error,
                                  a_short_file_of_the_kernel_is_a_text,
                                  fields_stand_behind_the_last_parenthesis,
                                  the_line_of_a_process_is_read};

    return suite_run_tests("base", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
