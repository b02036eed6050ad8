/* options_table.c - the options of bsprun: their names, and all that is to be known of them but how
 * their values are read. */
#include <ctype.h>
#include <popt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/nearest.h"

/* -name as well as --name */
#define VALUE         (POPT_ARG_STRING | POPT_ARGFLAG_ONEDASH)
#define FLAG          (POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH)

#define PLACE(member) offsetof(struct options, member)

struct option {
    const char *name; /* NULL: it has only a letter */
    char letter;
    unsigned form;
    enum option_code code;
    enum option_subject subject;
    size_t flag; /* the place of what it sets to true; 0: it does something else */
};

static const struct option all[] = {
    {"np", 'n', VALUE, OPT_NP, OF_THIS_RUN},
    {"npes", 'p', VALUE, OPT_NP, OF_THIS_RUN},
    {"verbose", 'v', FLAG, OPT_VERBOSE, OF_THIS_RUN},
    {"splitio", '\0', FLAG, OPT_SPLIT, OF_THE_JOB},
    {"tag-output", '\0', FLAG, OPT_TAG, OF_THE_JOB},
    {NULL, 'x', POPT_ARG_STRING, OPT_EXPORT, OF_THIS_RUN},
    {"bind-to", '\0', VALUE, OPT_BIND, OF_THE_JOB},
    {"bind", '\0', VALUE, OPT_BIND, OF_THE_JOB},
    {"report-bindings", '\0', FLAG, OPT_BINDINGS, OF_THE_JOB, PLACE(run.report_bindings)},
    {"wdir", '\0', VALUE, OPT_WDIR, OF_THIS_RUN},
    {"dry-run", '\0', FLAG, OPT_DRY_RUN, OF_THIS_RUN, PLACE(run.dry_run)},
    {"display-map", '\0', FLAG, OPT_DISPLAY_MAP, OF_THE_JOB, PLACE(run.display_map)},
    {"output", '\0', VALUE, OPT_OUTPUT, OF_THE_JOB},
    {"timestamp-output", '\0', FLAG, OPT_TIMES, OF_THE_JOB, PLACE(run.times)},
    {"export", '\0', VALUE, OPT_EXPORT_LIST, OF_THIS_RUN},
    {"stdin", '\0', VALUE, OPT_STDIN, OF_THE_JOB},
    {"dataspace-memory", '\0', VALUE, OPT_DATASPACE_MEMORY, OF_THE_JOB},
    {"stacks", '\0', FLAG, OPT_STACKS, OF_THIS_RUN, PLACE(run.stacks)},
    {"debug", '\0', VALUE, OPT_DEBUG, OF_THIS_RUN},
    {"attach-on-error", '\0', FLAG, OPT_ATTACH, OF_THIS_RUN, PLACE(debug.attach)},
    {"xterm", '\0', FLAG, OPT_XTERM, OF_THIS_RUN, PLACE(debug.xterm)},
    {"kill-on-bad-exit", 'K', VALUE, OPT_BAD_EXIT, OF_THE_JOB},
    {"timeout", '\0', VALUE, OPT_TIMEOUT, OF_THE_JOB},
    {"report", '\0', FLAG, OPT_REPORT, OF_THE_JOB, PLACE(report)},
    {"progress", '\0', FLAG, OPT_PROGRESS, OF_THIS_RUN, PLACE(progress)},
    {"total-supersteps", '\0', VALUE, OPT_TOTAL, OF_THE_JOB},
    {"core", '\0', FLAG, OPT_CORE, OF_THE_JOB, PLACE(core_dumps)},
    {"report-file", '\0', POPT_ARG_STRING, OPT_REPORT_FILE, OF_THIS_RUN},
    {"report-html", '\0', POPT_ARG_STRING, OPT_REPORT_HTML, OF_THIS_RUN},
    {"no-history", '\0', FLAG, OPT_NO_HISTORY, OF_THIS_RUN, PLACE(no_history)},
    {"input-differs", '\0', FLAG, OPT_INPUT_DIFFERS, OF_THIS_RUN, PLACE(input_differs)},
    {"help", 'h', FLAG, OPT_HELP, OF_THIS_RUN},
    {"version", '\0', FLAG, OPT_VERSION, OF_THIS_RUN},
    {"hosts", '\0', VALUE, OPT_HOSTS, WHICH_HOSTS},
    {"hostfile", '\0', VALUE, OPT_HOSTFILE, WHICH_HOSTS},
    {"map-by", '\0', VALUE, OPT_MAP_BY, OF_HOSTS},
    {"spares", '\0', VALUE, OPT_SPARES, OF_HOSTS},
    {"launcher", '\0', VALUE, OPT_LAUNCHER, OF_HOSTS},
    {"heartbeat", '\0', VALUE, OPT_HEARTBEAT, OF_HOSTS},
    {"connect-timeout", '\0', VALUE, OPT_CONNECT_TIMEOUT, OF_HOSTS},
    {"ports", '\0', VALUE, OPT_PORTS, OF_HOSTS},
    {"copies", '\0', VALUE, OPT_COPIES, OF_HOSTS},
    {"replicas", '\0', VALUE, OPT_REPLICAS, OF_HOSTS},
    {"replicas-on-host", '\0', FLAG, OPT_REPLICAS_ON_HOST, OF_HOSTS},
    {"replica-files", '\0', VALUE, OPT_REPLICA_FILES, OF_HOSTS},
    {"replica-log", '\0', VALUE, OPT_REPLICA_LOG, OF_HOSTS},
    {"on-mismatch", '\0', VALUE, OPT_ON_MISMATCH, OF_HOSTS},
    {"encrypt", '\0', FLAG, OPT_ENCRYPT, OF_HOSTS},
    {"oversubscribe", '\0', FLAG, OPT_OVERSUBSCRIBE, OF_HOSTS},
    {"load", '\0', FLAG, OPT_LOAD, OF_HOSTS},
    {"balance", '\0', VALUE, OPT_BALANCE, OF_HOSTS},
    {"precopy", '\0', VALUE, OPT_PRECOPY, OF_HOSTS},
    {"rejoin", '\0', VALUE, OPT_REJOIN, OF_HOSTS},
    {"owner-policy", '\0', VALUE, OPT_OWNER_POLICY, OF_HOSTS},
    {"local", '\0', FLAG, OPT_OLD_LOCAL, WHICH_HOSTS, PLACE(hosts.local)},
    {"nolocal", '\0', FLAG, OPT_OLD_NOLOCAL, WHICH_HOSTS, PLACE(hosts.nolocal)},
    {"noload", '\0', FLAG, OPT_OLD_LOCAL, WHICH_HOSTS, PLACE(hosts.local)},
    {"hostlist", '\0', VALUE, OPT_OLD_HOSTLIST, WHICH_HOSTS},
    {"ckpt", '\0', VALUE, OPT_CKPT, OF_THIS_RUN},
    {"every", '\0', VALUE, OPT_EVERY, OF_SNAPSHOTS},
    {"overhead", '\0', VALUE, OPT_OVERHEAD, OF_SNAPSHOTS},
    {"mtbf", '\0', VALUE, OPT_MTBF, OF_SNAPSHOTS},
    {"async", '\0', VALUE, OPT_ASYNC, OF_SNAPSHOTS},
    {"keep", '\0', VALUE, OPT_KEEP, OF_SNAPSHOTS},
    {"max-restarts", '\0', VALUE, OPT_MAX_RESTARTS, OF_SNAPSHOTS},
    {"ckpt-exclude", '\0', VALUE, OPT_EXCLUDE, OF_SNAPSHOTS},
    {"on-refuse", '\0', VALUE, OPT_ON_REFUSE, OF_SNAPSHOTS},
    {"recover", '\0', VALUE, OPT_RECOVER, OF_SNAPSHOTS},
    {"grace", '\0', VALUE, OPT_GRACE, OF_SNAPSHOTS},
    /* With two dashes it takes a value; with one it is the Oxford toolset's, without one. */
    {"restart", '\0', POPT_ARG_STRING, OPT_RESTART, OF_THIS_RUN},
    {"restart", '\0', FLAG, OPT_OLD_RESTART, OF_THIS_RUN, PLACE(snapshots.restart_old)},
};
#define COUNT (sizeof all / sizeof *all)

