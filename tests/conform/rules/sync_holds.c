/* Barrier: no process leaves bsp_sync before every process has reached it (seen through a file that
 * all of them append to), also when they are unevenly fast.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUNDS = 300 };

int main(void)
{
    int fd = open("marks", O_RDWR | O_CREAT | O_APPEND, 0600);

    bsp_begin(0);
    for (int round = 1; round <= ROUNDS; round++) {
        struct stat now;
        volatile int sink = 0;

        for (int i = 0; i < (round * 31 + bsp_pid() * 57) % 7 * 500; i++)
            sink += i;
        if (write(fd, "x", 1) != 1)
            bsp_abort("cannot write");
        bsp_sync();
        CHECK(fstat(fd, &now) == 0);
        CHECK(now.st_size >= (long)round * bsp_nprocs());
        CHECK(now.st_size <= (long)(round + 1) * bsp_nprocs() - 1 || bsp_nprocs() == 1);
    }
    conform_done();
    bsp_end();
    return 0;
}
