/* environment.c - variables of the Oxford toolset that mean something to a process: those that say
 * what the program must have been linked for, and the one that tells a process its number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/devices.h"
#include "lib/rt/rt.h"

void bspz_check_linked_for(void)
{
    const char *linked = bspz_options()->device;
    const char *machine = getenv("BSP_MACHINE");
    const char *wish = getenv("BSP_DEVICE");
    const char *device = wish ? bspz_device_name(wish) : NULL;

    if (!linked) /* not by bspcc: it can be meant for any */
        return;
    if (device && strcmp(device, linked) != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN,
                  "BSP_DEVICE=%s, but this program was linked for the device %s: unset the "
                  "variable, or link again with bspcc -device %s",
                  wish, linked, device);
    if (machine && bspz_machine_is_known(machine) && strcasecmp(machine, BSPZ_MACHINE) != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN,
                  "BSP_MACHINE=%s, but this program was linked for the machine " BSPZ_MACHINE
                  ": unset the variable",
                  machine);
}

void bspz_export_pid(void)
{
    /* The environment refers to this text from then on; every process has its own copy. */
    static char variable[sizeof "BSPTCP_PID=-2147483648"];

    snprintf(variable, sizeof variable, "BSPTCP_PID=%d", bspz_rt.pid);
    putenv(variable);
}
