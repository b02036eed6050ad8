/* profile_stack.c - the lines of call stacks (A) of PROF.bsp; see profile.h. */
#include "tools/profile/profile_fields.h"

/* "<LINE of FILE NAME, NAME, > with": the file's name may have blanks, the functions' have none. */
static bool take_place(struct rest *rest, struct profile_stack *stack)
{
    static const char ending[] = "> with";
    const char *close = memmem(rest->at, (size_t)(rest->end - rest->at), ending, strlen(ending));
    uint64_t line;
    if (!close || !take_word(rest, " <") || !take_digits(rest, UINT32_MAX, &line) ||
        !take_word(rest, " of ") || rest->at >= close)
        return false;
    /* Back over "NAME, " to where the functions begin. */
    const char *names = close;
    while (names - rest->at > 2 && memcmp(names - 2, ", ", 2) == 0) {
        const char *name = names - 2;
        while (name > rest->at && name[-1] != ' ')
            name--;
        if (name == names - 2 || name == rest->at)
            break;
        names = name;
    }
    stack->line = (uint32_t)line;
    stack->file = rest->at;
    stack->file_length = (size_t)(names - rest->at);
    if (stack->file_length > 0 && stack->file[stack->file_length - 1] == ' ')
        stack->file_length--;
    stack->names = names;
    stack->names_length = (size_t)(close - names);
    rest->at = close + strlen(ending);
    return stack->file_length > 0;
}

static bool take_times(struct rest *rest, const char *word, struct profile_spread *spread)
{
    return take_seconds(rest, &spread->most) && take_seconds(rest, &spread->mean) &&
           take_seconds(rest, &spread->least) && take_word(rest, word);
}

bool profile_take_stack(const char *line, size_t length, struct profile_stack *stack)
{
    struct rest rest = {line + 1, line + length};
    return take_place(&rest, stack) && take_number(&rest, UINT64_MAX, &stack->supersteps) &&
           take_word(&rest, " SYNCS") && take_times(&rest, " COMP", &stack->computing) &&
           take_times(&rest, " COMM", &stack->communicating) &&
           take_times(&rest, " COMPIDLE", &stack->waiting) &&
           take_number(&rest, UINT64_MAX, &stack->h.most) &&
           take_number(&rest, UINT64_MAX, &stack->h.mean) &&
           take_number(&rest, UINT64_MAX, &stack->h.least) && take_word(&rest, " HREL");
}
