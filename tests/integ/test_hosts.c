/* test_hosts.c - lists of hosts: --hosts, host files in their three forms, Slurm allocations. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/adapter.h"
#include "bsprun/hosts/hosts.h"
#include "tests/unit/suite.h"

static const char *variables[8][2];

static const char *lookup(const char *name)
{
    for (size_t i = 0; i < 8 && variables[i][0]; i++)
        if (strcmp(name, variables[i][0]) == 0)
            return variables[i][1];
    return NULL;
}

static void set(int index, const char *name, const char *value)
{
    variables[index][0] = name;
    variables[index][1] = value;
}

/* "name:slots name:slots", with user@ and =adapter. */
static const char *show(struct hosts *hosts)
{
    static char text[4096];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->items[i];

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s:%u%s%s", i ? " " : "",
                                 host->user ? host->user : "", host->user ? "@" : "", host->name,
                                 host->slots, host->adapter ? "=" : "",
                                 host->adapter ? host->adapter : "");
    }
    hosts_free(hosts);
    return text;
}

/* What a text gives: its hosts, or what the message ends with. */
struct example {
    const char *text, *hosts, *error;
};

static void try_list(const struct example *example)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR] = "";
    bool good = hosts_from_list(&hosts, example->text, "--hosts ", error);

    ck_assert_msg(good == (example->hosts != NULL), "%s: %s", example->text, error);
    if (good)
        ck_assert_str_eq(show(&hosts), example->hosts);
    else
        ck_assert_msg(strstr(error, example->error) && hosts.count == 0 && !hosts.items, "%s: %s",
                      example->text, error);
}

START_TEST(list)
{
    static const struct example examples[] = {
        {"a:4,b:4", "a:4 b:4"},
        {"a", "a:0"},
        {"a,b:2,c", "a:0 b:2 c:0"},
        {"a,a,b", "a:2 b:0"},
        {"a:4,A:2,a", "a:7"},
        {"me@a:2,me@a", "me@a:3"},
        {"[::1]:4,[fe80::1%eth0],u@[::2]", "::1:4 fe80::1%eth0:0 u@::2:0"},
        {"10.0.0.1:65536,node_1.example-x.org", "10.0.0.1:65536 node_1.example-x.org:0"},
        {"", NULL, "--hosts : the name of a host is missing (character 1)"},
        {"a,,b", NULL, "missing (character 3)"},
        {"a,", NULL, "missing (character 3)"},
        {"a:4,b:0", NULL, "from 1 to 65536 (character 5)"},
        {"a:", NULL, "slots"},
        {"a:65537", NULL, "slots"},
        {"a:4294967297", NULL, "slots"},
        {"a:-1", NULL, "slots"},
        {"a:65536,a", NULL, "more than 65536 slots"},
        {"::1", NULL, "as in [::1]"},
        {"-oProxyCommand=x", NULL, "not a host name"},
        {"-l@a", NULL, "not a user name"},
        {"@a", NULL, "not a user name"},
        {"a b", NULL, "a blank: hosts are separated by commas only (character 1)"},
        {"a:2 b:2", NULL, "a blank"},
        {"a:2, b:2", NULL, "a blank: hosts are separated by commas only (character 5)"},
        {"$(x)", NULL, "not a host name"},
        {"[a:1", NULL, "not a host name"},
        {"[]:1", NULL, "not a host name"},
        {"me@a,a", NULL, "two users"},
        {"me@a,you@a", NULL, "two users"},
    };

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        try_list(&examples[i]);
}
END_TEST

START_TEST(list_of_too_many)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR], *text = malloc(8 * (HOSTS_MAX + 1)), *at = text;

    for (unsigned i = 0; i < HOSTS_MAX; i++)
        at += sprintf(at, "%sn%u", i ? "," : "", i);
    ck_assert(hosts_from_list(&hosts, text, "", error));
    ck_assert_uint_eq(hosts.count, HOSTS_MAX);
    hosts_free(&hosts);
    strcpy(at, ",n");
    ck_assert(!hosts_from_list(&hosts, text, "", error));
    ck_assert_ptr_nonnull(strstr(error, "more than 1024 hosts"));
    free(text);
}
END_TEST

