/* fuzz_hosts.c - lists of hosts from anywhere: whatever the text is, there are hosts with good
 * names, or a message and no host.
 *
 * The first byte says what the rest is: a list, a host file, what scontrol says, or the variables
 * of Slurm, of which the second begins behind a newline. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/hosts.h"

#define INPUT_MAX 4096u

static char first[INPUT_MAX + 1], second[INPUT_MAX + 1];

static const char *lookup(const char *name)
{
    if (strcmp(name, "SLURM_JOB_NODELIST") == 0)
        return first;
    if (strcmp(name, "SLURM_JOB_CPUS_PER_NODE") == 0)
        return second;
    return strcmp(name, "H") == 0 ? "h-1" : NULL;
}

static void check_hosts(const struct hosts *hosts)
{
    FUZZ_CHECK(hosts->count > 0 && hosts->count <= HOSTS_MAX);
    for (uint32_t i = 0; i < hosts->count; i++) {
        const struct host *host = &hosts->items[i];

        FUZZ_CHECK(host->name[0] && host->name[0] != '-' && strlen(host->name) <= WIRE_NAME_MAX);
        FUZZ_CHECK(strpbrk(host->name, " \t\n;&|$`'\"\\/()<>*?!{}~#=,@") == NULL);
        FUZZ_CHECK(!host->user || (host->user[0] && host->user[0] != '-'));
        FUZZ_CHECK(host->slots <= WIRE_SLOTS_MAX && host->plain == 0);
        for (uint32_t k = 0; k < i; k++)
            FUZZ_CHECK(strcasecmp(host->name, hosts->items[k].name) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct hosts hosts = {NULL, 0};
    char error[HOSTS_ERROR] = "";
    bool good;

    if (size == 0 || size > INPUT_MAX)
        return 0;
    memcpy(first, bytes + 1, size - 1);
    first[size - 1] = '\0';
    second[0] = '\0';
    if (bytes[0] % 4 == 0) {
        good = hosts_from_list(&hosts, first, "", error);
    } else if (bytes[0] % 4 == 1) {
        good = hosts_from_file(&hosts, "f", (const char *)bytes + 1, size - 1, lookup, error);
    } else if (bytes[0] % 4 == 2) {
        bool preempted;

        good = hosts_from_scontrol(&hosts, first, "7", &preempted, error);
    } else {
        char *newline = strchr(first, '\n');

        if (newline) {
            strcpy(second, newline + 1);
            *newline = '\0';
        }
        good = hosts_from_slurm(&hosts, lookup, error);
    }
    if (good)
        check_hosts(&hosts);
    else
        FUZZ_CHECK(hosts.count == 0 && !hosts.items && error[0] && strlen(error) < HOSTS_ERROR);
    hosts_free(&hosts);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const char *const seeds[] = {
        "0a:4,b,me@[fe80::1%e]:2,a",
        "1host(a) ncpus(4) adapter(\"a-x\"); # fast\nhost($H);\n",
        "1a slots=4 # fast\nb:2\n[::1] slots = 3 max_slots=9\nb\n",
        "2JobId=7 ArrayJobId=7 JobState=RUNNING PreemptTime=None NodeList=n[1-3,07],m\n",
        "3n[1-3,07],gpu[01-02]-x,r[1-2]c[1-2]\n2(x3),1,4(x6)",
    };

    if (number >= sizeof seeds / sizeof *seeds)
        return 0;
    memcpy(bytes, seeds[number], strlen(seeds[number]));
    return strlen(seeds[number]);
}
