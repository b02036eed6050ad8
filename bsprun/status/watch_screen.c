/* watch_screen.c - see watch_screen.h. */
#define _XOPEN_SOURCE_EXTENDED 1
#include "bsprun/status/watch_screen.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ESCAPE_MS 25 /* within which the bytes of a key arrive that begins with Escape */

static bool begin_colours(void)
{
    if (!has_colors() || start_color() != OK || use_default_colors() != OK)
        return false;
    init_pair(WATCH_COMPUTING, COLOR_GREEN, -1);
    init_pair(WATCH_COMMUNICATING, COLOR_YELLOW, -1);
    init_pair(WATCH_WAITING, COLOR_RED, -1);
    return true;
}

const char *watch_screen_open(struct watch_screen *screen)
{
    setlocale(LC_CTYPE, "");
    screen->terminal = newterm(NULL, stdout, stdin);
    if (!screen->terminal)
        return "the type of the terminal (TERM) is not known";
    const char *moves = tigetstr((char *)"cup");
    if (!moves || moves == (const char *)-1) {
        watch_screen_close(screen);
        return "the terminal (TERM) cannot place its cursor";
    }
    screen->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    screen->colours = begin_colours();
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    return NULL;
}

void watch_screen_close(struct watch_screen *screen)
{
    endwin();
    delscreen(screen->terminal);
    screen->terminal = NULL;
}

void watch_screen_leave(void)
{
    endwin();
}

void watch_screen_return(void)
{
    reset_prog_mode();
    watch_screen_fit();
    clearok(curscr, TRUE);
}

void watch_screen_fit(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resizeterm(size.ws_row, size.ws_col);
}

void watch_screen_size(unsigned *rows, unsigned *columns)
{
    int height, width;

    getmaxyx(stdscr, height, width);
    *rows = height > 0 ? (unsigned)height : 1;
    *columns = width > 0 ? (unsigned)width : 1;
}

/* Told apart without colours, too: bars by their characters. */
static void use(const struct watch_screen *screen, enum watch_look look)
{
    static const attr_t looks[WATCH_LOOKS] = {
        [WATCH_BOLD] = A_BOLD, [WATCH_REVERSE] = A_REVERSE, [WATCH_FAINT] = A_DIM};
    bool coloured = screen->colours && look >= WATCH_COMPUTING;

    attr_set(looks[look], coloured ? (short)look : 0, NULL);
}

static void show_row(const struct watch_screen *screen, int row, const struct watch_cell *cells,
                     unsigned columns)
{
    wchar_t text[WATCH_SIDE_MOST];

    for (unsigned from = 0, end; from < columns; from = end) {
        int count = 0;

        for (end = from; end < columns && cells[end].look == cells[from].look; end++)
            if (cells[end].glyph)
                text[count++] = cells[end].glyph;
        use(screen, (enum watch_look)cells[from].look);
        mvaddnwstr(row, (int)from, text, count);
    }
}

void watch_screen_show(const struct watch_screen *screen, const struct watch_picture *picture)
{
    erase();
    for (unsigned row = 0; row < picture->rows; row++)
        show_row(screen, (int)row, &picture->cells[(size_t)row * picture->columns],
                 picture->columns);
    refresh();
}

int watch_screen_key(void)
{
    int key = getch();

    switch (key) {
    case ERR:
        return -1;
    case KEY_UP:
        return WATCH_KEY_UP;
    case KEY_DOWN:
        return WATCH_KEY_DOWN;
    case KEY_PPAGE:
        return WATCH_KEY_PAGE_UP;
    case KEY_NPAGE:
        return WATCH_KEY_PAGE_DOWN;
    case KEY_HOME:
        return WATCH_KEY_HOME;
    case KEY_END:
        return WATCH_KEY_END;
    case KEY_BACKSPACE:
        return WATCH_KEY_ERASE;
    case KEY_ENTER:
        return '\n';
    default:
        return key > 0 && key < 128 ? key : WATCH_KEY_OTHER;
    }
}
