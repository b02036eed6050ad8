/* test_options.c - bsprun's options: the command line, the environment, what a restart takes over.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/options/options.h"

/* ---- Options ---- */

static const char *procs, *faults;
static const char *settings[8][2]; /* other variables */

static const char *lookup(const char *name)
{
    if (strcmp(name, "BSP_PROCS") == 0)
        return procs;
    if (strcmp(name, FAULT_VARIABLE) == 0)
        return faults;
    for (size_t i = 0; i < 8 && settings[i][0]; i++)
        if (strcmp(name, settings[i][0]) == 0)
            return settings[i][1];
    return strcmp(name, "HOME") == 0 ? "/home/me" : NULL;
}

#define PARSE(options, ...)                                                                        \
    do {                                                                                           \
        const char *words[] = {"bsprun", __VA_ARGS__, NULL};                                       \
        options_parse((int)(sizeof words / sizeof *words) - 1, words, lookup, options);            \
    } while (0)

START_TEST(options_defaults)
{
    struct options options;

    PARSE(&options, "prog");
    ck_assert_int_eq(options.action, OPTIONS_RUN);
    ck_assert_int_eq(options.processes, 0);
    ck_assert_int_eq(options.verbosity, 0);
    ck_assert_int_eq(options.stdio, WIRE_STDIO_INHERIT);
    ck_assert_int_eq(options.bind, WIRE_BIND_DEFAULT);
    ck_assert(options.timeout == 0 && !options.report && !options.progress && !options.core_dumps);
    ck_assert_int_eq(options.command_length, 1);
    ck_assert_str_eq(options.command[0], "prog");
    ck_assert_ptr_null(options.command[1]);
    ck_assert_uint_eq(options.faults.abort_at, UINT64_MAX);
    options_free(&options);
}
END_TEST

START_TEST(options_all)
{
    struct options options;

    faults = "consult:2,abort-at:9";
    PARSE(&options, "-np", "4", "-vv", "-splitio", "-x", "A=b=c", "-x", "HOME", "--bind", "none",
          "--timeout", "2.5", "--report", "--progress", "--core", "prog", "-np", "7");
    faults = NULL;
    ck_assert_msg(options.action == OPTIONS_RUN, "%s", options.error);
    ck_assert_int_eq(options.processes, 4);
    ck_assert_int_eq(options.verbosity, 2);
    ck_assert_int_eq(options.stdio, WIRE_STDIO_SPLIT);
    ck_assert_int_eq(options.bind, WIRE_BIND_NONE);
    ck_assert(options.timeout == 2.5 && options.report && options.progress && options.core_dumps);
    ck_assert_int_eq(options.export_count, 2);
    ck_assert_str_eq(options.exports[0], "A=b=c");
    ck_assert_str_eq(options.exports[1], "HOME=/home/me");
    ck_assert_int_eq(options.command_length, 3);
    ck_assert_str_eq(options.command[2], "7");
    ck_assert_uint_eq(options.faults.consult_every, 2);
    ck_assert_uint_eq(options.faults.abort_at, 9);
    options_free(&options);
}
END_TEST

START_TEST(options_bound)
{
    struct options options;

    procs = "3";
    PARSE(&options, "prog");
    ck_assert_int_eq(options.processes, 3);
    options_free(&options);
    PARSE(&options, "-np", "5", "prog");
    ck_assert_int_eq(options.processes, 5);
    options_free(&options);
    procs = "";
    PARSE(&options, "prog");
    ck_assert_int_eq(options.processes, 0);
    options_free(&options);
    procs = NULL;
    PARSE(&options, "-np", "4096", "prog");
    ck_assert_int_eq(options.action, OPTIONS_RUN);
    options_free(&options);
    PARSE(&options, "-np", "4097", "prog");
    ck_assert_int_eq(options.action, OPTIONS_ERROR);
    options_free(&options);
}
END_TEST

START_TEST(options_wrong)
{
    struct options options;

    PARSE(&options, "--reprot", "prog");
    ck_assert_int_eq(options.action, OPTIONS_ERROR);
    ck_assert_ptr_nonnull(strstr(options.error, "did you mean --report?"));
    options_free(&options);
    PARSE(&options, "-x", "NOT_THERE", "prog");
    ck_assert_int_eq(options.action, OPTIONS_ERROR);
    options_free(&options);
    PARSE(&options, "--timeout");
    ck_assert_int_eq(options.action, OPTIONS_ERROR);
    ck_assert_ptr_nonnull(strstr(options.error, "needs a value"));
    options_free(&options);
    PARSE(&options, "-help", "--nonsense");
    ck_assert_int_eq(options.action, OPTIONS_HELP);
    options_free(&options);
}
END_TEST

