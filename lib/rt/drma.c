/* drma.c - bsp_put, bsp_get and their unbuffered variants.
 *
 * Puts and get requests are written to the outbox; the owner of an area checks bounds and applies
 * them in bsp_sync, ascending by source and in the order issued.  A large hpput or hpget is copied
 * directly between the two processes instead, where the kernel permits, but only once the peer has
 * applied the previous superstep: before that its memory still misses what others put there.
 */
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "include/bsp.h"
#include "lib/rt/drma.h"
#include "lib/rt/get_order.h"
#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"
#include "lib/rt/rt.h"

/* Two copies through the outbox are faster than one by the kernel, measured from 4 KiB to 64 MiB;
 * above, a direct copy saves the memory of the outbox. */
#define DIRECT_MINIMUM  (UINT64_C(256) << 20)
#define SCATTER_MAXIMUM 32 /* largest element of a scatter run */

/* The call and line that opened a record; bsp_put, bsp_hpput and bspstore may be in one line. */
#define PUT_AT(line)    (line)
#define HPPUT_AT(line)  (~(line))
#define STORE_AT(line)  ((line) ^ 0x40000000)

static const void *miller_reference;

void bspz_register_reference(const void *base)
{
    miller_reference = base;
}

void bspz_drma_begin(void)
{
    bspz_rt.direct = true;
    bspz_rt.direct_minimum = bspz_bytes_from_environment("BSPZERO_DIRECT", DIRECT_MINIMUM);
}

/* ---- Checks at the call ------------------------------------------------------------------- */

static BSPZ_COLD BSPZ_NORETURN void fail_pid(const char *function, int pid, int line,
                                             const char *file)
{
    bspz_fail(function, line, file, "process %d does not exist: numbers run from 0 to %d", pid,
              bspz_rt.nprocs - 1);
}

static BSPZ_COLD BSPZ_NORETURN void fail_arguments(const char *function, int pid, const void *local,
                                                   const char *local_name, ptrdiff_t offset,
                                                   ptrdiff_t nbytes, int line, const char *file)
{
    if (pid < 0 || pid >= bspz_rt.nprocs)
        fail_pid(function, pid, line, file);
    if (!local)
        bspz_fail(function, line, file, "NULL given as the %s of %td bytes", local_name, nbytes);
    bspz_fail(function, line, file, "negative offset %td (for %td bytes)", offset, nbytes);
}

/* The checks common to all four calls; true: there is something to do. */
static inline bool check(const char *function, int pid, const void *local, const char *local_name,
                         ptrdiff_t offset, ptrdiff_t nbytes, int line, const char *file)
{
    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside(function, line, file);
    if (bspz_unlikely(nbytes <= 0)) {
        if (nbytes < 0 && !bspz_rt.oxford) /* which ignored it */
            bspz_fail(function, line, file, "negative size %td", nbytes);
        return false;
    }
    if (bspz_unlikely((unsigned)pid >= (unsigned)bspz_rt.nprocs || !local ||
                      (offset < 0 && !bspz_rt.oxford)))
        fail_arguments(function, pid, local, local_name, offset, nbytes, line, file);
    return true;
}

/* ---- Writing to the outbox ---------------------------------------------------------------- */

/* Adds one element to the open run; the caller has checked that there is room. */
static inline void append_scatter(struct bspz_cursor *cursor, const void *src, uint64_t offset,
                                  uint64_t bytes)
{
    char *at = cursor->tail;

    memcpy(at, &offset, 8);
    bspz_copy(at + 8, src, bytes);
    cursor->tail = at + 8 + bspz_pad(bytes, 8);
}

/* Opens a record for this put. */
static BSPZ_NOINLINE void append_record(int pid, uint32_t slot_flags, const void *base,
                                        const void *src, uint64_t offset, uint64_t bytes,
                                        int statement, int line, const char *file)
{
    struct bspz_cursor *cursor = &bspz_cursors[BSPZ_PUTS][pid];
    const struct bspz_put_record *last = cursor->last;
    bspz_position position = bspz_here(file, line);
    /* A second small put from the same statement to another place: expect more of them. */
    bool scatter = bytes <= SCATTER_MAXIMUM && last && last->slot_flags == slot_flags &&
                   last->position == position &&
                   (uint64_t)(cursor->tail - (const char *)(last + 1)) == bytes;
    uint64_t need = sizeof *last + (scatter ? 8 : 0) + bspz_pad(bytes, 8);
    struct bspz_put_record *record = (struct bspz_put_record *)bspz_outbox_room(
        BSPZ_PUTS, pid, need, bspz_drma_function(slot_flags, false), line, file);

    record->position = position;
    cursor->last = record;
    cursor->tail = (char *)(record + 1);
    cursor->base = base;
    cursor->file = file;
    cursor->statement = statement;
    cursor->where = (uint64_t)BSPZ_CALL_PUT << 32 | position;
    if (scatter) {
        record->slot_flags = slot_flags | BSPZ_PUT_SCATTER;
        record->offset = bytes;
        cursor->element = (uint32_t)bytes;
        append_scatter(cursor, src, offset, bytes);
    } else {
        record->slot_flags = slot_flags;
        record->offset = offset;
        cursor->element = BSPZ_RUN_OF(bytes);
        cursor->next_offset = offset - (uint64_t)(uintptr_t)cursor->tail;
        bspz_copy_in(cursor->tail, src, bytes);
        cursor->tail += bytes;
    }
    if (bspz_unlikely(bspz_rt.tracing)) {
        cursor->count++;
        cursor->file = NULL; /* no later put extends this record, so that each is counted */
    }
}

