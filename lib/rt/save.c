/* save.c - saves the state of a rank, and resumes from it.
 *
 * Happy path: the state in shared memory is copied -> a frozen copy, if the agent wants one -> the
 * image, by a copy of that copy or of the rank, or by the rank itself -> recorded -> resumed.  A
 * thawed copy returns from the second step, a restored process from the second or third: they
 * restore everything, set READY and run.  What can fail: something cannot be captured, no memory or
 * process (then the rank does without copies), the image file.  The agent is informed and decides.
 */
#include "lib/rt/save.h"
#include "lib/base/io.h"
#include "lib/rt/reserve.h"
#include "lib/rt/safe_point.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/capture/capture.h"
#include "ckpt/capture/share.h"
#include "ckpt/format/image.h"
#include "lib/rt/save_restore.h"

#define RULES_MAX        256u
#define AGENT_CHECK_MS   500
#define KEPT_MAX         512
#define FIRST_DESCRIPTOR 512 /* of the image: above the program's */

static struct bspz_capture_plan plan;
static struct bspz_freeze_plan freeze_plan;
static int image;        /* the descriptor of the image being written */
static bool just_frozen; /* this process has made a frozen copy at this barrier */
static struct bspz_handover handover;
static struct bspz_range excluded;
static int job_descriptors[BSPZ_JOB_DESCRIPTORS];
_Static_assert(BSPZ_INHERITED_MAX + BSPZ_RELAYS + 2 <= BSPZ_JOB_DESCRIPTORS, "all have a place");
static const char *rules[RULES_MAX];
static struct bspz_common *common; /* memory shared by all ranks of the host */
static uint32_t common_count;
static struct bspz_range *kept; /* the parts of the agent's file that replace it */
static uint32_t kept_count;

static struct bspz_snap_order *order(void)
{
    return &bspz_rt.board->snap_order;
}

/* ---- What is no part of the state ---------------------------------------------------------- */

/* By the user, or a test: the same variable in all processes, which have the environment of
 * process 0. */
static bool is_untracked(void)
{
    const char *value = getenv("BSPZERO_TRACK");

    return value && strcmp(value, "off") == 0;
}

static void fill_options(struct bspz_capture_options *options, int descriptor)
{
    uint32_t bytes = order()->rules_bytes;
    uint32_t count = (uint32_t)bspz_inherited_list(job_descriptors, false);

    job_descriptors[count++] = bspz_rt.board_fd;
    count += (uint32_t)bspz_stdio_relays(&job_descriptors[count]);
    if (descriptor >= 0)
        job_descriptors[count++] = descriptor;
    excluded.start = (uint64_t)(uintptr_t)bspz_rt.board;
    excluded.end = excluded.start + ((bspz_rt.board->layout.total + 4095) & ~UINT64_C(4095));
    *options = (struct bspz_capture_options){.excluded = &excluded,
                                             .excluded_count = 1,
                                             .job_descriptors = job_descriptors,
                                             .job_count = count,
                                             .rules = rules,
                                             .common = common,
                                             .common_count = common_count,
                                             .initial = (const void *)bspz_rt.board->initial,
                                             .bound = bspz_rt.bound,
                                             .keeps_common = bspz_rt.pid == 0,
                                             .kept = kept,
                                             .kept_count = kept_count,
                                             .untracked = is_untracked() || order()->own,
                                             .lose_descriptors = order()->lose};
    for (uint32_t at = 0; at < bytes && at < BSPZ_SNAP_RULES && options->rule_count < RULES_MAX;
         at += (uint32_t)strnlen(&order()->rules[at], BSPZ_SNAP_RULES - at) + 1)
        rules[options->rule_count++] = &order()->rules[at];
}

/* ---- Tables of blocks ---------------------------------------------------------------------- */

static struct bspz_image_table *table_of(int pid, int which)
{
    const struct bspz_layout *layout = &bspz_rt.board->layout;
    uint64_t offset = layout->blocks + (2 * (uint64_t)pid + (uint64_t)which) * layout->blocks_bytes;

    return (struct bspz_image_table *)((char *)bspz_rt.board + offset);
}

static bool is_base(const struct bspz_image_table *table)
{
    return order()->base.term > 0 &&
           bspz_snapshot_same(bspz_image_snapshot(&table->image), order()->base) &&
           bspz_image_may_extend(table);
}

/* The tables are accessible while a snapshot is taken, and in its writer. */
static bool open_tables(bool open)
{
    return bspz_reserve_table(table_of(0, 0), open) == 0 &&
           bspz_reserve_table(table_of(bspz_rt.pid, 0), open) == 0 &&
           bspz_reserve_table(table_of(bspz_rt.pid, 1), open) == 0;
}

