/* tasks - work that makes more work: every superstep, what is left is dealt out evenly.
 *
 * The tasks here are places of queens on the first rows of a chess board; a task is finished when
 * all eight are placed, else it leaves one task for each square of the next row that is not
 * attacked. */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>
#include <string.h>

enum { QUEENS = 8, MOST = 4096, AT_ONCE = 16 };

struct task {
    int rows;
    int column[QUEENS];
};

static int attacked(const struct task *t, int column)
{
    for (int r = 0; r < t->rows; r++)
        if (t->column[r] == column || abs(t->column[r] - column) == t->rows - r)
            return 1;
    return 0;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), count = 0, solutions = 0, packets, status;
    struct task *tasks = malloc(MOST * sizeof *tasks);

    if (s == 0)
        memset(&tasks[count++], 0, sizeof *tasks); /* the empty board */
    while (bsp_sumI(count) > 0) {
        for (int i = 0; i < AT_ONCE && count > 0; i++) { /* a bounded amount of work */
            struct task t = tasks[--count];

            solutions += t.rows == QUEENS;
            for (int column = 0; t.rows < QUEENS && column < QUEENS; column++)
                if (!attacked(&t, column)) {
                    tasks[count] = t;
                    tasks[count].column[t.rows] = column;
                    tasks[count++].rows++;
                }
        }
        for (int i = 0; i < count; i++) /* the rest goes round, starting with the next process */
            bsp_send((s + 1 + i) % p, NULL, &tasks[i], sizeof *tasks);
        bsp_sync();
        count = 0;
        for (bsp_qsize(&packets, NULL); packets > 0; packets--) {
            bsp_get_tag(&status, NULL);
            bsp_move(&tasks[count++], sizeof *tasks);
        }
    }
    solutions = bsp_sumI(solutions);
    if (s == 0)
        printf("solutions: %d\n%s\n", solutions, solutions == 92 ? "verified" : "FAILED");
    bsp_end();
    return solutions != 92;
}
