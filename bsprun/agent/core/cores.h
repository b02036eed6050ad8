/* cores.h - which processors the ranks of a job are bound to, and whether they may spin.
 *
 * Jobs on the same machine claim processors by binding an abstract socket per processor; the kernel
 * releases it when the holder dies, and no file is left.
 */
#ifndef BSPRUN_CORES_H
#define BSPRUN_CORES_H

struct cores_claim {
    int count;    /* processors claimed; 0: the wanted number was not free */
    int *cpus;    /* their numbers, one per physical core as long as there are enough */
    int *sockets; /* sockets of the claims */
};

/* Claims `wanted` processors out of those this process may use: all of them or none.  Returns the
 * number claimed. */
int cores_claim(int wanted, struct cores_claim *claim);

/* Releases them; harmless for an empty claim. */
void cores_release(struct cores_claim *claim);

#endif
