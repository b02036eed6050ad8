/* I/O: a program that has made stdout unbuffered in the SPMD part finds it so behind bsp_end.
 *
 * P: 2 3
 * OUT: one
 * OUT: two
 * OUT: three
 */
#include <bsp.h>
#include <unistd.h>

int main(void)
{
    bsp_begin(0);
    setvbuf(stdout, NULL, _IONBF, 0);
    bsp_end();
    printf("%s\n", "one");
    if (write(STDOUT_FILENO, "two\n", 4) != 4)
        return 1;
    printf("%s\n", "three");
    return 0;
}
