/* platform.c - 150 nodes of ten clusters, as SimGrid reads them, and their availability. */
#include "tests/sim/migration/job.h"

#include <simgrid/engine.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Clusters differ in speed, memory and network; speed is set by the options. */
static const struct {
    double memory; /* bytes */
    double bandwidth, latency;
} clusters[CLUSTERS] = {
    {4e9, 125e6, 50e-6},   {2e9, 125e6, 50e-6},  {1e9, 12.5e6, 100e-6}, {4e9, 125e6, 50e-6},
    {2e9, 12.5e6, 100e-6}, {8e9, 1250e6, 20e-6}, {4e9, 125e6, 50e-6},   {1e9, 125e6, 50e-6},
    {4e9, 12.5e6, 100e-6}, {8e9, 125e6, 50e-6},
};

#define SLOWEST     1e9    /* flop/s */
#define WAN_BYTES   125e6  /* of each cluster to all others, per second */
#define WAN_LATENCY 2.5e-3 /* half of the way */

double chance_of(uint64_t seed, uint64_t one, uint64_t other)
{
    uint64_t mixed = seed;
    const uint64_t numbers[] = {one, other, 0};
    for (int i = 0; i < 3; i++) { /* splitmix64, over and over */
        mixed = (mixed ^ numbers[i]) + UINT64_C(0x9e3779b97f4a7c15);
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
        mixed ^= mixed >> 31;
    }
    return (double)(mixed >> 11) / (double)(UINT64_C(1) << 53);
}

static double speed_of(const struct options *options, uint32_t cluster)
{
    return SLOWEST * (1 + (options->speeds - 1) * cluster / (CLUSTERS - 1));
}

/* One state of each processor for each percentage that may be available, the least first. */
static void write_cluster(FILE *file, const struct options *options, uint32_t cluster)
{
    fprintf(file, "<cluster id=\"c%u\" prefix=\"c%u-\" suffix=\"\" radical=\"0-%u\" speed=\"",
            cluster, cluster, NODES_EACH - 1);
    for (uint32_t percent = LEAST; percent <= MOST; percent++)
        fprintf(file, "%s%.0ff", percent > LEAST ? "," : "",
                speed_of(options, cluster) * percent / 100);
    fprintf(file, "\" bw=\"%.0fBps\" lat=\"%.9fs\"/>\n", clusters[cluster].bandwidth,
            clusters[cluster].latency);
    fprintf(file, "<link id=\"wan%u\" bandwidth=\"%.0fBps\" latency=\"%.9fs\"/>\n", cluster,
            WAN_BYTES, WAN_LATENCY);
}

static void write_platform(FILE *file, const struct options *options)
{
    fprintf(file, "<?xml version='1.0'?>\n"
                  "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\"><zone id=\"world\" routing=\"Full\">\n");
    for (uint32_t i = 0; i < CLUSTERS; i++)
        write_cluster(file, options, i);
    for (uint32_t i = 0; i < CLUSTERS; i++)
        for (uint32_t j = i + 1; j < CLUSTERS; j++)
            fprintf(file,
                    "<zoneRoute src=\"c%u\" dst=\"c%u\" gw_src=\"c%u-c%u_router\" "
                    "gw_dst=\"c%u-c%u_router\"><link_ctn id=\"wan%u\"/><link_ctn id=\"wan%u\"/>"
                    "</zoneRoute>\n",
                    i, j, i, i, j, j, i, j);
    fprintf(file, "</zone></platform>\n");
}

static void load(const struct options *options)
{
    char path[] = "/tmp/migration-XXXXXX.xml"; /* SimGrid goes by the suffix */
    int fd = mkstemps(path, 4);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (file == NULL) {
        perror(path);
        exit(1);
    }
    write_platform(file, options);
    if (fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    simgrid_load_platform(path);
    unlink(path);
}

void platform_begin(const char *program, const struct options *options, struct node nodes[NODES])
{
    /* Bandwidths and latencies as given, without what TCP adds to them. */
    const char *settings[] = {program, "--cfg=network/model:CM02", "--cfg=contexts/stack-size:64",
                              "--log=root.threshold:warning", NULL};
    int count = 4;

    simgrid_init(&count, (char **)(uintptr_t)settings);
    load(options);
    for (uint32_t i = 0; i < NODES; i++) {
        char name[32];
        snprintf(name, sizeof(name), "c%u-%u", i / NODES_EACH, i % NODES_EACH);
        nodes[i].host = sg_host_by_name(name);
        nodes[i].speed = speed_of(options, i / NODES_EACH);
        nodes[i].memory = clusters[i / NODES_EACH].memory;
    }
}

void platform_bounds(const struct options *options, uint32_t node, uint32_t *least, uint32_t *most)
{
    bool taken = chance_of(options->seed, UINT64_MAX - 1, node) < 0.5;

    *least = options->owners == OWNERS_ALIKE || taken ? LEAST : LEFT;
    *most = options->owners == OWNERS_ALIKE || !taken ? MOST : TAKEN;
}

uint32_t platform_available(const struct options *options, uint32_t node, uint64_t superstep)
{
    uint64_t when = superstep / options->hold;
    uint32_t least, most;

    platform_bounds(options, node, &least, &most);
    return least + (uint32_t)(chance_of(options->seed, when, node) * (most - least + 1));
}

void platform_set_available(const struct node *node, uint32_t percent)
{
    sg_host_set_pstate(node->host, percent - LEAST);
}
