/* objects.c - a program of the dataspace for dataspace.py: the first argument says what it does. */
#include <bsp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <volpex.h>

#include "gate.h"

/* Steps of `answers`. */
enum { ANSWERS_KILL = 1000, ANSWERS_END };

static int pid, nprocs;

static int tag_of(char tag[32], const char *name, int number)
{
    return snprintf(tag, 32, "%s %d", name, number);
}

static void fail(const char *what, int number)
{
    bsp_abort("pid %d: %s (%d)", pid, what, number);
}

static unsigned char byte_of(int number, int at)
{
    return (unsigned char)(number * 31 + at * 7 + (at >> 12));
}

/* Every process gets what the one before it has put. */
static void ring(void)
{
    char tag[32];
    int value = pid * 10, got = -1;

    volpex_put(tag, tag_of(tag, "ring", (pid + 1) % nprocs), &value, sizeof value);
    int bytes = volpex_get(tag, tag_of(tag, "ring", pid), &got, sizeof got);
    printf("pid %d of %d got %d in %d bytes\n", pid, nprocs, got, bytes);
}

/* A token that is got and put back excludes all others meanwhile. */
static void count(int rounds)
{
    int total = 0;

    if (pid == 0)
        volpex_put("total", 5, &total, sizeof total);
    for (int i = 0; i < rounds; i++) {
        volpex_get("total", 5, &total, sizeof total);
        total++;
        volpex_put("total", 5, &total, sizeof total);
    }
    bsp_sync();
    volpex_read("total", 5, &total, sizeof total);
    printf("pid %d reads %d\n", pid, total);
}

/* Objects of many sizes, whole and cut short, to all other processes. */
static void sizes(void)
{
    static const int some[] = {0,       1,       7,       4096,    1044479, 1044480,
                               1044481, 1048576, 2088961, 5000000, 17};
    char tag[32];

    for (int i = 0; i < (int)(sizeof some / sizeof *some); i++) {
        int size = some[i], room = size > 100 ? size - 100 : size + 100;
        unsigned char *bytes = malloc((size_t)size + 100), *part = malloc((size_t)size + 100);

        for (int at = 0; at < size; at++)
            bytes[at] = byte_of(pid + i, at);
        if (volpex_put(tag, tag_of(tag, "sizes", pid * 100 + i), bytes, size) != size)
            fail("put", size);
        for (int from = 0; from < nprocs; from++) {
            int length = tag_of(tag, "sizes", from * 100 + i);

            if (volpex_read(tag, length, bytes, size) != size)
                fail("read", size);
            for (int at = 0; at < size; at++)
                if (bytes[at] != byte_of(from + i, at))
                    fail("a byte is wrong", at);
            if (volpex_read(tag, length, part, room) != (room < size ? room : size))
                fail("read of a part", size);
            if (memcmp(part, bytes, (size_t)(room < size ? room : size)) != 0)
                fail("a part is wrong", size);
        }
        free(bytes);
        free(part);
        bsp_sync();
        if (volpex_get(tag, tag_of(tag, "sizes", pid * 100 + i), NULL, 0) != 0)
            fail("get", size);
    }
    printf("pid %d has seen all\n", pid);
}

/* Process 0 puts many objects before it gets the first of them; in between it makes some more
 * calls, at which it can be saved.  With a gate it makes none before the first step, nor, in the
 * end, before the third, and goes on with those in between until the second, which replicas must
 * not: they would differ. */
static void many(int objects, int size, int calls, const char *gate)
{
    unsigned char *bytes = malloc((size_t)size + 1);
    char tag[32];

    if (pid == 0 && gate) {
        volpex_put("meanwhile", 9, NULL, 0); /* what calls need is there */
        printf("pid %d is ready\n", pid);
        fflush(stdout);
        wait_for_gate(gate, 1);
    }
    for (int i = 0; i < objects && pid == 0; i++) {
        memset(bytes, byte_of(i, 0), (size_t)size);
        volpex_put(tag, tag_of(tag, "many", i), bytes, size);
    }
    for (int i = 0; pid == 0 && (gate ? gate_step(gate) < 2 : i < calls); i++) {
        volpex_put("meanwhile", 9, &i, sizeof i);
        usleep(20000);
    }
    for (int i = 0; i < objects && pid == 0; i++) {
        if (volpex_get(tag, tag_of(tag, "many", i), bytes, size) != size)
            fail("get", i);
        for (int at = 0; at < size; at++)
            if (bytes[at] != byte_of(i, 0))
                fail("a byte is wrong", at);
    }
    free(bytes);
    printf("pid %d has seen all\n", pid);
    fflush(stdout);
    if (pid == 0 && gate)
        wait_for_gate(gate, 3);
}

