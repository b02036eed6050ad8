/* input.c - what process 0 is given to read; see input.h. */
#include "bsprun/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void input_free(struct input *input)
{
    free(input->data);
    *input = (struct input){0};
}

static uint64_t end_of(const struct input *input)
{
    return input->base + input->size;
}

size_t input_room(const struct input *input)
{
    uint64_t limit = input->taken + INPUT_AHEAD;

    if (!input->open || input->ended)
        return 0;
    if (input->skip > 0)
        return input->skip < INPUT_AHEAD ? (size_t)input->skip : INPUT_AHEAD;
    return limit > end_of(input) ? (size_t)(limit - end_of(input)) : 0;
}

static void forget_before(struct input *input, uint64_t position)
{
    if (position <= input->base)
        return;
    size_t gone =
        position - input->base < input->size ? (size_t)(position - input->base) : input->size;
    input->size -= gone;
    if (input->size > 0)
        memmove(input->data, input->data + gone, input->size);
    input->base += gone;
}

/* Older snapshots may be needed when the newest is damaged; not at any price. */
static void forget(struct input *input)
{
    if (input->size > INPUT_KEPT) {
        uint64_t begin = end_of(input) - INPUT_KEPT;

        forget_before(input, begin < input->needed ? begin : input->needed);
    }
}

int input_add(struct input *input, const char *data, size_t size)
{
    if (input->skip > 0) {
        size_t skipped = size < input->skip ? size : (size_t)input->skip;

        input->skip -= skipped;
        data += skipped;
        size -= skipped;
    }
    if (input->size + size > input->capacity) {
        size_t capacity = 2 * (input->size + size);
        char *more = realloc(input->data, capacity);

        if (!more)
            return -ENOMEM;
        input->data = more;
        input->capacity = capacity;
    }
    if (size > 0)
        memcpy(input->data + input->size, data, size);
    input->size += size;
    forget(input);
    return 0;
}

void input_end(struct input *input)
{
    input->ended = true;
}

bool input_next(struct input *input, struct wire_input *piece)
{
    uint64_t end = end_of(input), limit = input->taken + INPUT_AHEAD;

    if (!input->open || input->skip > 0 || input->end_sent)
        return false;
    if (end > limit)
        end = limit;
    if (end > input->sent + WIRE_CHUNK_MAX)
        end = input->sent + WIRE_CHUNK_MAX;
    bool last = input->ended && end == end_of(input);
    if (end <= input->sent && !last)
        return false;
    *piece = (struct wire_input){
        .position = input->sent,
        .end = last,
        .data = {input->data ? input->data + (input->sent - input->base) : "",
                 (uint32_t)(end - input->sent)},
    };
    input->sent = end;
    input->end_sent = last;
    return true;
}

void input_close(struct input *input)
{
    input->open = false;
}

bool input_taken(struct input *input, uint64_t position)
{
    if (!input->open) {
        if (position < input->base)
            return false;
        if (position > end_of(input)) { /* bsprun itself was restarted: its own input is new */
            input->skip = position - end_of(input);
            input->base = position;
            input->size = 0;
        }
        input->open = true;
        input->end_sent = false;
        input->sent = input->taken = position;
    } else if (position > input->taken && position <= input->sent) {
        input->taken = position;
    }
    return true;
}

void input_mark(struct input *input, struct coord_name name, uint64_t position)
{
    if (input->mark_count == INPUT_MARKS_MAX)
        memmove(input->marks, input->marks + 1, --input->mark_count * sizeof *input->marks);
    input->marks[input->mark_count++] = (struct input_mark){name, position};
}

void input_commit(struct input *input, struct coord_name name)
{
    for (uint32_t i = input->mark_count; i-- > 0;)
        if (coord_name_same(input->marks[i].name, name)) {
            if (input->marks[i].position <= input->sent)
                input->needed = input->marks[i].position;
            forget(input);
            return;
        }
}
