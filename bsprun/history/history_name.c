/* history_name.c - names of hosts and sites in the history; see history.h.  Pure. */
#include "bsprun/history/history.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void history_name(char to[HISTORY_NAME_MAX + 1], const char *from)
{
    size_t length = strnlen(from, HISTORY_NAME_MAX);

    for (size_t i = 0; i < length; i++)
        to[i] = from[i] > ' ' && from[i] < 0x7f ? from[i] : '_';
    to[length] = '\0';
    if (length == 0)
        snprintf(to, HISTORY_NAME_MAX + 1, "_");
}

static const char *domain_of(const char *host)
{
    const char *dot = strchr(host, '.');
    bool digits = host[strspn(host, "0123456789.:")] == '\0' || strchr(host, ':');

    return dot && !digits ? dot + 1 : "";
}

void history_site_name(const char *cluster, const char *own, const char *const *hosts, size_t count,
                       char name[HISTORY_NAME_MAX + 1])
{
    char text[HISTORY_NAME_MAX + 1 + 16];
    const char *domain = count > 0 ? domain_of(hosts[0]) : "";

    for (size_t i = 1; i < count && *domain; i++)
        if (strcasecmp(domain_of(hosts[i]), domain) != 0)
            domain = "";
    if (cluster && *cluster)
        snprintf(text, sizeof text, "slurm:%.*s", (int)HISTORY_NAME_MAX, cluster);
    else if (count > 1 && *domain)
        snprintf(text, sizeof text, "domain:%.*s", (int)HISTORY_NAME_MAX, domain);
    else if (count > 1)
        snprintf(text, sizeof text, "hosts-of:%.*s", (int)HISTORY_NAME_MAX, own);
    else
        snprintf(text, sizeof text, "local:%.*s", (int)HISTORY_NAME_MAX, own);
    history_name(name, text);
}
