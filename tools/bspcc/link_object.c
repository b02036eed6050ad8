/* Writes the C file whose object carries link-time options into a program.
 *
 * The file must compile without any header of ours, so it declares the structure itself.  The
 * declaration exists once, below: it is printed, and it is compared with lib/rt/link_options.h
 * when bspcc is compiled.
 */
#include "tools/bspcc/link_object.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/note.h"
#include "lib/rt/link_options.h"

#define DECLARATION(name)                                                                          \
    struct name {                                                                                  \
        unsigned version;                                                                          \
        int library_level;                                                                         \
        int checkpoint_seconds;                                                                    \
        int migration_seconds;                                                                     \
        unsigned char check_syncs;                                                                 \
        unsigned char prof;                                                                        \
        unsigned char stat;                                                                        \
        unsigned char cgprof;                                                                      \
        unsigned char oxford;                                                                      \
        unsigned char warn;                                                                        \
        const char *device;                                                                        \
        const char *bspnode_path;                                                                  \
    }
#define TEXT_OF(...)          #__VA_ARGS__
#define EXPANDED_TEXT_OF(...) TEXT_OF(__VA_ARGS__)

DECLARATION(generated);
#define SAME_PLACE(field)                                                                          \
    _Static_assert(offsetof(struct generated, field) ==                                            \
                           offsetof(struct bspz_link_options, field) &&                            \
                       sizeof(((struct generated *)0)->field) ==                                   \
                           sizeof(((struct bspz_link_options *)0)->field),                         \
                   "the generated file and lib/rt/link_options.h disagree")
SAME_PLACE(version);
SAME_PLACE(library_level);
SAME_PLACE(checkpoint_seconds);
SAME_PLACE(migration_seconds);
SAME_PLACE(check_syncs);
SAME_PLACE(prof);
SAME_PLACE(stat);
SAME_PLACE(cgprof);
SAME_PLACE(oxford);
SAME_PLACE(warn);
SAME_PLACE(device);
SAME_PLACE(bspnode_path);
_Static_assert(sizeof(struct generated) == sizeof(struct bspz_link_options),
               "the generated file and lib/rt/link_options.h disagree");

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++)
        fprintf(file, "\\%03o", (unsigned)(unsigned char)*text);
    fputc('"', file);
}

/* What bsprun reads before it starts the program. */
static void write_note(FILE *file, int seconds)
{
    fprintf(file,
            "static const struct {\n"
            "    unsigned name_size, size, type;\n"
            "    char name[%zu];\n"
            "    unsigned seconds;\n"
            "} bspz_note __attribute__((used, section(\".note." BSPZ_NOTE_NAME
            "\"), aligned(4))) = {%zu, 4, %d, \"" BSPZ_NOTE_NAME "\", %d};\n",
            sizeof BSPZ_NOTE_NAME, sizeof BSPZ_NOTE_NAME, BSPZ_NOTE_CHECKPOINT, seconds);
}

/* Functions that end a program without running exit handlers: a bare job that process 0 leaves by
 * one of them must not end with status 0 (lib/rt/leave.c).  Weak, since a program may wrap them
 * itself. */
const char *const wrapped_exits[] = {"_exit", "_Exit", "quick_exit", NULL};

static void write_exits(FILE *file)
{
    fprintf(file, "int (*bspz_exit_status)(int);\n");
    for (const char *const *name = wrapped_exits; *name; name++)
        fprintf(file,
                "void __real_%s(int) __attribute__((noreturn));\n"
                "__attribute__((weak, noreturn)) void __wrap_%s(int status)\n"
                "{\n"
                "    __real_%s(bspz_exit_status ? bspz_exit_status(status) : status);\n"
                "}\n",
                *name, *name, *name);
}

/* Runs after the constructors of the program's files, also with the shared library, whose own come
 * first (lib/rt/attach.c). */
static void write_constructor(FILE *file)
{
    fprintf(file, "void (*bspz_constructed)(void);\n"
                  "static void __attribute__((constructor)) bspz_constructor(void)\n"
                  "{\n"
                  "    if (bspz_constructed)\n"
                  "        bspz_constructed();\n"
                  "}\n");
}

/* What begins and ends a statement of input or output in Fortran.  Meanwhile libgfortran holds a
 * lock of the unit, so that a function called in the statement cannot flush it (lib/rt/stdio.c). */
const char *const wrapped_statements[] = {"_gfortran_st_write", "_gfortran_st_write_done",
                                          "_gfortran_st_read", "_gfortran_st_read_done", NULL};

static void write_statements(FILE *file, bool surely)
{
    /* A weak reference takes nothing from a static library; only a program that does not need it
     * otherwise would miss that. */
    const char *reference = surely ? "" : "__attribute__((weak)) ";

    fprintf(file, "static __thread int bspz_statements;\n"
                  "int bspz_in_fortran_statement(void)\n"
                  "{\n"
                  "    return bspz_statements;\n"
                  "}\n");
    for (const char *const *name = wrapped_statements; *name; name++) {
        bool ends = strstr(*name, "_done") != NULL;

        fprintf(file,
                "%svoid __real_%s(void *);\n"
                "__attribute__((weak)) void __wrap_%s(void *statement)\n"
                "{\n"
                "%s"
                "    __real_%s(statement);\n"
                "%s"
                "}\n",
                reference, *name, *name, ends ? "" : "    bspz_statements++;\n", *name,
                ends ? "    bspz_statements--;\n" : "");
    }
}

void write_link_options(const struct baked *baked, enum libgfortran libgfortran,
                        const char *bspnode_path, const char *path)
{
    FILE *file = fopen(path, "we");

    if (file == NULL)
        fail("cannot write %s: %s", path, strerror(errno));
    fprintf(file, "%s;\n", EXPANDED_TEXT_OF(DECLARATION(bspz_link_options)));
    fprintf(file, "extern const struct bspz_link_options bspz_link_options;\n");
    fprintf(file,
            "const struct bspz_link_options bspz_link_options = {\n"
            "    %uu, %d, %d, %d, %d, %d, %d, %d, %d, %d,\n    ",
            BSPZ_LINK_OPTIONS_VERSION, baked->library_level, baked->checkpoint_seconds,
            baked->migration_seconds, baked->check_syncs, baked->prof, baked->stat, baked->cgprof,
            baked->oxford, baked->warn);
    write_string(file, baked->device);
    fprintf(file, ", ");
    write_string(file, bspnode_path);
    fprintf(file, "};\n");
    write_exits(file);
    write_constructor(file);
    if (libgfortran != LIBGFORTRAN_NONE)
        write_statements(file, libgfortran == LIBGFORTRAN_SURELY);
    if (baked->checkpoint_seconds > 0)
        write_note(file, baked->checkpoint_seconds);
    if (fclose(file) != 0)
        fail("cannot write %s: %s", path, strerror(errno));
}
