/* store_play.c - see store_play.h. */
#include "tests/ckpt/store_play.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char directory[256], complaint[MANIFEST_ERROR_SIZE], note[MANIFEST_ERROR_SIZE];
struct store *store;
struct store_sample sample;

void set_up(void)
{
    store_sample_directory(directory);
    store_sample_make(&sample);
    ck_assert_msg(store_open(&store, directory, STORE_CREATE, NULL, complaint) == 0, "%s",
                  complaint);
    ck_assert_msg(store_job_create(store, store_sample_job, 1000, complaint) == 0, "%s", complaint);
}

void tear_down(void)
{
    store_close(store);
    store_sample_free(&sample);
    store_sample_remove(directory);
}

void snapshot_of(uint64_t superstep, uint32_t term, uint32_t whole)
{
    ck_assert_msg(store_sample_snapshot(&sample, store, superstep, term, whole, true, complaint) ==
                      0,
                  "%s", complaint);
}

void snapshot(uint64_t superstep, uint32_t term, bool full)
{
    snapshot_of(superstep, term, full ? STORE_SAMPLE_ALL : 0);
}

const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s/%s", directory, store_job_name(store), name);
    return path;
}

int newest(uint64_t *superstep, uint32_t *term)
{
    struct manifest manifest;

    int status = store_newest(store, WIRE_NEVER, WIRE_NEVER, &manifest, note, complaint);
    if (status < 0)
        return status;
    *superstep = manifest.name.superstep;
    *term = manifest.name.term;
    manifest_free(&manifest);
    return 0;
}

void expect_newest(uint64_t superstep, uint32_t term)
{
    uint64_t found;
    uint32_t found_term;

    ck_assert_msg(newest(&found, &found_term) == 0, "%s", complaint);
    ck_assert_uint_eq(found, superstep);
    ck_assert_uint_eq(found_term, term);
}

void change_byte(const char *path, off_t offset)
{
    int file = open(path, O_RDWR);
    unsigned char byte;

    ck_assert_int_ge(file, 0);
    offset = offset < 0 ? lseek(file, offset, SEEK_END) : offset;
    ck_assert_int_eq(pread(file, &byte, 1, offset), 1);
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, offset), 1);
    close(file);
}

static size_t list_names(char text[512])
{
    struct store_entry *entries;
    size_t count;

    ck_assert_msg(store_list(store, &entries, &count, complaint) == 0, "%s", complaint);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%d.%u%s", i ? " " : "", (int)entries[i].name.superstep,
                entries[i].name.term,
                entries[i].state == STORE_COMMITTED ? ""
                : entries[i].state == STORE_RETIRED ? "r"
                : entries[i].state == STORE_DAMAGED ? "d"
                                                    : "u");
    free(entries);
    return count;
}

void expect_list(const char *expected)
{
    char text[512];

    list_names(text);
    ck_assert_str_eq(text, expected);
}
