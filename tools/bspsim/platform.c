/* platform.c - the hosts of a SimGrid platform file; see platform.h. */
#include "tools/bspsim/platform.h"

#include <errno.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(const struct machine_request *request, const char *text, const char *name,
                  char error[MACHINE_ERROR])
{
    snprintf(error, MACHINE_ERROR, "%.200s: %s%.160s", request->platform, text, name);
    return false;
}

/* Whether nothing in the file changes with time.  Where a comment looks as if something did, the
 * job is simulated in full, which takes longer and is right all the same. */
static bool read_steady(const struct machine_request *request, bool *steady,
                        char error[MACHINE_ERROR])
{
    FILE *file = fopen(request->platform, "re");
    char *line = NULL;
    size_t room = 0;
    bool good;
    *steady = true;
    while (file && getline(&line, &room, file) >= 0)
        if (strstr(line, "_file") || strstr(line, "<trace"))
            *steady = false;
    good = file && !ferror(file);
    if (!good)
        wrong(request, strerror(errno), "", error);
    if (file)
        fclose(file);
    free(line);
    return good;
}

static void load(const struct machine_request *request, char doing[MACHINE_DOING])
{
    /* Latencies and bandwidths as given: no factors for TCP, its windows and acknowledgements.
     * Times below the default precision of 10 us matter here. */
    const char *settings[] = {"bspsim",
                              "--cfg=network/model:CM02",
                              "--cfg=network/TCP-gamma:0",
                              "--cfg=network/crosstraffic:0",
                              "--cfg=surf/precision:1e-9",
                              "--cfg=contexts/stack-size:128",
                              "--log=root.threshold:error",
                              NULL};
    int count = (int)(sizeof(settings) / sizeof(settings[0])) - 1;

    snprintf(doing, MACHINE_DOING, "%.200s: SimGrid cannot read it", request->platform);
    simgrid_init(&count, (char **)(uintptr_t)settings);
    simgrid_load_platform(request->platform);
    doing[0] = '\0';
}

static int by_name(const void *a, const void *b)
{
    const sg_host_t *left = a, *right = b;
    return strverscmp(sg_host_get_name(*left), sg_host_get_name(*right));
}

/* The hosts whose names the user gave. */
static bool take_named(const struct machine_request *request, struct platform *platform,
                       char error[MACHINE_ERROR])
{
    platform->hosts = calloc(strlen(request->hosts) + 1, sizeof(*platform->hosts));
    if (!platform->hosts)
        return wrong(request, "out of memory", "", error);
    for (const char *at = request->hosts; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[256];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(length < 255 ? length : 255), at);
        sg_host_t host = sg_host_by_name(name);
        if (!host)
            return wrong(request, "there is no host ", name, error);
        for (uint32_t i = 0; i < platform->count; i++)
            if (platform->hosts[i] == host)
                return wrong(request, "--hosts names a host twice: ", name, error);
        platform->hosts[platform->count++] = host;
    }
    return true;
}

static bool take_hosts(const struct machine_request *request, struct platform *platform,
                       char error[MACHINE_ERROR])
{
    size_t count = sg_host_count();
    char number[64];
    if (count == 0)
        return wrong(request, "there is no host in it", "", error);
    if (request->hosts)
        return take_named(request, platform, error);
    platform->hosts = sg_host_list();
    qsort(platform->hosts, count, sizeof(*platform->hosts), by_name);
    snprintf(number, sizeof(number), "%zu, and not %u", count, request->host_count);
    if (request->host_count > count)
        return wrong(request, "the number of hosts in it is ", number, error);
    platform->count = request->host_count > 0 ? request->host_count : (uint32_t)count;
    return true;
}

static bool place(const struct machine_request *request, struct platform *platform,
                  struct machine_facts *facts, char error[MACHINE_ERROR])
{
    uint32_t *on = calloc(platform->count, sizeof(*on)), placed = 0;
    platform->homes = calloc(request->ranks, sizeof(*platform->homes));
    if (!on || !platform->homes) {
        free(on);
        return wrong(request, "out of memory", "", error);
    }
    for (uint32_t host = 0; placed < request->ranks; host = (host + 1) % platform->count) {
        uint32_t cores = (uint32_t)sg_host_core_count(platform->hosts[host]);
        uint32_t fit = request->per_host > 0 ? request->per_host : cores;
        facts->hosts_used += on[host] == 0;
        for (uint32_t i = 0; i < fit && placed < request->ranks; i++, on[host]++)
            platform->homes[placed++] = host;
        facts->crowded |= on[host] > cores;
        if (on[host] > facts->most_on_host)
            facts->most_on_host = on[host];
    }
    free(on);
    return true;
}

bool platform_begin(const struct machine_request *request, struct platform *platform,
                    struct machine_facts *facts, char doing[MACHINE_DOING],
                    char error[MACHINE_ERROR])
{
    *platform = (struct platform){0};
    *facts = (struct machine_facts){0};
    if (!read_steady(request, &facts->steady, error))
        return false;
    load(request, doing);
    if (!take_hosts(request, platform, error) || !place(request, platform, facts, error))
        return false;
    facts->hosts = platform->count;
    facts->speed = sg_host_get_speed(platform->hosts[0]);
    snprintf(facts->first, sizeof(facts->first), "%s", sg_host_get_name(platform->hosts[0]));
    return facts->speed > 0 || wrong(request, "a speed of 0: ", facts->first, error);
}

void platform_free(struct platform *platform)
{
    free(platform->hosts);
    free(platform->homes);
    *platform = (struct platform){0};
}
