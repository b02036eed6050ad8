/* Unit tests of the machine parameters: parsing, the search path, and changing the database. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/params.h"
#include "tests/unit/suite.h"
#include "tools/bspparam/database.h"

static char scratch[] = "/tmp/bsp-params.XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static char *read_text(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "r");

    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void set_up(void)
{
    strcpy(scratch, "/tmp/bsp-params.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    unsetenv("BSP_SLG");
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/nowhere", 1);
    setenv("BSP_INCLUDE_DIR", scratch, 1);
}

static void tear_down(void)
{
    char command[256];

    snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(slg_is_read)
{
    struct bspz_params p;

    ck_assert(bspz_params_parse_slg("100.5,2000,3.25,40", &p));
    ck_assert(p.s == 100.5 && p.l == 2000 && p.g == 3.25 && p.n_half == 40);
    ck_assert(bspz_params_parse_slg(" 1e3 , 2 , 3 ", &p));
    ck_assert(p.s == 1000 && p.l == 2 && p.g == 3 && p.n_half == bspz_params_assumed.n_half);
}
END_TEST

static const char *const bad_slg[] = {
    "",         "1",         "1,2",      "1,2,3,4,5", "a,2,3,4",
    "1,2,3,4x", "0,2,3,4",   "1,-2,3,4", "1,2,nan,4", "1,2,inf,4",
    "1,2,3,0",  "1,2,3,1.5", "1,,3,4",   "1 2 3 4",   "1,2,3,1e10",
};

START_TEST(bad_slg_is_refused)
{
    struct bspz_params p = {1, 2, 3, 4};

    ck_assert(!bspz_params_parse_slg(bad_slg[_i], &p));
    ck_assert(p.s == 1 && p.l == 2 && p.g == 3 && p.n_half == 4);
}
END_TEST

START_TEST(line_is_read)
{
    struct bspz_params_row row;

    ck_assert_int_eq(bspz_params_parse_line("\t node7 4\t812.5 5200 3.1 40 # fast\n", &row),
                     BSPZ_PARAMS_ROW);
    ck_assert_str_eq(row.host, "node7");
    ck_assert_int_eq(row.processes, 4);
    ck_assert(row.params.s == 812.5 && row.params.l == 5200 && row.params.g == 3.1);
    ck_assert_int_eq(row.params.n_half, 40);
    ck_assert_int_eq(bspz_params_parse_line("* 1 1 1 1 1", &row), BSPZ_PARAMS_ROW);
    ck_assert_int_eq(bspz_params_parse_line("x 1000000 1 1 1 2147483647#", &row), BSPZ_PARAMS_ROW);
    ck_assert_int_eq(bspz_params_parse_line("\n", &row), BSPZ_PARAMS_BLANK);
    ck_assert_int_eq(bspz_params_parse_line("  # node7 4 1 1 1 1", &row), BSPZ_PARAMS_BLANK);
}
END_TEST

static const char *const bad_lines[] = {
    "node7",
    "node7 4 1 1 1",
    "node7 4 1 1 1 1 1",
    "node7 0 1 1 1 1",
    "node7 1.5 1 1 1 1",
    "node7 4 0 1 1 1",
    "node7 4 1 1 1 0",
    "node7 4 1 1 1 1x",
    "node7 4 1 1 1 2147483648",
    "node7 1000001 1 1 1 1",
    "node7 -4 1 1 1 1",
    "node7 4 1 nan 1 1",
};

START_TEST(bad_line_is_refused)
{
    struct bspz_params_row row = {.processes = 77};

    ck_assert_int_eq(bspz_params_parse_line(bad_lines[_i], &row), BSPZ_PARAMS_MALFORMED);
    ck_assert_int_eq(row.processes, 77);
}
END_TEST

START_TEST(host_name_has_a_limit)
{
    char line[BSPZ_PARAMS_HOST_MAX + 32];
    struct bspz_params_row row;

    memset(line, 'h', sizeof(line));
    strcpy(line + BSPZ_PARAMS_HOST_MAX, " 1 1 1 1 1");
    ck_assert_int_eq(bspz_params_parse_line(line, &row), BSPZ_PARAMS_ROW);
    ck_assert_uint_eq(strlen(row.host), BSPZ_PARAMS_HOST_MAX);
    memset(line, 'h', sizeof(line));
    strcpy(line + BSPZ_PARAMS_HOST_MAX + 1, " 1 1 1 1 1");
    ck_assert_int_eq(bspz_params_parse_line(line, &row), BSPZ_PARAMS_MALFORMED);
}
END_TEST

START_TEST(path_follows_the_environment)
{
    char path[256];

    setenv("BSP_INCLUDE_DIR", "/a", 1);
    ck_assert(bspz_params_path(path, sizeof(path)));
    ck_assert_str_eq(path, "/a/bsp_parameters.ascii");
    unsetenv("BSP_INCLUDE_DIR");
    setenv("XDG_CONFIG_HOME", "/b", 1);
    ck_assert(bspz_params_path(path, sizeof(path)));
    ck_assert_str_eq(path, "/b/bspzero/parameters");
    setenv("XDG_CONFIG_HOME", "", 1);
    setenv("HOME", "/c", 1);
    ck_assert(bspz_params_path(path, sizeof(path)));
    ck_assert_str_eq(path, "/c/.config/bspzero/parameters");
    ck_assert(!bspz_params_path(path, strlen("/c/.config/bspzero/parameters")));
    unsetenv("HOME");
    ck_assert(!bspz_params_path(path, sizeof(path)));
}
END_TEST

START_TEST(search_prefers_the_own_host)
{
    char path[256], host[256], text[2048];
    struct bspz_params p;

    ck_assert_int_eq(bspz_params_find(2, &p), BSPZ_PARAMS_ASSUMED);
    ck_assert(p.s == bspz_params_assumed.s && p.l == bspz_params_assumed.l);
    ck_assert(p.g == bspz_params_assumed.g && p.n_half == bspz_params_assumed.n_half);

    ck_assert_int_eq(gethostname(host, sizeof(host)), 0);
    ck_assert(bspz_params_path(path, sizeof(path)));
    snprintf(text, sizeof(text),
             "%s 2 20 200 2 2\n* 2 30 300 3 3\n* 3 40 400 4 4\nnonsense\nother 4 1 1 1 1\n", host);
    write_text(path, text);
    ck_assert_int_eq(bspz_params_find(2, &p), BSPZ_PARAMS_DATABASE);
    ck_assert(p.s == 20 && p.n_half == 2);
    ck_assert_int_eq(bspz_params_find(3, &p), BSPZ_PARAMS_DATABASE);
    ck_assert(p.s == 40 && p.n_half == 4);
    ck_assert_int_eq(bspz_params_find(4, &p), BSPZ_PARAMS_ASSUMED);
    ck_assert(p.s == bspz_params_assumed.s);
    setenv("BSP_SLG", "7,8,9,10", 1);
    ck_assert_int_eq(bspz_params_find(2, &p), BSPZ_PARAMS_ENVIRONMENT);
    ck_assert(p.s == 7 && p.l == 8 && p.g == 9 && p.n_half == 10);
    setenv("BSP_SLG", "nonsense", 1);
    ck_assert_int_eq(bspz_params_find(2, &p), BSPZ_PARAMS_DATABASE);
}
END_TEST

START_TEST(storing_keeps_what_others_wrote)
{
    char path[256];
    struct bspz_params_row rows[] = {
        {"a", 2, {20.5, 200, 2, 2}},
        {"b", 1, {30, 300, 3, 3}},
    };
    struct row_list list;

    snprintf(path, sizeof(path), "%s/new/directory/parameters", scratch);
    ck_assert_int_eq(database_read(path, &list), ENOENT);
    ck_assert_int_eq(database_store(path, rows, 2), 0);
    ck_assert_int_eq(database_read(path, &list), 0);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.rows[0].host, "a");
    ck_assert(list.rows[0].params.s == 20.5);
    free(list.rows);

    write_text(path, "# mine\na 2 1 1 1 1\na 3 1 1 1 1\nA 2 9 9 9 9\nbroken line\na 2 2 2 2 2");
    ck_assert_int_eq(database_store(path, rows, 1), 0);
    ck_assert_str_eq(read_text(path),
                     "# mine\na 3 1 1 1 1\nA 2 9 9 9 9\nbroken line\na 2 20.5 200 2 2\n");

    struct stat state;
    ck_assert_int_eq(stat(path, &state), 0);
    ck_assert_uint_eq(state.st_mode & 0777, 0644);
}
END_TEST

START_TEST(storing_where_it_cannot_be_fails)
{
    char path[256];
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};

    snprintf(path, sizeof(path), "%s/file", scratch);
    write_text(path, "");
    snprintf(path, sizeof(path), "%s/file/parameters", scratch);
    ck_assert_int_eq(database_store(path, &row, 1), ENOTDIR);
}
END_TEST

/* A line of each of 20 numbers of processes, under a name of its own. */
static void store_rows(const char *path, int writer)
{
    for (int i = 1; i <= 20; i++) {
        struct bspz_params_row row = {"", i, {20, 200, 2, 2}};

        snprintf(row.host, sizeof(row.host), "host%d", writer);
        if (database_store(path, &row, 1) != 0)
            _exit(1);
    }
    _exit(0);
}

