/* test_options.c - bsprun's options: the command line, the environment, what a restart takes over.
 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/launch_command.h"
#include "tests/integ/options_play.h"
#include "tests/unit/suite.h"

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

/* Names of several letters may have one dash. */
START_TEST(options_with_one_dash)
{
    struct options options;

    PARSE(&options, "-verbose", "-vv", "-total-supersteps", "9", "-kill-on-bad-exit",
          "-report=file", "prog", "-report=html");
    ck_assert_msg(options.action == OPTIONS_RUN, "%s", options.error);
    ck_assert_int_eq(options.verbosity, 2);
    ck_assert_uint_eq(options.total_supersteps, 9);
    ck_assert(options.run.end_on_bad_exit && options.report);
    ck_assert_str_eq(options.report_file, "file");
    ck_assert_str_eq(options.command[1], "-report=html");
    options_free(&options);
    PARSE(&options, "-report=html", "page", "-kill-on-bad-exit=0", "-K0", "prog");
    ck_assert_msg(options.action == OPTIONS_RUN, "%s", options.error);
    ck_assert_str_eq(options.report_page, "page");
    ck_assert(!options.run.end_on_bad_exit);
    options_free(&options);
    PARSE(&options, "-report=html");
    ck_assert_ptr_nonnull(strstr(options.error, "--report=html needs a value after it"));
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
    PARSE(&options, "--timeout", "1e-10", "prog"); /* less than a nanosecond: that would be none */
    ck_assert_int_eq(options.action, OPTIONS_ERROR);
    options_free(&options);
    PARSE(&options, "-help", "--nonsense");
    ck_assert_int_eq(options.action, OPTIONS_HELP);
    options_free(&options);
}
END_TEST

/* ---- Options about snapshots ---- */

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
    ck_assert(!options.snapshots.bounded);
    ck_assert_uint_eq(options.snapshots.mtbf_ns, 0);
    ck_assert_int_eq(options.snapshots.on_refusal, ON_REFUSAL_FIRST);
    ck_assert(!options.snapshots.together);
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
          "--ckpt-exclude", "child", "--on-refuse", "continue", "--grace", "1.5", "--bind", "none",
          "--recover", "all", "prog", "--every", "x");
    ck_assert_msg(options_complete(&options, 30), "%s", options.error);
    ck_assert_int_eq(options.snapshots.rule, WIRE_RULE_SUPERSTEPS);
    ck_assert_uint_eq(options.snapshots.every, 7);
    ck_assert(options.snapshots.overhead == 0.025);
    ck_assert(options.snapshots.bounded);
    ck_assert_int_eq(options.snapshots.on_refusal, ON_REFUSAL_CONTINUE);
    ck_assert(options.snapshots.together);
    ck_assert_int_eq(options.snapshots.async, WIRE_ASYNC_OFF);
    ck_assert_uint_eq(options.snapshots.keep, 0);
    ck_assert_uint_eq(options.snapshots.max_restarts, 0);
    ck_assert_int_eq(options.snapshots.excluded_count, 3);
    ck_assert_str_eq(options.snapshots.excluded[1], "path:/x/*");
    ck_assert_str_eq(options.snapshots.excluded[2], "child");
    ck_assert_uint_eq(options.snapshots.grace_ms, 1500);
    ck_assert_int_eq(options.kept_count, 12);
    ck_assert_str_eq(options.kept[0], "every=7");
    ck_assert_str_eq(options.kept[10], "bind-to=none");
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
                 {"2d", 172800000000000},
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

