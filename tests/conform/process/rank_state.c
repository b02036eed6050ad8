/* Process model: a rank has one thread, no core file, the program's own command line, and no
 * descriptor of the runtime where the program's own go; process 0 stays in the caller's process
 * group and the others have their own.
 *
 * ARGS: some "more arguments"
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static int entries(const char *directory)
{
    DIR *open_directory = opendir(directory);
    int count = -2; /* . and .. */

    while (open_directory && readdir(open_directory))
        count++;
    closedir(open_directory);
    return count;
}

int main(int argc, char **argv)
{
    char line[4096] = "";
    struct rlimit core;
    int lowest = open("/dev/null", O_RDONLY), other, file;
    pid_t group = getpgrp();

    close(lowest);
    bsp_begin(0);
    other = open("/dev/null", O_RDONLY);
    CHECK_INT(other, lowest);
    close(other);
    for (int fd = 3; fd < 512; fd++)
        CHECK(fcntl(fd, F_GETFD) == -1 || fd < lowest);
    CHECK_INT(entries("/proc/self/task"), 1);
    getrlimit(RLIMIT_CORE, &core);
    CHECK_INT(core.rlim_cur, 0);
    CHECK((getpgrp() == group) == (bsp_pid() == 0));
    CHECK(getpgrp() == group || getpgrp() == getpid());
    file = open("/proc/self/cmdline", O_RDONLY);
    CHECK(read(file, line, sizeof line) > 0 && strcmp(line, argv[0]) == 0);
    CHECK(argc == 3 && strcmp(line + strlen(line) + 1, "some") == 0);
    close(file);
    conform_done();
    bsp_end();
    return 0;
}
