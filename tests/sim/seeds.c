/* seeds.c - see seeds.h.
 *
 * Many jobs run in a child process, which says in shared memory where it is; so a crash or a failed
 * assertion is found like any other failure, and a job can be tried again and again while it is
 * made smaller.
 */
#include "tests/sim/seeds.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHAT_MAX        160u
#define KINDS_MAX       64u
#define COURSES         200u        /* tried with each bound */
#define TRY_SECONDS     20u         /* for all of them */
#define SMALLER_SECONDS 120         /* after that a job is small enough */
#define RETAINED_BYTES  (256 << 20) /* of freed memory */

/* What the child tells. */
static struct told {
    uint64_t seed, course, done;
    char what[WHAT_MAX]; /* "": nothing has failed, or nobody could say */
} * told;

struct kind {
    char what[WHAT_MAX]; /* without its numbers */
    uint64_t count, first;
};

char *seeds_command(const struct seeds_job *job, char text[SEEDS_COMMAND_MAX])
{
    int length = snprintf(text, SEEDS_COMMAND_MAX, "%s --seed %" PRIu64, job->program, job->seed);
    const struct {
        const char *option;
        uint64_t value, none;
    } bounds[] = {{"--hosts", job->hosts, UINT64_MAX},
                  {"--supersteps", job->supersteps, UINT64_MAX},
                  {"--faults", job->faults, UINT64_MAX},
                  {"--course", job->course, 0}};
    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        if (bounds[i].value != bounds[i].none)
            length += snprintf(text + length, SEEDS_COMMAND_MAX - (size_t)length, " %s %" PRIu64,
                               bounds[i].option, bounds[i].value);
    snprintf(text + length, SEEDS_COMMAND_MAX - (size_t)length, " --verbose");
    return text;
}

bool seeds_note_failure(const char *what)
{
    if (!told)
        return false;
    snprintf(told->what, sizeof(told->what), "%s", what);
    return true;
}

static struct seeds_job unbounded(const struct seeds_program *program, uint64_t seed)
{
    return (struct seeds_job){.program = program->name,
                              .seed = seed,
                              .hosts = UINT64_MAX,
                              .supersteps = UINT64_MAX,
                              .faults = UINT64_MAX};
}

/* ---- In a child --------------------------------------------------------------------------- */

struct work {
    const struct seeds_program *program;
    const struct seeds_job *job; /* this one in several courses; NULL: many seeds */
    bool quiet;
    bool fixed;
    uint64_t first, count, from; /* of many; begins with the from-th */
};

static uint64_t seed_of(const struct work *work, uint64_t i)
{
    return work->fixed ? work->program->fixed[i].seed : work->first + i;
}

static int run_many(const struct work *work)
{
    for (uint64_t i = work->from; i < work->count; i++) {
        told->seed = seed_of(work, i);
        told->done = i;
        struct seeds_job job = unbounded(work->program, told->seed);
        work->program->run(&job);
    }
    told->done = work->count;
    return work->from == 0 && !work->fixed ? work->program->report(work->count) : 0;
}

static int run_courses(const struct work *work)
{
    alarm(TRY_SECONDS);
    for (uint64_t i = 0; i <= COURSES; i++) {
        struct seeds_job job = *work->job;
        if (i > 0)
            job.course = i;
        told->course = job.course;
        work->program->run(&job);
    }
    return 0;
}

/* Whether the work was done; else what became of it, without numbers, is in `what`. */
static bool do_in_child(const struct work *work, int *status, char what[WHAT_MAX])
{
    *told = (struct told){.what = ""};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        /* Memory that each job gives back to the kernel takes as long as the job itself. */
        mallopt(M_TRIM_THRESHOLD, RETAINED_BYTES);
        int nowhere = work->quiet ? open("/dev/null", O_WRONLY) : -1;
        if (nowhere >= 0) {
            dup2(nowhere, STDOUT_FILENO);
            dup2(nowhere, STDERR_FILENO);
        }
        int result = work->job ? run_courses(work) : run_many(work);
        fflush(NULL);
        _exit(result);
    }
    if (child < 0 || waitpid(child, status, 0) != child) {
        perror(work->program->name);
        exit(2);
    }
    if (work->job ? *status == 0 : told->done == work->count)
        return true;
    if (told->what[0] == '\0')
        snprintf(told->what, sizeof(told->what), "ended: %s",
                 WIFSIGNALED(*status) ? strsignal(WTERMSIG(*status)) : "exit");
    size_t length = 0;
    for (const char *from = told->what; *from; from++)
        if (*from < '0' || *from > '9')
            what[length++] = *from;
    what[length] = '\0';
    return false;
}

/* ---- Smaller ------------------------------------------------------------------------------ */

static time_t smaller_until;

/* Takes the smaller job over if it fails in the same way, in its course or another. */
static bool try_smaller(const struct seeds_program *program, struct seeds_job *job,
                        struct seeds_job smaller, const char *same)
{
    char what[WHAT_MAX];
    int status;
    struct work work = {.program = program, .job = &smaller, .quiet = true};
    if (time(NULL) > smaller_until || do_in_child(&work, &status, what) || strcmp(what, same) != 0)
        return false;
    *job = smaller;
    job->course = told->course;
    return true;
}

#define FAULTS_MAX 24u

static bool fewer_faults(const struct seeds_program *program, struct seeds_job *job,
                         const char *same)
{
    bool any = false;
    struct seeds_job smaller = *job;
    smaller.faults = 0;
    if (job->faults != 0 && try_smaller(program, job, smaller, same))
        return true;
    if (job->faults == UINT64_MAX) {
        smaller.faults = (UINT64_C(1) << FAULTS_MAX) - 1;
        try_smaller(program, job, smaller, same);
    }
    for (unsigned n = 0; n < FAULTS_MAX; n++) {
        smaller = *job;
        smaller.faults &= ~(UINT64_C(1) << n);
        if (smaller.faults != job->faults)
            any = try_smaller(program, job, smaller, same) || any;
    }
    return any;
}

