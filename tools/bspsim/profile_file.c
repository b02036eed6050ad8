/* profile_file.c - a file PROF.bsp, line by line; see profile.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bspsim/profile.h"

/* No line is longer, but those of call stacks, which are not kept: two times, and four numbers of
 * up to 20 digits for each process. */
#define LINE_MAX_SIZE (8192 + (size_t)PROFILE_RANKS_MAX * 4 * 21)

enum got { GOT_LINE, GOT_END, GOT_FAILURE };

static enum got fail(const struct profile_file *file, const char *text, char error[PROFILE_ERROR])
{
    snprintf(error, PROFILE_ERROR, "%.200s:%llu: %.280s", file->name,
             (unsigned long long)file->line, text);
    return GOT_FAILURE;
}

static bool add(struct profile_file *file, size_t length, int c)
{
    if (length == file->room) {
        size_t room = file->room ? 2 * file->room : 4096;
        char *text = realloc(file->text, room);
        if (!text)
            return false;
        file->text = text;
        file->room = room;
    }
    file->text[length] = (char)c;
    return true;
}

/* Reads a line; of one that begins with A nothing but the A is kept. */
static enum got read_line(struct profile_file *file, size_t *length, char error[PROFILE_ERROR])
{
    size_t count = 0;
    int c = getc_unlocked(file->stream);
    if (c == EOF && !ferror(file->stream))
        return GOT_END;
    file->line++;
    for (; c != EOF && c != '\n'; c = getc_unlocked(file->stream)) {
        if (count > 0 && file->text[0] == 'A')
            continue;
        if (count == LINE_MAX_SIZE)
            return fail(file, "this line is too long for a profile", error);
        if (!add(file, count, c))
            return fail(file, "out of memory", error);
        count++;
    }
    if (ferror(file->stream)) {
        snprintf(error, PROFILE_ERROR, "%.200s: %s", file->name, strerror(errno));
        return GOT_FAILURE;
    }
    if (c == EOF)
        return fail(file, "the file ends within this line", error);
    *length = count;
    return GOT_LINE;
}

enum profile_event profile_next(struct profile_file *file, char error[PROFILE_ERROR])
{
    enum profile_event event = PROFILE_NOTHING;
    char text[PROFILE_ERROR];
    while (event == PROFILE_NOTHING) {
        size_t length = 0;
        enum got got = read_line(file, &length, error);
        if (got == GOT_FAILURE)
            return PROFILE_WRONG;
        if (got == GOT_END) {
            if (profile_finish(&file->profile, text))
                return PROFILE_END;
            snprintf(error, PROFILE_ERROR, "%.200s: %.280s", file->name, text);
            return PROFILE_WRONG;
        }
        if (length > 0 && file->text[0] == 'A')
            continue;
        event = profile_take(&file->profile, length > 0 ? file->text : "", length, text);
    }
    if (event == PROFILE_WRONG)
        fail(file, text, error);
    return event;
}

bool profile_open(const char *name, struct profile_file *file, char error[PROFILE_ERROR])
{
    *file = (struct profile_file){.name = name, .stream = fopen(name, "re")};
    if (!file->stream) {
        snprintf(error, PROFILE_ERROR, "%.200s: %s", name, strerror(errno));
        return false;
    }
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
