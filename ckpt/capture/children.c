/* children.c - children that the process has not waited for yet.
 *
 * A restored process, or a thawed copy, has no children: its wait() would fail, and the status of a
 * child that has ended would be lost. */
#include <errno.h>
#include <linux/wait.h>
#include <string.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"
#include "lib/base/process_stat.h"

#define LIST_BUFFER    1024 /* only the first is named */
#define COMMAND_BUFFER 256
#define ZOMBIE         'Z'

bool bspz_has_children(void)
{
    char info[128] __attribute__((aligned(8))); /* siginfo_t */

    return bspz_sys5(SYS_waitid, 0 /* any */, 0, info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0) !=
           -ECHILD;
}

static void path_of(char *path, size_t room, int64_t process, const char *file)
{
    struct bspz_text text;

    bspz_text_begin(&text, path, room);
    bspz_text_add(&text, "/proc/");
    bspz_text_decimal(&text, process);
    bspz_text_add(&text, file);
}

/* The process id of the first child; 0: there is none. */
static int64_t first_child(void)
{
    char list[LIST_BUFFER], path[64];
    struct bspz_text text;
    int file;
    long bytes;
    int64_t child = 0;

    bspz_text_begin(&text, path, sizeof path);
    bspz_text_add(&text, "/proc/self/task/");
    bspz_text_decimal(&text, bspz_sys0(SYS_gettid));
    bspz_text_add(&text, "/children");
    file = bspz_sys_open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    bytes = bspz_sys_read_all(file, list, sizeof list);
    bspz_sys_close(file);
    for (long i = 0; i < bytes && list[i] >= '0' && list[i] <= '9'; i++)
        child = child * 10 + (list[i] - '0');
    return child;
}

/* The state of a process, from /proc/PID/stat: the letter behind its name. */
static char state_of(int64_t process)
{
    char path[64], line[512];
    const char *state;
    long bytes;
    int file;

    path_of(path, sizeof path, process, "/stat");
    file = bspz_sys_open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return ' ';
    bytes = bspz_sys_read_all(file, line, sizeof line - 1);
    bspz_sys_close(file);
    if (bytes <= 0)
        return ' ';
    line[bytes] = '\0';
    state = bspz_stat_field(line, BSPZ_STAT_STATE);
    return state ? *state : ' ';
}

/* Appends the command line with blanks between the words, or the name of a process that has
 * none. */
static void add_command(struct bspz_text *why, int64_t process)
{
    static const char *const files[] = {"/cmdline", "/comm"};
    char path[64], command[COMMAND_BUFFER];
    long bytes = 0;

    for (int i = 0; i < 2 && bytes <= 0; i++) {
        int file;

        path_of(path, sizeof path, process, files[i]);
        file = bspz_sys_open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0)
            continue;
        bytes = bspz_sys_read_all(file, command, sizeof command - 1);
        bspz_sys_close(file);
    }
    if (bytes < 0)
        bytes = 0;
    while (bytes > 0 && (command[bytes - 1] == '\0' || command[bytes - 1] == '\n'))
        bytes--;
    for (long i = 0; i < bytes; i++)
        if ((unsigned char)command[i] < ' ')
            command[i] = ' ';
    command[bytes] = '\0';
    bspz_text_add(why, bytes > 0 ? command : "?");
}

int bspz_snapshot_check_children(struct bspz_snapshot *snapshot)
{
    struct bspz_text why;
    int64_t child;

    if (!bspz_has_children() || bspz_rules_have(snapshot->options, BSPZ_RULE_CHILD))
        return 0;
    child = first_child();
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process has a child");
    if (child > 0) {
        bspz_text_add(&why, ", process ");
        bspz_text_decimal(&why, child);
        bspz_text_add(&why, " (");
        add_command(&why, child);
        bspz_text_add(&why, ")");
    }
    bspz_text_add(&why, child > 0 && state_of(child) == ZOMBIE
                            ? ", which has ended and has not been waited for"
                            : ", which has not been waited for");
    bspz_text_add(&why, "; --ckpt-exclude child permits this");
    return -EBUSY;
}