/* Extends the open record if this put comes from the statement that opened it and continues it or
 * its run; else false. */
static inline bool extend(struct bspz_cursor *cursor, const void *base, const void *src,
                          uint64_t offset, uint64_t bytes, int statement, const char *file)
{
    char *at = cursor->tail;
    uint64_t room = (uint64_t)(cursor->limit - at);

    if (cursor->base != base || cursor->statement != statement || cursor->file != file)
        return false;
    if (!bspz_is_scatter(cursor->element)) {
        if (cursor->next_offset + (uint64_t)(uintptr_t)at != offset || bytes > room ||
            cursor->element != BSPZ_RUN_OF(bytes) || bytes >= BSPZ_EACH_LIMIT)
            return false;
        bspz_copy_in(at, src, bytes);
        cursor->tail = at + bytes;
    } else {
        if (cursor->element != bytes || 8 + bspz_pad(bytes, 8) > room)
            return false;
        append_scatter(cursor, src, offset, bytes);
    }
    return true;
}

static BSPZ_COLD BSPZ_NORETURN void fail_huge(uint32_t slot_flags, uint64_t bytes, int line,
                                              const char *file)
{
    bspz_fail(bspz_drma_function(slot_flags, true), line, file,
              "%llu bytes exceed the memory of a process", (unsigned long long)bytes);
}

static inline __attribute__((always_inline)) void
get_to_outbox(int pid, uint32_t slot_flags, bspz_position position, uint64_t offset, void *dst,
              uint64_t bytes, int line, const char *file)
{
    struct bspz_cursor *cursor = &bspz_cursors[BSPZ_REQUESTS][pid];
    struct bspz_request_record *last = cursor->last;

    if (bspz_unlikely(bytes >> BSPZ_EACH_SHIFT))
        fail_huge(slot_flags, bytes, line, file);
    bspz_get_issued(pid, dst, slot_flags, line, file);
    if (last && last->position == position && last->slot_flags == slot_flags &&
        last->size >> BSPZ_EACH_SHIFT == bytes && cursor->next_offset == offset &&
        cursor->next_destination == (uint64_t)(uintptr_t)dst) {
        last->size += bytes;
    } else {
        if (last)
            cursor->bytes += bspz_bytes_of(last->size);
        last = (struct bspz_request_record *)bspz_outbox_take(
            BSPZ_REQUESTS, pid, sizeof *last, bspz_drma_function(slot_flags, true), line, file);
        *last = (struct bspz_request_record){slot_flags, position, offset, bspz_size(bytes, bytes),
                                             (uint64_t)(uintptr_t)dst};
        cursor->tail = (char *)(last + 1);
        cursor->last = last;
        if (cursor->next_destination > cursor->highest)
            cursor->highest = cursor->next_destination;
        if ((uint64_t)(uintptr_t)dst - 1 < cursor->lowest - 1) /* 0: none yet */
            cursor->lowest = (uint64_t)(uintptr_t)dst;
        if (bspz_unlikely(bspz_rt.tracing)) {
            cursor->count++;
            cursor->bytes += bytes;
            cursor->last = NULL; /* the same for gets */
        }
    }
    cursor->next_offset = offset + bytes;
    cursor->next_destination = (uint64_t)(uintptr_t)dst + bytes;
}

/* ---- The calls ---------------------------------------------------------------------------- */

/* All puts but those handled by the first lines of bsp_put_cpp. */
static BSPZ_NOINLINE void put_any(int pid, const void *src, void *dst, ptrdiff_t offset,
                                  ptrdiff_t nbytes, int line, const char *file)
{
    uint32_t slot;

    if (!check("bsp_put", pid, src, "source", offset, nbytes, line, file))
        return;
    bspz_note(BSPZ_CALL_PUT, bspz_here(file, line));
    if (extend(&bspz_cursors[BSPZ_PUTS][pid], dst, src, (uint64_t)offset, (uint64_t)nbytes,
               PUT_AT(line), file))
        return;
    slot = bspz_lookup(dst, "bsp_put", line, file);
    append_record(pid, slot, dst, src, (uint64_t)offset, (uint64_t)nbytes, PUT_AT(line), line,
                  file);
}

