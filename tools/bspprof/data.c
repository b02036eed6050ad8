/* data.c - see data.h.  Steps and supersteps are written as a list for each column. */
#include "tools/bspprof/data.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/json.h"

const char *data_statement(const struct profile *profile, uint32_t statement, char text[DATA_NAME])
{
    const struct profile_statement *one =
        statement < profile->statement_count ? &profile->statements[statement] : NULL;
    if (one && one->file)
        snprintf(text, DATA_NAME, "%.4096s:%" PRIu32, one->file, one->line);
    else
        snprintf(text, DATA_NAME, "statement %" PRIu32, statement);
    return text;
}

static void write_costs(struct bspz_json *json, const struct costs *costs)
{
    bspz_json_object(json, "costs");
    bspz_json_real(json, "s", costs->params.s);
    bspz_json_real(json, "l", costs->params.l);
    bspz_json_real(json, "g", costs->params.g);
    bspz_json_real(json, "scale", costs->scale);
    bspz_json_flag(json, "other", costs->other);
    bspz_json_flag(json, "scaled", costs->scaled);
    bspz_json_text(json, "where", costs->where);
    bspz_json_end(json);
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* Where a number of 64 bits lies in an element of a list. */
struct column {
    const char *name;
    size_t offset;
};

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

static void write_columns(struct bspz_json *json, const void *list, size_t size, uint32_t count,
                          const struct column *columns, size_t column_count)
{
    for (size_t c = 0; c < column_count; c++) {
        bspz_json_array(json, columns[c].name);
        for (uint32_t i = 0; i < count; i++) {
            const char *element = (const char *)list + i * size;
            bspz_json_number(json, NULL, *(const uint64_t *)(element + columns[c].offset));
        }
        bspz_json_end(json);
    }
}

static void write_band(struct bspz_json *json, const struct strata *strata, bool in)
{
    bspz_json_array(json, in ? "in" : "out");
    for (uint32_t band = 0; band < strata->bands; band++) {
        bspz_json_array(json, NULL);
        for (uint32_t i = 0; i < strata->count; i++)
            bspz_json_number(json, NULL,
                             in ? strata->steps[i].in[band] : strata->steps[i].out[band]);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_steps(struct bspz_json *json, const struct strata *strata)
{
#define STEP(member) offsetof(struct strata_step, member)
    static const struct column columns[] = {
        {"count", STEP(sums.supersteps)},
        {"computing", STEP(sums.computing)},
        {"waiting", STEP(sums.waiting)},
        {"communicating", STEP(sums.communicating)},
        {"h", STEP(sums.h)},
        {"first", STEP(first)},
        {"start", STEP(start)},
        {"end", STEP(end)},
        {"h_most", STEP(h_most)},
        {"costliest", STEP(costliest)},
        {"took", STEP(costliest_took)},
    };
#undef STEP
    bspz_json_object(json, "steps");
    write_columns(json, strata->steps, sizeof(*strata->steps), strata->count, columns,
                  LENGTH(columns));
    bspz_json_array(json, "statement");
    for (uint32_t i = 0; i < strata->count; i++)
        bspz_json_number(json, NULL, strata->steps[i].statement);
    bspz_json_end(json);
    write_band(json, strata, false);
    write_band(json, strata, true);
    bspz_json_end(json);
}

static void write_single(struct bspz_json *json, const struct run *run)
{
#define ONE(member) offsetof(struct run_superstep, member)
    static const struct column columns[] = {
        {"number", ONE(number)},
        {"start", ONE(start)},
        {"computing", ONE(computing)},
        {"waiting", ONE(waiting)},
        {"communicating", ONE(communicating)},
        {"h", ONE(h)},
        {"bytes", ONE(bytes)},
    };
#undef ONE
    static struct run_superstep items[2 * RUN_TOP];
    uint32_t count = run_single(run, items);
    bspz_json_object(json, "single");
    write_columns(json, items, sizeof(*items), count, columns, LENGTH(columns));
    bspz_json_array(json, "statement");
    for (uint32_t i = 0; i < count; i++)
        bspz_json_number(json, NULL, items[i].statement);
    bspz_json_end(json);
    bspz_json_end(json);
}

/* ---- The rest ------------------------------------------------------------------------------- */

static void write_sums(struct bspz_json *json, const struct strata_sums *sums)
{
    bspz_json_number(json, "supersteps", sums->supersteps);
    bspz_json_number(json, "computing", sums->computing);
    bspz_json_number(json, "waiting", sums->waiting);
    bspz_json_number(json, "communicating", sums->communicating);
    bspz_json_number(json, "h", sums->h);
    bspz_json_number(json, "bytes", sums->bytes);
}

static void write_statements(struct bspz_json *json, const struct run *run)
{
    const struct profile *profile = &run->file.profile;
    char name[DATA_NAME];
    bspz_json_array(json, "statements");
    for (uint32_t i = 0; i < profile->statement_count; i++) {
        const struct run_statement *statement = &run->statements[i];
        if (statement->sums.supersteps == 0)
            continue;
        bspz_json_object(json, NULL);
        bspz_json_number(json, "id", i);
        bspz_json_text(json, "name", data_statement(profile, i, name));
        write_sums(json, &statement->sums);
        bspz_json_number(json, "longest", statement->longest);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_marks(struct bspz_json *json, const struct run *run)
{
    bspz_json_number(json, "mark_count", run->mark_count);
    bspz_json_array(json, "marks");
    for (uint64_t i = 0; i < run->mark_count && i < RUN_MARKS; i++) {
        const struct profile_mark *mark = &run->marks[i];
        bspz_json_object(json, NULL);
        bspz_json_text(json, "what", profile_mark_word(mark->kind));
        bspz_json_number(json, "superstep", mark->superstep);
        bspz_json_number(json, "at", mark->at_ns);
        bspz_json_number(json, "lasted", mark->lasted_ns);
        bspz_json_end(json);
    }
    bspz_json_end(json);
}

static void write_run(struct bspz_json *json, const struct run *run, const struct costs *costs)
{
    const struct profile *profile = &run->file.profile;
    const struct strata *strata = &run->strata;
    bspz_json_object(json, NULL);
    bspz_json_text(json, "name", run->name);
    bspz_json_number(json, "ranks", profile->ranks);
    bspz_json_flag(json, "complete", profile->complete);
    bspz_json_number(json, "total", profile->total_ns);
    bspz_json_number(json, "whole", profile->supersteps);
    bspz_json_flag(json, "spread", strata->spread);
    bspz_json_number(json, "per", strata->per);
    write_costs(json, costs);
    bspz_json_object(json, "all");
    write_sums(json, &run->all);
    bspz_json_end(json);
    bspz_json_array(json, "bands");
    for (uint32_t band = 0; band <= strata->bands; band++)
        bspz_json_number(json, NULL, strata_band(strata, band));
    bspz_json_end(json);
    write_steps(json, strata);
    write_single(json, run);
    write_statements(json, run);
    write_marks(json, run);
    bspz_json_end(json);
}

void data_write(FILE *file, const char *title, struct run *const *runs, const struct costs *costs,
                unsigned count)
{
    struct bspz_json json = {.file = file};
    bspz_json_object(&json, NULL);
    bspz_json_text(&json, "title", title);
    bspz_json_array(&json, "runs");
    for (unsigned i = 0; i < count; i++)
        write_run(&json, runs[i], &costs[i]);
    bspz_json_end(&json);
    bspz_json_end(&json);
}
