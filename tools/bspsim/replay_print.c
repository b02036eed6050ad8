/* replay_print.c - a replay as text and as JSON; see replay.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/json.h"
#include "tools/bspsim/command.h"
#include "tools/bspsim/replay.h"

#define COSTLIEST 10u
#define NAME_SIZE 64

/* ---- Text ---------------------------------------------------------------------------------- */

/* As bspsim_command_time, with four digits of what is short. */
static const char *time_text(double seconds, char text[COMMAND_TIME_MAX])
{
    if (!isfinite(seconds) || seconds >= 600)
        return bspsim_command_time(seconds, text);
    if (seconds >= 1)
        snprintf(text, COMMAND_TIME_MAX, "%.4g s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, COMMAND_TIME_MAX, "%.4g ms", seconds * 1e3);
    else
        snprintf(text, COMMAND_TIME_MAX, "%.4g us", seconds * 1e6);
    return text;
}

static void print_share(double seconds, double all)
{
    char text[COMMAND_TIME_MAX];
    printf("  %10s %6.1f %%", time_text(seconds, text), all > 0 ? 100 * seconds / all : 0);
}

/* The end of a long name says more than its beginning. */
static const char *name_of(const struct profile *profile, uint32_t number, char text[NAME_SIZE])
{
    const struct profile_statement *statement = &profile->statements[number];
    char all[5000];
    if (!statement->file) {
        snprintf(text, NAME_SIZE, "statement %u", number);
        return text;
    }
    int length = snprintf(all, sizeof(all), "%.4096s:%u", statement->file, statement->line);
    const char *from = length > 32 ? all + length - 29 : all;
    snprintf(text, NAME_SIZE, "%s%.60s", length > 32 ? "..." : "", from);
    return text;
}

static void print_setting(const struct replay_told *told)
{
    const struct machine_facts *facts = told->facts;
    uint32_t ranks = told->profile->ranks;
    printf("%s: %u process%s, %" PRIu64 " superstep%s\n", told->profile_name, ranks,
           ranks == 1 ? "" : "es", told->profile->supersteps,
           told->profile->supersteps == 1 ? "" : "s");
    if (!told->profile->complete)
        printf("  it ends early: what followed its last superstep is not known\n");
    printf("%s: %u of %u host%s, with up to %u process%s each\n", told->platform_name,
           facts->hosts_used, facts->hosts, facts->hosts == 1 ? "" : "s", facts->most_on_host,
           facts->most_on_host == 1 ? "" : "es");
    if (facts->crowded)
        printf("  there are more processes than cores: they take turns\n");
    printf("A core of the measured machine is taken for one of %.6g flop/s", told->speed);
    if (told->speed_given)
        printf(".\n\n");
    else
        printf(",\nas a core of %s has: --speed says otherwise.\n\n", facts->first);
}

static void print_parts(const struct replay_told *told)
{
    const struct replay_statement *all = &told->replay->all;
    double measured = replay_measured_total(all), predicted = replay_predicted_total(all);
    char text[COMMAND_TIME_MAX];
    printf("%-32s  %19s  %19s\n%-32s", "", "measured    ", "predicted    ", "computing");
    print_share(all->measured.computing, measured);
    print_share(all->predicted.computing, predicted);
    printf("\n%-32s", "communicating");
    print_share(all->measured.communicating, measured);
    print_share(all->predicted.communicating, predicted);
    printf("\n%-32s  %19s", "synchronising", "in communicating");
    print_share(all->predicted.synchronising, predicted);
    printf("\n%-32s", "total");
    print_share(measured, measured);
    print_share(predicted, predicted);
    putchar('\n');
    if (measured > 0)
        printf("The program takes %.4g times as long there.\n", predicted / measured);
    if (all->predicted.waiting > 1e-6 * all->predicted.computing)
        printf(
            "Of the time that computing takes, a process waits %s for the slowest, on average.\n",
            time_text(all->predicted.waiting, text));
}

static void print_model(const struct replay_told *told)
{
    const struct machine_facts *facts = told->facts;
    char model[COMMAND_TIME_MAX], l[COMMAND_TIME_MAX];
    printf("The cost model w + g h + l says %s: g = %.4g ns per byte, l = %s.\n",
           time_text(replay_model(told->replay, facts), model), facts->g * 1e9,
           time_text(facts->l, l));
}

static void print_statements(const struct replay_told *told)
{
    const struct replay *replay = told->replay;
    uint32_t numbers[COSTLIEST], count = replay_costliest(replay, numbers, COSTLIEST);
    double measured = replay_measured_total(&replay->all),
           predicted = replay_predicted_total(&replay->all);
    char name[NAME_SIZE];
    if (count == 0)
        return;
    printf("\n%-32s  %19s  %19s  %s\n", "supersteps that end at", "measured    ", "predicted    ",
           "supersteps");
    for (uint32_t i = 0; i < count; i++) {
        const struct replay_statement *statement = &replay->statements[numbers[i]];
        printf("%-32s", name_of(told->profile, numbers[i], name));
        print_share(replay_measured_total(statement), measured);
        print_share(replay_predicted_total(statement), predicted);
        printf("  %10" PRIu64 "\n", statement->supersteps);
    }
}

void replay_print_text(const struct replay_told *told)
{
    print_setting(told);
    print_parts(told);
    print_model(told);
    print_statements(told);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Enough digits for any other result to look different. */
static void add_real(struct bspz_json *json, const char *name, double value)
{
    if (isfinite(value))
        bspz_json_format(json, name, "%.12g", value);
    else
        bspz_json_null(json, name);
}

static void add_times(struct bspz_json *json, const struct replay_statement *statement)
{
    bspz_json_object(json, "measured");
    add_real(json, "total", replay_measured_total(statement));
    add_real(json, "computing", statement->measured.computing);
    add_real(json, "communicating", statement->measured.communicating);
    bspz_json_end(json);
    bspz_json_object(json, "predicted");
    add_real(json, "total", replay_predicted_total(statement));
    add_real(json, "computing", statement->predicted.computing);
    add_real(json, "waiting", statement->predicted.waiting);
    add_real(json, "communicating", statement->predicted.communicating);
    add_real(json, "synchronising", statement->predicted.synchronising);
    bspz_json_end(json);
}

static void add_setting(struct bspz_json *json, const struct replay_told *told)
{
    bspz_json_text(json, "profile", told->profile_name);
    bspz_json_text(json, "platform", told->platform_name);
    bspz_json_number(json, "processes", told->profile->ranks);
    bspz_json_number(json, "supersteps", told->profile->supersteps);
    bspz_json_flag(json, "complete", told->profile->complete);
    bspz_json_number(json, "hosts", told->facts->hosts);
    bspz_json_number(json, "hosts_used", told->facts->hosts_used);
    bspz_json_number(json, "most_on_host", told->facts->most_on_host);
    bspz_json_flag(json, "crowded", told->facts->crowded);
    add_real(json, "speed", told->speed);
    bspz_json_flag(json, "speed_given", told->speed_given);
}

static void add_statement(struct bspz_json *json, const struct replay_told *told, uint32_t number)
{
    const struct profile_statement *named = &told->profile->statements[number];
    const struct replay_statement *statement = &told->replay->statements[number];
    bspz_json_object(json, NULL);
    bspz_json_number(json, "id", number);
    bspz_json_text(json, "file", named->file);
    if (named->file)
        bspz_json_number(json, "line", named->line);
    else
        bspz_json_null(json, "line");
    bspz_json_number(json, "supersteps", statement->supersteps);
    add_times(json, statement);
    bspz_json_end(json);
}

void replay_print_json(const struct replay_told *told)
{
    struct bspz_json json = {.file = stdout};
    uint32_t numbers[COSTLIEST], count = replay_costliest(told->replay, numbers, COSTLIEST);
    bspz_json_object(&json, NULL);
    add_setting(&json, told);
    add_times(&json, &told->replay->all);
    bspz_json_object(&json, "model");
    add_real(&json, "g", told->facts->g);
    add_real(&json, "l", told->facts->l);
    add_real(&json, "h", told->replay->h);
    add_real(&json, "total", replay_model(told->replay, told->facts));
    bspz_json_end(&json);
    bspz_json_array(&json, "statements");
    for (uint32_t i = 0; i < count; i++)
        add_statement(&json, told, numbers[i]);
    bspz_json_end(&json);
    bspz_json_end(&json);
}
