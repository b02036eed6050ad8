/* maps.c - /proc/self/maps and /proc/self/smaps, line by line from one buffer.
 *
 * Nothing else runs in this process meanwhile, and the tables for the list are mapped and touched
 * before: reading does not change the mappings. */
#include "ckpt/capture/maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"

#define LINE_BUFFER (64 * 1024)
#define LONGEST     5000 /* a path has at most 4096 bytes, each newline in it takes four */

struct lines {
    int fd;
    long error;
    size_t start;
    size_t end;
    char *buffer;
};

/* The next line without its newline, or NULL at the end or upon an error. */
static char *next_line(struct lines *lines)
{
    for (;;) {
        char *from = lines->buffer + lines->start;
        char *newline = memchr(from, '\n', lines->end - lines->start);
        long got;

        if (newline) {
            *newline = '\0';
            lines->start = (size_t)(newline - lines->buffer) + 1;
            return from;
        }
        memmove(lines->buffer, from, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
        got = bspz_sys3(SYS_read, lines->fd, lines->buffer + lines->end, LINE_BUFFER - lines->end);
        if (got == -EINTR)
            continue;
        if (got <= 0) {
            lines->error = lines->end ? -EIO : got;
            return NULL;
        }
        lines->end += (size_t)got;
    }
}

static void skip(const char **at, char c)
{
    while (**at == c)
        (*at)++;
}

/* The kernel writes a newline in a path as \012; nothing else is escaped. */
static void unescape(char *path)
{
    char *to = path;

    for (; *path; path++) {
        if (strncmp(path, "\\012", 4) == 0) {
            *to++ = '\n';
            path += 3;
        } else {
            *to++ = *path;
        }
    }
    *to = '\0';
}

static bool cut_deleted(char *path)
{
    static const char mark[] = " (deleted)";
    size_t length = strlen(path);

    if (length < sizeof mark || strcmp(path + length - (sizeof mark - 1), mark) != 0)
        return false;
    path[length - (sizeof mark - 1)] = '\0';
    return true;
}

/* Adjacent mappings of one file share the text of its path. */
static const char *keep_path(const struct bspz_maps *maps, const char *path,
                             struct bspz_arena *arena)
{
    if (!*path)
        return "";
    for (uint32_t i = maps->count; i-- > 0 && i + 8 > maps->count;)
        if (strcmp(maps->map[i].path, path) == 0)
            return maps->map[i].path;
    return bspz_arena_string(arena, path);
}

/* start-end perms offset major:minor inode path */
static int take_heading(char *line, struct bspz_map *map, const struct bspz_maps *maps,
                        struct bspz_arena *arena)
{
    const char *at = line;
    char *path;

    memset(map, 0, sizeof *map);
    map->start = bspz_number(&at, 16);
    skip(&at, '-');
    map->end = bspz_number(&at, 16);
    skip(&at, ' ');
    map->prot = (at[0] == 'r' ? PROT_READ : 0u) | (at[1] == 'w' ? PROT_WRITE : 0u) |
                (at[2] == 'x' ? PROT_EXEC : 0u);
    map->flags = at[3] == 's' ? BSPZ_MAP_SHARED : 0;
    at += 4;
    skip(&at, ' ');
    map->offset = bspz_number(&at, 16);
    skip(&at, ' ');
    map->device = bspz_number(&at, 16) << 32;
    skip(&at, ':');
    map->device |= bspz_number(&at, 16);
    skip(&at, ' ');
    map->inode = bspz_number(&at, 10);
    skip(&at, ' ');
    path = line + (at - line);
    unescape(path);
    if (cut_deleted(path))
        map->flags |= BSPZ_MAP_DELETED;
    map->path = keep_path(maps, path, arena);
    return map->path ? 0 : -ENOMEM;
}

static void take_flags(const char *at, struct bspz_map *map)
{
    static const struct {
        char name[3];
        uint32_t flag;
    } known[] = {
        {"gd", BSPZ_MAP_GROWS_DOWN},    {"dc", BSPZ_MAP_DONT_FORK},  {"wf", BSPZ_MAP_WIPE_FORK},
        {"dd", BSPZ_MAP_DONT_DUMP},     {"nr", BSPZ_MAP_NO_RESERVE}, {"hg", BSPZ_MAP_HUGE_PAGES},
        {"nh", BSPZ_MAP_NO_HUGE_PAGES}, {"ht", BSPZ_MAP_HUGETLB},    {"io", BSPZ_MAP_DEVICE},
        {"pf", BSPZ_MAP_DEVICE},        {"um", BSPZ_MAP_USERFAULT},  {"uw", BSPZ_MAP_TRACKED},
        {"ui", BSPZ_MAP_USERFAULT},     {"lo", BSPZ_MAP_LOCKED},     {"sl", BSPZ_MAP_SEALED},
        {"ss", BSPZ_MAP_SHADOW_STACK},  {"mg", BSPZ_MAP_MERGEABLE},  {"mw", BSPZ_MAP_MAY_WRITE},
    };

    for (skip(&at, ' '); at[0] && at[1]; skip(&at, ' ')) {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (at[0] == known[i].name[0] && at[1] == known[i].name[1])
                map->flags |= known[i].flag;
        at += 2;
    }
}

/* A line of the detailed list, "Name:   value": only few are of interest. */
static void take_detail(const char *line, struct bspz_map *map)
{
    const char *at = strchr(line, ':');

    if (!at)
        return;
    at++;
    if (strncmp(line, "VmFlags:", 8) == 0) {
        take_flags(at, map);
    } else if (strncmp(line, "Rss:", 4) == 0 || strstr(line, "_Hugetlb:")) {
        skip(&at, ' ');
        map->present += bspz_number(&at, 10) * 1024;
    } else if (strncmp(line, "Swap:", 5) == 0) {
        skip(&at, ' ');
        map->swapped = bspz_number(&at, 10) * 1024;
    } else if (strncmp(line, "LazyFree:", 9) == 0) {
        skip(&at, ' ');
        if (bspz_number(&at, 10) > 0)
            map->flags |= BSPZ_MAP_TAKEN;
    }
}

static int take_all(struct lines *lines, struct bspz_maps *maps, struct bspz_arena *table,
                    struct bspz_arena *strings)
{
    char *line;

    while ((line = next_line(lines))) {
        struct bspz_map *map;
        int error;

        /* Headings begin with an address, details with a capital letter. */
        if (*line >= 'A' && *line <= 'Z') {
            if (maps->count)
                take_detail(line, &maps->map[maps->count - 1]);
            continue;
        }
        /* Entries of 80 bytes follow each other without a gap. */
        map = bspz_arena_take(table, sizeof *map);
        if (!map || strlen(line) > LONGEST)
            return -ENOMEM;
        error = take_heading(line, map, maps, strings);
        if (error)
            return error;
        maps->count++;
    }
    return (int)lines->error;
}

/* Moves the strings down to the table: a restore reads the list many times. */
static void close_gap(struct bspz_maps *maps, const struct bspz_arena *table,
                      const struct bspz_arena *strings)
{
    ptrdiff_t gap = strings->base - (table->base + table->used);

    memmove(table->base + table->used, strings->base, strings->used);
    for (uint32_t i = 0; i < maps->count; i++)
        if (*maps->map[i].path)
            maps->map[i].path -= gap;
}

_Static_assert(sizeof(struct bspz_map) % 16 == 0, "a table of these is contiguous");

int bspz_maps_read(struct bspz_maps *maps, bool detailed, struct bspz_arena *arena)
{
    struct lines lines = {.buffer = bspz_arena_take(arena, LINE_BUFFER)};
    struct bspz_arena table, strings = *arena;
    int error;

    if (!lines.buffer)
        return -ENOMEM;
    /* The table grows in the first quarter of the remaining arena, its strings in the second. */
    table.base = bspz_arena_rest(arena, &table.size);
    table.size = table.size / 4 & ~(size_t)15;
    table.used = 0;
    strings.base = table.base + table.size;
    strings.size = table.size;
    strings.used = 0;
    maps->map = (struct bspz_map *)(void *)table.base;
    maps->count = 0;
    lines.fd =
        bspz_sys_open(detailed ? "/proc/self/smaps" : "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (lines.fd < 0)
        return lines.fd;
    error = take_all(&lines, maps, &table, &strings);
    bspz_sys_close(lines.fd);
    if (error)
        return error;
    close_gap(maps, &table, &strings);
    arena->used = (size_t)(table.base - arena->base) + table.used + strings.used;
    return 0;
}

const struct bspz_map *bspz_maps_find(const struct bspz_maps *maps, uint64_t address)
{
    uint32_t low = 0, high = maps->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (maps->map[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->count && maps->map[low].start <= address ? &maps->map[low] : NULL;
}
