/* filled.c - a process with many open files, of which the limit permits few more.
 *
 *   filled IMAGE   writes the image and ends with status 10; restored, it checks its files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/state.h"

#define FILES 700

static int files[FILES], of_parent;

/* The images of a restore take low numbers, and so do these. */
static void open_files(const char *path)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/stat", (int)getppid());
    of_parent = open(name, O_RDONLY);
    CHECK(of_parent >= 0);
    for (int i = 0; i < FILES; i++) {
        files[i] = open(path, O_RDONLY | (i % 2 ? O_CLOEXEC : 0));
        CHECK(files[i] >= 0 && lseek(files[i], i, SEEK_SET) == i);
    }
    CHECK(dup2(files[FILES - 1], files[FILES - 1] + 1) == files[FILES - 1] + 1);
}

static void check_files(void)
{
    char byte;

    CHECK(pread(of_parent, &byte, 1, 0) < 0 && errno == EIO); /* it may be gone */
    for (int i = 0; i < FILES; i++) {
        CHECK(lseek(files[i], 0, SEEK_CUR) == i);
        CHECK(fcntl(files[i], F_GETFD) == (i % 2 ? FD_CLOEXEC : 0));
    }
    CHECK(lseek(files[FILES - 1] + 1, 1000, SEEK_SET) == 1000);
    CHECK(lseek(files[FILES - 1], 0, SEEK_CUR) == 1000);
    for (int fd = files[FILES - 1] + 2; fd < 1024; fd++)
        CHECK(fcntl(fd, F_GETFD) < 0);
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    open_files(argv[0]);
    if (host_snapshot(argv[1]) == 0)
        _exit(10);
    check_files();
    return 0;
}
