/* part.c - bspckpt on a host whose parts of jobs another bspckpt asks for; see elsewhere.h. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/leftovers.h"
#include "ckpt/bspckpt/elsewhere.h"
#include "ckpt/bspckpt/verify.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/temporary.h"

struct part {
    const char *command;
    const char *at; /* verify: SUPERSTEP[.TERM], NULL: all */
    const char *directory;
    struct request request;
    int status;
};

/* One job in one directory. */
typedef int part_function(struct part *part, const char *path, struct store *store,
                          const char *job);

static int list_part(struct part *part, const char *path, struct store *store, const char *job)
{
    if (!part->request.json && strncmp(path, part->directory, strlen(part->directory)) != 0)
        printf("in %s:\n", path);
    return list_job(&part->request, store, job);
}

static int verify_part(struct part *part, const char *path, struct store *store, const char *job)
{
    (void)path;
    return verify_for_another(store, job, part->at);
}

static int remove_part(struct part *part, const char *path, struct store *store, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];

    (void)part;
    if (store_job_open(store, job, error) < 0 || store_job_remove(store, error) < 0)
        return complain("%s", error);
    printf("removed %s\n", path);
    return STATUS_OK;
}

static const struct {
    const char *name;
    enum store_mode mode;
    part_function *run;
} commands[] = {
    {"have", STORE_READ, NULL},         {"ls", STORE_READ, list_part},
    {"ls-json", STORE_READ, list_part}, {"verify", STORE_READ, verify_part},
    {"rm", STORE_WRITE, remove_part},
};

static void run_on(struct part *part, size_t command, const char *path, const char *job)
{
    char error[MANIFEST_ERROR_SIZE];
    struct store *store;

    if (!commands[command].run) {
        printf("own %s\n", path);
        return;
    }
    if (store_open(&store, path, commands[command].mode, NULL, error) < 0) {
        part->status = complain("%s", error);
        return;
    }
    if (commands[command].run(part, path, store, job) != STATUS_OK)
        part->status = STATUS_BAD;
    store_close(store);
}

static bool is_directory(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The same in the directories that agents use when the user's path is not available. */
static void run_on_hidden(struct part *part, size_t command, const char *job)
{
    char prefix[64], path[PATH_MAX];
    DIR *root = opendir(bspz_temporary_root());
    struct dirent *entry;

    snprintf(prefix, sizeof(prefix), LEFTOVERS_STORE "%u-", (unsigned)getuid());
    while (root && (entry = readdir(root))) {
        char *behind =
            path + snprintf(path, sizeof(path), "%s/%s", bspz_temporary_root(), entry->d_name);

        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            strlen(path) + strlen(job) + sizeof("/lock") >= sizeof(path))
            continue;
        sprintf(behind, "/%s", job);
        if (!is_directory(path))
            continue;
        run_on(part, command, path, job);
        if (strcmp(part->command, "rm") == 0 && !is_directory(path)) {
            strcpy(behind, "/lock");
            unlink(path);
            *behind = '\0';
            rmdir(path); /* unless there is another job */
        }
    }
    if (root)
        closedir(root);
}

static void run_for(struct part *part, size_t command, char *word)
{
    char path[PATH_MAX], print[FINGERPRINT_SIZE];
    char *seen = strchr(word, '=');

    if (!seen || strchr(word, '/') || word[0] == '.') {
        part->status = complain("%s: not a job", word);
        return;
    }
    *seen++ = '\0';
    if (snprintf(path, sizeof(path), "%s/%s", part->directory, word) >= (int)sizeof(path)) {
        part->status = complain("%.80s...: the path is too long", path);
        return;
    }
    if (fingerprint(path, print) && strcmp(print, seen) != 0)
        run_on(part, command, path, word);
    run_on_hidden(part, command, word);
}

static int run(struct part *part, int count, char *const *words)
{
    size_t length = strcspn(part->command, "@");

    part->at = part->command[length] ? part->command + length + 1 : NULL;
    if (strcmp(part->command, "ls-json") == 0)
        request_json(&part->request);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strlen(commands[i].name) != length ||
            strncmp(commands[i].name, part->command, length) != 0)
            continue;
        if (part->request.json)
            bspz_json_array(part->request.json, NULL);
        for (int k = 0; k < count; k++)
            run_for(part, i, words[k]);
        if (part->request.json)
            bspz_json_end(part->request.json);
        return part->status;
    }
    return complain("part: there is no command %.80s", part->command);
}

/* Messages are lines of the answer behind all others: within JSON they would be a part of it. */
static void print_messages(int file)
{
    char bytes[4096];
    ssize_t size;

    for (off_t at = 0; (size = pread(file, bytes, sizeof(bytes), at)) > 0; at += size)
        fwrite(bytes, 1, (size_t)size, stdout);
    close(file);
}

int part_main(int count, char *const *words)
{
    struct part part = {.status = STATUS_OK, .request = {.pid = -1}};

    if (count < 2)
        return STATUS_WRONG;
    part.request.now = bspz_wall_ns();
    int messages = memfd_create("messages", MFD_CLOEXEC);
    dup2(messages >= 0 ? messages : STDOUT_FILENO, STDERR_FILENO);
    part.command = words[0];
    part.directory = words[1];
    fputs(PART_BEGIN, stdout);
    int status = run(&part, count - 2, words + 2);
    if (messages >= 0)
        print_messages(messages);
    printf("\n" PART_END "%d\n", status);
    return fflush(stdout) == 0 ? STATUS_OK : STATUS_BAD;
}
