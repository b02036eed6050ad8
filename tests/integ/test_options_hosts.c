/* test_options_hosts.c - bsprun's options about hosts. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/integ/options_play.h"
#include "tests/unit/suite.h"

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
              !options.hosts.load && options.hosts.balance && options.hosts.rejoin_ms == 60000);
    ck_assert_int_eq(options.hosts.owner.policy, WIRE_POLICY_NONE);
    ck_assert_uint_eq(options.hosts.spares, 0);
    ck_assert_uint_eq(options.hosts.heartbeat_ms, 10000);
    ck_assert_uint_eq(options.hosts.copies, 2);
    ck_assert_uint_eq(options.hosts.all.count, 1);
    ck_assert_str_eq(options.hosts.all.items[0].name, "localhost");
    ck_assert_uint_eq(options.hosts.all.items[0].slots, 0);
    options_free(&options);
}
END_TEST

static uint32_t replicas_of(const struct options *options, uint32_t pid)
{
    return replica_counts_of(&options->hosts.replicas, pid);
}

static void expect_wrong_replicas(struct options *options, const char *part)
{
    ck_assert(!options_find_hosts(options, "a") && options->action == OPTIONS_ERROR);
    ck_assert_msg(strstr(options->error, part) != NULL, "%s", options->error);
    options_free(options);
}

START_TEST(replica_lists)
{
    struct options options;

    PARSE(&options, "-np", "8", "--hosts", "a,b,c,d,e", "--replicas", "0=3,1-7=2", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert(replicas_of(&options, 0) == 3 && replicas_of(&options, 7) == 2);
    options_free(&options);
    PARSE(&options, "-np", "8", "--hosts", "a,b,c,d", "--replicas", "0=3,1-7=2", "prog");
    expect_wrong_replicas(&options, "5 hosts are needed");
    PARSE(&options, "-np", "9", "--hosts", "a,b,c,d,e", "--replicas", "0=3,1-7=2", "prog");
    expect_wrong_replicas(&options, "6 hosts are needed");
    PARSE(&options, "-np", "4", "--hosts", "a,b,c,d,e", "--replicas", "0=3,1-7=2", "prog");
    expect_wrong_replicas(&options, "there is no process 7: with -np 4 they are 0 to 3");
    PARSE(&options, "--hosts", "a,b,c,d,e", "--replicas", "0=3,1-7=2", "prog");
    expect_wrong_replicas(&options, "give the number of processes, too, with -np");
}
END_TEST

START_TEST(replicas_on_one_host)
{
    struct options options;

    PARSE(&options, "--hosts", "a:2,user@b", "--replicas", "3", "--replicas-on-host", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    const struct hosts *all = &options.hosts.all;
    ck_assert_uint_eq(all->count, 6);
    ck_assert_str_eq(all->items[2].name, "a#2");
    ck_assert_str_eq(all->items[5].name, "b#3");
    ck_assert_str_eq(all->items[5].reached, "b");
    ck_assert_str_eq(all->items[5].user, "user");
    ck_assert(all->items[4].here && !all->items[5].here && all->items[4].slots == 2);
    options_free(&options);
    PARSE(&options, "--replicas", "2", "--replicas-on-host", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert_uint_eq(options.hosts.all.count, 2);
    ck_assert(!options.hosts.only_here);
    options_free(&options);
    PARSE(&options, "-np", "2", "--replicas", "0=2", "--replicas-on-host", "prog");
    expect_wrong_replicas(&options, "give one number with --replicas");
    PARSE(&options, "--hosts", "a,b", "--replicas-on-host", "prog");
    expect_wrong_replicas(&options, "give their number");
    PARSE(&options, "--hosts", "a,b", "--spares", "1", "--replicas", "2", "--replicas-on-host",
          "prog");
    expect_wrong_replicas(&options, "--replicas-on-host with --spares");
}
END_TEST

START_TEST(replica_values)
{
    struct options options;

    PARSE(&options, "--hosts", "a,b,c", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert(replicas_of(&options, 0) == 1 && !options.hosts.any_replica_files);
    ck_assert_int_eq(options.hosts.on_mismatch, WIRE_MISMATCH_ROLLBACK);
    options_free(&options);
    PARSE(&options, "--hosts", "a,b,c", "--replicas", "3", "--replica-log", "64M",
          "--replica-files", "allow", "--on-mismatch", "end", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert(replicas_of(&options, 9) == 3 && options.hosts.any_replica_files);
    ck_assert(!options.run.no_stdin);
    ck_assert_uint_eq(options.hosts.replica_log, 64u << 20);
    ck_assert_int_eq(options.hosts.on_mismatch, WIRE_MISMATCH_END);
    options_free(&options);
    PARSE(&options, "--hosts", "a,b,c", "--spares", "1", "--replicas", "3", "prog");
    ck_assert(!options_find_hosts(&options, "a") && options.action == OPTIONS_ERROR);
    ck_assert_ptr_nonnull(strstr(options.error, "there are 2"));
    options_free(&options);
}
END_TEST

START_TEST(host_values)
{
    struct options options;

    PARSE(&options, "--hosts", "a:4,b:4", "--map-by", "node", "--spares", "1", "--launcher",
          "rsh -x", "--heartbeat", "2.5", "--connect-timeout", "7", "--copies", "3", "--encrypt",
          "--oversubscribe", "--load", "--balance", "off", "--precopy", "off", "--rejoin", "5",
          "--ports", "1-65535", "--owner-policy", "leave", "prog", "--hosts", "c");
    ck_assert(options_find_hosts(&options, "a"));
    ck_assert(options.hosts.by_node && options.hosts.encrypt && options.hosts.oversubscribe &&
              options.hosts.load && !options.hosts.balance && options.hosts.at_once && options.hosts.rejoin_ms == 5000 &&
              !options.hosts.only_here);
    ck_assert_uint_eq(options.hosts.spares, 1);
    ck_assert_str_eq(options.hosts.launcher, "rsh -x");
    ck_assert_uint_eq(options.hosts.heartbeat_ms, 2500);
    ck_assert_uint_eq(options.hosts.copies, 3);
    ck_assert_uint_eq(options.hosts.connect_ms, 7000);
    ck_assert_uint_eq(options.hosts.first_port, 1);
    ck_assert_uint_eq(options.hosts.last_port, 65535);
    ck_assert_int_eq(options.hosts.owner.policy, WIRE_POLICY_LEAVE);
    ck_assert_int_eq(options.kept_count, 15);
    options_free(&options);
}
END_TEST

/* What processes are mapped to they are bound to, unless it is said to what. */
START_TEST(binding_and_mapping)
{
    static const struct {
        const char *map, *bind;
        enum wire_map to_map;
        enum wire_bind to_bind;
    } cases[] = {
        {"slot", NULL, WIRE_MAP_SLOT, WIRE_BIND_DEFAULT},
        {"node", "none", WIRE_MAP_SLOT, WIRE_BIND_NONE},
        {"core", NULL, WIRE_MAP_CORE, WIRE_BIND_CORE},
        {"hwthread", NULL, WIRE_MAP_HWTHREAD, WIRE_BIND_HWTHREAD},
        {"socket", NULL, WIRE_MAP_PACKAGE, WIRE_BIND_PACKAGE},
        {"numa", NULL, WIRE_MAP_NUMA, WIRE_BIND_NUMA},
        {"package", "core", WIRE_MAP_PACKAGE, WIRE_BIND_CORE},
        {"core", "socket", WIRE_MAP_CORE, WIRE_BIND_PACKAGE},
        {"node", "hwthread", WIRE_MAP_SLOT, WIRE_BIND_HWTHREAD},
    };
    struct options options;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].bind)
            PARSE(&options, "--map-by", cases[i].map, "--bind-to", cases[i].bind, "prog");
        else
            PARSE(&options, "--map-by", cases[i].map, "prog");
        ck_assert_msg(options_find_hosts(&options, "a"), "%s", options.error);
        ck_assert(options.hosts.by_node == (strcmp(cases[i].map, "node") == 0));
        ck_assert_int_eq(options.map, cases[i].to_map);
        ck_assert_int_eq(options.bind, cases[i].to_bind);
        options_free(&options);
    }
    PARSE(&options, "--map-by", "core", "--map-by", "slot", "--bind", "none", "prog");
    ck_assert(options_find_hosts(&options, "a"));
    options_free(&options);
    PARSE(&options, "--map-by", "numa", "--bind-to", "none", "prog");
    expect_no_hosts(&options, "--map-by numa and --bind-to none: ");
}
END_TEST

