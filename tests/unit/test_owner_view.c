/* test_owner_view.c - what is seen of the owner of a host, in a directory that is made up. */
#include <check.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "bsprun/agent/owner/idle_group.h"
#include "bsprun/agent/owner/view.h"
#include "tests/unit/suite.h"

#define BSPRUN 4711
#define TICK   (1000 / (uint64_t)sysconf(_SC_CLK_TCK))

static char root[] = "/tmp/owner-view-XXXXXX";
static struct owner_view *view;
static struct owner_sample sample;

static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void make_parents(const char *name)
{
    char copy[512];

    snprintf(copy, sizeof copy, "%s", path_of(name));
    for (char *slash = copy + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(copy, 0700);
        *slash = '/';
    }
}

static void put(const char *name, const char *format, ...)
{
    va_list arguments;
    FILE *file;

    make_parents(name);
    file = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(file);
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    ck_assert_int_eq(fclose(file), 0);
}

static void put_process(int pid, uint64_t started, uint64_t user, uint64_t system)
{
    char name[64];

    snprintf(name, sizeof name, "proc/%d/stat", pid);
    put(name, "%d (a) b) R 1 1 1 0 -1 0 0 0 0 0 %llu %llu 0 0 20 0 1 0 %llu 0 0\n", pid,
        (unsigned long long)user, (unsigned long long)system, (unsigned long long)started);
}

static void put_session(const char *line, short type)
{
    struct utmp entry = {.ut_type = type};
    FILE *file;

    memcpy(entry.ut_line, line, strlen(line));
    make_parents("var/run/utmp");
    file = fopen(path_of("var/run/utmp"), "a");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(&entry, sizeof entry, 1, file), 1);
    ck_assert_int_eq(fclose(file), 0);
}

/* A terminal whose last input is so many seconds ago. */
static void put_terminal(const char *line, int seconds)
{
    const struct timespec times[] = {{time(NULL) - seconds, 0}, {0, 0}};
    char name[64];

    snprintf(name, sizeof name, "dev/%s", line);
    put(name, "%s", "");
    ck_assert_int_eq(utimensat(AT_FDCWD, path_of(name), times, 0), 0);
}

static void look(uint64_t now_s)
{
    owner_view_look(view, now_s * 1000, &sample);
}

static void saw_input(uint64_t seconds)
{
    ck_assert_uint_ge(sample.input_age_ms, seconds * 1000);
    ck_assert_uint_lt(sample.input_age_ms, (seconds + 60) * 1000);
}

/* Users from that of this test on are of others, which is the case for files that it makes. */
static void begin(uid_t own)
{
    put("etc/login.defs", "# UID_MIN 5\nUID_MIN\t\t\t %u\nUID_MAX %u\n", getuid(), getuid());
    view = owner_view_new(root, own, BSPRUN);
    ck_assert_ptr_nonnull(view);
}

