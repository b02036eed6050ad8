/* attributes.h - what else the kernel keeps for a process: limits, priorities, privileges and the
 * like.
 *
 * Each attribute is some words.  The program has set itself whatever differs from what the node
 * agent gives to programs that it starts; only that is restored, so that a job restarted with
 * another priority or other limits keeps those. doc/process-attributes.md lists them, with those
 * that are neither kept nor refused; tests/ckpt/capture/attributes.py goes through the list.
 *
 * The struct is part of images: attributes are only added at the end of the list, and `known` says
 * which ones an image has.
 */
#ifndef CKPT_CAPTURE_ATTRIBUTES_H
#define CKPT_CAPTURE_ATTRIBUTES_H

#include <stdbool.h>
#include <stdint.h>

#define BSPZ_ATTRIBUTES_VERSION 1u
#define BSPZ_AFFINITY_WORDS     128u /* of a set of processors */

enum bspz_attribute_kind {
    BSPZ_ATTRIBUTE_EARLY,   /* kept; restored before `staged`, while failure is still possible */
    BSPZ_ATTRIBUTE_LATE,    /* kept; restored last, as it would hinder the restore */
    BSPZ_ATTRIBUTE_REFUSED, /* cannot be restored: refused when the program has changed it */
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
    X(USERS_SPACE, 1, REFUSED, "user-namespace")                                                   \
    X(USERS, 4, REFUSED, "users")               /* real, effective, saved, of the file system */   \
    X(GROUPS, 4, REFUSED, "groups")             /* likewise */                                     \
    X(MORE_GROUPS, 35, REFUSED, "more-groups")  /* how many, a hash of them, the first 64 */       \
    X(CAPABILITIES, 4, REFUSED, "capabilities") /* inheritable, permitted, effective, ambient */   \
    X(BOUNDING, 1, REFUSED, "bounding")                                                            \
    X(FILTERS, 2, REFUSED, "seccomp") /* mode, number of filters */                                \
    X(LABEL, 2, REFUSED, "label")     /* hash of the security module's */                          \
    X(ROOT, 3, REFUSED, "root")       /* device, inode, mount */                                   \
    X(MOUNTS, 1, REFUSED, "mount-namespace")                                                       \
    X(NETWORK, 1, REFUSED, "net-namespace")                                                        \
    X(PROCESSES, 1, REFUSED, "pid-namespace")                                                      \
    X(NEXT_PROCESSES, 1, REFUSED, "pid-namespace-of-children")                                     \
    X(NAMES, 1, REFUSED, "uts-namespace")                                                          \
    X(IPC, 1, REFUSED, "ipc-namespace")                                                            \
    X(CONTROL_GROUPS, 1, REFUSED, "cgroup-namespace")                                              \
    X(TIME, 1, REFUSED, "time-namespace")                                                          \
    X(NEXT_TIME, 1, REFUSED, "time-namespace-of-children")                                         \
    X(AFFINITY, 128, LATE, "affinity")  /* a bit for each of 8192 processors */                    \
    X(KEYRINGS, 2, REFUSED, "keyrings") /* of the thread, of the process; 0: none */               \
    X(SEGMENTS, 1, REFUSED, "segments") /* bytes of the local descriptor table */

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

/* The attribute's name in doc/process-attributes.md. */
const char *bspz_attribute_name(enum bspz_attribute attribute);

/* Reads the attributes of this process.  Cost: some sixty system calls, 20 us. */
void bspz_attributes_read(struct bspz_attributes *now);

/* The attributes with which a program starts that this process executes; safe between fork and
 * exec. */
void bspz_attributes_initial(struct bspz_attributes *initial);

/* Fills in `own`: what differs from `initial`. bound: the processors that the runtime has bound
 * this process to, which the program did not set; NULL: none. -EBUSY when an attribute differs that
 * cannot be restored, and `why` (BSPZ_WHY_SIZE) names it. initial NULL or unknown: no attribute is
 * the program's own. */
int bspz_attributes_compare(struct bspz_attributes *now, const struct bspz_attributes *initial,
                            const uint64_t *bound, char *why);

/* Where the process to be restored was saved.  User ids are comparable only within one boot of one
 * machine; of a process made beside the saved one only the attributes matter, its privileges are
 * those of its own node agent. */
enum bspz_attributes_place { BSPZ_SAVED_HERE, BSPZ_SAVED_ANYWHERE, BSPZ_SAVED_BESIDE };

/* In a fresh process that is to become the saved one: restores those attributes that do not hinder
 * the restore, and makes sure that the rest will be possible. -EPERM and `why` (BSPZ_WHY_SIZE) when
 * one is not. */
int bspz_attributes_check(const struct bspz_attributes *was, enum bspz_attributes_place place,
                          char *why);

/* In the restored process, after everything else: restores the rest.  A negative errno and `why` as
 * above. */
int bspz_attributes_finish(const struct bspz_attributes *was, char *why);

/* In a copy of the process: restores what a fork loses.  Errors as above. */
int bspz_attributes_put_back(const struct bspz_attributes *was, char *why);

/* Restores the program's own choice of processors, if this machine has one of them. */
void bspz_attributes_put_affinity(const struct bspz_attributes *was);

/* Makes this process dumpable, without which it cannot read its files in /proc/self.  Returns the
 * argument for bspz_dumpable_end, to be called afterwards. */
long bspz_dumpable_begin(void);
void bspz_dumpable_end(long before);

#endif
