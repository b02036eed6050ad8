/* watch.c - bspstat --watch; see watch.h.
 *
 * Happy path: each interval bsprun is asked -> its answer is read while keys are taken -> the
 * picture is drawn; a key that requests something asks bsprun on a connection of its own, whose
 * lines become the last line of the screen.
 *
 * What can fail: the job ends, or does not answer (asked again); the terminal vanishes (as at
 * SIGHUP); a signal ends or stops the process, which restores the terminal first.
 */
#include "bsprun/status/watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "bsprun/status/jobs.h"
#include "bsprun/status/status_directory.h"
#include "bsprun/status/watch_inquiry.h"
#include "bsprun/status/watch_picture.h"
#include "bsprun/status/watch_screen.h"
#include "bsprun/status/watch_view.h"
#include "lib/base/clock.h"

#define STATUS_USAGE 2
#define SILENT_NS    (10 * BSPZ_NS_PER_S)
#define SILENT_TEXT  "the job does not answer"

enum { FD_KEYS, FD_SIGNALS, FD_STATUS, FD_REQUEST, FDS };

struct watch {
    struct job_list jobs; /* all, unless one was named */
    bool named;
    pid_t job;
    uint64_t step_ns, next_ns;
    struct watch_facts *facts; /* the newest; NULL: none yet */
    struct watch_view view;
    const char *trouble; /* why there is no newer status; NULL: there is one */
    struct watch_picture picture;
    struct watch_screen screen;
    struct watch_inquiry status, request;
    enum watch_action requested; /* by that */
    bool agreed;                 /* bsprun has said so */
    sigset_t signals;
    int signal_fd;
    int end_signal; /* that ends this process; 0: none yet */
    bool over;
};

/* ---- The picture ---- */

static size_t number_of(const struct watch *watch)
{
    size_t number = 0;

    while (number < watch->jobs.count && watch->jobs.items[number] != watch->job)
        number++;
    return number + 1;
}

static size_t page(const struct watch *watch)
{
    unsigned rows, columns;

    watch_screen_size(&rows, &columns);
    return watch_picture_page(rows, watch->facts);
}

static void draw(struct watch *watch)
{
    struct watch_scene scene = {.facts = watch->facts,
                                .view = &watch->view,
                                .job_number = number_of(watch),
                                .job_count = watch->jobs.count,
                                .unicode = watch->screen.unicode};
    unsigned rows, columns;

    watch_screen_size(&rows, &columns);
    if (watch->facts)
        watch_view_fit(&watch->view, watch->facts->rank_count, page(watch));
    if (watch_picture_draw(&watch->picture, rows, columns, &scene))
        watch_screen_show(&watch->screen, &watch->picture);
}

/* ---- The status ---- */

static void end_job(struct watch *watch)
{
    char text[160];

    watch_inquiry_drop(&watch->status);
    watch_inquiry_drop(&watch->request);
    watch_view_end(&watch->view);
    snprintf(text, sizeof text, "job %d has ended; q quits, another key shows another job",
             (int)watch->job);
    watch_view_say(&watch->view, text);
    watch->over = watch->named;
}

/* There is no new status: that is said until there is one again. */
static void say_trouble(struct watch *watch, const char *trouble)
{
    watch->trouble = trouble;
    watch_view_say(&watch->view, trouble);
}

static void ask_status(struct watch *watch)
{
    enum jobs_silence why;
    struct job_list found;

    if (!watch->named && jobs_find(&found)) {
        jobs_free(&watch->jobs);
        watch->jobs = found;
    }
    if (!watch_inquiry_ask(&watch->status, watch->job, "json", &why)) {
        if (why == JOBS_GONE)
            end_job(watch);
        else
            say_trouble(watch, SILENT_TEXT);
    }
    watch->next_ns = watch->status.asked_ns + watch->step_ns;
}

static void take_facts(struct watch *watch, const char *text)
{
    struct watch_facts *facts = watch_facts_read(text);

    if (!facts) {
        say_trouble(watch, "the answer of bsprun cannot be read");
        return;
    }
    watch_facts_compare(facts, watch->facts);
    watch_facts_free(watch->facts);
    watch->facts = facts;
    if (watch->trouble && strcmp(watch->view.message, watch->trouble) == 0)
        watch_view_say(&watch->view, "");
    watch->trouble = NULL;
}

static void take_status(struct watch *watch)
{
    enum watch_progress progress = watch_inquiry_read(&watch->status);

    if (progress == WATCH_COMES)
        return;
    const char *text = progress == WATCH_COMPLETE ? watch_inquiry_text(&watch->status) : NULL;
    if (!text)
        say_trouble(watch, "out of memory");
    else if (!*text)
        end_job(watch);
    else if (strcmp(text, STATUS_BUSY "\n") == 0)
        say_trouble(watch, STATUS_BUSY);
    else
        take_facts(watch, text);
    watch_inquiry_drop(&watch->status);
}