/* ---- Options about snapshots ---- */

static void set(int index, const char *name, const char *value)
{
    settings[index][0] = name;
    settings[index][1] = value;
}

START_TEST(snapshot_defaults)
{
    struct options options;

    PARSE(&options, "prog");
    ck_assert(options_complete(&options, 0));
    ck_assert_ptr_null(options.snapshots.directory);
    options_free(&options);
    PARSE(&options, "--ckpt", "dir", "prog");
    ck_assert_msg(options_complete(&options, 0), "%s", options.error);
    ck_assert_str_eq(options.snapshots.directory, "dir");
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_AUTO);
    ck_assert_uint_eq(options.snapshots.every, 1);
    ck_assert(options.snapshots.overhead == 0.05);
    ck_assert_int_eq(options.snapshots.on_refusal, ON_REFUSAL_FIRST);
    ck_assert_int_eq(options.snapshots.async, WIRE_ASYNC_AUTO);
    ck_assert_uint_eq(options.snapshots.keep, 3);
    ck_assert_uint_eq(options.snapshots.max_restarts, 10);
    ck_assert_uint_eq(options.snapshots.grace_ms, 30000);
    ck_assert_int_eq(options.kept_count, 0);
    options_free(&options);
}
END_TEST

START_TEST(snapshot_values)
{
    struct options options;

    PARSE(&options, "--ckpt=d", "--every", "7", "--overhead", "2.5%", "--async", "off", "--keep",
          "all", "--max-restarts", "0", "--ckpt-exclude", "fd:7", "--ckpt-exclude", "path:/x/*",
          "--on-refuse", "continue", "--grace", "1.5", "--bind", "none", "prog", "--every", "x");
    ck_assert_msg(options_complete(&options, 30), "%s", options.error);
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_SUPERSTEPS);
    ck_assert_uint_eq(options.snapshots.every, 7);
    ck_assert(options.snapshots.overhead == 0.025);
    ck_assert_int_eq(options.snapshots.on_refusal, ON_REFUSAL_CONTINUE);
    ck_assert_int_eq(options.snapshots.async, WIRE_ASYNC_OFF);
    ck_assert_uint_eq(options.snapshots.keep, 0);
    ck_assert_uint_eq(options.snapshots.max_restarts, 0);
    ck_assert_int_eq(options.snapshots.excluded_count, 2);
    ck_assert_str_eq(options.snapshots.excluded[1], "path:/x/*");
    ck_assert_uint_eq(options.snapshots.grace_ms, 1500);
    ck_assert_int_eq(options.kept_count, 10);
    ck_assert_str_eq(options.kept[0], "every=7");
    ck_assert_str_eq(options.kept[9], "bind=none");
    options_free(&options);
}
END_TEST

