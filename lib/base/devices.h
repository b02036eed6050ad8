/* devices.h - the names of devices and machines of the Oxford BSP Toolset.
 *
 * A device was a communication layer; bspzero has only one, and the names only serve to check that
 * an old build and its scripts are consistent.
 */
#ifndef BSPZ_BASE_DEVICES_H
#define BSPZ_BASE_DEVICES_H

#include <stdbool.h>

/* What bsparch prints, and the default. */
#define BSPZ_DEVICE  "SHMEM_SYSV"
#define BSPZ_MACHINE "LINUX"

/* The full name of a device: `name` itself, or a static text if that is a short name such as tcpip.
 * NULL when it names no device. */
const char *bspz_device_name(const char *name);

/* Whether this is a machine that the toolset had a name for; case does not matter. */
bool bspz_machine_is_known(const char *name);

#endif
