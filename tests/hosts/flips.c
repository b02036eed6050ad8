/* flips.c - a program in whose memory one bit after the other is changed on one host.
 *
 *   flips [-q] [-o] [-k KIND] DIRECTORY SEED SUPERSTEPS
 *
 * What a process communicates is a function of the seed, its number and the superstep, never of
 * what came before, so that one flip leads to no other difference.  On the host for which
 * DIRECTORY/flip.HOST exists, a bit is changed in every other superstep, at a place that depends on
 * the seed: in what some process puts, gets, sends, registers or hands to a collective; it is
 * changed back afterwards.  Each is noted in DIRECTORY/flipped.HOST.PROCESS, before it is
 * communicated, as "PROCESS SUPERSTEP KIND BIT".  -o: only one flip, in the middle.  -k: only of
 * that kind.  -q: but in the last superstep only bits in memory that is never communicated.
 *
 * Nothing is flipped before there is DIRECTORY/begin.  Then each process prints a sum of all that
 * it received, which is wrong if any flipped bit counted, makes DIRECTORY/done.HOST.PROCESS, and
 * waits for DIRECTORY/end. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "tests/hosts/host_name.h"

enum kind {
    PUT,
    PUT_OFFSET,
    HPPUT,
    GOT,
    GET_OFFSET,
    SENT,
    TAG,
    REGISTERED,
    BROADCAST,
    GATHERED,
    FOLDED,
    KINDS
};
static const char *const kind_names[KINDS] = {"put",    "put-offset", "hpput", "got",
                                              "get-at", "sent",       "tag",   "registered",
                                              "bcast",  "gathered",   "folded"};

enum { WORDS = 48, SPARE = 8 }; /* an array, and how far an offset may be off */

/* All that a process communicates in one superstep. */
struct outgoing {
    uint64_t put[WORDS], hpput[WORDS], sent[WORDS];
    uint64_t broadcast[WORDS], gathered[WORDS], folded[WORDS];
    uint64_t tag;
    ptrdiff_t put_offset, get_offset, registered;
};

/* What others reach, and what comes back. */
struct areas {
    uint64_t served[WORDS + SPARE]; /* by gets */
    uint64_t put[WORDS + SPARE], hpput[WORDS], broadcast[WORDS], gathered[16 * WORDS];
    char memory[1 << 16]; /* registered anew in each superstep */
};

struct flip {
    enum kind kind;
    int pid;
    uint64_t bit;
};

static const char *directory;
static uint64_t seed;
static long supersteps;
static bool quiet, once;
static int only = -1;
static char host[256];
static struct areas areas;
static struct outgoing outgoing;
static uint64_t silent[WORDS];
static uint64_t superstep; /* the runtime's number, which counts those inside collectives */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0x632be59bd9b4e019);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t word(long s, uint64_t which, uint64_t i)
{
    return mix(mix(seed, (uint64_t)s << 8 | (uint64_t)bsp_pid()), which << 32 | i);
}

static void prepare(long s)
{
    for (uint64_t i = 0; i < WORDS; i++) {
        outgoing.put[i] = word(s, PUT, i);
        outgoing.hpput[i] = word(s, HPPUT, i);
        outgoing.sent[i] = word(s, SENT, i);
        outgoing.broadcast[i] = word(s, BROADCAST, i);
        outgoing.gathered[i] = word(s, GATHERED, i);
        outgoing.folded[i] = word(s, FOLDED, i);
    }
    for (uint64_t i = 0; i < WORDS + SPARE; i++)
        areas.served[i] = word(s, GOT, i);
    outgoing.tag = word(s, TAG, 0);
    outgoing.put_offset = outgoing.get_offset = 0;
    outgoing.registered = sizeof areas.memory / 2;
}

/* ---- Flips ---------------------------------------------------------------------------------- */

