/* link_tune.c - see link_tune.h. */
#include "bsprun/link/link_tune.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEAR_US      2000 /* round trips up to which hosts are taken for neighbours */
#define SLICE_NS     UINT64_C(100000)
#define UNSENT_BYTES (128 << 10)

/* struct sched_attr; the headers of some systems have it, those of others not. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

void link_tune_thread(void)
{
    struct attributes attributes = {.size = sizeof attributes};

    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 ||
        attributes.policy != 0)
        return;
    attributes.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* What has not left yet waits in the outbox: filled deep, the kernel's buffers are no longer in the
 * cache when they are read, and blocks of 64 MiB take half as long again. */
static void keep_buffers_short(int fd)
{
    int most = UNSENT_BYTES;

    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

/* BBR, the default of some systems, sends at the rate it believes in and by a timer: over long ways
 * that is its merit; between neighbours a superstep is over before it has found out, and large
 * ones take twice the time.  Reno is always there, and for everybody to choose. */
static void do_not_pace(int fd)
{
    struct tcp_info info;
    char control[16] = "";
    socklen_t size = sizeof control - 1;

    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &size) != 0 ||
        strncmp(control, "bbr", 3) != 0)
        return;
    size = sizeof info;
    info.tcpi_min_rtt = UINT32_MAX; /* stays where the kernel does not know it */
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_min_rtt <= NEAR_US)
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

void link_tune(int fd)
{
    keep_buffers_short(fd);
    do_not_pace(fd);
}
