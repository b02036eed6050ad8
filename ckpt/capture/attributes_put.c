/* attributes_put.c - restores the attributes that the program had set.
 *
 * What can fail: this process lacks a privilege of the saved one, or the kernel or machine lacks
 * the attribute.  Such failures occur before `staged`; of attributes that would hinder the restore
 * it is only checked that they can be set. */
#include <errno.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <string.h>

#include "ckpt/capture/arena.h"
#include "ckpt/capture/attributes.h"
#include "ckpt/capture/attributes_inside.h"
#include "ckpt/capture/capture.h"
#include "ckpt/capture/linux.h"

#define CAN_SET_LIMITS 24 /* CAP_SYS_RESOURCE */

static int fail(char *text, enum bspz_attribute which, long error)
{
    struct bspz_text why;

    bspz_text_begin(&why, text, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process had set its ");
    bspz_text_add(&why, bspz_attribute_name(which));
    bspz_text_add(&why, ", which cannot be set so here (error ");
    bspz_text_decimal(&why, -error);
    bspz_text_add(&why, ")");
    return (int)error;
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static const char *const limit_names[BSPZ_LIMITS] = {
    "RLIMIT_CPU",      "RLIMIT_FSIZE", "RLIMIT_DATA",   "RLIMIT_STACK",
    "RLIMIT_CORE",     "RLIMIT_RSS",   "RLIMIT_NPROC",  "RLIMIT_NOFILE",
    "RLIMIT_MEMLOCK",  "RLIMIT_AS",    "RLIMIT_LOCKS",  "RLIMIT_SIGPENDING",
    "RLIMIT_MSGQUEUE", "RLIMIT_NICE",  "RLIMIT_RTPRIO", "RLIMIT_RTTIME",
};

struct limit {
    uint64_t soft, hard;
};

/* False when the program has not changed this limit.  Of a changed one, the part that it did not
 * change stays as it is here. */
static bool wanted_limit(const uint64_t *was, unsigned i, const struct limit *now,
                         struct limit *wanted)
{
    uint64_t changed = was[2 * BSPZ_LIMITS] >> 2 * i & 3;

    *wanted = *now;
    if (changed & 2)
        wanted->hard = was[2 * i + 1];
    if (changed & 1)
        wanted->soft = was[2 * i];
    else if (wanted->soft > wanted->hard)
        wanted->soft = wanted->hard;
    return changed;
}

static int refuse_limit(char *text, unsigned i, uint64_t wanted, uint64_t most)
{
    struct bspz_text why;

    bspz_text_begin(&why, text, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process had set the limit ");
    bspz_text_add(&why, limit_names[i]);
    if (wanted == ~UINT64_C(0)) {
        bspz_text_add(&why, " to unlimited");
    } else {
        bspz_text_add(&why, " to ");
        bspz_text_decimal(&why, (int64_t)wanted);
    }
    bspz_text_add(&why, "; here it may be at most ");
    bspz_text_decimal(&why, (int64_t)most);
    bspz_text_add(&why, ": start bsprun with a higher hard limit (ulimit -H)");
    return -EPERM;
}

static int check_limits(const struct bspz_attributes *was, const struct bspz_attributes *now,
                        char *why)
{
    const uint64_t *then = &was->word[BSPZ_WORD_LIMITS];
    bool may = now->word[BSPZ_WORD_CAPABILITIES + 2] >> CAN_SET_LIMITS & 1;

    for (unsigned i = 0; i < BSPZ_LIMITS; i++) {
        struct limit here, wanted;

        memcpy(&here, &now->word[BSPZ_WORD_LIMITS + 2 * i], sizeof here);
        if (!wanted_limit(then, i, &here, &wanted))
            continue;
        if (wanted.hard > here.hard && !may)
            return refuse_limit(why, i, wanted.hard, here.hard);
        if (wanted.soft > wanted.hard)
            return refuse_limit(why, i, wanted.soft, wanted.hard);
    }
    return 0;
}

static long put_limits(const uint64_t *was)
{
    long error = 0;

    for (unsigned i = 0; i < BSPZ_LIMITS && !error; i++) {
        struct limit here, wanted;

        error = bspz_sys4(SYS_prlimit64, 0, i, 0, &here);
        if (!error && wanted_limit(was, i, &here, &wanted))
            error = bspz_sys4(SYS_prlimit64, 0, i, &wanted, 0);
    }
    return error;
}

/* ---- The others ------------------------------------------------------------------------------ */

static long write_file(const char *path, const char *text, size_t length)
{
    int file = bspz_sys_open(path, O_WRONLY | O_CLOEXEC);
    long result;

    if (file < 0)
        return file;
    result = bspz_sys3(SYS_write, file, text, length);
    bspz_sys_close(file);
    return result < 0 ? result : 0;
}

static long put_file(const char *path, int64_t value)
{
    char number[32];
    struct bspz_text text;

    bspz_text_begin(&text, number, sizeof number);
    bspz_text_decimal(&text, value);
    return write_file(path, number, text.length);
}

static long put_policy(const uint64_t *was)
{
    struct bspz_scheduling wanted = {
        .size = 48, /* without clamps */
        .policy = (uint32_t)was[0],
        .flags = was[1],
        .nice = (int32_t)(20 - bspz_sys2(SYS_getpriority, 0, 0)),
        .priority = (uint32_t)was[2],
        .runtime = was[3],
        .deadline = was[4],
        .period = was[5],
    };

    return bspz_sys3(SYS_sched_setattr, 0, &wanted, 0);
}

static long put_clamps(const uint64_t *was)
{
    struct bspz_scheduling wanted = {
        .size = sizeof wanted,
        .flags = BSPZ_SCHED_KEEP_ALL | BSPZ_SCHED_CLAMPS,
        .least = (uint32_t)was[0],
        .most = (uint32_t)was[1],
    };

    return bspz_sys3(SYS_sched_setattr, 0, &wanted, 0);
}

/* The memory policy affects speed alone: on a machine with other nodes it is dropped. */
static long put_memory_policy(const uint64_t *was)
{
    bspz_sys3(SYS_set_mempolicy, was[0], was[0] ? was + 1 : NULL, was[0] ? 1025 : 0);
    return 0;
}

/* Does not ask for what this processor does not need or cannot do. */
static long put_speculation(const uint64_t *was)
{
    for (unsigned i = 0; i < 3; i++) {
        long now = bspz_sys5(SYS_prctl, PR_GET_SPECULATION_CTRL, i, 0, 0, 0), error;

        if (now < 0 || !(now & PR_SPEC_PRCTL) || !(was[i] & PR_SPEC_PRCTL) ||
            (uint64_t)now == was[i])
            continue;
        error = bspz_sys5(SYS_prctl, PR_SET_SPECULATION_CTRL, i, was[i] & ~(uint64_t)PR_SPEC_PRCTL,
                          0, 0);
        if (error)
            return error;
    }
    return 0;
}

static long put_membarrier(uint64_t registered)
{
    long error = 0;

    for (unsigned bit = 0; bit < 32 && !error; bit++)
        if (registered >> bit & 1)
            error = bspz_sys3(SYS_membarrier, 1u << bit, 0, 0);
    return error;
}

static long put_wide_state(uint64_t permitted)
{
    uint64_t now = 0;
    long error = bspz_sys2(SYS_arch_prctl, BSPZ_ARCH_GET_XCOMP_PERM, &now);

    for (unsigned bit = 0; bit < 64 && !error; bit++)
        if ((permitted & ~now) >> bit & 1)
            error = bspz_sys2(SYS_arch_prctl, BSPZ_ARCH_REQ_XCOMP_PERM, bit);
    return error;
}

static long put_securebits(uint64_t wanted)
{
    long now = bspz_sys1(SYS_prctl, PR_GET_SECUREBITS);

    if (now >= 0 && ((uint64_t)now ^ wanted) == BSPZ_KEEP_CAPS)
        return bspz_sys2(SYS_prctl, PR_SET_KEEPCAPS, (wanted & BSPZ_KEEP_CAPS) != 0);
    return bspz_sys2(SYS_prctl, PR_SET_SECUREBITS, wanted);
}

static long put_personality(uint64_t wanted)
{
    long before = bspz_sys1(SYS_personality, wanted);

    return before < 0 ? before : 0;
}

static long put_early(enum bspz_attribute which, const uint64_t *was)
{
    switch (which) {
    case BSPZ_ATTRIBUTE_OOM_SCORE:
        return put_file("/proc/self/oom_score_adj", (int64_t)was[0]);
    case BSPZ_ATTRIBUTE_CORE_FILTER:
        return put_file("/proc/self/coredump_filter", (int64_t)was[0]);
    case BSPZ_ATTRIBUTE_POLICY:
        return put_policy(was);
    case BSPZ_ATTRIBUTE_CLAMPS:
        return put_clamps(was);
    case BSPZ_ATTRIBUTE_NICE:
        return bspz_sys3(SYS_setpriority, 0, 0, (int)was[0] - 20);
    case BSPZ_ATTRIBUTE_IO_PRIORITY:
        return bspz_sys3(SYS_ioprio_set, 1, 0, was[0]);
    case BSPZ_ATTRIBUTE_TIMER_SLACK:
        return bspz_sys2(SYS_prctl, PR_SET_TIMERSLACK, was[0]);
    case BSPZ_ATTRIBUTE_MEMORY_POLICY:
        return put_memory_policy(was);
    case BSPZ_ATTRIBUTE_NO_HUGE_PAGES: /* the lowest bit, and flags since Linux 6.18 */
        return bspz_sys5(SYS_prctl, PR_SET_THP_DISABLE, was[0] & 1, was[0] & ~UINT64_C(1), 0, 0);
    case BSPZ_ATTRIBUTE_MERGE:
        return bspz_sys5(SYS_prctl, BSPZ_PR_SET_MEMORY_MERGE, was[0], 0, 0, 0);
    case BSPZ_ATTRIBUTE_SUBREAPER:
        return bspz_sys2(SYS_prctl, PR_SET_CHILD_SUBREAPER, was[0]);
    case BSPZ_ATTRIBUTE_MEMORY_ERRORS:
        return bspz_sys5(SYS_prctl, PR_MCE_KILL, PR_MCE_KILL_SET, was[0], 0, 0);
    case BSPZ_ATTRIBUTE_SPECULATION:
        return put_speculation(was);
    case BSPZ_ATTRIBUTE_IO_FLUSHER:
        return bspz_sys5(SYS_prctl, BSPZ_PR_SET_IO_FLUSHER, was[0], 0, 0, 0);
    case BSPZ_ATTRIBUTE_MEMBARRIER:
        return put_membarrier(was[0]);
    case BSPZ_ATTRIBUTE_WIDE_STATE:
        return put_wide_state(was[0]);
    case BSPZ_ATTRIBUTE_SECUREBITS:
        return put_securebits(was[0]);
    case BSPZ_ATTRIBUTE_NO_NEW_PRIVS: /* cannot be cleared: whoever starts programs this way has
                                         decided */
        return was[0] ? bspz_sys5(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) : 0;
    default:
        return -ENOSYS;
    }
}

static long put_late(enum bspz_attribute which, const uint64_t *was)
{
    switch (which) {
    case BSPZ_ATTRIBUTE_LIMITS:
        return put_limits(was);
    case BSPZ_ATTRIBUTE_PERSONALITY:
        return put_personality(was[0]);
    case BSPZ_ATTRIBUTE_TIME_STAMPS:
        return bspz_sys2(SYS_prctl, PR_SET_TSC, was[0]);
    case BSPZ_ATTRIBUTE_CPUID:
        return bspz_sys2(SYS_arch_prctl, BSPZ_ARCH_SET_CPUID, was[0]);
    case BSPZ_ATTRIBUTE_LOCK_FUTURE:
        return was[0] ? bspz_sys1(SYS_mlockall, MCL_FUTURE) : 0;
    case BSPZ_ATTRIBUTE_NO_NEW_CODE:
        return was[0] ? bspz_sys5(SYS_prctl, BSPZ_PR_SET_MDWE, was[0], 0, 0, 0) : 0;
    case BSPZ_ATTRIBUTE_DUMPABLE:
        return bspz_sys2(SYS_prctl, PR_SET_DUMPABLE, was[0] == 1);
    case BSPZ_ATTRIBUTE_AFFINITY: /* after the runtime's own: bspz_attributes_put_affinity */
        return 0;
    default:
        return -ENOSYS;
    }
}

void bspz_attributes_put_affinity(const struct bspz_attributes *was)
{
    if (was->own >> BSPZ_ATTRIBUTE_AFFINITY & 1)
        bspz_sys3(SYS_sched_setaffinity, 0, BSPZ_AFFINITY_WORDS * sizeof was->word[0],
                  &was->word[BSPZ_WORD_AFFINITY]);
}

/* ---- Before a restore ------------------------------------------------------------------------ */

static bool has_group(const uint64_t *groups, uint64_t group)
{
    for (unsigned i = 0; i < groups[0]; i++)
        if ((groups[3 + i / 2] >> i % 2 * 32 & 0xffffffffu) == group)
            return true;
    return false;
}

/* Additional groups do no harm.  With very many groups, all must be the same. */
static bool has_groups(const uint64_t *was, const uint64_t *now)
{
    if (was[0] > BSPZ_LISTED_GROUPS || now[0] > BSPZ_LISTED_GROUPS)
        return memcmp(was, now, 3 * sizeof *was) == 0;
    for (unsigned i = 0; i < was[0]; i++)
        if (!has_group(now, was[3 + i / 2] >> i % 2 * 32 & 0xffffffffu))
            return false;
    return true;
}

/* The process must have the same user and at least the privileges it had. */
static int check_privileges(const struct bspz_attributes *was, const struct bspz_attributes *now,
                            enum bspz_attributes_place place, char *text)
{
    uint64_t both = place == BSPZ_SAVED_BESIDE ? 0 : was->known & now->known;
    uint64_t ids = place == BSPZ_SAVED_HERE ? both : 0;
    const uint64_t *then = &was->word[BSPZ_WORD_CAPABILITIES];
    const uint64_t *here = &now->word[BSPZ_WORD_CAPABILITIES];
    const char *what = NULL;

    if (ids >> BSPZ_ATTRIBUTE_USERS & 1 && !bspz_attribute_same(was, now, BSPZ_ATTRIBUTE_USERS))
        what = "as another user";
    else if (ids >> BSPZ_ATTRIBUTE_GROUPS & 1 &&
             !bspz_attribute_same(was, now, BSPZ_ATTRIBUTE_GROUPS))
        what = "as another group";
    else if (both >> BSPZ_ATTRIBUTE_CAPABILITIES & 1 && (then[1] & ~here[1] || then[2] & ~here[2]))
        what = "with capabilities that it would not have here";
    else if (ids >> BSPZ_ATTRIBUTE_MORE_GROUPS & 1 &&
             !has_groups(&was->word[BSPZ_WORD_MORE_GROUPS], &now->word[BSPZ_WORD_MORE_GROUPS]))
        what = "in supplementary groups that it would not be in here";
    if (what) {
        struct bspz_text why;

        bspz_text_begin(&why, text, BSPZ_WHY_SIZE);
        bspz_text_add(&why, "the process was saved ");
        bspz_text_add(&why, what);
    }
    return what ? -EPERM : 0;
}

/* Checks that the attribute could be set later. */
static long try_late(enum bspz_attribute which, const struct bspz_attributes *was,
                     const struct bspz_attributes *now)
{
    long error;

    if (which != BSPZ_ATTRIBUTE_PERSONALITY && which != BSPZ_ATTRIBUTE_CPUID)
        return 0;
    error = put_late(which, bspz_attribute_words(was, which));
    if (!error)
        error = put_late(which, bspz_attribute_words(now, which));
    return error;
}

int bspz_attributes_check(const struct bspz_attributes *was, enum bspz_attributes_place place,
                          char *why)
{
    struct bspz_attributes now;
    int error;

    bspz_attributes_read(&now);
    error = check_privileges(was, &now, place, why);
    if (!error && was->own >> BSPZ_ATTRIBUTE_LIMITS & 1)
        error = check_limits(was, &now, why);
    for (unsigned which = 0; which < BSPZ_ATTRIBUTE_COUNT && !error; which++) {
        long result = 0;

        if (bspz_attribute_same(was, &now, which))
            continue;
        if (bspz_attribute_is_own(was, which, BSPZ_ATTRIBUTE_REFUSED))
            result = -EBUSY;
        else if (bspz_attribute_is_own(was, which, BSPZ_ATTRIBUTE_EARLY))
            result = put_early(which, bspz_attribute_words(was, which));
        else if (bspz_attribute_is_own(was, which, BSPZ_ATTRIBUTE_LATE))
            result = try_late(which, was, &now);
        if (result)
            error = fail(why, which, result);
    }
    return error;
}

/* ---- Afterwards ------------------------------------------------------------------------------ */

/* Memory must be locked before its limit is lowered, or after it is raised. */
int bspz_attributes_finish(const struct bspz_attributes *was, char *why)
{
    bool lock = was->own >> BSPZ_ATTRIBUTE_LOCK_FUTURE & 1 &&
                put_late(BSPZ_ATTRIBUTE_LOCK_FUTURE, &was->word[BSPZ_WORD_LOCK_FUTURE]) != 0;

    for (unsigned which = 0; which < BSPZ_ATTRIBUTE_COUNT; which++) {
        long error = 0;

        if (bspz_attribute_is_own(was, which, BSPZ_ATTRIBUTE_LATE) &&
            (which != BSPZ_ATTRIBUTE_LOCK_FUTURE || lock))
            error = put_late(which, bspz_attribute_words(was, which));
        if (error)
            return fail(why, which, error);
    }
    return 0;
}

int bspz_attributes_put_back(const struct bspz_attributes *was, char *why)
{
    static const enum bspz_attribute of_policy[] = {BSPZ_ATTRIBUTE_POLICY, BSPZ_ATTRIBUTE_CLAMPS,
                                                    BSPZ_ATTRIBUTE_NICE};
    bool reset = was->word[BSPZ_WORD_POLICY + 1] & 1; /* on fork */
    struct bspz_attributes now;
    long error = 0;

    if (reset)
        bspz_attributes_read(&now);
    for (unsigned i = 0; i < 3 && reset; i++) {
        if (was->known >> of_policy[i] & 1 && !bspz_attribute_same(was, &now, of_policy[i]))
            error = put_early(of_policy[i], bspz_attribute_words(was, of_policy[i]));
        if (error)
            return fail(why, of_policy[i], error);
    }
    if (was->word[BSPZ_WORD_SUBREAPER])
        put_early(BSPZ_ATTRIBUTE_SUBREAPER, &was->word[BSPZ_WORD_SUBREAPER]);
    if (was->word[BSPZ_WORD_MEMBARRIER])
        put_early(BSPZ_ATTRIBUTE_MEMBARRIER, &was->word[BSPZ_WORD_MEMBARRIER]);
    error = put_late(BSPZ_ATTRIBUTE_LOCK_FUTURE, &was->word[BSPZ_WORD_LOCK_FUTURE]);
    return error ? fail(why, BSPZ_ATTRIBUTE_LOCK_FUTURE, error) : 0;
}