/* The time has come for something that was not awaited by a descriptor. */
static void take_time(struct watch *watch)
{
    uint64_t now = bspz_now_ns();

    if (watch->view.state == WATCH_ENDED)
        return;
    if (watch->status.fd >= 0 && now - watch->status.asked_ns >= SILENT_NS) {
        watch_inquiry_drop(&watch->status);
        say_trouble(watch, SILENT_TEXT);
    }
    if (watch->status.fd < 0 && now >= watch->next_ns)
        ask_status(watch);
}

/* ---- Requests ---- */

static void say(struct watch *watch, const char *what)
{
    static const char *const names[] = {
        [WATCH_SNAPSHOT] = "snapshot", [WATCH_DRAIN] = "drain", [WATCH_END] = "end of the job"};
    char text[WATCH_MESSAGE_MOST];

    snprintf(text, sizeof text, "%s: %s", names[watch->requested], what);
    watch_view_say(&watch->view, text);
}

static void request(struct watch *watch, enum watch_action what, const char *word)
{
    enum jobs_silence why;

    watch->requested = what;
    watch->agreed = false;
    say(watch, watch_inquiry_ask(&watch->request, watch->job, word, &why) ? "requested"
               : why == JOBS_GONE                                         ? "the job does not run"
                                                                          : SILENT_TEXT);
}

/* "ok" and later the outcome, or a refusal (status_socket.h). */
static void take_answer(struct watch *watch)
{
    bool complete = watch_inquiry_read(&watch->request) != WATCH_COMES;
    char *first = watch_inquiry_line(&watch->request, 0);
    char *outcome = watch_inquiry_line(&watch->request, 1);
    bool agrees = first && strcmp(first, "ok") == 0;

    if (outcome)
        say(watch, outcome);
    else if (first && !agrees)
        say(watch, first);
    else if (complete && watch->requested != WATCH_END)
        say(watch, "the job has ended before that");
    else if (agrees && !watch->agreed)
        say(watch, "bsprun agrees");
    watch->agreed = agrees;
    if (complete || outcome || (first && !agrees))
        watch_inquiry_drop(&watch->request);
    free(first);
    free(outcome);
}

/* ---- Keys ---- */

static void show_job(struct watch *watch, pid_t job)
{
    watch_inquiry_drop(&watch->status);
    watch_inquiry_drop(&watch->request);
    watch_facts_free(watch->facts);
    watch->facts = NULL;
    watch->view = (struct watch_view){.order = watch->view.order};
    watch->job = job;
    ask_status(watch);
}

/* The one with the next higher process id, or the first. */
static void next_job(struct watch *watch)
{
    bool ended = watch->view.state == WATCH_ENDED;
    struct job_list found;
    pid_t next = 0;

    if (watch->named) {
        watch_view_say(&watch->view, "only this job is watched");
        return;
    }
    if (!jobs_find(&found))
        return;
    for (size_t i = found.count; i > 0; i--)
        if (found.items[i - 1] > watch->job)
            next = found.items[i - 1];
    if (next == 0 && found.count > 0)
        next = found.items[0];
    jobs_free(&found);
    if (next != 0 && (ended || next != watch->job))
        show_job(watch, next);
    else if (ended)
        watch->over = true;
    else
        watch_view_say(&watch->view, "there is no other job");
}

static void carry_out(struct watch *watch, enum watch_action action)
{
    char word[WATCH_TYPED_MOST + 32];

    switch (action) {
    case WATCH_NOTHING:
        break;
    case WATCH_QUIT:
        watch->over = true;
        break;
    case WATCH_NEXT_JOB:
        next_job(watch);
        break;
    case WATCH_SNAPSHOT:
        request(watch, action, "snapshot");
        break;
    case WATCH_DRAIN:
        snprintf(word, sizeof word, "drain %s", watch->view.typed);
        request(watch, action, word);
        break;
    case WATCH_END:
        request(watch, action, "stop");
        break;
    }
}

static void take_keys(struct watch *watch, bool hung_up)
{
    bool any = false;
    int key;

    while (!watch->over && (key = watch_screen_key()) >= 0) {
        any = true;
        carry_out(watch, watch_view_key(&watch->view, watch->facts, key, page(watch)));
    }
    if (hung_up && !any)
        watch->end_signal = SIGHUP;
}

/* ---- Signals ---- */