/* What of the kind is communicated, and how many bits of it may be changed without an error. */
static void *memory_of(enum kind kind, uint64_t *bits)
{
    *bits = 64 * WORDS;
    switch (kind) {
    case PUT:
        return outgoing.put;
    case HPPUT:
        return outgoing.hpput;
    case GOT:
        return areas.served;
    case SENT:
        return outgoing.sent;
    case BROADCAST:
        return outgoing.broadcast;
    case GATHERED:
        return outgoing.gathered;
    case FOLDED:
        return outgoing.folded;
    case TAG:
        *bits = 64;
        return &outgoing.tag;
    case PUT_OFFSET:
    case GET_OFFSET:
        *bits = 6; /* up to 63 bytes */
        return kind == PUT_OFFSET ? &outgoing.put_offset : &outgoing.get_offset;
    default:
        *bits = 16;
        return &outgoing.registered;
    }
}

static bool flips_in(long s)
{
    return once ? s == supersteps / 2 : (supersteps - s) % 2 == 1; /* in the last one, too */
}

/* The flip of a superstep. */
static struct flip flip_of(long s)
{
    uint64_t x = mix(mix(seed, 77), (uint64_t)s), bits;
    struct flip flip = {.pid = (int)(x % (uint64_t)bsp_nprocs())};

    flip.kind = only >= 0 ? (enum kind)only : (enum kind)(x / 64 % KINDS);
    if (flip.kind == BROADCAST)
        flip.pid = 0; /* the root */
    memory_of(flip.kind, &bits);
    flip.bit = (x >> 20) % bits;
    return flip;
}

static void toggle(void *memory, uint64_t bit)
{
    unsigned char *bytes = memory;

    bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
}

static bool is_there(const char *what)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, what);
    return access(path, F_OK) == 0;
}

static void wait_for(const char *what)
{
    while (!is_there(what))
        usleep(10000);
}

static bool lies(void)
{
    char name[300];

    snprintf(name, sizeof name, "flip.%s", host);
    return is_there(name);
}

/* Adds a line to DIRECTORY/WHAT.HOST.PROCESS. */
static void note(const char *what, const char *line)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.%s.%d", directory, what, host, bsp_pid());
    file = fopen(path, "a");
    if (!file || fputs(line, file) < 0 || fclose(file) != 0)
        bsp_abort("flips: cannot write %s\n", path);
}

/* Changes the bit of the superstep, if it is of that kind and this process's; the second call
 * changes it back.  later: supersteps of the runtime from now to that which communicates it. */
static void change(long s, enum kind kind, bool back, uint64_t later)
{
    struct flip flip = flip_of(s);
    uint64_t bits;
    char line[128];

    if (!flips_in(s) || flip.kind != kind || flip.pid != bsp_pid() || !lies())
        return;
    if (quiet && s + 1 < supersteps) {
        toggle(silent, flip.bit);
        return;
    }
    snprintf(line, sizeof line, "%d %llu %s %llu\n", flip.pid,
             (unsigned long long)(superstep + later), kind_names[kind],
             (unsigned long long)flip.bit);
    if (!back)
        note("flipped", line);
    toggle(memory_of(kind, &bits), flip.bit);
}

/* ---- Communication -------------------------------------------------------------------------- */

static uint64_t sum;

static void add(const void *memory, size_t bytes)
{
    const unsigned char *at = memory;

    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
}

static void add_messages(void)
{
    int count;

    bsp_qsize(&count, NULL);
    while (count-- > 0) {
        uint64_t tag, message[WORDS];
        size_t status;

        bsp_get_tag(&status, &tag);
        bsp_move(message, sizeof message);
        add(&tag, sizeof tag);
        add(message, sizeof message);
    }
}

static void call_all(uint64_t got[WORDS])
{
    int p = bsp_nprocs(), right = (bsp_pid() + 1) % p;

    bsp_put(right, outgoing.put, areas.put, outgoing.put_offset, sizeof outgoing.put);
    bsp_hpput(right, outgoing.hpput, areas.hpput, 0, sizeof outgoing.hpput);
    bsp_get(right, areas.served, outgoing.get_offset, got, WORDS * sizeof *got);
    bsp_send(right, &outgoing.tag, outgoing.sent, sizeof outgoing.sent);
    bsp_push_reg(areas.memory, outgoing.registered);
}

