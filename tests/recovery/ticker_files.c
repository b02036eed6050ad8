/* ticker_files.c - what the ticker does to files and streams.
 *
 *   appended.PID   opened with O_APPEND for the whole run, a line per superstep
 *   stream.PID     a stdio stream that is hardly ever flushed
 *   rewritten.PID  written again from its beginning every few supersteps, if wanted after a cut
 *   brief.PID      made in the middle of the run, closed later
 *   shared         one offset for all processes: opened before bsp_begin, written in turn; by the
 *                  first one alone where they are on several hosts, which have no common offset
 *   together       the same with O_APPEND
 *                  with files_alone each process has one of these of its own
 *   given          an open file for reading, which every process reads by itself, again from its
 *                  beginning after GIVEN supersteps
 *
 * A file has one writer in a superstep, and stdout and stderr have one each, so that the order of
 * everything is fixed. */
#include <bsp.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/recovery/ticker.h"

#define GIVEN 5000 /* numbers; tests/recovery/waiting.py goes beyond */

bool files_cut, files_apart, files_alone;

static char directory[3000];
static int shared, together, appended, rewritten, brief = -1;
static FILE *stream, *given;

static int open_here(const char *name, int flags)
{
    char path[sizeof directory + 64];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    fd = open(path, flags, 0644);
    if (fd < 0)
        ticker_fail(name);
    return fd;
}

static int open_own(const char *name, int flags)
{
    char own[64];

    snprintf(own, sizeof own, "%s.%d", name, bsp_pid());
    return open_here(own, flags);
}

static void write_all(int fd, const char *text)
{
    size_t size = strlen(text);

    if (write(fd, text, size) != (ssize_t)size)
        ticker_fail("write");
}

void files_before_begin(const char *where)
{
    snprintf(directory, sizeof directory, "%s", where);
    given = fdopen(open_here("given", O_RDWR | O_CREAT | O_TRUNC), "w");
    if (!given)
        ticker_fail("given");
    for (int i = 0; i < GIVEN; i++)
        fprintf(given, "%d\n", i * i);
    fclose(given);
    given = fdopen(open_here("given", O_RDONLY), "r");
    if (files_alone)
        return;
    shared = open_here("shared", O_WRONLY | O_CREAT | O_TRUNC);
    together = open_here("together", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    write_all(shared, "before bsp_begin\n");
}

void files_begin(void)
{
    appended = open_own("appended", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
    rewritten = open_own("rewritten", O_RDWR | O_CREAT);
    stream = fdopen(open_own("stream", O_WRONLY | O_CREAT | O_TRUNC), "w");
    if (!stream)
        ticker_fail("stream");
    if (!files_alone)
        return;
    shared = open_own("shared", O_WRONLY | O_CREAT | O_TRUNC);
    together = open_own("together", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND);
}

static void rewrite(int s)
{
    char line[200];

    if (s % 6 == 0 && files_cut && ftruncate(rewritten, 0) != 0)
        ticker_fail("cut");
    if (s % 6 == 0 && lseek(rewritten, 0, SEEK_SET) != 0)
        ticker_fail("rewind");
    snprintf(line, sizeof line, "%*d of process %d\n", s % 6 * 20 + 5, s, bsp_pid());
    write_all(rewritten, line);
}

static void be_brief(int s)
{
    char line[64];

    if (s % 10 == 4)
        brief = open_own("brief", O_WRONLY | O_CREAT | O_TRUNC);
    snprintf(line, sizeof line, "brief %d\n", s);
    if (s % 10 >= 4 && s % 10 <= 7)
        write_all(brief, line);
    if (s % 10 == 7)
        close(brief);
}

void files_write(int s)
{
    int p = bsp_nprocs(), me = bsp_pid(), number;
    char line[200];

    if (fscanf(given, "%d", &number) != 1) {
        rewind(given); /* a job may have more supersteps than the file has numbers */
        if (fscanf(given, "%d", &number) != 1)
            ticker_fail("given");
    }
    ticker_mix(&number, sizeof number);
    snprintf(line, sizeof line, "superstep %d of process %d: %016llx\n", s, me,
             (unsigned long long)ticker_sum);
    write_all(appended, line);
    fprintf(stream, "%s", line);
    if (s % 9 == me)
        fflush(stream);
    if ((files_apart ? 0 : s % p) == me)
        write_all(shared, line);
    if ((s + 1) % p == me)
        write_all(together, line);
    rewrite(s);
    be_brief(s);
}

/* stdout stays in the buffer every other time; it may then only be written when it is this
 * process's turn. */
void files_print(int s)
{
    int p = bsp_nprocs(), me = bsp_pid();

    if (s % p == me) {
        printf("%d prints in superstep %d: %016llx\n", me, s, (unsigned long long)ticker_sum);
        if (s / p % 2)
            fflush(stdout);
    }
    if ((s + p / 2) % p == me)
        fprintf(stderr, "%d complains in superstep %d\n", me, s);
}

void files_end(void)
{
    if (fclose(stream) != 0 || close(appended) != 0 || close(rewritten) != 0)
        ticker_fail("close");
    close(shared);
    close(together);
}