/* Has the signal do what it does by default. */
static void deliver(int signal_number)
{
    sigset_t one;

    signal(signal_number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it is delivered */
    sigprocmask(SIG_BLOCK, &one, NULL);
}

static void take_signals(struct watch *watch)
{
    struct signalfd_siginfo info;

    while (read(watch->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        switch (info.ssi_signo) {
        case SIGWINCH:
            watch_screen_fit();
            break;
        case SIGTSTP:
            watch_screen_leave();
            deliver(SIGTSTP); /* it stops, until SIGCONT */
            watch_screen_return();
            break;
        case SIGCONT:
            watch_screen_return();
            break;
        default:
            watch->end_signal = (int)info.ssi_signo;
        }
}

/* 0 or an error of errno. */
static int catch_signals(struct watch *watch)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

    sigemptyset(&watch->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&watch->signals, numbers[i]);
    sigprocmask(SIG_BLOCK, &watch->signals, NULL);
    watch->signal_fd = signalfd(-1, &watch->signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return watch->signal_fd < 0 ? errno : 0;
}

/* ---- The loop ---- */

static int wait_ms(const struct watch *watch)
{
    if (watch->view.state == WATCH_ENDED)
        return -1;
    return bspz_ms_until(watch->status.fd >= 0 ? watch->status.asked_ns + SILENT_NS
                                               : watch->next_ns) +
           1;
}

static void loop(struct watch *watch)
{
    while (!watch->over && watch->end_signal == 0) {
        struct pollfd fds[FDS] = {
            [FD_KEYS] = {.fd = STDIN_FILENO, .events = POLLIN},
            [FD_SIGNALS] = {.fd = watch->signal_fd, .events = POLLIN},
            [FD_STATUS] = {.fd = watch->status.fd, .events = POLLIN},
            [FD_REQUEST] = {.fd = watch->request.fd, .events = POLLIN},
        };

        draw(watch);
        if (poll(fds, FDS, wait_ms(watch)) < 0 && errno != EINTR)
            break;
        if (fds[FD_SIGNALS].revents)
            take_signals(watch);
        if (fds[FD_REQUEST].revents)
            take_answer(watch);
        if (fds[FD_STATUS].revents)
            take_status(watch);
        if (fds[FD_KEYS].revents)
            take_keys(watch, fds[FD_KEYS].revents & (POLLHUP | POLLERR));
        take_time(watch);
    }
}

/* The first answer, before anything is drawn.  1: reported. */
static int begin(struct watch *watch)
{
    enum jobs_silence why;
    char *text = jobs_answer(watch->job, "json", &why);

    watch->next_ns = bspz_now_ns() + watch->step_ns;
    if (text)
        take_facts(watch, text);
    else if (watch->named || why != JOBS_GONE)
        jobs_say_silent("bspstat", watch->job, why);
    free(text);
    return text || (!watch->named && why == JOBS_GONE) ? 0 : 1;
}

static int watch_screen(struct watch *watch)
{
    const char *why;
    int error = catch_signals(watch);

    if (error) {
        fprintf(stderr, "bspstat: --watch: %s\n", strerror(error));
        return 1;
    }
    why = watch_screen_open(&watch->screen);
    if (why) {
        fprintf(stderr, "bspstat: --watch: %s\n", why);
        return STATUS_USAGE;
    }
    loop(watch);
    watch_screen_close(&watch->screen);
    return 0;
}

int watch_job(pid_t job, double interval)
{
    struct watch watch = {.named = job != 0,
                          .job = job,
                          .step_ns = (uint64_t)(interval * 1e9),
                          .status = {.fd = -1},
                          .request = {.fd = -1},
                          .signal_fd = -1};
    char last[256];
    int status = 0;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        fprintf(stderr, "bspstat: --watch: standard input and output must be a terminal\n");
        return STATUS_USAGE;
    }
    if (!watch.named && jobs_find(&watch.jobs) && watch.jobs.count > 0)
        watch.job = watch.jobs.items[0];
    if (watch.job == 0)
        puts("no job of yours runs under bsprun on this host");
    else
        status = begin(&watch);
    if (status == 0 && watch.job != 0)
        status = watch_screen(&watch);
    if (status == 0 && watch.view.state == WATCH_ENDED) {
        watch_picture_last_line(watch.facts, (int)watch.job, last, sizeof last);
        puts(last);
    }
    watch_inquiry_drop(&watch.status);
    watch_inquiry_drop(&watch.request);
    bspz_buffer_free(&watch.status.text);
    bspz_buffer_free(&watch.request.text);
    watch_facts_free(watch.facts);
    watch_picture_free(&watch.picture);
    jobs_free(&watch.jobs);
    if (watch.signal_fd >= 0)
        close(watch.signal_fd);
    if (watch.end_signal != 0) {
        fflush(stdout);
        deliver(watch.end_signal);
    }
    return status;
}
