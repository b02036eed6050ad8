/* Process model: the shared memory is anonymous (no name anywhere), not part of a core file, and
 * large reserves cost nothing until used.
 *
 * P: 1 2 4
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

int main(void)
{
    bsp_begin(0);
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[600];
    int shared = 0, ours = 0, shown = 0;
    long resident = 0;

    bsp_sync();
    while (maps && fgets(line, sizeof line, maps)) {
        char mode[8];
        long number;

        if (sscanf(line, "%*x-%*x %7s", mode) == 1 && strchr(mode, '-') && strlen(mode) == 4)
            ours = mode[3] == 's';
        if (strstr(line, "/dev/shm") || strstr(line, "/SYSV"))
            shown++;
        if (ours && sscanf(line, "Rss: %ld", &number) == 1) {
            shared++;
            resident += number;
        }
        if (ours && strncmp(line, "VmFlags:", 8) == 0)
            CHECK(strstr(line, " dd") != NULL);
    }
    fclose(maps);
    CHECK(shared > 0);
    CHECK_INT(shown, 0);
    CHECK(resident < 16 << 10); /* kilobytes */
    conform_done();
    bsp_end();
    return 0;
}
