/* environment.c - BSP_COMPAT, and variables of the Oxford toolset: those that say what the program
 * must have been linked for, and the one with the number of the process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/devices.h"
#include "lib/rt/rt.h"

static const char *compat(void)
{
    const char *mode = getenv("BSP_COMPAT");

    return mode && *mode ? mode : "none";
}

bool bspz_compat_is_oxford(void)
{
    return strcmp(compat(), "oxford") == 0;
}

void bspz_check_compat(void)
{
    if (!bspz_compat_is_oxford() && strcmp(compat(), "none") != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN,
                  "BSP_COMPAT=%s is not a mode: give oxford or none, or unset the variable",
                  compat());
}

void bspz_check_linked_for(void)
{
    const char *linked = bspz_options()->device;
    const char *machine = getenv("BSP_MACHINE");
    const char *device_name = getenv("BSP_DEVICE");
    const char *device = device_name ? bspz_device_name(device_name) : NULL;

    if (!linked) /* not by bspcc: any device will do */
        return;
    if (device && strcmp(device, linked) != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN,
                  "BSP_DEVICE=%s, but this program was linked for the device %s: unset the "
                  "variable, or link again with bspcc -device %s",
                  device_name, linked, device);
    if (machine && bspz_machine_is_known(machine) && strcasecmp(machine, BSPZ_MACHINE) != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN,
                  "BSP_MACHINE=%s, but this program was linked for the machine " BSPZ_MACHINE
                  ": unset the variable",
                  machine);
}

void bspz_export_pid(void)
{
    /* The environment will refer to this text; every process has its own copy. */
    static char variable[sizeof "BSPTCP_PID=-2147483648"];

    snprintf(variable, sizeof variable, "BSPTCP_PID=%d", bspz_rt.pid);
    putenv(variable);
}
