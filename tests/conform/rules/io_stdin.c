/* I/O: process 0 reads standard input before, during and behind the SPMD part without losing a
 * character, whatever it is; the others read end of file at once.
 *
 * CASE: pipe
 * STDIN: pipe 11 22\n33\nrest of the line\n
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: file
 * STDIN: file 11 22\n33\nrest of the line\n
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: terminal
 * P: 1 3
 * STDIN: tty 11 22\n33\nrest of the line\n
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"

int main(void)
{
    int before = 0, during = 0, after = 0;
    char rest[100] = "";

    CHECK(scanf("%d", &before) == 1 && before == 11);
    bsp_begin(0);
    if (bsp_pid() == 0)
        CHECK(scanf("%d", &during) == 1 && during == 22);
    else
        CHECK(getchar() == EOF);
    bsp_sync();
    conform_done();
    bsp_end();
    CHECK(scanf("%d ", &after) == 1 && after == 33);
    CHECK(fgets(rest, sizeof rest, stdin) && strcmp(rest, "rest of the line\n") == 0);
    CHECK(fgets(rest, sizeof rest, stdin) == NULL);
    return conform_end();
}
