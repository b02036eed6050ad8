/* adapter.h - hosts with several networks: their addresses, and which of them others should use. */
#ifndef BSPRUN_ADAPTER_H
#define BSPRUN_ADAPTER_H

#include <stdbool.h>

/* The numeric addresses of a name, separated by blanks; to be freed.  NULL: none, and *error is a
 * static text.  Blocks. */
char *adapter_resolve(const char *name, const char **error);

/* The list ("1.2.3.4:5 [::1]:5") with those of the `preferred` addresses ("::1 1.2.3.4") first; to
 * be freed, NULL: no memory.  Other preferred addresses are not added, as nothing listens there. */
char *adapter_first(const char *list, const char *preferred);

/* Whether both lists ("1.2.3.4:5 [::1]:5") have the same addresses, whatever their ports are; not
 * if they are empty. */
bool adapter_same(const char *list, const char *other);

/* The numeric addresses of this host, NULL-terminated; to be freed with adapter_free.  NULL:
 * unknown. */
char **adapter_own(void);
void adapter_free(char **addresses);

#endif
