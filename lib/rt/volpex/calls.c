/* calls.c - the calls of volpex.h: a request on the board, and waiting for the agent's answer.
 *
 * Happy path: the tag, and of a put the first piece, go into the window; POSTED and the bell;
 * ANSWERED: of a get or read the first piece is there; the same for further pieces.
 * What can fail: wrong use, which has no effect; the job recovers from failures and has no
 * dataspace, or the window cannot be opened: the job ends; it is being stopped meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "include/bsp.h"
#include "include/volpex.h"
#include "lib/rt/rt.h"
#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

#define AGENT_CHECK_MS 500
#define OBJECT_MOST    (1 << 30)
#define SPIN_PAUSE     1024 /* requests without spinning after some that had to sleep, at most */

/* The window of this process; NULL: not accessible yet. */
static unsigned char *window;
static const struct bspz_board
    *window_of; /* the mapping in which it is: a restored process has another */

/* ---- Checks ---------------------------------------------------------------------------------- */

/* What is wrong with the call, or NULL. */
static const char *fault(const char *tag, int tag_size, const void *data, int data_size)
{
    if (bspz_rt.life != BSPZ_LIFE_SPMD)
        return "called outside of the parallel part: volpex_init or bsp_begin comes first";
    if (tag_size < 0 || tag_size > BSPZ_TAG_MOST)
        return "a tag has 0 to 4096 bytes";
    if (!tag && tag_size > 0)
        return "NULL given as the tag";
    if (data_size < 0 || data_size > OBJECT_MOST)
        return "an object has 0 to 1073741824 bytes";
    if (!data && data_size > 0)
        return "NULL given as the data";
    return NULL;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static void open_window(const char *function, int line, const char *file)
{
    if (window_of == bspz_rt.board)
        return;
    window =
        (unsigned char *)bspz_rt.board + bspz_window_offset(&bspz_rt.board->layout, bspz_rt.pid);
    if (mprotect(window, BSPZ_WINDOW_BYTES, PROT_READ | PROT_WRITE) != 0)
        bspz_fail(function, line, file, "cannot open the window of the dataspace: %s",
                  strerror(errno));
    window_of = bspz_rt.board;
}

/* An answer comes within microseconds if the agent has a core, and waking a process that sleeps
 * takes longer than that.  Where spinning was in vain it is left out for a while: the agent may
 * have to wait for this very core. */
static void spin(struct bspz_request *request)
{
    static unsigned pause, next_pause = 1;

    if (pause > 0) {
        pause--;
    } else if (bspz_word_spin(bspz_rt.board, &request->state, BSPZ_REQUEST_POSTED)) {
        next_pause = 1;
    } else {
        pause = next_pause;
        next_pause = next_pause < SPIN_PAUSE ? 2 * next_pause : SPIN_PAUSE;
    }
}

/* Posts the request and waits for the answer. */
static void exchange(struct bspz_request *request, const char *function, int line, const char *file)
{
    struct bspz_board *board = bspz_rt.board;
    uint32_t state;

    atomic_store(&request->state, BSPZ_REQUEST_POSTED);
    atomic_fetch_add(&board->rung_for_objects, 1);
    bspz_board_ring(board);
    spin(request);
    while ((state = atomic_load(&request->state)) == BSPZ_REQUEST_POSTED) {
        if (atomic_load(&board->stop))
            bspz_leave();
        bspz_word_wait(&request->state, BSPZ_REQUEST_POSTED, AGENT_CHECK_MS);
        if (atomic_load(&request->state) == BSPZ_REQUEST_POSTED && bspz_agent_gone(board))
            bspz_leave();
    }
    if (state == BSPZ_REQUEST_REFUSED)
        bspz_fail(function, line, file,
                  "a job that recovers from failures has no dataspace: start it without --ckpt");
}

static struct bspz_request *prepare(enum bspz_request_kind kind, const char *tag, int tag_size,
                                    uint64_t size)
{
    struct bspz_request *request = &bspz_rt.self->request;

    if (tag_size > 0)
        memcpy(window, tag, (size_t)tag_size);
    request->kind = kind;
    request->tag_size = (uint32_t)tag_size;
    request->size = size;
    return request;
}

static void note(enum bspz_call call, const char *file, int line)
{
    bspz_note(call, bspz_here(file, line));
}

int volpex_put_cpp(const char *tag, int tagSize, const void *data, int dataSize, int line,
                   const char *file)
{
    const char *wrong = fault(tag, tagSize, data, dataSize);
    struct bspz_request *request;
    uint64_t done = 0, size = (uint64_t)dataSize;

    if (wrong) {
        bspz_warn("volpex_put", line, file, "%s", wrong);
        return -1;
    }
    note(BSPZ_CALL_VOLPEX_PUT, file, line);
    open_window("volpex_put", line, file);
    request = prepare(BSPZ_REQUEST_PUT, tag, tagSize, size);
    do {
        uint64_t some = size - done < BSPZ_PIECE_MOST ? size - done : BSPZ_PIECE_MOST;

        if (some > 0)
            memcpy(window + BSPZ_TAG_MOST, (const char *)data + done, some);
        request->piece = (uint32_t)some;
        exchange(request, "volpex_put", line, file);
        done += some;
    } while (done < size);
    return dataSize;
}

static int fetch(enum bspz_request_kind kind, const char *tag, int tagSize, void *data,
                 int dataSize, int line, const char *file)
{
    const char *function = kind == BSPZ_REQUEST_GET ? "volpex_get" : "volpex_read";
    const char *wrong = fault(tag, tagSize, data, dataSize);
    struct bspz_request *request;
    uint64_t done = 0;

    if (wrong) {
        bspz_warn(function, line, file, "%s", wrong);
        return -1;
    }
    note(kind == BSPZ_REQUEST_GET ? BSPZ_CALL_VOLPEX_GET : BSPZ_CALL_VOLPEX_READ, file, line);
    open_window(function, line, file);
    request = prepare(kind, tag, tagSize, (uint64_t)dataSize);
    do {
        exchange(request, function, line, file);
        if (request->piece > 0)
            memcpy((char *)data + done, window + BSPZ_TAG_MOST, request->piece);
        done += request->piece;
    } while (done < request->size);
    return (int)done;
}

int volpex_get_cpp(const char *tag, int tagSize, void *data, int dataSize, int line,
                   const char *file)
{
    return fetch(BSPZ_REQUEST_GET, tag, tagSize, data, dataSize, line, file);
}

int volpex_read_cpp(const char *tag, int tagSize, void *data, int dataSize, int line,
                    const char *file)
{
    return fetch(BSPZ_REQUEST_READ, tag, tagSize, data, dataSize, line, file);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int volpex_init_cpp(int argc, char *argv[], int line, const char *file)
{
    (void)argc;
    (void)argv;
    if (bspz_rt.life != BSPZ_LIFE_BEFORE) {
        bspz_warn("volpex_init", line, file, "%s",
                  bspz_rt.life == BSPZ_LIFE_SPMD ? "the parallel part has begun already"
                                                 : "the parallel part is over");
        return -1;
    }
    bsp_begin_cpp(0, line, file);
    return 0;
}

void volpex_finalize_cpp(int line, const char *file)
{
    if (bspz_rt.life == BSPZ_LIFE_SPMD)
        bsp_end_cpp(line, file);
    else
        bspz_warn("volpex_finalize", line, file, "called outside of the parallel part");
}

int volpex_getProcId(void)
{
    return bsp_pid();
}

int volpex_getNumProc(void)
{
    return bsp_nprocs();
}
