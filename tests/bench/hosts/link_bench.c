/* link_bench.c - what a superstep between two hosts costs: the links of two agents, with processes
 * that only pretend to be ranks.
 *
 *   link_bench listen PORT [RANKS [SPIN_US [AGENT_US]]]
 *   link_bench call ADDRESS PORT [RANKS [SPIN_US [AGENT_US]]]
 *
 * Run one on each side, say in two network namespaces.  Each makes a board, RANKS ranks and an
 * agent's loop and bell.  Each rank puts a block to its partner on the other side; printed are the
 * time of a superstep and bytes put by a rank per second.  Beside them: what the connection does by
 * itself.  LB_ONLY in the environment: only blocks of so many bytes; LB_SEALED: encrypted. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/link/link.h"
#include "bsprun/link/link_tune.h"
#include "lib/net/handshake.h"
#include "lib/shm/barrier.h"
#include "lib/shm/exchange.h"

#define HALF      (UINT64_C(256) << 20)
#define RANKS_MAX 8

static const uint64_t sizes[] = {0,         8,       1 << 10, 16 << 10, 64 << 10,
                                 256 << 10, 1 << 20, 8 << 20, 64 << 20};
#define SIZES (int)(sizeof sizes / sizeof *sizes)

static int host, ranks = 1, spin_us, agent_us = 100, board_fd;
static struct bspz_board *board;
static struct link_bell bell = LINK_BELL_INIT;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    exit(1);
}

static void all(int fd, void *bytes, size_t size, bool out)
{
    while (size > 0) {
        ssize_t done = out ? write(fd, bytes, size) : read(fd, bytes, size);

        must(done > 0, "connection");
        bytes = (char *)bytes + done;
        size -= (size_t)done;
    }
}

/* ---- The connection alone ---- */

static void measure_raw(int fd)
{
    enum { TRIPS = 10000, BLOCK = 1 << 20, BLOCKS = 1000 };
    char *block = malloc(BLOCK);
    double begun;

    memset(block, 1, BLOCK);
    begun = now();
    for (int i = 0; i < TRIPS; i++) {
        all(fd, block, 64, host == 0);
        all(fd, block, 64, host != 0);
    }
    if (host == 0)
        printf("round trip %.1f us\n", (now() - begun) / TRIPS * 1e6);
    begun = now();
    for (int i = 0; i < BLOCKS; i++)
        all(fd, block, BLOCK, host == 0);
    all(fd, block, 1, host != 0);
    if (host == 0)
        printf("one way %.2f GB/s\n", (double)BLOCK * BLOCKS / (now() - begun) * 1e-9);
    fflush(stdout);
    free(block);
}

/* ---- A rank ---- */

static struct bspz_chunk *own_chunk(int pid, uint64_t superstep)
{
    return (struct bspz_chunk *)((char *)board +
                                 bspz_stretch_offset(&board->layout, 2 * ranks, pid, superstep, 3));
}

static void superstep_of(int pid, uint64_t superstep, uint64_t bytes, char *source, char *target)
{
    int partner = (pid + ranks) % (2 * ranks);
    struct bspz_line *line = &bspz_rank_of(board, pid)->line[superstep & 1];

    line->flags = 0;
    if (bytes > 0) {
        struct bspz_chunk *chunk = own_chunk(pid, superstep);
        struct bspz_entry *entry = bspz_entry_at(board, 2 * ranks, pid, partner, superstep);

        *chunk = (struct bspz_chunk){.used = bytes};
        memcpy(chunk + 1, source, bytes);
        memset(entry->first, 0, sizeof entry->first);
        entry->first[BSPZ_PUTS] = (uint64_t)((char *)chunk - (char *)board);
        atomic_store(&entry->stamp, superstep + 1);
        line->flags = BSPZ_HAS_PUT;
    }
    bspz_barrier_arrive(board, 2 * ranks, pid, superstep, BSPZ_STAGE_ARRIVED);
    if (bspz_barrier_wait(board, 2 * ranks, pid, superstep, BSPZ_STAGE_ARRIVED) != BSPZ_WAIT_DONE)
        exit(1);
    if (bytes > 0) {
        const struct bspz_entry *entry = bspz_entry_at(board, 2 * ranks, partner, pid, superstep);
        const struct bspz_chunk *chunk =
            (const void *)((const char *)board + entry->first[BSPZ_PUTS]);

        memcpy(target, chunk + 1, bytes);
    }
}

static void run_rank(int pid)
{
    char *source = malloc(sizes[SIZES - 1]), *target = malloc(sizes[SIZES - 1]);
    uint64_t superstep = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    memset(source, 1, sizes[SIZES - 1]);
    memset(target, 1, sizes[SIZES - 1]);
    for (uint64_t parity = 0; parity < 2; parity++)
        must(fallocate(board_fd, 0, (char *)own_chunk(pid, parity) - (char *)board,
                       (off_t)sizes[SIZES - 1] + 4096) == 0,
             "memory");
    for (int i = 0; i < SIZES; i++) {
        if (getenv("LB_ONLY") && (uint64_t)atoll(getenv("LB_ONLY")) != sizes[i])
            continue;
        uint64_t rounds = sizes[i] < 4096 ? 10000 : (UINT64_C(1) << 30) / (sizes[i] + 200000);
        double begun;

        for (int warm = 0; warm < 10; warm++)
            superstep_of(pid, superstep++, sizes[i], source, target);
        begun = now();
        for (uint64_t round = 0; round < rounds; round++)
            superstep_of(pid, superstep++, sizes[i], source, target);
        if (pid == 0) {
            double each = (now() - begun) / (double)rounds;

            printf("%9llu bytes %9.1f us %6.2f GB/s\n", (unsigned long long)sizes[i], each * 1e6,
                   (double)sizes[i] / each * 1e-9);
            fflush(stdout);
        }
    }
    exit(0);
}