START_TEST(lives_of_hosts)
{
    static const struct {
        const char *text;
        uint64_t seconds; /* 0: wrong */
    } cases[] = {{"90m", 5400}, {"30d", 2592000}, {"300h", 1080000},
                 {"1s", 1},     {"1500ms", 1},    {"277000h", 997200000},
                 {"0", 0},      {"0s", 0},        {"-4h", 0},
                 {"999ms", 0},  {"1e99h", 0},     {"4", 0},
                 {"4y", 0},     {"280000h", 0},   {"nan", 0},
                 {"", 0},       {"inf", 0},       {"h", 0},
                 {"4 h", 0},    {"auto", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct options options;

        PARSE(&options, "--ckpt", "d", "--mtbf", cases[i].text, "prog");
        ck_assert_msg((options.action == OPTIONS_RUN) == (cases[i].seconds > 0), "%s",
                      cases[i].text);
        ck_assert_uint_eq(options.snapshots.mtbf_ns / 1000000000, cases[i].seconds);
        if (cases[i].seconds == 0)
            ck_assert_ptr_nonnull(strstr(options.error, "mean time between failures"));
        options_free(&options);
    }
}
END_TEST

START_TEST(snapshot_nonsense)
{
    static const char *const pairs[][2] = {
        {"--overhead", "0%"},
        {"--overhead", "5"},
        {"--overhead", "101%"},
        {"--async", "yes"},
        {"--keep", "0"},
        {"--keep", "-1"},
        {"--keep", "3x"},
        {"--max-restarts", "-1"},
        {"--ckpt-exclude", "fd:"},
        {"--grace", "-1"},
        {"--ckpt-exclude", "7"},
        {"--ckpt-exclude", "path:"},
        {"--ckpt-exclude", "children"},
        {"--on-refuse", ""},
        {"--recover", "some"},
        {"--ckpt", ""},
        {"--grace", "soon"},
        {"--restart", ""},
        {"--restart", "@7"},
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

/* Of how the program is run: a restart may be called elsewhere. */
START_TEST(run_is_recalled)
{
    struct options first, again;

    PARSE(&first, "--output", "/files", "--timestamp-output", "--display-map", "--stdin", "none",
          "--wdir", "/begin", "--export", "A=b", "prog");
    ck_assert_int_eq(first.action, OPTIONS_RUN);
    ck_assert_str_eq(first.run.directory, "/begin");
    ck_assert(first.run.only_named);
    PARSE(&again, "--restart", "d");
    ck_assert(options_recall(&again, (const char *const *)first.kept, (uint32_t)first.kept_count));
    ck_assert_str_eq(again.run.output, "/files");
    ck_assert(again.run.times && again.run.display_map && again.run.no_stdin);
    ck_assert_ptr_null(again.run.directory); /* that of the snapshot */
    ck_assert(!again.run.only_named);
    options_free(&again);
    options_free(&first);
}
END_TEST

/* A relative name is that of a directory here, also in what a restart takes over. */
START_TEST(run_is_absolute)
{
    char *here = getcwd(NULL, 0), whole[PATH_MAX], kept[PATH_MAX + 8];
    struct options options;

    snprintf(whole, sizeof whole, "%s/files", here);
    snprintf(kept, sizeof kept, "output=%s", whole);
    PARSE(&options, "--output", "files", "prog");
    ck_assert_str_eq(options.run.output, whole);
    ck_assert_int_eq(options.kept_count, 1);
    ck_assert_str_eq(options.kept[0], kept);
    options_free(&options);
    free(here);
}
END_TEST

/* So is a host file, and a launcher that is not looked up in PATH. */
START_TEST(files_are_kept_absolute)
{
    char *here = getcwd(NULL, 0), kept[PATH_MAX + 32];
    struct options options, again;

    PARSE(&options, "--hostfile", " hosts", "--launcher", " ./rsh 'a b'", "prog");
    ck_assert_int_eq(options.kept_count, 2);
    snprintf(kept, sizeof kept, "hostfile=%s/ hosts", here);
    ck_assert_str_eq(options.kept[0], kept);
    snprintf(kept, sizeof kept, "launcher=%s/./rsh 'a b'", here);
    ck_assert_str_eq(options.kept[1], kept);
    PARSE(&again, "--restart", "d");
    ck_assert(options_recall(&again, (const char *const *)options.kept, 2));
    ck_assert_str_eq(again.kept[1], kept);
    options_free(&again);
    options_free(&options);
    PARSE(&options, "--hostfile", "/hosts", "--launcher", "rsh ./x", "--launcher", "/bin/rsh",
          "prog");
    ck_assert_str_eq(options.kept[0], "hostfile=/hosts");
    ck_assert_str_eq(options.kept[1], "launcher=rsh ./x");
    ck_assert_str_eq(options.kept[2], "launcher=/bin/rsh");
    options_free(&options);
    free(here);
}
END_TEST

/* Where the directory has to be quoted. */
START_TEST(launcher_below_a_strange_directory)
{
    char here[] = "/tmp/it's a\\ \"place\" XXXXXX";
    const char **words;
    struct options options;

    ck_assert_ptr_nonnull(mkdtemp(here));
    ck_assert_int_eq(chdir(here), 0);
    PARSE(&options, "--launcher", "'./r s h' -x", "prog");
    words = launch_words(strchr(options.kept[0], '=') + 1);
    ck_assert_ptr_nonnull(words);
    ck_assert(strncmp(words[0], here, strlen(here)) == 0);
    ck_assert_str_eq(words[0] + strlen(here), "/./r s h");
    ck_assert_str_eq(words[1], "-x");
    free(words);
    options_free(&options);
    ck_assert_int_eq(rmdir(here), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {options_defaults,        options_all,
                                  options_with_one_dash,   options_bound,
                                  options_wrong,           snapshot_defaults,
                                  snapshot_values,         snapshot_times,
                                  snapshot_nonsense,       snapshot_environment,
                                  lives_of_hosts,          snapshots_as_linked,
                                  restart_options,         restart_recalls,
                                  run_is_recalled,         run_is_absolute,
                                  files_are_kept_absolute, launcher_below_a_strange_directory};

    return suite_run_tests("options", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
