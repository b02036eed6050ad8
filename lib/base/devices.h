/* devices.h - the names of devices and machines of the Oxford BSP Toolset.
 *
 * A device was a way to communicate; here there is one way, and the names only tell whether the
 * parts of an old build and its scripts mean the same.
 */
#ifndef BSPZ_BASE_DEVICES_H
#define BSPZ_BASE_DEVICES_H

#include <stdbool.h>

/* What bsparch prints and what holds when nothing else is asked for. */
#define BSPZ_DEVICE  "SHMEM_SYSV"
#define BSPZ_MACHINE "LINUX"

/* The full name of a device: the given name itself, or a static text for the short name of one,
 * such as tcpip.  NULL when it names no device. */
const char *bspz_device_name(const char *name);

/* Whether this is a machine that the toolset had a name for; capitals do not matter. */
bool bspz_machine_is_known(const char *name);

#endif
