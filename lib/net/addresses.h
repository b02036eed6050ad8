/* addresses.h - addresses as text, and those of this host.
 *
 * An address with a port is written "10.0.0.1:4711" or "[fd00::1]:4711". */
#ifndef ADDRESSES_H
#define ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define NET_ADDRESS_SIZE 64u /* "[address]:port" and NUL */

/* Reads an address with its port; numbers only.  Returns 0 or -EINVAL. */
int net_address_parse(const char *text, struct sockaddr_storage *address);

/* Reads an address without a port ("10.0.0.1", "fd00::1").  Returns 0 or -EINVAL. */
int net_address_of_host(const char *text, uint16_t port, struct sockaddr_storage *address);

/* Writes an address with its port; an IPv4-mapped IPv6 address is written as IPv4. */
void net_address_text(const struct sockaddr_storage *address, char text[NET_ADDRESS_SIZE]);

socklen_t net_address_length(const struct sockaddr_storage *address);

/* The addresses under which others may reach this host at `port`: of interfaces that are up and
 * have a carrier, IPv4 first, no link-local ones, loopback only when asked for and last.  At most
 * `max` are written; returns how many, or a negative errno value. */
int net_own_addresses(uint16_t port, bool loopback, char (*texts)[NET_ADDRESS_SIZE], unsigned max);

#endif
