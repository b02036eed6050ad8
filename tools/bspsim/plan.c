#include "tools/bspsim/command.h"
int command_plan(const struct arguments *arguments)
{
    (void)arguments;
    return 0;
}
