/* Error 39: no memory for registrations, for the copies of puts and messages or for what gets
 * fetch: one message with the number of bytes, no crash.
 *
 * P: 1 2
 * STATUS: nonzero
 *
 * CASE: registrations
 * ARGS: push
 * ERROR: bsp_(push_reg|sync) ? ? 0
 * FACT: (?i)memory
 * FACT: [0-9]+ (more )?bytes
 *
 * CASE: put copies
 * ARGS: put
 * ERROR: bsp_put @put ? 1
 * FACT: (?i)memory|room
 * FACT: [0-9]+ (more )?bytes
 *
 * CASE: message copies
 * ARGS: send
 * ERROR: bsp_send @send ? 1
 * FACT: (?i)memory|room
 * FACT: [0-9]+ (more )?bytes
 *
 * CASE: get copies
 * ARGS: get
 * ERROR: bsp_sync @sync ? 1
 * FACT: (?i)memory|room
 * FACT: [0-9]+ (more )?bytes
 */
#include <bsp.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { LARGE = 300 << 20 };

/* From here on no new mapping, and the system refuses to extend shared memory. */
static void allow_no_more(void)
{
    struct sock_filter refuse_fallocate[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, refuse_fallocate};
    struct rlimit now;
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");

    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        bsp_abort("no /proc/self/statm");
    fclose(statm);
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = (rlim_t)pages * 4096 + (1 << 20);
    setrlimit(RLIMIT_AS, &now);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        bsp_abort("no seccomp filter");
}

int main(int argc, char **argv)
{
    static char area[LARGE], other[LARGE];
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    int to = (bsp_pid() + 1) % bsp_nprocs();

    if (strcmp(name, "push") == 0) {
        allow_no_more();
        for (int i = 0; i < 1000000; i++)
            bsp_push_reg(&area[i], 1);
    }
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    allow_no_more();
    if (strcmp(name, "put") == 0)
        bsp_put(to, other, area, 0, sizeof other); /* @put */
    if (strcmp(name, "send") == 0)
        bsp_send(to, NULL, other, sizeof other); /* @send */
    if (strcmp(name, "get") == 0)
        bsp_get(to, area, 0, other, sizeof other);
    bsp_sync(); /* @sync */
    bsp_end();
    return 0;
}