/* An increment's base is the newest committed image of this rank; that of the first, snapshot 0. */
static void choose_tables(struct bspz_image_config *config)
{
    const struct bspz_image_table *base = NULL;
    struct bspz_image_table *next;

    /* An image of this process alone is full, and the next ones do not build on it. */
    if (order()->own || !open_tables(true))
        return;
    if (is_base(table_of(0, 0)) && order()->base.superstep == 0)
        base = table_of(0, 0);
    for (int which = 0; which < 2; which++)
        if (is_base(table_of(bspz_rt.pid, which)))
            base = table_of(bspz_rt.pid, which);
    next = table_of(bspz_rt.pid, base == table_of(bspz_rt.pid, 0));
    next->usable = 0;
    next->capacity = (bspz_rt.board->layout.blocks_bytes - sizeof *next) / BSPZ_IMAGE_TABLE_ENTRY;
    config->base = base;
    config->next = next;
}

/* ---- The image ----------------------------------------------------------------------------- */

/* Runs in the writer, which may be this process itself: must not modify its state. */
static int write_bytes(void *context, const void *bytes, size_t size)
{
    return bspz_write_all(*(const int *)context, bytes, size);
}

static void report(uint64_t superstep, int error, const char *why)
{
    struct bspz_snap *snap = bspz_own_snap();

    snap->error = error;
    if (error)
        snprintf(snap->why, sizeof snap->why, "%s", why);
    atomic_store(&snap->written, superstep + 1);
    bspz_board_ring(bspz_rt.board);
}

static void finished(void *context, int error, const struct bspz_image_written *written,
                     const char *why)
{
    struct bspz_snap *snap = bspz_own_snap();
    const struct bspz_image_table *base = plan.image.base;

    /* This writer was abandoned, and another one has the record now. */
    if (plan.image.header.superstep != order()->name.superstep ||
        plan.image.header.term != order()->name.term)
        return;
    if (!error && !order()->own && fsync(*(const int *)context) != 0) {
        error = -errno;
        why = "the image cannot be made durable";
    }
    if (!error) {
        snap->facts =
            (struct bspz_image_facts){.size = written->length, .changed = written->raw_bytes};
        memcpy(snap->facts.digest, written->name.digest, sizeof snap->facts.digest);
        if (base) {
            snap->facts.generation = base->generation + 1;
            snap->facts.base = base->image;
        }
    }
    report(plan.image.header.superstep, -error, why);
}

