/* devices.c - the names of devices and machines of the Oxford BSP Toolset. */
#include "lib/base/devices.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    const char *name, *device;
} short_names[] = {
    {"mpi", "MPASS_MPI"},        {"tcpip", "MPASS_TCPIP"},      {"udpip", "MPASS_UDPIP"},
    {"shmemsysv", "SHMEM_SYSV"}, {"shmemwin32", "SHMEM_WIN32"},
};

/* Sites ported the toolset and added devices of their own, all named by these families. */
static const char *const families[] = {"SHMEM_", "MPASS_", "DRMA_"};

static const char *const machines[] = {
    "LINUX",   "SGI",  "SGICHALL64", "SGIORIGIN", "SP2",       "CRAYT3D",    "CRAYT3E", "SUNOS",
    "SOLARIS", "OSF1", "HPUX",       "PARSYTEC",  "CONVEXSPP", "HITACHIMPP", "PARAMID", "WIN32",
};

const char *bspz_device_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    for (size_t i = 0; i < LENGTH(short_names); i++)
        if (strcasecmp(name, short_names[i].name) == 0)
            return short_names[i].device;
    for (size_t i = 0; i < LENGTH(families); i++) {
        size_t length = strlen(families[i]);

        if (strncmp(name, families[i], length) == 0 && name[length] != '\0' &&
            name[strspn(name, letters)] == '\0')
            return name;
    }
    return NULL;
}

bool bspz_machine_is_known(const char *name)
{
    for (size_t i = 0; i < LENGTH(machines); i++)
        if (strcasecmp(name, machines[i]) == 0)
            return true;
    return false;
}
