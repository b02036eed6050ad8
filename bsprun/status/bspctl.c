/* bspctl.c - controls a running job of the user: its hosts, its places, its snapshots.
 *
 * Happy path: a request to bsprun (status_socket.h) -> "ok" -> with --wait "done".
 *
 * What can fail: there is no such job; bsprun refuses; the job ends before it is done.
 */
#include <poll.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/status/jobs.h"
#include "bsprun/status/status_directory.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2
#define ANSWER_MS    15000
#define QUESTION_MS  30000 /* bsprun takes less even for all stacks */
#define LINE_MOST    2048u /* of an answer, the rest of which is cut off */
#define ALREADY      "already "
#define HOST_MOST    255u
#define LIST_MOST    768u /* 64 numbers of replicas, each of processes of four digits */

static const char help[] =
    "Usage: bspctl [--wait] JOB COMMAND [PID] [HOST]\n"
    "Controls a job of yours that runs under bsprun on this host.  JOB is the process\n"
    "id of bsprun, as bspstat shows it.  All commands but hosts and stacks need --ckpt.\n"
    "  hosts        list the hosts of the job\n"
    "  stacks       print the C stack of each process\n"
    "  save         take a snapshot at the next barrier, and continue\n"
    "  drain HOST   move the processes off HOST at the next barrier, and keep it empty\n"
    "  remove HOST  the same, and end the agent of the job there\n"
    "  add HOST[:SLOTS]  use HOST: a new, drained, spare, lost or removed one\n"
    "  move PID HOST  move process PID of the job to HOST\n"
    "  rebalance    distribute the processes as at the start\n"
    "  replicas K   run each process K times, 1 to 4, or as 0=3,1-7=2 has it, from\n"
    "               the next snapshot on\n"
    "  --wait       wait until it has been done\n"
    "  --help, --version\n"
    "The exit status is 0 if bsprun has accepted the command or, with --wait, when it\n"
    "has been done; 1 if bsprun refuses it, it cannot be done, or the job ends first;\n"
    "2 for wrong usage.\n";

static const struct command {
    const char *word, *request;
    int words; /* that follow it: a host, last, and before it a pid */
    bool is_question;
    const char *wanted;
} commands[] = {
    {"hosts", "hosts", 0, true, "it takes no host"},
    {"stacks", "stacks", 0, true, "it takes no host and no pid"},
    {"save", "snapshot", 0, false, "it takes no host"},
    {"drain", "drain", 1, false, "name a host"},
    {"remove", "remove", 1, false, "name a host"},
    {"add", "open", 1, false, "name a host"},
    {"move", "move", 2, false, "name a process by its pid in the job, and a host"},
    {"rebalance", "place", 0, false, "it takes no host"},
    {"replicas", "replicas", 1, false,
     "give a number from 1 to 4, or one for each process, as 0=3,1-7=2"},
};

enum { OPT_WAIT = 1 };

static const struct poptOption table[] = {
    {"wait", '\0', POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, NULL, OPT_WAIT, NULL, NULL},
    POPT_TABLEEND,
};

struct words {
    const char *items[4]; /* job, command, pid, host: as long as popt's context */
    int count;
    bool wait;
};

static int usage(const char *word, const char *what)
{
    fprintf(stderr, "bspctl: %s: %s; see bspctl --help\n", word, what);
    return STATUS_USAGE;
}

static int fail(const char *job, const char *what)
{
    fprintf(stderr, "bspctl: job %s: %s\n", job, what);
    return 1;
}

enum reading { READ_LINE, READ_NOTHING, READ_END };

/* Reads a line, without its newline.  NOTHING: there is none within the time (negative: no limit);
 * END: bsprun has closed the connection, as it does when the job ends. */
static enum reading read_line(int fd, char line[LINE_MOST], int milliseconds)
{
    size_t size = 0;
    char byte;

    for (;;) {
        struct pollfd readable = {.fd = fd, .events = POLLIN};
        if (poll(&readable, 1, milliseconds) <= 0)
            return READ_NOTHING;
        if (read(fd, &byte, 1) != 1)
            return READ_END;
        if (byte == '\n')
            break;
        if (size < LINE_MOST - 1)
            line[size++] = byte;
    }
    line[size] = '\0';
    return READ_LINE;
}

static int fail_unanswered(const char *job, bool ended)
{
    return fail(job, ended ? "it has ended without an answer" : "it does not answer");
}