START_TEST(many_store_at_the_same_time)
{
    enum { WRITERS = 4 };
    char path[256];
    struct row_list list;

    snprintf(path, sizeof(path), "%s/parameters", scratch);
    for (int writer = 0; writer < WRITERS; writer++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
            store_rows(path, writer);
    }
    for (int writer = 0; writer < WRITERS; writer++) {
        int status;
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(database_read(path, &list), 0);
    ck_assert_uint_eq(list.count, 20 * WRITERS);
    free(list.rows);
}
END_TEST

/* A link that leads nowhere, and a file of which nothing can be read: nothing is replaced. */
START_TEST(a_database_that_cannot_be_read_stays)
{
    static const struct {
        const char *target;
        int error;
    } cases[] = {{"parameters", ELOOP}, {"/proc/self/mem", EIO}};
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};
    char path[256], target[256];
    struct row_list list;

    snprintf(path, sizeof(path), "%s/parameters", scratch);
    ck_assert_int_eq(symlink(cases[_i].target, path), 0);
    ck_assert_int_eq(database_store(path, &row, 1), cases[_i].error);
    ck_assert_int_eq((int)readlink(path, target, sizeof(target)), (int)strlen(cases[_i].target));
    ck_assert_int_eq(database_read(path, &list), cases[_i].error);
    free(list.rows);
    ck_assert_int_eq(database_read(scratch, &list), EISDIR);
    free(list.rows);
}
END_TEST