/* The first of 1, 2, 3 ... up to what it is. */
static bool fewer(const struct seeds_program *program, struct seeds_job *job, bool hosts,
                  const char *same)
{
    uint64_t now = hosts ? job->hosts : program->has_supersteps ? job->supersteps : 0;
    for (uint64_t less = hosts ? 1 : 0; less < now && less < 32; less++) {
        struct seeds_job smaller = *job;
        *(hosts ? &smaller.hosts : &smaller.supersteps) = less;
        if (try_smaller(program, job, smaller, same))
            return true;
    }
    return false;
}

static void show(const struct seeds_program *program, uint64_t seed, const char *same)
{
    struct seeds_job job = unbounded(program, seed);
    fprintf(stderr, "%s: seed %" PRIu64 " fails: %s\n", program->name, seed, told->what);
    smaller_until = time(NULL) + SMALLER_SECONDS;
    for (bool smaller = try_smaller(program, &job, job, same); smaller;) {
        smaller = fewer_faults(program, &job, same);
        smaller = fewer(program, &job, true, same) || smaller;
        smaller = fewer(program, &job, false, same) || smaller;
    }
    char command[SEEDS_COMMAND_MAX];
    fprintf(stderr, "%s: made smaller, step by step: %s\n", program->name,
            seeds_command(&job, command));
}

/* ---- Many --------------------------------------------------------------------------------- */

static void count_kind(struct kind *kinds, unsigned *count, const char *what, uint64_t seed)
{
    unsigned i = 0;
    while (i < *count && strcmp(kinds[i].what, what) != 0)
        i++;
    if (i == KINDS_MAX)
        return;
    if (i == *count) {
        kinds[(*count)++].first = seed;
        snprintf(kinds[i].what, sizeof(kinds[i].what), "%s", what);
    }
    kinds[i].count++;
}

static int run_range(struct work *work, bool all)
{
    static struct kind kinds[KINDS_MAX];
    unsigned kind_count = 0;
    char what[WHAT_MAX];
    int status;
    while (!do_in_child(work, &status, what)) {
        uint64_t seed = told->seed, done = told->done;
        unsigned before = kind_count;
        count_kind(kinds, &kind_count, what, seed);
        if (kind_count > before)
            show(work->program, seed, what);
        if (!all)
            return EXIT_FAILURE;
        work->from = done + 1;
    }
    for (unsigned i = 0; i < kind_count; i++)
        printf("%8" PRIu64 " seeds fail, the first %" PRIu64 ": %s\n", kinds[i].count,
               kinds[i].first, kinds[i].what);
    if (work->fixed && kind_count == 0)
        printf("%" PRIu64 " seeds that once failed\n", work->count);
    return kind_count > 0 || status != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- Options ------------------------------------------------------------------------------ */

static uint64_t number(const char *program, const char *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (!text || *text < '0' || *text > '9' || *end || errno) {
        fprintf(stderr, "%s: %s needs a number\n", program, option);
        exit(2);
    }
    return value;
}

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--seeds N] [--first SEED] [--all] | --fresh N [--all] | --fixed [--all] |\n"
            "       --seed SEED [--hosts N] [--supersteps N] [--faults BITS] [--course N] "
            "[--verbose]\n",
            program);
    return 2;
}

int seeds_missing(const void *counters, size_t bytes)
{
    const uint64_t *counter = counters;
    int missing = 0;

    for (size_t i = 0; i < bytes / sizeof *counter; i++)
        missing += counter[i] == 0;
    return missing;
}

int seeds_verdict(const char *name, int missing)
{
    if (missing == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "%s: %d of the things that should happen never did\n", name, missing);
    return EXIT_FAILURE;
}

int seeds_main(const struct seeds_program *program, int argc, char **argv)
{
    struct seeds_job job = unbounded(program, 0);
    struct work work = {.program = program, .first = 1, .count = program->count};
    bool one = false, all = false, fresh = false;
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name;
            uint64_t *number;
            bool *flag;
        } options[] = {{"--seeds", &work.count, NULL},    {"--first", &work.first, NULL},
                       {"--fresh", &work.count, &fresh},  {"--seed", &job.seed, &one},
                       {"--hosts", &job.hosts, NULL},     {"--supersteps", &job.supersteps, NULL},
                       {"--faults", &job.faults, NULL},   {"--course", &job.course, NULL},
                       {"--verbose", NULL, &job.verbose}, {"--all", NULL, &all},
                       {"--fixed", NULL, &work.fixed}};
        size_t k = 0, known = sizeof(options) / sizeof(options[0]);
        while (k < known && strcmp(argv[i], options[k].name) != 0)
            k++;
        if (k == known)
            return usage(program->name);
        if (options[k].flag)
            *options[k].flag = true;
        if (options[k].number) {
            *options[k].number = number(program->name, argv[i], argv[i + 1]);
            i++;
        }
    }
    if (one) {
        program->run(&job);
        return EXIT_SUCCESS;
    }
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) {
        perror(program->name);
        return 2;
    }
    if (fresh) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        work.first = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        printf("%s: --seeds %" PRIu64 " --first %" PRIu64 "\n", program->name, work.count,
               work.first);
        fflush(stdout);
    }
    if (work.fixed)
        work.count = program->fixed_count;
    return run_range(&work, all);
}
