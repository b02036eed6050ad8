/* I/O: output of all processes reaches the user's standard output complete and unmixed by line.
 *
 * OUT-EACH: ${'abcdefghij'[i] * 300} ${i}
 * OUT-EACH: ${'ABCDEFGHIJ'[i] * 500} ${i}
 */
#include <bsp.h>

int main(void)
{
    char line[600];

    bsp_begin(0);
    for (int i = 0; i < 500; i++)
        line[i] = (char)('a' + bsp_pid());
    line[300] = '\0';
    printf("%s %d\n", line, bsp_pid());
    for (int i = 0; i < 500; i++)
        line[i] = (char)('A' + bsp_pid());
    line[500] = '\0';
    printf("%s %d\n", line, bsp_pid());
    bsp_end();
    return 0;
}
