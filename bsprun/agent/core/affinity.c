/* affinity.c - the processors of each rank; see affinity.h. */
#include "bsprun/agent/core/affinity.h"

#include <stdlib.h>

/* Of one kind, without those that have nothing for the job. */
struct objects {
    hwloc_bitmap_t *sets; /* the processors of each that the job may have */
    int *used;            /* number of ranks bound to each */
    int count;
};

/* ---- Objects ---- */

static hwloc_obj_type_t type_of_bind(enum wire_bind bind)
{
    switch (bind) {
    case WIRE_BIND_CORE:
        return HWLOC_OBJ_CORE;
    case WIRE_BIND_PACKAGE:
        return HWLOC_OBJ_PACKAGE;
    case WIRE_BIND_NUMA:
        return HWLOC_OBJ_NUMANODE;
    default:
        return HWLOC_OBJ_PU;
    }
}

static hwloc_obj_type_t type_of_map(enum wire_map map)
{
    switch (map) {
    case WIRE_MAP_HWTHREAD:
        return HWLOC_OBJ_PU;
    case WIRE_MAP_CORE:
        return HWLOC_OBJ_CORE;
    case WIRE_MAP_PACKAGE:
        return HWLOC_OBJ_PACKAGE;
    case WIRE_MAP_NUMA:
        return HWLOC_OBJ_NUMANODE;
    default:
        return HWLOC_OBJ_MACHINE;
    }
}

/* What stands for objects that this machine does not have. */
static hwloc_obj_type_t type_here(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    if (hwloc_get_nbobjs_by_type(topology, type) > 0)
        return type;
    return type == HWLOC_OBJ_CORE ? HWLOC_OBJ_PU : HWLOC_OBJ_MACHINE;
}

/* NUMA nodes of different memory have the same processors. */
static bool is_known(const struct objects *objects, hwloc_const_bitmap_t set)
{
    for (int i = 0; i < objects->count; i++)
        if (hwloc_bitmap_isequal(objects->sets[i], set))
            return true;
    return false;
}

static void objects_free(struct objects *objects)
{
    for (int i = 0; i < objects->count; i++)
        hwloc_bitmap_free(objects->sets[i]);
    free(objects->sets);
    free(objects->used);
}

/* Makes `set` the processors of the object that the job may have; false: the object is not used. */
static bool take_free(const struct affinity_request *request, hwloc_obj_t object,
                      hwloc_bitmap_t set)
{
    if (!object->cpuset)
        return false;
    hwloc_bitmap_and(set, object->cpuset, request->allowed);
    if (object->type == HWLOC_OBJ_CORE && hwloc_bitmap_intersects(set, request->claimed))
        return false;
    hwloc_bitmap_andnot(set, set, request->claimed);
    return !hwloc_bitmap_iszero(set);
}

/* False: no memory. */
static bool objects_find(hwloc_topology_t topology, hwloc_obj_type_t wanted,
                         const struct affinity_request *request, struct objects *objects)
{
    hwloc_obj_type_t type = type_here(topology, wanted);
    int all = hwloc_get_nbobjs_by_type(topology, type);
    size_t room = all > 0 ? (size_t)all : 1;

    *objects = (struct objects){calloc(room, sizeof *objects->sets),
                                calloc(room, sizeof *objects->used), 0};
    if (!objects->sets || !objects->used)
        return false;
    for (int i = 0; i < all; i++) {
        hwloc_bitmap_t set = hwloc_bitmap_alloc();

        if (!set)
            return false;
        if (take_free(request, hwloc_get_obj_by_type(topology, type, (unsigned)i), set) &&
            !(type == HWLOC_OBJ_NUMANODE && is_known(objects, set)))
            objects->sets[objects->count++] = set;
        else
            hwloc_bitmap_free(set);
    }
    return true;
}

/* ---- Choice ---- */

/* The object with the fewest ranks that has a part of the place and room for one more; -1: none. */
static int least_used(const struct objects *objects, hwloc_const_bitmap_t place)
{
    int best = -1;

    for (int i = 0; i < objects->count; i++)
        if ((best < 0 || objects->used[i] < objects->used[best]) &&
            hwloc_bitmap_intersects(objects->sets[i], place) &&
            objects->used[i] < hwloc_bitmap_weight(objects->sets[i]))
            best = i;
    return best;
}

static bool choose_objects(const struct affinity_request *request, const struct objects *places,
                           struct objects *objects, hwloc_bitmap_t *sets)
{
    int next = 0;

    for (int rank = 0; rank < request->ranks; rank++) {
        int found = -1;

        for (int tries = 0; tries < places->count && found < 0; tries++) {
            found = least_used(objects, places->sets[next]);
            next = (next + 1) % places->count;
        }
        if (found < 0)
            return false;
        objects->used[found]++;
        hwloc_bitmap_copy(sets[rank], objects->sets[found]);
    }
    return true;
}

/* The processor of the core with that index among its processors; -1: it has fewer. */
static int processor_of(hwloc_obj_t core, int index)
{
    int cpu = core && core->cpuset ? hwloc_bitmap_first(core->cpuset) : -1;

    while (index-- > 0 && cpu >= 0)
        cpu = hwloc_bitmap_next(core->cpuset, cpu);
    return cpu;
}

static bool choose_processors(hwloc_topology_t topology, const struct affinity_request *request,
                              hwloc_bitmap_t *sets)
{
    hwloc_obj_type_t type = type_here(topology, HWLOC_OBJ_CORE);
    int cores = hwloc_get_nbobjs_by_type(topology, type), rank = 0;
    bool found = true;

    for (int index = 0; found && rank < request->ranks; index++) {
        found = false;
        for (int i = 0; i < cores && rank < request->ranks; i++) {
            int cpu = processor_of(hwloc_get_obj_by_type(topology, type, (unsigned)i), index);

            found = found || cpu >= 0;
            if (cpu >= 0 && hwloc_bitmap_isset(request->allowed, (unsigned)cpu) &&
                !hwloc_bitmap_isset(request->claimed, (unsigned)cpu))
                hwloc_bitmap_only(sets[rank++], (unsigned)cpu);
        }
    }
    return rank == request->ranks;
}

bool affinity_choose(hwloc_topology_t topology, const struct affinity_request *request,
                     hwloc_bitmap_t *sets)
{
    struct objects places = {0}, objects = {0};

    if (request->bind == WIRE_BIND_DEFAULT || request->bind == WIRE_BIND_NONE)
        return choose_processors(topology, request, sets);
    bool good = objects_find(topology, type_of_map(request->map), request, &places) &&
                objects_find(topology, type_of_bind(request->bind), request, &objects) &&
                choose_objects(request, &places, &objects, sets);
    objects_free(&places);
    objects_free(&objects);
    return good;
}