START_TEST(snapshot_times)
{
    static const struct {
        const char *text;
        uint64_t ns; /* 0: wrong */
    } cases[] = {{"30s", 30000000000},
                 {"1.5ms", 1500000},
                 {"2m", 120000000000},
                 {"1h", 3600000000000},
                 {".5s", 500000000},
                 {"0s", 0},
                 {"0", 0},
                 {"-1", 0},
                 {"30", 30},
                 {"3x", 0},
                 {"s", 0},
                 {"1e99h", 0},
                 {"", 0},
                 {"nan", 0},
                 {"18446744073709551615", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options options;

        PARSE(&options, "--ckpt", "d", "--every", cases[i].text, "prog");
        ck_assert_msg((options.action == OPTIONS_RUN) == (cases[i].ns > 0), "%s", cases[i].text);
        if (cases[i].ns > 0)
            ck_assert_uint_eq(options.snapshots.every, cases[i].ns);
        else
            ck_assert_ptr_nonnull(strstr(options.error, "--every "));
        options_free(&options);
    }
}
END_TEST

START_TEST(snapshot_nonsense)
{
    static const char *const pairs[][2] = {
        {"--overhead", "0%"}, {"--overhead", "5"},      {"--overhead", "101%"},
        {"--async", "yes"},   {"--keep", "0"},          {"--keep", "-1"},
        {"--keep", "3x"},     {"--max-restarts", "-1"}, {"--ckpt-exclude", "fd:"},
        {"--grace", "-1"},    {"--ckpt-exclude", "7"},  {"--ckpt-exclude", "path:"},
        {"--on-refuse", ""},  {"--ckpt", ""},           {"--grace", "soon"},
        {"--restart", ""},    {"--restart", "@7"},
    };
    struct options options;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        PARSE(&options, pairs[i][0], pairs[i][1], "prog");
        ck_assert_msg(options.action == OPTIONS_ERROR, "%s %s", pairs[i][0], pairs[i][1]);
        ck_assert_ptr_nonnull(strstr(options.error, pairs[i][0]));
        options_free(&options);
    }
    PARSE(&options, "--keep", "4", "prog");
    ck_assert(!options_complete(&options, 0));
    ck_assert_ptr_nonnull(strstr(options.error, "--keep without --ckpt DIR"));
    options_free(&options);
    PARSE(&options, "--ckpt", "d", "--restart", "d", "prog");
    ck_assert(!options_complete(&options, 0));
    options_free(&options);
    PARSE(&options, "-restart", "--restart", "d", "prog");
    ck_assert(!options_complete(&options, 0));
    options_free(&options);
    PARSE(&options, "-x", "A=b", "--restart", "d");
    ck_assert(!options_complete(&options, 0));
    options_free(&options);
}
END_TEST

START_TEST(snapshot_environment)
{
    struct options options;

    set(0, "BSPZERO_CKPT", "there");
    set(1, "BSPZERO_KEEP", "5");
    set(2, "BSPZERO_EVERY", "2s");
    set(3, "BSPZERO_CKPT_EXCLUDE", "fd:3\npath:/a b:c\n");
    PARSE(&options, "--every", "4", "prog");
    ck_assert_msg(options_complete(&options, 0), "%s", options.error);
    ck_assert_str_eq(options.snapshots.directory, "there");
    ck_assert_uint_eq(options.snapshots.keep, 5);
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_SUPERSTEPS);
    ck_assert_int_eq(options.snapshots.excluded_count, 2);
    ck_assert_str_eq(options.snapshots.excluded[1], "path:/a b:c");
    options_free(&options);
    set(1, "BSPZERO_KEEP", "none");
    PARSE(&options, "prog");
    ck_assert(!options_complete(&options, 0));
    ck_assert_ptr_nonnull(strstr(options.error, "BSPZERO_KEEP=none"));
    options_free(&options);
    set(0, "BSPZERO_CKPT", ""); /* without snapshots the others do not matter */
    PARSE(&options, "prog");
    ck_assert(options_complete(&options, 0) && !options.snapshots.directory);
    options_free(&options);
    memset(settings, 0, sizeof settings);
}
END_TEST

START_TEST(snapshots_as_linked)
{
    struct options options;

    PARSE(&options, "bin/prog");
    ck_assert(options_complete(&options, 90));
    ck_assert_str_eq(options.snapshots.directory, "./prog.ckpt");
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_TIME);
    ck_assert_uint_eq(options.snapshots.every, 90000000000);
    options_free(&options);
    PARSE(&options, "--every", "auto", "--ckpt", "else", "prog");
    ck_assert(options_complete(&options, 90));
    ck_assert_str_eq(options.snapshots.directory, "else");
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_AUTO);
    options_free(&options);
}
END_TEST

START_TEST(restart_options)
{
    struct options options;

    PARSE(&options, "--restart", "d/j@12");
    ck_assert(options_complete(&options, 0));
    ck_assert_str_eq(options.snapshots.restart, "d/j");
    ck_assert_uint_eq(options.snapshots.restart_at, 12);
    ck_assert_int_eq(options.command_length, 0);
    options_free(&options);
    PARSE(&options, "--restart=d@12/", "prog", "a");
    ck_assert(options_complete(&options, 0));
    ck_assert_str_eq(options.snapshots.restart, "d@12/");
    ck_assert_uint_eq(options.snapshots.restart_at, WIRE_NEVER);
    ck_assert_int_eq(options.command_length, 2);
    options_free(&options);
    PARSE(&options, "-restart", "-np", "2", "x/prog", "5");
    ck_assert(options_complete(&options, 60));
    ck_assert_str_eq(options.snapshots.restart, "./prog.ckpt");
    options_free(&options);
    PARSE(&options, "-restart");
    ck_assert_int_eq(options.action, OPTIONS_ERROR); /* of which program? */
    options_free(&options);
}
END_TEST