/* Tags are bytes, of any length. */
static void tags(void)
{
    static char long_tag[4096];
    int value = 1, got = 0;

    memset(long_tag, 'x', sizeof long_tag);
    if (pid != 0)
        return;
    volpex_put(long_tag, 4096, &value, sizeof value);
    value = 2;
    volpex_put(long_tag, 4095, &value, sizeof value);
    value = 3;
    volpex_put("a\0b", 3, &value, sizeof value);
    value = 4;
    volpex_put("a\0c", 3, &value, sizeof value);
    value = 5;
    volpex_put(NULL, 0, &value, sizeof value);
    for (int i = 1; i <= 5; i++) {
        const char *tag = i <= 2 ? long_tag : i == 3 ? "a\0b" : i == 4 ? "a\0c" : "";

        volpex_get(tag, i == 1 ? 4096 : i == 2 ? 4095 : i == 5 ? 0 : 3, &got, sizeof got);
        printf("%d ", got);
    }
    printf("\n");
}

/* Called from a BSP program, and by its plain names. */
static void mixed(void)
{
    int (*put)(const char *, int, const void *, int) = volpex_put;
    int (*get)(const char *, int, void *, int) = volpex_get;
    int value = pid, got = -1;
    char tag[32];

    bsp_push_reg(&got, sizeof got);
    bsp_sync();
    bsp_put((pid + 1) % nprocs, &value, &got, 0, sizeof value);
    put(tag, tag_of(tag, "mixed", pid), &value, sizeof value);
    get(tag, tag_of(tag, "mixed", (pid + 1) % nprocs), &value, sizeof value);
    if (got != -1 || value != (pid + 1) % nprocs)
        fail("before the barrier", got);
    bsp_sync();
    if (got != (pid + nprocs - 1) % nprocs)
        fail("behind the barrier", got);
    printf("pid %d is content\n", pid);
}

/* A ring and a token, with output between the calls: an operation that is lost or done twice shows
 * in the numbers, or ends in waiting.  Process 0 is at the end long before the others. */
static void work(int rounds, int us, const char *gate)
{
    char tag[32];
    int token = 0, sum = 0;

    if (pid == 0)
        volpex_put("token", 5, &token, sizeof token);
    for (int i = 0; i < rounds; i++) {
        int value = pid * 100000 + i;

        volpex_put(tag, tag_of(tag, "work", (pid + 1) % nprocs * 100000 + i), &value, sizeof value);
        volpex_get(tag, tag_of(tag, "work", pid * 100000 + i), &value, sizeof value);
        if (value != (pid + nprocs - 1) % nprocs * 100000 + i)
            fail("the ring", value);
        sum += value % 1000;
        volpex_get("token", 5, &token, sizeof token);
        token++;
        volpex_put("token", 5, &token, sizeof token);
        if (i % 40 == 0) {
            printf("pid %d: round %d\n", pid, i);
            fflush(stdout);
        }
        if (i == 40 && gate)
            wait_for_gate(gate, 1);
        usleep((unsigned)us);
    }
    volpex_put(tag, tag_of(tag, "over", pid), &sum, sizeof sum);
    for (int i = 0; i < rounds / 4 && pid != 0; i++)
        usleep((unsigned)us), volpex_read(tag, tag_of(tag, "over", pid), &sum, sizeof sum);
    printf("pid %d: sum %d\n", pid, sum);
    if (pid == nprocs - 1) {
        for (int other = 0; other < nprocs; other++)
            volpex_read(tag, tag_of(tag, "over", other), &sum, sizeof sum);
        volpex_get("token", 5, &token, sizeof token);
        printf("token %d\n", token);
    }
}

