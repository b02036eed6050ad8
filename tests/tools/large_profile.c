/* large_profile SUPERSTEPS PROCESSES - writes a profile (PROF.bsp) of so many supersteps and
 * processes to the standard output: all exchange with a neighbour, each a few kilobytes of its own
 * size. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* xorshift, as rand() would be most of the time that it takes. */
static uint64_t chance(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static char *put_number(char *at, uint64_t number)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    *at++ = ' ';
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static void write_step(uint64_t now, uint64_t computing, uint64_t communicating, int processes,
                       char *line)
{
    static uint64_t bytes[4096];
    uint64_t start = now + computing, end = start + communicating;
    char *at = line + sprintf(line, "c %d %" PRIu64 ".%09" PRIu64 " %" PRIu64 ".%09" PRIu64,
                              (int)(start & 3), start / 1000000000, start % 1000000000,
                              end / 1000000000, end % 1000000000);
    for (int i = 0; i < 2 * processes; i++, at += 2)
        memcpy(at, " 1", 2);
    for (int i = 0; i < processes; i++)
        bytes[i] = 8 * (chance() & 4095);
    memcpy(at, " @@", 3);
    at += 3;
    for (int i = 0; i < processes; i++) {
        at = put_number(at, bytes[i]);
        at = put_number(at, bytes[i + 1 < processes ? i + 1 : 0]);
    }
    at += sprintf(at, "\nw 0.%09" PRIu64 " 0.%09" PRIu64 " 0.%09" PRIu64 "\n", computing,
                  computing * 3 / 4, computing / 2);
    fwrite(line, 1, (size_t)(at - line), stdout);
}

int main(int argc, char **argv)
{
    uint64_t now = 0, supersteps = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    int processes = argc == 3 ? atoi(argv[2]) : 0;
    char *line = malloc(4096 * 40 + 1000);
    if (processes < 2 || processes > 4096 || !line) {
        fprintf(stderr, "usage: large_profile SUPERSTEPS PROCESSES\n");
        return 2;
    }
    printf("D Sat Nov 21 05:30:07 2026\nF -prof\nN LINUX\nX SHMEM_SYSV\nP %d\n", processes);
    for (uint64_t i = 0; i < supersteps; i++) {
        uint64_t computing = 100000 + chance() % 100000, communicating = 20000 + chance() % 5000;
        write_step(now, computing, communicating, processes, line);
        now += computing + communicating;
    }
    for (int i = 0; i < 4; i++)
        printf("s %d %d program.c\n", i, 10 * i + 7);
    printf("E %" PRIu64 ".%09" PRIu64 "\n", now / 1000000000, now % 1000000000);
    free(line);
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
