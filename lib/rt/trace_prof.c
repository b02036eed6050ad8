/* trace_prof.c - PROF.bsp: a line per superstep, then the statements that ended them, with -cgprof
 * also what was called from where; doc/trace-files.md describes the lines.
 */
#include "lib/rt/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A superstep in the list of a call stack; times in nanoseconds. */
struct entry {
    uint64_t compute, communicate, wait, words_in, words_out;
};

/* The return addresses by which a statement was reached. */
struct path {
    unsigned site, stack;
    int depth;
    void *frames[BSPZ_STACK_MOST];
};

/* All supersteps that were ended by one statement, called through the same functions. */
struct stack {
    unsigned site;
    char names[BSPZ_TRACE_PIECE / 2];
    uint64_t supersteps;
    struct bspz_spread compute_ns, communicate_ns, wait_ns, h;
    struct entry *entries; /* [supersteps] */
    uint64_t room;
};

static struct {
    struct bspz_trace_file file;
    bool call_stacks;
    bspz_position *sites; /* statements, by their number in the file */
    unsigned site_count;
    struct path *paths;
    unsigned path_count;
    struct stack *stacks;
    unsigned stack_count;
    unsigned site, stack; /* of the superstep that is noted and not written yet */
} prof;

static void flags_text(char *text, size_t size)
{
    const struct bspz_link_options *options = bspz_options();

    snprintf(text, size, "-flibrary-level %d%s%s%s", options->library_level,
             options->cgprof ? " -cgprof" : " -prof", options->stat ? " -stat" : "",
             bspz_rt.check_syncs ? " -fcheck-syncs" : "");
}

void bspz_prof_begin(bool call_stacks)
{
    void *frames[BSPZ_STACK_MOST];
    char date[64], flags[128];

    bspz_trace_file_open(&prof.file, "PROF.bsp");
    prof.call_stacks = call_stacks;
    if (call_stacks)
        bspz_stack_take(frames); /* the first call loads a library */
    bspz_trace_date(date, sizeof date);
    flags_text(flags, sizeof flags);
    bspz_trace_file_add(&prof.file, "D %s\nF %s\nN LINUX\nX SHMEM_SYSV\nP %d\n", date, flags,
                        bspz_rt.nprocs);
    bspz_trace_file_flush(&prof.file);
}

static BSPZ_COLD BSPZ_NORETURN void out_of_memory(void)
{
    bspz_fail("bsp_sync", 0, NULL, "out of memory for the profile: link without -prof");
}

/* Makes room for another element of a list that doubles in size. */
static void *grown(void *list, uint64_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list)
        out_of_memory();
    return list;
}

static unsigned site_of(bspz_position position)
{
    for (unsigned i = 0; i < prof.site_count; i++)
        if (prof.sites[i] == position)
            return i;
    prof.sites = grown(prof.sites, prof.site_count, sizeof *prof.sites);
    prof.sites[prof.site_count] = position;
    return prof.site_count++;
}

static unsigned stack_of_names(unsigned site, const char *names)
{
    struct stack *stack;

    for (unsigned i = 0; i < prof.stack_count; i++)
        if (prof.stacks[i].site == site && strcmp(prof.stacks[i].names, names) == 0)
            return i;
    prof.stacks = grown(prof.stacks, prof.stack_count, sizeof *prof.stacks);
    stack = &prof.stacks[prof.stack_count];
    *stack = (struct stack){.site = site};
    snprintf(stack->names, sizeof stack->names, "%s", names);
    return prof.stack_count++;
}

static unsigned stack_of(unsigned site)
{
    char names[sizeof prof.stacks->names];
    struct path found = {.site = site};
    size_t bytes;

    found.depth = bspz_stack_take(found.frames);
    bytes = (size_t)found.depth * sizeof *found.frames;
    for (unsigned i = 0; i < prof.path_count; i++) {
        const struct path *path = &prof.paths[i];

        if (path->site == site && path->depth == found.depth &&
            memcmp(path->frames, found.frames, bytes) == 0)
            return path->stack;
    }
    bspz_stack_name(found.frames, found.depth, names, sizeof names);
    found.stack = stack_of_names(site, names);
    prof.paths = grown(prof.paths, prof.path_count, sizeof *prof.paths);
    prof.paths[prof.path_count++] = found;
    return found.stack;
}

void bspz_prof_note(bspz_position position)
{
    prof.site = site_of(position);
    if (prof.call_stacks) {
        struct stack *stack;

        prof.stack = stack_of(prof.site);
        stack = &prof.stacks[prof.stack];
        /* Room for the entry now, as it may be written in a signal handler. */
        stack->entries = grown(stack->entries, stack->supersteps, sizeof *stack->entries);
    }
}

