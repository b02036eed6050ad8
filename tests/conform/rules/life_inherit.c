/* Life cycle: the other processes inherit globals, locals, heap, arguments, environment, working
 * directory, umask and open files of process 0 at bsp_begin; addresses agree.
 *
 * ARGS: one "two words"
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int global;
static struct {
    int *heap, *local;
    int fd;
    char directory[4096];
} at_begin;

int main(int argc, char **argv)
{
    int local = 7;
    char here[4096];

    global = 5;
    setenv("CONFORM_INHERIT", "yes", 1);
    if (mkdir("below", 0755) || chdir("below") || !getcwd(at_begin.directory, 4096))
        return 1;
    umask(027);
    at_begin.heap = malloc(100000 * sizeof(int));
    at_begin.heap[99999] = 99;
    at_begin.local = &local;
    at_begin.fd = open("data", O_RDWR | O_CREAT, 0600);
    if (write(at_begin.fd, "file", 4) != 4)
        return 1;

    bsp_begin(0);
    CHECK_INT(global, 5);
    CHECK_INT(local, 7);
    CHECK(at_begin.local == &local);
    CHECK_INT(at_begin.heap[99999], 99);
    CHECK(argc == 3 && strcmp(argv[1], "one") == 0 && strcmp(argv[2], "two words") == 0);
    CHECK(getenv("CONFORM_INHERIT") != NULL);
    CHECK(getcwd(here, sizeof here) && strcmp(here, at_begin.directory) == 0);
    CHECK_INT(umask(027), 027);
    char text[5] = "";
    CHECK(pread(at_begin.fd, text, 4, 0) == 4 && strcmp(text, "file") == 0);
    conform_done();
    bsp_end();
    return 0;
}