/* The first lines are for the commonest put by far: 8 bytes, from the statement that issued the
 * last one to this process, to the next place or as another element of a scatter run.  They make no
 * calls, so that the compiler saves no registers for them. */
void bsp_put_cpp(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes, int line,
                 const char *file)
{
    if (bspz_likely(nbytes == 8 && (unsigned)pid < (unsigned)bspz_rt.nprocs && src &&
                    bspz_rt.life == BSPZ_LIFE_SPMD)) {
        struct bspz_cursor *cursor = &bspz_cursors[BSPZ_PUTS][pid];
        char *at = cursor->tail;

        if (bspz_likely(cursor->base == dst && cursor->statement == PUT_AT(line) &&
                        cursor->file == file && cursor->limit - at >= 16 && offset >= 0)) {
            if (cursor->element == 0 &&
                cursor->next_offset + (uint64_t)(uintptr_t)at == (uint64_t)offset) {
                memcpy(at, src, 8);
                cursor->tail = at + 8;
                atomic_store_explicit(&bspz_rt.self->where, cursor->where, memory_order_relaxed);
                return;
            }
            if (cursor->element == 8) {
                memcpy(at, &offset, 8);
                memcpy(at + 8, src, 8);
                cursor->tail = at + 16;
                atomic_store_explicit(&bspz_rt.self->where, cursor->where, memory_order_relaxed);
                return;
            }
        }
    }
    put_any(pid, src, dst, offset, nbytes, line, file);
}

/* All gets but those handled by the first lines of bsp_get_cpp. */
static BSPZ_NOINLINE void get_any(int pid, const void *src, ptrdiff_t offset, void *dst,
                                  ptrdiff_t nbytes, int line, const char *file)
{
    bspz_position position;
    uint32_t slot;

    if (!check("bsp_get", pid, dst, "destination", offset, nbytes, line, file))
        return;
    slot = bspz_lookup(src, "bsp_get", line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_GET, position);
    get_to_outbox(pid, slot, position, (uint64_t)offset, dst, (uint64_t)nbytes, line, file);
}

/* The first lines are for a get that continues the last one; like those of bsp_put_cpp, they make
 * no calls. */
void bsp_get_cpp(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes, int line,
                 const char *file)
{
    if (bspz_likely(pid == bspz_get_order.owner && nbytes > 0 && offset >= 0 &&
                    bspz_rt.life == BSPZ_LIFE_SPMD)) {
        struct bspz_cursor *cursor = bspz_get_order.cursor;
        struct bspz_request_record *last = cursor->last;
        uint32_t position = bspz_last_file.shifted_index | ((uint32_t)line & 0xffffffu);

        if (bspz_likely(last && last->position == position && file == bspz_last_file.file &&
                        src == bspz_last_lookup.base && last->slot_flags == bspz_last_lookup.slot &&
                        last->size >> BSPZ_EACH_SHIFT == (uint64_t)nbytes &&
                        cursor->next_offset == (uint64_t)offset &&
                        cursor->next_destination == (uint64_t)(uintptr_t)dst && dst)) {
            last->size += (uint64_t)nbytes;
            cursor->next_offset += (uint64_t)nbytes;
            cursor->next_destination += (uint64_t)nbytes;
            bspz_note(BSPZ_CALL_GET, position);
            return;
        }
    }
    get_any(pid, src, offset, dst, nbytes, line, file);
}

/* Whether bytes may be copied directly to or from the peer's memory now.  Checks its area, as no
 * owner does; NULL: use the outbox. */
static const struct bspz_area *direct_area(int pid, uint32_t slot, uint64_t bytes)
{
    const struct bspz_rank *peer = bspz_rank_of(bspz_rt.board, pid);

    if (!bspz_rt.direct || bytes < bspz_rt.direct_minimum || !bspz_is_here(bspz_rt.board, pid) ||
        bspz_rt.board->flags & BSPZ_BOARD_REPLICAS)
        return NULL;
    /* BSP_COMPAT=oxford: the peer may not have reached its own push yet. */
    if (bspz_areas[slot].state == BSPZ_SLOT_PUSHED || bspz_areas[slot].state == BSPZ_SLOT_CANCELLED)
        return NULL;
    if (atomic_load_explicit(&peer->applied, memory_order_acquire) < bspz_rt.superstep)
        return NULL;
    return &bspz_areas_of(pid)[slot];
}

