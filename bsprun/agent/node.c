/* node.c - main of bspnode, the node agent.
 *
 *   bspnode --fd N [--hold M] [--join]
 *     under bsprun: N is the connection to it; M stays open until the end; --join: several hosts
 *   bspnode --join [--slurm]
 *     the same on another host: JOIN is read from standard input; --slurm: use Slurm's host name
 *   bspnode --bare FD PROCESS
 *     for a bare run: the descriptor of its board and its process 0
 *
 * The first two may end with --view DIR: where the owner of the host is seen, for tests; see
 * owner_view_new.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bsprun/agent/control.h"
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/outside.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/events.h"
#include "bsprun/agent/join.h"
#include "bsprun/agent/loop.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/zero.h"
#include "bsprun/fault.h"
#include "bsprun/verdict.h"
#include "lib/shm/board.h"

#define FIRST_TERM 1u

/* The agent must not keep the caller's pipes and files open; stderr is for messages. */
static void drop_descriptors(int board_fd)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
    }
    if (board_fd > STDERR_FILENO + 1)
        close_range(STDERR_FILENO + 1, (unsigned)board_fd - 1, 0);
    close_range((unsigned)board_fd + 1, ~0u, 0);
    fcntl(board_fd, F_SETFD, FD_CLOEXEC);
}

static void bare_order(struct agent *agent)
{
    int slots = agent_board(agent)->slots;
    struct faults faults;

    if (!faults_parse(getenv(FAULT_VARIABLE), &faults))
        agent_notice(agent, "%s is not understood and ignored", FAULT_VARIABLE);
    agent_order_bare(agent, slots > 0 ? slots : bspz_usable_cores(), &faults);
}

/* Adopts the existing ranks and is Processor Zero from the start. */
static int start_bare(struct agent *agent, int board_fd, pid_t root)
{
    struct bspz_board *board = bspz_board_map_agent(board_fd, 0);
    int nprocs, error;

    if (!board)
        return -errno;
    agent_take_board(agent, board_fd, board);
    if (board->magic != BSPZ_BOARD_MAGIC || board->version != BSPZ_BOARD_VERSION)
        return -EINVAL;
    nprocs = atomic_load(&board->nprocs);
    if (nprocs < 1 || nprocs > BSPZ_MAX_PROCS)
        return -EINVAL;
    board->agent_pid = getpid();
    bare_order(agent);
    error = agent_place(agent, nprocs, NULL);
    if (error)
        return error;
    error = agent_start_bell(agent);
    if (error)
        return error;
    agent_job_move(agent, JOB_REGISTERED);
    error = agent_watch(agent, agent_root(agent), AGENT_ROOT, root);
    if (error)
        return error;
    return agent_elect(agent, FIRST_TERM);
}

/* Stops the ranks without messages of their own, as the error has been printed. */
static void dismiss(const struct agent *agent, int board_fd)
{
    struct bspz_board *board =
        agent_board(agent) ? agent_board(agent) : bspz_board_map_agent(board_fd, 0);

    if (board && board->magic == BSPZ_BOARD_MAGIC && board->version == BSPZ_BOARD_VERSION)
        bspz_board_stop(board, agent_nprocs(agent), BSPZ_STOP_ABORT, 1);
}

static int run_bare(int board_fd, pid_t root)
{
    struct agent *agent = agent_make(&agent_events);
    int error;

    drop_descriptors(board_fd);
    error = agent_init(agent, true);
    if (!error)
        error = start_bare(agent, board_fd, root);
    if (error) {
        if (error != -ESRCH) /* the caller is dead */
            dprintf(STDERR_FILENO, "bspzero: the node agent cannot start: %s%s\n", strerror(-error),
                    verdict_limit_hint(-error));
        dismiss(agent, board_fd);
        return 1; /* its children die with it, and the caller sees its exit */
    }
    return agent_run(agent);
}

/* `fd` is the connection to bsprun; -1: JOIN on standard input says where.  joins: the job has
 * several hosts. */
static int run_managed(int fd, bool joins, const char *view)
{
    struct agent *agent = agent_make(&agent_events);
    struct outside outside;
    int error;

    outside_note(&outside, fd);
    error = agent_init(agent, false);
    agent_set_starter(agent, fd < 0 ? 0 : getppid(), &outside, view);
    if (!error) {
        setpgid(0, 0); /* bsprun passes on terminal signals */
        if (fd < 0)
            agent_join(agent);
        else
            error = agent_control_open(agent, fd, NULL);
    }
    if (error) {
        dprintf(STDERR_FILENO, "bspnode: cannot start: %s%s\n", strerror(-error),
                verdict_limit_hint(-error));
        return 1;
    }
    if (!joins)
        agent_say_hello(agent);
    return agent_run(agent);
}

static bool number(const char *text, int *value)
{
    char *end;
    long parsed;

    if (!text)
        return false;
    errno = 0;
    parsed = strtol(text, &end, 10);
    if (errno || end == text || *end || parsed < 0 || parsed > 1 << 30)
        return false;
    *value = (int)parsed;
    return true;
}

/* Holds bsprun's lock as long as processes of the job run. */
static bool hold(const char *text)
{
    int fd;

    return number(text, &fd) && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

/* Parses the options after --fd N. */
static bool managed_options(char **argv, bool *joins, const char **view)
{
    for (; *argv; argv++)
        if (strcmp(*argv, "--join") == 0)
            *joins = true;
        else if (strcmp(*argv, "--view") == 0 && argv[1])
            *view = *++argv;
        else if (strcmp(*argv, "--hold") != 0 || !hold(*++argv))
            return false;
    return true;
}

/* Slurm's node names may differ from host names. */
static void take_node_name(void)
{
    const char *name = getenv("SLURMD_NODENAME");

    if (name)
        setenv(AGENT_NAME_VARIABLE, name, 0);
}

/* Parses the options after --join on another host. */
static bool joining_options(char **argv, const char **view)
{
    for (; *argv; argv++)
        if (strcmp(*argv, "--slurm") == 0)
            take_node_name();
        else if (strcmp(*argv, "--view") == 0 && argv[1])
            *view = *++argv;
        else
            return false;
    return true;
}

static bool tells_about(const char *word)
{
    if (strcmp(word, "--version") == 0 || strcmp(word, "-version") == 0)
        puts("bspnode (bspzero) " BSPZ_VERSION);
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "-h") == 0)
        puts("usage: bspnode is the node agent, which bsprun starts on every host of a job;\n"
             "it is not meant to be started by hand.  See bsprun --help.");
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    bool joins = false;
    const char *view = "";
    int fd, root;

    prctl(PR_SET_NAME, "bspnode", 0, 0, 0);
    if (argc >= 2 && strcmp(argv[1], "--join") == 0 && joining_options(argv + 2, &view))
        return run_managed(-1, true, view);
    if (argc >= 3 && strcmp(argv[1], "--fd") == 0 && number(argv[2], &fd) &&
        managed_options(argv + 3, &joins, &view))
        return run_managed(fd, joins, view);
    if (argc >= 4 && strcmp(argv[1], "--bare") == 0 && number(argv[2], &fd) && fd > STDERR_FILENO &&
        number(argv[3], &root))
        return run_bare(fd, root);
    if (argc == 2 && tells_about(argv[1]))
        return fflush(stdout) == 0 ? 0 : 1;
    fprintf(stderr, "bspnode: this is a part of bspzero that bsprun starts; run `bsprun --help`\n");
    return 2;
}