static void add_to_stack(struct stack *stack, const struct bspz_trace_step *step)
{
    stack->entries[stack->supersteps++] =
        (struct entry){step->compute_ns.most, step->communicate_ns.most, step->wait_ns.most,
                       step->words_in, step->words_out};
    bspz_spread_add(&stack->compute_ns, &step->compute_ns);
    bspz_spread_add(&stack->communicate_ns, &step->communicate_ns);
    bspz_spread_add(&stack->wait_ns, &step->wait_ns);
    bspz_spread_add(&stack->h, &step->h);
}

/* What the line c does not say: how evenly the processes computed. */
static void write_spread(const struct bspz_spread *spread)
{
    uint64_t mean = spread->sum / (uint64_t)bspz_rt.nprocs;

    bspz_trace_file_add(&prof.file, "w " BSPZ_SECONDS " " BSPZ_SECONDS " " BSPZ_SECONDS "\n",
                        BSPZ_SECONDS_OF(spread->most), BSPZ_SECONDS_OF(mean),
                        BSPZ_SECONDS_OF(spread->least));
}

void bspz_prof_superstep(uint64_t superstep, const struct bspz_trace_step *step,
                         const struct bspz_trace_mark *mark)
{
    struct bspz_trace_file *file = &prof.file;

    bspz_trace_file_add(file, "c %u " BSPZ_SECONDS " " BSPZ_SECONDS, prof.site,
                        BSPZ_SECONDS_OF(step->start_ns), BSPZ_SECONDS_OF(step->end_ns));
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_trace *one = bspz_trace_of(pid, superstep);

        bspz_trace_file_add(file, " %llu %llu", (unsigned long long)one->calls_in,
                            (unsigned long long)one->calls_out);
    }
    bspz_trace_file_add(file, " @@");
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_trace *one = bspz_trace_of(pid, superstep);

        bspz_trace_file_add(file, " %llu %llu", (unsigned long long)one->bytes_in,
                            (unsigned long long)one->bytes_out);
    }
    bspz_trace_file_add(file, "\n");
    write_spread(&step->compute_ns);
    if (mark->what)
        bspz_trace_file_add(file, "m " BSPZ_SECONDS " %s " BSPZ_SECONDS "\n",
                            BSPZ_SECONDS_OF(mark->at_ns), mark->what,
                            BSPZ_SECONDS_OF(mark->lasted_ns));
    bspz_trace_file_flush(file);
    if (prof.call_stacks)
        add_to_stack(&prof.stacks[prof.stack], step);
}

/* ---- The end of the file ------------------------------------------------------------------- */

static const char *file_of(unsigned site)
{
    return bspz_name_of(bspz_rt.board, bspz_rt.nprocs, 0, prof.sites[site] >> 24);
}

static unsigned line_of(unsigned site)
{
    return prof.sites[site] & 0xffffffu;
}

static void write_times(const struct bspz_spread *spread, const char *what)
{
    bspz_trace_file_add(&prof.file, " " BSPZ_SECONDS " " BSPZ_SECONDS " " BSPZ_SECONDS " %s",
                        BSPZ_SECONDS_OF(spread->most),
                        BSPZ_SECONDS_OF(spread->sum / (uint64_t)bspz_rt.nprocs),
                        BSPZ_SECONDS_OF(spread->least), what);
}

static void write_stack(const struct stack *stack)
{
    struct bspz_trace_file *file = &prof.file;

    if (stack->supersteps == 0)
        return;
    bspz_trace_file_add(file, "A <%u of %s ", line_of(stack->site), file_of(stack->site));
    bspz_trace_file_add(file, "%s> with %llu SYNCS", stack->names,
                        (unsigned long long)stack->supersteps);
    write_times(&stack->compute_ns, "COMP");
    write_times(&stack->communicate_ns, "COMM");
    write_times(&stack->wait_ns, "COMPIDLE");
    bspz_trace_file_add(file, " %llu %llu %llu HREL ", (unsigned long long)stack->h.most,
                        (unsigned long long)(stack->h.sum / (uint64_t)bspz_rt.nprocs),
                        (unsigned long long)stack->h.least);
    for (uint64_t i = 0; i < stack->supersteps; i++) {
        const struct entry *entry = &stack->entries[i];

        bspz_trace_file_add(file, BSPZ_SECONDS "," BSPZ_SECONDS "," BSPZ_SECONDS ",%llu,%llu;",
                            BSPZ_SECONDS_OF(entry->compute), BSPZ_SECONDS_OF(entry->communicate),
                            BSPZ_SECONDS_OF(entry->wait), (unsigned long long)entry->words_in,
                            (unsigned long long)entry->words_out);
    }
    bspz_trace_file_add(file, "\n");
}

void bspz_prof_end(uint64_t total_ns)
{
    for (unsigned site = 0; site < prof.site_count; site++)
        bspz_trace_file_add(&prof.file, "s %u %u %s\n", site, line_of(site), file_of(site));
    for (unsigned i = 0; i < prof.stack_count; i++)
        write_stack(&prof.stacks[i]);
    bspz_trace_file_add(&prof.file, "E " BSPZ_SECONDS "\n", BSPZ_SECONDS_OF(total_ns));
    bspz_trace_file_close(&prof.file);
}
