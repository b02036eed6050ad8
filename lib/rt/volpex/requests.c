/* requests.c - see requests.h.
 *
 * Happy path: the tag, and of a put the first piece, go into the window; POSTED and the bell;
 * ANSWERED: of a get or read the first piece is there; the same for further pieces.
 * What can fail: the window cannot be opened: the job ends; it is being stopped meanwhile.
 */
#include "lib/rt/volpex/requests.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"
#include "lib/shm/barrier.h"

#define AGENT_CHECK_MS 500
#define SPIN_PAUSE     1024 /* requests without spinning after some that had to sleep, at most */

static unsigned char *window; /* of this process; NULL: not accessible yet */
static uint64_t finished;     /* calls that are over, which have the numbers 1 to this one */

static void open_window(const struct bspz_caller *caller)
{
    if (window)
        return;
    window =
        (unsigned char *)bspz_rt.board + bspz_window_offset(&bspz_rt.board->layout, bspz_rt.pid);
    if (mprotect(window, BSPZ_WINDOW_BYTES, PROT_READ | PROT_WRITE) != 0)
        bspz_fail(caller->function, caller->line, caller->file,
                  "cannot open the window of the dataspace: %s", strerror(errno));
}

void bspz_request_forget(void)
{
    window = NULL;
    bspz_request_begin();
}

void bspz_request_begin(void)
{
    bspz_rt.self->request.finished = finished;
    bspz_rt.self->request.alone = bspz_can_be_alone();
    bspz_rt.self->request.puts_back = BSPZ_PUTS_NOTHING_BACK;
    bspz_rt.self->request.at_calls = bspz_rt.safe_calls ? bspz_call_of_end() : 0;
}

void bspz_request_finish(void)
{
    struct bspz_request *request = &bspz_rt.self->request;

    if (request->number > 0)
        request->finished = finished = request->number;
}

unsigned char *bspz_request_piece(const struct bspz_caller *caller)
{
    open_window(caller);
    return window + BSPZ_TAG_MOST;
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

static bool is_numbered(const struct bspz_request *request)
{
    return request->alone || (bspz_rt.board->flags & BSPZ_BOARD_REPLICAS && !request->puts_back);
}

struct bspz_request *bspz_request_prepare(enum bspz_request_kind kind, const char *tag,
                                          int tag_size, uint64_t size,
                                          const struct bspz_caller *caller)
{
    struct bspz_request *request = &bspz_rt.self->request;

    open_window(caller);
    if (tag_size > 0)
        memcpy(window, tag, (size_t)tag_size);
    request->kind = kind;
    request->tag_size = (uint32_t)tag_size;
    request->size = size;
    request->safe = bspz_has_safe_points();
    request->number = is_numbered(request) ? finished + 1 : 0;
    return request;
}

bool bspz_request_exchange(struct bspz_request *request)
{
    struct bspz_board *board = bspz_rt.board;
    uint32_t state;

    atomic_store(&request->state, BSPZ_REQUEST_POSTED);
    bspz_board_ring_objects(board);
    spin(request);
    while ((state = atomic_load(&request->state)) == BSPZ_REQUEST_POSTED) {
        if (atomic_load(&board->stop))
            bspz_leave();
        bspz_word_wait(&request->state, BSPZ_REQUEST_POSTED, AGENT_CHECK_MS);
        if (atomic_load(&request->state) == BSPZ_REQUEST_POSTED && bspz_agent_gone(board))
            bspz_leave();
    }
    return state == BSPZ_REQUEST_ANSWERED;
}

bool bspz_request_put(const char *tag, int tag_size, const void *data, uint64_t size,
                      const struct bspz_caller *caller)
{
    struct bspz_request *request =
        bspz_request_prepare(BSPZ_REQUEST_PUT, tag, tag_size, size, caller);
    uint64_t done = 0;

    do {
        uint64_t some = size - done < BSPZ_PIECE_MOST ? size - done : BSPZ_PIECE_MOST;

        if (some > 0)
            memcpy(window + BSPZ_TAG_MOST, (const char *)data + done, some);
        request->piece = (uint32_t)some;
        if (!bspz_request_exchange(request))
            return false;
        done += some;
    } while (done < size);
    bspz_request_finish();
    return true;
}