static int open_image(char *why, size_t size)
{
    char path[sizeof order()->path_start + sizeof order()->path_end + 16];
    int fd, moved, flags = O_CREAT | O_EXCL | O_NOFOLLOW;

    if (order()->own) {
        snprintf(path, sizeof path, "%s", order()->path_start);
        flags = 0;
    } else {
        snprintf(path, sizeof path, "%s%d%s", order()->path_start, bspz_rt.pid, order()->path_end);
    }
    fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
    if (fd < 0) {
        snprintf(why, size, "%.300s: %s", path, strerror(errno));
        return -errno;
    }
    if (!order()->own)
        fchmod(fd, 0600); /* the program's umask must not matter */
    moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

static void fill_plan(void)
{
    static struct bspz_copy_hooks hooks;
    struct bspz_image_header *header = &plan.image.header;

    memset(&plan, 0, sizeof plan);
    bspz_writer_hooks(&hooks);
    fill_options(&plan.options, image);
    plan.image.write = write_bytes;
    plan.image.context = &image;
    plan.image.compress = order()->compress != 0;
    plan.share = (enum bspz_writer_share)order()->share;
    plan.guess = plan.share == BSPZ_SHARE_EQUAL && !order()->forked;
    plan.file = image;
    plan.just_frozen = just_frozen;
    memcpy(header->job, order()->job, sizeof header->job);
    header->superstep = order()->name.superstep;
    header->term = order()->name.term;
    header->pid = (uint32_t)bspz_rt.pid;
    header->nprocs = (uint32_t)bspz_rt.nprocs;
    header->created = order()->created;
    header->libbsp_version = BSPZ_LIBRARY_VERSION;
    choose_tables(&plan.image);
    plan.finished = finished;
    plan.finished_context = &image;
    plan.forked = order()->forked ? &hooks : NULL;
    plan.handover = &handover;
    plan.handover_room = sizeof handover;
}

/* A process that has dropped privileges can often not open the image either: that is the better
 * message. */
static bool name_refusal(char why[BSPZ_SNAP_WHY])
{
    struct bspz_capture_options options;
    char text[BSPZ_WHY_SIZE];

    fill_options(&options, -1);
    if (bspz_capture_check(&options, text) != -EBUSY)
        return false;
    snprintf(why, BSPZ_SNAP_WHY, "%s", text);
    return true;
}

/* False: there is no place for the image; the failure is reported. */
static bool begin_image(void)
{
    char why[BSPZ_SNAP_WHY];
    bool refused;

    bspz_own_snap()->refused = 0;
    image = open_image(why, sizeof why);
    if (image < 0) {
        refused = name_refusal(why);
        bspz_own_snap()->refused = refused;
        report(order()->name.superstep, refused ? EBUSY : -image, why);
        return false;
    }
    fill_plan();
    return true;
}

/* Only the first of several possible writers writes. */
static int write_image(void)
{
    if (lseek(image, 0, SEEK_CUR) == 0)
        return bspz_capture_write(&plan);
    snprintf(plan.why, sizeof plan.why, "another process has written to the image");
    return -EIO;
}

/* 0: the image is written, will be, or its failure is reported; 1 in a process restored from it. */
static int save_image(void)
{
    struct bspz_snap *snap = bspz_own_snap();
    int result = write_image();

    if (result == -EAGAIN && !plan.forked && ftruncate(image, 0) == 0 &&
        lseek(image, 0, SEEK_SET) == 0)
        result = write_image();
    if (result < 0 && result != -EBUSY && plan.forked) {
        snap->fell_back = 1;
        plan.forked = NULL;
        plan.why[0] = '\0';
        result = write_image();
    }
    if (result == 1)
        return 1;
    close(image);
    if (result < 0 && atomic_load(&snap->written) != order()->name.superstep + 1) {
        snap->refused = result == -EBUSY;
        report(order()->name.superstep, -result, plan.why);
    }
    return 0;
}

/* ---- Coming back --------------------------------------------------------------------------- */

BSPZ_NORETURN void bspz_restore_failed(int error, const char *why)
{
    struct bspz_snap *snap = bspz_own_snap();

    snap->error = error;
    snprintf(snap->why, sizeof snap->why, "%s", why);
    atomic_store(&snap->staged, 2);
    bspz_board_ring(bspz_rt.board);
    _exit(1);
}

/* The board is not mapped yet: the agent can learn of a failure only by the exit. */
static void attach(void)
{
    if (plan.handover_size != sizeof handover || plan.job_count <= BSPZ_HANDOVER_BOARD ||
        bspz_state_attach(plan.job_descriptors[BSPZ_HANDOVER_BOARD]) != 0)
        _exit(1);
    bspz_rt.pid = handover.pid;
    bspz_inherited_note(-1);
    bspz_stdio_forget_terminal();
}

/* Attributes such as limits come last, as they might hinder the rest. */
static void resume_rank(bool restored)
{
    const struct bspz_attributes *was = restored ? &plan.attributes : &freeze_plan.attributes;
    char why[BSPZ_WHY_SIZE];
    int error = bspz_state_put_back();

    if (error)
        bspz_restore_failed(error, "no memory for the communication of the process");
    bspz_join_agent();
    error = restored ? bspz_attributes_finish(was, why) : 0;
    if (error)
        bspz_restore_failed(-error, why);
    bspz_attributes_put_affinity(was);
    error = bspz_planes_put_back();
    if (error)
        bspz_restore_failed(error, "what the process kept of its communication cannot be put back");
    bspz_wait_to_run();
}

void bspz_save_complete(void)
{
    char why[BSPZ_WHY_SIZE];

    if (bspz_attributes_finish(&plan.attributes, why) != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "%s", why);
    bspz_attributes_put_affinity(&plan.attributes);
}

enum saved {
    SAVED,    /* this is the saved process */
    COPIED,   /* ... and has a frozen copy, but no image yet */
    THAWED,   /* this is the copy, or the rank that is its own */
    RESTORED, /* this is the process restored from the image */
};

/* Nothing has to be put back in a rank that is its own copy, but by this. */
static void note_attributes(void)
{
    char why[BSPZ_WHY_SIZE];

    memset(&freeze_plan, 0, sizeof freeze_plan);
    bspz_attributes_read(&freeze_plan.attributes);
    bspz_attributes_compare(&freeze_plan.attributes, (const void *)bspz_rt.board->initial,
                            bspz_rt.bound, why);
}

/* With an image: the copy has it written, so that this process is delayed by one fork only. */
static enum saved make_frozen_copy(bool with_image)
{
    struct bspz_snap *snap = bspz_own_snap();
    pid_t original = getpid();
    int result;

    memset(&freeze_plan, 0, sizeof freeze_plan);
    fill_options(&freeze_plan.options, with_image ? image : -1);
    bspz_frozen_hooks(&freeze_plan.hooks);
    freeze_plan.image = with_image ? &plan : NULL;
    freeze_plan.exact = !with_image;
    result = bspz_copy_freeze(&freeze_plan);
    if (result == 2)
        return RESTORED;
    if (result < 0 && getpid() != original) /* thawed, but something could not be restored */
        bspz_restore_failed(-result, freeze_plan.why);
    if (result < 0 && result != -EBUSY)
        snap->fell_back = 1;
    just_frozen = result == 0;
    if (with_image && result >= 0)
        close(image);
    return result == 1 ? THAWED : result == 0 && with_image ? SAVED : COPIED;
}

static enum saved save(bool stays)
{
    bool copy = atomic_load(&bspz_own_snap()->copy_slot) >= 0;
    enum saved saved = COPIED;

    just_frozen = false;
    /* What this process writes itself must not be in the copy. */
    if (copy && !order()->forked && !stays)
        saved = make_frozen_copy(false);
    if (saved == THAWED || !begin_image())
        return saved;
    if (copy && order()->forked)
        saved = make_frozen_copy(true);
    return saved != COPIED ? saved : save_image() == 1 ? RESTORED : SAVED;
}

/* Shared memory of the program changes until every process has applied its communication.  So
 * process 0 saves it when all have.  False: the job is ended. */
static bool settle(void)
{
    uint32_t now = (uint32_t)(bspz_rt.superstep + 1);

    if (kept_count == 0)
        return true;
    bspz_word_set(&bspz_own_snap()->settled, now);
    for (int pid = 1; pid < bspz_rt.nprocs && bspz_rt.pid == 0; pid++) {
        _Atomic uint32_t *other = &bspz_snap_of(bspz_rt.board, bspz_rt.nprocs, pid)->settled;
        uint32_t there;

        while ((there = atomic_load(other)) != now) {
            if (atomic_load(&bspz_rt.board->stop) || bspz_agent_gone(bspz_rt.board))
                return false;
            bspz_word_wait(other, there, AGENT_CHECK_MS);
        }
    }
    return true;
}

/* All have recorded their state when the ranks go on. */
static void tell_recorded(uint64_t superstep, uint64_t begun_ns)
{
    struct bspz_snap *snap = bspz_own_snap();

    snap->pause_ns = bspz_now_ns() - begun_ns;
    atomic_store(&snap->recorded, superstep + 1);
    bspz_board_ring(bspz_rt.board);
}

/* Returns whether it is the rank of the next term. */
static bool stay(uint64_t superstep, uint64_t begun_ns)
{
    enum bspz_stayed stayed;

    note_attributes();
    bspz_own_snap()->page_copy_ns = 0;
    tell_recorded(superstep, begun_ns);
    stayed = bspz_stay_wait();
    if (stayed == BSPZ_STAYED_IN_VAIN)
        bspz_leave();
    if (stayed == BSPZ_STAYED_IN_TERM) {
        bspz_planes_drop();
        bspz_state_drop();
    }
    return stayed == BSPZ_STAYED;
}

void bspz_save_superstep(void)
{
    struct bspz_snap *snap = bspz_own_snap();
    uint64_t superstep = bspz_rt.superstep, begun = bspz_now_ns();
    enum saved saved = SAVED;
    const char *what = "no memory to keep unread messages";
    bool stays = bspz_may_stay();
    int error;

    bspz_release_pool();
    error = bspz_state_keep();
    if (!error) {
        error = bspz_planes_keep();
        what = "no memory to keep the objects of the dataspace";
    }
    if (!settle())
        bspz_leave();
    if (error)
        report(order()->name.superstep, error, what);
    else
        saved = save(stays);
    if (saved == RESTORED)
        attach();
    if (saved == SAVED || saved == COPIED)
        open_tables(false);
    stays = stays && saved == SAVED && !error && bspz_stay_begin();
    if (stays && !stay(superstep, begun))
        return;
    if (stays || saved == RESTORED || saved == THAWED) {
        resume_rank(saved == RESTORED);
        return;
    }
    snap->page_copy_ns = error ? 0 : bspz_state_probe_ns();
    bspz_planes_drop();
    bspz_state_drop();
    tell_recorded(superstep, begun);
    if (bspz_resume_wait(bspz_rt.board, superstep) != BSPZ_WAIT_DONE)
        bspz_leave();
}

/* ---- Of this process alone ------------------------------------------------------------------- */

/* What it has written before must be told apart from what it writes after. */
static void wait_for_agent(void)
{
    struct bspz_board *board = bspz_rt.board;
    _Atomic uint32_t *own = &bspz_rt.self->own;

    bspz_word_set(own, BSPZ_OWN_RECORDED);
    bspz_board_ring(board);
    while (atomic_load(own) == BSPZ_OWN_RECORDED) {
        if (atomic_load(&board->stop))
            bspz_leave();
        bspz_word_wait(own, BSPZ_OWN_RECORDED, AGENT_CHECK_MS);
        if (atomic_load(own) == BSPZ_OWN_RECORDED && bspz_agent_gone(board))
            bspz_leave();
    }
}

void bspz_save_own(void)
{
    int errno_before = errno, error;

    if (!bspz_word_move(&bspz_rt.self->own, BSPZ_OWN_WANTED, BSPZ_OWN_BEGUN))
        return; /* no longer */
    bspz_release_pool();
    bspz_stdio_flush_output();
    just_frozen = false;
    error = bspz_state_keep();
    if (error) {
        report(order()->name.superstep, error, "no memory to keep the state of the process");
    } else if (begin_image() && save_image() == 1) {
        attach();
        resume_rank(true);
        errno = errno_before;
        return;
    }
    bspz_state_drop();
    wait_for_agent();
    errno = errno_before;
}

bool bspz_can_be_alone(void)
{
    return bspz_has_safe_points() && bspz_rt.board->flags & BSPZ_BOARD_ALONE &&
           !(bspz_rt.board->flags & BSPZ_BOARD_REPLICAS) && !bspz_rt.has_mail && !bspz_rt.tracing &&
           common_count == 0 && kept_count == 0;
}

/* All ranks will share the files that are open now.  If the agent does not get them, a restore
 * reopens them for each rank separately. */
static void hand_on_files(void)
{
    struct bspz_capture_options options = {0};
    char why[BSPZ_WHY_SIZE];
    int socket = bspz_rt.board->share_fd;

    if (socket <= 0)
        return;
    fill_options(&options, socket);
    bspz_share_give(socket, &options, why);
    close(socket);
    bspz_rt.board->share_fd = 0;
}

static void *table_for(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}

/* Only on a single host, where all ranks can map it. */
static void take_common(const struct bspz_capture_options *options, char why[BSPZ_WHY_SIZE])
{
    int count;

    kept = table_for(KEPT_MAX * sizeof *kept);
    if (!kept || bspz_rt.board->common_fd <= 0 || bspz_rt.board->flags & BSPZ_BOARD_HOSTS)
        return;
    count = bspz_common_take(options, bspz_rt.board->common_fd, kept, KEPT_MAX, why);
    if (count < 0 && count != -EBUSY)
        bspz_fail("bsp_begin", bspz_rt.begin_line, bspz_rt.begin_file, "%s", why);
    kept_count = count > 0 ? (uint32_t)count : 0;
}

/* Notes the memory mapped shared now, which all ranks will share. 0, or a negative errno and
 * `why`. */
static int note_common(char why[BSPZ_WHY_SIZE])
{
    struct bspz_capture_options options = {0};
    int count;

    if (bspz_rt.nprocs == 1)
        return 0;
    fill_options(&options, bspz_rt.board->common_fd);
    count = bspz_common_list(&options, NULL, 0, why);
    if (count <= 0)
        return count;
    take_common(&options, why);
    if (kept_count > 0) /* else a snapshot is refused because of it */
        return 0;
    common = table_for((size_t)count * sizeof *common);
    if (!common) {
        snprintf(why, BSPZ_WHY_SIZE, "no memory to list %d areas of shared memory", count);
        return -ENOMEM;
    }
    count = bspz_common_list(&options, common, (uint32_t)count, why);
    common_count = count > 0 ? (uint32_t)count : 0;
    return count < 0 ? count : 0;
}

static void close_common(void)
{
    if (bspz_rt.board->common_fd > 0)
        close(bspz_rt.board->common_fd);
}

bool bspz_save_start(void)
{
    char why[BSPZ_WHY_SIZE];
    int error;

    bspz_release_pool();
    bspz_state_note_layout();
    hand_on_files();
    if (order()->name.term == 0) /* the agent has no place for it, and has reported that */
        return false;
    error = note_common(why);
    close_common();
    if (error)
        report(order()->name.superstep, -error, why);
    if (error || !begin_image() || save_image() != 1) {
        open_tables(false);
        return false;
    }
    attach();
    return true;
}