START_TEST(who_may_write_the_directory_may_lock)
{
    static const struct {
        mode_t directory, lock;
    } cases[] = {{0755, 0600}, {0775, 0660}, {0777, 0666}, {01777, 0600}};
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};
    char path[256], lock[512];
    struct stat status;

    snprintf(path, sizeof(path), "%s/parameters", scratch);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    ck_assert_int_eq(chmod(scratch, cases[_i].directory), 0);
    ck_assert_int_eq(database_store(path, &row, 1), 0);
    ck_assert_int_eq(stat(lock, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, cases[_i].lock);
}
END_TEST

/* Whoever may write the directory may lead the name of the lock to another file of ours. */
START_TEST(a_link_is_no_lock)
{
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};
    char path[256], lock[512], victim[256];
    struct stat status;

    snprintf(path, sizeof(path), "%s/parameters", scratch);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    snprintf(victim, sizeof(victim), "%s/victim", scratch);
    write_text(victim, "");
    ck_assert_int_eq(chmod(victim, 0640), 0);
    ck_assert_int_eq(chmod(scratch, 0777), 0);
    ck_assert_int_eq(symlink("victim", lock), 0);
    ck_assert_int_eq(database_store(path, &row, 1), ELOOP);
    ck_assert_int_eq(unlink(lock), 0);
    ck_assert_int_eq(link(victim, lock), 0);
    ck_assert_int_eq(database_store(path, &row, 1), 0);
    ck_assert_int_eq(stat(victim, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0640);
}
END_TEST

