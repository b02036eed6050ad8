/* farmhost.h - the small program that the hosts of a test are made with.
 *
 * A host is a set of namespaces (network, mounts, host name, processes, System V IPC) whose first
 * process is `farmhost host`.  It starts commands for `farmhost rsh`, which behaves like ssh: over
 * TCP, so that a cut network cuts it, too.  farm.py drives all of it.
 */
#ifndef FARMHOST_H
#define FARMHOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FARM_PORT = 514 }; /* of the hosts' network, which no other host can see */

/* The subcommands; each gets what follows its name and returns the exit status. */
int switch_main(int argc, char **argv);
int host_main(int argc, char **argv);
int enter_main(int argc, char **argv);
int rsh_main(int argc, char **argv);
int wires_main(int argc, char **argv);

/* One session of rsh on the host's side; never returns. */
_Noreturn void session_serve(int connection);

/* Prints what failed with errno's text and ends the process with status 255. */
_Noreturn void give_up(const char *what, const char *which);

/* Asks the kernel to kill this process when its parent ends. */
void die_with_parent(void);

/* Joins namespaces ("net", "mnt", ..., in this order; NULL ends them) of a process, except those
 * that are the same already. */
void join_namespaces(pid_t process, const char *const *names);

/* Becomes a user, with its groups; nothing when it is the one already. */
void become(uid_t uid, gid_t gid);

/* ---- Frames of a session ---- */

enum { FRAME_MOST = 32768 };

/* What a frame carries. */
enum frame_kind {
    FRAME_COMMAND = 1, /* uid and gid, 32 bits each, and the command's text; the first frame */
    FRAME_INPUT,       /* bytes for its stdin; none: the end */
    FRAME_OUTPUT,
    FRAME_ERRORS,
    FRAME_STATUS, /* 32 bits, as wait says it; the last frame */
};

struct frame_head {
    uint32_t kind;
    uint32_t size;
};

/* A connection on which frames are sent and received without blocking, one each way at a time. */
struct channel {
    int fd;
    bool ended; /* the other side is gone */
    size_t sent, send_size;
    size_t received;
    struct frame_head head; /* of the frame being received */
    char sending[sizeof(struct frame_head) + FRAME_MOST];
    char data[FRAME_MOST]; /* of the frame being received */
};

void channel_open(struct channel *channel, int fd);

/* Begins to send; only when the last frame has gone (channel_idle). */
void channel_send(struct channel *channel, enum frame_kind kind, const void *data, size_t size);
bool channel_idle(const struct channel *channel);

/* Goes on sending and receiving as far as possible; what poll should wait for on fd. */
void channel_flush(struct channel *channel);
bool channel_receive(struct channel *channel); /* a whole frame is there: head and data */
void channel_taken(struct channel *channel);   /* it has been dealt with */

#endif
