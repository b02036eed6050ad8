/* whole.h - lines that come in pieces from several hosts are put together, so that none is torn by
 * output of another one.
 *
 * What a process has written since the end of its last line waits here for the rest of the line. It
 * is passed on without that when
 *   - it is LINE long, or all that waits is more than MEMORY;
 *   - its host has come to a later superstep, or to a snapshot, or will send nothing more;
 *   - it does not end: soon what may be a prompt, what is more when nothing has come for long.
 *
 * Pure.
 */
#ifndef BSPRUN_WHOLE_H
#define BSPRUN_WHOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHOLE_LINE      (1u << 20)
#define WHOLE_MEMORY    (16u << 20)
#define WHOLE_PROMPT    4096u /* bytes: no prompt is longer */
#define WHOLE_PROMPT_MS 100u
#define WHOLE_LATE_MS   5000u

/* Takes a piece that is to be shown in one. */
typedef void whole_pass(void *context, uint32_t host, uint64_t superstep, int pid, int stream,
                        const char *data, size_t size);

struct whole_part;

/* All zero but for these two: nothing waits. */
struct whole {
    whole_pass *pass;
    void *context;
    struct whole_part *first; /* the one that came first */
    size_t waiting;           /* bytes, of all */
};

void whole_piece(struct whole *whole, uint64_t now_ms, uint32_t host, uint64_t superstep, int pid,
                 int stream, const char *data, size_t size);
/* What the host wrote before that superstep, or UINT64_MAX: all that it has written. */
void whole_come(struct whole *whole, uint32_t host, uint64_t superstep);
/* What has waited long enough. */
void whole_release(struct whole *whole, uint64_t now_ms);
/* Nothing could follow until now. */
void whole_excuse(struct whole *whole, uint64_t now_ms);
/* All there is. */
void whole_flush(struct whole *whole);
/* What waits is thrown away. */
void whole_forget(struct whole *whole);

#endif
