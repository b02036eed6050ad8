/* Process model: hundreds of processes on one host.  What the job takes grows with p, not with p
 * times p: each process holds page tables for what it uses, not for what all could send it.
 *
 * P: 400
 * TIMEOUT: 120
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TABLES_KB = 256, /* page tables of one process; some 90 are usual */
    SHARED_KB = 256, /* shared memory for each process */
};

/* Kilobytes as /proc/self/status says. */
static long status_of(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key));
    if (file)
        fclose(file);
    return value;
}

/* Kilobytes of anonymous files that this process has open. */
static long shared_memory(void)
{
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    long total = 0;

    while (directory && (entry = readdir(directory))) {
        char path[300], target[300] = "";
        struct stat status;

        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "memfd:") &&
            stat(path, &status) == 0)
            total += (long)(status.st_blocks / 2);
    }
    if (directory)
        closedir(directory);
    return total;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int from_left = -1, from_right = -1, fetched = -1, mine = me, count, bytes, status;
    long tables;

    bsp_push_reg(&from_left, sizeof from_left);
    bsp_push_reg(&mine, sizeof mine);
    bsp_sync();
    bsp_put(right, &me, &from_left, 0, sizeof me);
    bsp_get(right, &mine, 0, &fetched, sizeof fetched);
    bsp_send(left, NULL, &me, sizeof me);
    bsp_send(0, NULL, &me, sizeof me);
    bsp_sync();
    CHECK_INT(from_left, left);
    CHECK_INT(fetched, right);
    bsp_qsize(&count, &bytes);
    CHECK_INT(count, me == 0 ? p + 1 : 1);
    for (int pid = 0; me == 0 && pid < p; pid++) {
        bsp_get_tag(&status, NULL);
        bsp_move(&from_right, sizeof from_right);
        CHECK_INT(from_right, pid);
        if (pid == right)
            bsp_move(&from_right, sizeof from_right);
    }
    if (me > 0)
        bsp_move(&from_right, sizeof from_right);
    CHECK_INT(from_right, me > 0 ? right : p - 1);
    bsp_sync();
    tables = status_of("VmPTE:");
    CHECK(tables > 0);
    /* Process 0 has read what every other sent it. */
    CHECK(tables < (me == 0 ? 4 : 1) * TABLES_KB);
    if (me == 0) {
        CHECK(shared_memory() > p);
        CHECK(shared_memory() < (long)p * SHARED_KB);
    }
    conform_done();
    bsp_end();
    return 0;
}
