/* test_line_buffer.c - lines that come in pieces are passed on lines. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/line_buffer.h"
#include "lib/wire/wire.h"
#include "tests/unit/suite.h"

static struct line_buffer lines;
static char *passed; /* "[host superstep pid stream]text" one after the other; long texts as xN */
static size_t used;
static uint64_t now_ms;

static void pass(void *context, uint32_t host, uint64_t superstep, int pid, int stream,
                 const char *data, size_t size)
{
    char text[200];

    (void)context;
    ck_assert_uint_gt(size, 0);
    if (size > 100)
        snprintf(text, sizeof text, "x%zu%s", size, data[size - 1] == '\n' ? "." : "");
    else
        snprintf(text, sizeof text, "%.*s", (int)size, data);
    used += (size_t)sprintf(passed + used, "[%u %llu %d %d]%s", host, (unsigned long long)superstep,
                            pid, stream, text);
    ck_assert_uint_lt(used, 60000);
}

static void set_up(void)
{
    passed = calloc(1, 65536);
    used = 0;
    now_ms = 1000;
    lines = (struct line_buffer){.pass = pass};
}

static void tear_down(void)
{
    line_buffer_forget(&lines);
    ck_assert_uint_eq(lines.waiting, 0);
    free(passed);
}

static void piece(uint32_t host, uint64_t superstep, int pid, const char *text)
{
    line_buffer_piece(&lines, now_ms, host, superstep, pid, 1, text, strlen(text));
}

static void much(uint32_t host, int pid, size_t size, const char *end)
{
    char *text = malloc(size + strlen(end) + 1);

    memset(text, 'x', size);
    strcpy(text + size, end);
    piece(host, 0, pid, text);
    free(text);
}

static void expect(const char *text)
{
    ck_assert_str_eq(passed, text);
    used = 0;
    passed[0] = '\0';
}

START_TEST(lines_pass)
{
    piece(1, 2, 3, "a\n");
    piece(1, 2, 3, "b\nc\n");
    line_buffer_piece(&lines, now_ms, 0, 2, 0, 2, "d\n", 2);
    expect("[1 2 3 1]a\n[1 2 3 1]b\nc\n[0 2 0 2]d\n");
    ck_assert_uint_eq(lines.waiting, 0);
}
END_TEST

START_TEST(beginnings_wait)
{
    piece(1, 2, 3, "a\nb");
    piece(0, 2, 0, "c");
    piece(1, 2, 4, "other\n");
    line_buffer_piece(&lines, now_ms, 1, 2, 3, 2, "error\n", 6);
    expect("[1 2 3 1]a\n[1 2 4 1]other\n[1 2 3 2]error\n");
    piece(1, 2, 3, "b");
    piece(0, 2, 0, "c\nd\ne");
    expect("[0 2 0 1]cc\nd\n");
    piece(1, 2, 3, "\n");
    expect("[1 2 3 1]bb\n");
    ck_assert_uint_eq(lines.waiting, 1);
    line_buffer_flush(&lines);
    expect("[0 2 0 1]e");
}
END_TEST

START_TEST(a_host_goes_on)
{
    piece(0, 2, 0, "a");
    piece(0, 2, 1, "b");
    piece(1, 2, 2, "c");
    piece(0, 3, 0, "d"); /* in another superstep, as what its host wrote before */
    expect("[0 2 0 1]a[0 2 1 1]b");
    line_buffer_come(&lines, 0, 3);
    expect("");
    line_buffer_come(&lines, 1, 2);
    expect("");
    line_buffer_come(&lines, 1, 3);
    expect("[1 2 2 1]c");
    piece(1, 7, 2, "e");
    line_buffer_come(&lines, 1, UINT64_MAX);
    expect("[1 7 2 1]e");
    line_buffer_forget(&lines);
    line_buffer_flush(&lines);
    expect("");
}
END_TEST

START_TEST(a_host_that_is_lost)
{
    piece(0, 1, 0, "ab");
    piece(1, 1, 2, "cd");
    piece(0, 1, 1, "ef");
    line_buffer_drop(&lines, 0);
    line_buffer_flush(&lines);
    expect("[1 1 2 1]cd");
    /* What it still sends has no beginning any more. */
    piece(0, 1, 0, "gh\n");
    piece(0, 2, 3, "ij");
    line_buffer_flush(&lines);
    expect("");
    line_buffer_begin(&lines);
    piece(0, 1, 0, "kl\n");
    expect("[0 1 0 1]kl\n");
}
END_TEST

START_TEST(long_lines)
{
    for (int i = 0; i < 15; i++) {
        much(0, 1, 60000, "");
        much(1, 2, 30000, i == 9 ? "\n" : "");
    }
    expect("[1 0 2 1]x300001.");
    much(0, 1, 60000, "\nand\n");
    expect("[0 0 1 1]x960005.");
    for (int i = 0; i < 20; i++)
        much(0, 1, 60000, "");
    expect("[0 0 1 1]x1080000");
    much(1, 2, 10, "\n");
    expect("[1 0 2 1]x150011.");
}
END_TEST

START_TEST(no_more_than_there_is_room)
{
    for (int pid = 0; pid < 40; pid++)
        much(0, pid, 1000000, "");
    ck_assert_uint_le(lines.waiting, LINE_BUFFER_MEMORY);
    ck_assert_uint_gt(lines.waiting, LINE_BUFFER_MEMORY / 2);
    ck_assert(strstr(passed, "[0 0 39 1]x1000000"));
}
END_TEST

START_TEST(prompts)
{
    piece(0, 0, 0, "how many? ");
    much(1, 1, LINE_BUFFER_PROMPT, "");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_PROMPT_MS - 1);
    expect("");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_PROMPT_MS);
    expect("[0 0 0 1]how many? ");
    now_ms += LINE_BUFFER_PROMPT_MS;
    much(1, 1, 4, "");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_LATE_MS - 1);
    expect("");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_LATE_MS);
    expect("[1 0 1 1]x4100");
    much(0, 2, WIRE_CHUNK_MAX - 7, "\nprompt"); /* no: there was more than fits into a piece */
    line_buffer_release(&lines, now_ms + LINE_BUFFER_LATE_MS - 1);
    expect("[0 0 2 1]x65530.");
    line_buffer_excuse(&lines, now_ms + LINE_BUFFER_LATE_MS);
    now_ms += LINE_BUFFER_LATE_MS;
    line_buffer_release(&lines, now_ms + LINE_BUFFER_LATE_MS - 1);
    expect("");
    piece(0, 0, 2, "!");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_PROMPT_MS - 1);
    expect("");
    line_buffer_release(&lines, now_ms + LINE_BUFFER_PROMPT_MS);
    expect("[0 0 2 1]prompt!");
    piece(0, 0, 2, "10% ");
    now_ms += LINE_BUFFER_PROMPT_MS - 1;
    piece(0, 0, 2, "20% ");
    line_buffer_release(&lines, now_ms + 1); /* somebody wants to see it move */
    expect("[0 0 2 1]10% 20% ");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {lines_pass,     beginnings_wait,
                                  a_host_goes_on, a_host_that_is_lost,
                                  long_lines,     no_more_than_there_is_room,
                                  prompts};

    return suite_run_tests("line_buffer", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
