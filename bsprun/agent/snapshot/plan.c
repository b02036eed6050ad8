/* plan.c - computes names, places and memory of a snapshot; see plan.h. */
#include "bsprun/agent/snapshot/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_SIZE         4096u
#define PAGE_COPY_MOST_NS 20000u                /* longer measurements were disturbed */
#define SLOW_NS           UINT64_C(10000000000) /* for a snapshot */

bool snapshot_split_path(const char *path, char *start, size_t start_size, char *end,
                         size_t end_size)
{
    const char *name = strrchr(path, '/');

    if (!name || name[1] != '0' || name[2] != '.')
        return false;
    name++;
    return snprintf(start, start_size, "%.*s", (int)(name - path), path) < (int)start_size &&
           snprintf(end, end_size, "%s", name + 1) < (int)end_size;
}

int snapshot_free_slot(const struct bspz_snapshot_name held[SNAPSHOT_SLOTS],
                       struct bspz_snapshot_name kept)
{
    bool taken = held[0].term > 0 && bspz_snapshot_same(held[0], kept);

    return taken ? 1 : 0;
}

struct snapshot_way snapshot_choose_way(enum wire_async async, uint64_t resident,
                                        uint64_t available)
{
    struct snapshot_way way = {.copies = available >= resident};
    uint64_t left = way.copies ? available - resident : available;

    way.forked = async == WIRE_ASYNC_ON || (async == WIRE_ASYNC_AUTO && left >= resident);
    way.short_of_memory = !way.copies || (async == WIRE_ASYNC_AUTO && !way.forked);
    return way;
}

bool snapshot_cores_full(uint32_t processes, uint32_t cores)
{
    return cores > 0 && processes >= cores;
}

enum bspz_writer_share snapshot_writer_share(bool share_promised, uint64_t slowest_ns)
{
    return share_promised && slowest_ns < SLOW_NS ? BSPZ_SHARE_IDLE : BSPZ_SHARE_TENTH;
}

bool snapshot_compress(bool share_promised, uint32_t copies, uint32_t processes, uint32_t cores)
{
    if (!share_promised || copies > 1)
        return true;
    return processes > 0 && !snapshot_cores_full(processes, cores);
}

uint64_t snapshot_busy_ns(const struct snapshot_load *load)
{
    return snapshot_cores_full(load->processes, load->cores) ? load->cpu_ns / load->cores : 0;
}

uint64_t snapshot_copied_ns(const struct snapshot_load *load)
{
    uint64_t pages = load->changed / PAGE_SIZE;
    uint64_t page_ns =
        load->page_copy_ns < PAGE_COPY_MOST_NS ? load->page_copy_ns : PAGE_COPY_MOST_NS;
    uint32_t at_once = load->processes < load->cores ? load->processes : load->cores;

    if (at_once == 0)
        return 0;
    return pages < UINT64_MAX / PAGE_COPY_MOST_NS ? pages * page_ns / at_once : UINT64_MAX;
}

uint32_t snapshot_source(const uint32_t *home, uint32_t nprocs, uint32_t host)
{
    bool seen[COORD_HOSTS_MAX] = {false};
    uint32_t order[COORD_HOSTS_MAX], count = 0;

    for (uint32_t pid = 0; pid < nprocs; pid++) {
        if (home[pid] >= COORD_HOSTS_MAX || seen[home[pid]])
            continue;
        if (home[pid] == host && count > 0)
            return order[(count - 1) / SNAPSHOT_BRANCHES];
        seen[home[pid]] = true;
        order[count++] = home[pid];
    }
    return home[0];
}

bool snapshot_pack_texts(const struct wire_texts *texts, char *room, size_t size, uint32_t *bytes)
{
    size_t used = 0;

    for (uint32_t i = 0; i < texts->count; i++) {
        size_t length = strlen(texts->items[i]) + 1;

        if (length > size - used)
            return false;
        memcpy(room + used, texts->items[i], length);
        used += length;
    }
    *bytes = (uint32_t)used;
    return true;
}

char **snapshot_copy_texts(const char *const *items, uint32_t count)
{
    char **texts = calloc((size_t)count + 1, sizeof *texts);

    for (uint32_t i = 0; texts && i < count; i++) {
        texts[i] = strdup(items[i]);
        if (!texts[i]) {
            snapshot_free_texts(texts);
            return NULL;
        }
    }
    return texts;
}

void snapshot_free_texts(char **texts)
{
    for (char **text = texts; text && *text; text++)
        free(*text);
    free(texts);
}

char **snapshot_unpack_texts(const char *bytes, size_t size, const char *without, uint32_t *count)
{
    size_t most = 0;
    uint32_t found = 0;
    const char **items;
    char **texts;

    for (size_t i = 0; i < size; i++)
        most += bytes[i] == '\0';
    items = calloc(most + 1, sizeof *items);
    if (!items)
        return NULL;
    for (const char *at = bytes; at < bytes + size; at += strlen(at) + 1) {
        if (!memchr(at, '\0', (size_t)(bytes + size - at)))
            break; /* the last text is cut off */
        if (!without || strncmp(at, without, strlen(without)) != 0)
            items[found++] = at;
    }
    texts = snapshot_copy_texts(items, found);
    free(items);
    *count = found;
    return texts;
}
