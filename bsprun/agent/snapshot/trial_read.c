/* trial_read.c - measures how fast an image can be read; see trial_read.h.
 *
 * What can fail: a read that never returns, as from a dead file server.  The thread is abandoned
 * with its data; it is never joined.
 */
#include "bsprun/agent/snapshot/trial_read.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define PIECE      (UINT64_C(1) << 20)
#define ALIGNMENT  4096u
#define STACK      65536u
#define IO_IDLE    (3 << 13) /* IOPRIO_CLASS_IDLE */
#define IO_PROCESS 1         /* IOPRIO_WHO_PROCESS: with id 0 the calling thread */

struct trial_read {
    atomic_int users;
    atomic_bool done;
    int fd;
    uint64_t bytes, ns;
};

static void let_go(struct trial_read *trial)
{
    if (atomic_fetch_sub(&trial->users, 1) == 1)
        free(trial);
}

/* Only the I/O priority is lowered: the thread hardly uses the CPU, and waiting for it would look
 * like a slow disk. */
static void lower_io_priority(void)
{
    syscall(SYS_ioprio_set, IO_PROCESS, 0, IO_IDLE);
}

static void read_it(struct trial_read *trial, void *room)
{
    int flags = fcntl(trial->fd, F_GETFL);
    uint64_t begun, at = 0;
    ssize_t got;

    if (flags < 0 || fcntl(trial->fd, F_SETFL, flags | O_DIRECT) != 0)
        posix_fadvise(trial->fd, 0, 0, POSIX_FADV_DONTNEED);
    posix_fadvise(trial->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    begun = bspz_now_ns();
    while (at < TRIAL_READ_BYTES && bspz_now_ns() - begun < TRIAL_READ_NS &&
           (got = pread(trial->fd, room, PIECE, (off_t)at)) > 0) {
        at += (uint64_t)got;
        if (got < (ssize_t)PIECE)
            break; /* the end: a direct read that begins unaligned would fail */
    }
    trial->bytes = at;
    trial->ns = bspz_now_ns() - begun;
    posix_fadvise(trial->fd, 0, (off_t)at, POSIX_FADV_DONTNEED);
}

static void *work(void *argument)
{
    struct trial_read *trial = argument;
    void *room = NULL;

    lower_io_priority();
    if (posix_memalign(&room, ALIGNMENT, PIECE) == 0)
        read_it(trial, room);
    free(room);
    close(trial->fd);
    atomic_store(&trial->done, true);
    let_go(trial);
    return NULL;
}

struct trial_read *trial_read_begin(int fd)
{
    struct trial_read *trial = calloc(1, sizeof *trial);
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int error = -1;

    if (trial && pthread_attr_init(&attributes) == 0) {
        trial->fd = fd;
        atomic_init(&trial->users, 2);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK);
        /* The loop handles signals. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&thread, &attributes, work, trial);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (error == 0)
        return trial;
    free(trial);
    close(fd);
    return NULL;
}

bool trial_read_result(const struct trial_read *trial, uint64_t *bytes, uint64_t *ns)
{
    if (!trial || !atomic_load(&trial->done) || trial->bytes == 0 || trial->ns == 0)
        return false;
    *bytes = trial->bytes;
    *ns = trial->ns;
    return true;
}

void trial_read_free(struct trial_read *trial)
{
    if (trial)
        let_go(trial);
}
