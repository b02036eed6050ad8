/* Process model: a program that locks its memory, before or after bsp_begin, does not fill the
 * reserved shared memory with pages; where it may not lock so much, bsp_begin says so.
 *
 * P: 1 2
 *
 * CASE: before
 * SHELL: ulimit -v 4000000 && exec "$BSPRUN" -np $P "$PROG" before
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: after
 * SHELL: ulimit -v 4000000 && exec "$BSPRUN" -np $P "$PROG" after
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: limited
 * ARGS: limited
 * STATUS: 1
 * ERROR: bsp_begin @begin -1 ?
 * FACT: locks
 * FACT: ulimit -l
 */
#include "../check.h"
#include "shared_memory.h"
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 6 << 20 }; /* more than the small stretches of an outbox have */
static char area[2 * BYTES], source[BYTES];

/* An ordinary user's right to lock memory: 8 MiB. */
static void be_limited(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {{0}};
    struct rlimit limit = {8 << 20, 8 << 20};

    setrlimit(RLIMIT_MEMLOCK, &limit);
    syscall(SYS_capset, &header, none);
}

/* Where the user may lock nothing, there is nothing to see. */
static void lock(int flags)
{
    if (mlockall(flags) != 0)
        fprintf(stderr, "mlockall is not permitted here\n");
}

static int may_lock(void)
{
    struct rlimit limit;

    return geteuid() == 0 || (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur > 8ul << 30);
}

/* In place of what was received, each process finds what its neighbours sent. */
static void exchange(char value)
{
    int p = bsp_nprocs(), me = bsp_pid();
    int left = (me + p - 1) % p;

    memset(source, value + me, BYTES);
    bsp_put((me + 1) % p, source, area, 0, BYTES);
    bsp_get((me + 1) % p, source, 0, area + BYTES, BYTES);
    bsp_send(left, NULL, source, BYTES);
    bsp_sync();
    CHECK(area[0] == value + left && area[BYTES - 1] == value + left);
    CHECK(area[BYTES] == value + (me + 1) % p && area[2 * BYTES - 1] == value + (me + 1) % p);
    bsp_move(source, BYTES);
    CHECK(source[0] == value + (me + 1) % p && source[BYTES - 1] == value + (me + 1) % p);
}

int main(int argc, char **argv)
{
    const char *when = argc > 1 ? argv[1] : "";

    if (strcmp(when, "limited") == 0)
        be_limited();
    if (strcmp(when, "limited") == 0 || (strcmp(when, "before") == 0 && may_lock()))
        lock(MCL_FUTURE);
    bsp_begin(0); /* @begin */
    bsp_push_reg(area, sizeof area);
    bsp_push_reg(source, sizeof source);
    bsp_sync();
    if (strcmp(when, "after") == 0 && may_lock())
        lock(MCL_CURRENT | MCL_FUTURE);
    exchange(1);
    CHECK(shared_kilobytes() < 128 << 10);
    if (strcmp(when, "after") == 0 && may_lock())
        lock(MCL_CURRENT | MCL_FUTURE);
    CHECK(shared_kilobytes() < 256 << 10);
    exchange(11);
    exchange(21);
    conform_done();
    bsp_end();
    return 0;
}