static void set_up(void)
{
    strcpy(root, "/tmp/owner-view-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    begin(getuid() + 1);
}

static void tear_down(void)
{
    char command[64];

    owner_view_free(view);
    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(nothing_there)
{
    look(1);
    ck_assert(sample.input_age_ms == OWNER_NEVER && sample.others_ms == 0 && !sample.on_battery);
}
END_TEST

START_TEST(the_last_input_at_a_session)
{
    put_session("pts/1", USER_PROCESS);
    put_session("tty2", USER_PROCESS);
    put_session("pts/3", DEAD_PROCESS);
    put_session(":0", USER_PROCESS);
    put_session("../../etc/x", USER_PROCESS);
    put_session("pts/4", USER_PROCESS); /* it is gone */
    put_terminal("pts/1", 5000);
    put_terminal("tty2", 600);
    put_terminal("pts/3", 1);
    put_terminal(":0", 1);
    put("etc/x", "%s", "");
    look(1);
    saw_input(600);
    put_terminal("pts/1", -1000); /* the clock was set back */
    look(2);
    saw_input(0);
}
END_TEST

START_TEST(not_at_the_terminal_of_bsprun)
{
    put_session("pts/1", USER_PROCESS);
    put_session("pts/2", USER_PROCESS);
    put_terminal("pts/1", 5);
    put_terminal("pts/2", 500);
    put("proc/4711/fd/x", "%s", "");
    ck_assert_int_eq(symlink("pipe:[5]", path_of("proc/4711/fd/0")), 0);
    ck_assert_int_eq(symlink("/dev/pts/1", path_of("proc/4711/fd/2")), 0);
    look(1);
    saw_input(500);
}
END_TEST

START_TEST(interrupts_of_keyboard_and_mouse)
{
    static const char form[] = "     CPU0  CPU1\n  1:  %d  7  IO-APIC  1-edge  i8042\n"
                               "  8:  %d  0  IO-APIC  8-edge  rtc0\n 12:  5  %d  IO-APIC  i8042\n";

    put("proc/interrupts", form, 3, 1, 9);
    look(10);
    put("proc/interrupts", form, 3, 99, 9);
    look(11);
    ck_assert_uint_eq(sample.input_age_ms, OWNER_NEVER);
    put("proc/interrupts", form, 4, 99, 9);
    look(12);
    ck_assert_uint_eq(sample.input_age_ms, 0);
    look(15);
    ck_assert_uint_eq(sample.input_age_ms, 3000);
    put("proc/interrupts", form, 4, 99, 10);
    look(16);
    ck_assert_uint_eq(sample.input_age_ms, 0);
}
END_TEST

START_TEST(time_of_others)
{
    put_process(10, 100, 1000, 1000);
    put_process(11, 100, 50, 0);
    look(1);
    ck_assert_uint_eq(sample.others_ms, 0); /* what was before does not count */
    put_process(10, 100, 1003, 1004);
    look(2);
    ck_assert_uint_eq(sample.others_ms, 7 * TICK);
    put_process(11, 900, 5, 0);   /* another process of that number */
    put_process(12, 900, 999, 0); /* it has taken more than one could: it was somebody else's */
    ck_assert_int_eq(unlink(path_of("proc/10/stat")), 0);
    look(3);
    ck_assert_uint_eq(sample.others_ms, 12 * TICK + 1000);
    put("proc/13/stat", "13 (broken");
    look(4);
    ck_assert_uint_eq(sample.others_ms, 12 * TICK + 1000);
}
END_TEST

START_TEST(own_processes_are_none_of_others)
{
    owner_view_free(view);
    begin(getuid());
    put_process(10, 100, 0, 0);
    look(1);
    put_process(10, 100, 500, 0);
    look(2);
    ck_assert_uint_eq(sample.others_ms, 0);
}
END_TEST

START_TEST(users_of_the_system_are_none)
{
    owner_view_free(view);
    put("etc/login.defs", "UID_MIN %u\n", getuid() + 1);
    view = owner_view_new(root, getuid() + 1, 0);
    put_process(10, 100, 0, 0);
    look(1);
    put_process(10, 100, 500, 0);
    look(2);
    ck_assert_uint_eq(sample.others_ms, 0);
}
END_TEST

static void powered(const char *status, const char *mains, const char *usb, bool expected)
{
    put("sys/class/power_supply/BAT0/type", "Battery\n");
    put("sys/class/power_supply/BAT0/status", "%s\n", status);
    put("sys/class/power_supply/AC/type", "Mains\n");
    put("sys/class/power_supply/AC/online", "%s\n", mains);
    put("sys/class/power_supply/ucsi/type", "USB\n");
    put("sys/class/power_supply/ucsi/online", "%s\n", usb);
    look(1);
    ck_assert_int_eq(sample.on_battery, expected);
}

START_TEST(battery)
{
    powered("Discharging", "0", "0", true);
    powered("Discharging", "1", "0", false);
    powered("Discharging", "0", "1", false);
    powered("Charging", "0", "0", false);
    powered("Not charging", "0", "0", false);
}
END_TEST

/* A desktop's mouse has a battery, too. */
START_TEST(battery_without_adapter)
{
    put("sys/class/power_supply/hid-1/type", "Battery\n");
    put("sys/class/power_supply/hid-1/status", "Discharging\n");
    look(1);
    ck_assert(!sample.on_battery);
}
END_TEST

/* What the kernel makes in a new group is there already, since no kernel is. */
static void put_group(const char *parent)
{
    char name[256];

    snprintf(name, sizeof name, "%sbspzero-%d/cpu.idle", parent, (int)getpid());
    put(name, "%s", "");
    snprintf(name, sizeof name, "%sbspzero-%d/cgroup.procs", parent, (int)getpid());
    put(name, "%s", "");
}

static void is_in_group(const char *parent, const char *file, const char *expected)
{
    char name[256], text[32] = "";
    FILE *opened;

    snprintf(name, sizeof name, "%sbspzero-%d/%s", parent, (int)getpid(), file);
    opened = fopen(path_of(name), "r");
    ck_assert_ptr_nonnull(opened);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, opened));
    fclose(opened);
    ck_assert_str_eq(text, expected);
}

