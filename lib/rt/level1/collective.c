/* What the collective operations share: the area all processes register, the check that they all
 * make the same call, and work memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rt/level1/collective.h"
#include "lib/rt/registration.h"
#include "lib/rt/rt.h"
#include "lib/rt/warn.h"

/* Enough for the scalar operations of a few thousand processes. */
#define AREA_BYTES 32768

/* The arguments of the call, sent to the right neighbour. (The barrier checks that all make the
 * same call.) */
struct announcement {
    int64_t n;
    int32_t root;
    int32_t line;
    char file[96]; /* the end of the name */
};

/* Registered once, by the first collective, and never popped. */
static struct {
    struct announcement left; /* the left neighbour's */
    struct bspz_params params;
    _Alignas(16) unsigned char bytes[AREA_BYTES];
} area;

/* True from the first collective to the end: there is one SPMD part in a process's life. */
static bool area_ready;

/* A superstep that the program does not see. */
static void hidden_sync(const struct bspz_collective *call)
{
    bsp_sync_cpp(call->line, call->file);
    bspz_rt.hidden++;
}

static void prepare_area(const struct bspz_collective *call)
{
    bsp_push_reg_cpp(&area, sizeof(area), call->line, call->file);
    hidden_sync(call);
    if (bsp_pid() == 0) {
        struct bspz_params found, params;

        memset(&params, 0, sizeof(params)); /* its padding is put, too */
        bspz_machine_params(&found);
        params.s = found.s;
        params.l = found.l;
        params.g = found.g;
        params.n_half = found.n_half;
        for (int pid = 0; pid < bsp_nprocs(); pid++)
            bsp_put_cpp(pid, &params, &area, (char *)&area.params - (char *)&area, sizeof(params),
                        call->line, call->file);
    }
    hidden_sync(call);
    area_ready = true;
}

void bspz_collective_begin(const struct bspz_collective *call)
{
    if (bspz_rt.life != BSPZ_LIFE_SPMD)
        bspz_fail_outside(call->function, call->line, call->file);
    if (bspz_checks()) {
        if (call->n < 0)
            bspz_fail(call->function, call->line, call->file, "the size %td is negative", call->n);
        if (call->root != BSPZ_NO_ROOT && (call->root < 0 || call->root >= bsp_nprocs()))
            bspz_fail(call->function, call->line, call->file,
                      "root %d is not a process number (0 to %d)", call->root, bsp_nprocs() - 1);
    }
    if (bspz_rt.warn)
        bspz_warn_before_collective(call->function, call->line, call->file);
    bspz_rt.inside.call = call->id;
    bspz_rt.inside.line = call->line;
    bspz_rt.inside.file = call->file;
    if (!area_ready)
        prepare_area(call);
}

void bspz_collective_end(void)
{
    bspz_rt.inside.call = BSPZ_CALL_NONE;
}

void bspz_collective_area(const struct bspz_collective *call, const void *base)
{
    if (bspz_checks() && call->n > 0)
        bspz_check_own_area(base, (uint64_t)call->n, call->function, call->line, call->file);
}

void bspz_collective_pointer(const struct bspz_collective *call, const char *name,
                             const void *pointer)
{
    if (bspz_checks() && pointer == NULL && call->n > 0)
        bspz_fail(call->function, call->line, call->file, "%s is NULL, but the size is %td", name,
                  call->n);
}

void bspz_collective_operator(const struct bspz_collective *call, bool given)
{
    if (!given)
        bspz_fail(call->function, call->line, call->file, "the operator is NULL");
}

void bspz_collective_int(const struct bspz_collective *call)
{
    if (call->n > INT32_MAX)
        bspz_fail(call->function, call->line, call->file,
                  "the size %td does not fit the int that the operator is given", call->n);
}

static void announce(const struct bspz_collective *call)
{
    struct announcement mine = {.n = call->n, .root = call->root, .line = call->line};
    size_t length = strlen(call->file);
    size_t skipped = length < sizeof(mine.file) ? 0 : length - (sizeof(mine.file) - 1);

    memcpy(mine.file, call->file + skipped, length - skipped);
    bsp_put_cpp((bsp_pid() + 1) % bsp_nprocs(), &mine, &area, (char *)&area.left - (char *)&area,
                sizeof(mine), call->line, call->file);
}

static void compare_with_left(const struct bspz_collective *call)
{
    int left = (bsp_pid() + bsp_nprocs() - 1) % bsp_nprocs();
    const struct announcement *other = &area.left;

    if (other->root != call->root)
        bspz_fail(call->function, call->line, call->file,
                  "the root is not the same on all processes: %d on process %d (%s:%d), %d here",
                  other->root, left, other->file, other->line, call->root);
    if (other->n != call->n)
        bspz_fail(call->function, call->line, call->file,
                  "the size is not the same on all processes: %td on process %d (%s:%d), %td here",
                  (ptrdiff_t)other->n, left, other->file, other->line, call->n);
}

void bspz_collective_sync(struct bspz_collective *call)
{
    bool check = !call->agreed && bspz_checks() && bsp_nprocs() > 1;

    if (check)
        announce(call);
    hidden_sync(call);
    if (check)
        compare_with_left(call);
    call->agreed = true;
}

void bspz_collective_agree(struct bspz_collective *call)
{
    if (!call->agreed && bspz_checks() && bsp_nprocs() > 1)
        bspz_collective_sync(call);
}

struct bspz_work bspz_work_open(struct bspz_collective *call, ptrdiff_t count, ptrdiff_t extra)
{
    struct bspz_work work = {
        .registered = &area,
        .offset = (char *)area.bytes - (char *)&area,
        .bytes = area.bytes,
    };
    ptrdiff_t size;

    if (__builtin_mul_overflow(count, call->n, &size) || __builtin_add_overflow(size, extra, &size))
        size = PTRDIFF_MAX; /* malloc fails for this */
    if (size <= AREA_BYTES)
        return work;

    /* If n differed, some processes would register memory and others not. */
    bspz_collective_agree(call);
    work.temporary = true;
    work.offset = 0;
    work.bytes = work.registered = malloc((size_t)size);
    if (work.bytes == NULL)
        bspz_fail(call->function, call->line, call->file, "out of memory: %td bytes", size);
    bsp_push_reg_cpp(work.registered, size, call->line, call->file);
    bspz_collective_sync(call);
    return work;
}

void bspz_work_close(const struct bspz_collective *call, struct bspz_work *work)
{
    if (!work->temporary)
        return;
    /* No communication with it is pending, and a pop never accesses the memory. */
    bsp_pop_reg_cpp(work->registered, call->line, call->file);
    free(work->registered);
}

void bspz_collect(struct bspz_collective *call, const struct bspz_work *work, const void *src)
{
    int p = bsp_nprocs(), me = bsp_pid();

    for (int i = 0; i < p; i++) {
        int pid = (me + i) % p; /* so that not all send to process 0 first */
        if (pid != me)
            bsp_put_cpp(pid, src, work->registered, work->offset + me * call->n, call->n,
                        call->line, call->file);
    }
    if (call->n > 0)
        memcpy(work->bytes + me * call->n, src, (size_t)call->n);
    bspz_collective_sync(call);
}

const struct bspz_params *bspz_agreed_params(void)
{
    return &area.params;
}
