/* Running the compilers, and the private directory for generated files.
 *
 * There are no signal handlers: HUP, INT and TERM are blocked as soon as the directory may exist
 * and are fetched with sigwaitinfo, together with the end of the command.  So no signal can be lost
 * between a check and a wait, and cleanup is ordinary code.  SIGPIPE is ignored, as the reader of
 * our messages may have exited.
 */
#include "tools/bspcc/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer commands use a response file: the kernel's limit is far higher, but includes the
 * environment. */
#define COMMAND_BYTES_MAX (256 * 1024)

extern char **environ;

static char *directory;
static struct arguments elsewhere; /* temporary files outside of it */

/* SIGPIPE is ignored only by this process: commands get the default. */
static bool pipe_ignored_here;

static void print_command(const struct arguments *command)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%^";

    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i];
        if (i > 0)
            fputc(' ', stderr);
        if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
            fputs(word, stderr);
            continue;
        }
        fputc('\'', stderr);
        for (; *word != '\0'; word++)
            if (*word == '\'')
                fputs("'\\''", stderr);
            else
                fputc(*word, stderr);
        fputc('\'', stderr);
    }
    fputc('\n', stderr);
}

static bool too_long(const struct arguments *command)
{
    size_t bytes = 0;

    for (size_t i = 0; i < command->count; i++)
        bytes += strlen(command->items[i]) + 1 + sizeof(char *);
    return bytes > COMMAND_BYTES_MAX;
}

static void shorten(struct arguments *command)
{
    if (!too_long(command))
        return;

    char *path = temporary_path("words");
    if (!arguments_write(command, command->program, path))
        fail("cannot write %s: %s", path, strerror(errno));
    command->count = command->program;
    arguments_add(command, format_text("@%s", path));
}

void become(struct arguments *command, bool show)
{
    if (too_long(command)) {
        int status = run(command, show);
        remove_temporary_directory();
        exit(status);
    }
    if (show)
        print_command(command);
    execvp(command->items[0], command->items);
    fail("cannot run %s: %s", command->items[0], strerror(errno));
}

/* The termination signals, without those that the caller wants ignored (nohup). */
static void wanted_signals(sigset_t *set)
{
    static const int ends[] = {SIGHUP, SIGINT, SIGTERM};

    sigemptyset(set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct sigaction action;
        if (sigaction(ends[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, ends[i]);
    }
}

static void die_of(int number)
{
    sigset_t set;

    remove_temporary_directory();
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

static pid_t start(struct arguments *command, const sigset_t *mask,
                   const posix_spawn_file_actions_t *files)
{
    posix_spawnattr_t attributes;
    sigset_t defaults;
    pid_t child;

    sigemptyset(&defaults);
    if (pipe_ignored_here)
        sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, mask);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    int error =
        posix_spawnp(&child, command->items[0], files, &attributes, command->items, environ);
    posix_spawnattr_destroy(&attributes);
    if (error != 0)
        fail("cannot run %s: %s", command->items[0], strerror(error));
    return child;
}

static int run_with(struct arguments *command, bool show, const posix_spawn_file_actions_t *files)
{
    sigset_t wanted, before;
    int status, received = 0;
    pid_t ended;

    shorten(command);
    if (show)
        print_command(command);
    signal(SIGCHLD, SIG_DFL); /* an inherited "ignore" would lose the exit status */
    wanted_signals(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigprocmask(SIG_BLOCK, &wanted, &before);
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&wanted, number) == 1)
            sigdelset(&before, number);

    pid_t child = start(command, &before, files);
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        int number = sigwaitinfo(&wanted, NULL);
        if (number > 0 && number != SIGCHLD) {
            received = number;
            kill(child, number);
        }
    }
    if (ended < 0)
        fail("lost track of %s: %s", command->items[0], strerror(errno));
    if (received != 0)
        die_of(received);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%s: %s was killed by signal %d\n", program_name, command->items[0],
                WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

int run(struct arguments *command, bool show)
{
    return run_with(command, show, NULL);
}

int run_into(struct arguments *command, bool show, const char *output)
{
    posix_spawn_file_actions_t files;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    int status = run_with(command, show, &files);
    posix_spawn_file_actions_destroy(&files);
    return status;
}

int run_unheard(struct arguments *command)
{
    posix_spawn_file_actions_t files;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    int status = run_with(command, false, &files);
    posix_spawn_file_actions_destroy(&files);
    return status;
}

char *temporary_path(const char *name)
{
    if (directory == NULL) {
        sigset_t wanted;
        wanted_signals(&wanted);
        sigprocmask(SIG_BLOCK, &wanted, NULL);
        pipe_ignored_here = signal(SIGPIPE, SIG_IGN) == SIG_DFL || pipe_ignored_here;

        const char *parent = getenv("TMPDIR");
        if (parent == NULL || parent[0] == '\0')
            parent = "/tmp";
        char *path = format_text("%s/bspcc.XXXXXX", parent);
        if (mkdtemp(path) == NULL)
            fail("cannot make a directory in %s: %s", parent, strerror(errno));
        directory = path;
        atexit(remove_temporary_directory);
    }
    return format_text("%s/%s", directory, name);
}

char *temporary_subdirectory(const char *name)
{
    char *path = temporary_path(name);

    if (mkdir(path, 0700) != 0)
        fail("cannot make the directory %s: %s", path, strerror(errno));
    return path;
}

bool temporary_elsewhere(const char *path)
{
    (void)temporary_path(
        ""); /* from then on no signal ends this process before it has cleaned up */
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        return false;
    close(fd);
    arguments_add(&elsewhere, path);
    return true;
}

static void remove_directory(const char *path)
{
    DIR *listing = opendir(path);
    struct dirent *entry;

    if (listing == NULL)
        return;
    while ((entry = readdir(listing)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(dirfd(listing), entry->d_name, 0) != 0 && errno == EISDIR)
            remove_directory(format_text("%s/%s", path, entry->d_name));
    closedir(listing);
    rmdir(path);
}

void remove_temporary_directory(void)
{
    for (size_t i = 0; i < elsewhere.count; i++)
        unlink(elsewhere.items[i]);
    elsewhere.count = 0;
    if (directory != NULL)
        remove_directory(directory);
    directory = NULL;
}
