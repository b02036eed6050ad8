/* machine_missing.c - takes the place of machine.c where there is no SimGrid; see machine.h. */
#include <stdio.h>

#include "tools/bspsim/machine.h"

bool machine_is_there(void)
{
    return false;
}

bool machine_run(const struct machine_request *request, machine_source *source, void *context,
                 struct machine_facts *facts, char doing[MACHINE_DOING], char error[MACHINE_ERROR])
{
    (void)request;
    (void)source;
    (void)context;
    (void)facts;
    (void)doing;
    snprintf(error, MACHINE_ERROR, "this bspsim was built without SimGrid");
    return false;
}
