/* Profiles: every number that the program determines is in PROF.bsp and STAT.bsp.
 *
 * All processes go through the same transfers; each issues its own and adds up everybody's.  Pid 0
 * leaves what must be in the files in EXPECTED, a line per superstep: the line of its bsp_sync, the
 * function it stands in, and the numbers as in PROF.bsp.  Calls that continue each other, and those
 * the kernel could copy directly, count one by one; what a process sends itself does not count.
 *
 * ENV: BSP_SLG=100,4000,5,20 BSPZERO_DIRECT=4096
 * RUN: bsprun
 * OUT: done
 * CASE: prof
 * CC: -prof
 * SHELL: "$BSPRUN" -np $P "$PROG" && python3 "$(dirname '${file}')/check_files" traffic.c prof
 * CASE: bare
 * CC: -prof
 * SHELL: BSP_PROCS=$P "$PROG" && python3 "$(dirname '${file}')/check_files" traffic.c prof
 * CASE: call-stacks
 * SHELL: "$BIN/bspcc" -cgprof -stat -g '${file}' -o it && "$BSPRUN" -np $P ./it && python3 "$(dirname '${file}')/check_files" traffic.c cgprof stat
 * CASE: optimised-checks-off
 * SHELL: "$BIN/bspcc" -prof -stat -O2 -flibrary-level 2 '${file}' -o it && "$BSPRUN" -np $P ./it && python3 "$(dirname '${file}')/check_files" traffic.c prof stat
 * CASE: shared-library
 * SHELL: "$BIN/bspcc" -cgprof -g -fshared-libbsp '${file}' -o it && "$BSPRUN" -np $P ./it && python3 "$(dirname '${file}')/check_files" traffic.c cgprof
 * CASE: stripped
 * SHELL: "$BIN/bspcc" -cgprof -s '${file}' -o it && "$BSPRUN" -np $P ./it && python3 "$(dirname '${file}')/check_files" traffic.c stripped
 * CASE: only-statistics
 * SHELL: "$BIN/bspcc" -stat '${file}' -o it && "$BSPRUN" -np $P ./it && test ! -e PROF.bsp && python3 "$(dirname '${file}')/check_files" traffic.c stat
 * CASE: without
 * SHELL: "$BIN/bspcc" '${file}' -o it && "$BSPRUN" -np $P ./it && test ! -e PROF.bsp && test ! -e STAT.bsp
 * CASE: as-Oxford
 * SHELL: "$BIN/bspcc" -prof -fcompat=oxford '${file}' -o it && "$BSPRUN" -np $P ./it && python3 "$(dirname '${file}')/check_files" traffic.c prof
 */
#include "../check.h"

#define STEPS 32
#define PROCS 8
#define BLOCK 65536 /* large enough for a direct copy */

struct step {
    int line;
    const char *function;
    long calls_in[PROCS], calls_out[PROCS], bytes_in[PROCS], bytes_out[PROCS];
};

static struct step steps[STEPS];
static int now;
static char area[4 * BLOCK], local[4 * BLOCK];

#define SYNC()                                                                                     \
    do {                                                                                           \
        steps[now].function = __func__;                                                            \
        steps[now++].line = __LINE__;                                                              \
        bsp_sync();                                                                                \
    } while (0)

static void count(int from, int to, long calls, long bytes)
{
    if (from == to)
        return;
    steps[now].calls_out[from] += calls;
    steps[now].bytes_out[from] += bytes;
    steps[now].calls_in[to] += calls;
    steps[now].bytes_in[to] += bytes;
}

/* i + 1 puts of 8 bytes from i to each j, to places that follow each other. */
static void consecutive(int from, int to)
{
    count(from, to, from + 1, 8 * (from + 1));
    if (from == bsp_pid())
        for (int k = 0; k <= from; k++)
            bsp_put(to, local, area, 8 * k, 8);
}

/* The same to places apart, of odd sizes. */
static void scattered(int from, int to)
{
    count(from, to, 5, 5 * 7);
    if (from == bsp_pid())
        for (int k = 0; k < 5; k++)
            bsp_put(to, local, area, 64 * k, 7);
}

/* j + 1 gets by each i, one behind the other on both sides: the data go from owner to reader. */
static void fetched(int owner, int reader)
{
    count(owner, reader, reader + 1, 12 * (reader + 1));
    if (reader == bsp_pid())
        for (int k = 0; k <= reader; k++)
            bsp_get(owner, area, 12 * k, local + 1024 * owner + 12 * k, 12);
}

static void sent(int from, int to)
{
    int messages = (from + 2 * to) % 3;

    count(from, to, messages, 5 * messages);
    if (from == bsp_pid())
        for (int k = 0; k < messages; k++)
            bsp_send(to, NULL, local, 5);
}

static void blocks(int from, int to)
{
    if (to != (from + 1) % bsp_nprocs())
        return;
    count(from, to, 1, BLOCK);
    if (from == bsp_pid())
        bsp_hpput(to, local, area, 0, BLOCK);
    count(from, to, 1, BLOCK);
    if (to == bsp_pid())
        bsp_hpget(from, area, 2 * BLOCK, local + 2 * BLOCK, BLOCK);
}

static void everybody(void (*transfer)(int from, int to))
{
    for (int from = 0; from < bsp_nprocs(); from++)
        for (int to = 0; to < bsp_nprocs(); to++)
            transfer(from, to);
}

static __attribute__((noinline)) void outer(void)
{
    everybody(sent);
    SYNC();
    everybody(blocks);
    SYNC();
}

static void write_expected(void)
{
    FILE *file = fopen("EXPECTED", "w");

    for (int s = 0; s < now; s++) {
        fprintf(file, "%d %s", steps[s].line, steps[s].function);
        for (int i = 0; i < bsp_nprocs(); i++)
            fprintf(file, " %ld %ld", steps[s].calls_in[i], steps[s].calls_out[i]);
        fprintf(file, " @@");
        for (int i = 0; i < bsp_nprocs(); i++)
            fprintf(file, " %ld %ld", steps[s].bytes_in[i], steps[s].bytes_out[i]);
        fprintf(file, "\n");
    }
    fclose(file);
}

int main(void)
{
    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    SYNC();
    everybody(consecutive);
    SYNC();
    everybody(scattered);
    SYNC();
    everybody(fetched);
    SYNC();
    SYNC();
    for (int k = 0; k < 3; k++) {
        everybody(k == 1 ? scattered : sent);
        SYNC();
    }
    outer();
    everybody(consecutive);
    everybody(fetched);
    everybody(sent);
    SYNC();
    bsp_end();
    write_expected();
    printf("done\n");
    return 0;
}
