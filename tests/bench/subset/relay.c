/* relay.c - what messages between two hosts cost at least where an agent has the socket: relay
 * first|second ADDRESS PORT.
 *
 * Both programs are on one core each.  First a message of BYTES goes there and back between them,
 * each of which polls its socket.  Then a second process on the same core, which sleeps in a futex,
 * has the first one do so for it, with nothing between them but a counter in each direction.
 * Printed is half of the time there and back, the best of many short runs, in microseconds.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES  101 /* of a message of one byte in the protocol of agents */
#define RUNS   1000
#define ROUNDS 30
#define TRIES  200

/* Between the process that sleeps and the one that has the socket. */
struct between {
    _Atomic uint32_t out; /* messages to be sent */
    _Atomic uint32_t in;  /* that have come; slept on */
    _Atomic uint32_t sleeping;
};

static int wire;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* ---- The socket ---- */

static void send_one(void)
{
    static const char bytes[BYTES];

    if (write(wire, bytes, sizeof bytes) != BYTES)
        exit(0); /* the other program has ended */
}

static bool has_come(void)
{
    static char bytes[65536];
    ssize_t got = read(wire, bytes, sizeof bytes);

    if (got == 0)
        exit(0);
    return got > 0;
}

static void take_one(void)
{
    while (!has_come())
        ;
}

static void connect_both(bool first, const char *address, const char *port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, bell = socket(AF_INET, SOCK_STREAM, 0);

    if (inet_pton(AF_INET, address, &name.sin_addr) != 1)
        fail(address);
    if (first) {
        setsockopt(bell, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(bell, (struct sockaddr *)&name, sizeof name) != 0 || listen(bell, 1) != 0)
            fail("listen");
        wire = accept(bell, NULL, NULL);
    } else {
        for (int i = 0; connect(bell, (struct sockaddr *)&name, sizeof name) != 0; i++) {
            if (i == TRIES)
                fail("connect");
            usleep(20000);
        }
        wire = bell;
    }
    setsockopt(wire, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(wire, F_SETFL, O_NONBLOCK);
}

/* ---- Through another process ---- */

static void relay(struct between *between)
{
    uint32_t sent = 0;

    for (;;) {
        if (atomic_load(&between->out) != sent) {
            sent++;
            send_one();
        } else if (has_come()) {
            atomic_fetch_add(&between->in, 1);
            if (atomic_exchange(&between->sleeping, 0))
                syscall(SYS_futex, &between->in, FUTEX_WAKE, 1, NULL, NULL, 0);
        } else {
            sched_yield();
        }
    }
}

static struct between *between;

static void ask_to_send(void)
{
    atomic_fetch_add(&between->out, 1);
}

static void sleep_for_one(void)
{
    static uint32_t seen;

    for (; atomic_load(&between->in) == seen;) {
        atomic_store(&between->sleeping, 1);
        syscall(SYS_futex, &between->in, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
    seen++;
}

/* ---- Measured ---- */

static void measure(const char *name, bool first, void (*send)(void), void (*take)(void))
{
    double best = 1e9;

    for (int run = 0; run < RUNS; run++) {
        double begun = now_us(), each;

        for (int i = 0; i < ROUNDS; i++) {
            if (first)
                send();
            take();
            if (!first)
                send();
        }
        each = (now_us() - begun) / ROUNDS / 2;
        best = each < best ? each : best;
    }
    if (first)
        printf("%s %.2f\n", name, best);
}

int main(int argc, char **argv)
{
    bool first = argc == 4 && strcmp(argv[1], "first") == 0;
    pid_t other;

    if (argc != 4)
        return 2;
    connect_both(first, argv[2], argv[3]);
    measure("polled", first, send_one, take_one);
    between =
        mmap(NULL, sizeof *between, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (between == MAP_FAILED)
        fail("mmap");
    fflush(stdout);
    other = fork();
    if (other == 0)
        relay(between);
    measure("relayed", first, ask_to_send, sleep_for_one);
    usleep(first ? 0 : 100000); /* the last message is on its way */
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    return 0;
}
