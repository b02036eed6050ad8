/* rules.c - what the user's rules exclude, and how other descriptors of the program are saved; see
 * capture.h. */
#include <string.h>

#include "ckpt/capture/snapshot.h"

static bool glob(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

static bool decimal(const char *text, int *value)
{
    if (!*text)
        return false;
    for (*value = 0; *text; text++) {
        if (*text < '0' || *text > '9' || *value > 100000000)
            return false;
        *value = *value * 10 + (*text - '0');
    }
    return true;
}

bool bspz_rules_have(const struct bspz_capture_options *options, const char *rule)
{
    for (uint32_t i = 0; i < options->rule_count; i++)
        if (strcmp(options->rules[i], rule) == 0)
            return true;
    return false;
}

bool bspz_rules_name(const struct bspz_capture_options *options, int number, const char *path)
{
    for (uint32_t i = 0; i < options->rule_count; i++) {
        const char *rule = options->rules[i];
        int named;

        if (strncmp(rule, "fd:", 3) == 0 && decimal(rule + 3, &named) && named == number)
            return true;
        if (strncmp(rule, "path:", 5) == 0 && glob(rule + 5, path))
            return true;
    }
    return false;
}

bool bspz_is_job_descriptor(const struct bspz_capture_options *options, int number)
{
    for (uint32_t i = 0; i < options->job_count; i++)
        if (options->job_descriptors[i] == number)
            return true;
    return false;
}

bool bspz_is_lost(const struct bspz_capture_options *options, const struct bspz_descriptor *one)
{
    return one->kind == BSPZ_FD_LOST ||
           (options->lose_descriptors &&
            (one->kind == BSPZ_FD_DELETED || one->kind == BSPZ_FD_OTHER));
}
