/* elsewhere.c - asks other hosts for their parts of jobs; see elsewhere.h. */
#include "ckpt/bspckpt/elsewhere.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD_COMMAND 2 /* its index among the words */

bool fingerprint(const char *path, char text[FINGERPRINT_SIZE])
{
    struct stat about, term;
    char name[PATH_MAX];

    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return false;
    /* While the job runs the directory changes with each snapshot, its record only with a term. */
    if (snprintf(name, sizeof(name), "%s/term", path) >= (int)sizeof(name) ||
        lstat(name, &term) != 0)
        term = about;
    snprintf(text, FINGERPRINT_SIZE, "%jx-%jx-%jx-%lx", (uintmax_t)about.st_ino,
             (uintmax_t)term.st_ino, (uintmax_t)term.st_ctim.tv_sec, term.st_ctim.tv_nsec);
    return true;
}

/* ---- Which hosts ----------------------------------------------------------------------------- */

static const char *option_of(const struct manifest *manifest, const char *name)
{
    for (uint32_t i = 0; i < manifest->options.count; i++) {
        const char *option = manifest->options.items[i];
        size_t length = strlen(name);

        option += strspn(option, "-");
        if (strncmp(option, name, length) == 0 && option[length] == '=')
            return option + length + 1;
    }
    return NULL;
}

/* The user as whom bsprun was told to log in on that host; NULL: the default. */
static const char *user_at(const struct hosts *named, const char *name)
{
    for (uint32_t i = 0; i < named->count; i++)
        if (strcasecmp(named->items[i].name, name) == 0)
            return named->items[i].user;
    return NULL;
}

/* Whether a launcher can only take the name for a host. */
static bool is_name(const char *name)
{
    char error[HOSTS_ERROR], *user = NULL, *clean = NULL, *text;
    bool good = asprintf(&text, strchr(name, ':') ? "[%s]" : "%s", name) >= 0;

    if (good) {
        good = hosts_cut_name(text, strlen(text), &user, &clean, error) && !user;
        free(text);
        free(user);
        free(clean);
    }
    return good;
}

/* What was right for a job, or is for bsprun, unless the user has given it.  That it was srun says
 * nothing of the hosts that are in an allocation now. */
static void take_launcher(struct elsewhere *elsewhere, const char *launcher)
{
    if (!launcher || !*launcher || elsewhere->launcher || elsewhere->by_slurm)
        return;
    if (strcmp(launcher, "slurm") == 0)
        elsewhere->by_slurm = true;
    else
        elsewhere->launcher = strdup(launcher);
}

static void add_hosts(struct elsewhere *elsewhere, const struct manifest *manifest, const char *own)
{
    const char *list = option_of(manifest, "hosts"), *launcher = option_of(manifest, "launcher");
    char error[HOSTS_ERROR];
    struct hosts named = {0};

    if (list)
        hosts_from_list(&named, list, "", error); /* an empty one otherwise */
    for (uint32_t i = 0; i < manifest->hosts.count; i++) {
        const char *name = manifest->hosts.items[i];

        if (!hosts_is_own(name, own) && is_name(name))
            hosts_mention(&elsewhere->hosts, user_at(&named, name), name, 1, error);
    }
    take_launcher(elsewhere, launcher);
    hosts_free(&named);
}

/* All snapshots are read: a host that was lost is named by older ones only. */
static void add_job(struct elsewhere *elsewhere, struct store *store, const char *job,
                    const char *own)
{
    struct store_entry *entries;
    struct manifest manifest;
    size_t count;

    if (store_job_open(store, job, NULL) < 0 || store_list_all(store, &entries, &count, NULL) < 0)
        return;
    for (size_t i = count; i-- > 0;) {
        if (store_manifest(store, entries[i].name, &manifest, NULL) < 0)
            continue;
        if (manifest.hosts.count > 1)
            add_hosts(elsewhere, &manifest, own);
        manifest_free(&manifest);
    }
    free(entries);
}

static const char *variable(const char *name)
{
    return getenv(name);
}

/* srun reaches only nodes of the allocation in which it is called; the job may have had another. */
static void find_nodes(struct elsewhere *elsewhere)
{
    struct hosts nodes = {0};
    char error[HOSTS_ERROR];

    if (elsewhere->launcher || !hosts_in_slurm(variable) ||
        !hosts_from_slurm(&nodes, variable, error))
        return;
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        elsewhere->nodes[i] = hosts_named(&nodes, elsewhere->hosts.items[i].name) != NULL;
    hosts_free(&nodes);
}

