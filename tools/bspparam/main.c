/* bspparam: shows, and with -measure determines, the BSP parameters of this machine.
 *
 * Measuring runs this same program as a BSP job, once per number of processes.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/params.h"
#include "lib/base/stdout.h"
#include "tools/bspparam/database.h"
#include "tools/bspparam/probe.h"

static const char help_text[] =
    "usage: bspparam [-np N] [-all] [-file FILE]\n"
    "       bspparam -measure [-np N] [-seconds S] [-file FILE]\n"
    "Shows the BSP parameters of this machine: s, the speed of a process in Mflop/s; l, the cost\n"
    "of a superstep in flops; g, the cost of sending a 32-bit word in flops; n1/2, the words per\n"
    "message at which half the bandwidth is reached.\n"
    "\n"
    "  -np N       only for N processes; with -measure: for 1 .. N (default: 1 .. usable\n"
    "              cores, and twice and four times as many)\n"
    "  -all        show the lines of all hosts\n"
    "  -measure    measure, store and show the parameters\n"
    "  -seconds S  spend about S seconds on each number of processes (default 3)\n"
    "  -file FILE  use this database\n"
    "  -help, -version\n"
    "\n"
    "The database is $BSP_INCLUDE_DIR/bsp_parameters.ascii or, if BSP_INCLUDE_DIR is not\n"
    "set, the file parameters in $XDG_CONFIG_HOME/bspzero or ~/.config/bspzero.\n"
    "BSP_SLG=s,l,g,n overrides it.\n";

struct options {
    int processes; /* 0: not set */
    double seconds;
    bool all, measure;
    const char *probe; /* internal: what this program does as a BSP job */
    char path[PATH_MAX];
};

static void usage(const char *text, const char *word)
{
    fprintf(stderr, "bspparam: %s%s%s; bspparam -help lists the options\n", text,
            word != NULL ? ": " : "", word != NULL ? word : "");
    exit(2);
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc)
        usage("a value is missing after", argv[*i]);
    return argv[++*i];
}

static int parse_processes(const char *text)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < 1 || value > BSPZ_PARAMS_PROCESSES_MAX)
        usage("not a number of processes", text);
    return (int)value;
}

static double parse_seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0) || value > 3600)
        usage("not a number of seconds from 0 to 3600", text);
    return value;
}

static void parse(struct options *options, int argc, char **argv)
{
    const char *file = NULL;

    *options = (struct options){.seconds = 3};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strncmp(word, "--", 2) == 0)
            word++;
        if (strcmp(word, "-np") == 0 || strcmp(word, "-npes") == 0 || strcmp(word, "-p") == 0 ||
            strcmp(word, "-n") == 0)
            options->processes = parse_processes(value_of(argc, argv, &i));
        else if (strcmp(word, "-seconds") == 0)
            options->seconds = parse_seconds(value_of(argc, argv, &i));
        else if (strcmp(word, "-file") == 0)
            file = value_of(argc, argv, &i);
        else if (strcmp(word, "-all") == 0)
            options->all = true;
        else if (strcmp(word, "-measure") == 0)
            options->measure = true;
        else if (strcmp(word, "-probe") == 0)
            options->probe = value_of(argc, argv, &i);
        else if (strcmp(word, "-help") == 0 || strcmp(word, "-h") == 0) {
            fputs(help_text, stdout);
            exit(bspz_stdout_flushed("bspparam") ? 0 : 1);
        } else if (strcmp(word, "-version") == 0) {
            puts("bspparam (bspzero) " BSPZ_VERSION);
            exit(bspz_stdout_flushed("bspparam") ? 0 : 1);
        } else
            usage("what is this", argv[i]);
    }
    if (file != NULL && strlen(file) >= sizeof(options->path))
        usage("the file name is too long", NULL);
    if (file != NULL)
        strcpy(options->path, file);
    else if (!bspz_params_path(options->path, sizeof(options->path)) && options->probe == NULL)
        usage("no home directory; give the database with -file", NULL);
}

static void own_host(char *host)
{
    if (gethostname(host, BSPZ_PARAMS_HOST_MAX + 1) != 0)
        strcpy(host, "localhost");
    host[BSPZ_PARAMS_HOST_MAX] = '\0';
}

static void print_head(void)
{
    printf("%-20s %5s %14s %14s %14s %10s\n", "host", "p", "s (Mflop/s)", "l (flops)",
           "g (flops/word)", "n1/2");
}

static void print_row(const char *host, int processes, const struct bspz_params *params)
{
    printf("%-20s %5d %14.6g %14.6g %14.6g %10d\n", host, processes, params->s, params->l,
           params->g, params->n_half);
}

/* Prints the requested lines of the database; returns their number. */
static int show_database(const struct options *options, const char *host)
{
    struct row_list list;
    int error = database_read(options->path, &list), shown = 0;

    if (error != 0 && error != ENOENT) {
        fprintf(stderr, "bspparam: %s: %s\n", options->path, strerror(error));
        exit(1);
    }
    for (size_t i = 0; i < list.count; i++) {
        const struct bspz_params_row *row = &list.rows[i];
        bool ours = strcmp(row->host, host) == 0 || strcmp(row->host, "*") == 0;
        if ((options->processes != 0 && row->processes != options->processes) ||
            (!ours && !options->all))
            continue;
        if (shown++ == 0)
            print_head();
        print_row(row->host, row->processes, &row->params);
    }
    free(list.rows);
    return shown;
}

