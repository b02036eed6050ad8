/* save_restore.c - restores a rank in a fresh process of the program; see lib/shm/snap.h.
 *
 * Runs in a constructor, before the program.  What can fail: the image is damaged, of another
 * program or not for this machine; a file that was open is missing; the agent stops it.  All
 * failures occur before `staged` and are reported to the agent, and nothing outside this process
 * has been touched.
 */
#include "lib/rt/save_restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/capture/capture.h"
#include "lib/rt/save.h"
#include "lib/rt/save_ahead.h"

#define AGENT_CHECK_MS 500

struct order {
    int pid;
    struct bspz_image_name name;
    struct bspz_image_source sources[BSPZ_IMAGE_CHAIN_MAX];
    uint32_t count;
};

static bool read_digest(const char *text, uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE])
{
    for (unsigned i = 0; i < BSPZ_IMAGE_DIGEST_SIZE; i++) {
        unsigned byte;

        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        digest[i] = (uint8_t)byte;
    }
    return true;
}

static bool read_order(const char *value, struct order *order)
{
    char digest[2 * BSPZ_IMAGE_DIGEST_SIZE + 1] = "";
    unsigned long long superstep;
    int used = 0;

    memset(order, 0, sizeof *order);
    if (sscanf(value, "%d:%u:%llu:%u:%32[0-9a-f]:%n", &order->pid, &order->name.pid, &superstep,
               &order->name.term, digest, &used) != 5 ||
        used == 0 || strlen(digest) != 2 * BSPZ_IMAGE_DIGEST_SIZE ||
        !read_digest(digest, order->name.digest))
        return false;
    order->name.superstep = superstep;
    for (const char *at = value + used; *at && order->count < BSPZ_IMAGE_CHAIN_MAX;) {
        char *end;
        long fd = strtol(at, &end, 10);

        if (end == at || bspz_restore_source(&order->sources[order->count], (int)fd) != 0)
            return false;
        order->count++;
        at = *end == ',' ? end + 1 : end;
        if (*end && *end != ',')
            return false;
    }
    return order->count > 0 && order->pid >= 0 && order->pid < bspz_rt.nprocs;
}

/* Only the first page is mapped; this process needs its own record, too. */
static void map_record(void)
{
    int nprocs = atomic_load(&bspz_rt.board->nprocs);
    struct bspz_board *board = bspz_board_map_agent(bspz_rt.board_fd, nprocs);

    if (!board || nprocs < 1)
        _exit(1);
    bspz_rt.board = board;
    bspz_rt.nprocs = nprocs;
}

/* What the hooks of the restore share. */
static struct task {
    struct bspz_restore_plan plan;
    struct order order;
    struct bspz_ahead ahead;
} task;

static int staged(void *context)
{
    struct bspz_board *board = bspz_rt.board;

    snprintf(bspz_own_snap()->why, BSPZ_SNAP_WHY, "%s", ((const struct task *)context)->plan.note);
    atomic_store(&bspz_own_snap()->staged, 1);
    bspz_board_ring(board);
    while (!atomic_load(&board->snap_passed)) {
        if (atomic_load(&board->stop) || bspz_agent_gone(board))
            return ECANCELED;
        bspz_word_wait(&board->snap_passed, 0, AGENT_CHECK_MS);
    }
    return 0;
}

static int more(void *context)
{
    struct task *task = context;
    int count = bspz_ahead_more(&task->ahead, task->order.sources, &task->order.name);

    task->plan.chain_count = count > 0 ? (uint32_t)count : 0;
    return count;
}

void bspz_restore(const char *value)
{
    int descriptors[BSPZ_HANDOVER_BOARD + 1 + BSPZ_INHERITED_MAX] = {0, 1, 2, bspz_rt.board_fd};
    static const unsigned char no_job[sizeof bspz_rt.board->snap_order.job];
    struct bspz_restore_plan *plan = &task.plan;
    struct order *order = &task.order;
    struct bspz_handover handover;
    bool is_ahead = bspz_ahead_begin(&task.ahead);
    int error;

    map_record();
    bspz_inherited_note(task.ahead.socket);
    bspz_rt.pid = 0; /* its record is used if the number cannot be read */
    if (!read_order(value, order))
        bspz_restore_failed(EINVAL, "the order to restore a process is not understood");
    bspz_rt.pid = handover.pid = order->pid;
    *plan = (struct bspz_restore_plan){
        .chain = order->sources,
        .chain_count = order->count,
        .expected = {.name = &order->name, .nprocs = (uint32_t)bspz_rt.nprocs},
        .staged = staged,
        .more = is_ahead ? more : NULL,
        .context = &task,
        .binaries = getenv(BSPZ_ENV_BINARIES),
        .elsewhere = getenv(BSPZ_ENV_ELSEWHERE) != NULL,
        .keep_lengths = getenv(BSPZ_ENV_ELSEWHERE) != NULL,
        .job_descriptors = descriptors,
        .job_count = BSPZ_HANDOVER_BOARD + 1 +
                     (uint32_t)bspz_inherited_list(&descriptors[BSPZ_HANDOVER_BOARD + 1], true),
        .common = bspz_rt.board->common_fd,
        .handover = &handover,
        .handover_size = sizeof handover,
    };
    if (memcmp(bspz_rt.board->snap_order.job, no_job, sizeof no_job) != 0)
        plan->expected.job = bspz_rt.board->snap_order.job;
    error = bspz_restore_main(plan);
    bspz_ahead_failed(&task.ahead, -error, plan->why);
    bspz_own_snap()->refused = !plan->image_at_fault;
    bspz_own_snap()->bad_image = plan->image_at_fault ? plan->image_index : 0;
    bspz_restore_failed(-error, plan->why);
}
