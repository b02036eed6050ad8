/* read_process.c - reads the whole state of this process for a snapshot; see snapshot.h. */
#include "ckpt/capture/snapshot.h"

#include <string.h>
#include <sys/auxv.h>

#include "ckpt/capture/identity.h"

/* Finds the vdso that libc calls, and the kernel's data beside it. */
static void find_vdso(struct bspz_snapshot *snapshot)
{
    struct bspz_thread *thread = &snapshot->thread;

    thread->vdso_address = getauxval(AT_SYSINFO_EHDR);
    for (uint32_t i = 0; i < snapshot->maps.count; i++) {
        const struct bspz_map *map = &snapshot->maps.map[i];

        if (strcmp(map->path, "[vdso]") == 0 && map->start == thread->vdso_address)
            thread->vdso_size = map->end - map->start;
        if (strncmp(map->path, "[vvar", 5) != 0)
            continue;
        if (!thread->vvar_size)
            thread->vvar_address = map->start;
        thread->vvar_size = map->end - thread->vvar_address;
    }
}

int bspz_snapshot_read(struct bspz_snapshot *snapshot, bool quick)
{
    const struct bspz_context context = snapshot->thread.context;
    uint64_t features[8];
    const char *what = "";
    int error = bspz_snapshot_one_thread(snapshot);

    if (error)
        return error;
    /* Signals first: taking the signal of a timer rearms it. */
    error = bspz_pendings_read(&snapshot->pendings, snapshot->mask, &snapshot->arena);
    if (error)
        return bspz_snapshot_fail(snapshot, "the signals that wait", error);
    bspz_cpu_features(features); /* cached, so that forked writers need not query them */
    error = bspz_thread_read(&snapshot->thread, snapshot->mask, &what);
    if (error)
        return bspz_snapshot_fail(snapshot, what, error);
    snapshot->thread.context = context;
    bspz_attributes_read(&snapshot->attributes);
    snapshot->attributes.word[BSPZ_WORD_DUMPABLE] = (uint64_t)snapshot->dumpable;
    error = bspz_snapshot_read_maps(snapshot, quick);
    if (error)
        return bspz_snapshot_fail(snapshot, "/proc/self/smaps", error);
    find_vdso(snapshot);
    error = bspz_snapshot_cut_maps(snapshot);
    if (error)
        return bspz_snapshot_fail(snapshot, "the list of mappings", error);
    bspz_common_mark(snapshot);
    bspz_track_begin(snapshot);
    error = bspz_descriptors_read(&snapshot->descriptors, snapshot->options->job_descriptors,
                                  snapshot->options->job_count, &snapshot->arena);
    if (error)
        return bspz_snapshot_fail(snapshot, "/proc/self/fd", error);
    bspz_track_hide(snapshot);
    return bspz_snapshot_check_supported(snapshot);
}
