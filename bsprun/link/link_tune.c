/* link_tune.c - see link_tune.h. */
#include "bsprun/link/link_tune.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEAR_US      2000 /* longest round trip of hosts in one local network */
#define SLICE_NS     UINT64_C(100000)
#define UNSENT_BYTES (128 << 10)

/* struct sched_attr, which only some systems' headers have. */
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

/* Unsent data wait in the outbox: deep kernel buffers would leave the cache before they are sent,
 * and blocks of 64 MiB would take 1.5 times as long. */
static void keep_buffers_short(int fd)
{
    int most = UNSENT_BYTES;

    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

/* BBR, the default of some systems, paces by an estimated rate, which helps over long distances; in
 * a local network a superstep is over before the estimate converges, and large ones take twice the
 * time.  Reno is always available, without privileges. */
static void disable_pacing(int fd)
{
    struct tcp_info info;
    char control[16] = "";
    socklen_t size = sizeof control - 1;

    if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, &size) != 0 ||
        strncmp(control, "bbr", 3) != 0)
        return;
    size = sizeof info;
    info.tcpi_min_rtt = UINT32_MAX; /* kept if the kernel does not report it */
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_min_rtt <= NEAR_US)
        setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

void link_tune(int fd)
{
    keep_buffers_short(fd);
    disable_pacing(fd);
}