/* Objects that outlive supersteps, one of them large; the first process uses none of them. */
static void steps(int rounds, int us)
{
    enum { LARGE = 3000000 };
    static unsigned char large[LARGE];
    int from = pid == 1 ? nprocs - 1 : pid - 1, sum = 0, passed = 0;
    char tag[32];

    bsp_push_reg(&passed, sizeof passed);
    bsp_sync();
    for (int i = 0; i < rounds; i++) {
        int value = pid * 1000 + i, to = pid % (nprocs - 1) + 1;

        if (pid > 0)
            volpex_put(tag, tag_of(tag, "steps", to), &value, sizeof value);
        if (pid == 1)
            memset(large, i, LARGE), volpex_put("large", 5, large, LARGE);
        bsp_put((pid + 1) % nprocs, &value, &passed, 0, sizeof value);
        bsp_sync();
        if (passed != (pid + nprocs - 1) % nprocs * 1000 + i)
            fail("passed", passed);
        if (pid > 0) {
            volpex_get(tag, tag_of(tag, "steps", pid), &value, sizeof value);
            if (nprocs > 2 && value != from * 1000 + i)
                fail("steps", value);
            volpex_read("large", 5, large, LARGE);
            if (large[0] != (unsigned char)i || large[LARGE - 1] != (unsigned char)i)
                fail("large", i);
        }
        sum += value;
        usleep((unsigned)us);
        bsp_sync();
        if (i % 10 == 0)
            printf("pid %d: step %d\n", pid, i);
    }
    printf("pid %d: sum %d\n", pid, sum);
}

/* Process 1 dies of a fault of its own, whenever it comes to that place. */
static void crash(const char *gate)
{
    int value = pid;
    char tag[32];

    for (int i = 0; i < 20; i++) {
        volpex_put(tag, tag_of(tag, "crash", pid), &value, sizeof value);
        volpex_get(tag, tag_of(tag, "crash", pid), &value, sizeof value);
    }
    if (pid == 1)
        wait_for_gate(gate, 1), raise(SIGSEGV);
    volpex_get("never", 5, &value, sizeof value);
}

/* All read what process 0 puts when it has read a line of its input, and has kept a file open. */
static void line(const char *path)
{
    char text[64] = "nothing";
    FILE *file = pid == 1 && path ? fopen(path, "w") : NULL;

    printf("ready %d %d\n", pid, (int)getpid());
    if (pid == 0 && fgets(text, sizeof text, stdin))
        volpex_put("line", 4, text, sizeof text);
    volpex_read("line", 4, text, sizeof text);
    printf("pid %d: %s", pid, text);
    fflush(stdout);
    while (pid == 2) /* else all would wait */
        usleep(1000);
    volpex_read("end", 3, text, sizeof text);
    if (file)
        fclose(file);
}

/* Who has input reads it all, slowly, and puts how far it has come; the others wait until it is
 * over. */
static void lines(unsigned us, const char *gate)
{
    char text[4096];
    long count = 0, bytes = 0, sum = 0;

    while (fgets(text, sizeof text, stdin)) {
        count++;
        bytes += (long)strlen(text);
        for (const char *at = text; *at; at++)
            sum = (sum * 31 + *at) % 1000003;
        if (count % 50 == 0)
            volpex_put("lines", 5, &count, sizeof count);
        if (count % 500 == 0)
            printf("%ld lines\n", count), fflush(stdout);
        if (count == 1000 && gate)
            wait_for_gate(gate, 1);
        usleep(us);
    }
    if (count > 0) {
        printf("in all %ld lines, %ld bytes, sum %ld\n", count, bytes, sum);
        volpex_put("end", 3, &count, sizeof count);
    }
    volpex_read("end", 3, &count, sizeof count);
}

static void wrong(void)
{
    int value = 0;

    printf("%d", volpex_put("x", -1, &value, sizeof value));
    printf(" %d", volpex_put("x", 4097, &value, sizeof value));
    printf(" %d", volpex_put(NULL, 1, &value, sizeof value));
    printf(" %d", volpex_read("x", 1, NULL, 4));
    printf(" %d", volpex_get("x", 1, &value, -4));
    printf(" %d\n", volpex_init(0, NULL));
}

/* Waits for what nobody puts: all processes, or all but one, which is at a barrier, or computes. */
static void wait_for_nothing(const char *but, const char *gate)
{
    char tag[32];
    int value;

    printf("ready %d\n", pid);
    fflush(stdout);
    if (pid == 0 && strcmp(but, "barrier") == 0)
        bsp_sync();
    if (pid == 0 && gate)
        wait_for_gate(gate, 1);
    for (;;)
        if (pid != 0 || strcmp(but, "computes") != 0)
            volpex_get(tag, tag_of(tag, "no \"object\"", pid), &value, sizeof value);
}