START_TEST(restart_recalls)
{
    static const char *const words[] = {"every=7",   "keep=9",    "ckpt-exclude=fd:3",
                                        "splitio",   "strange=1", "ckpt-exclude=fd:4",
                                        "timeout=5", "async=off"};
    struct options options;

    set(0, "BSPZERO_ASYNC", "on");
    set(1, "BSPZERO_GRACE", "9");
    PARSE(&options, "--restart", "d", "--keep", "2", "--tag-output");
    ck_assert(options_complete(&options, 0));
    ck_assert(options_recall(&options, words, 8));
    ck_assert_uint_eq(options.snapshots.every, 7);
    ck_assert_uint_eq(options.snapshots.keep, 2);
    ck_assert_int_eq(options.snapshots.excluded_count, 2);
    ck_assert_int_eq(options.stdio, WIRE_STDIO_TAG);
    ck_assert(options.timeout == 5);
    ck_assert_int_eq(options.snapshots.async, WIRE_ASYNC_OFF);
    ck_assert_uint_eq(options.snapshots.grace_ms, 9000);
    ck_assert_int_eq(options.kept_count, 8); /* for the restart after this one */
    options_free(&options);
    PARSE(&options, "--restart", "d");
    ck_assert(!options_recall(&options, (const char *[]){"keep=many"}, 1));
    options_free(&options);
    memset(settings, 0, sizeof settings);
}
END_TEST

/* ---- Options about hosts ---- */

static void forget_settings(void)
{
    memset(settings, 0, sizeof settings);
}

/* A file with this text in the working directory; the caller unlinks it. */
static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void expect_hosts(struct options *options, const char *expected)
{
    char text[512] = "";
    size_t used = 0;

    ck_assert_msg(options->action == OPTIONS_RUN && options_find_hosts(options, "me.example.org"),
                  "%s", options->error);
    for (uint32_t i = 0; i < options->hosts.all.count; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s:%u", i ? " " : "",
                             options->hosts.all.items[i].name, options->hosts.all.items[i].slots);
    ck_assert_str_eq(text, expected);
    options_free(options);
}

static void expect_no_hosts(struct options *options, const char *message)
{
    ck_assert(options->action == OPTIONS_ERROR || !options_find_hosts(options, "me"));
    ck_assert_msg(strstr(options->error, message), "%s", options->error);
    options_free(options);
}

START_TEST(host_defaults)
{
    struct options options;

    PARSE(&options, "prog");
    ck_assert(options_find_hosts(&options, "me"));
    ck_assert(options.hosts.only_here && !options.hosts.slurm && !options.hosts.launcher);
    ck_assert(!options.hosts.by_node && !options.hosts.encrypt && !options.hosts.oversubscribe &&
              !options.hosts.load);
    ck_assert_uint_eq(options.hosts.spares, 0);
    ck_assert_uint_eq(options.hosts.heartbeat_ms, 10000);
    ck_assert_uint_eq(options.hosts.copies, 2);
    ck_assert_uint_eq(options.hosts.all.count, 1);
    ck_assert_str_eq(options.hosts.all.items[0].name, "localhost");
    ck_assert_uint_eq(options.hosts.all.items[0].slots, 0);
    options_free(&options);
}
END_TEST

START_TEST(host_values)
{
    struct options options;

    PARSE(&options, "--hosts", "a:4,b:4", "--map-by", "node", "--spares", "1", "--launcher",
          "rsh -x", "--heartbeat", "2.5", "--connect-timeout", "7", "--copies", "3", "--encrypt",
          "--oversubscribe", "--load", "prog", "--hosts", "c");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert(options.hosts.by_node && options.hosts.encrypt && options.hosts.oversubscribe &&
              options.hosts.load && !options.hosts.only_here);
    ck_assert_uint_eq(options.hosts.spares, 1);
    ck_assert_str_eq(options.hosts.launcher, "rsh -x");
    ck_assert_uint_eq(options.hosts.heartbeat_ms, 2500);
    ck_assert_uint_eq(options.hosts.copies, 3);
    ck_assert_uint_eq(options.hosts.connect_ms, 7000);
    ck_assert_int_eq(options.kept_count, 10);
    options_free(&options);
}
END_TEST

