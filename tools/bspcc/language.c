/* Suffixes and -x names. */
#include "tools/bspcc/language.h"

#include <string.h>

static const struct {
    const char *suffix;
    struct language language;
} suffixes[] = {
    {"c", {TOOL_C, false, NULL}},         {"i", {TOOL_C, false, NULL}},
    {"h", {TOOL_C, false, NULL}},         {"m", {TOOL_C, false, NULL}},
    {"s", {TOOL_C, true, NULL}},          {"S", {TOOL_C, true, NULL}},
    {"sx", {TOOL_C, true, NULL}},         {"lc", {TOOL_C, false, "c"}},
    {"lh", {TOOL_C, false, "h"}},         {"cc", {TOOL_CXX, false, NULL}},
    {"cp", {TOOL_CXX, false, NULL}},      {"cxx", {TOOL_CXX, false, NULL}},
    {"cpp", {TOOL_CXX, false, NULL}},     {"CPP", {TOOL_CXX, false, NULL}},
    {"c++", {TOOL_CXX, false, NULL}},     {"C", {TOOL_CXX, false, NULL}},
    {"ii", {TOOL_CXX, false, NULL}},      {"H", {TOOL_CXX, false, NULL}},
    {"hh", {TOOL_CXX, false, NULL}},      {"hp", {TOOL_CXX, false, NULL}},
    {"hxx", {TOOL_CXX, false, NULL}},     {"hpp", {TOOL_CXX, false, NULL}},
    {"h++", {TOOL_CXX, false, NULL}},     {"tcc", {TOOL_CXX, false, NULL}},
    {"lcc", {TOOL_CXX, false, "cc"}},     {"lc++", {TOOL_CXX, false, "cc"}},
    {"f", {TOOL_FORTRAN, false, NULL}},   {"for", {TOOL_FORTRAN, false, NULL}},
    {"ftn", {TOOL_FORTRAN, false, NULL}}, {"fpp", {TOOL_FORTRAN, false, NULL}},
    {"F", {TOOL_FORTRAN, false, NULL}},   {"FOR", {TOOL_FORTRAN, false, NULL}},
    {"FTN", {TOOL_FORTRAN, false, NULL}}, {"FPP", {TOOL_FORTRAN, false, NULL}},
    {"f90", {TOOL_FORTRAN, false, NULL}}, {"f95", {TOOL_FORTRAN, false, NULL}},
    {"f03", {TOOL_FORTRAN, false, NULL}}, {"f08", {TOOL_FORTRAN, false, NULL}},
    {"F90", {TOOL_FORTRAN, false, NULL}}, {"F95", {TOOL_FORTRAN, false, NULL}},
    {"F03", {TOOL_FORTRAN, false, NULL}}, {"F08", {TOOL_FORTRAN, false, NULL}},
    {"lf", {TOOL_FORTRAN, false, "f"}},   {"lf90", {TOOL_FORTRAN, false, "f90"}},
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
    *language = (struct language){TOOL_C, false, NULL};
    if (strcmp(name, "none") == 0)
        return false;
    if (strncmp(name, "assembler", strlen("assembler")) == 0)
        language->assembler = true;
    else if (strncmp(name, "c++", strlen("c++")) == 0)
        language->tool = TOOL_CXX;
    else if (strncmp(name, "f77", strlen("f77")) == 0 || strncmp(name, "f95", strlen("f95")) == 0)
        language->tool = TOOL_FORTRAN;
    return true;
}
