/* others.c - the processor time of other users; see parts.h.
 *
 * Others are users that are not of the system, by /etc/login.defs: what daemons and the kernel do
 * does not count.  The owner of /proc/PID is the effective user. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/owner/parts.h"
#include "lib/base/buffer.h"
#include "lib/base/io.h"
#include "lib/base/process_stat.h"

#define FIRST_DEFAULT 1000u
#define LAST_DEFAULT  60000u

void owner_others_begin(struct owner_others *others, const char *root, uid_t own)
{
    char path[OWNER_PATH], *line = NULL;
    size_t size = 0;
    unsigned number;
    FILE *file;

    *others = (struct owner_others){.own = own, .first = FIRST_DEFAULT, .last = LAST_DEFAULT};
    snprintf(path, sizeof path, "%s/etc/login.defs", root);
    file = fopen(path, "re");
    while (file && getline(&line, &size, file) > 0)
        if (sscanf(line, " UID_MIN %u", &number) == 1)
            others->first = number;
        else if (sscanf(line, " UID_MAX %u", &number) == 1)
            others->last = number;
    free(line);
    if (file)
        fclose(file);
}

static bool is_of_others(const struct owner_others *others, int directory, const char *name)
{
    struct stat status;

    return isdigit((unsigned char)name[0]) && fstatat(directory, name, &status, 0) == 0 &&
           status.st_uid != others->own && status.st_uid >= others->first &&
           status.st_uid <= others->last;
}

static bool read_process(const char *root, pid_t pid, struct owner_process *process)
{
    char path[OWNER_PATH], line[BSPZ_STAT_LINE];

    snprintf(path, sizeof path, "%s/proc/%d/stat", root, (int)pid);
    if (!bspz_read_text(path, line, sizeof line) || !bspz_stat_field(line, BSPZ_STAT_STARTED))
        return false;
    process->pid = pid;
    process->started = bspz_stat_number(line, BSPZ_STAT_STARTED);
    process->ticks =
        bspz_stat_number(line, BSPZ_STAT_USER_TIME) + bspz_stat_number(line, BSPZ_STAT_SYSTEM_TIME);
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct owner_process *one = a, *other = b;

    return (one->pid > other->pid) - (one->pid < other->pid);
}

static struct owner_process *read_processes(const struct owner_others *others, const char *root,
                                            size_t *count)
{
    struct owner_process *list = NULL;
    char path[OWNER_PATH];
    struct dirent *entry;
    DIR *proc;

    *count = 0;
    snprintf(path, sizeof path, "%s/proc", root);
    proc = opendir(path);
    while (proc && (entry = readdir(proc))) {
        if (!is_of_others(others, dirfd(proc), entry->d_name))
            continue;
        if (!BSPZ_GROW(list, *count))
            break;
        *count += read_process(root, atoi(entry->d_name), &list[*count]);
    }
    if (proc)
        closedir(proc);
    if (*count > 0)
        qsort(list, *count, sizeof *list, by_pid);
    return list;
}

/* What the process has used since the last look, so many ticks ago.  One that was not seen then has
 * begun since, or it has come to another user: it counts as one core at most. */
static uint64_t growth(const struct owner_others *others, const struct owner_process *process,
                       uint64_t passed)
{
    const struct owner_process *before =
        others->count == 0
            ? NULL
            : bsearch(process, others->items, others->count, sizeof *others->items, by_pid);

    if (!before || before->started != process->started)
        return process->ticks < passed ? process->ticks : passed;
    return process->ticks > before->ticks ? process->ticks - before->ticks : 0;
}

uint64_t owner_others_ms(struct owner_others *others, const char *root, uint64_t now_ms)
{
    uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
    uint64_t passed = (now_ms - others->looked_ms) * per_second / 1000;
    size_t count;
    struct owner_process *list = read_processes(others, root, &count);

    for (size_t i = 0; others->looked_ms > 0 && i < count; i++)
        others->ticks += growth(others, &list[i], passed);
    free(others->items);
    others->items = list;
    others->count = count;
    others->looked_ms = now_ms;
    return others->ticks * 1000 / per_second;
}
