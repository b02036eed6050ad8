/* pending.c - pending signals.
 *
 * The kernel shows which numbers are pending, but the siginfo of a signal only to the process that
 * takes it.  So each is taken and sent again: a process may send itself any siginfo.  Those of one
 * number to the thread are taken first, then those to the process, in the order of arrival; they
 * are sent in that order, too.  A signal that arrives before the first of its number is sent again
 * comes after those in the queue. */
#include "ckpt/capture/pending.h"

#include <errno.h>
#include <string.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/thread.h"

#define STATUS_BYTES       4096
#define SIGRTMIN_OF_KERNEL 32 /* libc's is higher */

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

static int number_of(const struct bspz_pending *one)
{
    int32_t number;

    memcpy(&number, one->info, sizeof number);
    return number;
}

static int read_status(char *status)
{
    long bytes = bspz_sys_slurp("/proc/self/status", status, STATUS_BYTES);

    if (bytes == -EFBIG)
        status[STATUS_BYTES - 1] = '\0'; /* the wanted lines come early */
    return bytes < 0 && bytes != -EFBIG ? (int)bytes : 0;
}

static long take_one(uint64_t set, struct bspz_pending *one)
{
    static const struct {
        int64_t seconds, nanoseconds;
    } now = {0, 0};

    memset(one, 0, sizeof *one);
    return bspz_sys4(SYS_rt_sigtimedwait, &set, one->info, &now, sizeof set);
}

/* Takes all of one number.  If both queues have some, whether the thread's has any left tells from
 * which one a signal came.  A queue has at most one of a number that is no real-time signal; the
 * next one would be of a timer that goes on because its signal was taken. */
static int take_number(struct bspz_pendings *pendings, size_t room, int number, char *status)
{
    bool to_thread = bspz_number_behind(status, "SigPnd:", 16) & bit(number);
    bool to_process = bspz_number_behind(status, "ShdPnd:", 16) & bit(number);
    size_t most = number < SIGRTMIN_OF_KERNEL ? (size_t)to_thread + to_process : room;

    for (size_t i = 0; i < most; i++) {
        struct bspz_pending *one = &pendings->list[pendings->count];
        long taken;
        int error = 0;

        if (pendings->count == room)
            return -ENOMEM;
        taken = take_one(bit(number), one);
        if (taken < 0)
            return taken == -EAGAIN ? 0 : (int)taken;
        one->to_thread = to_thread;
        pendings->count++;
        if (to_thread && to_process)
            error = read_status(status);
        if (error)
            return error;
        to_thread = bspz_number_behind(status, "SigPnd:", 16) & bit(number);
    }
    return 0;
}

static void keep_only(struct bspz_pendings *pendings, uint64_t blocked)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < pendings->count; i++)
        if (blocked & bit(number_of(&pendings->list[i])))
            pendings->list[kept++] = pendings->list[i];
    pendings->count = kept;
}

int bspz_pendings_read(struct bspz_pendings *pendings, uint64_t blocked, struct bspz_arena *arena)
{
    struct bspz_arena before = *arena;
    uint64_t set = 0;
    size_t room;
    char *status;
    int error, failed;

    *pendings = (struct bspz_pendings){0};
    bspz_sys2(SYS_rt_sigpending, &set, sizeof set);
    if (!set)
        return 0;
    status = bspz_arena_take(arena, STATUS_BYTES);
    error = status ? read_status(status) : -ENOMEM;
    if (error)
        return error;
    pendings->list = bspz_arena_rest(arena, &room);
    /* Room for the signals of all processes of this user, for those that arrive meanwhile, and for
     * the end. */
    if ((bspz_number_behind(status, "SigQ:", 10) + 2 * BSPZ_SIGNALS) * sizeof *pendings->list >
        room)
        return -ENOMEM;
    for (int number = 1; number <= BSPZ_SIGNALS && !error; number++)
        if (set & bit(number))
            error = take_number(pendings, room / sizeof *pendings->list, number, status);
    failed = bspz_pendings_put(pendings->list, pendings->count);
    keep_only(pendings, blocked);
    *arena = before;
    if (!error && !failed && pendings->count) {
        struct bspz_pending *list = bspz_arena_take(arena, pendings->count * sizeof *list);

        memmove(list, pendings->list, pendings->count * sizeof *list);
        pendings->list = list;
    }
    return error ? error : failed;
}

int bspz_pendings_put(const struct bspz_pending *list, uint32_t count)
{
    long self = bspz_sys0(SYS_getpid), thread = bspz_sys0(SYS_gettid);
    int result = 0;

    for (uint32_t i = 0; i < count; i++) {
        int number = number_of(&list[i]);
        long error = list[i].to_thread
                         ? bspz_sys4(SYS_rt_tgsigqueueinfo, self, thread, number, list[i].info)
                         : bspz_sys3(SYS_rt_sigqueueinfo, self, number, list[i].info);

        if (error)
            result = (int)error;
    }
    return result;
}

void bspz_pendings_drop(void)
{
    struct bspz_pending one;

    while (take_one(~UINT64_C(0), &one) > 0)
        continue;
}
