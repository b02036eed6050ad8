/* beats.c - a program whose answer depends on every message of every superstep, and whose pace on a
 * host a test can set.
 *
 *   beats [-i] [-r PID] [-b SUPERSTEP] [-q SUPERSTEP] [-n] [-a FILE] [-p] DIRECTORY SUPERSTEPS
 * MILLISECONDS
 *
 * Each superstep takes so long, ten times that on a host for which DIRECTORY/slow.HOST exists; then
 * each process puts to the next one, sends to all and gets from the one before, and process 0 and
 * one other, another one in each superstep, print a line.  -i: process 0, or that of -r, also reads
 * a line of the job's input.  For DIRECTORY/flip.HOST -b changes one bit of what process 1
 * communicates in that superstep, -q one that is never communicated; -n communicates the time.  In
 * superstep 3 process 1 opens a file for appending (-a) or a pipe (-p).  DIRECTORY/at.HOST says
 * which superstep has begun there. */
#include <bsp.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *directory;
static char host[64];
static long supersteps, milliseconds, bit_at = -1, quiet_at = -1;
static int reader;
static bool reads, tells_time, pipes;
static const char *appended;

static bool is_there(const char *what)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%s", directory, what, host);
    return access(path, F_OK) == 0;
}

static void begin_superstep(long s)
{
    char path[4096];
    FILE *file;

    gethostname(host, sizeof host - 1); /* a process may have been made on another one */
    if (bsp_pid() == 0 || bsp_pid() == bsp_nprocs() - 1) {
        snprintf(path, sizeof path, "%s/at.%s", directory, host);
        file = fopen(path, "w");
        if (file) {
            fprintf(file, "%ld\n", s);
            fclose(file);
        }
    }
    usleep((useconds_t)(milliseconds * 1000 * (is_there("slow") ? 10 : 1)));
}

static void open_something(long s)
{
    int ends[2];

    if (s != 3 || bsp_pid() != 1)
        return;
    if ((appended && open(appended, O_WRONLY | O_CREAT | O_APPEND, 0600) < 0) ||
        (pipes && pipe(ends) != 0))
        bsp_abort("beats: cannot open it\n");
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    return (sum ^ word) * UINT64_C(1099511628211) + (sum >> 31);
}

static void read_line(uint64_t *sum)
{
    char line[256];

    if (!reads || bsp_pid() != reader)
        return;
    if (!fgets(line, sizeof line, stdin))
        bsp_abort("beats: the input is too short\n");
    for (const char *at = line; *at; at++)
        *sum = mix(*sum, (unsigned char)*at);
}

static uint64_t communicate(uint64_t sum, uint64_t shared[2], long s)
{
    int p = bsp_nprocs(), pid = bsp_pid(), count;
    size_t bytes;
    uint64_t word = sum, fetched = 0;

    if (tells_time)
        word = (uint64_t)time(NULL);
    if (s == bit_at && pid == 1 && is_there("flip"))
        word ^= UINT64_C(1) << 17;
    shared[0] = sum;
    bsp_put((pid + 1) % p, &word, shared, sizeof *shared, sizeof word);
    for (int to = 0; to < p; to++)
        bsp_send(to, &pid, &sum, sizeof sum);
    bsp_get((pid + p - 1) % p, shared, 0, &fetched, sizeof fetched);
    bsp_sync();
    sum = mix(mix(sum, shared[1]), fetched);
    bsp_qsize(&count, &bytes);
    while (count-- > 0) {
        size_t status;
        int from;
        uint64_t message;
        bsp_get_tag(&status, &from);
        bsp_move(&message, sizeof message);
        sum += mix(message, (uint64_t)from);
    }
    return sum;
}

static void spmd(void)
{
    uint64_t shared[2] = {0, 0}, sum = 1, silent[64] = {0};
    size_t tag = sizeof(int);

    bsp_begin(bsp_nprocs());
    sum += (uint64_t)bsp_pid();
    bsp_set_tagsize(&tag);
    bsp_push_reg(shared, sizeof shared);
    bsp_sync();
    for (long s = 1; s <= supersteps; s++) {
        begin_superstep(s);
        read_line(&sum);
        open_something(s);
        if (s == quiet_at && is_there("flip"))
            silent[s % 64] ^= 4;
        sum = communicate(sum, shared, s);
        if (bsp_pid() == 0 || bsp_pid() == s % bsp_nprocs())
            printf("superstep %ld process %d %016llx\n", s, bsp_pid(), (unsigned long long)sum);
    }
    if (bsp_pid() == 0)
        printf("the answer is %016llx\n", (unsigned long long)sum);
    bsp_end();
}

int main(int argc, char **argv)
{
    int option;

    bsp_init(spmd, argc, argv);
    while ((option = getopt(argc, argv, "ir:b:q:na:p")) != -1)
        switch (option) {
        case 'i':
            reads = true;
            break;
        case 'r':
            reader = atoi(optarg);
            break;
        case 'n':
            tells_time = true;
            break;
        case 'a':
            appended = optarg;
            break;
        case 'p':
            pipes = true;
            break;
        case 'b':
            bit_at = atol(optarg);
            break;
        case 'q':
            quiet_at = atol(optarg);
            break;
        default:
            return 2;
        }
    if (argc - optind != 3)
        return 2;
    directory = argv[optind];
    supersteps = atol(argv[optind + 1]);
    milliseconds = atol(argv[optind + 2]);
    spmd();
    return 0;
}
