/* affinity_text.c - a set of processors in words; see affinity.h. */
#include <string.h>

#include "bsprun/agent/core/affinity.h"
#include "lib/base/formatted.h"

static void add_range(struct bspz_formatted *text, const char *what, unsigned first, unsigned last)
{
    if (first == last)
        bspz_formatted_add(text, "%s%u", what, first);
    else
        bspz_formatted_add(text, "%s%u-%u", what, first, last);
}

/* Which of the core's processors are in the set: bit i, the i-th one, up to 64. */
static uint64_t threads_of(hwloc_obj_t core, hwloc_const_bitmap_t set)
{
    uint64_t threads = 0;
    unsigned index = 0;
    int cpu;

    hwloc_bitmap_foreach_begin(cpu, core->cpuset)
    {
        if (index < 64 && hwloc_bitmap_isset(set, (unsigned)cpu))
            threads |= UINT64_C(1) << index;
        index++;
    }
    hwloc_bitmap_foreach_end();
    return threads;
}

static void add_threads(struct bspz_formatted *text, uint64_t threads)
{
    const char *before = "[hwt ";

    for (unsigned first = 0; first < 64; first++) {
        unsigned last = first;

        if (!(threads >> first & 1))
            continue;
        while (last < 63 && threads >> (last + 1) & 1)
            last++;
        add_range(text, before, first, last);
        before = ",";
        first = last;
    }
    bspz_formatted_add(text, "]");
}

/* The cores inside `around` that have processors in the set; neighbours with the same threads are
 * one range. */
static void add_cores(hwloc_topology_t topology, hwloc_const_bitmap_t around,
                      hwloc_const_bitmap_t set, struct bspz_formatted *text)
{
    bool named = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0;
    hwloc_obj_type_t type = named ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, around, type);
    const char *before = named ? "core " : "hwt ";
    hwloc_obj_t first = NULL, last = NULL;
    uint64_t threads = 0;

    for (int i = 0; i <= cores; i++) {
        hwloc_obj_t core =
            i < cores ? hwloc_get_obj_inside_cpuset_by_type(topology, around, type, (unsigned)i)
                      : NULL;
        uint64_t these = core ? threads_of(core, set) : 0;

        if (first && (these != threads || core->logical_index != last->logical_index + 1)) {
            add_range(text, before, first->logical_index, last->logical_index);
            if (named)
                add_threads(text, threads);
            before = named ? ", core " : ",";
            first = NULL;
        }
        if (these == 0)
            continue;
        first = first ? first : core;
        last = core;
        threads = these;
    }
}

void affinity_describe(hwloc_topology_t topology, hwloc_const_bitmap_t set, char *text, size_t size)
{
    int packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
    struct bspz_formatted words = {.at = text, .size = size};
    const char *before = "";

    text[0] = '\0';
    for (int i = 0; i < packages; i++) {
        hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, (unsigned)i);

        if (!hwloc_bitmap_intersects(package->cpuset, set))
            continue;
        bspz_formatted_add(&words, "%spackage %u[", before, package->logical_index);
        add_cores(topology, package->cpuset, set, &words);
        bspz_formatted_add(&words, "]");
        before = ", ";
    }
    if (packages <= 0)
        add_cores(topology, hwloc_topology_get_topology_cpuset(topology), set, &words);
    if (words.cut)
        memcpy(text + size - sizeof "...", "...", sizeof "...");
}