/* Process 0 gets what was put long before, but after it had begun. */
static void late(const char *gate)
{
    int value = pid;
    char begun[4096];
    FILE *file;

    snprintf(begun, sizeof begun, "%s, begun", gate);
    if (pid == 0) {
        file = fopen(begun, "w");
        if (!file || fputs("1", file) < 0 || fclose(file) != 0)
            fail("cannot be written", 0);
        wait_for_gate(gate, 1);
    }
    if (pid == 1) {
        wait_for_gate(begun, 1);
        volpex_put("late", 4, &value, sizeof value);
        printf("ready\n");
        fflush(stdout);
    }
    if (pid == 0)
        volpex_get("late", 4, &value, sizeof value);
}

/* What each replica of a process puts is another number. */
static void differ(void)
{
    int value = getpid();
    char tag[32];

    for (int i = 0; i < 100; i++) {
        volpex_put(tag, tag_of(tag, "differ", pid * 100 + i), &value, sizeof value);
        volpex_get(tag, tag_of(tag, "differ", (pid + 1) % nprocs * 100 + i), &value, sizeof value);
        value = getpid();
        usleep(20000);
    }
    printf("pid %d is over\n", pid);
}

static void gated(int rounds, const char *gate)
{
    char tag[32];
    int value;

    for (int i = 1; i <= rounds; i++) {
        say_everywhere(pid, i);
        wait_for_gate(gate, i);
        value = i;
        volpex_put(tag, tag_of(tag, "gated", (pid + 1) % nprocs), &value, sizeof value);
        volpex_get(tag, tag_of(tag, "gated", pid), &value, sizeof value);
        if (value != i)
            fail("gated", value);
        volpex_put(tag, tag_of(tag, "taken", pid), &value, sizeof value);
        volpex_get(tag, tag_of(tag, "taken", (pid + 1) % nprocs), &value, sizeof value);
    }
}

/* Process 0 puts objects, one in place of the other. */
static void puts_objects(const char *tag, int size, int count)
{
    unsigned char *bytes = calloc((size_t)size, 1);

    for (int i = 0; i < count && pid == 0; i++)
        volpex_put(tag, (int)strlen(tag), bytes, size);
    free(bytes);
}

/* In each round every process gets a large object from the one before it. */
static void large(int rounds, int size)
{
    unsigned char *bytes = calloc((size_t)size, 1);
    char tag[64];

    for (int i = 0; i < rounds; i++) {
        int before = (pid + nprocs - 1) % nprocs;

        for (int at = 0; at < size; at++)
            bytes[at] = byte_of(i + pid, at);
        volpex_put(tag, snprintf(tag, sizeof tag, "%d to %d", i, (pid + 1) % nprocs), bytes, size);
        if (volpex_get(tag, snprintf(tag, sizeof tag, "%d to %d", i, pid), bytes, size) != size)
            fail("large", i);
        for (int at = 0; at < size; at++)
            if (bytes[at] != byte_of(i + before, at))
                fail("a byte of a large object is wrong", at);
        if (i % 10 == 0)
            printf("pid %d: round %d\n", pid, i);
    }
    free(bytes);
}

/* Read by whoever may be restarted meanwhile, who then learns the same. */
static int read_step(void)
{
    int step = 0;

    usleep(5000);
    volpex_read("step", 4, &step, sizeof step);
    return step;
}

/* What process 0 or 1, whichever is not busy, has done when it has got its first object. */
static void with_first_answer(const char *then, const char *gate)
{
    int value;

    volpex_put("over", 4, NULL, 0);
    if (strcmp(then, "computes") == 0)
        wait_for_gate(gate, ANSWERS_END);
    if (strcmp(then, "opens") == 0) {
        wait_for_gate(gate, 1); /* snapshot 0 would be refused */
        if (socket(AF_INET, SOCK_DGRAM, 0) < 0)
            fail("socket", 0);
        volpex_read("opened", 6, &value, 0);
    }
    while (strcmp(then, "calls") == 0 && read_step() < ANSWERS_END)
        usleep(100000);
}

/* It gets little, again and again, in cycles: one more whenever the step is another one.  Before
 * its end it waits at the gate, where it can be killed while it is in no call. */
