/* Process model: a program started by a rank inherits no descriptor and no environment variable of
 * the runtime beyond standard input, output and error.
 *
 * P: 1 2
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <sys/wait.h>

/* The shell reads the directory with a descriptor of its own: listed, but gone when looked at. */
static const char *const count_descriptors =
    "for f in /proc/$$/fd/*; do n=${f##*/}; [ $n -gt 2 ] && [ -e $f ] && "
    "readlink $f | grep -v '/proc/' ; done; true";

static int lines_of(const char *command)
{
    FILE *output = popen(command, "r");
    int lines = 0, c;

    while (output && (c = fgetc(output)) != EOF)
        lines += c == '\n';
    pclose(output);
    return lines;
}

int main(void)
{
    int before = lines_of(count_descriptors);

    bsp_begin(0);
    CHECK_INT(lines_of(count_descriptors), before);
    conform_done();
    bsp_end();
    CHECK_INT(lines_of(count_descriptors), before);
    return conform_end();
}
