/* context.c - the process context, and its external settings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/rt/rt.h"

struct bspz_runtime bspz_rt = {.life = BSPZ_LIFE_BEFORE, .pid = -1, .board_fd = -1};

/* Defined by the object that bspcc adds to a program. */
extern const struct bspz_link_options bspz_link_options __attribute__((weak));

const struct bspz_link_options *bspz_options(void)
{
    static const struct bspz_link_options defaults = {.version = BSPZ_LINK_OPTIONS_VERSION};
    const struct bspz_link_options *baked = &bspz_link_options;

    if (!baked)
        return &defaults;
    if (baked->version != BSPZ_LINK_OPTIONS_VERSION) {
        fprintf(stderr,
                "bspzero: this program was linked by another version of bspcc (options version %u, "
                "library %u): link it again with the bspcc of this library\n",
                baked->version, BSPZ_LINK_OPTIONS_VERSION);
        exit(1);
    }
    return baked;
}

uint64_t bspz_cpu_ns(void)
{
    return bspz_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int bspz_limit_from_environment(void)
{
    const char *text = getenv("BSP_PROCS");
    char *end;
    long value;

    if (!text || !*text)
        return 0;
    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || *end || value < 1 || value > BSPZ_MAX_PROCS) {
        fprintf(stderr,
                "bspzero: BSP_PROCS=%s is not a number of processes: give 1 to %d, or unset it\n",
                text, BSPZ_MAX_PROCS);
        exit(1);
    }
    return (int)value;
}

uint64_t bspz_bytes_from_environment(const char *name, uint64_t standard)
{
    const char *text = getenv(name);
    unsigned long long value;
    char *end;

    if (!text || !*text)
        return standard;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9') {
        fprintf(stderr, "bspzero: %s=%s is not a number of bytes: correct or unset it\n", name,
                text);
        exit(1);
    }
    return value;
}

void bspz_announce(enum bspz_rank_state state, int status)
{
    if (!bspz_rt.self)
        return;
    atomic_store(&bspz_rt.self->exit_status, status);
    bspz_word_set(&bspz_rt.self->state, (uint32_t)state);
    bspz_board_ring(bspz_rt.board);
}
