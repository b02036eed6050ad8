/* watch_view.c - see watch_view.h. */
#include "bsprun/status/watch_view.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

static const struct bspz_states_row rows[] = {
    [WATCH_SHOWS] = {"shows", TO(WATCH_ASKS_HOST) | TO(WATCH_CONFIRMS_END) | TO(WATCH_ENDED)},
    [WATCH_ASKS_HOST] = {"asks for a host",
                         TO(WATCH_SHOWS) | TO(WATCH_CONFIRMS_DRAIN) | TO(WATCH_ENDED)},
    [WATCH_CONFIRMS_DRAIN] = {"confirms a drain", TO(WATCH_SHOWS) | TO(WATCH_ENDED)},
    [WATCH_CONFIRMS_END] = {"confirms the end", TO(WATCH_SHOWS) | TO(WATCH_ENDED)},
    [WATCH_ENDED] = {"ended", TO(WATCH_SHOWS)}, /* of another job */
};

static const struct bspz_states states = {"a view of a job", WATCH_ENDED + 1, rows};

static void move(struct watch_view *view, enum watch_state to)
{
    view->state = (enum watch_state)bspz_states_move(&states, view->state, to);
}

void watch_view_say(struct watch_view *view, const char *message)
{
    snprintf(view->message, sizeof view->message, "%.*s", (int)strcspn(message, "\n"), message);
}

void watch_view_end(struct watch_view *view)
{
    if (view->state != WATCH_ENDED)
        move(view, WATCH_ENDED);
}

void watch_view_fit(struct watch_view *view, size_t rank_count, size_t page)
{
    size_t last = rank_count > page ? rank_count - page : 0;

    if (view->top > last)
        view->top = last;
}

static void scroll(struct watch_view *view, size_t rank_count, int key, size_t page)
{
    size_t step = key == WATCH_KEY_UP || key == WATCH_KEY_DOWN ? 1 : page > 0 ? page : 1;

    if (key == WATCH_KEY_HOME)
        view->top = 0;
    else if (key == WATCH_KEY_END)
        view->top = rank_count;
    else if (key == WATCH_KEY_UP || key == WATCH_KEY_PAGE_UP)
        view->top = view->top > step ? view->top - step : 0;
    else if (key == WATCH_KEY_DOWN || key == WATCH_KEY_PAGE_DOWN)
        view->top += step;
    watch_view_fit(view, rank_count, page);
}

static void sort(struct watch_view *view, enum watch_order order)
{
    view->order = order;
    view->top = 0;
}

static enum watch_action show(struct watch_view *view, const struct watch_facts *facts, int key,
                              size_t page)
{
    switch (key) {
    case 'q':
        return WATCH_QUIT;
    case 'n':
        return WATCH_NEXT_JOB;
    case 'p':
        sort(view, WATCH_BY_PID);
        break;
    case 'm':
        sort(view, WATCH_BY_MEMORY);
        break;
    case 'c':
        sort(view, WATCH_BY_COMPUTING);
        break;
    case 'w':
        sort(view, WATCH_BY_WAITING);
        break;
    case 's':
        return WATCH_SNAPSHOT;
    case 'd':
        view->typed[0] = '\0';
        move(view, WATCH_ASKS_HOST);
        break;
    case 'e':
        move(view, WATCH_CONFIRMS_END);
        break;
    default:
        scroll(view, facts ? facts->rank_count : 0, key, page);
    }
    return WATCH_NOTHING;
}

static bool is_host(const struct watch_facts *facts, const char *name)
{
    for (size_t i = 0; facts && i < facts->host_count; i++)
        if (strcmp(facts->hosts[i].name, name) == 0)
            return true;
    return false;
}

static void take_name(struct watch_view *view, const struct watch_facts *facts)
{
    char text[WATCH_TYPED_MOST + 32];

    if (is_host(facts, view->typed)) {
        move(view, WATCH_CONFIRMS_DRAIN);
        return;
    }
    if (view->typed[0]) {
        snprintf(text, sizeof text, "%s is no host of the job", view->typed);
        watch_view_say(view, text);
    }
    move(view, WATCH_SHOWS);
}

static void ask_host(struct watch_view *view, const struct watch_facts *facts, int key)
{
    size_t length = strlen(view->typed);

    if (key == WATCH_KEY_ESCAPE)
        move(view, WATCH_SHOWS);
    else if (key == '\n' || key == '\r')
        take_name(view, facts);
    else if ((key == WATCH_KEY_ERASE || key == 127) && length > 0)
        view->typed[length - 1] = '\0';
    else if (key > ' ' && key < 127 && length + 1 < sizeof view->typed) {
        view->typed[length] = (char)key;
        view->typed[length + 1] = '\0';
    }
}

enum watch_action watch_view_key(struct watch_view *view, const struct watch_facts *facts, int key,
                                 size_t page)
{
    enum watch_state was = view->state;

    if (was == WATCH_SHOWS || was == WATCH_ASKS_HOST)
        view->message[0] = '\0'; /* it has been read */
    switch (was) {
    case WATCH_SHOWS:
        return show(view, facts, key, page);
    case WATCH_ASKS_HOST:
        ask_host(view, facts, key);
        return WATCH_NOTHING;
    case WATCH_CONFIRMS_DRAIN:
    case WATCH_CONFIRMS_END:
        move(view, WATCH_SHOWS);
        if (key == 'y' || key == 'Y')
            return was == WATCH_CONFIRMS_END ? WATCH_END : WATCH_DRAIN;
        watch_view_say(view, was == WATCH_CONFIRMS_END ? "not ended" : "not drained");
        return WATCH_NOTHING;
    case WATCH_ENDED:
        return key == 'q' ? WATCH_QUIT : WATCH_NEXT_JOB;
    }
    return WATCH_NOTHING;
}
