/* hosts_slurm.c - the hosts of a Slurm allocation, from its variables; see hosts.h.
 *
 * SLURM_JOB_NODELIST=n[1-3,07],gpu[01-02]-x  and, in the same order,
 * SLURM_TASKS_PER_NODE=2(x3),1               how many tasks each node may have,
 * SLURM_JOB_CPUS_PER_NODE=8(x4)              or how many cores;
 *
 * and what scontrol(1) says of it while the job runs.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/hosts.h"

#define DIGITS_MAX 9u
#define NODE_MAX   (WIRE_NAME_MAX + 1u)

static const char *const list_names[] = {"SLURM_JOB_NODELIST", "SLURM_NODELIST"};

/* ---- Node lists ---- */

/* The state of the parser; text is NULL after an error. */
struct nodes {
    struct hosts *hosts;
    char name[NODE_MAX];
    char *error;
};

static bool expand(struct nodes *nodes, size_t length, const char *text, size_t left);

static bool malformed(struct nodes *nodes, const char *why)
{
    snprintf(nodes->error, HOSTS_ERROR, "%s", why);
    return false;
}

static bool take_node(struct nodes *nodes, size_t length)
{
    char *user, *name;

    if (!hosts_cut_name(nodes->name, length, &user, &name, nodes->error))
        return false;
    struct host *host = hosts_mention(nodes->hosts, user, name, 0, nodes->error);
    free(user);
    free(name);
    return host != NULL;
}

static size_t digits(const char *text, size_t left)
{
    size_t count = 0;

    while (count < left && isdigit((unsigned char)text[count]))
        count++;
    return count;
}

/* Expands one range in brackets, "1-3" or "07", each number followed by the text after the
 * brackets. */
static bool expand_range(struct nodes *nodes, size_t length, const char *piece, size_t piece_length,
                         const char *behind, size_t left)
{
    size_t width = digits(piece, piece_length), more = 0;
    unsigned long from, to;

    if (width < piece_length && piece[width] == '-')
        more = digits(piece + width + 1, piece_length - width - 1);
    if (width == 0 || width > DIGITS_MAX || more > DIGITS_MAX ||
        (width < piece_length && (more == 0 || width + 1 + more != piece_length)))
        return malformed(nodes, "brackets must contain numbers, as in [1-3,07]");
    from = to = strtoul(piece, NULL, 10);
    if (more > 0)
        to = strtoul(piece + width + 1, NULL, 10);
    if (to < from || to - from >= HOSTS_MAX)
        return malformed(nodes, "a range in brackets is descending or too long");
    for (unsigned long number = from; number <= to; number++) {
        int used = snprintf(nodes->name + length, NODE_MAX - length, "%0*lu", (int)width, number);

        if ((size_t)used >= NODE_MAX - length)
            return malformed(nodes, "the name of a node is too long");
        if (!expand(nodes, length + (size_t)used, behind, left))
            return false;
    }
    return true;
}

/* nodes->name holds `length` letters; completes it from `left` bytes of text. */
static bool expand(struct nodes *nodes, size_t length, const char *text, size_t left)
{
    const char *open = memchr(text, '[', left);
    size_t plain = open ? (size_t)(open - text) : left;

    if (length + plain >= NODE_MAX)
        return malformed(nodes, "the name of a node is too long");
    memcpy(nodes->name + length, text, plain);
    length += plain;
    if (!open)
        return take_node(nodes, length);

    const char *end = text + left;
    const char *close = memchr(open, ']', (size_t)(end - open));
    if (!close)
        return malformed(nodes, "a bracket is not closed");
    for (const char *piece = open + 1; piece <= close;) {
        const char *comma = memchr(piece, ',', (size_t)(close - piece));
        const char *stop = comma ? comma : close;

        if (!expand_range(nodes, length, piece, (size_t)(stop - piece), close + 1,
                          (size_t)(end - close) - 1))
            return false;
        piece = stop + 1;
    }
    return true;
}

/* The comma outside brackets that ends the item, or the end. */
static size_t item_length(const char *text)
{
    bool inside = false;
    size_t length = 0;

    for (; text[length] && (inside || text[length] != ','); length++)
        inside = text[length] == '[' || (inside && text[length] != ']');
    return length;
}

static bool take_nodes(struct hosts *hosts, const char *text, char *error)
{
    struct nodes nodes = {.hosts = hosts, .error = error};

    for (;;) {
        size_t length = item_length(text);

        if (length == 0)
            return malformed(&nodes, "the name of a node is missing");
        if (!expand(&nodes, 0, text, length))
            return false;
        if (!text[length])
            return true;
        text += length + 1;
    }
}

/* ---- Numbers for each node ---- */

