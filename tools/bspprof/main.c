/* bspprof: a profile as a page with pictures, or as a picture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/page/page.h"
#include "tools/bspprof/bspprof_script.h"
#include "tools/bspprof/command.h"
#include "tools/bspprof/data.h"
#include "tools/bspprof/output.h"
#include "tools/bspprof/picture.h"

static const char help[] =
    "usage: bspprof [OPTION]... [PROF.bsp [OTHER]]\n"
    "Makes a page with pictures (HTML) from a profile written by a program linked with -prof: "
    "bytes\n"
    "sent and received, time spent computing, waiting and communicating, and measured and "
    "predicted\n"
    "costs of the supersteps.  Given two profiles, it makes a page that compares them.\n"
    "\n"
    "  -o FILE         write to FILE (`-`: standard output; default: PROF.html or PROF.svg)\n"
    "  -svg            make a picture instead of a page; implied if FILE ends in .svg\n"
    "  -title TEXT     set the title\n"
    "  -zoom FROM,TO   show only supersteps between these times, in seconds\n"
    "  -slg S,L,G      predict for a machine with these parameters\n"
    "  -arch NAME      predict for this machine in the database of bspparam\n"
    "  -v              report what is done\n"
    "  -help, -version\n"
    "\n"
    "Without -slg and -arch, the prediction uses the parameters of this machine (bspparam).\n";

/* What is written, and how it is drawn. */
struct job {
    const struct arguments *arguments;
    struct run *runs[2];
    struct costs costs[2];
    char title[600];
};

static bool read_run(struct job *job, unsigned i, char error[PROFILE_ERROR])
{
    const struct arguments *arguments = job->arguments;
    job->runs[i] = calloc(1, sizeof(*job->runs[i]));
    if (!job->runs[i]) {
        snprintf(error, PROFILE_ERROR, "out of memory");
        return false;
    }
    if (!run_read(arguments->files[i], arguments->section, &(struct run_calls){0}, job->runs[i],
                  error))
        return false;
    if (arguments->verbose)
        fprintf(stderr, "bspprof: %s: %llu superstep%s of %u process%s\n", arguments->files[i],
                (unsigned long long)job->runs[i]->all.supersteps,
                job->runs[i]->all.supersteps == 1 ? "" : "s", job->runs[i]->file.profile.ranks,
                job->runs[i]->file.profile.ranks == 1 ? "" : "es");
    if (!job->runs[i]->file.profile.complete)
        fprintf(stderr,
                "bspprof: %s: it ends early, without a line E: what followed the last superstep is "
                "not in it\n",
                arguments->files[i]);
    return costs_find(arguments->params, arguments->machine, job->runs[i]->file.profile.ranks,
                      &job->costs[i], error, PROFILE_ERROR);
}

/* ---- Output --------------------------------------------------------------------------------- */

static bool write_page(FILE *file, const struct job *job)
{
    char *data = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&data, &size);
    if (!memory)
        return false;
    data_write(memory, job->title, job->runs, job->costs, job->arguments->file_count);
    bool good = !ferror(memory) && fclose(memory) == 0;
    if (good)
        page_write(file, job->title, data, size, bspprof_script);
    free(data);
    return good;
}

static bool write_output(FILE *file, const struct job *job)
{
    if (!job->arguments->svg)
        return write_page(file, job);
    picture_draw(file, job->title, job->runs, job->costs, job->arguments->file_count);
    return true;
}

/* PROF.bsp becomes PROF.html, in the directory of the profile. */
static char *output_name(const struct arguments *arguments)
{
    const char *input = arguments->files[0], *slash = strrchr(input, '/');
    const char *dot = strrchr(slash ? slash : input, '.');
    int length = dot && dot > input && dot[-1] != '/' ? (int)(dot - input) : (int)strlen(input);
    char *name;
    if (arguments->output)
        return strdup(arguments->output);
    return asprintf(&name, "%.*s.%s", length, input, arguments->svg ? "svg" : "html") < 0 ? NULL
                                                                                          : name;
}

/* Whatever it is called: links, other spellings, and the name that is made of the profile's. */
static bool is_profile(const struct arguments *arguments, const char *name)
{
    struct stat output, profile;
    if (stat(name, &output) != 0)
        return false;
    for (unsigned i = 0; i < arguments->file_count; i++)
        if (stat(arguments->files[i], &profile) == 0 && profile.st_dev == output.st_dev &&
            profile.st_ino == output.st_ino)
            return true;
    return false;
}

static int write_file(const struct job *job, const char *name)
{
    struct output output;
    if (is_profile(job->arguments, name))
        return bspprof_command_fail(STATUS_WRONG,
                                    "%s: this is the profile itself: give the output another name "
                                    "with -o",
                                    name);
    if (!output_begin(&output, name))
        return bspprof_command_fail(STATUS_BAD, "%s: %s", name, strerror(errno));
    bool good = write_output(output.file, job);
    return output_end(&output, good)
               ? STATUS_OK
               : bspprof_command_fail(STATUS_BAD, "%s: %s", name, strerror(errno));
}

static int show(const struct job *job)
{
    if (job->arguments->output && strcmp(job->arguments->output, "-") == 0)
        return write_output(stdout, job) ? STATUS_OK
                                         : bspprof_command_fail(STATUS_BAD, "out of memory");
    char *name = output_name(job->arguments);
    if (!name)
        return bspprof_command_fail(STATUS_BAD, "out of memory");
    int status = write_file(job, name);
    if (status == STATUS_OK && job->arguments->verbose)
        fprintf(stderr, "bspprof: wrote %s\n", name);
    else if (status == STATUS_OK && !job->arguments->output)
        printf("%s\n", name);
    free(name);
    return status;
}

static void name_it(struct job *job)
{
    const struct arguments *arguments = job->arguments;
    if (arguments->title)
        snprintf(job->title, sizeof(job->title), "%.500s", arguments->title);
    else if (arguments->file_count == 2)
        snprintf(job->title, sizeof(job->title), "%.250s and %.250s", arguments->files[0],
                 arguments->files[1]);
    else
        snprintf(job->title, sizeof(job->title), "%.500s", arguments->files[0]);
}

static int work(const struct arguments *arguments)
{
    struct job job = {.arguments = arguments};
    char error[PROFILE_ERROR];
    bool good = true;
    int status;
    if (!arguments->svg && !page_is_there())
        return bspprof_command_fail(STATUS_WRONG,
                                    "this bspprof makes no pages because it was %s; -svg works",
                                    page_missing);
    for (unsigned i = 0; i < arguments->file_count && good; i++)
        good = read_run(&job, i, error);
    name_it(&job);
    status = good ? show(&job) : bspprof_command_fail(STATUS_BAD, "%s", error);
    for (unsigned i = 0; i < arguments->file_count; i++) {
        if (job.runs[i])
            run_free(job.runs[i]);
        free(job.runs[i]);
    }
    return status;
}

int main(int argc, char **argv)
{
    return command_main(ARGUMENTS_PROF, "bspprof", help, argc, argv, work);
}