/* What is not said is as if nothing had been said before. */
START_TEST(owner_thresholds)
{
    struct options options;
    const struct options_owner *owner = &options.hosts.owner;

    PARSE(&options, "--owner-policy", "nice:load=2,quiet=0.1", "prog");
    ck_assert(owner->policy == WIRE_POLICY_NICE && owner->load == 2 && owner->quiet_ms == 100 &&
              owner->input_ms == 60000);
    options_free(&options);
    PARSE(&options, "--owner-policy", "nice:load=2", "--owner-policy",
          "yield:input=86400,load=0.25,input=1.5", "prog");
    ck_assert(owner->policy == WIRE_POLICY_YIELD && owner->load == 0.25 &&
              owner->quiet_ms == 60000 && owner->input_ms == 1500);
    options_free(&options);
    PARSE(&options, "--owner-policy", "none:quiet=5", "prog");
    ck_assert(owner->policy == WIRE_POLICY_NONE);
    options_free(&options);
}
END_TEST

START_TEST(host_nonsense)
{
    static const char *const pairs[][2] = {
        {"--hosts", ""},
        {"--hosts", "a,,b"},
        {"--hosts", "a:0"},
        {"--hostfile", ""},
        {"--map-by", "board"},
        {"--map-by", "core:pe=2"},
        {"--map-by", ""},
        {"--spares", "-1"},
        {"--spares", "x"},
        {"--spares", "1024"},
        {"--launcher", " "},
        {"--launcher", "-x"},
        {"--launcher", "''"},
        {"--heartbeat", "0"},
        {"--heartbeat", "x"},
        {"--heartbeat", "nan"},
        {"--copies", "0"},
        {"--copies", "5"},
        {"--replicas", "0"},
        {"--replicas", "5"},
        {"--replica-log", "0"},
        {"--replica-files", "some"},
        {"--on-mismatch", "maybe"},
        {"--launcher", ""},
        {"--heartbeat", "1d"},
        {"--connect-timeout", "0"},
        {"--rejoin", "never"},
        {"--owner-policy", "never"},
        {"--owner-policy", ""},
        {"--owner-policy", "nicer"},
        {"--owner-policy", "nic"},
        {"--owner-policy", ":input=5"},
        {"--owner-policy", "nice:"},
        {"--owner-policy", "nice:input"},
        {"--owner-policy", "nice:input="},
        {"--owner-policy", "nice:input=0.05"},
        {"--owner-policy", "nice:input=86401"},
        {"--owner-policy", "nice:input=0x10"},
        {"--owner-policy", "nice:input=1e3"},
        {"--owner-policy", "nice:input=-5"},
        {"--owner-policy", "nice:input= 5"},
        {"--owner-policy", "nice:input=5s"},
        {"--owner-policy", "nice:load=nan"},
        {"--owner-policy", "nice:load=0"},
        {"--owner-policy", "nice:load=4097"},
        {"--owner-policy", "nice:quiet=5,"},
        {"--owner-policy", "nice:quiet=5:input=5"},
        {"--owner-policy", "nice,quiet=5"},
        {"--owner-policy", "nice:battery=1"},
        {"--hostfile", "./x/y"},
        {"--ports", "0-9"},
        {"--ports", "65535-65536"},
        {"--ports", "9"},
        {"--ports", "5-4"},
        {"--ports", "4-"},
        {"--ports", "-4-5"},
        {"--ports", "a-b"},
        {"--ports", "4-5x"},
        {"--ports", ""},
        {"--ports", " 4-5"},
        {"--ports", "4-99999999999"},
    };
    struct options options;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        PARSE(&options, pairs[i][0], pairs[i][1], "prog");
        expect_no_hosts(&options, pairs[i][0]);
    }
    PARSE(&options, "--hosts", "a", "--hostfile", "b", "prog");
    expect_no_hosts(&options, "give one of them");
    PARSE(&options, "--hosts", "a,b", "--spares", "2", "prog");
    expect_no_hosts(&options, "2 spare hosts: there are only 2 in all");
    PARSE(&options, "--hosts", "a", "--spares", "1", "prog");
    expect_no_hosts(&options, "1 spare host: there is only 1 in all");
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
    set(3, "BSPZERO_PORTS", "4000-4000");
    PARSE(&options, "prog");
    ck_assert(options_find_hosts(&options, "me"));
    ck_assert(options.hosts.first_port == 4000 && options.hosts.last_port == 4000);
    options_free(&options);
    set(3, "BSPZERO_OWNER_POLICY", "nice:quiet=5");
    PARSE(&options, "prog");
    ck_assert(options_find_hosts(&options, "me"));
    ck_assert(options.hosts.owner.policy == WIRE_POLICY_NICE);
    options_free(&options);
    set(3, "BSPZERO_PORTS", "4001-4000");
    PARSE(&options, "prog");
    expect_no_hosts(&options, "BSPZERO_PORTS=4001-4000: the first port is above the last");
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
    ck_assert_uint_eq(options.hosts.all.items[0].slots, 3); /* as of me:2,me */
    options_free(&options);
    PARSE(&options, "--hosts", "localhost,a:1,me,[::1]", "prog");
    expect_hosts(&options, "localhost:3 a:1");
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
        host_defaults,       host_values,          replica_values,
        replica_lists,       replicas_on_one_host, host_nonsense,
        host_sources,        host_environment,     own_host_under_several_names,
        slurm_nodes_by_name, hosts_of_a_restart,   owner_thresholds,
        binding_and_mapping};

    return suite_run_tests("options about hosts", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
