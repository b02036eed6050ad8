/* past.c - see past.h. */
#include "bsprun/launcher/past.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define VERSION   1u
#define TEXT_MAX  1000 /* of a fault */
#define LINE_SIZE (TEXT_MAX + 160)
#define FILE_MAX  (64 << 20) /* what is beyond is not read */

static const char *const kinds[] = {
    [TIMELINE_RUNNING] = "running", [TIMELINE_STOPPED] = "stopped", [TIMELINE_SAVED] = "saved",
    [TIMELINE_BACK] = "back",       [TIMELINE_FAULT] = "fault",     [TIMELINE_MOVED] = "moved",
    [TIMELINE_RESTARTED] = NULL,
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- Reading ---- */

struct reader {
    struct past_runs *runs;
    uint64_t wall_ms; /* when the run of these lines began, since 1970 */
    bool running;
};

static void add(struct reader *reader, struct timeline_event event)
{
    struct past_runs *runs = reader->runs;

    if (event.kind <= TIMELINE_STOPPED)
        reader->running = event.kind == TIMELINE_RUNNING;
    if (event.at_ms > runs->ended_ms)
        runs->ended_ms = event.at_ms;
    timeline_add(&runs->timeline, &event);
}

/* A bsprun that was killed noted no end of its processes. */
static void end_run(struct reader *reader)
{
    if (reader->running)
        add(reader,
            (struct timeline_event){.kind = TIMELINE_STOPPED, .at_ms = reader->runs->ended_ms});
}

static void note_end(struct reader *reader, uint64_t at_ms)
{
    struct past_runs *runs = reader->runs;

    if (at_ms > runs->ended_ms)
        runs->ended_ms = at_ms;
    runs->open = false;
}

static void begin_run(struct reader *reader, uint64_t wall_ms)
{
    struct past_runs *runs = reader->runs;

    end_run(reader);
    if (runs->count++ == 0)
        runs->begun_ms = wall_ms;
    reader->wall_ms = wall_ms;
    runs->last_ms = past_since(runs, wall_ms);
    runs->open = true;
    if (runs->count > 1)
        add(reader, (struct timeline_event){.kind = TIMELINE_RESTARTED, .at_ms = runs->last_ms});
}

static void take_event(struct reader *reader, char *line)
{
    struct timeline_event event = {0};
    char word[16];
    int used = 0;

    if (sscanf(line, "%15s %" SCNu64 "%n", word, &event.at_ms, &used) != 2 ||
        event.at_ms > UINT64_MAX / 4)
        return;
    event.at_ms += reader->runs->last_ms;
    if (strcmp(word, "end") == 0)
        note_end(reader, event.at_ms);
    line += used;
    for (event.kind = 0; event.kind < KINDS; event.kind++)
        if (kinds[event.kind] && strcmp(word, kinds[event.kind]) == 0)
            break;
    if (event.kind == KINDS ||
        sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n", &event.superstep,
               &event.bytes, &event.pause_ns, &event.commit_ns, &used) != 4)
        return;
    if (event.kind == TIMELINE_FAULT && line[used] == ' ')
        event.text = line + used + 1;
    add(reader, event);
}

void past_read(const char *text, size_t length, uint64_t heard_ms, struct past_runs *runs)
{
    struct reader reader = {.runs = runs};
    const char *newline;

    for (; (newline = memchr(text, '\n', length)) != NULL;
         length -= (size_t)(newline + 1 - text), text = newline + 1) {
        size_t size = (size_t)(newline - text);
        char line[LINE_SIZE];
        uint64_t wall_ms;
        unsigned version;

        if (size == 0 || size >= sizeof line)
            continue;
        memcpy(line, text, size);
        line[size] = '\0';
        if (sscanf(line, "bsprun %u %" SCNu64, &version, &wall_ms) == 2) {
            if (version != VERSION)
                break;
            begin_run(&reader, wall_ms);
        } else if (runs->count > 0) {
            take_event(&reader, line);
        }
    }
    if (runs->open && heard_ms > reader.wall_ms &&
        runs->last_ms + heard_ms - reader.wall_ms > runs->ended_ms)
        runs->ended_ms = runs->last_ms + heard_ms - reader.wall_ms;
    end_run(&reader);
}