START_TEST(host_nonsense)
{
    static const char *const pairs[][2] = {
        {"--hosts", ""},         {"--hosts", "a,,b"},   {"--hosts", "a:0"},
        {"--hostfile", ""},      {"--map-by", "core"},  {"--spares", "-1"},
        {"--spares", "x"},       {"--spares", "1024"},  {"--launcher", " "},
        {"--launcher", "-x"},    {"--heartbeat", "0"},  {"--heartbeat", "x"},
        {"--heartbeat", "nan"},  {"--copies", "0"},     {"--copies", "5"},
        {"--launcher", ""},      {"--heartbeat", "1d"}, {"--connect-timeout", "0"},
        {"--hostfile", "./x/y"},
    };
    struct options options;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        PARSE(&options, pairs[i][0], pairs[i][1], "prog");
        expect_no_hosts(&options, pairs[i][0]);
    }
    PARSE(&options, "--hosts", "a", "--hostfile", "b", "prog");
    expect_no_hosts(&options, "give one of them");
    PARSE(&options, "--hosts", "a,b", "--spares", "2", "prog");
    expect_no_hosts(&options, "2 spare hosts: there are but 2 in all");
    PARSE(&options, "--launcher", "slurm", "prog");
    expect_no_hosts(&options, "not inside a Slurm allocation");
}
END_TEST

START_TEST(host_sources)
{
    struct options options;
    char home[] = "/tmp/bspzero-options-XXXXXX", hosts[64], old[64];

    ck_assert_ptr_nonnull(mkdtemp(home));
    snprintf(hosts, sizeof hosts, "%s/hosts", home);
    snprintf(old, sizeof old, "%s/.bsptcphosts", home);
    write_file(hosts, "f slots=2\n");
    write_file(old, "host(o) ncpus(3);\n");
    set(0, "HOME", home);
    set(1, "SLURM_JOB_ID", "7");
    set(2, "SLURM_JOB_NODELIST", "n[1-2]");
    PARSE(&options, "prog");
    expect_hosts(&options, "n1:0 n2:0");
    PARSE(&options, "--launcher", "slurm", "prog");
    expect_hosts(&options, "n1:0 n2:0");
    set(3, "BSPZERO_HOSTFILE", hosts);
    PARSE(&options, "prog");
    expect_hosts(&options, "f:2");
    set(4, "BSPZERO_HOSTS", "e:5");
    PARSE(&options, "prog");
    expect_hosts(&options, "e:5");
    PARSE(&options, "-nolocal", "prog");
    expect_hosts(&options, "o:3");
    PARSE(&options, "-hostlist", "hosts", "prog");
    expect_hosts(&options, "f:2");
    PARSE(&options, "--hostfile", hosts, "-nolocal", "prog");
    expect_hosts(&options, "f:2");
    PARSE(&options, "--hosts", "c", "-nolocal", "prog");
    expect_hosts(&options, "c:0");
    PARSE(&options, "--hosts", "c", "-local", "prog");
    expect_hosts(&options, "localhost:0");
    PARSE(&options, "-noload", "-nolocal", "prog");
    expect_hosts(&options, "localhost:0");
    unlink(old);
    PARSE(&options, "-nolocal", "prog");
    expect_hosts(&options, "e:5");
    PARSE(&options, "-hostlist", "none", "prog");
    ck_assert(options_find_hosts(&options, "me") && options.hosts.only_here);
    ck_assert_ptr_nonnull(strstr(options.note, "-hostlist none: there is no such file"));
    options_free(&options);
    write_file(hosts, "f slots=x\n");
    PARSE(&options, "--hostfile", hosts, "prog");
    expect_no_hosts(&options, "hosts:1:9: ");
    unlink(hosts);
    rmdir(home);
    forget_settings();
}
END_TEST

