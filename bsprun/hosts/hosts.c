/* hosts.c - lists of hosts: mentions, names, and the list of --hosts; see hosts.h. */
#include "bsprun/hosts/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_MEMORY "out of memory"
#define OWN_NAME  "localhost"

static void free_host(struct host *host)
{
    free(host->name);
    free(host->user);
    free(host->adapter);
    free(host->reached);
}

void hosts_free(struct hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->count; i++)
        free_host(&hosts->items[i]);
    free(hosts->items);
    *hosts = (struct hosts){NULL, 0};
}

/* ---- Mentions ---- */

static struct host *find(const struct hosts *hosts, const char *name)
{
    for (uint32_t i = 0; i < hosts->count; i++)
        if (strcasecmp(hosts->items[i].name, name) == 0)
            return &hosts->items[i];
    return NULL;
}

/* NULL: no memory. */
static struct host *append(struct hosts *hosts, const char *user, const char *name)
{
    struct host *more = realloc(hosts->items, (hosts->count + 1) * sizeof *more);
    struct host *host;

    if (!more)
        return NULL;
    hosts->items = more;
    host = &more[hosts->count];
    *host = (struct host){.name = strdup(name), .user = user ? strdup(user) : NULL};
    if (!host->name || (user && !host->user)) {
        free_host(host);
        return NULL;
    }
    hosts->count++;
    return host;
}

struct host *hosts_mention(struct hosts *hosts, const char *user, const char *name, uint32_t slots,
                           char *error)
{
    struct host *host = find(hosts, name);

    if (!host && hosts->count == HOSTS_MAX) {
        snprintf(error, HOSTS_ERROR, "more than %u hosts", HOSTS_MAX);
        return NULL;
    }
    if (!host && !(host = append(hosts, user, name))) {
        snprintf(error, HOSTS_ERROR, NO_MEMORY);
        return NULL;
    }
    if ((user == NULL) != (host->user == NULL) || (user && strcmp(user, host->user) != 0)) {
        snprintf(error, HOSTS_ERROR, "host %.80s is listed with two users", name);
        return NULL;
    }
    if ((uint64_t)host->slots + host->plain + (slots > 0 ? slots : 1) > WIRE_SLOTS_MAX) {
        snprintf(error, HOSTS_ERROR, "host %.80s has more than %u slots", name, WIRE_SLOTS_MAX);
        return NULL;
    }
    host->slots += slots;
    host->plain += slots == 0;
    return host;
}

void hosts_settle(struct hosts *hosts, enum hosts_alone alone)
{
    for (uint32_t i = 0; i < hosts->count; i++) {
        struct host *host = &hosts->items[i];

        if (alone == HOSTS_ALONE_ONE || host->slots + host->plain > 1)
            host->slots += host->plain;
        host->plain = 0;
    }
}

/* ---- Names ---- */

/* Whether the name is safe for ssh, srun and a launcher: neither they nor a shell can misinterpret
 * it. */
static bool good_letters(const char *text, size_t length, const char *others)
{
    if (length == 0 || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isascii(text[i]) || (!isalnum((unsigned char)text[i]) && !strchr(others, text[i])))
            return false;
    return memchr(text, '\0', length) == NULL;
}

bool hosts_cut_name(const char *text, size_t length, char **user, char **name, char *error)
{
    const char *at = memrchr(text, '@', length);
    size_t user_length = at ? (size_t)(at - text) : 0;
    const char *rest = at ? at + 1 : text;
    size_t rest_length = length - (size_t)(rest - text);
    bool address = rest_length > 2 && rest[0] == '[' && rest[rest_length - 1] == ']';

    if (address) {
        rest++;
        rest_length -= 2;
    }
    if (at && !good_letters(text, user_length, "._-+")) {
        snprintf(error, HOSTS_ERROR, "\"%.*s\" is not a user name",
                 (int)(user_length < 80 ? user_length : 80), text);
        return false;
    }
    if (!good_letters(rest, rest_length, address ? ":.%-_" : "._-") ||
        rest_length > WIRE_NAME_MAX) {
        snprintf(error, HOSTS_ERROR, "\"%.*s\" is not a host name",
                 (int)(length < 80 ? length : 80), text);
        return false;
    }
    *user = at ? strndup(text, user_length) : NULL;
    *name = strndup(rest, rest_length);
    if (*name && (!at || *user))
        return true;
    free(*user);
    free(*name);
    snprintf(error, HOSTS_ERROR, NO_MEMORY);
    return false;
}

