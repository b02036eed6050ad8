/* Suffixes and -x names. */
#include "tools/bspcc/language.h"

#include <string.h>

static const struct {
    const char *suffix;
    struct language language;
} suffixes[] = {
    {"c", {TOOL_C, NULL, SOURCE_PROGRAM}},         {"i", {TOOL_C, NULL, SOURCE_PROGRAM}},
    {"h", {TOOL_C, NULL, SOURCE_HEADER}},          {"m", {TOOL_C, NULL, SOURCE_PROGRAM}},
    {"s", {TOOL_C, NULL, SOURCE_ASSEMBLER}},       {"S", {TOOL_C, NULL, SOURCE_PROGRAM}},
    {"sx", {TOOL_C, NULL, SOURCE_PROGRAM}},        {"lc", {TOOL_C, "c", SOURCE_PROGRAM}},
    {"lh", {TOOL_C, "h", SOURCE_PROGRAM}},         {"cc", {TOOL_CXX, NULL, SOURCE_PROGRAM}},
    {"cp", {TOOL_CXX, NULL, SOURCE_PROGRAM}},      {"cxx", {TOOL_CXX, NULL, SOURCE_PROGRAM}},
    {"cpp", {TOOL_CXX, NULL, SOURCE_PROGRAM}},     {"CPP", {TOOL_CXX, NULL, SOURCE_PROGRAM}},
    {"c++", {TOOL_CXX, NULL, SOURCE_PROGRAM}},     {"C", {TOOL_CXX, NULL, SOURCE_PROGRAM}},
    {"ii", {TOOL_CXX, NULL, SOURCE_PROGRAM}},      {"H", {TOOL_CXX, NULL, SOURCE_HEADER}},
    {"hh", {TOOL_CXX, NULL, SOURCE_HEADER}},       {"hp", {TOOL_CXX, NULL, SOURCE_HEADER}},
    {"hxx", {TOOL_CXX, NULL, SOURCE_HEADER}},      {"hpp", {TOOL_CXX, NULL, SOURCE_HEADER}},
    {"h++", {TOOL_CXX, NULL, SOURCE_HEADER}},      {"tcc", {TOOL_CXX, NULL, SOURCE_HEADER}},
    {"lcc", {TOOL_CXX, "cc", SOURCE_PROGRAM}},     {"lc++", {TOOL_CXX, "cc", SOURCE_PROGRAM}},
    {"f", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},   {"for", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"ftn", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"fpp", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"F", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},   {"FOR", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"FTN", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"FPP", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"f90", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"f95", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"f03", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"f08", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"F90", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"F95", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"F03", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}}, {"F08", {TOOL_FORTRAN, NULL, SOURCE_PROGRAM}},
    {"lf", {TOOL_FORTRAN, "f", SOURCE_PROGRAM}},   {"lf90", {TOOL_FORTRAN, "f90", SOURCE_PROGRAM}},
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
    *language = (struct language){.tool = TOOL_C};
    if (strcmp(name, "none") == 0)
        return false;
    if (strncmp(name, "c++", strlen("c++")) == 0)
        language->tool = TOOL_CXX;
    else if (strncmp(name, "f77", strlen("f77")) == 0 || strncmp(name, "f95", strlen("f95")) == 0)
        language->tool = TOOL_FORTRAN;
    if (strstr(name, "-header") != NULL)
        language->kind = SOURCE_HEADER;
    else if (strcmp(name, "assembler") == 0)
        language->kind = SOURCE_ASSEMBLER;
    return true;
}
