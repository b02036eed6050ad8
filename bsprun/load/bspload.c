/* bspload.c - load and speed of hosts: bspload of the old toolset, without daemons. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/load/load.h"
#include "bsprun/load/load_history.h"
#include "bsprun/options/options_inside.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2
#define BIT(code)    ((option_set)1 << (code))
/* The applicable options of bsprun: which hosts, and how they are reached. */
#define ALLOWED                                                                                    \
    ((BIT(OPT_MAP_BY) - BIT(OPT_HOSTS)) | BIT(OPT_LAUNCHER) | BIT(OPT_CONNECT_TIMEOUT) |           \
     BIT(OPT_HELP) | BIT(OPT_VERSION))

static const char help[] =
    "Usage: bspload [OPTION...]\n"
    "Shows the load and the speed of hosts, those with the most spare capacity first:\n"
    "cores, load (runnable processes) averaged over 1, 5 and 15 minutes, speed of a\n"
    "core, and spare capacity (idle cores times speed).\n"
    "  --hosts a,b      these hosts; --hostfile FILE: those listed in FILE.  Default:\n"
    "                   those of BSPZERO_HOSTS or BSPZERO_HOSTFILE, of the Slurm\n"
    "                   allocation, of ~/.bsptcphosts, or this host\n"
    "  --launcher ssh|slurm|CMD, --connect-timeout SECONDS: as for bsprun\n"
    "  --history [--json]: show instead the failures of hosts and the costs of\n"
    "                   snapshots that earlier jobs recorded; JSON: a line per site\n"
    "  --help, --version\n"
    "The exit status is 1 if a host does not answer.\n";

/* Those for bsprun that say which hosts there are, or how they are reached; the others are about
 * jobs, and what is wrong with them, or does not go together here, does not matter. */
static const char *variable(const char *name)
{
    static const char *const ours[] = {"BSPZERO_HOSTS", "BSPZERO_HOSTFILE", "BSPZERO_LAUNCHER",
                                       "BSPZERO_CONNECT_TIMEOUT"};
    bool bsprun = strncmp(name, "BSPZERO_", strlen("BSPZERO_")) == 0;

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcmp(name, ours[i]) == 0)
            bsprun = false;
    return bsprun || strcmp(name, "BSP_PROCS") == 0 ? NULL : getenv(name);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

/* ---- The table ---- */

static void print_number(double value, int width, int digits, bool known)
{
    if (known)
        printf("  %*.*f", width, digits, value);
    else
        printf("  %*s", width, "-");
}

static void print_row(const struct host *host, const struct load *load, int width)
{
    bool speed = load->known && load->mflops > 0;

    printf("%-*s", width, host->name);
    print_number(load->cores, 5, 0, load->known);
    for (int i = 0; i < 3; i++)
        print_number(load->load[i], 6, 2, load->known);
    print_number(load->mflops, 8, 0, speed);
    print_number(load_free(load, true), 8, 0, speed);
    putchar('\n');
}

/* The exit status. */
static int show(const struct options_hosts *hosts)
{
    uint32_t count = hosts->all.count;
    struct load *loads = load_look(hosts);
    uint32_t *order = calloc(count, sizeof *order);
    int width = (int)strlen("host"), status = 0;

    if (!loads || !order) {
        fprintf(stderr, "bspload: out of memory\n");
        load_free_all(loads, count);
        free(order);
        return 1;
    }
    load_rank(loads, count, order);
    for (uint32_t i = 0; i < count; i++)
        if ((int)strlen(hosts->all.items[i].name) > width)
            width = (int)strlen(hosts->all.items[i].name);
    printf("%-*s  %5s  %6s  %6s  %6s  %8s  %8s\n", width, "host", "cores", "1 min", "5 min",
           "15 min", "Mflop/s", "free");
    for (uint32_t i = 0; i < count; i++)
        print_row(&hosts->all.items[order[i]], &loads[order[i]], width);
    if (!bspz_stdout_flushed("bspload"))
        status = 1;
    for (uint32_t i = 0; i < count; i++)
        if (loads[i].failure) {
            fprintf(stderr, "bspload: %s\n", loads[i].failure);
            status = 1;
        }
    load_free_all(loads, count);
    free(order);
    return status;
}

/* ---- The command ---- */

static int usage(const char *text)
{
    fprintf(stderr, "bspload: %s\n", text);
    return STATUS_USAGE;
}

/* Finds the hosts as bsprun does. */
static int run(struct options *options)
{
    if (options->action == OPTIONS_HELP) {
        fputs(help, stdout);
        return bspz_stdout_flushed("bspload") ? 0 : 1;
    }
    if (options->action == OPTIONS_VERSION) {
        printf("bspload (bspzero) %s\n", BSPZ_VERSION);
        return bspz_stdout_flushed("bspload") ? 0 : 1;
    }
    if (options->action == OPTIONS_ERROR)
        return usage(options->error);
    if (options->given & ~ALLOWED)
        return usage("an option of bsprun that has no meaning here; see bspload --help");
    if (options->command_length > 1)
        return usage("too many arguments; see bspload --help");
    if (!is_set("BSPZERO_HOSTS") && !is_set("BSPZERO_HOSTFILE") && !hosts_in_slurm(variable))
        options->hosts.nolocal = true;
    if (!options_find_hosts_from_here(options))
        return usage(options->error);
    if (options->note[0])
        fprintf(stderr, "bspload: %s\n", options->note);
    return show(&options->hosts);
}

static bool is_word(const char *word, const char *name)
{
    return word[0] == '-' && strcmp(word + 1 + (word[1] == '-'), name) == 0;
}

int main(int argc, char **argv)
{
    const char **words = calloc((size_t)argc + 2, sizeof *words);
    struct options options;
    struct load load;

    if (argc == 2 && strcmp(argv[1], "--probe") == 0) {
        load_probe(&load);
        return load_print(&load) == 0 ? 0 : 1;
    }
    if (argc >= 2 && is_word(argv[1], "history")) {
        bool json = argc == 3 && is_word(argv[2], "json");

        return argc == 2 || json ? load_history_show(json)
                                 : usage("--history can be combined with --json only");
    }
    if (!words)
        return usage("out of memory");
    /* bsprun's options require a program after them. */
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    words[argc] = "bspload";
    options_parse(argc + 1, words, variable, &options);
    int status = run(&options);
    options_free(&options);
    free(words);
    return status;
}
