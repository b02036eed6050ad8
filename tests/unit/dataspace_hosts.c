/* dataspace_hosts.c - see dataspace_hosts.h. */
#include "tests/unit/dataspace_hosts.h"

struct test_host hosts[HOSTS_MOST];
uint32_t hosts_silent;
uint64_t hosts_now;
uint64_t hosts_bytes[HOSTS_MOST][HOSTS_MOST], hosts_backed[HOSTS_MOST][HOSTS_MOST];

static struct {
    uint32_t from, to; /* HOSTS_MOST: it is delivered */
    struct wire_message message;
} queue[HOSTS_QUEUED];
static unsigned first, queued;
static uint32_t host_count;

static uint32_t number_of(const void *context)
{
    return (uint32_t)((const struct test_host *)context - hosts);
}

static void count(uint32_t from, uint32_t to, const struct wire_message *message)
{
    switch (message->kind) {
    case WIRE_DATA_GRANT:
        hosts_bytes[from][to] += message->data_grant.data.size;
        break;
    case WIRE_DATA_PASS:
        hosts_bytes[from][to] += message->data_pass.data.size;
        break;
    case WIRE_DATA_CHAIN:
        hosts_backed[from][to] += message->data_chain.data.size;
        break;
    case WIRE_DATA_AHEAD:
        hosts_backed[from][to] += message->data_ahead.data.size;
        break;
    case WIRE_DATA_COPY:
        hosts_backed[from][to] += message->data_copy.data.size;
        break;
    case WIRE_DATA_ASK:
        hosts[from].asked++;
        break;
    default:
        break;
    }
}

static void on_send(void *context, uint32_t to, const struct wire_message *message)
{
    uint32_t from = number_of(context);
    char error[WIRE_ERROR_SIZE];

    ck_assert_uint_lt(queued, HOSTS_QUEUED);
    ck_assert_int_eq(wire_copy(message, &queue[queued].message, error, sizeof error), 0);
    hosts[from].queued[to]++;
    queue[queued].from = from;
    queue[queued++].to = to;
    count(from, to, message);
}

static bool on_has_room(void *context, uint32_t to)
{
    const struct test_host *host = context;

    return host->queued[to] < HOSTS_LINK;
}

static void on_answer(void *context, uint32_t pid, uint64_t size, uint32_t length)
{
    struct test_host *host = context;

    (void)pid;
    host->answers++;
    host->size = size;
    host->piece = length;
}

static void on_broken(void *context, uint32_t host, const char *complaint)
{
    ck_abort_msg("host %u complains of host %u: %s", number_of(context), host, complaint);
}

static void on_mismatch(void *context, const struct dataspace_mismatch *mismatch)
{
    (void)context;
    ck_assert(mismatch->answered); /* only the room is different */
}

static uint64_t on_now(void *context)
{
    (void)context;
    return hosts_now;
}

static const struct dataspace_calls calls = {.send = on_send,
                                             .has_room = on_has_room,
                                             .answer = on_answer,
                                             .no_memory = dataspace_has_memory,
                                             .broken = on_broken,
                                             .mismatch = on_mismatch,
                                             .now_ms = on_now};

void hosts_open(const struct dataspace_setup *of_all)
{
    first = queued = 0;
    hosts_silent = HOSTS_MOST;
    hosts_now = 0;
    host_count = of_all->hosts;
    memset(hosts_bytes, 0, sizeof hosts_bytes);
    memset(hosts_backed, 0, sizeof hosts_backed);
    for (uint32_t i = 0; i < host_count; i++) {
        struct dataspace_setup setup = *of_all;

        hosts[i] = (struct test_host){.pool = pool_open(UINT64_MAX, 1, 0, NULL, NULL)};
        setup.host = i;
        setup.piece = HOSTS_PIECE;
        setup.pool = hosts[i].pool;
        hosts[i].space = dataspace_open(&setup, &calls, &hosts[i]);
        ck_assert_ptr_nonnull(hosts[i].space);
    }
}

void hosts_close(void)
{
    for (uint32_t i = 0; i < host_count; i++) {
        dataspace_close(hosts[i].space);
        pool_close(hosts[i].pool); /* which looks whether all objects are gone */
    }
    while (first < queued)
        wire_message_free(&queue[first++].message);
}

void hosts_go_on(void)
{
    for (uint32_t i = 0; i < host_count; i++)
        if (!hosts[i].lost)
            dataspace_go_on(hosts[i].space);
}

void hosts_deliver(unsigned most)
{
    for (unsigned i = first; i < queued && most > 0; i++) {
        if (queue[i].from == hosts_silent || queue[i].to == HOSTS_MOST)
            continue;
        if (!hosts[queue[i].to].lost)
            dataspace_message(hosts[queue[i].to].space, queue[i].from, &queue[i].message);
        hosts[queue[i].from].queued[queue[i].to]--;
        queue[i].to = HOSTS_MOST;
        most--;
        hosts_go_on();
    }
    while (first < queued && queue[first].to == HOSTS_MOST)
        wire_message_free(&queue[first++].message);
}

void hosts_run(void)
{
    hosts_deliver(HOSTS_QUEUED);
    if (hosts_silent == HOSTS_MOST)
        ck_assert_uint_eq(first, queued);
}

void hosts_lose(uint32_t lost)
{
    hosts[lost].lost = true;
    hosts_silent = lost;
    for (uint32_t host = 0; host < host_count; host++)
        if (host != lost)
            dataspace_lost(hosts[host].space, lost);
}

void host_posts(uint32_t on, uint32_t pid, uint64_t number, enum dataspace_kind kind,
                const char *tag, uint64_t size)
{
    struct test_host *host = &hosts[on];

    host->request = (struct dataspace_request){.kind = kind,
                                               .number = number,
                                               .tag = tag,
                                               .tag_size = (uint32_t)strlen(tag),
                                               .piece = host->window,
                                               .length = (uint32_t)size,
                                               .size = size};
    dataspace_posted(host->space, pid, &host->request);
}
