/* threads.c - whether the process has only one thread; see snapshot.h. */
#include <errno.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

/* A joined thread may linger in the list for a moment: the list is read again at growing intervals.
 */
#define THREAD_FIRST_NS    20000
#define THREAD_MOST_NS     1000000
#define THREAD_PATIENCE_NS 100000000
#define LIST_BUFFER        4096

static int count_threads(void)
{
    struct entry {
        uint64_t inode;
        int64_t offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    char buffer[LIST_BUFFER] __attribute__((aligned(8)));
    int directory = bspz_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int threads = 0;
    long bytes;

    if (directory < 0)
        return directory;
    while ((bytes = bspz_sys3(SYS_getdents64, directory, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < bytes;) {
            const struct entry *entry = (const void *)(buffer + at);

            threads += entry->name[0] != '.';
            at += entry->length;
        }
    }
    bspz_sys_close(directory);
    return bytes < 0 ? (int)bytes : threads;
}

int bspz_snapshot_one_thread(struct bspz_snapshot *snapshot)
{
    struct {
        int64_t seconds, nanoseconds;
    } moment = {0, THREAD_FIRST_NS};
    struct bspz_text why;
    int64_t waited = 0;
    int threads = count_threads();

    for (; threads > 1 && waited < THREAD_PATIENCE_NS; waited += moment.nanoseconds) {
        bspz_sys2(SYS_nanosleep, &moment, 0);
        threads = count_threads();
        if (moment.nanoseconds < THREAD_MOST_NS)
            moment.nanoseconds *= 2;
    }
    if (threads == 1)
        return 0;
    if (threads < 0)
        return bspz_snapshot_fail(snapshot, "/proc/self/task", threads);
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process has ");
    bspz_text_decimal(&why, threads);
    bspz_text_add(&why, " threads; only a process with one thread can be saved");
    return -EBUSY;
}
