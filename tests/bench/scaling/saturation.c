/* saturation.c - what Processor Zero costs with many hosts: its real code, and simulated agents.
 *
 *   saturation [HOSTS RANKS_PER_HOST]...
 *
 * Every message from a simulated agent is encoded and decoded before Processor Zero takes it, every
 * message of its own is encoded: what its agent does, but for the system calls.  The agents answer
 * at once, so the time is that of the one core on which Processor Zero runs.  One line for each
 * pair: the start (host ready to run), a barrier that it was asked about, and a snapshot with
 * images of every process (from the barrier to RETIRE), each with milliseconds, messages and bytes
 * in both directions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/shell.h"

#define TERM      1u
#define BARRIERS  20u
#define SNAPSHOTS 5u

static const unsigned char job[WIRE_JOB_SIZE] = "scaling";

struct cost {
    double milliseconds;
    uint64_t messages, bytes;
};

struct world {
    struct coord_shell *zero;
    uint32_t hosts, each;
    struct bspz_buffer buffer;
    /* The newest message of each kind that every host has to answer. */
    uint32_t waiting[WIRE_KIND_COUNT];
    uint64_t superstep; /* of the newest of them */
    uint64_t messages, bytes;
    bool finished;
};

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void fail(const char *what)
{
    fprintf(stderr, "saturation: %s\n", what);
    exit(1);
}

/* ---- What Processor Zero calls ---- */

static void on_send(void *context, uint32_t host, const struct wire_message *message)
{
    struct world *world = context;

    if (host == COORD_BSPRUN)
        return;
    world->buffer.size = 0;
    if (wire_encode(message, &world->buffer, NULL, 0) != 0)
        fail("a message of Processor Zero is too long");
    world->messages++;
    world->bytes += world->buffer.size;
    world->waiting[message->kind]++;
    world->superstep = message->envelope.superstep;
}

static void on_timer(void *context, enum coord_timer timer, uint64_t milliseconds)
{
    (void)context;
    (void)timer;
    (void)milliseconds;
}

static void on_cancel(void *context, enum coord_timer timer)
{
    (void)context;
    (void)timer;
}

static void on_drop(void *context, uint32_t host, const char *complaint)
{
    (void)context;
    fprintf(stderr, "saturation: host %u: %s\n", host, complaint);
    exit(1);
}

static void on_finish(void *context, const struct coord_outcome *outcome)
{
    struct world *world = context;

    (void)outcome;
    world->finished = true;
}

static uint64_t on_clock(void *context)
{
    (void)context;
    return (uint64_t)(now_ms() * 1e6);
}

/* ---- The simulated agents ---- */

/* As it comes over a connection. */
static void say(struct world *world, uint32_t host, struct wire_message *message)
{
    struct wire_message received;

    memcpy(message->envelope.job, job, sizeof job);
    message->envelope.term = TERM;
    world->buffer.size = 0;
    if (wire_encode(message, &world->buffer, NULL, 0) != 0 ||
        wire_decode(world->buffer.data + WIRE_HEADER, world->buffer.size - WIRE_HEADER, &received,
                    NULL, 0) != 0)
        fail("a message of an agent cannot be sent");
    world->messages++;
    world->bytes += world->buffer.size;
    coord_shell_message(world->zero, host, &received);
    wire_message_free(&received);
}

/* Every host says the same. */
static void all_say(struct world *world, struct wire_message message)
{
    for (uint32_t host = 0; host < world->hosts; host++) {
        *wire_sender(&message) = host;
        say(world, host, &message);
    }
}

static void expect(struct world *world, enum wire_kind kind, uint32_t count)
{
    if (world->waiting[kind] != count) {
        fprintf(stderr, "saturation: %u messages %s instead of %u\n", world->waiting[kind],
                wire_kind_name(kind), count);
        exit(1);
    }
    world->waiting[kind] = 0;
}

static void images(struct world *world, uint64_t superstep, uint32_t first, uint32_t count)
{
    struct wire_message message = {.kind = WIRE_IMAGE_DURABLE};

    message.envelope.superstep = superstep;
    message.image_durable.facts.size = 1 << 20;
    message.image_durable.facts.digest[0] = 1;
    for (uint32_t pid = first; pid < first + count; pid++) {
        message.image_durable.host = pid / world->each;
        message.image_durable.pid = pid;
        say(world, message.image_durable.host, &message);
    }
}

/* From PERSIST to RETIRE. */
static void commit(struct world *world, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_PERSISTED, .envelope = {.superstep = superstep}};

    expect(world, WIRE_PERSIST, 1);
    say(world, 0, &message);
    expect(world, WIRE_COMMITTED, world->hosts);
    message = (struct wire_message){.kind = WIRE_KNOWN, .envelope = {.superstep = superstep}};
    all_say(world, message);
    expect(world, WIRE_RETIRE, world->hosts);
}

static void arrive(struct world *world, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_ARRIVE, .envelope = {.superstep = superstep}};
    static const uint64_t output[2];

    message.arrive.output = (struct wire_numbers){output, 2};
    all_say(world, message);
    expect(world, WIRE_RELEASE, world->hosts);
}

