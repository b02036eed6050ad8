/* wire.c - a switch of which the cables can be slow, lossy, narrow or cut.
 *
 *   farmhost wires KEEPER
 *
 * KEEPER is a process in whose user namespace the hosts are.  Does what a kernel without the
 * network emulator cannot, and costs the processors that it shares with the hosts little: a frame
 * is read once and written once, and many of them between two pauses.  Lines on stdin, each of
 * which is answered by "done":
 *
 *   plug HOST PROCESS    the host of that number, below HOSTS, and a process there: it gets eth0
 *   unplug HOST
 *   set HOST DELAY LOSS RATE OUT IN
 *                        microseconds each way; frames of a million; bytes per second, 0: no
 *                        bound; whether frames pass from and to the host
 *
 * Where all cables are long frames gather for a hundredth of the shortest delay before they are
 * read, by which they come later.
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

enum { HOSTS = 256, FRAME_BYTES = 2048, QUEUE = 4096, ADDRESS = 6 };
enum { FROM_HOST, TO_HOST, WAYS };
#define LONG_NS 1000000 /* a long cable */
#define GATHER  100     /* such a part of its delay */

struct frame {
    int64_t due; /* ns */
    size_t size;
    unsigned char bytes[FRAME_BYTES]; /* first the addresses it goes to and comes from */
};

/* One way through a cable. */
struct way {
    bool open;
    int64_t free_at; /* when the last frame has gone through, with a bounded rate */
    size_t first, count;
    struct frame *queue;
};

struct cable {
    bool plugged;
    int fd;
    int64_t delay_ns;
    uint32_t loss;
    int64_t rate;
    unsigned char address[ADDRESS]; /* of the host, once it has sent something */
    struct way ways[WAYS];
};

static struct cable cables[HOSTS];
static int count; /* of those that are, or were, plugged: their numbers are lower */
static uint64_t random_state = 88172645463325252U;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- Frames -------------------------------------------------------------------------------- */

static bool lost(uint32_t loss)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % 1000000 < loss;
}

/* A place for the next frame; NULL: as in a switch whose buffer is full. */
static struct frame *place(struct way *way)
{
    if (way->count == 0)
        way->first = 0; /* in memory that has been used before */
    return way->count < QUEUE ? &way->queue[(way->first + way->count) % QUEUE] : NULL;
}

/* The frame at that place comes to the beginning of the way. */
static void enter(const struct cable *cable, struct way *way, struct frame *frame, int64_t at)
{
    if (!way->open || lost(cable->loss))
        return;
    if (at > way->free_at)
        way->free_at = at;
    if (cable->rate > 0)
        way->free_at += (int64_t)frame->size * INT64_C(1000000000) / cable->rate;
    frame->due = way->free_at + cable->delay_ns;
    way->count++;
}

static void take_frames(struct cable *cable)
{
    struct way *way = &cable->ways[FROM_HOST];
    int64_t now = now_ns();
    static struct frame dropped;

    for (;;) {
        struct frame *frame = place(way);
        bool full = !frame;

        frame = full ? &dropped : frame;
        ssize_t n = read(cable->fd, frame->bytes, sizeof(frame->bytes));
        if (n <= 2 * ADDRESS)
            return;
        memcpy(cable->address, frame->bytes + ADDRESS, ADDRESS);
        frame->size = (size_t)n;
        if (!full)
            enter(cable, way, frame, now);
    }
}

static void pass(struct cable *to, const struct frame *from)
{
    struct way *way = &to->ways[TO_HOST];
    struct frame *frame = place(way);

    if (!frame)
        return;
    frame->size = from->size;
    memcpy(frame->bytes, from->bytes, from->size);
    enter(to, way, frame, from->due);
}

static bool is_of(const struct frame *frame, const struct cable *cable)
{
    return memcmp(frame->bytes, cable->address, ADDRESS) == 0;
}

/* To the host whose address it has, or to all others. */
static void forward(const struct cable *from, const struct frame *frame)
{
    for (int i = 0; i < count; i++)
        if (cables[i].plugged && is_of(frame, &cables[i])) {
            pass(&cables[i], frame);
            return;
        }
    for (int i = 0; i < count; i++)
        if (cables[i].plugged && &cables[i] != from)
            pass(&cables[i], frame);
}

/* Frames that have come to the end of that way of the cable. */
static void leave(struct cable *cable, int number, int64_t now)
{
    struct way *way = &cable->ways[number];

    while (way->count > 0 && way->queue[way->first].due <= now) {
        struct frame *frame = &way->queue[way->first];

        if (way->open && number == FROM_HOST)
            forward(cable, frame);
        else if (way->open)
            (void)!write(cable->fd, frame->bytes, frame->size); /* a host that is down takes none */
        way->first = (way->first + 1) % QUEUE;
        way->count--;
    }
}

