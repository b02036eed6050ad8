/* parts.h - the parts of what is seen of the owner of a host; see view.h.  Internal. */
#ifndef BSPRUN_AGENT_OWNER_PARTS_H
#define BSPRUN_AGENT_OWNER_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OWNER_PATH (PATH_MAX + 512)

/* ---- input.c: terminals, and the keyboard's and mouse's interrupts ---- */

struct owner_interrupts {
    bool known;
    uint64_t count;      /* at the last look */
    uint64_t changed_ms; /* when it had grown; 0: not since the first look */
};

/* The time since the last input at a terminal of a session (utmp), whoever's; as w(1) has it, from
 * the terminal's access time, which the kernel sets about every 8 s.  Those that process `bsprun`
 * has as standard input, output or error do not count.  OWNER_NEVER: no session. */
uint64_t owner_terminals_age_ms(const char *root, pid_t bsprun);
/* The time since the interrupts of keyboards and mice (i8042) were seen to grow; OWNER_NEVER: not
 * yet. */
uint64_t owner_interrupts_age_ms(const char *root, struct owner_interrupts *interrupts,
                                 uint64_t now_ms);

/* ---- others.c: the processes of other users ---- */

struct owner_others {
    struct owner_process {
        pid_t pid;
        uint64_t started; /* with the pid, it is one process */
        uint64_t ticks;   /* of the processor */
    } * items;            /* by pid */
    size_t count;
    uint64_t looked_ms;     /* when; 0: not yet */
    uint64_t ticks;         /* since the first look */
    uid_t own, first, last; /* users that are not of the system: first to last */
};

/* Reads which users are not of the system. */
void owner_others_begin(struct owner_others *others, const char *root, uid_t own);
/* Processor time of others since the first look, in milliseconds.  That of a process which began
 * and ended between two looks is not seen. */
uint64_t owner_others_ms(struct owner_others *others, const char *root, uint64_t now_ms);

/* ---- battery.c ---- */

/* Whether a battery is being discharged and the mains adapter gives nothing. */
bool owner_on_battery(const char *root);

#endif
