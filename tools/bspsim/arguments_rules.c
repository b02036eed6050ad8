/* arguments_rules.c - which options go together; see arguments_inside.h. */
#include "tools/bspsim/arguments_inside.h"

static bool missing(enum argument argument, const char *example, char error[ARGUMENTS_ERROR])
{
    return arguments_wrong(error, "--%s is missing: give it, such as --%s %s",
                           arguments_name(argument), arguments_name(argument), example);
}

static bool exclude(const struct arguments *arguments, enum argument one, enum argument other,
                    const char *why, char error[ARGUMENTS_ERROR])
{
    if (!argument_given(arguments, one) || !argument_given(arguments, other))
        return true;
    return arguments_wrong(error, "--%s and --%s: %s", arguments_name(one), arguments_name(other),
                           why);
}

/* The command that an option is for, when it is not for this one; else NULL. */
static const char *other_command(enum arguments_action action, enum argument argument)
{
    if (argument <= ARG_JSON)
        return action != ARGUMENTS_REPLAY || argument == ARG_HOSTS || argument == ARG_JSON
                   ? NULL
                   : "plan and run";
    if (argument <= ARG_SVG)
        return action == ARGUMENTS_PLAN ? NULL : "plan";
    if (argument <= ARG_EACH)
        return action == ARGUMENTS_RUN ? NULL : "run";
    return action == ARGUMENTS_REPLAY ? NULL : "replay";
}

static bool is_for_command(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    for (enum argument argument = ARG_WORK; argument <= ARG_PER_HOST; argument++) {
        const char *other = other_command(arguments->action, argument);
        if (other && argument_given(arguments, argument))
            return arguments_wrong(error, "--%s is for bspsim %s", arguments_name(argument), other);
    }
    return true;
}

static bool check_plan(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (arguments->host_names)
        return arguments_wrong(error, "--hosts %.200s: give a number of hosts",
                               arguments->host_names);
    if (!exclude(arguments, ARG_IMAGE, ARG_SNAPSHOT, "give one of them", error) ||
        !exclude(arguments, ARG_IMAGE, ARG_RESTORE, "give one of them", error) ||
        !exclude(arguments, ARG_IMAGE, ARG_REPORT, "give one of them", error))
        return false;
    if (argument_given(arguments, ARG_IMAGE) != argument_given(arguments, ARG_BANDWIDTH))
        return argument_given(arguments, ARG_IMAGE) ? missing(ARG_BANDWIDTH, "500M", error)
                                                    : missing(ARG_IMAGE, "2G", error);
    if (!argument_given(arguments, ARG_WORK))
        return missing(ARG_WORK, "100h", error);
    if (arguments->report)
        return true; /* the others are optional */
    if (!argument_given(arguments, ARG_HOSTS))
        return missing(ARG_HOSTS, "32", error);
    if (!argument_given(arguments, ARG_MTBF))
        return missing(ARG_MTBF, "4h", error);
    if (argument_given(arguments, ARG_IMAGE))
        return true;
    return argument_given(arguments, ARG_SNAPSHOT)
               ? argument_given(arguments, ARG_RESTORE) || missing(ARG_RESTORE, "50s", error)
               : missing(ARG_SNAPSHOT, "20s", error);
}

static bool check_trace(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    static const enum argument drawn[] = {ARG_MTBF, ARG_LIVES, ARG_SHAPE, ARG_DOUBLING, ARG_REPAIR};
    for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
        if (!exclude(arguments, ARG_TRACE, drawn[i], "the trace says when hosts are up", error))
            return false;
    return exclude(arguments, ARG_TRACE, ARG_RUNS,
                   "there is one job of a trace, as nothing is left to chance", error);
}

static bool check_run(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (arguments->trace ? !check_trace(arguments, error) : !argument_given(arguments, ARG_MTBF))
        return arguments->trace ? false : missing(ARG_MTBF, "4h", error);
    if (!arguments->trace && !argument_given(arguments, ARG_HOSTS))
        return missing(ARG_HOSTS, "32", error);
    if (!arguments->trace && arguments->host_names)
        return arguments_wrong(error,
                               "--hosts %.200s: names are for --trace; give a number of hosts",
                               arguments->host_names);
    if (argument_given(arguments, ARG_SHAPE) && arguments->lives == LIVES_EXPONENTIAL)
        return arguments_wrong(error, "--shape is for --lives weibull or lognormal");
    if (arguments->calm && (arguments->trace || arguments->repair > 0))
        return arguments_wrong(error,
                               "--calm-restores and --%s: a host that fails is missing afterwards",
                               arguments_name(arguments->trace ? ARG_TRACE : ARG_REPAIR));
    if (argument_given(arguments, ARG_OVERHEAD) && arguments->rule.kind != POLICY_AUTO)
        return arguments_wrong(error, "--overhead is for --every auto");
    if (argument_given(arguments, ARG_PRIOR) && arguments->rule.kind != POLICY_AUTO)
        return arguments_wrong(error, "--prior is for --every auto");
    if (!argument_given(arguments, ARG_WORK))
        return missing(ARG_WORK, "100h", error);
    if (!argument_given(arguments, ARG_SNAPSHOT))
        return missing(ARG_SNAPSHOT, "20s", error);
    if (!argument_given(arguments, ARG_RESTORE))
        return missing(ARG_RESTORE, "50s", error);
    if (argument_given(arguments, ARG_LIMIT) && arguments->limit < arguments->work)
        return arguments_wrong(error, "--limit is less than --work: no job would end");
    return true;
}

static bool check_replay(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (!arguments->profile)
        return arguments_wrong(error, "no profile given: bspsim replay PROF.bsp --platform FILE");
    return argument_given(arguments, ARG_PLATFORM) || missing(ARG_PLATFORM, "cluster.xml", error);
}

bool arguments_check(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (!is_for_command(arguments, error))
        return false;
    switch (arguments->action) {
    case ARGUMENTS_PLAN:
        return check_plan(arguments, error);
    case ARGUMENTS_RUN:
        return check_run(arguments, error);
    default:
        return check_replay(arguments, error);
    }
}
