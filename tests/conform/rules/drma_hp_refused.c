/* DRMA: where the system refuses copies between processes, large bsp_hpput and bsp_hpget work all the
 * same, also when it refuses only one direction.
 *
 * P: 1 2 3 4
 * ENV: BSPZERO_DIRECT=4096
 *
 * CASE: both
 * ARGS: read write
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: reading
 * ARGS: read
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: writing
 * ARGS: write
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

enum { WORDS = 50000, ROUNDS = 4 };
static int area[WORDS], fixed[WORDS], source[WORDS], fetched[WORDS];

/* From here on this system call fails as a container's policy makes it fail. */
static void refuse(unsigned call)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
        bsp_abort("no seccomp filter");
}

int main(int argc, char **argv)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;

    for (int k = 1; k < argc; k++)
        refuse(strcmp(argv[k], "read") == 0 ? __NR_process_vm_readv : __NR_process_vm_writev);
    bsp_push_reg(area, sizeof area);
    bsp_push_reg(fixed, sizeof fixed);
    bsp_sync();
    for (int round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) {
            source[i] = (me + 1) * round + i;
            fixed[i] = -source[i];
        }
        bsp_sync();
        bsp_hpput(right, source, area, 0, sizeof area);
        bsp_hpget(right, fixed, 0, fetched, sizeof fixed);
        bsp_sync();
        for (int i = 0; i < WORDS; i++) {
            CHECK_INT(area[i], (left + 1) * round + i);
            CHECK_INT(fetched[i], -((right + 1) * round + i));
        }
    }
    conform_done();
    bsp_end();
    return 0;
}
