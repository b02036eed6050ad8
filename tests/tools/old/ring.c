/* A program as they were written in the 1990s: no prototypes, no return types, void main, tentative
   definitions shared between files, numbers asked for before the processes exist. */
#include "bsp.h"

int p;          /* defined in the other file too */
int total;

void spmd();

void main(argc, argv)
    int argc;
    char **argv;
{
    bsp_init(spmd, argc, argv);
    printf("How many processes?");
    if (scanf("%d", &p) != 1 || p > bsp_nprocs()) {
        printf("not so many\n");
        exit(1);
    }
    spmd();
    printf("total %d after the processes\n", total);
    exit(0);
}

void spmd()
{
    int left, right, me, i;
    char name[20];

    bsp_begin(p);
    me = bsp_pid();
    left = (me + bsp_nprocs() - 1) % bsp_nprocs();
    right = (me + 1) % bsp_nprocs();
    bsp_pushregister(&total, sizeof(int));
    bsp_sync();
    strcpy(name, "process");
    for (i = 0; i < bsp_nprocs(); i++) {
        if (i == me)
            printf("%s %d: neighbours %d and %d, length %d\n", name, me, left, right,
                   strlen(name));
        bsp_sync();
    }
    total = sum_of_ring(me, right);
    bsp_popregister(&total);
    bsp_end();
}
