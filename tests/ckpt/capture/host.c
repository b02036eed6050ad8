/* host.c - starts restores and writes images, for stand-alone test programs. */
#include "tests/ckpt/capture/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/capture/capture.h"
#include "tests/ckpt/capture/host_copy.h"

#define TABLE_BLOCKS 65536
#define RULES        8

static char handover[4096];
static const int job[] = {0, 1, 2};
static const char *rules[RULES];
static uint32_t rule_count;
static uint64_t superstep;
/* Shared with forked writers, and no part of the image. */
static struct bspz_image_table *tables[2];
static int newest;

static void (*on_write)(void);
static bool write_fails;
static int attempts;                  /* at the last image */
static struct bspz_attributes given;  /* as the agent would say */
static struct bspz_range excluded[3]; /* the tables, and what the agent shares */

static void exclude_tables(void)
{
    size_t bytes = (bspz_image_table_size(TABLE_BLOCKS) + 4095) & ~(size_t)4095;

    for (int i = 0; i < 2; i++) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        tables[i] = at == MAP_FAILED ? NULL : at;
        tables[i]->capacity = TABLE_BLOCKS;
        excluded[i].start = (uint64_t)(uintptr_t)at;
        excluded[i].end = excluded[i].start + bytes;
    }
}

void host_exclude(const void *at, size_t bytes)
{
    excluded[2].start = (uint64_t)(uintptr_t)at;
    excluded[2].end = excluded[2].start + bytes;
}

static int write_all(void *context, const void *bytes, size_t size)
{
    int fd = *(int *)context;

    if (write_fails)
        return -EIO;
    if (on_write)
        on_write();
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0)
            return -errno;
        bytes = (const char *)bytes + written;
        size -= (size_t)written;
    }
    return 0;
}

void host_on_write(void (*function)(void))
{
    on_write = function;
}

void host_options(struct bspz_capture_options *options)
{
    if (!tables[0])
        exclude_tables();
    *options = (struct bspz_capture_options){
        .excluded = excluded,
        .excluded_count = 3,
        .job_descriptors = job,
        .job_count = 3,
        .rules = rules,
        .rule_count = rule_count,
        .initial = &given,
        .untracked = getenv("CAPTURE_UNTRACKED") != NULL,
    };
}

static _Noreturn void refuse(const char *why)
{
    fprintf(stderr, "refused: %s\n", why);
    exit(3);
}

/* What is no part of the process has not been taken by what is, nor by the restore. */
static void check_apart(void)
{
    size_t bytes = excluded[2].end - excluded[2].start;
    void *wanted = (void *)(uintptr_t)excluded[2].start;

    if (bytes == 0)
        return;
    if (mmap(wanted, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted) {
        fprintf(stderr, "an excluded range is taken\n");
        exit(6);
    }
    munmap(wanted, bytes);
}

static int open_image(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 900);

    if (high < 0) {
        perror(path);
        exit(4);
    }
    close(fd);
    return high;
}

static void options_with(struct bspz_capture_options *options, int with_image[4], int image)
{
    memcpy(with_image, job, sizeof job);
    with_image[3] = image;
    host_options(options);
    options->job_descriptors = with_image;
    options->job_count = 4;
}

static void fill_plan(struct bspz_capture_plan *plan, int *image, int increment)
{
    plan->image.write = write_all;
    plan->image.context = image;
    plan->image.compress = true;
    plan->image.header.superstep = ++superstep;
    plan->image.header.nprocs = 1;
    plan->image.next = tables[!newest];
    if (increment)
        plan->image.base = tables[newest];
    plan->handover = handover;
    plan->handover_room = sizeof handover;
}

/* That is the part of the agent that the program plays itself. */
void host_adopts(void)
{
    given.word[BSPZ_WORD_SUBREAPER] = 1;
}

void host_initial_now(void)
{
    bspz_attributes_initial(&given);
}

static int come_back(const struct bspz_capture_plan *plan)
{
    char why[BSPZ_WHY_SIZE];

    check_apart();
    exclude_tables();
    host_exclude(NULL, 0);
    newest = 0;
    if (bspz_attributes_finish(&plan->attributes, why) != 0) {
        fprintf(stderr, "not completed: %s\n", why);
        exit(7);
    }
    bspz_attributes_put_affinity(&plan->attributes);
    return 1;
}

