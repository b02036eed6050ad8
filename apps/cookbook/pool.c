/* pool - tasks that free processes take from a dataspace, and results in their order. */
#include <stdio.h>
#include <volpex.h>

#define TASKS 60

/* The next task, or TASKS if there is none left: who has got the object excludes the others. */
static int next_task(void)
{
    int next, taken;

    volpex_get("next", 4, &next, sizeof next);
    taken = next;
    if (next < TASKS)
        next++;
    volpex_put("next", 4, &next, sizeof next);
    return taken;
}

/* Steps until the number is 1 (Collatz): nobody knows beforehand how many. */
static int work(int task)
{
    int steps = 0;

    for (long number = task + 1; number > 1; steps++)
        number = number % 2 ? 3 * number + 1 : number / 2;
    return steps;
}

int main(int argc, char **argv)
{
    int first = 0, steps, most = 0, which = 0, right = 1;
    char tag[32];

    volpex_init(argc, argv);
    if (volpex_getProcId() == 0)
        volpex_put("next", 4, &first, sizeof first);
    for (int task = next_task(); task < TASKS; task = next_task()) {
        steps = work(task);
        volpex_put(tag, snprintf(tag, sizeof tag, "result %d", task), &steps, sizeof steps);
    }
    for (int task = 0; task < TASKS && volpex_getProcId() == 0; task++) {
        volpex_get(tag, snprintf(tag, sizeof tag, "result %d", task), &steps, sizeof steps);
        right = right && steps == work(task);
        if (steps > most) {
            most = steps;
            which = task + 1;
        }
    }
    volpex_finalize(); /* only process 0 goes on */
    printf("%d takes %d steps\n%s\n", which, most, right ? "verified" : "FAILED");
    return !right;
}
