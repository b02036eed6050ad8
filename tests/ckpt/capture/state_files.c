/* state_files.c - descriptors and streams: offsets, lengths, flags, buffers, duplicates, devices
 * and directories.  All files lie in the current directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ckpt/capture/state.h"

static int written, appended, reading, twice, null, random_device, twin_out;
static int own, own_thread, own_tasks;
static FILE *stream, *input;
static DIR *directory;
static char where[4096];

static int open_checked(const char *name, int flags)
{
    int fd = open(name, flags, 0640);

    CHECK(fd >= 0);
    return fd;
}

static long length_of(int fd)
{
    struct stat status;

    CHECK(fstat(fd, &status) == 0);
    return (long)status.st_size;
}

void files_set(void)
{
    CHECK(getcwd(where, sizeof where));
    umask(027);
    written = open_checked("written", O_RDWR | O_CREAT | O_EXCL | O_TRUNC);
    CHECK(write(written, "0123456789", 10) == 10);
    CHECK(lseek(written, 6, SEEK_SET) == 6);
    CHECK(dup2(written, 200) == 200);
    CHECK(fcntl(200, F_SETFD, FD_CLOEXEC) == 0);
    twice = open_checked("written", O_RDONLY);
    CHECK(lseek(twice, 3, SEEK_SET) == 3);
    appended = open_checked("appended", O_WRONLY | O_CREAT | O_APPEND);
    CHECK(write(appended, "first\n", 6) == 6);
    reading = open_checked("written", O_RDONLY | O_NONBLOCK);
    null = open_checked("/dev/null", O_WRONLY);
    random_device = open_checked("/dev/urandom", O_RDONLY | O_CLOEXEC);
    twin_out = dup(1);
    stream = fopen("stream", "w");
    CHECK(stream);
    fprintf(stream, "line 0\n");
    fflush(stream);
    fprintf(stream, "line 1, in the buffer\n");
    input = fopen("input", "w");
    for (int i = 0; i < 3000; i++)
        fprintf(input, "%d\n", i);
    fclose(input);
    input = fopen("input", "r");
    own = open_checked("/proc/self/stat", O_RDONLY);
    own_thread = open_checked("/proc/thread-self/stat", O_RDONLY);
    own_tasks = open_checked("/proc/self/task", O_RDONLY | O_DIRECTORY);
    directory = opendir(".");
    CHECK(input && directory && readdir(directory));
    CHECK(chdir("/") == 0 && chdir(where) == 0);
}

/* What a program does that goes on after its snapshot. */
void files_spoil(void)
{
    CHECK(write(written, "too much, too late", 18) == 18);
    CHECK(write(appended, "not meant to be\n", 16) == 16);
    fprintf(stream, "never\n");
    fclose(stream);
    close(twice);
}

static void check_offsets(int hop)
{
    char byte;

    CHECK(lseek(written, 0, SEEK_CUR) == 6 && lseek(200, 0, SEEK_CUR) == 6);
    CHECK(lseek(200, 8, SEEK_SET) == 8 && lseek(written, 0, SEEK_CUR) == 8);
    CHECK(lseek(written, 6, SEEK_SET) == 6);
    CHECK(fcntl(200, F_GETFD) == FD_CLOEXEC && fcntl(written, F_GETFD) == 0);
    CHECK(length_of(written) == 10);
    CHECK(lseek(twice, 0, SEEK_CUR) == 3 && read(twice, &byte, 1) == 1 && byte == '3');
    CHECK(lseek(twice, 3, SEEK_SET) == 3);
    CHECK((fcntl(reading, F_GETFL) & O_NONBLOCK) == O_NONBLOCK);
    CHECK((fcntl(appended, F_GETFL) & (O_APPEND | O_ACCMODE)) == (O_APPEND | O_WRONLY));
    CHECK(length_of(appended) == 6 * hop);
    CHECK(write(appended, "again\n", 6) == 6 && length_of(appended) == 6 * hop + 6);
}

/* Files of the process in /proc are those of the one that goes on. */
static void check_own(void)
{
    char text[64] = "", name[32];

    CHECK(pread(own, text, sizeof text - 1, 0) > 0 && atoi(text) == getpid());
    CHECK(pread(own_thread, text, sizeof text - 1, 0) > 0 && atoi(text) == getpid());
    snprintf(name, sizeof name, "%d", (int)getpid());
    CHECK(faccessat(own_tasks, name, F_OK, 0) == 0);
}

void files_check(int hop)
{
    char now[4096], byte;
    int number;

    CHECK(getcwd(now, sizeof now) && strcmp(now, where) == 0);
    CHECK(umask(027) == 027);
    check_offsets(hop);
    check_own();
    CHECK(write(null, "x", 1) == 1 && read(random_device, &byte, 1) == 1);
    CHECK(fcntl(random_device, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(twin_out, F_GETFL) == fcntl(1, F_GETFL));
    CHECK(fscanf(input, "%d", &number) == 1 && number == hop - 1);
    fprintf(stream, "line %d\n", hop + 1);
    readdir(directory);
    errno = 0;
    CHECK(fcntl(199, F_GETFD) < 0 && errno == EBADF);
}
