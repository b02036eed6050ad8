/* dataspace_calls.h - what tests of the dataspace have in common. */
#ifndef TESTS_UNIT_DATASPACE_CALLS_H
#define TESTS_UNIT_DATASPACE_CALLS_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/dataspace/service.h"

/* A tag that belongs to the host. */
static inline void dataspace_find_tag(const struct dataspace *space, uint32_t host, char tag[8])
{
    for (int i = 0; i < 1000; i++) {
        snprintf(tag, 8, "t%d", i);
        if (dataspace_owner(space, tag, strlen(tag)) == host)
            return;
    }
    ck_abort_msg("no tag belongs to host %u", host);
}

/* For dataspace_calls: there is always memory. */
static inline void dataspace_has_memory(void *context, uint32_t pid, uint64_t bytes)
{
    (void)context, (void)pid, (void)bytes;
    ck_abort_msg("no memory");
}

#endif
