/* test_spill.c - objects in files without a name (bsprun/agent/spill.h): how many mappings and
 * descriptors they take, that their room is given back, and limits. */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/spill.h"
#include "tests/unit/suite.h"

#define OBJECTS 500u
#define KIB     UINT64_C(1024)
#define MIB     (1024 * KIB)

static char directory[32];
static struct spill *spill;

static void set_up(void)
{
    strcpy(directory, "/tmp/test_spill-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(setenv("TMPDIR", directory, 1), 0);
    spill = spill_open();
    ck_assert_ptr_nonnull(spill);
}

static void tear_down(void)
{
    spill_close(spill);
    ck_assert_int_eq(rmdir(directory), 0); /* nothing is left there */
}

/* Mappings of files in that directory. */
static unsigned count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 128];
    unsigned count = 0;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, directory) != NULL;
    fclose(maps);
    return count;
}

/* Whether the kernel does not read ahead in the only mapping of a file in that directory. */
static bool is_read_at_random(void)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[PATH_MAX + 128];
    bool here = false, random = false;
    char kind;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%*x-%*x %*3[rwx-]%c", &kind) == 1) /* a mapping begins */
            here = strstr(line, directory) != NULL;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            random = strstr(line, " rr") != NULL;
    }
    fclose(maps);
    return random;
}

/* Open files of that directory, and bytes of room that they have. */
static unsigned count_files(uint64_t *room)
{
    DIR *all = opendir("/proc/self/fd");
    struct dirent *entry;
    unsigned count = 0;

    ck_assert_ptr_nonnull(all);
    *room = 0;
    while ((entry = readdir(all))) {
        char path[PATH_MAX] = "";
        struct stat about;

        if (readlinkat(dirfd(all), entry->d_name, path, sizeof path - 1) < 0 ||
            !strstr(path, directory))
            continue;
        count++;
        ck_assert_int_eq(fstatat(dirfd(all), entry->d_name, &about, 0), 0);
        *room += (uint64_t)about.st_blocks * 512;
    }
    closedir(all);
    return count;
}

static unsigned char *map(uint64_t size, int byte)
{
    unsigned char *at = spill_map(spill, size);

    ck_assert_ptr_nonnull(at);
    memset(at, byte, size);
    return at;
}

START_TEST(many_share_a_file)
{
    static unsigned char *objects[OBJECTS];
    uint64_t room;

    for (unsigned i = 0; i < OBJECTS; i++)
        objects[i] = map(16 * KIB, (int)i);
    ck_assert_uint_eq(count_mappings(), 1);
    ck_assert(is_read_at_random());
    ck_assert_uint_eq(count_files(&room), 1);
    ck_assert_uint_ge(room, OBJECTS * 16 * KIB);
    for (unsigned i = 0; i < OBJECTS; i++)
        ck_assert(objects[i][0] == i % 256 && objects[i][16 * KIB - 1] == i % 256);
    for (unsigned i = 1; i < OBJECTS; i++)
        spill_unmap(spill, objects[i], 16 * KIB);
    ck_assert_uint_eq(count_files(&room), 1);
    ck_assert_uint_lt(room, OBJECTS * 8 * KIB); /* that of the others is given back */
    ck_assert_uint_eq(objects[0][16 * KIB - 1], 0);
    spill_unmap(spill, objects[0], 16 * KIB);
    ck_assert_uint_eq(count_files(&room), 0);
    ck_assert_uint_eq(count_mappings(), 0);
}
END_TEST

START_TEST(a_large_one_has_its_own)
{
    unsigned char *small = map(20 * KIB, 's'), *large = map(5 * MIB, 'l');
    uint64_t room;

    ck_assert_uint_eq(count_mappings(), 2);
    ck_assert_uint_eq(count_files(&room), 1); /* which takes no descriptor */
    spill_unmap(spill, small, 20 * KIB);
    ck_assert(large[0] == 'l' && large[5 * MIB - 1] == 'l');
    ck_assert_uint_eq(count_files(&room), 0);
    spill_unmap(spill, large, 5 * MIB);
    ck_assert_uint_eq(count_mappings(), 0);
}
END_TEST

/* Beyond the limit of files: no SIGXFSZ. */
START_TEST(files_are_limited)
{
    struct rlimit limit;
    unsigned char *objects[8];

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 100 * KIB;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < 8; i++)
        objects[i] = map(32 * KIB, (int)i);
    ck_assert_uint_eq(count_mappings(), 8); /* none is shared, of which there would be many */
    ck_assert_ptr_null(spill_map(spill, 101 * KIB));
    ck_assert_ptr_null(spill_map(spill, 5 * MIB));
    for (unsigned i = 0; i < 8; i++) {
        ck_assert_uint_eq(objects[i][32 * KIB - 1], i);
        spill_unmap(spill, objects[i], 32 * KIB);
    }
}
END_TEST

/* Bytes of this process. */
static uint64_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* For a file that is shared: one object has room all the same. */
START_TEST(there_is_no_address_space)
{
    struct rlimit limit;
    unsigned char *object;
    uint64_t room;

    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = address_space() + 100 * MIB;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    object = map(20 * KIB, 'o');
    ck_assert_uint_eq(count_mappings(), 1);
    ck_assert_uint_eq(count_files(&room), 0);
    spill_unmap(spill, object, 20 * KIB);
    ck_assert_uint_eq(count_mappings(), 0);
}
END_TEST

/* A smaller file is shared all the same. */
START_TEST(files_are_limited_to_less)
{
    struct rlimit limit;
    unsigned char *objects[20];

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 20 * MIB;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (unsigned i = 0; i < 20; i++)
        objects[i] = map(2 * MIB, (int)i);
    ck_assert_uint_eq(count_mappings(), 2);
    for (unsigned i = 0; i < 20; i++)
        spill_unmap(spill, objects[i], 2 * MIB);
}
END_TEST

START_TEST(there_is_no_directory)
{
    ck_assert_int_eq(setenv("TMPDIR", "/no/such/place", 1), 0);
    ck_assert_ptr_null(spill_map(spill, 20 * KIB));
    ck_assert_ptr_null(spill_map(spill, 5 * MIB));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {many_share_a_file,         a_large_one_has_its_own,
                                  files_are_limited,         files_are_limited_to_less,
                                  there_is_no_address_space, there_is_no_directory};

    return suite_run_tests("spill", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
