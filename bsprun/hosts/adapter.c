/* adapter.c - addresses of hosts; see adapter.h. */
#include "bsprun/hosts/adapter.h"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *adapter_resolve(const char *name, const char **error)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *text = NULL;
    size_t size;
    int result = getaddrinfo(name, NULL, &hints, &found);

    if (result != 0) {
        *error = gai_strerror(result);
        return NULL;
    }
    FILE *file = open_memstream(&text, &size);
    for (const struct addrinfo *one = found; file && one; one = one->ai_next) {
        char address[NI_MAXHOST];

        if (getnameinfo(one->ai_addr, one->ai_addrlen, address, sizeof address, NULL, 0,
                        NI_NUMERICHOST) == 0)
            fprintf(file, "%s ", address);
    }
    freeaddrinfo(found);
    if (file && fclose(file) == 0)
        return text;
    *error = "out of memory";
    return NULL;
}

void adapter_free(char **addresses)
{
    for (char **one = addresses; one && *one; one++)
        free(*one);
    free(addresses);
}

static char *number_of(const struct sockaddr *address)
{
    size_t size =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    char text[NI_MAXHOST];

    if (getnameinfo(address, (socklen_t)size, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0)
        return NULL;
    text[strcspn(text, "%")] = '\0';
    return strdup(text);
}

char **adapter_own(void)
{
    struct ifaddrs *list = NULL;
    size_t count = 0, most = 0;
    char **addresses;

    if (getifaddrs(&list) != 0)
        return NULL;
    for (const struct ifaddrs *one = list; one; one = one->ifa_next)
        most++;
    addresses = calloc(most + 1, sizeof *addresses);
    for (const struct ifaddrs *one = list; addresses && one; one = one->ifa_next)
        if (one->ifa_addr &&
            (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6) &&
            (addresses[count] = number_of(one->ifa_addr)))
            count++;
    freeifaddrs(list);
    return addresses;
}

/* The length of the address in the first item, without its port. */
static size_t address_length(const char *item)
{
    size_t length = strcspn(item, " ");
    const char *colon = memrchr(item, ':', length);

    return colon ? (size_t)(colon - item) : length;
}

static bool has_all_of(const char *list, const char *other)
{
    for (other += strspn(other, " "); *other; other += strspn(other, " ")) {
        size_t length = address_length(other);
        const char *item = list + strspn(list, " ");

        while (*item && (address_length(item) != length || memcmp(item, other, length) != 0)) {
            item += strcspn(item, " ");
            item += strspn(item, " ");
        }
        if (!*item)
            return false;
        other += strcspn(other, " ");
    }
    return true;
}

bool adapter_same(const char *list, const char *other)
{
    return list[strspn(list, " ")] && has_all_of(list, other) && has_all_of(other, list);
}

/* Whether "address:port" or "[address]:port" has one of these addresses. */
static bool is_preferred(const char *item, size_t length, const char *preferred)
{
    const char *colon = memrchr(item, ':', length);
    size_t address = colon ? (size_t)(colon - item) : length;

    if (address > 2 && item[0] == '[' && item[address - 1] == ']') {
        item++;
        address -= 2;
    }
    for (preferred += strspn(preferred, " "); *preferred; preferred += strspn(preferred, " ")) {
        size_t other = strcspn(preferred, " ");

        if (other == address && memcmp(preferred, item, address) == 0)
            return true;
        preferred += other;
    }
    return false;
}

char *adapter_first(const char *list, const char *preferred)
{
    char *ordered = malloc(strlen(list) + 2), *to = ordered;

    if (!ordered)
        return NULL;
    *to = '\0';
    for (int wanted = 1; wanted >= 0; wanted--)
        for (const char *item = list + strspn(list, " "); *item; item += strspn(item, " ")) {
            size_t length = strcspn(item, " ");

            if (is_preferred(item, length, preferred) == wanted) {
                if (to > ordered)
                    *to++ = ' ';
                to = mempcpy(to, item, length);
                *to = '\0';
            }
            item += length;
        }
    return ordered;
}