static void exchange(long s)
{
    uint64_t got[WORDS];

    memset(areas.put, 0, sizeof areas.put);
    for (int kind = 0; kind < BROADCAST; kind++)
        change(s, (enum kind)kind, false, 0);
    call_all(got);
    bsp_sync();
    for (int kind = 0; kind < BROADCAST; kind++)
        change(s, (enum kind)kind, true, 0);
    superstep++;
    bsp_pop_reg(areas.memory);
    add(areas.put, sizeof areas.put);
    add(areas.hpput, sizeof areas.hpput);
    add(got, sizeof got);
    add_messages();
}

static void combine(void *result, void *left, void *right, int *nbytes)
{
    for (int i = 0; i < *nbytes / 8; i++)
        ((uint64_t *)result)[i] = ((uint64_t *)left)[i] + ((uint64_t *)right)[i];
}

/* With BSP_SLG as the test sets it one superstep does what is to be done; before it, a broadcast
 * and a gather have one in which all agree on the call. */
static void collect(long s)
{
    uint64_t folded[WORDS];

    change(s, BROADCAST, false, 1);
    bsp_bcast(0, outgoing.broadcast, areas.broadcast, sizeof outgoing.broadcast);
    change(s, BROADCAST, true, 1);
    superstep += 2;
    change(s, GATHERED, false, 1);
    bsp_gather(0, outgoing.gathered, areas.gathered, sizeof outgoing.gathered);
    change(s, GATHERED, true, 1);
    superstep += 2;
    change(s, FOLDED, false, 0);
    bsp_fold(combine, outgoing.folded, folded, sizeof outgoing.folded);
    change(s, FOLDED, true, 0);
    superstep++;
    add(areas.broadcast, sizeof areas.broadcast);
    if (bsp_pid() == 0)
        add(areas.gathered, (size_t)bsp_nprocs() * sizeof outgoing.gathered);
    add(folded, sizeof folded);
}

static void spmd(void)
{
    size_t tag = sizeof outgoing.tag;

    bsp_begin(bsp_nprocs());
    bsp_set_tagsize(&tag);
    bsp_push_reg(areas.served, sizeof areas.served);
    bsp_push_reg(areas.put, sizeof areas.put);
    bsp_push_reg(areas.hpput, sizeof areas.hpput);
    bsp_push_reg(areas.broadcast, sizeof areas.broadcast);
    bsp_push_reg(areas.gathered, sizeof areas.gathered);
    bsp_sync();
    superstep = 1;
    bsp_bcast(0, &tag, areas.broadcast, sizeof tag);
    superstep += 4; /* two of them because it is the first collective */
    gethostname(host, sizeof host - 1);
    find_host(host, sizeof host);
    wait_for("begin");
    for (long s = 0; s < supersteps; s++) {
        prepare(s);
        exchange(s);
        collect(s);
    }
    printf("process %d: %016llx\n", bsp_pid(), (unsigned long long)sum);
    fflush(stdout);
    note("done", "");
    wait_for("end");
    bsp_end();
}

int main(int argc, char **argv)
{
    int option;

    bsp_init(spmd, argc, argv);
    while ((option = getopt(argc, argv, "qok:")) != -1)
        switch (option) {
        case 'q':
            quiet = true;
            break;
        case 'o':
            once = true;
            break;
        case 'k':
            for (only = 0; only < KINDS && strcmp(optarg, kind_names[only]) != 0;)
                only++;
            if (only < KINDS)
                break;
            /* fallthrough */
        default:
            return 2;
        }
    if (argc - optind != 3)
        return 2;
    directory = argv[optind];
    seed = strtoull(argv[optind + 1], NULL, 10);
    supersteps = atol(argv[optind + 2]);
    spmd();
    return 0;
}