uint32_t hosts_slots(const char *text, size_t length)
{
    uint32_t value = 0;

    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i]))
            return 0;
        value = value * 10 + (uint32_t)(text[i] - '0');
        if (value > WIRE_SLOTS_MAX)
            return 0;
    }
    return value;
}

const struct host *hosts_named(const struct hosts *hosts, const char *name)
{
    return find(hosts, name);
}

bool hosts_is_own(const char *name, const char *own)
{
    static const char *const always[] = {OWN_NAME, "127.0.0.1", "::1"};
    size_t name_dot = strcspn(name, "."), own_dot = strcspn(own, ".");

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strcasecmp(name, always[i]) == 0)
            return true;
    if (!own[0] || isdigit((unsigned char)name[0]))
        return strcasecmp(name, own) == 0;
    /* One may be the short form of the other. */
    if (name[name_dot] && own[own_dot])
        return strcasecmp(name, own) == 0;
    return name_dot == own_dot && strncasecmp(name, own, own_dot) == 0;
}

/* ---- Addresses ---- */

/* The canonical form of an address; false: it is not an address. */
static bool canonical(const char *name, char text[INET6_ADDRSTRLEN])
{
    unsigned char address[sizeof(struct in6_addr)];
    int family = strchr(name, ':') ? AF_INET6 : AF_INET;

    return inet_pton(family, name, address) == 1 &&
           inet_ntop(family, address, text, INET6_ADDRSTRLEN) != NULL;
}

void hosts_find_own(struct hosts *hosts, const char *const *addresses)
{
    char text[INET6_ADDRSTRLEN];

    for (uint32_t i = 0; i < hosts->count; i++) {
        bool own = false;

        if (!addresses || !canonical(hosts->items[i].name, text))
            continue;
        for (size_t k = 0; addresses[k] && !own; k++)
            own = strcmp(addresses[k], text) == 0;
        char *name = own ? strdup(OWN_NAME) : NULL;
        if (!name)
            continue;
        free(hosts->items[i].name);
        hosts->items[i].name = name;
    }
}

static bool is_among(const char *text, const char *list)
{
    size_t length = strlen(text);

    for (list += strspn(list, " "); *list; list += strspn(list, " ")) {
        size_t other = strcspn(list, " ");

        if (other == length && memcmp(list, text, length) == 0)
            return true;
        list += other;
    }
    return false;
}

/* The host whose name is one of these addresses; NULL: none. */
static const struct host *named_by(const struct hosts *hosts, const char *addresses)
{
    char text[INET6_ADDRSTRLEN];

    for (uint32_t i = 0; i < hosts->count; i++)
        if (canonical(hosts->items[i].name, text) && is_among(text, addresses))
            return &hosts->items[i];
    return NULL;
}

bool hosts_named_twice(const struct hosts *hosts, char *(*resolve)(const char *name), char *error)
{
    char text[INET6_ADDRSTRLEN];
    const struct host *again = NULL;
    uint32_t numbers = 0;

    for (uint32_t i = 0; i < hosts->count; i++)
        numbers += canonical(hosts->items[i].name, text);
    for (uint32_t i = 0; numbers > 0 && i < hosts->count && !again; i++) {
        const char *name = hosts->items[i].name;
        char *addresses = canonical(name, text) ? NULL : resolve(name);

        again = addresses ? named_by(hosts, addresses) : NULL;
        free(addresses);
        if (again)
            snprintf(error, HOSTS_ERROR,
                     "%.80s and %.80s are the same host: list it under one name", name,
                     again->name);
    }
    return again != NULL;
}

static bool repeat(struct host *host, const struct host *first, uint32_t number, const char *own)
{
    *host = (struct host){.slots = first->slots, .here = hosts_is_own(first->name, own)};
    host->reached = strdup(first->name);
    host->user = first->user ? strdup(first->user) : NULL;
    host->adapter = first->adapter ? strdup(first->adapter) : NULL;
    if (asprintf(&host->name, "%s#%u", host->here ? own : first->name, number) < 0)
        host->name = NULL;
    return host->name && host->reached && (host->user || !first->user) &&
           (host->adapter || !first->adapter);
}