static void find_own(char *own, size_t size)
{
    const char *node = getenv("SLURMD_NODENAME");

    own[0] = own[size - 1] = '\0';
    if (node && *node)
        snprintf(own, size, "%s", node);
    else
        gethostname(own, size - 1);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static char *absolute(const char *path)
{
    char here[PATH_MAX], *whole;

    if (path[0] == '/')
        return strdup(path);
    return getcwd(here, sizeof(here)) && asprintf(&whole, "%s/%s", here, path) >= 0 ? whole : NULL;
}

static char *own_path(void)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    return length > 0 ? strndup(self, (size_t)length) : NULL;
}

static char *job_word(struct store *store, const char *job)
{
    char *path, *word = NULL, print[FINGERPRINT_SIZE] = "";

    if (asprintf(&path, "%s/%s", store_path(store), job) < 0)
        return NULL;
    fingerprint(path, print);
    free(path);
    return asprintf(&word, "%s=%s", job, print) < 0 ? NULL : word;
}

static int make_words(struct elsewhere *elsewhere, struct store *store,
                      const struct store_job *jobs, size_t count)
{
    char **words = calloc(count + WORD_COMMAND + 3, sizeof(*words));

    if (!words)
        return -ENOMEM;
    elsewhere->words = words;
    words[0] = own_path();
    words[1] = strdup("part");
    words[WORD_COMMAND] = strdup("have");
    words[WORD_COMMAND + 1] = absolute(store_path(store));
    for (size_t i = 0; i < count; i++)
        words[WORD_COMMAND + 2 + i] = job_word(store, jobs[i].name);
    elsewhere->word_count = count + WORD_COMMAND + 2;
    for (size_t i = 0; i < elsewhere->word_count; i++)
        if (!words[i])
            return -ENOMEM;
    return 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void forget_answers(struct elsewhere *elsewhere)
{
    for (uint32_t i = 0; elsewhere->answers && i < elsewhere->hosts.count; i++) {
        free(elsewhere->answers[i].output);
        free(elsewhere->answers[i].failure);
        elsewhere->answers[i] = (struct ask_answer){0};
    }
}

/* Cuts off what the remote shell printed before the answer.  False: there is no complete answer. */
static bool take_lines(char *output, int *status)
{
    char *begin = strstr(output, PART_BEGIN), *end = NULL;

    for (char *at = begin; at; at = strstr(at + 1, "\n" PART_END))
        end = at;
    if (!begin || end == begin || sscanf(end, "\n" PART_END "%d", status) != 1)
        return false;
    begin += strlen(PART_BEGIN);
    end++;
    memmove(output, begin, (size_t)(end - begin));
    output[end - begin] = '\0';
    return true;
}

/* The child's lines joined into one; for free(). */
static char *in_one_line(const char *text)
{
    char *line = malloc(2 * strlen(text) + 1), *to = line;

    if (!line)
        return NULL;
    for (const char *at = text; *at; at++) {
        if (*at != '\n') {
            *to++ = *at;
            continue;
        }
        at += strspn(at, "\n\r\t ") - 1;
        if (at[1])
            to = stpcpy(to, "; ");
    }
    *to = '\0';
    return line;
}

static void take_answer(struct elsewhere *elsewhere, uint32_t i)
{
    struct ask_answer *answer = &elsewhere->answers[i];
    int status = STATUS_BAD;

    if (answer->output && take_lines(answer->output, &status)) {
        elsewhere->status = status != STATUS_OK ? STATUS_BAD : elsewhere->status;
        return;
    }
    char *failure = answer->failure ? in_one_line(answer->failure) : NULL;
    if (failure)
        complain("%s", failure);
    else
        complain("host %s: its answer is not understood", elsewhere->hosts.items[i].name);
    free(failure);
    free(answer->output);
    answer->output = NULL;
    elsewhere->wanted[i] = false;
    elsewhere->status = STATUS_BAD;
}

/* Asks those that are nodes of the allocation, or the others.  0 or -errno. */
static int ask_some(struct elsewhere *elsewhere, bool nodes, uint64_t timeout_ms)
{
    bool *wanted = calloc(elsewhere->hosts.count, sizeof(*wanted));
    const struct ask question = {.hosts = &elsewhere->hosts,
                                 .wanted = wanted,
                                 .kind = launch_kind(elsewhere->launcher, nodes),
                                 .launcher = elsewhere->launcher,
                                 .words = (const char *const *)elsewhere->words,
                                 .timeout_ms = timeout_ms};

    if (!wanted)
        return -ENOMEM;
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        wanted[i] = elsewhere->wanted[i] && elsewhere->nodes[i] == nodes;
    int error = ask_hosts(&question, elsewhere->answers);
    free(wanted);
    return error;
}

static int ask(struct elsewhere *elsewhere, const char *command, uint64_t timeout_ms)
{
    char *word = strdup(command);

    forget_answers(elsewhere);
    if (!word)
        return complain("out of memory");
    free(elsewhere->words[WORD_COMMAND]);
    elsewhere->words[WORD_COMMAND] = word;
    fflush(stdout); /* the next call forks */
    int error = ask_some(elsewhere, true, timeout_ms);
    if (!error)
        error = ask_some(elsewhere, false, timeout_ms);
    if (error)
        return complain("other hosts cannot be asked: %s", strerror(-error));
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        if (elsewhere->wanted[i])
            take_answer(elsewhere, i);
    return elsewhere->status;
}

/* Takes the messages out of an answer. */
static void tell_messages(const char *host, char *output)
{
    static const char begin[] = "bspckpt: ";
    char *to = output, *next;

    for (char *line = output; *line; line = next) {
        size_t length = strcspn(line, "\n");
        size_t whole = length + (line[length] == '\n');

        next = line + whole;
        if (strncmp(line, begin, sizeof(begin) - 1) == 0) {
            line += sizeof(begin) - 1;
            length -= sizeof(begin) - 1;
            complain("host %s: %.*s", host, (int)length, line);
        } else {
            memmove(to, line, whole);
            to += whole;
        }
    }
    *to = '\0';
}

int elsewhere_ask(struct elsewhere *elsewhere, const char *command)
{
    if (!elsewhere->words)
        return elsewhere->status;
    int status = ask(elsewhere, command, 0); /* no limit: they have answered before */
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        if (elsewhere->wanted[i] && elsewhere->answers[i].output)
            tell_messages(elsewhere->hosts.items[i].name, elsewhere->answers[i].output);
    return status;
}

int elsewhere_open(struct elsewhere *elsewhere, const struct request *request,
                   struct target *target, const struct store_job *jobs, size_t count)
{
    char own[HOST_NAME_MAX + 2];

    *elsewhere = (struct elsewhere){.status = STATUS_OK};
    if (request->local)
        return STATUS_OK;
    if (request->launcher)
        elsewhere->launcher = strdup(request->launcher);
    find_own(own, sizeof(own));
    for (size_t i = count; i-- > 0;)
        add_job(elsewhere, target->store, jobs[i].name, own);
    take_launcher(elsewhere, getenv("BSPZERO_LAUNCHER"));
    if (elsewhere->hosts.count == 0)
        return STATUS_OK;
    elsewhere->wanted = calloc(elsewhere->hosts.count, sizeof(*elsewhere->wanted));
    elsewhere->nodes = calloc(elsewhere->hosts.count, sizeof(*elsewhere->nodes));
    elsewhere->answers = calloc(elsewhere->hosts.count, sizeof(*elsewhere->answers));
    if (!elsewhere->wanted || !elsewhere->nodes || !elsewhere->answers ||
        make_words(elsewhere, target->store, jobs, count) != 0)
        return elsewhere->status = complain("out of memory");
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        elsewhere->wanted[i] = true;
    find_nodes(elsewhere);
    ask(elsewhere, "have", request->connect_ms);
    for (uint32_t i = 0; i < elsewhere->hosts.count; i++)
        elsewhere->wanted[i] =
            elsewhere->answers[i].output && strstr(elsewhere->answers[i].output, "own ");
    return elsewhere->status;
}

void elsewhere_close(struct elsewhere *elsewhere)
{
    forget_answers(elsewhere);
    hosts_free(&elsewhere->hosts);
    for (size_t i = 0; elsewhere->words && i < elsewhere->word_count; i++)
        free(elsewhere->words[i]);
    free(elsewhere->words);
    free(elsewhere->answers);
    free(elsewhere->wanted);
    free(elsewhere->nodes);
    free(elsewhere->launcher);
    *elsewhere = (struct elsewhere){0};
}
