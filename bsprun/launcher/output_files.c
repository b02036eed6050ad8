/* output_files.c - a file for each process and stream; see output_files.h.
 *
 * One file is open at a time, as a job may have more files than a process may have open.
 */
#include "bsprun/launcher/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buffer.h"

int output_files_prepare(const char *directory)
{
    struct stat status;

    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return -errno;
    if (stat(directory, &status) != 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return access(directory, W_OK | X_OK) == 0 ? 0 : -errno;
}

void output_files_open(struct output_files *files, const char *directory, bool appends)
{
    *files = (struct output_files){.directory = directory, .appends = appends, .file = -1};
}

void output_files_close(struct output_files *files)
{
    if (files->directory && files->file >= 0)
        close(files->file);
    free(files->begun);
    memset(files, 0, sizeof *files);
}

static int open_file(struct output_files *files, int pid, int stream)
{
    size_t index = 2 * (size_t)(pid + 1) + (stream == 2);
    char name[PATH_MAX + 32], number[16] = "unknown";
    int error = BSPZ_REACH(files->begun, files->count, index + 1) ? 0 : -ENOMEM;

    if (error)
        return error;
    if (files->file >= 0 && files->pid == pid && files->stream == stream)
        return 0;
    if (files->file >= 0)
        close(files->file);
    if (pid >= 0)
        snprintf(number, sizeof number, "%d", pid);
    snprintf(name, sizeof name, "%s/%s.%s", files->directory, number, stream == 2 ? "err" : "out");
    files->file = open(name,
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
                           (files->appends || files->begun[index] ? 0 : O_TRUNC),
                       0666);
    if (files->file < 0)
        return -errno;
    files->begun[index] = true;
    files->pid = pid;
    files->stream = stream;
    return 0;
}

int output_files_begin(struct output_files *files, uint32_t count)
{
    int error = 0;

    for (int pid = 0; !error && pid < (int)count; pid++)
        for (int stream = 1; !error && stream <= 2; stream++)
            error = open_file(files, pid, stream);
    return error;
}

int output_files_write(struct output_files *files, int pid, int stream, const char *data,
                       size_t size)
{
    int error = open_file(files, pid, stream);

    while (!error && size > 0) {
        ssize_t got = write(files->file, data, size);

        if (got >= 0) {
            data += got;
            size -= (size_t)got;
        } else if (errno != EINTR) {
            error = -errno;
        }
    }
    files->error = files->error ? files->error : error;
    return error;
}
