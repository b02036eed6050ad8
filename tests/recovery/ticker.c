/* ticker.c - a program whose every superstep can be seen, and stopped, from outside.
 *
 *   ticker DIRECTORY SUPERSTEPS [-m MEBIBYTES] [-t MILLISECONDS] [-i] [-x STATUS] [-d SUPERSTEP]
 *          [-c] [-a] [-l] [-o KIBIBYTES]
 *
 * It runs in supersteps that use all of BSPlib (ticker_talk.c) and all kinds of files
 * (ticker_files.c), with -i also its input: a line per superstep.  -m is memory that does not
 * compress, of which a part changes in each superstep; -t a rest in each superstep.  It ends with
 * -x's status; -o is so much more output of each process in each superstep.  -c cuts files down
 * that are written anew, -a is for processes on several hosts, -l for such
 * that are to share no open file.  In superstep -d the last process
 * dies, whenever it comes there.  See outside.h for how it is watched. */
#include "tests/recovery/ticker.h"

#include <bsp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/recovery/outside.h"

uint64_t ticker_sum = 88172645463325252u;

static long supersteps, mebibytes, rest_ms, status, deadly = -1, kibibytes;
static bool reads;
static uint64_t *ballast;

void ticker_mix(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        ticker_sum = (ticker_sum ^ at[i]) * 1099511628211u;
}

_Noreturn void ticker_fail(const char *what)
{
    fprintf(stderr, "ticker: process %d: %s\n", bsp_pid(), what);
    exit(99);
}

static size_t ballast_words(void)
{
    return (size_t)mebibytes << 17;
}

/* Words that look random; every 16th page of another phase changes in each superstep. */
static void stir(int s)
{
    size_t page = 512, words = ballast_words();

    for (size_t i = (size_t)(s & 15) * page; i + page <= words; i += 16 * page)
        for (size_t k = 0; k < page; k++)
            ballast[i + k] =
                ballast[i + k] * 6364136223846793005u + (uint64_t)s + 1442695040888963407u;
    if (words > 0)
        ticker_mix(&ballast[(size_t)s * 4099 % words], sizeof *ballast);
}

static void load(void)
{
    uint64_t word = (uint64_t)bsp_pid() + 1;

    ballast = malloc(ballast_words() * sizeof *ballast + 1);
    if (!ballast)
        ticker_fail("no memory");
    for (size_t i = 0; i < ballast_words(); i++) {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        ballast[i] = word;
    }
}

/* The process with number 0 reads a line, of whatever length. */
static void read_line(void)
{
    int c;

    if (!reads || bsp_pid() != 0)
        return;
    while ((c = getchar()) != EOF && c != '\n') {
        char byte = (char)c;

        ticker_mix(&byte, 1);
    }
    if (c == EOF)
        ticker_fail("the input is shorter than it was");
}

static void chatter(int s)
{
    for (long i = 0; i < kibibytes * 16; i++)
        printf("%6d %6ld %6d %40d\n", bsp_pid(), i, s, 0);
    if (kibibytes > 0)
        fflush(stdout);
}

static void superstep(int s)
{
    outside_superstep(s);
    if (rest_ms > 0)
        outside_rest(rest_ms);
    if (s == deadly && bsp_pid() == bsp_nprocs() - 1)
        raise(SIGSEGV);
    read_line();
    stir(s);
    files_write(s);
    files_print(s);
    chatter(s);
    talk_send(s);
    bsp_sync();
    talk_receive(s);
}

static bool parse(int argc, char **argv)
{
    int option;

    if (argc < 3)
        return false;
    outside_directory = argv[1];
    supersteps = atol(argv[2]);
    optind = 3;
    while ((option = getopt(argc, argv, "m:t:icalx:d:o:")) != -1)
        if (option == 'm')
            mebibytes = atol(optarg);
        else if (option == 't')
            rest_ms = atol(optarg);
        else if (option == 'i')
            reads = true;
        else if (option == 'c')
            files_cut = true;
        else if (option == 'a')
            files_apart = true;
        else if (option == 'l')
            files_alone = true;
        else if (option == 'o')
            kibibytes = atol(optarg);
        else if (option == 'x')
            status = atol(optarg);
        else if (option == 'd')
            deadly = atol(optarg);
        else
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: ticker DIRECTORY SUPERSTEPS [-m MEBIBYTES] [-t MILLISECONDS] [-i] "
                        "[-x STATUS] [-d SUPERSTEP] [-c] [-a] [-l] [-o KIBIBYTES]\n");
        return 2;
    }
    files_before_begin(outside_directory);
    bsp_begin(0);
    files_begin();
    load();
    talk_begin(); /* the first superstep of BSPlib; those of the witness follow */
    for (int s = 1; s <= supersteps; s++)
        superstep(s);
    talk_end();
    for (int turn = 0; turn < bsp_nprocs(); turn++) {
        if (turn == bsp_pid()) {
            printf("process %d ends with %016llx\n", turn, (unsigned long long)ticker_sum);
            fflush(stdout);
        }
        bsp_sync();
    }
    files_end();
    outside_end((int)supersteps);
    bsp_end();
    return (int)status;
}