static void used_group(const char *parent)
{
    struct idle_group *group = idle_group_new(root);

    ck_assert_ptr_nonnull(group);
    is_in_group(parent, "cpu.idle", "0");
    ck_assert(idle_group_set(group, true));
    is_in_group(parent, "cpu.idle", "1");
    ck_assert(idle_group_add(group, 1234));
    is_in_group(parent, "cgroup.procs", "1234");
    idle_group_free(group);
}

START_TEST(group_below)
{
    put("proc/self/cgroup", "0::/user.slice/run\n");
    put_group("sys/fs/cgroup/user.slice/run/");
    used_group("sys/fs/cgroup/user.slice/run/");
}
END_TEST

START_TEST(group_beside)
{
    put("proc/self/cgroup", "0::/user.slice/run\n");
    put("sys/fs/cgroup/user.slice/run/cgroup.procs", "%s", "");
    put_group("sys/fs/cgroup/user.slice/");
    used_group("sys/fs/cgroup/user.slice/");
    /* What is of no use is removed. */
    ck_assert_int_ne(access(path_of("sys/fs/cgroup/user.slice/run/bspzero"), F_OK), 0);
}
END_TEST

START_TEST(group_of_version_1)
{
    put("proc/self/cgroup", "9:memory:/m\n4:cpu,cpuacct:/\n0::/\n");
    put_group("sys/fs/cgroup/cpu/");
    used_group("sys/fs/cgroup/cpu/");
}
END_TEST

/* An empty group of that name.  Above 4194304 no process has such a number. */
static void put_empty_group(const char *name)
{
    make_parents(name);
    ck_assert_int_eq(mkdir(path_of(name), 0700), 0);
}

START_TEST(groups_of_killed_agents)
{
    char own[256];

    put("proc/self/cgroup", "0::/run\n");
    put_group("sys/fs/cgroup/run/");
    snprintf(own, sizeof own, "sys/fs/cgroup/run/bspzero-%d", (int)getppid());
    put_empty_group(own);
    put_empty_group("sys/fs/cgroup/run/bspzero-4194305");
    put_empty_group("sys/fs/cgroup/run/bspzero-4194305x");
    put_empty_group("sys/fs/cgroup/run/bspzero-");
    put_empty_group("sys/fs/cgroup/run/4194305");
    put("sys/fs/cgroup/run/bspzero-4194306/cgroup.procs", "1234\n");
    used_group("sys/fs/cgroup/run/");
    ck_assert_int_ne(access(path_of("sys/fs/cgroup/run/bspzero-4194305"), F_OK), 0);
    /* Its agent lives, it is of something else, or processes are in it. */
    ck_assert_int_eq(access(path_of(own), F_OK), 0);
    ck_assert_int_eq(access(path_of("sys/fs/cgroup/run/bspzero-4194305x"), F_OK), 0);
    ck_assert_int_eq(access(path_of("sys/fs/cgroup/run/bspzero-"), F_OK), 0);
    ck_assert_int_eq(access(path_of("sys/fs/cgroup/run/4194305"), F_OK), 0);
    ck_assert_int_eq(access(path_of("sys/fs/cgroup/run/bspzero-4194306/cgroup.procs"), F_OK), 0);
}
END_TEST

START_TEST(no_group)
{
    ck_assert_ptr_null(idle_group_new(root));
    put("proc/self/cgroup", "0::/user.slice/run\n3:cpuset:/\nnonsense\n5:x\n");
    put("sys/fs/cgroup/user.slice/run/cgroup.procs", "%s", "");
    ck_assert_ptr_null(idle_group_new(root));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {nothing_there,
                            the_last_input_at_a_session,
                            not_at_the_terminal_of_bsprun,
                            interrupts_of_keyboard_and_mouse,
                            time_of_others,
                            own_processes_are_none_of_others,
                            users_of_the_system_are_none,
                            battery,
                            battery_without_adapter,
                            group_below,
                            group_beside,
                            group_of_version_1,
                            groups_of_killed_agents,
                            no_group};

    return suite_run_tests("what is seen of an owner", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