/* ---- Cables -------------------------------------------------------------------------------- */

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

static void plug(struct cable *cable, pid_t process)
{
    *cable = (struct cable){.plugged = true, .fd = open_device(process, "eth0")};
    for (int i = 0; i < WAYS; i++)
        cable->ways[i] = (struct way){.open = true, .queue = calloc(QUEUE, sizeof(struct frame))};
    if (!cable->ways[FROM_HOST].queue || !cable->ways[TO_HOST].queue)
        give_up("no memory for", "a cable");
    if (cable - cables >= count)
        count = (int)(cable - cables) + 1;
}

static void unplug(struct cable *cable)
{
    if (!cable->plugged)
        return;
    close(cable->fd);
    for (int i = 0; i < WAYS; i++)
        free(cable->ways[i].queue);
    *cable = (struct cable){0};
}

static bool change(const char *line)
{
    unsigned number;
    long delay, loss, rate, process;
    int out, in;

    if (sscanf(line, "plug %u %ld", &number, &process) == 2 && number < HOSTS) {
        unplug(&cables[number]);
        plug(&cables[number], (pid_t)process);
        return true;
    }
    if (sscanf(line, "unplug %u", &number) == 1 && number < HOSTS) {
        unplug(&cables[number]);
        return true;
    }
    if (sscanf(line, "set %u %ld %ld %ld %d %d", &number, &delay, &loss, &rate, &out, &in) != 6 ||
        number >= HOSTS)
        return false;
    struct cable *cable = &cables[number];
    cable->delay_ns = delay * 1000;
    cable->loss = (uint32_t)loss;
    cable->rate = rate;
    cable->ways[FROM_HOST].open = out;
    cable->ways[TO_HOST].open = in;
    return true;
}

static bool read_change(void)
{
    char line[256];

    if (!fgets(line, sizeof(line), stdin))
        return false;
    if (!change(line)) {
        errno = EINVAL;
        give_up("unknown", line);
    }
    puts("done");
    fflush(stdout);
    return true;
}

/* ---- Waiting ------------------------------------------------------------------------------- */

static int64_t gather_ns(void)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < count; i++)
        if (cables[i].plugged && cables[i].delay_ns < least)
            least = cables[i].delay_ns;
    return least >= LONG_NS && least < INT64_MAX ? least / GATHER : 0;
}

/* When a frame is next at the end of a way; INT64_MAX: there is none. */
static int64_t next_due(void)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < count; i++)
        for (int way = 0; way < WAYS; way++) {
            const struct way *of = &cables[i].ways[way];

            if (of->count > 0 && of->queue[of->first].due < next)
                next = of->queue[of->first].due;
        }
    return next;
}

/* True: there is a line on stdin. */
static bool wait_for_something(void)
{
    static struct pollfd polled[HOSTS + 1] = {{0, POLLIN, 0}};
    int64_t next = next_due(), now = now_ns(), gather = gather_ns();
    int64_t left = next > now ? next - now : 0;
    struct timespec until = {left / 1000000000, left % 1000000000};

    for (int i = 0; i < count; i++)
        polled[i + 1] = (struct pollfd){cables[i].plugged ? cables[i].fd : -1, POLLIN, 0};
    int ready = ppoll(polled, (nfds_t)count + 1, next == INT64_MAX ? NULL : &until, NULL);
    if (polled[0].revents)
        return ready > 0;
    if (ready > 0 && gather > 0) {
        left = next - now_ns();
        until = (struct timespec){0, left > gather ? gather : left > 0 ? left : 0};
        ppoll(NULL, 0, &until, NULL);
    }
    return false;
}

int wires_main(int argc, char **argv)
{
    if (argc != 1)
        return 255;
    die_with_parent();
    join_namespaces(atoi(argv[0]), (const char *const[]){"user", NULL});
    puts("ready");
    fflush(stdout);
    setvbuf(stdin, NULL, _IONBF, 0);
    for (;;) {
        if (wait_for_something() && !read_change())
            return 0;
        for (int i = 0; i < count; i++)
            if (cables[i].plugged)
                take_frames(&cables[i]);
        int64_t now = now_ns();
        for (int i = 0; i < count; i++)
            leave(&cables[i], FROM_HOST, now);
        for (int i = 0; i < count; i++)
            leave(&cables[i], TO_HOST, now);
    }
}
