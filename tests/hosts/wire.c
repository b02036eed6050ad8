/* wire.c - a cable between a host and the switch that can be slow, lossy, narrow or cut.
 *
 *   farmhost wire HOST SWITCH PORT
 *
 * HOST and SWITCH are processes there, PORT the name of the network device on the switch's side; on
 * the host's it is eth0.  Does what a kernel without the network emulator cannot.  Lines on stdin
 * change it:  DELAY LOSS RATE OUT IN  (microseconds each way; frames of a million; bytes per
 * second, 0: no bound; whether frames pass from and to the host).  Each line is answered by "done".
 *
 * A long wire takes frames some at a time, or the processors that it shares with the hosts would do
 * little but change from one wire to the next: it lets them gather for a hundredth of its delay, by
 * which they come later.
 */
#include "tests/hosts/farmhost.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_BYTES = 2048, QUEUE = 4096 };
#define LONG_NS 1000000 /* a long wire */
#define GATHER  100     /* such a part of its delay */

struct frame {
    int64_t due; /* ns */
    size_t size;
    char bytes[FRAME_BYTES];
};

/* One way through the wire. */
struct way {
    int from, to;
    bool open;
    int64_t free_at; /* when the last frame has gone through, with a bounded rate */
    size_t first, count;
    struct frame *queue;
};

struct wire {
    int64_t delay_ns;
    uint32_t loss;
    int64_t rate;
    uint64_t random;
    struct way ways[2]; /* from the host, to the host */
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A network device whose frames come out of, and go into, the returned descriptor. */
static int open_device(pid_t process, const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    join_namespaces(process, (const char *const[]){"net", NULL});
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) != 0)
        give_up("cannot make network device", name);
    return fd;
}

static int64_t gather_ns(const struct wire *wire)
{
    return wire->delay_ns >= LONG_NS ? wire->delay_ns / GATHER : 0;
}

static bool lost(struct wire *wire)
{
    wire->random ^= wire->random << 13;
    wire->random ^= wire->random >> 7;
    wire->random ^= wire->random << 17;
    return wire->random % 1000000 < wire->loss;
}

static void take_frames(struct wire *wire, struct way *way)
{
    int64_t came = now_ns();

    if (way->count == 0)
        way->first = 0; /* in memory that has been used before */
    while (way->count < QUEUE) {
        struct frame *frame = &way->queue[(way->first + way->count) % QUEUE];
        ssize_t n = read(way->from, frame->bytes, sizeof(frame->bytes));
        if (n <= 0)
            return;
        if (!way->open || lost(wire))
            continue;
        if (came > way->free_at)
            way->free_at = came;
        way->free_at += wire->rate > 0 ? n * INT64_C(1000000000) / wire->rate : 0;
        frame->due = way->free_at + wire->delay_ns;
        frame->size = (size_t)n;
        way->count++;
    }
    char dropped[FRAME_BYTES];
    while (read(way->from, dropped, sizeof(dropped)) > 0)
        continue; /* as a switch whose buffer is full */
}

static void deliver(struct way *way)
{
    while (way->count > 0 && way->queue[way->first].due <= now_ns()) {
        struct frame *frame = &way->queue[way->first];
        if (way->open)
            (void)!write(way->to, frame->bytes, frame->size); /* a host that is down takes none */
        way->first = (way->first + 1) % QUEUE;
        way->count--;
    }
}

static bool read_change(struct wire *wire)
{
    char line[256];
    long delay, loss, rate;
    int out, in;
    if (!fgets(line, sizeof(line), stdin))
        return false;
    if (sscanf(line, "%ld %ld %ld %d %d", &delay, &loss, &rate, &out, &in) != 5) {
        errno = EINVAL;
        give_up("unknown", line);
    }
    wire->delay_ns = delay * 1000;
    wire->loss = (uint32_t)loss;
    wire->rate = rate;
    wire->ways[0].open = out;
    wire->ways[1].open = in;
    puts("done");
    fflush(stdout);
    return true;
}

/* When a frame is next to be delivered; INT64_MAX: there is none. */
static int64_t next_due(const struct wire *wire)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        const struct way *way = &wire->ways[i];
        if (way->count > 0 && way->queue[way->first].due < next)
            next = way->queue[way->first].due;
    }
    return next;
}

static void wait_for_something(const struct wire *wire, struct pollfd *polled)
{
    int64_t next = next_due(wire), now = now_ns(), gather = gather_ns(wire);
    int64_t left = next > now ? next - now : 0;
    struct timespec until = {left / 1000000000, left % 1000000000};
    ppoll(polled, 3, next == INT64_MAX ? NULL : &until, NULL);
    if (gather > 0 && (polled[1].revents || polled[2].revents)) {
        left = next - now_ns();
        until.tv_sec = 0;
        until.tv_nsec = left > gather ? gather : left > 0 ? left : 0;
        ppoll(NULL, 0, &until, NULL);
    }
}

int wire_main(int argc, char **argv)
{
    if (argc != 3)
        return 255;
    static struct wire wire = {.random = 88172645463325252U};
    die_with_parent();
    pid_t host = atoi(argv[0]), keeper = atoi(argv[1]);
    join_namespaces(keeper, (const char *const[]){"user", NULL});
    int outer = open_device(keeper, argv[2]);
    int inner = open_device(host, "eth0");
    wire.ways[0] = (struct way){.from = inner, .to = outer, .open = true};
    wire.ways[1] = (struct way){.from = outer, .to = inner, .open = true};
    for (int i = 0; i < 2; i++)
        wire.ways[i].queue = calloc(QUEUE, sizeof(struct frame));
    puts("ready");
    fflush(stdout);
    setvbuf(stdin, NULL, _IONBF, 0);
    struct pollfd polled[3] = {{0, POLLIN, 0}, {inner, POLLIN, 0}, {outer, POLLIN, 0}};
    for (;;) {
        wait_for_something(&wire, polled);
        if (polled[0].revents && !read_change(&wire))
            return 0;
        for (int i = 0; i < 2; i++) {
            take_frames(&wire, &wire.ways[i]);
            deliver(&wire.ways[i]);
        }
    }
}