static const struct option *find(enum option_code code)
{
    const struct option *option = all;

    while (option->code != code)
        option++;
    return option;
}

const struct poptOption *options_popt(void)
{
    static struct poptOption table[COUNT + 1]; /* the end is zero */

    for (size_t i = 0; i < COUNT; i++)
        table[i] = (struct poptOption){.longName = all[i].name,
                                       .shortName = all[i].letter,
                                       .argInfo = all[i].form,
                                       .val = (int)all[i].code};
    return table;
}

enum option_subject options_subject(enum option_code code)
{
    return find(code)->subject;
}

bool *options_flag(struct options *options, enum option_code code)
{
    size_t flag = find(code)->flag;

    return flag > 0 ? (bool *)((char *)options + flag) : NULL;
}

const char *options_name(enum option_code code)
{
    const char *name = find(code)->name;

    return name ? name : "x";
}

enum option_code options_code(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++)
        if (all[i].name && strlen(all[i].name) == length && memcmp(all[i].name, name, length) == 0)
            return all[i].code;
    return (enum option_code)0;
}

const char *options_nearest(const char *word)
{
    struct bspz_nearest nearest = bspz_nearest_to(word);

    for (size_t i = 0; i < COUNT; i++)
        if (all[i].name)
            bspz_nearest_offer(&nearest, all[i].name);
    return nearest.best;
}

/* BSPZERO_MAX_RESTARTS= for max-restarts. */
static void write_variable(char *text, size_t size, const char *name)
{
    snprintf(text, size, "BSPZERO_%s", name);
    for (char *at = text; *at; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
}

bool options_take_settings(struct options *options, enum option_subject subject,
                           options_taker *take)
{
    for (size_t i = 0; i < COUNT; i++) {
        char source[64];

        if (all[i].subject != subject)
            continue;
        write_variable(source, sizeof source, all[i].name);
        const char *value = options->lookup(source);
        if (options_given(options, all[i].code) || !value || !*value)
            continue;
        strcat(source, "=");
        if (!take(options, all[i].code, source, value))
            return false;
        options->given |= (option_set)1 << all[i].code;
    }
    return true;
}