uint64_t past_since(const struct past_runs *runs, uint64_t wall_ms)
{
    uint64_t since = wall_ms > runs->begun_ms ? wall_ms - runs->begun_ms : 0;

    return since > runs->ended_ms ? since : runs->ended_ms;
}

struct timeline past_and(const struct past *past, const struct timeline *now)
{
    const struct timeline *parts[] = {&past->earlier.timeline, now};
    struct timeline all = {.dropped = parts[0]->dropped + parts[1]->dropped};

    for (int part = 0; part < 2; part++) {
        if (part == 1)
            timeline_add(&all, &(struct timeline_event){.kind = TIMELINE_RESTARTED,
                                                        .at_ms = past->since_ms});
        for (size_t i = 0; i < parts[part]->count; i++) {
            struct timeline_event event = parts[part]->events[i];

            if (part == 1)
                event.at_ms = past->since_ms +
                              (event.at_ms > past->begun_ms ? event.at_ms - past->begun_ms : 0);
            timeline_add(&all, &event);
        }
    }
    return all;
}

/* ---- The file ---- */

static void read_file(struct past *past, int fd, uint64_t wall_ms)
{
    struct stat found;
    char *text;
    ssize_t got;

    if (fstat(fd, &found) != 0 || found.st_size <= 0)
        return;
    size_t size = found.st_size < FILE_MAX ? (size_t)found.st_size : FILE_MAX;
    text = malloc(size);
    got = text ? pread(fd, text, size, 0) : -1;
    if (got > 0)
        past_read(text, (size_t)got,
                  (uint64_t)found.st_mtim.tv_sec * 1000 +
                      (uint64_t)found.st_mtim.tv_nsec / BSPZ_NS_PER_MS,
                  &past->earlier);
    free(text);
    past->since_ms = past_since(&past->earlier, wall_ms);
}

static void put_line(struct past *past, const char *line)
{
    if (!past->file || past->lines >= TIMELINE_EVENTS)
        return;
    past->lines++;
    if (fputs(line, past->file) < 0 || fflush(past->file) != 0) {
        fclose(past->file);
        past->file = NULL;
    }
}

void past_open(struct past *past, const char *job_directory, uint64_t now_ms, uint64_t wall_ms)
{
    const struct past_runs *earlier = &past->earlier;
    char line[80], path[PATH_MAX + 80];
    int fd;

    past->begun_ms = now_ms;
    snprintf(path, sizeof path, "%.*s/" PAST_FILE, PATH_MAX, job_directory);
    fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    fchmod(fd, 0600); /* whatever the umask is */
    read_file(past, fd, wall_ms);
    past->file = fdopen(fd, "a");
    if (!past->file)
        close(fd);
    /* The line of a bsprun that was killed may have no end. */
    put_line(past, "\n");
    if (earlier->open) {
        snprintf(line, sizeof line, "end %" PRIu64 "\n", earlier->ended_ms - earlier->last_ms);
        put_line(past, line);
    }
    snprintf(line, sizeof line, "bsprun %u %" PRIu64 "\n", VERSION, wall_ms);
    put_line(past, line);
}

void past_note(struct past *past, const struct timeline_event *event)
{
    char line[LINE_SIZE];
    int used;

    if (!past->file || !kinds[event->kind])
        return;
    used = snprintf(
        line, sizeof line, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "%s%.*s",
        kinds[event->kind], event->at_ms > past->begun_ms ? event->at_ms - past->begun_ms : 0,
        event->superstep, event->bytes, event->pause_ns, event->commit_ns, event->text ? " " : "",
        TEXT_MAX, event->text ? event->text : "");
    for (int i = 0; i < used; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    snprintf(line + used, sizeof line - (size_t)used, "\n");
    put_line(past, line);
}

void past_live(struct past *past)
{
    if (past->file)
        futimens(fileno(past->file), NULL);
}

void past_close(struct past *past, uint64_t now_ms)
{
    char line[40];

    snprintf(line, sizeof line, "end %" PRIu64 "\n",
             now_ms > past->begun_ms ? now_ms - past->begun_ms : 0);
    put_line(past, line);
    if (past->file)
        fclose(past->file);
    past->file = NULL;
    timeline_free(&past->earlier.timeline);
}
