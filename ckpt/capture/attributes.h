/* attributes.h - what else the kernel keeps for a process: what it was given or has laid upon
 * itself.
 *
 * Each attribute is some words.  What the program itself has set is what differs from what the node
 * agent gives to the programs that it starts; only that is put back, so that a job which is started
 * again with another priority or other limits has those.  doc/process-attributes.md is the list,
 * with what is neither kept nor refused; tests/ckpt/capture/attributes.py walks it.
 *
 * The struct is part of images: attributes are only added at the end of the list, and `known` says
 * which ones an image has.
 */
#ifndef CKPT_CAPTURE_ATTRIBUTES_H
#define CKPT_CAPTURE_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#define BSPZ_ATTRIBUTES_VERSION 1u

enum bspz_attribute_kind {
    BSPZ_ATTRIBUTE_EARLY,  /* kept; put back before `staged`, where it can still fail */
    BSPZ_ATTRIBUTE_LATE,   /* kept; put back last, as it would be in the way of a restore */
    BSPZ_ATTRIBUTE_JUDGED, /* cannot be put back: refused when the program has changed it */
};

/* name, its number of words, kind, its name in doc/process-attributes.md */
#define BSPZ_ATTRIBUTE_TABLE(X)                                                                    \
    X(LIMITS, 33, LATE, "limits") /* soft and hard, by resource; a bit for each changed one */     \
    X(OOM_SCORE, 1, EARLY, "oom-score")                                                            \
    X(CORE_FILTER, 1, EARLY, "core-filter")                                                        \
    X(POLICY, 6, EARLY, "policy") /* policy, flags, priority, runtime, deadline, period */         \
    X(CLAMPS, 2, EARLY, "clamps") /* of the utilisation: lowest, highest */                        \
    X(NICE, 1, EARLY, "nice")     /* 0 to 39 */                                                    \
    X(IO_PRIORITY, 1, EARLY, "io-priority")                                                        \
    X(TIMER_SLACK, 1, EARLY, "timer-slack")                                                        \
    X(MEMORY_POLICY, 17, EARLY, "memory-policy") /* mode, 1024 nodes */                            \
    X(NO_HUGE_PAGES, 1, EARLY, "no-huge-pages")                                                    \
    X(MERGE, 1, EARLY, "merge")                                                                    \
    X(SUBREAPER, 1, EARLY, "subreaper")                                                            \
    X(MEMORY_ERRORS, 1, EARLY, "memory-errors")                                                    \
    X(SPECULATION, 3, EARLY, "speculation") /* store bypass, indirect branches, L1D flush */       \
    X(IO_FLUSHER, 1, EARLY, "io-flusher")                                                          \
    X(MEMBARRIER, 1, EARLY, "membarrier")                                                          \
    X(WIDE_STATE, 1, EARLY, "wide-state") /* processor state that must be asked for: AMX */        \
    X(SECUREBITS, 1, EARLY, "securebits")                                                          \
    X(NO_NEW_PRIVS, 1, EARLY, "no-new-privs")                                                      \
    X(PERSONALITY, 1, LATE, "personality")                                                         \
    X(TIME_STAMPS, 1, LATE, "time-stamps") /* whether rdtsc is allowed */                          \
    X(CPUID, 1, LATE, "cpuid")                                                                     \
    X(LOCK_FUTURE, 1, LATE, "lock-future")                                                         \
    X(NO_NEW_CODE, 1, LATE, "no-new-code") /* memory that was written is never executed */         \
    X(DUMPABLE, 1, LATE, "dumpable")                                                               \
    X(USERS_SPACE, 1, JUDGED, "user-namespace")                                                    \
    X(USERS, 4, JUDGED, "users")               /* real, effective, saved, of the file system */    \
    X(GROUPS, 4, JUDGED, "groups")             /* likewise */                                      \
    X(MORE_GROUPS, 35, JUDGED, "more-groups")  /* how many, a hash of them, the first 64 */        \
    X(CAPABILITIES, 4, JUDGED, "capabilities") /* inheritable, permitted, effective, ambient */    \
    X(BOUNDING, 1, JUDGED, "bounding")                                                             \
    X(FILTERS, 2, JUDGED, "seccomp") /* mode, number of filters */                                 \
    X(LABEL, 2, JUDGED, "label")     /* hash of the security module's */                           \
    X(ROOT, 3, JUDGED, "root")       /* device, inode, mount */                                    \
    X(MOUNTS, 1, JUDGED, "mount-namespace")                                                        \
    X(NETWORK, 1, JUDGED, "net-namespace")                                                         \
    X(PROCESSES, 1, JUDGED, "pid-namespace")                                                       \
    X(NEXT_PROCESSES, 1, JUDGED, "pid-namespace-of-children")                                      \
    X(NAMES, 1, JUDGED, "uts-namespace")                                                           \
    X(IPC, 1, JUDGED, "ipc-namespace")                                                             \
    X(CONTROL_GROUPS, 1, JUDGED, "cgroup-namespace")                                               \
    X(TIME, 1, JUDGED, "time-namespace")                                                           \
    X(NEXT_TIME, 1, JUDGED, "time-namespace-of-children")                                          \
    X(AFFINITY, 128, LATE, "affinity") /* a bit for each of 8192 processors */                     \
    X(KEYRINGS, 2, JUDGED, "keyrings") /* of the thread, of the process; 0: none */                \
    X(SEGMENTS, 1, JUDGED, "segments") /* bytes of the local descriptor table */