/* ---- The agent ---- */

/* What ranks have sent goes with their agent: it stays until the other side's are done, too. */
struct agent {
    uv_loop_t loop;
    struct links *links;
    int ranks_left;
    bool other_done;
};

static void end_if_done(struct agent *agent)
{
    if (agent->ranks_left == 0 && agent->other_done)
        uv_stop(&agent->loop);
}

static void on_message(void *context, uint32_t from, const struct wire_message *message)
{
    (void)from, (void)message;
    ((struct agent *)context)->other_done = true;
    end_if_done(context);
}

static void on_lost(void *context, uint32_t from, const char *text)
{
    struct agent *agent = context;

    (void)from;
    if (!agent->other_done)
        printf("link lost: %s\n", text);
    agent->other_done = true;
    end_if_done(agent);
}

static void *bell_main(void *unused)
{
    link_tune_thread();
    uint32_t seen = atomic_load(&board->doorbell);

    for (;;) {
        link_bell_wait(&bell, board, seen);
        seen = atomic_load(&board->doorbell);
        link_bell_rung(&bell);
    }
    return unused;
}

static void on_child(uv_signal_t *handle, int signal)
{
    struct agent *agent = handle->data;
    struct wire_message done = {.kind = WIRE_INPUT};

    (void)signal;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        if (--agent->ranks_left == 0)
            links_send(agent->links, (uint32_t)!host, &done);
    end_if_done(agent);
}

static void run_agent(int fd)
{
    static const struct links_calls calls = {.message = on_message, .lost = on_lost};
    static const struct net_session session; /* both ends send with the same key */
    struct links_peer peer = {.host = (uint32_t)!host, .addresses = ""};
    struct agent agent = {.ranks_left = ranks};
    uv_signal_t child;
    struct links_setup setup = {.loop = &agent.loop,
                                .host = (uint32_t)host,
                                .peers = &peer,
                                .peer_count = 1,
                                .encrypt = getenv("LB_SEALED") != NULL,
                                .bell = &bell,
                                .spin_ns = (uint64_t)agent_us * 1000,
                                .outputs = {-1, -1}};
    pthread_t thread;

    uv_loop_init(&agent.loop);
    uv_signal_init(&agent.loop, &child);
    child.data = &agent;
    uv_signal_start(&child, on_child, SIGCHLD);
    agent.links = links_open(&setup, &calls, &agent);
    links_take(agent.links, (uint32_t)!host, fd, &session);
    must(links_mirror(agent.links, board_fd, 2 * ranks, NULL) == 0, "mirror");
    pthread_create(&thread, NULL, bell_main, NULL);
    for (int i = 0; i < ranks; i++)
        if (fork() == 0)
            run_rank(host * ranks + i);
    uv_run(&agent.loop, UV_RUN_DEFAULT);
}

static int connect_both(char **arguments)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    bool there = false;

    address.sin_port = htons((uint16_t)atoi(arguments[host == 0 ? 0 : 1]));
    if (host == 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        must(bind(fd, (void *)&address, sizeof address) == 0 && listen(fd, 1) == 0, "listen");
        fd = accept(fd, NULL, NULL);
    } else {
        inet_pton(AF_INET, arguments[0], &address.sin_addr);
        for (int i = 0; i < 100 && !there; i++) { /* the other one may not listen yet */
            there = connect(fd, (void *)&address, sizeof address) == 0;
            if (!there)
                usleep(50000);
        }
        must(there, "connect");
    }
    must(fd >= 0, "accept");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

int main(int count, char **arguments)
{
    struct bspz_board *page;
    int fd;

    if (count < 3)
        return 2;
    host = strcmp(arguments[1], "listen") != 0;
    if (count > 3 + host)
        ranks = atoi(arguments[3 + host]);
    if (count > 4 + host)
        spin_us = atoi(arguments[4 + host]);
    if (count > 5 + host)
        agent_us = atoi(arguments[5 + host]);
    signal(SIGPIPE, SIG_IGN);
    board_fd = bspz_board_create("bench", 0, 1, BSPZ_BOARD_HOSTS, &page);
    must(board_fd >= 0, "board");
    board = bspz_board_map_rank(board_fd, 2 * ranks, HALF, false, false);
    must(board && mprotect(board, board->layout.total, PROT_READ | PROT_WRITE) == 0, "board");
    board->host = host;
    board->here = ranks;
    board->agent_pid = getpid();
    atomic_store(&board->spin_ns, (uint32_t)spin_us * 1000);
    for (int pid = 0; pid < 2 * ranks; pid++)
        atomic_store(&bspz_rank_of(board, pid)->host, (uint32_t)(pid / ranks));
    fd = connect_both(arguments + 2);
    measure_raw(fd);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    run_agent(fd);
    return 0;
}