static int snapshot(const char *path, struct host_agent *agent, int increment)
{
    struct bspz_capture_plan plan = {0};
    struct bspz_copy_hooks hooks;
    int image = open_image(path), with_image[4], result;

    options_with(&plan.options, with_image, image);
    fill_plan(&plan, &image, increment);
    if (agent) {
        host_agent_hooks(agent, &hooks);
        plan.forked = &hooks;
    }
    plan.guess = getenv("CAPTURE_GUESS") != NULL;
    plan.file = image;
    attempts = 1;
    result = bspz_capture_write(&plan);
    if (result == -EAGAIN && plan.guess && ftruncate(image, 0) == 0 &&
        lseek(image, 0, SEEK_SET) == 0) {
        attempts++;
        result = bspz_capture_write(&plan);
    }
    if (result < 0 && write_fails) {
        close(image);
        return result;
    }
    if (result < 0)
        refuse(plan.why);
    if (result == 1)
        return come_back(&plan);
    newest = !newest;
    close(image);
    return 0;
}

int host_freeze_and_snapshot(const char *path, struct bspz_freeze_plan *freeze,
                             const struct bspz_copy_hooks *writer)
{
    struct bspz_capture_plan plan = {.forked = writer};
    int image = open_image(path), with_image[4], result;

    options_with(&freeze->options, with_image, image);
    fill_plan(&plan, &image, 0);
    freeze->image = &plan;
    result = bspz_copy_freeze(freeze);
    if (result < 0)
        refuse(freeze->why);
    if (result == 2)
        return come_back(&plan) + 1;
    newest = !newest;
    close(image);
    return result;
}

int host_attempts(void)
{
    return attempts;
}

int host_snapshot(const char *path)
{
    return snapshot(path, NULL, 0);
}

int host_snapshot_increment(const char *path)
{
    return snapshot(path, NULL, 1);
}

void host_snapshot_fails(const char *path)
{
    write_fails = true;
    if (snapshot(path, NULL, 1) >= 0)
        refuse("an image was written that could not be");
    write_fails = false;
}

int host_snapshot_forked_start(const char *path, struct host_agent *agent)
{
    return snapshot(path, agent, 0);
}

int host_snapshot_forked(const char *path)
{
    struct host_agent *agent = host_agent_start();
    int result = snapshot(path, agent, 0);

    if (result == 0 && host_agent_wait(agent) != 0)
        refuse("the forked writer failed");
    return result;
}

const char *host_refusal(void)
{
    static char why[BSPZ_WHY_SIZE];
    struct bspz_capture_options options;
    int error;

    host_options(&options);
    error = bspz_capture_check(&options, why);
    if (error && error != -EBUSY) {
        fprintf(stderr, "not refused, but: %s\n", why);
        exit(4);
    }
    return error ? why : NULL;
}

void host_rule(const char *rule)
{
    if (rule_count == RULES)
        refuse("too many rules");
    rules[rule_count++] = rule;
}

const char *host_handover(void)
{
    return handover;
}

/* Opens the images of a list.  Returns their number. */
static uint32_t open_chain(char *list, struct bspz_image_source sources[BSPZ_IMAGE_CHAIN_MAX])
{
    uint32_t count = 0;
    char *save = NULL;

    for (char *path = strtok_r(list, ":", &save); path; path = strtok_r(NULL, ":", &save)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0 || bspz_restore_source(&sources[count++], fd) != 0) {
            perror(path);
            exit(4);
        }
    }
    return count;
}

static struct bspz_image_source restore_sources[BSPZ_IMAGE_CHAIN_MAX];
static char *more_lists; /* those of CAPTURE_MORE that have not come yet */

static int more(void *context)
{
    struct bspz_restore_plan *plan = context;
    char *list = strsep(&more_lists, "|");

    plan->chain_count = list ? open_chain(list, restore_sources) : 0;
    return (int)plan->chain_count;
}

__attribute__((constructor)) static void restore_if_asked(void)
{
    const char *chain = getenv("CAPTURE_RESTORE"), *text = getenv("CAPTURE_HANDOVER");
    struct bspz_restore_plan plan = {
        .chain = restore_sources, .job_descriptors = job, .job_count = 3};

    host_initial_now();
    if (!chain)
        return;
    plan.chain_count = open_chain(strdup(chain), restore_sources);
    plan.context = &plan;
    if (getenv("CAPTURE_MORE")) {
        more_lists = strdup(getenv("CAPTURE_MORE"));
        plan.more = more;
    }
    plan.handover = text ? text : "";
    plan.handover_size = strlen(plan.handover) + 1;
    plan.other_kernel = getenv("CAPTURE_OTHER") != NULL;
    plan.binaries = getenv("CAPTURE_BINARIES");
    plan.elsewhere = plan.keep_lengths = getenv("CAPTURE_ELSEWHERE") != NULL;
    bspz_restore_main(&plan);
    fprintf(stderr, "not restored: %s\n", plan.why);
    exit(5);
}