static void try_file(const struct example *example)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR] = "";
    bool good = hosts_from_file(&hosts, "F", example->text, strlen(example->text), lookup, error);

    ck_assert_msg(good == (example->hosts != NULL), "%s: %s", example->text, error);
    if (good)
        ck_assert_str_eq(show(&hosts), example->hosts);
    else
        ck_assert_msg(strncmp(error, example->error, strlen(example->error)) == 0 && !hosts.items,
                      "%s: %s", example->text, error);
}

START_TEST(file_of_lines)
{
    static const struct example examples[] = {
        {"a\nb\n", "a:1 b:1"},
        {"a\na\nb", "a:2 b:1"},
        {"# all\n\n  a slots=4 # fast\r\nb slots = 2 max_slots=8\n", "a:4 b:2"},
        {"a:4\nu@b max-slots=3\n[::1]:2\n[::2] slots=3", "a:4 u@b:1 ::1:2 ::2:3"},
        {"a slots=2\na slots=3\na\n", "a:6"},
        {"\xef\xbb\xbf"
         "a slots=2\r\nb slots=3\r\n",
         "a:2 b:3"}, /* by an editor of Windows */
        {"host\nhost2 slots=2\n", "host:1 host2:2"},
        {"", NULL, "F: it lists no host"},
        {"# a\n", NULL, "F: it lists no host"},
        {"a\n b slots=0\n", NULL, "F:2:10: expected a number from 1 to 65536"},
        {"a slots\n", NULL, "F:1:8: expected an equals sign"},
        {"a slots=", NULL, "F:1:9: expected a number"},
        {"a slots=4 fast\n", NULL, "F:1:11: a host name may be followed"},
        {"a slots=4 max_slots=2\n", NULL, "F:1:1: max_slots is less"},
        {"a:x\n", NULL, "F:1:3: the colon must be"},
        {"\n\n  =\n", NULL, "F:3:3: expected a host name, not \"=\""},
        {"a\n\xff\n", NULL, "F:2:1: \""},
        {"a\nu@a\n", NULL, "F:2:1: host a is listed with two users"},
        {"-x\n", NULL, "F:1:1: \"-x\" is not a host name"},
    };

    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        try_file(&examples[i]);
}
END_TEST

START_TEST(file_of_old)
{
    static const struct example examples[] = {
        {"host(a);host(b) ncpus(4) adapter(b-fast);", "a:1 b:4=b-fast"},
        {"# hosts\nhost ( \"a\" )\n ncpus ( 2 ) # two\n;\nHost(b.example.org);",
         "a:2 b.example.org:1"},
        {"host($H) ncpus($N) macaddr(0:1:2);", "from-env:3"},
        {"host(a) ncpus(0);host(b) ncpus(1024);host(c) ncpus(x);host(d) ncpus(1023);",
         "a:1 b:1 c:1 d:1023"},
        {"host(a) ncpus(2) ncpus(3); host(a) ncpus(2);", "a:5"},
        {"host(a)", NULL,
         "F:1:8: expected a key, as in host(NAME) or ncpus(4), or a semicolon, "
         "but the file ends"},
        {"host(a) host(b);", NULL, "F:1:9: a semicolon is missing"},
        {"host(a);\nncpus(2);", NULL, "F:2:1: host(NAME) must come first"},
        {"host(a) ncpus;", NULL, "F:1:14: expected a parenthesis"},
        {"host(a) ncpus(2;", NULL, "F:1:16: expected a closing parenthesis, not \";\""},
        {"host(\"a\n\");", NULL, "F:1:6: this quoted string does not end"},
        {"host($NOT);", NULL, "F:1:6: $NOT is not in the environment"},
        {"host($);", NULL, "F:1:7: expected a value"},
        {"host();", NULL, "F:1:6: expected a value"},
        {"host(\"a b\");", NULL, "F:1:6: \"a b\" is not a host name"},
        {"host(a) adapter(\"x y\");", NULL, "F:1:17: "},
        {"host(a) adapter(x) adapter(y);", NULL, "F:1:28: this host already has"},
        {"host(a); b slots=2", NULL, "F:1:12: expected a parenthesis"},
    };

    set(0, "H", "from-env");
    set(1, "N", "3");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        try_file(&examples[i]);
}
END_TEST

