/* calls.c - the calls of volpex.h, each of which is a safe point of a program that begins with
 * volpex_init.  Wrong use has no effect. */
#include <string.h>

#include "include/bsp.h"
#include "include/volpex.h"
#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"
#include "lib/rt/volpex/requests.h"

#define OBJECT_MOST (1 << 30)

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

/* ---- Operations ------------------------------------------------------------------------------ */

static void stop_if_wanted(const struct bspz_caller *caller)
{
    while (bspz_safe_point_is_wanted())
        bspz_safe_point(caller->line, caller->file);
    if (bspz_own_is_wanted())
        bspz_save_own();
}

static void begin(enum bspz_call call, const struct bspz_caller *caller)
{
    bspz_note(call, bspz_here(caller->file, caller->line));
    stop_if_wanted(caller);
}

int volpex_put_cpp(const char *tag, int tagSize, const void *data, int dataSize, int line,
                   const char *file)
{
    const struct bspz_caller caller = {"volpex_put", line, file};
    const char *wrong = fault(tag, tagSize, data, dataSize);

    if (wrong) {
        bspz_warn("volpex_put", line, file, "%s", wrong);
        return -1;
    }
    begin(BSPZ_CALL_VOLPEX_PUT, &caller);
    while (!bspz_request_put(tag, tagSize, data, (uint64_t)dataSize, &caller))
        stop_if_wanted(&caller);
    return dataSize;
}

/* Posts a get or read until something is granted: before that it is withdrawn when a safe point is
 * wanted. */
static struct bspz_request *wait_for_object(enum bspz_request_kind kind, const char *tag,
                                            int tag_size, int room,
                                            const struct bspz_caller *caller)
{
    for (;;) {
        struct bspz_request *request =
            bspz_request_prepare(kind, tag, tag_size, (uint64_t)room, caller);

        if (bspz_request_exchange(request))
            return request;
        if (!(bspz_rt.board->flags & BSPZ_BOARD_REPLICAS))
            request->behind = request->finished; /* who waits has caught up */
        stop_if_wanted(caller);
    }
}

static int fetch(enum bspz_request_kind kind, const char *tag, int tagSize, void *data,
                 int dataSize, int line, const char *file)
{
    const char *function = kind == BSPZ_REQUEST_GET ? "volpex_get" : "volpex_read";
    const struct bspz_caller caller = {function, line, file};
    const char *wrong = fault(tag, tagSize, data, dataSize);
    struct bspz_request *request;
    uint64_t done = 0;

    if (wrong) {
        bspz_warn(function, line, file, "%s", wrong);
        return -1;
    }
    begin(kind == BSPZ_REQUEST_GET ? BSPZ_CALL_VOLPEX_GET : BSPZ_CALL_VOLPEX_READ, &caller);
    request = wait_for_object(kind, tag, tagSize, dataSize, &caller);
    for (;;) {
        if (request->piece > 0)
            memcpy((char *)data + done, bspz_request_piece(&caller), request->piece);
        done += request->piece;
        if (done >= request->size) {
            bspz_request_finish();
            return (int)done;
        }
        bspz_request_exchange(request);
    }
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

/* Any process may be the first of its host, also one that has not used the dataspace itself. */
BSPZ_BEFORE_PROGRAM static void take_part(void)
{
    bspz_plane_use(&bspz_objects);
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
    bspz_safe_points_begin();
    bsp_begin_cpp(0, line, file);
    bspz_request_begin();
    return 0;
}

void volpex_finalize_cpp(int line, const char *file)
{
    if (bspz_rt.life == BSPZ_LIFE_SPMD || bspz_rt.life == BSPZ_LIFE_LEAVING)
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