static bool copy_direct(bool write, int pid, void *local, uint64_t remote, uint64_t bytes)
{
    pid_t ospid =
        atomic_load_explicit(&bspz_rank_of(bspz_rt.board, pid)->ospid, memory_order_relaxed);

    while (bytes > 0) {
        struct iovec here = {local, bytes};
        struct iovec there = {(void *)(uintptr_t)remote, bytes};
        ssize_t done = write ? process_vm_writev(ospid, &here, 1, &there, 1, 0)
                             : process_vm_readv(ospid, &here, 1, &there, 1, 0);

        if (done <= 0) {
            /* Not permitted here (Yama, seccomp, containers): the outbox is used from now on. */
            bspz_rt.direct = false;
            return false;
        }
        local = (char *)local + done;
        remote += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return true;
}

/* Copies bytes unbuffered at `offset` of area `slot` of process `pid`, if this is the process
 * itself or its memory is accessible now; false: the outbox must be used. */
static bool copied_at_once(bool write, const char *function, int pid, uint32_t slot, void *local,
                           uint64_t offset, uint64_t bytes, bspz_position position)
{
    bool own = pid == bspz_rt.pid;
    const struct bspz_area *area = own ? &bspz_areas[slot] : direct_area(pid, slot, bytes);

    if (!area)
        return false;
    if (!bspz_fits(pid, area, offset, bytes))
        bspz_fail_bounds(function, bspz_rt.pid, position, pid, area, offset, bytes);
    if (own) {
        void *remote = (void *)(uintptr_t)(area->base + offset);

        memmove(write ? remote : local, write ? local : remote, bytes);
        return true;
    }
    if (!copy_direct(write, pid, local, area->base + offset, bytes))
        return false;
    if (write)
        bspz_rt.self->counters.bytes_put += bytes;
    else
        bspz_rt.self->counters.bytes_got += bytes;
    return true;
}

void bsp_hpput_cpp(int pid, const void *src, void *dst, ptrdiff_t offset, ptrdiff_t nbytes,
                   int line, const char *file)
{
    bspz_position position;
    uint32_t slot;

    if (!check("bsp_hpput", pid, src, "source", offset, nbytes, line, file))
        return;
    slot = bspz_lookup(dst, "bsp_hpput", line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_HPPUT, position);
    if (copied_at_once(true, "bsp_hpput", pid, slot, (void *)(uintptr_t)src, (uint64_t)offset,
                       (uint64_t)nbytes, position))
        return;
    if (!extend(&bspz_cursors[BSPZ_PUTS][pid], dst, src, (uint64_t)offset, (uint64_t)nbytes,
                HPPUT_AT(line), file))
        append_record(pid, slot | BSPZ_PUT_HP, dst, src, (uint64_t)offset, (uint64_t)nbytes,
                      HPPUT_AT(line), line, file);
}

void bsp_hpget_cpp(int pid, const void *src, ptrdiff_t offset, void *dst, ptrdiff_t nbytes,
                   int line, const char *file)
{
    bspz_position position;
    uint32_t slot;

    if (!check("bsp_hpget", pid, dst, "destination", offset, nbytes, line, file))
        return;
    slot = bspz_lookup(src, "bsp_hpget", line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_HPGET, position);
    if (copied_at_once(false, "bsp_hpget", pid, slot, dst, (uint64_t)offset, (uint64_t)nbytes,
                       position))
        return;
    get_to_outbox(pid, slot | BSPZ_PUT_HP, position, (uint64_t)offset, dst, (uint64_t)nbytes, line,
                  file);
}

/* The slot of the reference, which bspstart has registered. */
static inline uint32_t reference_slot(const char *function, int line, const char *file)
{
    if (bspz_unlikely(!miller_reference))
        bspz_fail(function, line, file,
                  "called without bspstart: begin with bspstart, or use bsp_put and bsp_get");
    return bspz_lookup(miller_reference, function, line, file);
}

void bspz_put_displaced(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                        const char *file)
{
    bspz_position position;
    uint64_t displacement;
    uint32_t slot;

    if (!check("bspstore", pid, src, "source", 0, nbytes, line, file))
        return;
    slot = reference_slot("bspstore", line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_PUT, position);
    displacement = (uint64_t)((const char *)dst - (const char *)miller_reference);
    if (!extend(&bspz_cursors[BSPZ_PUTS][pid], miller_reference, src, displacement,
                (uint64_t)nbytes, STORE_AT(line), file))
        append_record(pid, slot | BSPZ_DISPLACED, miller_reference, src, displacement,
                      (uint64_t)nbytes, STORE_AT(line), line, file);
}

void bspz_get_displaced(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line,
                        const char *file)
{
    bspz_position position;
    uint32_t slot;

    if (!check("bspfetch", pid, dst, "destination", 0, nbytes, line, file))
        return;
    slot = reference_slot("bspfetch", line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_GET, position);
    get_to_outbox(pid, slot | BSPZ_DISPLACED, position,
                  (uint64_t)((const char *)src - (const char *)miller_reference), dst,
                  (uint64_t)nbytes, line, file);
}
