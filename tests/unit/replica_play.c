/* replica_play.c - see replica_play.h. */
#include "tests/unit/replica_play.h"

#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QUIET_MS 300 /* after which nothing goes on any more */

struct play_host play[PLAY_HOSTS];
struct links_replicas play_setup;
bool play_encrypts, play_checks;
uint64_t play_stop;
unsigned play_wrong;
static const struct play_layout *layout;

const struct play_layout play_all[PLAY_LAYOUTS] = {
    [PLAY_TWO_OF_EACH] = {4, {2, 2, 2, 2}, {{0, 1}, {2, 3}, {0, 1}, {2, 3}}},
    [PLAY_ALL_ON_EACH] = {2, {4, 4}, {{0, 1, 2, 3}, {0, 1, 2, 3}}},
    [PLAY_THREE_OF_EACH] = {6,
                            {2, 2, 2, 2, 2, 2},
                            {{0, 1}, {2, 3}, {0, 1}, {2, 3}, {0, 1}, {2, 3}}},
    [PLAY_ONE_IS_UNIQUE] = {3, {2, 3, 2}, {{0, 1}, {1, 2, 3}, {2, 3}}},
    [PLAY_OVERLAP] = {3, {3, 3, 2}, {{0, 1, 2}, {1, 2, 3}, {0, 3}}},
};

/* ---- Links --------------------------------------------------------------------------------- */

static void on_message(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context, (void)host, (void)message;
}

static void on_lost(void *context, uint32_t host, const char *text)
{
    struct play_host *at = context;

    (void)host, (void)text;
    at->lost++;
}

static void on_mismatch(void *context, const struct links_mismatch *mismatch)
{
    struct play_host *at = context;

    *(mismatch->seen ? &at->seen : &at->mismatches) += 1;
    *(mismatch->seen ? &at->place : &at->mismatch) = *mismatch;
}

static void on_behind(void *context, uint32_t host, uint64_t superstep, int error)
{
    ck_assert_int_eq(error, 0);
    struct play_host *at = context;

    (void)superstep;
    at->behind++;
    at->behind_host = host;
}

static const struct links_calls calls = {
    .message = on_message, .lost = on_lost, .mismatch = on_mismatch, .behind = on_behind};

static const struct net_session sessions[2] = {
    {"from a to b, a key of 32 bytes.", "from b to a, a key of 32 bytes."},
    {"from b to a, a key of 32 bytes.", "from a to b, a key of 32 bytes."},
};

static bool lives(unsigned host, uint32_t pid)
{
    for (uint32_t i = 0; i < layout->counts[host]; i++)
        if (layout->pids[host][i] == pid)
            return true;
    return false;
}

static void make_board(unsigned host)
{
    int host_of[PLAY_PROCS];

    for (uint32_t pid = 0; pid < PLAY_PROCS; pid++) {
        unsigned home = host;

        for (unsigned other = 0; other < layout->hosts && !lives(home, pid); other++)
            home = other;
        host_of[pid] = (int)home;
    }
    board_make(&play[host].at, (int)host, PLAY_PROCS, host_of, UINT64_C(64) << 20);
    /* As an agent does it. */
    if (layout->counts[host] == PLAY_PROCS)
        play[host].at.board->flags &= ~BSPZ_BOARD_HOSTS;
}

static void open_links(unsigned host)
{
    struct links_peer peers[PLAY_HOSTS];
    struct links_setup setup = {.loop = &play[host].loop,
                                .host = host,
                                .peers = peers,
                                .encrypt = play_encrypts,
                                .bell = &play[host].bell,
                                .outputs = {-1, -1}};

    for (unsigned other = 0; other < layout->hosts; other++)
        if (other != host)
            peers[setup.peer_count++] = (struct links_peer){other, ""};
    play[host].links = links_open(&setup, &calls, &play[host]);
    ck_assert_ptr_nonnull(play[host].links);
}

static void connect_hosts(unsigned one, unsigned two)
{
    int fds[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    links_take(play[one].links, two, fds[0], &sessions[0]);
    links_take(play[two].links, one, fds[1], &sessions[1]);
}

void play_set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    memset(play, 0, sizeof play);
    play_setup = (struct links_replicas){
        .log_bytes = UINT64_C(64) << 20, .spill_bytes = UINT64_C(256) << 20, .agree = 1};
    play_encrypts = false;
    play_checks = true;
    play_stop = 0;
    play_wrong = 0;
    layout = NULL;
}

