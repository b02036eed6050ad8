/* opened.c - what becomes of files that process 0 has open when the others are made.
 *
 *   opened DATA LOG GONE
 *
 * Opens DATA for reading, LOG for appending, GONE for both and removes it, and a pipe.  Each
 * process in its turn prints what it gets of them: bytes, or the error. */
#include <bsp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *got(long result)
{
    return result >= 0 ? "fine" : strerror(errno);
}

int main(int argc, char **argv)
{
    char bytes[8];
    int data, log, gone, ends[2];

    if (argc != 4 || pipe(ends) != 0)
        return 2;
    data = open(argv[1], O_RDONLY);
    log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
    gone = open(argv[3], O_RDWR | O_CREAT | O_EXCL, 0600);
    if (unlink(argv[3]) != 0 || write(gone, "gone", 4) != 4)
        return 2;
    bsp_begin(bsp_nprocs());
    for (int turn = 0; turn < bsp_nprocs(); turn++) {
        bsp_sync();
        if (turn != bsp_pid())
            continue;
        printf("%d: data %s", turn, got(pread(data, bytes, 4, 0)));
        printf(", log %s", got(write(log, "line\n", 5)));
        printf(", gone %s", got(pread(gone, bytes, 4, 0)));
        printf(", pipe %s\n", got(write(ends[1], "x", 1)));
        fflush(stdout);
    }
    bsp_end();
    return 0;
}
