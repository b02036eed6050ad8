/* host_shares.h - the availability of hosts, as earlier jobs and the terms of this one have
 * measured it: what later jobs, and the next Processor Zero, begin from.  Pure. */
#ifndef BSPRUN_HOST_SHARES_H
#define BSPRUN_HOST_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/history/history.h"
#include "coordinator/core/shares.h"
#include "lib/wire/wire.h"

struct one_host_shares {
    struct share_sums done; /* of this job's terms before `term` */
    struct share_sums now;  /* of that term, as Processor Zero last said */
    struct share_sums told; /* to the history */
};

struct host_shares {
    struct history_share *earlier; /* of the site's hosts */
    size_t earlier_count;
    struct one_host_shares *hosts; /* by host */
    struct wire_share *list;       /* the list of ELECT */
    uint32_t room, term;
};

/* For hosts with numbers below `room`. 0 or -ENOMEM. */
int host_shares_open(struct host_shares *shares, uint32_t room);
/* What earlier jobs have seen; takes ownership. */
void host_shares_know(struct host_shares *shares, struct history_share *earlier, size_t count);
void host_shares_free(struct host_shares *shares); /* also when all is zero */

/* What earlier jobs have seen of the hosts of ELECT, by their names; valid until the next call. */
struct wire_share_list host_shares_elect(struct host_shares *shares,
                                         const struct wire_host_list *hosts);
/* What Processor Zero of that term has measured since the term began. */
void host_shares_take(struct host_shares *shares, uint32_t term,
                      const struct wire_share_list *list);
/* What this job has measured of the host. */
struct share_sums host_shares_now(const struct host_shares *shares, uint32_t host);
/* What this job has measured of the host since the last call that returned true.  False: not for
 * long enough to be told, and nothing changes. */
bool host_shares_tell(struct host_shares *shares, uint32_t host, struct history_record *record);

#endif
