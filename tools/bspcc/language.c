/* Suffixes and -x names. */
#include "tools/bspcc/language.h"

#include <string.h>

static const struct {
    const char *suffix;
    struct language language;
} suffixes[] = {
    {"c", {TOOL_C, NULL}},         {"i", {TOOL_C, NULL}},           {"h", {TOOL_C, NULL}},
    {"m", {TOOL_C, NULL}},         {"s", {TOOL_C, NULL}},           {"S", {TOOL_C, NULL}},
    {"sx", {TOOL_C, NULL}},        {"lc", {TOOL_C, "c"}},           {"lh", {TOOL_C, "h"}},
    {"cc", {TOOL_CXX, NULL}},      {"cp", {TOOL_CXX, NULL}},        {"cxx", {TOOL_CXX, NULL}},
    {"cpp", {TOOL_CXX, NULL}},     {"CPP", {TOOL_CXX, NULL}},       {"c++", {TOOL_CXX, NULL}},
    {"C", {TOOL_CXX, NULL}},       {"ii", {TOOL_CXX, NULL}},        {"H", {TOOL_CXX, NULL}},
    {"hh", {TOOL_CXX, NULL}},      {"hp", {TOOL_CXX, NULL}},        {"hxx", {TOOL_CXX, NULL}},
    {"hpp", {TOOL_CXX, NULL}},     {"h++", {TOOL_CXX, NULL}},       {"tcc", {TOOL_CXX, NULL}},
    {"lcc", {TOOL_CXX, "cc"}},     {"lc++", {TOOL_CXX, "cc"}},      {"f", {TOOL_FORTRAN, NULL}},
    {"for", {TOOL_FORTRAN, NULL}}, {"ftn", {TOOL_FORTRAN, NULL}},   {"fpp", {TOOL_FORTRAN, NULL}},
    {"F", {TOOL_FORTRAN, NULL}},   {"FOR", {TOOL_FORTRAN, NULL}},   {"FTN", {TOOL_FORTRAN, NULL}},
    {"FPP", {TOOL_FORTRAN, NULL}}, {"f90", {TOOL_FORTRAN, NULL}},   {"f95", {TOOL_FORTRAN, NULL}},
    {"f03", {TOOL_FORTRAN, NULL}}, {"f08", {TOOL_FORTRAN, NULL}},   {"F90", {TOOL_FORTRAN, NULL}},
    {"F95", {TOOL_FORTRAN, NULL}}, {"F03", {TOOL_FORTRAN, NULL}},   {"F08", {TOOL_FORTRAN, NULL}},
    {"lf", {TOOL_FORTRAN, "f"}},   {"lf90", {TOOL_FORTRAN, "f90"}},
};

bool language_of_file(const char *name, struct language *language)
{
    const char *dot = strrchr(name, '.');

    if (dot == NULL || strchr(dot, '/') != NULL)
        return false;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if (strcmp(dot + 1, suffixes[i].suffix) == 0) {
            *language = suffixes[i].language;
            return true;
        }
    return false;
}

bool language_of_option(const char *name, struct language *language)
{
    *language = (struct language){TOOL_C, NULL};
    if (strcmp(name, "none") == 0)
        return false;
    if (strncmp(name, "c++", strlen("c++")) == 0)
        language->tool = TOOL_CXX;
    else if (strncmp(name, "f77", strlen("f77")) == 0 || strncmp(name, "f95", strlen("f95")) == 0)
        language->tool = TOOL_FORTRAN;
    return true;
}