/* Root stores in the directory of a user, or a user in one of a group that is not the first of
 * this user's. */
START_TEST(a_lock_is_of_the_group_of_the_directory)
{
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};
    bool root = geteuid() == 0;
    uid_t owner = root ? 65534 : geteuid();
    gid_t groups[1024], group = root ? 65534 : getegid();
    int count = root ? 0 : getgroups(1024, groups);
    char path[256], lock[512];
    struct stat status;

    for (int i = 0; i < count; i++)
        if (groups[i] != getegid())
            group = groups[i];
    snprintf(path, sizeof(path), "%s/parameters", scratch);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    ck_assert_int_eq(chown(scratch, owner, group), 0);
    ck_assert_int_eq(chmod(scratch, 0775), 0);
    ck_assert_int_eq(database_store(path, &row, 1), 0);
    ck_assert_int_eq(stat(lock, &status), 0);
    ck_assert_uint_eq(status.st_uid, owner);
    ck_assert_uint_eq(status.st_gid, group);
    ck_assert_uint_eq(status.st_mode & 0777, 0660);
}
END_TEST

/* One that root has made, say: what was measured is stored all the same. */
START_TEST(a_lock_that_is_closed_to_us_is_left)
{
    struct bspz_params_row row = {"a", 2, {20, 200, 2, 2}};
    bool root = geteuid() == 0;
    char path[256], lock[512];

    snprintf(path, sizeof(path), "%s/parameters", scratch);
    snprintf(lock, sizeof(lock), "%s.lock", path);
    write_text(lock, "");
    ck_assert_int_eq(chmod(lock, 0), 0);
    if (root) {
        ck_assert_int_eq(chown(scratch, 65534, 65534), 0);
        ck_assert_int_eq(seteuid(65534), 0);
    }
    int error = database_store(path, &row, 1);
    if (root)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(error, 0);
    ck_assert_int_eq(unlink(lock), 0);
    ck_assert_int_eq(access(path, R_OK), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *all = suite_create("machine parameters");
    TCase *parsing = tcase_create("parsing"), *files = tcase_create("files");

    tcase_add_test(parsing, slg_is_read);
    tcase_add_loop_test(parsing, bad_slg_is_refused, 0, sizeof(bad_slg) / sizeof(bad_slg[0]));
    tcase_add_test(parsing, line_is_read);
    tcase_add_loop_test(parsing, bad_line_is_refused, 0, sizeof(bad_lines) / sizeof(bad_lines[0]));
    tcase_add_test(parsing, host_name_has_a_limit);
    suite_add_tcase(all, parsing);

    tcase_add_checked_fixture(files, set_up, tear_down);
    tcase_set_timeout(files, 60); /* a busy disk makes the many that store wait for each other */
    tcase_add_test(files, path_follows_the_environment);
    tcase_add_test(files, search_prefers_the_own_host);
    tcase_add_test(files, storing_keeps_what_others_wrote);
    tcase_add_test(files, storing_where_it_cannot_be_fails);
    tcase_add_test(files, many_store_at_the_same_time);
    tcase_add_loop_test(files, a_database_that_cannot_be_read_stays, 0, 2);
    tcase_add_loop_test(files, who_may_write_the_directory_may_lock, 0, 4);
    tcase_add_test(files, a_link_is_no_lock);
    tcase_add_test(files, a_lock_is_of_the_group_of_the_directory);
    tcase_add_test(files, a_lock_that_is_closed_to_us_is_left);
    suite_add_tcase(all, files);
    return all;
}

int main(void)
{
    return suite_run(suite());
}
