/* attributes_read.c - reading the attributes of this process; see attributes.h.
 *
 * Attributes that this kernel lacks, or that must not be read, stay unknown. */
#include <errno.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/attributes.h"
#include "ckpt/capture/attributes_inside.h"
#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"

#define STATUS_BUFFER (512 << 10) /* 65536 groups, and everything else */
#define SMALL_STATUS  8192

static void set_known(struct bspz_attributes *now, enum bspz_attribute attribute)
{
    now->known |= UINT64_C(1) << attribute;
}

/* A value that a system call returns. */
static void take(struct bspz_attributes *now, enum bspz_attribute attribute, unsigned word,
                 long result)
{
    if (result < 0)
        return;
    now->word[word] = (uint64_t)result;
    set_known(now, attribute);
}

#define TAKE(name, result) take(now, BSPZ_ATTRIBUTE_##name, BSPZ_WORD_##name, result)

/* ---- What numbers say ------------------------------------------------------------------------ */

static void read_limits(struct bspz_attributes *now)
{
    bool all = true;

    for (unsigned i = 0; i < BSPZ_LIMITS; i++)
        all &= bspz_sys4(SYS_prlimit64, 0, i, 0, &now->word[BSPZ_WORD_LIMITS + 2 * i]) == 0;
    if (all)
        set_known(now, BSPZ_ATTRIBUTE_LIMITS);
}

static void read_affinity(struct bspz_attributes *now)
{
    if (bspz_sys3(SYS_sched_getaffinity, 0, BSPZ_AFFINITY_WORDS * sizeof now->word[0],
                  &now->word[BSPZ_WORD_AFFINITY]) > 0)
        set_known(now, BSPZ_ATTRIBUTE_AFFINITY);
}

static void read_scheduling(struct bspz_attributes *now)
{
    struct bspz_scheduling have = {.size = sizeof have};
    uint64_t *policy = &now->word[BSPZ_WORD_POLICY];

    TAKE(NICE, 40 - bspz_sys2(SYS_getpriority, 0, 0));
    TAKE(IO_PRIORITY, bspz_sys2(SYS_ioprio_get, 1 /* a process */, 0));
    if (bspz_sys4(SYS_sched_getattr, 0, &have, sizeof have, 0) != 0)
        return;
    policy[0] = have.policy;
    policy[1] = have.flags & BSPZ_SCHED_FLAGS;
    policy[2] = have.priority;
    policy[3] = have.runtime;
    policy[4] = have.deadline;
    policy[5] = have.period;
    if (have.policy != BSPZ_SCHED_DEADLINE && policy[3] != 0)
        policy[3] = policy[4] = policy[5] = 0; /* the slice of a fair policy */
    set_known(now, BSPZ_ATTRIBUTE_POLICY);
    if (have.size < sizeof have)
        return;
    now->word[BSPZ_WORD_CLAMPS] = have.least;
    now->word[BSPZ_WORD_CLAMPS + 1] = have.most;
    set_known(now, BSPZ_ATTRIBUTE_CLAMPS);
}

static void read_memory(struct bspz_attributes *now)
{
    uint64_t *policy = &now->word[BSPZ_WORD_MEMORY_POLICY];
    int mode = 0;
    unsigned char resident = 0;
    long page;

    if (bspz_sys5(SYS_get_mempolicy, &mode, policy + 1, 1024, 0, 0) == 0) {
        policy[0] = (uint32_t)mode;
        set_known(now, BSPZ_ATTRIBUTE_MEMORY_POLICY);
    }
    TAKE(NO_HUGE_PAGES, bspz_sys5(SYS_prctl, PR_GET_THP_DISABLE, 0, 0, 0, 0));
    TAKE(MERGE, bspz_sys5(SYS_prctl, BSPZ_PR_GET_MEMORY_MERGE, 0, 0, 0, 0));
    TAKE(NO_NEW_CODE, bspz_sys5(SYS_prctl, BSPZ_PR_GET_MDWE, 0, 0, 0, 0));
    /* The kernel does not report MCL_FUTURE; but under it new memory is present at once. */
    page = bspz_sys_map(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bspz_failed(page))
        return;
    if (bspz_sys3(SYS_mincore, page, 4096, &resident) == 0)
        TAKE(LOCK_FUTURE, resident & 1);
    bspz_sys2(SYS_munmap, page, 4096);
}

