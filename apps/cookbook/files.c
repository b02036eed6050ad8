/* files - each process reads its part of one file, and writes its part of another.
 *
 * Both are opened after bsp_begin, so that each process has an offset of its own, on each host. */
#include <bsp.h>
#include <bsp_level1.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { N = 100000 };

static char name[] = "cookbook-files-XXXXXX";

static unsigned char pattern(long i)
{
    return (unsigned char)(i * 7 + i / 256);
}

/* The job ends here, whichever process calls it. */
static void give_up(const char *why)
{
    unlink(name);
    bsp_abort("%s %s", name, why);
}

int main(void)
{
    int wrong = 0, fd = mkstemp(name); /* a name that the other processes will know */

    if (fd < 0)
        return perror("cannot make a file here"), 1;
    for (int i = 0; i < N; i++) {
        unsigned char byte = pattern(i);

        if (write(fd, &byte, 1) != 1)
            return perror(name), unlink(name), 1;
    }
    close(fd);

    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid();
    long first = (long)N * s / p, n = (long)N * (s + 1) / p - first;
    unsigned char *part = malloc(n + 1);

    fd = open(name, O_RDWR);
    if (fd < 0)
        give_up("cannot be opened");
    if (pread(fd, part, n, first) != n)
        give_up("is shorter than expected");
    bsp_sync(); /* all have read before anybody writes */
    for (long i = 0; i < n; i++)
        part[i] = (unsigned char)~part[i];
    if (pwrite(fd, part, n, first) != n)
        give_up("cannot be written");
    bsp_sync(); /* all have written: from here on the file is complete */

    long other = (long)N * ((s + 1) % p) / p;
    unsigned char byte;
    wrong = pread(fd, &byte, 1, other) != 1 || byte != (unsigned char)~pattern(other);
    for (long i = 0; i < n; i++)
        wrong += part[i] != (unsigned char)~pattern(first + i);
    wrong = bsp_sumI(wrong);
    close(fd);
    bsp_end();

    unlink(name);
    printf("bytes: %d\n%s\n", N, wrong == 0 ? "verified" : "FAILED");
    return wrong != 0;
}