static int show(int fd, const char *job)
{
    bool ended;
    char *text = jobs_read(fd, QUESTION_MS, &ended);
    bool is_busy = text && strcmp(text, STATUS_BUSY "\n") == 0;
    int status = is_busy                  ? fail(job, STATUS_BUSY)
                 : text && ended && *text ? 0
                                          : fail_unanswered(job, ended);

    if (status == 0 && !bspz_stdout_text("bspctl", text))
        status = 1;
    free(text);
    return status;
}

static int await(int fd, const struct words *words)
{
    const char *job = words->items[0];
    char line[LINE_MOST];

    enum reading reading = read_line(fd, line, ANSWER_MS);
    if (reading != READ_LINE)
        return fail_unanswered(job, reading == READ_END);
    if (strncmp(line, ALREADY, sizeof ALREADY - 1) == 0)
        return puts(line + sizeof ALREADY - 1) < 0;
    if (strcmp(line, "ok") != 0)
        return fail(job, line);
    if (!words->wait)
        return 0;
    if (read_line(fd, line, -1) != READ_LINE)
        return fail(job, "it has ended before that");
    if (strcmp(line, "done") != 0)
        return fail(job, line);
    return 0;
}

/* A request is a line of words. */
static bool is_plain(const char *word, size_t most)
{
    size_t length = strlen(word);

    for (size_t i = 0; i < length; i++)
        if ((unsigned char)word[i] <= ' ' || word[i] == 0x7f)
            return false;
    return length > 0 && length <= most;
}

static int carry_out(const struct words *words, const struct command *command)
{
    const char *job = words->items[0];
    char request[LINE_MOST];

    int length = snprintf(request, sizeof request, "%s", command->request);
    for (int i = words->count - 1; i >= 2; i--) /* the host first */
        length +=
            snprintf(request + length, sizeof request - (size_t)length, " %s", words->items[i]);
    enum jobs_silence why;
    int fd = jobs_ask((pid_t)atoi(job), request, ANSWER_MS, &why);
    if (fd < 0)
        return why == JOBS_GONE ? fail(job, "it is not running on this host, or is not yours")
                                : fail_unanswered(job, false);
    int status = command->is_question ? show(fd, job) : await(fd, words);
    close(fd);
    return status;
}

/* 0, or the exit status after wrong words. */
static int take_words(struct words *words, poptContext context)
{
    int option;

    while ((option = poptGetNextOpt(context)) > 0)
        words->wait = true;
    if (option < -1)
        return usage(poptBadOption(context, POPT_BADOPTION_NOALIAS), poptStrerror(option));
    for (const char **word = poptGetArgs(context); word && *word; word++) {
        if (words->count == 4)
            return usage(*word, "too many arguments");
        words->items[words->count++] = *word;
    }
    if (words->count < 2)
        return usage(words->count > 0 ? words->items[0] : "JOB", "name a job and a command");
    if (!jobs_is_name(words->items[0]))
        return usage(words->items[0], "give the process id of bsprun");
    return 0;
}

static int check_and_carry_out(const struct words *words)
{
    const struct command *command = NULL;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(words->items[1], commands[i].word) == 0)
            command = &commands[i];
    if (!command)
        return usage(words->items[1], "unknown command");
    if (words->count != 2 + command->words)
        return usage(words->items[1], command->wanted);
    if (command->words == 2 && !jobs_is_name(words->items[2]) && strcmp(words->items[2], "0") != 0)
        return usage(words->items[2], "a pid is a number");
    bool is_list = strcmp(command->word, "replicas") == 0;
    const char *last = words->items[words->count - 1];
    if (command->words > 0 && !is_plain(last, is_list ? LIST_MOST : HOST_MOST))
        return usage(last, is_list ? command->wanted : "not a host name");
    return carry_out(words, command);
}

int main(int argc, const char **argv)
{
    struct words words = {.count = 0};
    int status;

    for (int i = 1; i < argc; i++)
        if (jobs_tells_about(argv[i], "bspctl", help, &status))
            return status;
    poptContext context = poptGetContext("bspctl", argc, argv, table, 0);
    status = take_words(&words, context);
    if (status == 0)
        status = check_and_carry_out(&words);
    poptFreeContext(context);
    return bspz_stdout_flushed("bspctl") ? status : 1;
}