static void read_controls(struct bspz_attributes *now)
{
    uint64_t *speculation = &now->word[BSPZ_WORD_SPECULATION];
    int value = 0;
    uint64_t permitted = 0;

    TAKE(TIMER_SLACK, bspz_sys1(SYS_prctl, PR_GET_TIMERSLACK));
    if (bspz_sys2(SYS_prctl, PR_GET_CHILD_SUBREAPER, &value) == 0)
        TAKE(SUBREAPER, value);
    TAKE(MEMORY_ERRORS, bspz_sys5(SYS_prctl, PR_MCE_KILL_GET, 0, 0, 0, 0));
    for (unsigned i = 0; i < 3; i++) {
        long state = bspz_sys5(SYS_prctl, PR_GET_SPECULATION_CTRL, i, 0, 0, 0);

        speculation[i] = state < 0 ? 0 : (uint64_t)state;
        if (state >= 0)
            set_known(now, BSPZ_ATTRIBUTE_SPECULATION);
    }
    TAKE(IO_FLUSHER, bspz_sys5(SYS_prctl, BSPZ_PR_GET_IO_FLUSHER, 0, 0, 0, 0));
    TAKE(MEMBARRIER, bspz_sys3(SYS_membarrier, BSPZ_MEMBARRIER_GET, 0, 0));
    if (bspz_sys2(SYS_arch_prctl, BSPZ_ARCH_GET_XCOMP_PERM, &permitted) == 0)
        TAKE(WIDE_STATE, (long)permitted);
    TAKE(SECUREBITS, bspz_sys1(SYS_prctl, PR_GET_SECUREBITS));
    TAKE(NO_NEW_PRIVS, bspz_sys5(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    TAKE(PERSONALITY, bspz_sys1(SYS_personality, 0xffffffff));
    if (bspz_sys2(SYS_prctl, PR_GET_TSC, &value) == 0)
        TAKE(TIME_STAMPS, value);
    TAKE(CPUID, bspz_sys2(SYS_arch_prctl, BSPZ_ARCH_GET_CPUID, 0));
    TAKE(SEGMENTS, bspz_sys3(SYS_modify_ldt, 0, &permitted, sizeof permitted));
}

/* A look-up of the session keyring would create one. */
static void read_keyrings(struct bspz_attributes *now)
{
    for (unsigned i = 0; i < 2; i++) {
        long ring = bspz_sys3(SYS_keyctl, 0 /* its id */, -1 - (long)i, 0);

        if (ring == -EPERM || ring == -ENOSYS)
            return;
        now->word[BSPZ_WORD_KEYRINGS + i] = ring > 0 ? (uint64_t)ring : 0;
    }
    set_known(now, BSPZ_ATTRIBUTE_KEYRINGS);
}

/* ---- What texts say -------------------------------------------------------------------------- */

static void read_file(struct bspz_attributes *now, enum bspz_attribute attribute, unsigned word,
                      const char *path, unsigned base)
{
    char text[64];
    long bytes = bspz_sys_slurp(path, text, sizeof text);
    const char *at = text;
    bool negative;

    if (bytes <= 0)
        return;
    negative = *at == '-';
    at += negative;
    now->word[word] = bspz_number(&at, base);
    if (negative)
        now->word[word] = (uint64_t) - (int64_t)now->word[word];
    set_known(now, attribute);
}

static void take_numbers(struct bspz_attributes *now, enum bspz_attribute attribute,
                         const char *status, const char *name, unsigned base, uint64_t *to,
                         unsigned count)
{
    const char *at = bspz_behind(status, name);

    if (!at)
        return;
    for (unsigned i = 0; i < count; i++) {
        to[i] = bspz_number(&at, base);
        while (*at == ' ' || *at == '\t')
            at++;
    }
    set_known(now, attribute);
}

static void take_groups(struct bspz_attributes *now, const char *status)
{
    const char *at = bspz_behind(status, "\nGroups:"), *end;
    uint64_t *to = &now->word[BSPZ_WORD_MORE_GROUPS];

    if (!at)
        return;
    end = strchr(at, '\n');
    bspz_hash_bytes(to + 1, at, end ? (size_t)(end - at) : strlen(at));
    while (*at >= '0' && *at <= '9') {
        uint64_t group = bspz_number(&at, 10);

        if (to[0] < BSPZ_LISTED_GROUPS)
            to[3 + to[0] / 2] |= group << to[0] % 2 * 32;
        to[0]++;
        while (*at == ' ')
            at++;
    }
    set_known(now, BSPZ_ATTRIBUTE_MORE_GROUPS);
}

static void take_status(struct bspz_attributes *now, const char *status)
{
    uint64_t *word = now->word, *capability = &word[BSPZ_WORD_CAPABILITIES];

    take_numbers(now, BSPZ_ATTRIBUTE_USERS, status, "\nUid:", 10, &word[BSPZ_WORD_USERS], 4);
    take_numbers(now, BSPZ_ATTRIBUTE_GROUPS, status, "\nGid:", 10, &word[BSPZ_WORD_GROUPS], 4);
    take_groups(now, status);
    take_numbers(now, BSPZ_ATTRIBUTE_CAPABILITIES, status, "\nCapInh:", 16, capability, 1);
    take_numbers(now, BSPZ_ATTRIBUTE_CAPABILITIES, status, "\nCapPrm:", 16, capability + 1, 1);
    take_numbers(now, BSPZ_ATTRIBUTE_CAPABILITIES, status, "\nCapEff:", 16, capability + 2, 1);
    take_numbers(now, BSPZ_ATTRIBUTE_CAPABILITIES, status, "\nCapAmb:", 16, capability + 3, 1);
    take_numbers(now, BSPZ_ATTRIBUTE_BOUNDING, status, "\nCapBnd:", 16, &word[BSPZ_WORD_BOUNDING],
                 1);
    take_numbers(now, BSPZ_ATTRIBUTE_FILTERS, status, "\nSeccomp:", 10, &word[BSPZ_WORD_FILTERS],
                 1);
    /* Before Linux 5.9 the kernel does not report their number. */
    take_numbers(now, BSPZ_ATTRIBUTE_FILTERS, status, "\nSeccomp_filters:", 10,
                 &word[BSPZ_WORD_FILTERS + 1], 1);
}

static void read_status(struct bspz_attributes *now)
{
    char small[SMALL_STATUS];
    long bytes = bspz_sys_slurp("/proc/self/status", small, sizeof small), large;

    if (bytes > 0)
        take_status(now, small);
    if (bytes != -EFBIG)
        return;
    large =
        bspz_sys_map(0, STATUS_BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bspz_failed(large))
        return;
    if (bspz_sys_slurp("/proc/self/status", (char *)large, STATUS_BUFFER) > 0)
        take_status(now, (char *)large);
    bspz_sys2(SYS_munmap, large, STATUS_BUFFER);
}

static void read_label(struct bspz_attributes *now)
{
    char label[4096];
    long bytes = bspz_sys_slurp("/proc/self/attr/current", label, sizeof label);

    if (bytes <= 0)
        return;
    bspz_hash_bytes(&now->word[BSPZ_WORD_LABEL], label, (size_t)bytes);
    set_known(now, BSPZ_ATTRIBUTE_LABEL);
}

/* ---- Where it lives -------------------------------------------------------------------------- */

static void read_name_spaces(struct bspz_attributes *now)
{
    static const struct {
        enum bspz_attribute attribute;
        unsigned word;
        char name[20];
    } spaces[] = {
#define S(name, text) {BSPZ_ATTRIBUTE_##name, BSPZ_WORD_##name, text}
        S(MOUNTS, "mnt"),  S(USERS_SPACE, "user"),
        S(NETWORK, "net"), S(PROCESSES, "pid"),
        S(NAMES, "uts"),   S(NEXT_PROCESSES, "pid_for_children"),
        S(IPC, "ipc"),     S(CONTROL_GROUPS, "cgroup"),
        S(TIME, "time"),   S(NEXT_TIME, "time_for_children"),
#undef S
    };
    int directory = bspz_sys_open("/proc/self/ns", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char target[64];

    if (directory < 0)
        return;
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        long bytes =
            bspz_sys4(SYS_readlinkat, directory, spaces[i].name, target, sizeof target - 1);
        const char *at;

        /* A new namespace without a process yet has no entry. */
        set_known(now, spaces[i].attribute);
        if (bytes <= 0)
            continue;
        target[bytes] = '\0';
        at = strchr(target, '[');
        if (at++)
            now->word[spaces[i].word] = bspz_number(&at, 10);
    }
    bspz_sys_close(directory);
}

static void read_root(struct bspz_attributes *now)
{
    struct statx root;
    uint64_t *to = &now->word[BSPZ_WORD_ROOT];

    memset(&root, 0, sizeof root);
    if (bspz_sys5(SYS_statx, AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &root) != 0)
        return;
    to[0] = (uint64_t)root.stx_dev_major << 32 | root.stx_dev_minor;
    to[1] = root.stx_ino;
    to[2] = root.stx_mask & STATX_MNT_ID ? root.stx_mnt_id : 0;
    set_known(now, BSPZ_ATTRIBUTE_ROOT);
}

void bspz_attributes_read(struct bspz_attributes *now)
{
    long dumpable = bspz_dumpable_begin();

    memset(now, 0, sizeof *now);
    read_limits(now);
    read_scheduling(now);
    read_affinity(now);
    read_memory(now);
    read_controls(now);
    read_keyrings(now);
    read_file(now, BSPZ_ATTRIBUTE_OOM_SCORE, BSPZ_WORD_OOM_SCORE, "/proc/self/oom_score_adj", 10);
    read_file(now, BSPZ_ATTRIBUTE_CORE_FILTER, BSPZ_WORD_CORE_FILTER, "/proc/self/coredump_filter",
              16);
    read_status(now);
    read_label(now);
    read_name_spaces(now);
    read_root(now);
    TAKE(DUMPABLE, dumpable);
    bspz_dumpable_end(dumpable);
}

static void begin_with(struct bspz_attributes *initial, enum bspz_attribute attribute,
                       unsigned word, uint64_t value)
{
    initial->known |= UINT64_C(1) << attribute;
    initial->word[word] = value;
}

#define BEGIN_WITH(name, value) begin_with(initial, BSPZ_ATTRIBUTE_##name, BSPZ_WORD_##name, value)

/* Clears what is not inherited, or not through exec. */
void bspz_attributes_initial(struct bspz_attributes *initial)
{
    bspz_attributes_read(initial);
    BEGIN_WITH(DUMPABLE, 1);
    BEGIN_WITH(SUBREAPER, 0);
    BEGIN_WITH(LOCK_FUTURE, 0);
    BEGIN_WITH(MEMBARRIER, 0);
    initial->word[BSPZ_WORD_SECUREBITS] &= ~(uint64_t)BSPZ_KEEP_CAPS;
    BEGIN_WITH(KEYRINGS, 0);
    initial->word[BSPZ_WORD_KEYRINGS + 1] = 0;
    BEGIN_WITH(SEGMENTS, 0);
}
