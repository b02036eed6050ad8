/* twice.h - what replicas must not do, as it is not the same when it is done twice: files open for
 * appending, pipes and sockets.
 */
#ifndef BSPRUN_AGENT_TWICE_H
#define BSPRUN_AGENT_TWICE_H

#include <stdbool.h>

struct agent;

/* Looks through the descriptors of the processes here, which wait at a barrier or in bsp_begin;
 * ends the job with the first that is found.  Nothing is done without replicas, and with
 * --replica-files allow.  False: the end was asked for. */
bool agent_check_twice(struct agent *agent);

#endif