void play_begin(unsigned which)
{
    struct links_home homes[PLAY_HOSTS];

    layout = &play_all[which];
    for (unsigned host = 0; host < layout->hosts; host++) {
        pthread_mutex_init(&play[host].bell.lock, NULL);
        ck_assert_int_eq(uv_loop_init(&play[host].loop), 0);
        play[host].flip_to = -1;
        make_board(host);
        open_links(host);
        homes[host] = (struct links_home){host, layout->counts[host], layout->pids[host]};
    }
    for (unsigned host = 0; host < layout->hosts; host++)
        for (unsigned other = 0; other < host; other++)
            connect_hosts(host, other);
    play_setup.homes = homes;
    play_setup.home_count = layout->hosts;
    for (unsigned host = 0; host < layout->hosts; host++)
        ck_assert_int_eq(links_mirror(play[host].links, play[host].at.fd, PLAY_PROCS, &play_setup),
                         0);
}

static void close_host(unsigned host)
{
    links_close(play[host].links);
    play[host].links = NULL;
    uv_run(&play[host].loop, UV_RUN_DEFAULT);
}

void play_kill(unsigned host)
{
    play[host].dead = true;
    close_host(host);
}

void play_tear_down(void)
{
    for (unsigned host = 0; layout && host < layout->hosts; host++) {
        if (!play[host].dead)
            close_host(host);
        ck_assert_int_eq(uv_loop_close(&play[host].loop), 0);
        board_free(&play[host].at);
    }
}

unsigned play_hosts(void)
{
    return layout->hosts;
}

/* ---- Ranks --------------------------------------------------------------------------------- */

static bool gets(uint64_t superstep)
{
    return superstep % 3 == 1;
}

static bool matches(uint64_t superstep)
{
    return superstep % 5 == 2;
}

uint64_t play_bytes(uint64_t superstep)
{
    return superstep % 7 == 3 ? 60000 : superstep % 4 == 0 ? 0 : 8 * (superstep % 50);
}

static void ring(unsigned host, enum bspz_stage stage)
{
    struct play_host *at = &play[host];

    uint32_t rung = atomic_load(&at->at.board->doorbell);

    for (uint32_t i = 0; i < layout->counts[host]; i++)
        bspz_barrier_arrive(at->at.board, PLAY_PROCS, (int)layout->pids[host][i], at->superstep,
                            stage);
    ck_assert_uint_eq(atomic_load(&at->at.board->doorbell), rung + 1);
    link_bell_rung(&at->bell);
}

static bool complete(unsigned host, enum bspz_stage stage)
{
    static const int all[] = {0, 1, 2, 3};
    struct play_host *at = &play[host];

    return bspz_barrier_reached(at->at.board, all, PLAY_PROCS, at->superstep, stage) &&
           atomic_load(&at->at.board->gate[at->superstep & 1][stage]) > at->superstep;
}

static void flip(unsigned host, enum bspz_kind kind)
{
    struct play_host *at = &play[host];
    const struct bspz_entry *entry =
        bspz_entry_at(at->at.board, PLAY_PROCS, at->flip_pid, at->flip_to, at->superstep);
    uint64_t offset = entry->first[kind] + sizeof(struct bspz_chunk);

    ((unsigned char *)at->at.board + offset)[at->flip_at / 8] ^=
        (unsigned char)(1u << at->flip_at % 8);
}

static void send_all(unsigned host, enum bspz_kind kind, uint64_t bytes)
{
    struct play_host *at = &play[host];

    for (uint32_t i = 0; i < layout->counts[host]; i++)
        for (int to = 0; to < PLAY_PROCS && bytes > 0; to++)
            board_send(&at->at, (int)layout->pids[host][i], to, kind, at->superstep, 2, bytes, 0);
}

