/* space_player.c - random operations on the dataspace, with the times at which they began and
 * ended.
 *
 *   space_player SEED EPOCHS MOST PAUSE PATH [replicas]
 *
 * Each epoch has tags of its own, which some process fills first.  Every process puts, reads, and
 * gets, and puts back what it has got before it does anything else: so nobody waits for ever.
 * An object is one number, again and again, up to MOST bytes.  At the end each process writes a
 * line for every operation into the file PATH.PROCESS, which space_run makes histories of:
 *
 *   TAG put|get|read NUMBER CALLED RETURNED        nanoseconds of CLOCK_MONOTONIC
 *
 * The lines are in memory until then: a process that goes back to a snapshot forgets what it has
 * done since.  A process that is restarted alone repeats operations that have had their effect,
 * though: so into the file PATH.calls.PROCESS, which knows of no snapshot, it writes a line
 * whenever an operation begins, and the first of them counts.  Nothing is printed, as what depends
 * on the clock would differ when it is repeated.  PAUSE: microseconds between operations, at most.
 * With the last argument each replica of a process has files of its own, PATH.PROCESS.NUMBER and
 * PATH.calls.PROCESS.NUMBER, by its number in the system.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <volpex.h>

#define TAGS 3
#define EACH 7 /* operations of a process in an epoch, twice that with gets, over all tags */

struct operation {
    int epoch, tag;
    const char *kind;
    uint32_t number;
    uint64_t called, returned;
};

static uint64_t state;
static int self, most, pause_us;
static uint32_t last; /* number that this process has put */
static struct operation *done;
static size_t count, room;
static uint32_t *object;
static const char *path;
static int with_replicas;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest(void)
{
    uint64_t ns = pause_us > 0 ? UINT64_C(1000) * draw((uint32_t)pause_us) : 0;
    struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

    if (ns > 0)
        nanosleep(&time, NULL);
}

static void name_file(char *name, size_t size, const char *kind)
{
    int used = snprintf(name, size, "%s%s.%d", path, kind, self);

    if (with_replicas)
        snprintf(name + used, size - (size_t)used, ".%d", (int)getpid());
}

/* Opened for each line: a file that is open at a snapshot would be cut off at a rollback. */
static uint64_t call(void)
{
    uint64_t called = now_ns();
    char name[4096], line[64];
    int file, size;

    name_file(name, sizeof name, ".calls");
    size = snprintf(line, sizeof line, "%zu %llu\n", count, (unsigned long long)called);
    file = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, line, (size_t)size) != size || close(file) != 0)
        exit(5);
    return called;
}

static void note(const struct operation *operation)
{
    if (count == room) {
        room = 2 * room + 64;
        done = realloc(done, room * sizeof *done);
        if (!done)
            exit(4);
    }
    done[count++] = *operation;
}

static int name_tag(char *text, int epoch, int tag)
{
    return sprintf(text, "%d.%d", epoch, tag);
}

static void put(int epoch, int tag)
{
    struct operation operation = {epoch, tag, "put", (uint32_t)self * 1000000 + ++last, 0, 0};
    uint32_t bytes = 4 + 4 * draw(draw(4) ? 8 : (uint32_t)most / 4);
    char name[32];
    int size = name_tag(name, epoch, tag);

    for (uint32_t i = 0; i < bytes / 4; i++)
        object[i] = operation.number;
    operation.called = call();
    volpex_put(name, size, object, (int)bytes);
    operation.returned = now_ns();
    note(&operation);
}

static void take(int epoch, int tag, int removes)
{
    struct operation operation = {epoch, tag, removes ? "get" : "read", 0, 0, 0};
    char name[32];
    int size = name_tag(name, epoch, tag), bytes;

    operation.called = call();
    bytes = (removes ? volpex_get : volpex_read)(name, size, object, most + 4);
    operation.returned = now_ns();
    operation.number = object[0];
    for (int i = 0; i < bytes / 4; i++)
        if (object[i] != operation.number) {
            printf("process %d: the object of tag %s is of two puts\n", self, name);
            exit(3);
        }
    note(&operation);
    if (removes) {
        rest();
        put(epoch, tag);
    }
}

static void play(int epoch, int processes)
{
    for (int tag = 0; tag < TAGS && epoch % processes == self; tag++)
        put(epoch, tag);
    for (int i = 0; i < EACH; i++) {
        int tag = (int)draw(TAGS), what = (int)draw(4);

        if (what == 0)
            put(epoch, tag);
        else
            take(epoch, tag, what == 1);
        rest();
    }
}

static void write_history(void)
{
    char name[4096], whole[4200];
    FILE *file;

    name_file(name, sizeof name, "");
    snprintf(whole, sizeof whole, "%s.part", name); /* who is killed leaves no half of one */
    file = fopen(whole, "w");
    if (!file)
        exit(5);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%d.%d %s %u %llu %llu\n", done[i].epoch, done[i].tag, done[i].kind,
                done[i].number, (unsigned long long)done[i].called,
                (unsigned long long)done[i].returned);
    if (fclose(file) != 0 || rename(whole, name) != 0)
        exit(5);
}

int main(int argc, char **argv)
{
    int epochs, processes;

    if (argc < 6)
        return 2;
    epochs = atoi(argv[2]);
    most = atoi(argv[3]);
    pause_us = atoi(argv[4]);
    path = argv[5];
    with_replicas = argc > 6;
    object = malloc((size_t)most + 64);
    if (!object)
        return 4;
    volpex_init(argc, argv);
    self = volpex_getProcId();
    processes = volpex_getNumProc();
    state = strtoull(argv[1], NULL, 10) * 64 + (uint64_t)self;
    draw(2);
    for (int epoch = 0; epoch < epochs; epoch++)
        play(epoch, processes);
    write_history();
    volpex_finalize();
    return 0;
}