START_TEST(host_environment)
{
    struct options options;

    set(0, "BSPZERO_HOSTS", "a,b,c");
    set(1, "BSPZERO_SPARES", "2");
    set(2, "BSPZERO_ENCRYPT", "1");
    set(3, "BSPZERO_LOAD", "0");
    set(4, "BSPZERO_HEARTBEAT", "3s");
    PARSE(&options, "--spares", "1", "prog");
    ck_assert_msg(options_find_hosts(&options, "me"), "%s", options.error);
    ck_assert_uint_eq(options.hosts.spares, 1);
    ck_assert(options.hosts.encrypt && !options.hosts.load);
    ck_assert_uint_eq(options.hosts.heartbeat_ms, 3000);
    options_free(&options);
    set(3, "BSPZERO_LOAD", "yes");
    PARSE(&options, "prog");
    expect_no_hosts(&options, "BSPZERO_LOAD=yes: give 1 or 0");
    forget_settings();
}
END_TEST

START_TEST(own_host_under_several_names)
{
    struct options options;

    PARSE(&options, "--hosts", "localhost:2,a:1,me:3,127.0.0.1:1", "prog");
    expect_hosts(&options, "localhost:6 a:1");
    PARSE(&options, "--hosts", "me:2,localhost", "prog");
    ck_assert(options_find_hosts(&options, "me.example.org") && options.hosts.only_here);
    ck_assert_uint_eq(options.hosts.all.items[0].slots, 0);
    options_free(&options);
    set(0, "SLURM_JOB_ID", "7");
    set(1, "SLURM_JOB_NODELIST", "node7");
    set(2, "SLURMD_NODENAME", "node7");
    set(3, "SLURM_JOB_CPUS_PER_NODE", "6");
    PARSE(&options, "prog");
    ck_assert(options_find_hosts(&options, "me") && options.hosts.only_here);
    ck_assert_uint_eq(options.hosts.all.items[0].slots, 6);
    options_free(&options);
    forget_settings();
}
END_TEST

START_TEST(slurm_nodes_by_name)
{
    static const struct {
        const char *hosts;
        bool slurm;
    } cases[] = {{"n1,n3:4", true}, {"n2,n4", false}, {"me,n1", true}, {"other", false}};
    struct options options;

    set(0, "SLURM_JOB_ID", "7");
    set(1, "SLURM_JOB_NODELIST", "n[1-3]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PARSE(&options, "--hosts", cases[i].hosts, "prog");
        ck_assert(options_find_hosts(&options, "me"));
        ck_assert_msg(options.hosts.slurm == cases[i].slurm, "%s", cases[i].hosts);
        options_free(&options);
    }
    PARSE(&options, "-local", "prog");
    ck_assert(options_find_hosts(&options, "me") && !options.hosts.slurm);
    options_free(&options);
    PARSE(&options, "prog");
    ck_assert(options_find_hosts(&options, "me") && options.hosts.slurm);
    options_free(&options);
    forget_settings();
}
END_TEST

/* A restart has the hosts of then, unless others are given. */
START_TEST(hosts_of_a_restart)
{
    static const char *const kept[] = {"hosts=a:2,b:2", "spares=1", "encrypt"};
    char file[] = "/tmp/bspzero-hosts-XXXXXX";
    struct options options;

    PARSE(&options, "--restart", "d");
    ck_assert(options_recall(&options, kept, 3));
    ck_assert(options.hosts.spares == 1 && options.hosts.encrypt);
    expect_hosts(&options, "a:2 b:2");
    PARSE(&options, "--restart", "d", "--hosts", "c,d,e");
    ck_assert(options_recall(&options, kept, 3));
    expect_hosts(&options, "c:0 d:0 e:0");
    close(mkstemp(file));
    write_file(file, "f\ng\n");
    PARSE(&options, "--restart", "d", "--hostfile", file);
    ck_assert(options_recall(&options, kept, 3));
    expect_hosts(&options, "f:1 g:1");
    unlink(file);
    PARSE(&options, "--restart", "d", "-local", "--spares", "0");
    ck_assert(options_recall(&options, kept, 3));
    expect_hosts(&options, "localhost:0");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        options_defaults,    options_all,       options_bound,
        options_wrong,       snapshot_defaults, snapshot_values,
        snapshot_times,      snapshot_nonsense, snapshot_environment,
        snapshots_as_linked, restart_options,   restart_recalls,
        host_defaults,       host_values,       host_nonsense,
        host_sources,        host_environment,  own_host_under_several_names,
        slurm_nodes_by_name, hosts_of_a_restart};
    Suite *suite = suite_create("options");
    TCase *cases = tcase_create("options");
    SRunner *runner;
    int failed;

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(cases, tests[i]);
    suite_add_tcase(suite, cases);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
