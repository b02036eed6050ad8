/* I/O: every process sees the same arguments, quoting preserved.
 *
 * ARGS: plain "two  words" "" '$HOME *' "it's" '"' 'back\slash' -np --help 'semi;colon' 'tab	here'
 * OUT-EACH: ${i} [plain] [two  words] [] [$HOME *] [it's] ["] [back\slash] [-np] [--help] [semi;colon] [tab	here]
 */
#include <bsp.h>

int main(int argc, char **argv)
{
    bsp_begin(0);
    printf("%d", bsp_pid());
    for (int i = 1; i < argc; i++)
        printf(" [%s]", argv[i]);
    printf("\n");
    bsp_end();
    return argv[argc] != NULL;
}