/* ---- The measurements ---- */

static void begin(struct world *world, double *start)
{
    world->messages = world->bytes = 0;
    *start = now_ms();
}

static struct cost end(const struct world *world, double start, unsigned times)
{
    return (struct cost){(now_ms() - start) / times, world->messages / times, world->bytes / times};
}

static void open_world(struct world *world, uint32_t hosts, uint32_t each, bool snapshots)
{
    struct wire_host *table = calloc(hosts, sizeof *table);
    struct coord_config config = {.term = TERM,
                                  .host_count = hosts,
                                  .hosts = table,
                                  .process_limit = hosts * each,
                                  .consult_every = snapshots ? 0 : 1,
                                  .abort_at = COORD_NEVER,
                                  .snapshots = snapshots,
                                  .rule = {.kind = POLICY_SUPERSTEPS, .every = 1},
                                  .wanted = COORD_NEVER};
    const struct coord_shell_calls calls = {.send = on_send,
                                            .set_timer = on_timer,
                                            .cancel_timer = on_cancel,
                                            .drop_host = on_drop,
                                            .finish = on_finish,
                                            .now_ns = on_clock};

    *world = (struct world){.hosts = hosts, .each = each};
    if (!table)
        fail("out of memory");
    for (uint32_t host = 0; host < hosts; host++)
        table[host] = (struct wire_host){host, each, "node"};
    memcpy(config.job, job, sizeof job);
    world->zero = coord_shell_new(&config, &calls, world);
    free(table);
    if (!world->zero)
        fail("no Processor Zero for so many hosts");
}

static void close_world(struct world *world)
{
    coord_shell_free(world->zero);
    bspz_buffer_free(&world->buffer);
}

static struct cost start_job(struct world *world, bool snapshots)
{
    struct wire_message message = {.kind = WIRE_HOST_READY};
    double from;

    begin(world, &from);
    message.host_ready.slots = world->each;
    all_say(world, message);
    message = (struct wire_message){.kind = WIRE_REGISTERED};
    say(world, 0, &message);
    expect(world, WIRE_PLACE, world->hosts);
    message = (struct wire_message){.kind = WIRE_RANKS_READY};
    message.ranks_ready.count = world->each;
    all_say(world, message);
    expect(world, WIRE_RUN, world->hosts);
    if (snapshots) {
        images(world, 0, 0, 1);
        commit(world, 0);
    }
    return end(world, from, 1);
}

static struct cost barriers(struct world *world)
{
    double from;

    begin(world, &from);
    for (uint64_t superstep = 0; superstep < BARRIERS; superstep++)
        arrive(world, superstep);
    return end(world, from, BARRIERS);
}

static struct cost snapshots(struct world *world)
{
    struct wire_message message = {.kind = WIRE_CAPTURED};
    static const uint64_t output[2];
    double from;

    begin(world, &from);
    for (uint64_t superstep = 0; superstep < SNAPSHOTS; superstep++) {
        arrive(world, superstep);
        message.envelope.superstep = superstep;
        message.captured.output = (struct wire_numbers){output, 2};
        all_say(world, message);
        expect(world, WIRE_RESUME, world->hosts);
        images(world, superstep + 1, 0, world->hosts * world->each);
        commit(world, superstep + 1);
    }
    return end(world, from, SNAPSHOTS);
}

static void show(struct cost cost)
{
    printf(" | %8.3f %8llu %9.1f", cost.milliseconds, (unsigned long long)cost.messages,
           (double)cost.bytes / 1024);
}

static void measure(uint32_t hosts, uint32_t each)
{
    struct world world;
    struct cost costs[3];

    open_world(&world, hosts, each, false);
    start_job(&world, false);
    costs[1] = barriers(&world);
    close_world(&world);
    open_world(&world, hosts, each, true);
    costs[0] = start_job(&world, true);
    costs[2] = snapshots(&world);
    close_world(&world);
    printf("%5u %6u", hosts, hosts * each);
    for (int i = 0; i < 3; i++)
        show(costs[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    static const uint32_t standard[][2] = {{10, 1},   {100, 1},   {1000, 1}, {10, 10},
                                           {100, 10}, {1000, 10}, {100, 64}};

    if (argc % 2 == 0) {
        fprintf(stderr, "usage: %s [HOSTS RANKS_PER_HOST]...\n", argv[0]);
        return 2;
    }
    printf("%5s %6s | %-27s | %-27s | %-27s\n", "", "", "start", "consulted barrier", "snapshot");
    printf("%5s %6s", "hosts", "ranks");
    for (int i = 0; i < 3; i++)
        printf(" | %8s %8s %9s", "ms", "messages", "KiB");
    printf("\n");
    for (int i = 1; i + 1 < argc; i += 2)
        measure((uint32_t)strtoul(argv[i], NULL, 10), (uint32_t)strtoul(argv[i + 1], NULL, 10));
    for (size_t i = 0; argc == 1 && i < sizeof standard / sizeof *standard; i++)
        measure(standard[i][0], standard[i][1]);
    return 0;
}