static void arrive(unsigned host)
{
    struct play_host *at = &play[host];
    uint64_t bytes = play_bytes(at->superstep);
    uint32_t flags = (bytes > 0 ? BSPZ_HAS_PUT : 0) | (gets(at->superstep) ? BSPZ_HAS_GET : 0) |
                     (play_stop > 0 && at->superstep == play_stop ? BSPZ_HAS_CALL : 0);

    for (uint32_t i = 0; i < layout->counts[host]; i++)
        board_empty(&at->at, (int)layout->pids[host][i], at->superstep);
    send_all(host, BSPZ_PUTS, bytes);
    if (gets(at->superstep))
        send_all(host, BSPZ_REQUESTS, 2 * BSPZ_REQUEST_BYTES);
    if (at->flip_to >= 0 && !at->flips_reply && at->superstep == at->flip_superstep)
        flip(host, BSPZ_PUTS);
    for (uint32_t i = 0; i < layout->counts[host]; i++)
        board_arrive(&at->at, (int)layout->pids[host][i], at->superstep, flags);
    link_bell_rung(&at->bell);
}

static void check_from_all(unsigned host, enum bspz_kind kind, uint64_t bytes)
{
    struct play_host *at = &play[host];

    for (int from = 0; from < PLAY_PROCS && bytes > 0; from++)
        for (uint32_t i = 0; i < layout->counts[host] && !lives(host, (uint32_t)from); i++) {
            bool has =
                board_has(&at->at, from, (int)layout->pids[host][i], kind, at->superstep, 2, bytes);

            play_wrong += !has;
            ck_assert_msg(has || !play_checks, "host %u has not got what %d sent in superstep %lu",
                          host, from, (unsigned long)at->superstep);
        }
}

static void go_on(unsigned host, bool matched)
{
    struct play_host *at = &play[host];

    if (!matched && matches(at->superstep)) {
        at->phase = PLAY_MATCHED;
        ring(host, BSPZ_STAGE_MATCHED);
    } else if (gets(at->superstep)) {
        at->phase = PLAY_REPLIED;
        send_all(host, BSPZ_REPLIES, 48);
        if (at->flip_to >= 0 && at->flips_reply && at->superstep == at->flip_superstep)
            flip(host, BSPZ_REPLIES);
        ring(host, BSPZ_STAGE_REPLIED);
    } else {
        at->phase = PLAY_COMPUTES;
        at->superstep++;
    }
}

bool play_step(unsigned host)
{
    struct play_host *at = &play[host];

    switch (at->phase) {
    case PLAY_COMPUTES:
        at->phase = PLAY_ARRIVED;
        arrive(host);
        return true;
    case PLAY_ARRIVED:
        if (!complete(host, BSPZ_STAGE_ARRIVED))
            return false;
        check_from_all(host, BSPZ_PUTS, play_bytes(at->superstep));
        if (gets(at->superstep))
            check_from_all(host, BSPZ_REQUESTS, 2 * BSPZ_REQUEST_BYTES);
        go_on(host, false);
        return true;
    case PLAY_MATCHED:
        if (!complete(host, BSPZ_STAGE_MATCHED))
            return false;
        go_on(host, true);
        return true;
    case PLAY_REPLIED:
        if (!complete(host, BSPZ_STAGE_REPLIED))
            return false;
        check_from_all(host, BSPZ_REPLIES, 48);
        at->phase = PLAY_COMPUTES;
        at->superstep++;
        return true;
    }
    return false;
}

void play_turn(unsigned host)
{
    if (!play[host].dead && !play[host].frozen)
        uv_run(&play[host].loop, UV_RUN_NOWAIT);
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool have_come(uint64_t superstep, unsigned mask)
{
    for (unsigned host = 0; host < layout->hosts; host++)
        if (mask & 1u << host && play[host].superstep < superstep)
            return false;
    return true;
}

bool play_until(uint64_t superstep, unsigned mask)
{
    uint64_t last = now_ms();

    while (!have_come(superstep, mask)) {
        bool any = false;

        for (unsigned host = 0; host < layout->hosts; host++) {
            play_turn(host);
            if (mask & 1u << host && !play[host].dead && !play[host].frozen &&
                play[host].superstep < superstep)
                any |= play_step(host);
        }
        if (any)
            last = now_ms();
        else if (now_ms() - last > QUIET_MS)
            return false;
    }
    return true;
}