START_TEST(adapters)
{
    static const char *const cases[][3] = {
        {"1.2.3.4:5 10.0.0.1:5 [::1]:5", "10.0.0.1 ", "10.0.0.1:5 1.2.3.4:5 [::1]:5"},
        {"1.2.3.4:5 10.0.0.1:5 [::1]:5", "::1 1.2.3.4", "1.2.3.4:5 [::1]:5 10.0.0.1:5"},
        {"1.2.3.4:5 10.0.0.1:5", "1.2.3 0.0.0.1 2.2.2.2", "1.2.3.4:5 10.0.0.1:5"},
        {" 1.2.3.4:5  10.0.0.1:5 ", "", "1.2.3.4:5 10.0.0.1:5"},
        {"", "1.2.3.4", ""},
    };
    const char *error = NULL;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *ordered = adapter_first(cases[i][0], cases[i][1]);

        ck_assert_str_eq(ordered, cases[i][2]);
        free(ordered);
    }
    char *found = adapter_resolve("127.0.0.1", &error);
    ck_assert_str_eq(found, "127.0.0.1 ");
    free(found);
    ck_assert_ptr_null(adapter_resolve("999.1.1.1.invalid", &error));
    ck_assert_ptr_nonnull(error);
}
END_TEST

START_TEST(same_addresses)
{
    ck_assert(adapter_same("10.0.0.1:5 [fd00::1]:5", " [fd00::1]:77 10.0.0.1:77 "));
    ck_assert(adapter_same("10.0.0.1:5", "10.0.0.1:5 10.0.0.1:6"));
    ck_assert(!adapter_same("10.0.0.1:5", "10.0.0.10:5") &&
              !adapter_same("10.0.0.10:5", "10.0.0.1:5"));
    ck_assert(!adapter_same("10.0.0.1:5 [fd00::1]:5", "10.0.0.1:5"));
    ck_assert(!adapter_same("10.0.0.1:5", "10.0.0.1:5 [fd00::1]:5"));
    ck_assert(!adapter_same("", "") && !adapter_same(" ", "10.0.0.1:5"));
}
END_TEST

/* ---- Slurm ---- */

static void try_slurm(const char *nodes, const char *hosts_expected, const char *error_expected)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR] = "";

    set(0, "SLURM_JOB_NODELIST", nodes);
    bool good = hosts_from_slurm(&hosts, lookup, error);
    ck_assert_msg(good == (hosts_expected != NULL), "%s: %s", nodes, error);
    if (good)
        ck_assert_str_eq(show(&hosts), hosts_expected);
    else
        ck_assert_msg(strstr(error, error_expected) && !hosts.items, "%s: %s", nodes, error);
}

START_TEST(slurm_nodes)
{
    set(1, "SLURM_JOB_ID", "7");
    ck_assert(!hosts_in_slurm(lookup));
    try_slurm("n1", "n1:0", NULL);
    ck_assert(hosts_in_slurm(lookup));
    try_slurm("n[1-3,07],gpu[01-02]-x", "n1:0 n2:0 n3:0 n07:0 gpu01-x:0 gpu02-x:0", NULL);
    try_slurm("r[1-2]n[08-10]", "r1n08:0 r1n09:0 r1n10:0 r2n08:0 r2n09:0 r2n10:0", NULL);
    try_slurm("a,b", "a:0 b:0", NULL);
    try_slurm("n[1-3", NULL, "bracket is not closed");
    try_slurm("n[]", NULL, "must contain numbers");
    try_slurm("n[1-]", NULL, "must contain numbers");
    try_slurm("n[1-2x]", NULL, "must contain numbers");
    try_slurm("n[3-1]", NULL, "descending");
    try_slurm("n[1-2000]", NULL, "too long");
    try_slurm("n[1-1000],m[1-1000]", NULL, "more than 1024 hosts");
    try_slurm("n[1-9][1-9][1-9][1-9][1-9][1-9][1-9]", NULL, "more than 1024 hosts");
    try_slurm("n[1,1,1,1][1,1,1,1][1,1,1,1][1,1,1,1][1,1,1,1][1,1,1,1][1,1,1,1][1,1,1,1][1,1]",
              NULL, "more than 65536 slots");
    try_slurm("n[9999999999]", NULL, "must contain numbers");
    try_slurm("a,,b", NULL, "missing");
    try_slurm("a]b", NULL, "not a host name");
}
END_TEST

#define RUNS "JobId=7 JobName=x JobState=RUNNING "

