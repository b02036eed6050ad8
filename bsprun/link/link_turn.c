/* link_turn.c - see link_turn.h.
 *
 * The other home may be lost or slow, and the content is needed.  It has two round trips, and as
 * long as the bytes take at the speed at which large blocks have come here, to say that it has made
 * its own; then four times as long to send it.  Too short a time costs what is sent twice, too long
 * a time is lost once for each fault: a home that trails by a superstep has no turn.  Only of large
 * contents is it said at once that they have come. */
#include "bsprun/link/link_turn.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define LEAST_NS      10000000
#define RATE          4e6 /* bytes per second, where none is known */
#define MORE_TIME     4   /* than that many bytes take */
/* Of small contents that were made the receiver is heard after as many supersteps as that. */
#define STEPS         3
#define STEPS_MOST_NS UINT64_C(3000000000)

static double round_trip_ns(const struct link *link)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;

    if (getsockopt(link->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_rtt * 1e3;
}

/* Bytes per nanosecond. */
static double rate_of(struct links *links)
{
    uint64_t bytes = 0, ns = 0;

    for (uint32_t i = 0; i < links->count; i++) {
        bytes += atomic_load(&links->all[i].timed_bytes);
        ns += atomic_load(&links->all[i].timed_ns);
    }
    return bytes > 0 && ns > 0 ? (double)bytes / (double)ns : RATE / 1e9;
}

static uint64_t patience_ns(struct link *link, const struct replica_wait *wait)
{
    const struct link_replicas *replicas = link->links->replicas;
    double bytes_ns = (double)wait->bytes / rate_of(link->links);
    uint64_t steps_ns = STEPS * replicas->arrivals.step_ns;

    if (!wait->small || !wait->made)
        steps_ns = 0;
    return replicas->turn_ns + (steps_ns < STEPS_MOST_NS ? steps_ns : STEPS_MOST_NS) +
           (uint64_t)(2 * round_trip_ns(link) + (wait->made ? MORE_TIME : 1) * bytes_ns);
}

/* The timer is set to the earliest of the links; all are looked at then. */
static void wake_at(struct link_replicas *replicas, uint64_t due_ns)
{
    struct itimerspec when = {
        .it_value = {(time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000)}};

    if (replicas->turn_due_ns > 0 && replicas->turn_due_ns <= due_ns)
        return;
    replicas->turn_due_ns = due_ns;
    timerfd_settime(replicas->turn_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

bool link_turn_is_over(struct link *link, const struct replica_wait *wait)
{
    uint64_t now = bspz_now_ns(), due;

    if (link->held_key != wait->key)
        link->held_ns = now;
    link->held_key = wait->key;
    due = link->held_ns + patience_ns(link, wait);
    if (now >= due)
        return true;
    wake_at(link->links->replicas, due);
    return false;
}

bool link_turn_is_due(struct links *links, uint64_t now_ns)
{
    struct link_replicas *replicas = links->replicas;
    uint64_t times;

    if (!replicas || replicas->turn_due_ns == 0 || now_ns < replicas->turn_due_ns)
        return false;
    replicas->turn_due_ns = 0;
    if (read(replicas->turn_fd, &times, sizeof times) < 0)
        times = 0; /* it is a moment late */
    return true;
}

int link_turn_begin(struct link_replicas *replicas, uint64_t turn_ns)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = replicas->links};

    replicas->turn_ns = turn_ns > 0 ? turn_ns : LEAST_NS;
    replicas->turn_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (replicas->turn_fd < 0 ||
        epoll_ctl(replicas->links->ready, EPOLL_CTL_ADD, replicas->turn_fd, &event) != 0)
        return -errno;
    return 0;
}

void link_turn_end(struct link_replicas *replicas)
{
    if (replicas->turn_fd >= 0)
        close(replicas->turn_fd);
    replicas->turn_fd = -1;
}