/* "2(x3),1": the slots of the nodes in order, divided by `per_task`. */
static bool take_counts(struct hosts *hosts, const char *text, uint32_t per_task)
{
    uint32_t at = 0;

    for (;;) {
        size_t length = digits(text, strlen(text)), times_length;
        uint32_t number = hosts_slots(text, length), times = 1;

        text += length;
        if (strncmp(text, "(x", 2) == 0) {
            times_length = digits(text + 2, strlen(text + 2));
            times = hosts_slots(text + 2, times_length);
            if (text[2 + times_length] != ')')
                return false;
            text += 3 + times_length;
        }
        if (number == 0 || times == 0 || times > hosts->count - at)
            return false;
        for (; times > 0; times--, at++)
            hosts->items[at].slots = number >= per_task ? number / per_task : 1;
        if (!*text)
            return at == hosts->count;
        if (*text++ != ',')
            return false;
    }
}

/* ---- The allocation ---- */

static const char *value(hosts_lookup *lookup, const char *name)
{
    const char *text = lookup(name);

    return text && *text ? text : NULL;
}

static const char *node_list(hosts_lookup *lookup, const char **name)
{
    for (size_t i = 0; i < sizeof list_names / sizeof *list_names; i++)
        if (value(lookup, list_names[i])) {
            *name = list_names[i];
            return value(lookup, list_names[i]);
        }
    return NULL;
}

bool hosts_in_slurm(hosts_lookup *lookup)
{
    const char *name;

    return (value(lookup, "SLURM_JOB_ID") || value(lookup, "SLURM_JOBID")) &&
           node_list(lookup, &name);
}

/* srun sets the tasks of the job to those of its step, which may be on fewer nodes. */
static bool is_of_step(hosts_lookup *lookup, const char *tasks)
{
    const char *step = value(lookup, "SLURM_STEP_TASKS_PER_NODE");

    return step && strcmp(step, tasks) == 0;
}

bool hosts_from_slurm(struct hosts *hosts, hosts_lookup *lookup, char *error)
{
    const char *list_name = list_names[0], *list = node_list(lookup, &list_name);
    const char *tasks = value(lookup, "SLURM_NTASKS") || value(lookup, "SLURM_NTASKS_PER_NODE")
                            ? value(lookup, "SLURM_TASKS_PER_NODE")
                            : NULL;
    const char *cores = value(lookup, "SLURM_JOB_CPUS_PER_NODE");
    const char *each = value(lookup, "SLURM_CPUS_PER_TASK");
    uint32_t per_task = each ? hosts_slots(each, strlen(each)) : 1;
    char why[HOSTS_ERROR] = "";

    if (!list || !take_nodes(hosts, list, why)) {
        snprintf(error, HOSTS_ERROR, "%s=%.120s: %.200s", list_name, list ? list : "", why);
        hosts_free(hosts);
        return false;
    }
    if (tasks || cores) {
        bool by_cores = cores && (!tasks || is_of_step(lookup, tasks));
        bool known = (tasks && take_counts(hosts, tasks, 1)) ||
                     (by_cores && take_counts(hosts, cores, per_task > 0 ? per_task : 1));

        if (!known) {
            snprintf(error, HOSTS_ERROR,
                     "%s=%.80s does not give a number, as in 2(x3),1, for each of the %u nodes of "
                     "%s=%.120s",
                     tasks ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE",
                     tasks ? tasks : cores, hosts->count, list_name, list);
            hosts_free(hosts);
            return false;
        }
    }
    for (uint32_t i = 0; i < hosts->count; i++)
        hosts->items[i].plain = 0;
    return true;
}

/* ---- What scontrol says ---- */

/* The line of the job: "JobId=7 JobName=x ... JobState=RUNNING ... NodeList=n[1-3] ...". */
static const char *line_of(const char *text, const char *job)
{
    size_t length = strlen(job);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "JobId=", 6) == 0 && strncmp(line + 6, job, length) == 0 &&
            line[6 + length] == ' ')
            return line;
    }
    return NULL;
}

/* The value that follows " NAME=", to be freed; NULL: there is none. */
static char *field(const char *line, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = line; *at && *at != '\n'; at++)
        if (*at == ' ' && strncmp(at + 1, name, length) == 0)
            return strndup(at + 1 + length, strcspn(at + 1 + length, " \n"));
    return NULL;
}

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(text, *words) != 0)
        words++;
    return *words != NULL;
}

bool hosts_from_scontrol(struct hosts *hosts, const char *text, const char *job, bool *preempted,
                         char *error)
{
    static const char *const running[] = {"RUNNING", "SUSPENDED", NULL};
    static const char *const never[] = {"None", "Unknown", NULL};
    const char *line = line_of(text, job);
    char *state = line ? field(line, "JobState=") : NULL;
    char *nodes = line ? field(line, "NodeList=") : NULL;
    char *time = line ? field(line, "PreemptTime=") : NULL;
    char why[HOSTS_ERROR] = "scontrol does not say";
    bool good = false;

    if (state && nodes) {
        if (!is_one_of(state, running))
            snprintf(why, sizeof why, "it is %.32s", state);
        else
            good = take_nodes(hosts, nodes, why);
    }
    if (good)
        *preempted = time && !is_one_of(time, never);
    else
        snprintf(error, HOSTS_ERROR, "%.200s", why);
    free(state);
    free(nodes);
    free(time);
    if (!good)
        hosts_free(hosts);
    for (uint32_t i = 0; i < hosts->count; i++)
        hosts->items[i].plain = 0;
    return good;
}