START_TEST(scontrol_says)
{
    static const struct {
        const char *text, *expected; /* an error begins with a blank */
        bool preempted;
    } cases[] = {
        {RUNS "PreemptTime=None ReqNodeList=z NodeList=n[1-2],m BatchHost=m\n", "n1:0 n2:0 m:0",
         false},
        {RUNS "PreemptTime=2026-01-02T03:04:05 NodeList=a\n", "a:0", true},
        {RUNS "PreemptTime=Unknown NodeList=a", "a:0", false},
        {RUNS "NodeList=a \n", "a:0", false},
        /* The others of an array. */
        {"JobId=8 ArrayJobId=7 JobState=RUNNING NodeList=b\n\n" RUNS "ArrayJobId=7 NodeList=a\n",
         "a:0", false},
        {"JobId=77 JobState=RUNNING NodeList=b", " does not say", false},
        {"JobId=7 JobState=SUSPENDED NodeList=a", "a:0", false},
        {"JobId=7 JobState=COMPLETING NodeList=a", " it is COMPLETING", false},
        {RUNS "ReqNodeList=a\nNodeList=b", " does not say", false},
        {RUNS "NodeList=(null)", " not a host name", false},
        {RUNS "NodeList= x", " missing", false},
        {RUNS "NodeList=n[1", " not closed", false},
        {RUNS "NodeList=n[1-1000],m[1-1000]", " hosts", false},
        {"", " does not say", false},
        {"nonsense", " does not say", false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hosts hosts = {NULL, 0};
        char error[HOSTS_ERROR] = "";
        bool preempted = false;
        const char *expected = cases[i].expected;

        if (hosts_from_scontrol(&hosts, cases[i].text, "7", &preempted, error))
            ck_assert_str_eq(show(&hosts), expected);
        else
            ck_assert_msg(*expected == ' ' && strstr(error, expected + 1) && !hosts.items, "%s: %s",
                          cases[i].text, error);
        ck_assert_msg(preempted == cases[i].preempted, "%s", cases[i].text);
    }
}
END_TEST

START_TEST(hosts_by_name)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR];

    ck_assert(hosts_from_list(&hosts, "node1,node2", "", error));
    ck_assert_ptr_eq(hosts_named(&hosts, "NODE2"), &hosts.items[1]);
    ck_assert_ptr_null(hosts_named(&hosts, "node"));
    hosts_free(&hosts);
}
END_TEST

START_TEST(slurm_slots)
{
    set(1, "SLURM_JOB_ID", "7");
    set(2, "SLURM_JOB_CPUS_PER_NODE", "8(x2),4");
    try_slurm("n[1-3]", "n1:8 n2:8 n3:4", NULL);
    set(3, "SLURM_CPUS_PER_TASK", "5");
    try_slurm("n[1-3]", "n1:1 n2:1 n3:1", NULL);
    set(4, "SLURM_TASKS_PER_NODE", "3(x2),1");
    try_slurm("n[1-3]", "n1:1 n2:1 n3:1", NULL);
    set(5, "SLURM_NTASKS", "7");
    try_slurm("n[1-3]", "n1:3 n2:3 n3:1", NULL);
    try_slurm("n[1-2]", NULL, "for each of the 2 nodes");
    try_slurm("n[1-4]", NULL, "for each of the 4 nodes");
    static const char *const bad[] = {"2(x3", "2(x0)", "0(x3)", "2(x3),", "x", "2(3)", ""};
    for (size_t i = 0; i + 1 < sizeof bad / sizeof *bad; i++) {
        set(4, "SLURM_TASKS_PER_NODE", bad[i]);
        try_slurm("n[1-3]", NULL, "SLURM_TASKS_PER_NODE=");
    }
}
END_TEST

/* srun sets the variables of tasks to those of its step, which may have fewer nodes. */
START_TEST(slurm_step)
{
    set(1, "SLURM_JOB_ID", "7");
    set(2, "SLURM_NTASKS", "1");
    set(3, "SLURM_TASKS_PER_NODE", "1");
    set(4, "SLURM_STEP_TASKS_PER_NODE", "1");
    try_slurm("n[1-3]", NULL, "for each of the 3 nodes");
    set(5, "SLURM_JOB_CPUS_PER_NODE", "8(x2),4");
    try_slurm("n[1-3]", "n1:8 n2:8 n3:4", NULL);
    try_slurm("n[1-2]", NULL, "SLURM_TASKS_PER_NODE=");
    try_slurm("n1", "n1:1", NULL);
    set(4, "SLURM_STEP_TASKS_PER_NODE", "2");
    try_slurm("n[1-3]", NULL, "SLURM_TASKS_PER_NODE=");
}
END_TEST

