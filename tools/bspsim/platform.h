/* platform.h - the hosts of a SimGrid platform file, and which processes they get. */
#ifndef BSPSIM_PLATFORM_H
#define BSPSIM_PLATFORM_H

#include <simgrid/host.h>

#include "tools/bspsim/machine.h"

struct platform {
    sg_host_t *hosts; /* those that may be used, in order; owned */
    uint32_t count;
    uint32_t *homes; /* [ranks] indices of hosts; owned */
};

/* Starts SimGrid, reads the file and places the processes; fills in the facts about hosts.  See
 * machine_run for `doing`, `error` and how often.  Free with platform_free in any case. */
bool platform_begin(const struct machine_request *request, struct platform *platform,
                    struct machine_facts *facts, char doing[MACHINE_DOING],
                    char error[MACHINE_ERROR]);
void platform_free(struct platform *platform);

#endif