enum bspz_attribute {
#define X(name, words, kind, text) BSPZ_ATTRIBUTE_##name,
    BSPZ_ATTRIBUTE_TABLE(X)
#undef X
        BSPZ_ATTRIBUTE_COUNT
};

/* Where its words are. */
enum {
#define X(name, words, kind, text)                                                                 \
    BSPZ_WORD_##name, BSPZ_WORD_##name##_LAST = BSPZ_WORD_##name + (words)-1,
    BSPZ_ATTRIBUTE_TABLE(X)
#undef X
        BSPZ_ATTRIBUTE_WORDS
};

struct bspz_attributes {
    uint64_t known; /* bit i: attribute i could be read */
    uint64_t own;   /* those that the program has set; after bspz_attributes_compare */
    uint64_t word[BSPZ_ATTRIBUTE_WORDS];
};

_Static_assert(BSPZ_ATTRIBUTE_COUNT <= 64, "a bit for each");

/* Its name in doc/process-attributes.md. */
const char *bspz_attribute_name(enum bspz_attribute attribute);

/* What this process has now.  Cost: some sixty system calls, 20 us. */
void bspz_attributes_read(struct bspz_attributes *now);

/* What a program has in the beginning that this process executes next; safe between fork and
 * exec. */
void bspz_attributes_given(struct bspz_attributes *given);

/* Fills in `own`: what differs from `given`.  bound: 1 + the processor that the runtime has bound
 * this process to, which is not the program's doing; 0: none.  -EBUSY when something differs that
 * cannot be put back, and `why` (BSPZ_WHY_SIZE) names it.  given NULL or unknown: nothing is the
 * program's own. */
int bspz_attributes_compare(struct bspz_attributes *now, const struct bspz_attributes *given,
                            uint32_t bound, char *why);

/* Where the process was saved that is restored: numbers of users mean the same in one run of one
 * machine; of a process that is made beside the saved one only the attributes matter, its
 * privileges are those of its own node agent. */
enum bspz_attributes_place { BSPZ_SAVED_HERE, BSPZ_SAVED_ANYWHERE, BSPZ_SAVED_BESIDE };

/* In a fresh process, which is to become the one that had `was`: puts back what was the program's
 * own and is no hindrance to a restore, and makes sure that the rest will be possible.  -EPERM and
 * `why` (BSPZ_WHY_SIZE) when something is not. */
int bspz_attributes_check(const struct bspz_attributes *was, enum bspz_attributes_place place,
                          char *why);

/* The rest, in the process that was restored, when everything else is in its place.  A negative
 * errno and `why` as above. */
int bspz_attributes_finish(const struct bspz_attributes *was, char *why);

/* In a copy of the process: what a fork loses.  As above. */
int bspz_attributes_put_back(const struct bspz_attributes *was, char *why);

/* The processors that the program has chosen, if it has, and this machine has one of them. */
void bspz_attributes_put_affinity(const struct bspz_attributes *was);

/* Files in /proc/self can be read only by a process that may be dumped.  Returns what to give to
 * bspz_dumpable_end when they are read. */
long bspz_dumpable_begin(void);
void bspz_dumpable_end(long before);

#endif
