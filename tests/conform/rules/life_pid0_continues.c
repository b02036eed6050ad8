/* Life cycle: process 0 is the process that called bsp_begin; its locals, globals, heap and open
 * files go on through the SPMD part and behind it.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: file with a name
 * ARGS: name
 *
 * Processes on other hosts cannot have one without, which is said.
 *
 * CASE: file without a name
 * ERR-RE: \A(bsprun: host \w+: .* \(deleted\) is not, or not certainly, the same file as .*\n)*\Z
 */
#include "../check.h"
#include <unistd.h>

static int global = 1;

int main(int argc, char **argv)
{
    (void)argv;
    int local = 2;
    int *heap = malloc(sizeof *heap);
    FILE *file = argc > 1 ? fopen("file", "w+") : tmpfile();
    pid_t before = getpid(), parent = getppid();

    *heap = 3;
    fputs("first\n", file);
    bsp_begin(0);
    if (bsp_pid() == 0) {
        CHECK(getpid() == before);
        CHECK(getppid() == parent);
        fputs("second\n", file);
        global += 10;
        local += 10;
        *heap += 10;
    } else {
        CHECK(getpid() != before);
    }
    conform_done();
    bsp_end();

    char text[64];
    size_t length;

    rewind(file);
    length = fread(text, 1, sizeof text, file);
    CHECK(getpid() == before);
    CHECK(length == 13 && memcmp(text, "first\nsecond\n", 13) == 0);
    CHECK(global == 11 && local == 12 && *heap == 13);
    return conform_end();
}