START_TEST(own_names)
{
    ck_assert(hosts_is_own("localhost", "a") && hosts_is_own("::1", ""));
    ck_assert(hosts_is_own("a", "a") && hosts_is_own("A", "a.example.org"));
    ck_assert(hosts_is_own("a.example.org", "a"));
    ck_assert(!hosts_is_own("a.example.org", "a.example.com") && !hosts_is_own("ab", "a"));
    ck_assert(!hosts_is_own("10.0.0.1", "10") && !hosts_is_own("127.0.0.2", "a"));
}
END_TEST

START_TEST(own_addresses)
{
    static const char *const addresses[] = {"10.0.0.7", "fd00::7", NULL};
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR];

    ck_assert(hosts_from_list(&hosts, "a:1,10.0.0.7:2,10.0.0.70:3,[fd00:0::7]:4,u@10.0.0.7:5", "",
                              error) == false); /* one host with two users */
    ck_assert(
        hosts_from_list(&hosts, "a:1,10.0.0.7:2,10.0.0.70:3,[fd00:0::7]:4,fd00:5", "", error));
    hosts_find_own(&hosts, NULL);
    hosts_find_own(&hosts, addresses);
    hosts_merge_own(&hosts, "me");
    ck_assert_str_eq(show(&hosts), "a:1 localhost:6 10.0.0.70:3 fd00:5");
}
END_TEST

static int resolved;

static char *addresses_of(const char *name)
{
    resolved++;
    if (strcmp(name, "b") == 0)
        return strdup("10.0.0.2 fd00::2 ");
    return strcmp(name, "c") == 0 ? strdup("10.0.0.3") : NULL;
}

static bool named_twice(const char *list, char *error)
{
    struct hosts hosts = {NULL, 0};
    bool twice;

    ck_assert_msg(hosts_from_list(&hosts, list, "", error), "%s", error);
    resolved = 0;
    twice = hosts_named_twice(&hosts, addresses_of, error);
    hosts_free(&hosts);
    return twice;
}

START_TEST(a_host_of_two_names)
{
    char error[HOSTS_ERROR] = "";

    ck_assert(named_twice("a,b,c,10.0.0.2", error));
    ck_assert_str_eq(error, "b and 10.0.0.2 are the same host: list it under one name");
    ck_assert(named_twice("[fd00:0::2],b", error));
    ck_assert(!named_twice("a,b,10.0.0.3,10.0.0.20", error) && resolved == 2);
    ck_assert(!named_twice("a,b,c", error) && resolved == 0);
    ck_assert(!named_twice("10.0.0.2,10.0.0.3", error) && resolved == 0);
}
END_TEST

START_TEST(crowded)
{
    char line[HOSTS_ERROR];

    ck_assert(!hosts_crowded(4, 0, 4, line) && !hosts_crowded(0, 0, 4, line));
    ck_assert(!hosts_crowded(9, 4, 4, line) && !hosts_crowded(3, 9, 4, line));
    ck_assert(hosts_crowded(0, 5, 4, line) && hosts_crowded(9, 5, 4, line));
    ck_assert_ptr_nonnull(strstr(line, "5 processes have 4 slots"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tests = tcase_create("hosts");

    tcase_add_test(tests, list);
    tcase_add_test(tests, list_of_too_many);
    tcase_add_test(tests, file_of_lines);
    tcase_add_test(tests, file_of_old);
    tcase_add_test(tests, adapters);
    tcase_add_test(tests, slurm_nodes);
    tcase_add_test(tests, same_addresses);
    tcase_add_test(tests, scontrol_says);
    tcase_add_test(tests, hosts_by_name);
    tcase_add_test(tests, slurm_slots);
    tcase_add_test(tests, slurm_step);
    tcase_add_test(tests, own_names);
    tcase_add_test(tests, own_addresses);
    tcase_add_test(tests, a_host_of_two_names);
    tcase_add_test(tests, crowded);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