bool hosts_multiply(struct hosts *hosts, uint32_t times, const char *own, char *error)
{
    uint32_t count = hosts->count;

    if ((uint64_t)count * times > HOSTS_MAX) {
        snprintf(error, HOSTS_ERROR,
                 "%u hosts with %u replicas of each process: at most %u are possible", count, times,
                 HOSTS_MAX);
        return false;
    }
    struct host *items = realloc(hosts->items, (size_t)count * times * sizeof *items);

    snprintf(error, HOSTS_ERROR, "out of memory");
    if (!items)
        return false;
    hosts->items = items;
    for (uint32_t number = 2; number <= times; number++)
        for (uint32_t i = 0; i < count; i++)
            if (!repeat(&items[hosts->count++], &items[i], number, own))
                return false;
    return true;
}

/* Those left open are of a single mention without a number. */
static uint32_t slots_beside_others(const struct host *host)
{
    return host->slots > 0 ? host->slots : 1;
}

void hosts_merge_own(struct hosts *hosts, const char *own)
{
    struct host *first = NULL;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < hosts->count; i++) {
        struct host *host = &hosts->items[i];
        bool again = first && hosts_is_own(host->name, own);

        if (again) {
            uint64_t slots = (uint64_t)slots_beside_others(first) + slots_beside_others(host);

            first->slots = slots < WIRE_SLOTS_MAX ? (uint32_t)slots : WIRE_SLOTS_MAX;
            free_host(host);
            continue;
        }
        hosts->items[kept] = *host;
        if (!first && hosts_is_own(hosts->items[kept].name, own))
            first = &hosts->items[kept];
        kept++;
    }
    hosts->count = kept;
}

bool hosts_crowded(uint32_t wanted, uint32_t limit, uint64_t slots, char line[HOSTS_ERROR])
{
    uint32_t processes = wanted == 0 || (limit > 0 && limit < wanted) ? limit : wanted;

    if (processes <= slots)
        return false;
    snprintf(line, HOSTS_ERROR,
             "%u processes have %llu slot%s, so some of them share a core (--oversubscribe "
             "suppresses this warning)",
             processes, (unsigned long long)slots, slots == 1 ? "" : "s");
    return true;
}

/* ---- The list of --hosts ---- */

/* Parses "user@name:slots" of that length. */
static bool take_item(struct hosts *hosts, const char *item, size_t length, char *error)
{
    const char *bracket = memrchr(item, ']', length);
    const char *behind = bracket ? bracket : item;
    const char *colon = memchr(behind, ':', length - (size_t)(behind - item));
    size_t name_length = colon ? (size_t)(colon - item) : length;
    uint32_t slots = 0;
    char *user, *name;

    if (memchr(item, ' ', length)) {
        snprintf(error, HOSTS_ERROR, "a blank: hosts are separated by commas only");
        return false;
    }
    if (!bracket && colon && memchr(colon + 1, ':', length - name_length - 1)) {
        snprintf(error, HOSTS_ERROR, "an address with colons needs brackets, as in [%.*s]",
                 (int)(length < 80 ? length : 80), item);
        return false;
    }
    if (colon && (slots = hosts_slots(colon + 1, length - name_length - 1)) == 0) {
        snprintf(error, HOSTS_ERROR,
                 "the colon must be followed by a number of slots, from 1 to %u", WIRE_SLOTS_MAX);
        return false;
    }
    if (!hosts_cut_name(item, name_length, &user, &name, error))
        return false;
    bool good = hosts_mention(hosts, user, name, slots, error) != NULL;
    free(user);
    free(name);
    return good;
}

bool hosts_from_list(struct hosts *hosts, const char *text, const char *source, char *error)
{
    char why[HOSTS_ERROR] = "";
    size_t at = 0;
    bool good;

    do {
        size_t length = strcspn(text + at, ",");

        good = length > 0 ? take_item(hosts, text + at, length, why) : false;
        if (!good) {
            snprintf(error, HOSTS_ERROR,
                     "%s%.80s: %.200s (character %zu); give hosts as in a:4,b:4", source, text,
                     length > 0 ? why : "the name of a host is missing", at + 1);
            break;
        }
        at += length + 1;
    } while (text[at - 1] == ',');
    if (good)
        hosts_settle(hosts, HOSTS_ALONE_UNKNOWN);
    else
        hosts_free(hosts);
    return good;
}
