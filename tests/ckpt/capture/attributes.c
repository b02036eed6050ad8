/* attributes.c - a process with one attribute, through a snapshot.
 *
 *   attributes list          the names of all cases, a line each
 *   attributes known         the names that the capture engine has for what it reads
 *   attributes image NAME I  gives itself that attribute and writes the image I; status 10.  The
 *                            restored process prints "has it" or "has it not"
 *   attributes thaw NAME     the same in a process that is killed and goes on in its frozen copy
 *
 * A refusal ends it with status 3 and a line, what cannot be tried here with status 77. */
#include "tests/ckpt/capture/attributes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"

static const struct attribute_case *const all_cases[] = {kept_cases, kernel_cases, refused_cases,
                                                         lost_cases};

void impossible(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(77);
}

long need(long result, const char *what)
{
    if (result < 0)
        impossible(what);
    return result;
}

static const struct attribute_case *find(const char *name)
{
    for (unsigned i = 0; i < sizeof all_cases / sizeof all_cases[0]; i++)
        for (const struct attribute_case *at = all_cases[i]; at->name; at++)
            if (strcmp(at->name, name) == 0)
                return at;
    fprintf(stderr, "no such case: %s\n", name);
    exit(2);
}

static void list(void)
{
    for (unsigned i = 0; i < sizeof all_cases / sizeof all_cases[0]; i++)
        for (const struct attribute_case *at = all_cases[i]; at->name; at++)
            printf("%s\n", at->name);
}

static int answer(const struct attribute_case *one)
{
    bool has = one->has && one->has();

    printf(has ? "has it\n" : "has it not\n");
    fflush(stdout);
    return 0;
}

static int through_image(const struct attribute_case *one, const char *image)
{
    host_refusal(); /* so that the tables have their memory, whatever limit comes now */
    one->set();
    if (!one->has) {
        const char *why = host_refusal();

        fprintf(stderr, "refused: %s\n", why ? why : "it is not");
        return why ? 3 : 0;
    }
    if (host_snapshot(image) == 0)
        _exit(10);
    return answer(one);
}

/* The process that is lost is a child of its agent, as a rank is. */
static int run_rank(const struct attribute_case *one, struct host_agent *agent)
{
    struct bspz_freeze_plan plan = {.hooks = {0}};
    int result;

    host_initial_now();
    host_refusal();
    host_agent_hooks(agent, &plan.hooks);
    host_options(&plan.options);
    one->set();
    result = bspz_copy_freeze(&plan);
    if (result < 0) {
        fprintf(stderr, "refused: %s\n", plan.why);
        _exit(3);
    }
    if (result == 0)
        _exit(10);
    bspz_attributes_put_affinity(&plan.attributes);
    return answer(one);
}

static int through_copy(const struct attribute_case *one)
{
    struct host_agent *agent = host_agent_start();
    int status;
    pid_t rank;

    fflush(stdout);
    rank = fork();
    if (rank == 0)
        _exit(run_rank(one, agent));
    waitpid(rank, &status, 0);
    if (!WIFEXITED(status))
        return 128 + WTERMSIG(status);
    if (WEXITSTATUS(status) != 10)
        return WEXITSTATUS(status);
    host_agent_thaw(agent);
    return host_agent_wait(agent);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        list();
    } else if (argc == 2 && strcmp(argv[1], "known") == 0) {
        for (unsigned i = 0; i < BSPZ_ATTRIBUTE_COUNT; i++)
            printf("%s\n", bspz_attribute_name(i));
    } else if (argc == 4 && strcmp(argv[1], "image") == 0) {
        return through_image(find(argv[2]), argv[3]);
    } else if (argc == 3 && strcmp(argv[1], "thaw") == 0) {
        return through_copy(find(argv[2]));
    } else {
        return 2;
    }
    return 0;
}
