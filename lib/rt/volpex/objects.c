/* objects.c - the objects of the dataspace in a snapshot.
 *
 * The first rank of each host takes all objects of its host over from the agent into private
 * memory, which is part of its image; a restored one puts them again, wherever their tags belong
 * now.  So they are committed, copied to other hosts and checked like the processes.
 *
 * No request is in progress then: processes that wait in a get or read have taken it back, and post
 * it again after the snapshot, or in the restored process.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/kept.h"
#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"
#include "lib/rt/volpex/requests.h"

static const struct bspz_caller caller = {"volpex_put", 0, "snapshot"};
static struct {
    char *memory;
    uint64_t bytes;
} kept;

static void drop(void)
{
    if (kept.memory)
        munmap(kept.memory, kept.bytes);
    kept.memory = NULL;
    kept.bytes = 0;
}

/* The first piece says how many bytes there are: 0 or an errno value. */
static int make_room(uint64_t bytes)
{
    void *memory;

    if (bytes == UINT64_MAX)
        return ENOMEM;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    kept.memory = memory;
    kept.bytes = bytes;
    return 0;
}

/* The agent need not have them ready any longer.  Returns the error. */
static int take_no_more(struct bspz_request *request, int error)
{
    request->size = UINT64_MAX;
    bspz_request_exchange(request);
    return error;
}

static int keep(void)
{
    struct bspz_request *request;
    uint64_t done = 0;
    int error = 0;

    drop(); /* of a snapshot from which this process was restored, or that failed */
    if (bspz_rt.pid != bspz_rt.board->first_here || !bspz_rt.board->snap_order.objects)
        return 0;
    request = bspz_request_prepare(BSPZ_REQUEST_KEEP, NULL, 0, 0, &caller);
    do {
        request->size = done;
        bspz_request_exchange(request);
        if (done == 0 && request->size > 0)
            error = make_room(request->size);
        if (error || kept.bytes == 0)
            return error ? take_no_more(request, error) : 0;
        memcpy(kept.memory + done, bspz_request_piece(&caller), request->piece);
        done += request->piece;
    } while (done < kept.bytes);
    return 0;
}

static int put_back(void)
{
    uint64_t at = 0;

    bspz_request_forget();
    bspz_rt.self->request.puts_back = bspz_can_be_alone() ? BSPZ_PUTS_BACK_ALONE : BSPZ_PUTS_BACK;
    bspz_rt.self->request.alone = 0; /* these are no requests of the program, and have no number */
    /* While one process is restarted alone the objects are where they were. */
    while (at < kept.bytes && !atomic_load(&bspz_rt.self->again)) {
        struct bspz_kept_object object;
        const char *tag;

        memcpy(&object, kept.memory + at, sizeof object);
        tag = kept.memory + at + sizeof object;
        bspz_request_put(tag, (int)object.tag_size, tag + object.tag_size, object.size, &caller);
        at += sizeof object + object.tag_size + object.size;
    }
    bspz_request_begin();
    drop();
    return 0;
}

struct bspz_plane bspz_objects = {.keep = keep, .drop = drop, .put_back = put_back};