static int show(const struct options *options)
{
    char host[BSPZ_PARAMS_HOST_MAX + 1];
    const char *slg = getenv("BSP_SLG");
    struct bspz_params params;

    own_host(host);
    if (slg != NULL && slg[0] != '\0') {
        if (!bspz_params_parse_slg(slg, &params)) {
            fprintf(stderr, "bspparam: BSP_SLG: '%s' is not s,l,g,n with positive numbers\n", slg);
            return 1;
        }
        print_head();
        print_row("BSP_SLG", options->processes != 0 ? options->processes : 1, &params);
        return 0;
    }
    if (show_database(options, host) > 0)
        return 0;
    print_head();
    print_row("(assumed)", options->processes != 0 ? options->processes : 1, &bspz_params_assumed);
    if (options->processes == 0)
        fprintf(stderr,
                "bspparam: %s has no entry for this machine; `bspparam -measure` measures it\n",
                options->path);
    else
        fprintf(stderr,
                "bspparam: %s has no entry for this machine and %d process%s; `bspparam -measure "
                "-np %d` measures it\n",
                options->path, options->processes, options->processes == 1 ? "" : "es",
                options->processes);
    return 0;
}

static int usable_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Finds this program and bsprun, in the same directory. */
static void find_programs(char *self, char *bsprun)
{
    ssize_t length = readlink("/proc/self/exe", self, PATH_MAX - 1);

    if (length <= 0) {
        fprintf(stderr, "bspparam: cannot read /proc/self/exe: %s\n", strerror(errno));
        exit(1);
    }
    self[length] = '\0';
    const char *slash = strrchr(self, '/');
    if (snprintf(bsprun, PATH_MAX, "%.*s/bsprun", (int)(slash - self), self) >= PATH_MAX) {
        fprintf(stderr, "bspparam: %s: path too long\n", self);
        exit(1);
    }
}

/* Runs this program as a job of p processes and reads the line it prints. */
static bool measure_one(const struct options *options, int processes, struct bspz_params *params)
{
    char self[PATH_MAX], bsprun[PATH_MAX], number[16], seconds[32], line[256] = "";
    int ends[2], status;

    find_programs(self, bsprun);
    snprintf(number, sizeof(number), "%d", processes);
    snprintf(seconds, sizeof(seconds), "%g", options->seconds);
    if (pipe(ends) != 0) {
        fprintf(stderr, "bspparam: %s\n", strerror(errno));
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(bsprun, bsprun, "-np", number, self, "-probe", "machine", "-seconds", seconds,
              (char *)NULL);
        fprintf(stderr, "bspparam: cannot run %s: %s\n", bsprun, strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    FILE *answer = fdopen(ends[0], "r");
    bool read_it = child > 0 && answer != NULL && fgets(line, sizeof(line), answer) != NULL;
    if (answer != NULL)
        fclose(answer);
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0 || !read_it) {
        fprintf(stderr, "bspparam: the job that measures %d process%s failed\n", processes,
                processes == 1 ? "" : "es");
        return false;
    }

    double s, l, g;
    int n_half;
    if (sscanf(line, "%lf %lf %lf %d", &s, &l, &g, &n_half) != 4 ||
        !(s > 0 && l > 0 && g > 0 && n_half > 0)) {
        fprintf(stderr, "bspparam: measuring %d process%s gave no sensible figures: %s\n",
                processes, processes == 1 ? "" : "es", line);
        return false;
    }
    *params = (struct bspz_params){s, l, g, n_half};
    return true;
}

/* What cannot be printed is measured and stored all the same, and is said once. */
static bool output_is_lost;

static void flush_output(void)
{
    output_is_lost = output_is_lost || !bspz_stdout_flushed("bspparam");
}

/* Measures, prints and stores. */
static bool measure_row(const struct options *options, const char *host, int processes)
{
    struct bspz_params_row row = {.processes = processes};

    strcpy(row.host, host);
    if (!measure_one(options, processes, &row.params))
        return false;
    print_row(host, processes, &row.params);
    flush_output();
    int error = database_store(options->path, &row, 1);
    if (error != 0)
        fprintf(stderr, "bspparam: cannot store in %s: %s\n", options->path, strerror(error));
    return error == 0;
}

static int measure(const struct options *options)
{
    char host[BSPZ_PARAMS_HOST_MAX + 1];
    int last = options->processes != 0 ? options->processes : usable_cores();

    own_host(host);
    print_head();
    for (int processes = 1; processes <= last; processes++)
        if (!measure_row(options, host, processes))
            return 1;
    for (int times = 2; times <= 4 && options->processes == 0; times *= 2)
        if (!measure_row(options, host, times * last))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct options options;

    parse(&options, argc, argv);
    if (options.probe != NULL) {
        if (strcmp(options.probe, "machine") == 0)
            probe_machine(options.seconds);
        else if (strcmp(options.probe, "check") == 0)
            probe_check();
        else
            usage("no such probe", options.probe);
        return 0;
    }
    int status = options.measure ? measure(&options) : show(&options);
    flush_output();
    return output_is_lost ? 1 : status;
}
