/* Header: bsp_abort with a list of arguments, under the two names it has elsewhere.
 *
 * P: 1 2
 * STATUS: 1
 *
 * CASE: one name
 * ARGS: abort_va
 * ERR-RE: ^ABORT\(pid  ${p-1}\):7 wrong$
 *
 * CASE: the other
 * ARGS: vabort
 * ERR-RE: ^ABORT\(pid  ${p-1}\):7 wrong$
 */
#include "../check.h"
#include <stdarg.h>

static void give_up(const char *name, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (strcmp(name, "abort_va") == 0)
        bsp_abort_va(format, arguments);
    else
        bsp_vabort(format, arguments);
}

int main(int argc, char **argv)
{
    bsp_begin(0);
    if (bsp_pid() == bsp_nprocs() - 1)
        give_up(argc > 1 ? argv[1] : "", "%d %s", 7, "wrong");
    bsp_sync();
    bsp_end();
    return 0;
}
