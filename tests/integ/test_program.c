/* test_program.c - what bsprun finds out about a program's file: where it is, with which note. */
#include <check.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/launcher/program.h"
#include "lib/base/note.h"
#include "tests/unit/suite.h"

static char directory[256], path[512];

static void set_up(void)
{
    const char *temporary = getenv("TMPDIR");

    snprintf(directory, sizeof directory, "%s/bspzero-program-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/prog", directory);
}

static void tear_down(void)
{
    unlink(path);
    rmdir(directory);
}

static void write_file(const void *data, size_t size)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
}

/* A file with two notes: somebody else's, and ours. */
struct sample {
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[2];
    struct {
        ElfW(Nhdr) head;
        char name[4], text[4];
    } other;
    struct {
        ElfW(Nhdr) head;
        char name[8];
        uint32_t seconds;
    } own;
};

static struct sample sample_with(uint32_t seconds)
{
    struct sample sample = {
        .head = {.e_phoff = offsetof(struct sample, segments),
                 .e_phentsize = sizeof(ElfW(Phdr)),
                 .e_phnum = 2},
        .segments = {{.p_type = PT_LOAD},
                     {.p_type = PT_NOTE,
                      .p_align = 4,
                      .p_offset = offsetof(struct sample, other),
                      .p_filesz = sizeof(struct sample) - offsetof(struct sample, other)}},
        .other = {{4, 3, 1}, "GNU", "abc"},
        .own = {{8, 4, BSPZ_NOTE_CHECKPOINT}, BSPZ_NOTE_NAME, seconds},
    };

    memcpy(sample.head.e_ident, ELFMAG, SELFMAG);
    sample.head.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return sample;
}

START_TEST(the_note)
{
    struct sample sample = sample_with(90);

    write_file(&sample, sizeof sample);
    ck_assert_int_eq(program_linked_seconds(path), 90);
    sample.own.head.n_type = 2;
    write_file(&sample, sizeof sample);
    ck_assert_int_eq(program_linked_seconds(path), 0);
    sample = sample_with(UINT32_MAX);
    write_file(&sample, sizeof sample);
    ck_assert_int_eq(program_linked_seconds(path), 0);
}
END_TEST

START_TEST(no_program_of_ours)
{
    ck_assert_int_eq(program_linked_seconds(path), 0); /* not there */
    ck_assert_int_eq(program_linked_seconds(directory), 0);
    write_file("#!/bin/sh\n", 10);
    ck_assert_int_eq(program_linked_seconds(path), 0);
    ck_assert_int_eq(program_linked_seconds("/proc/self/exe"), 0);
}
END_TEST

/* Whatever is in the file: cut anywhere, and with any of its bytes changed. */
START_TEST(garbage)
{
    struct sample sample = sample_with(90);
    unsigned char bytes[sizeof sample];

    for (size_t size = 0; size < sizeof sample; size++) {
        write_file(&sample, size);
        ck_assert_int_eq(program_linked_seconds(path), 0);
    }
    for (size_t i = 0; i < sizeof sample; i++) {
        static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};

        for (size_t j = 0; j < sizeof values; j++) {
            memcpy(bytes, &sample, sizeof bytes);
            bytes[i] = values[j];
            write_file(bytes, sizeof bytes);
            program_linked_seconds(path);
        }
    }
}
END_TEST

START_TEST(found)
{
    char where[300], got[512];

    write_file("x", 1);
    snprintf(where, sizeof where, "/nowhere:%s:/bin", directory);
    ck_assert(program_find("prog", where, got, sizeof got));
    ck_assert_str_eq(got, path);
    ck_assert(program_find("sh", where, got, sizeof got));
    ck_assert_str_eq(got, "/bin/sh");
    ck_assert(program_find("some/prog", where, got, sizeof got)); /* as it is */
    ck_assert_str_eq(got, "some/prog");
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert(program_find("prog", "/bin", got, sizeof got));
    ck_assert_str_eq(got, "./prog");
    ck_assert(program_find("prog", ":/bin", got, sizeof got));
    ck_assert(!program_find("prog-that-is-not-there", NULL, got, sizeof got));
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_note, no_program_of_ours, garbage, found};
    Suite *suite = suite_create("program");
    TCase *cases = tcase_create("program");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
