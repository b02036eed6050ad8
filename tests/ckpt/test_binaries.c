/* test_binaries.c - the directory of copies of programs; see ckpt/binaries.h. */
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/binaries.h"
#include "tests/unit/suite.h"

static char root[64], path[PATH_MAX], why[BINARIES_WHY];

static void make_root(void)
{
    strcpy(root, "/tmp/bspzero-binaries-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    setenv("TMPDIR", root, 1);
}

static void remove_root(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

/* The path of the nth candidate in TMPDIR, or of a file in it. */
static const char *candidate(unsigned number, const char *below)
{
    static char name[PATH_MAX];

    if (number == 1)
        snprintf(name, sizeof name, "%s/bspzero-%u%s", root, (unsigned)geteuid(), below);
    else
        snprintf(name, sizeof name, "%s/bspzero-%u-%u%s", root, (unsigned)geteuid(), number, below);
    return name;
}

static void expect(const char *wanted)
{
    int directory = binaries_directory(NULL, path, why);

    ck_assert_msg(directory >= 0, "%s", why);
    ck_assert_str_eq(path, wanted);
    close(directory);
}

START_TEST(the_users_caches_come_first)
{
    char wanted[PATH_MAX];

    setenv("HOME", root, 1);
    snprintf(wanted, sizeof wanted, "%s/.cache/bspzero/binaries", root);
    expect(wanted);
    snprintf(path, sizeof path, "%s/xdg", root);
    setenv("XDG_CACHE_HOME", path, 1);
    snprintf(wanted, sizeof wanted, "%s/xdg/bspzero/binaries", root);
    expect(wanted);
}
END_TEST

START_TEST(without_a_home_it_is_in_tmpdir)
{
    expect(candidate(1, "/binaries"));
    expect(candidate(1, "/binaries"));
}
END_TEST

START_TEST(a_name_that_others_have_or_may_write_to_is_passed_over)
{
    int file = open(candidate(1, ""), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(file, 0);
    close(file);
    expect(candidate(2, "/binaries"));
    ck_assert_int_eq(chmod(candidate(2, ""), 0777), 0);
    expect(candidate(3, "/binaries"));
    ck_assert_int_eq(symlink(root, candidate(4, "")), 0);
    ck_assert_int_eq(chmod(candidate(3, ""), 0777), 0);
    expect(candidate(5, "/binaries"));
}
END_TEST

START_TEST(without_a_place_the_last_one_is_named)
{
    setenv("TMPDIR", "/proc/nowhere", 1);
    ck_assert_int_lt(binaries_directory(NULL, path, why), 0);
    ck_assert_ptr_nonnull(
        strstr(why, "no copies of programs can be kept in /proc/nowhere/bspzero-"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("binaries");
    TCase *directory = tcase_create("directory");

    tcase_add_checked_fixture(directory, make_root, remove_root);
    tcase_add_test(directory, the_users_caches_come_first);
    tcase_add_test(directory, without_a_home_it_is_in_tmpdir);
    tcase_add_test(directory, a_name_that_others_have_or_may_write_to_is_passed_over);
    tcase_add_test(directory, without_a_place_the_last_one_is_named);
    suite_add_tcase(suite, directory);
    return suite_run(suite);
}
