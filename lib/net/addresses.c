/* addresses.c - addresses as text, and those of this host. */
#include "lib/net/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* ---- Text --------------------------------------------------------------------------------- */

int net_address_of_host(const char *text, uint16_t port, struct sockaddr_storage *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memset(address, 0, sizeof(*address));
        memcpy(address, &v4, sizeof(v4));
        return 0;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memset(address, 0, sizeof(*address));
        memcpy(address, &v6, sizeof(v6));
        return 0;
    }
    return -EINVAL;
}

static bool parse_port(const char *text, uint16_t *port)
{
    unsigned number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0')
        return false;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    if (number == 0 || number > UINT16_MAX)
        return false;
    *port = (uint16_t)number;
    return true;
}

int net_address_parse(const char *text, struct sockaddr_storage *address)
{
    char host[NET_ADDRESS_SIZE];
    uint16_t port;
    bool brackets = text[0] == '[';
    const char *begin = text + brackets;
    const char *end = strrchr(text, ':');
    if (!end || !parse_port(end + 1, &port))
        return -EINVAL;
    if (brackets && *--end != ']')
        return -EINVAL;
    if (end < begin || (size_t)(end - begin) >= sizeof(host))
        return -EINVAL;
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    if ((strchr(host, ':') != NULL) != brackets)
        return -EINVAL;
    return net_address_of_host(host, port, address);
}

void net_address_text(const struct sockaddr_storage *address, char text[NET_ADDRESS_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
        snprintf(text, NET_ADDRESS_SIZE, "%s:%u", host, ntohs(v4->sin_port));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);
        if (mapped)
            inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, host, sizeof(host));
        else
            inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
        snprintf(text, NET_ADDRESS_SIZE, mapped ? "%s:%u" : "[%s]:%u", host, ntohs(v6->sin6_port));
    } else {
        snprintf(text, NET_ADDRESS_SIZE, "unknown address");
    }
}

socklen_t net_address_length(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* ---- This host ---------------------------------------------------------------------------- */

/* The pass in which the address is listed: IPv4, IPv6, loopback; -1: useless to others. */
static int pass_of(const struct ifaddrs *interface)
{
    const struct sockaddr *address = interface->ifa_addr;
    if (!address || !(interface->ifa_flags & IFF_UP) || !(interface->ifa_flags & IFF_RUNNING))
        return -1;
    bool loopback = interface->ifa_flags & IFF_LOOPBACK;
    if (address->sa_family == AF_INET) {
        uint32_t number = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
        if (number >> 16 == 0xa9fe) /* 169.254: link-local */
            return -1;
        return loopback ? 2 : 0;
    }
    if (address->sa_family != AF_INET6)
        return -1;
    const struct in6_addr *number = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(number) || IN6_IS_ADDR_MULTICAST(number))
        return -1;
    return loopback ? 2 : 1;
}

int net_own_addresses(uint16_t port, bool loopback, char (*texts)[NET_ADDRESS_SIZE], unsigned max)
{
    struct ifaddrs *interfaces;
    unsigned count = 0;
    if (getifaddrs(&interfaces) < 0)
        return -errno;
    for (int pass = 0; pass < (loopback ? 3 : 2); pass++)
        for (const struct ifaddrs *at = interfaces; at && count < max; at = at->ifa_next) {
            if (pass_of(at) != pass)
                continue;
            struct sockaddr_storage address = {0};
            if (at->ifa_addr->sa_family == AF_INET) {
                memcpy(&address, at->ifa_addr, sizeof(struct sockaddr_in));
                ((struct sockaddr_in *)&address)->sin_port = htons(port);
            } else {
                memcpy(&address, at->ifa_addr, sizeof(struct sockaddr_in6));
                ((struct sockaddr_in6 *)&address)->sin6_port = htons(port);
            }
            net_address_text(&address, texts[count++]);
        }
    freeifaddrs(interfaces);
    return (int)count;
}
