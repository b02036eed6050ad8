/* replay.c - bspsim replay: a profiled program on another machine.
 *
 * The machine asks for one superstep after the other (give_superstep), which are read from the
 * profile and added to the sums when the machine says what they take there. */
#include "tools/bspsim/replay.h"

#include "tools/bspsim/command.h"
#include "tools/bspsim/guard.h"

enum stage { STAGE_FIRST, STAGE_SUPERSTEP, STAGE_REST };

struct running {
    const struct arguments *arguments;
    struct profile_file file;
    struct replay replay;
    struct replay_measured measured; /* of the superstep that the machine is at */
    enum stage stage;
    double speed;
    bool failed;
    char error[PROFILE_ERROR];
};

static enum machine_next stop(struct running *running, const char *why)
{
    if (why)
        snprintf(running->error, sizeof(running->error), "%s", why);
    running->failed = true;
    return MACHINE_STOP;
}

/* Books what the machine has done. */
static bool book(struct running *running, const struct machine_parts *parts)
{
    struct profile *profile = &running->file.profile;
    return replay_add(&running->replay, running->stage == STAGE_SUPERSTEP ? &profile->step : NULL,
                      profile->traffic, profile->ranks, &running->measured, parts);
}

static enum machine_next give(struct running *running, double computing, double communicating,
                              struct machine_work *work)
{
    running->measured = (struct replay_measured){computing, communicating};
    *work = (struct machine_work){computing * running->speed, running->file.profile.traffic};
    return running->stage == STAGE_SUPERSTEP ? MACHINE_GO_ON : MACHINE_COMPUTE;
}

static enum machine_next give_superstep(void *context, const struct machine_facts *facts,
                                        const struct machine_parts *parts,
                                        struct machine_work *work)
{
    struct running *running = context;
    struct profile *profile = &running->file.profile;
    const struct profile_superstep *step = &profile->step;
    uint64_t end_ns = profile->total_ns;

    if (!parts)
        running->speed = running->arguments->speed > 0 ? running->arguments->speed : facts->speed;
    else if (!book(running, parts))
        return stop(running, "out of memory");
    if (running->stage == STAGE_REST)
        return MACHINE_STOP;
    switch (profile_next_superstep(&running->file, running->error)) {
    case PROFILE_SUPERSTEP:
        running->stage = STAGE_SUPERSTEP;
        return give(running, (double)step->computing_ns / 1e9,
                    (double)(step->end_ns - step->start_ns) / 1e9, work);
    case PROFILE_END:
        running->stage = STAGE_REST;
        return give(running, (double)(profile->total_ns - end_ns) / 1e9, 0, work);
    default:
        return stop(running, NULL);
    }
}

static void tell(const struct running *running, const struct machine_facts *facts)
{
    struct replay_told told = {.replay = &running->replay,
                               .profile = &running->file.profile,
                               .facts = facts,
                               .profile_name = running->arguments->profile,
                               .platform_name = running->arguments->platform,
                               .speed = running->speed,
                               .speed_given = running->arguments->speed > 0};
    if (running->arguments->json)
        replay_print_json(&told);
    else
        replay_print_text(&told);
}

static int replay(void *context, struct guard_shared *shared)
{
    struct running running = {.arguments = context};
    const struct arguments *arguments = running.arguments;
    char error[MACHINE_ERROR];
    struct machine_facts facts;
    int status = STATUS_OK;

    if (!profile_open(arguments->profile, &running.file, error))
        return bspsim_command_fail(STATUS_BAD, "%s", error);
    struct machine_request request = {.platform = arguments->platform,
                                      .hosts = arguments->host_names,
                                      .host_count = arguments->hosts,
                                      .per_host = arguments->per_host,
                                      .ranks = running.file.profile.ranks};
    if (!machine_run(&request, give_superstep, &running, &facts, shared->doing, error))
        status = bspsim_command_fail(STATUS_BAD, "%s", error);
    else if (running.failed)
        status = bspsim_command_fail(STATUS_BAD, "%s", running.error);
    else
        tell(&running, &facts);
    replay_sums_free(&running.replay);
    profile_close(&running.file);
    return status;
}

int command_replay(const struct arguments *arguments)
{
    if (!machine_is_there())
        return bspsim_command_fail(STATUS_WRONG,
                                   "replay: this bspsim was built without SimGrid: rebuild "
                                   "it where libsimgrid-dev is installed");
    return guard_run(replay, (void *)(uintptr_t)arguments);
}
