/* Process model: a process that died is not buried before all processes of the job have stopped, so
 * that its number in the system cannot come back as another's while somebody may still copy from it.
 *
 * P: 2 3 4
 * STATUS: failed
 * OUT-RE: ^seen dead$
 * OUT-NOT: buried
 * ERR-RE: killed by signal 9
 */
#include "../check.h"
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 30 };

/* R, S, ..., Z for dead and not buried, 0 for gone. */
static char state_of(int ospid)
{
    char path[64], text[512] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", ospid);
    file = fopen(path, "r");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = 0;
    fclose(file);
    return strrchr(text, ')') ? strrchr(text, ')')[2] : 0;
}

static void say(const char *text)
{
    (void)!write(STDOUT_FILENO, text, strlen(text));
}

/* Looks until it is stopped itself. */
static void watch(int ospid)
{
    time_t start = time(NULL);
    bool dead = false;

    while (time(NULL) - start < PATIENCE) {
        char state = state_of(ospid);

        if (state == 'Z' && !dead)
            say("seen dead\n");
        if (state == 0) {
            say("buried\n");
            break;
        }
        dead = state == 'Z';
    }
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), last_ospid = 0, own = getpid();

    bsp_push_reg(&last_ospid, sizeof last_ospid);
    bsp_sync();
    if (me == p - 1)
        bsp_put(0, &own, &last_ospid, 0, sizeof own);
    bsp_sync();
    if (me == 0)
        watch(last_ospid);
    if (me == p - 1)
        kill(own, SIGKILL);
    bsp_sync();
    bsp_end();
    return 0;
}
