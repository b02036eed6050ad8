/* profile_file.c - a file PROF.bsp, line by line; see profile.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile.h"

/* No line is longer, but those of call stacks, of which only the beginning is kept: two times, and
 * four numbers of up to 20 digits for each process. */
#define LINE_MAX_SIZE (8192 + (size_t)PROFILE_RANKS_MAX * 4 * 21)
#define STACK_KEPT    8192u
#define BLOCK         (size_t)(1 << 20) /* read at once; more than STACK_KEPT and LINE_MAX_SIZE */

enum got { GOT_LINE, GOT_END, GOT_FAILURE };

static enum got fail(const struct profile_file *file, const char *text, char error[PROFILE_ERROR])
{
    snprintf(error, PROFILE_ERROR, "%.200s:%llu: %.280s", file->name,
             (unsigned long long)file->line, text);
    return GOT_FAILURE;
}

/* Appends what the file has next. */
static bool fill(struct profile_file *file, char error[PROFILE_ERROR])
{
    if (!file->text) {
        file->room = 2 * BLOCK;
        file->text = malloc(file->room);
        if (!file->text) {
            fail(file, "out of memory", error);
            return false;
        }
    }
    size_t kept = file->end - file->begin;
    memmove(file->text, file->text + file->begin, kept);
    file->begin = 0;
    size_t count = fread(file->text + kept, 1, file->room - kept, file->stream);
    file->end = kept + count;
    if (ferror(file->stream)) {
        snprintf(error, PROFILE_ERROR, "%.200s: %s", file->name, strerror(errno));
        return false;
    }
    file->ended = count < file->room - kept;
    return true;
}

/* The next line, without its newline; of one that begins with A at least the first STACK_KEPT
 * bytes. */
static enum got read_line(struct profile_file *file, const char **line, size_t *length,
                          char error[PROFILE_ERROR])
{
    size_t seen = 0;
    file->line++;
    for (;;) {
        char *begin = file->text + file->begin;
        size_t count = file->end - file->begin;
        char *newline = count > seen ? memchr(begin + seen, '\n', count - seen) : NULL;
        bool stack = count > 0 && begin[0] == 'A';
        if (newline) {
            *line = begin;
            *length = seen > 0 && stack ? seen : (size_t)(newline - begin);
            file->begin += (size_t)(newline - begin) + 1;
            return *length <= LINE_MAX_SIZE || stack
                       ? GOT_LINE
                       : fail(file, "this line is too long for a profile", error);
        }
        if (stack && count > STACK_KEPT) {
            seen = STACK_KEPT;
            file->end = file->begin + seen;
        } else if (count > LINE_MAX_SIZE) {
            return fail(file, "this line is too long for a profile", error);
        }
        if (file->ended && count == 0)
            return GOT_END;
        if (file->ended)
            return fail(file, "the file ends within this line", error);
        if (!fill(file, error))
            return GOT_FAILURE;
    }
}

static enum profile_event take(struct profile_file *file, const char *line, size_t length,
                               char text[PROFILE_ERROR])
{
    if (length == 0 || line[0] != 'A')
        return profile_take(&file->profile, length > 0 ? line : "", length, text);
    if (!file->stacks)
        return PROFILE_NOTHING;
    if (profile_take_stack(line, length, &file->stack))
        return PROFILE_STACK;
    snprintf(text, PROFILE_ERROR, "A: this is not a call stack with its costs");
    return PROFILE_WRONG;
}

enum profile_event profile_next(struct profile_file *file, char error[PROFILE_ERROR])
{
    enum profile_event event = PROFILE_NOTHING;
    char text[PROFILE_ERROR];
    while (event == PROFILE_NOTHING) {
        const char *line = "";
        size_t length = 0;
        enum got got = read_line(file, &line, &length, error);
        if (got == GOT_FAILURE)
            return PROFILE_WRONG;
        if (got == GOT_END) {
            if (profile_finish(&file->profile, text))
                return PROFILE_END;
            snprintf(error, PROFILE_ERROR, "%.200s: %.280s", file->name, text);
            return PROFILE_WRONG;
        }
        event = take(file, line, length, text);
    }
    if (event == PROFILE_WRONG)
        fail(file, text, error);
    return event;
}

enum profile_event profile_next_superstep(struct profile_file *file, char error[PROFILE_ERROR])
{
    enum profile_event event;
    do
        event = profile_next(file, error);
    while (event != PROFILE_SUPERSTEP && event != PROFILE_END && event != PROFILE_WRONG);
    return event;
}

bool profile_open(const char *name, struct profile_file *file, char error[PROFILE_ERROR])
{
    *file = (struct profile_file){.name = name, .stream = fopen(name, "re")};
    if (!file->stream) {
        snprintf(error, PROFILE_ERROR, "%.200s: %s", name, strerror(errno));
        return false;
    }
    setvbuf(file->stream, NULL, _IONBF, 0);
    /* Nothing but the line P can come first: profile_take refuses others, and the end. */
    if (profile_next(file, error) == PROFILE_RANKS)
        return true;
    profile_close(file);
    return false;
}

void profile_close(struct profile_file *file)
{
    if (file->stream)
        fclose(file->stream);
    free(file->text);
    profile_free(&file->profile);
    *file = (struct profile_file){0};
}