static void with_many_answers(int rounds, unsigned us, const char *gate)
{
    enum { LITTLE = 4096 };
    static unsigned char bytes[LITTLE];

    volpex_read("over", 4, bytes, 0);
    printf("ready %d %d\n", pid, (int)getpid());
    fflush(stdout);
    for (int cycle = 1, step = 0; step < ANSWERS_KILL; cycle++) {
        while (step < cycle)
            step = read_step();
        for (int i = 0; i < rounds && step < ANSWERS_KILL; i++) {
            volpex_put("little", 6, bytes, LITTLE);
            volpex_get("little", 6, bytes, LITTLE);
            usleep(us);
        }
        printf("cycle %d\n", cycle);
        fflush(stdout);
    }
    wait_for_gate(gate, ANSWERS_END);
    volpex_put("opened", 6, NULL, 0);
    printf("caught up\n");
    fflush(stdout);
}

/* One process has many answers, another one of the first two one large one; the last one says how
 * far they are to go. */
static void answers(int busy, int first, int rounds, int us, const char *gate, const char *then)
{
    unsigned char *bytes = calloc((size_t)first + 1, 1);

    if (pid == busy)
        with_many_answers(rounds, (unsigned)us, gate);
    for (int step = 0; step < ANSWERS_END && pid == nprocs - 1;) {
        step = gate_step(gate);
        volpex_put("step", 4, &step, sizeof step); /* again, too: all may wait for a call */
        usleep(10000);
    }
    if (pid == 1 - busy) {
        volpex_put("first", 5, bytes, first);
        volpex_get("first", 5, bytes, first);
        with_first_answer(then, gate);
    }
    free(bytes);
}

/* Process 0 puts an object and reads it again and again. */
static void reads(const char *tag, int size, int count)
{
    unsigned char *bytes = calloc((size_t)size, 1);

    if (pid != 0)
        return;
    for (int at = 0; at < size; at++)
        bytes[at] = byte_of(1, at);
    volpex_put(tag, (int)strlen(tag), bytes, size);
    for (int i = 0; i < count; i++) {
        memset(bytes, 0, (size_t)size);
        if (volpex_read(tag, (int)strlen(tag), bytes, size) != size)
            fail("read", i);
        for (int at = 0; at < size; at++)
            if (bytes[at] != byte_of(1, at))
                fail("a byte is wrong", at);
    }
    printf("%d reads\n", count);
    free(bytes);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ring";
    int value = 0;

    if (strcmp(what, "early") == 0)
        printf("%d\n", volpex_put("x", 1, &value, sizeof value));
    if (strcmp(what, "mixed") == 0 || strcmp(what, "steps") == 0)
        bsp_begin(0);
    else
        volpex_init(argc, argv);
    pid = volpex_getProcId();
    nprocs = volpex_getNumProc();
    if (strcmp(what, "ring") == 0)
        ring();
    else if (strcmp(what, "count") == 0)
        count(atoi(argv[2]));
    else if (strcmp(what, "sizes") == 0)
        sizes();
    else if (strcmp(what, "many") == 0)
        many(atoi(argv[2]), atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0, argc > 5 ? argv[5] : NULL);
    else if (strcmp(what, "tags") == 0)
        tags();
    else if (strcmp(what, "mixed") == 0)
        mixed();
    else if (strcmp(what, "work") == 0)
        work(atoi(argv[2]), atoi(argv[3]), argv[4]);
    else if (strcmp(what, "gated") == 0)
        gated(atoi(argv[2]), argv[3]);
    else if (strcmp(what, "steps") == 0)
        steps(atoi(argv[2]), atoi(argv[3]));
    else if (strcmp(what, "wrong") == 0)
        wrong();
    else if (strcmp(what, "crash") == 0)
        crash(argv[2]);
    else if (strcmp(what, "line") == 0)
        line(argc > 2 ? argv[2] : NULL);
    else if (strcmp(what, "lines") == 0)
        lines((unsigned)atoi(argv[2]), argv[3]);
    else if (strcmp(what, "late") == 0)
        late(argv[2]);
    else if (strcmp(what, "differ") == 0)
        differ();
    else if (strcmp(what, "answers") == 0)
        answers(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), argv[6],
                argc > 7 ? argv[7] : "");
    else if (strcmp(what, "reads") == 0)
        reads(argv[2], atoi(argv[3]), atoi(argv[4]));
    else if (strcmp(what, "puts") == 0)
        puts_objects(argv[2], atoi(argv[3]), atoi(argv[4]));
    else if (strcmp(what, "large") == 0)
        large(atoi(argv[2]), atoi(argv[3]));
    else if (strcmp(what, "wait") == 0)
        wait_for_nothing(argc > 2 ? argv[2] : "", argc > 3 ? argv[3] : NULL);
    volpex_finalize();
    return 0;
}
