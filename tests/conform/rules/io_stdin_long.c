/* I/O: input longer than any buffer is read once, in order, by process 0, although the others have
 * the same unread stdio buffer when they are made and exit with it.
 *
 * CASE: file
 * STDIN: file ${'0123456789abcde\n' * 2000}
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: pipe
 * STDIN: pipe ${'0123456789abcde\n' * 2000}
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"

static int expect_lines(int count)
{
    char line[100];
    int good = 0;

    for (int i = 0; i < count; i++)
        good += fgets(line, sizeof line, stdin) && strcmp(line, "0123456789abcde\n") == 0;
    return good == count;
}

int main(void)
{
    CHECK(expect_lines(10));
    bsp_begin(0);
    if (bsp_pid() == 0)
        CHECK(expect_lines(990));
    bsp_sync();
    conform_done();
    bsp_end();
    CHECK(expect_lines(1000));
    CHECK(getchar() == EOF);
    return conform_end();
}
