/* The parsed command line of bspcc.
 *
 * The words for the compiler keep their order in `items`; options of bspcc's own are taken out.
 */
#ifndef BSPZ_BSPCC_REQUEST_H
#define BSPZ_BSPCC_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/bspcc/arguments.h"
#include "tools/bspcc/language.h"

enum item_kind {
    ITEM_OPTION,         /* for compiling and for linking */
    ITEM_COMPILE_OPTION, /* -D, -I, -MD, ...: no effect on a link */
    ITEM_LINK_OPTION,    /* -l, -L, -Wl, ...: no effect on a compilation */
    ITEM_LANGUAGE,       /* -x LANGUAGE: applies to the sources after it */
    ITEM_SOURCE,
    ITEM_OBJECT, /* object, archive, library, linker script: for the linker */
};

struct item {
    enum item_kind kind;
    const char *text;
    const char *value;        /* the option's second word, or NULL */
    const char *original;     /* ITEM_SOURCE: the name the user gave */
    struct language language; /* ITEM_SOURCE */
    const char *directory;    /* literate ITEM_SOURCE: of the document ... */
    const char *extracted_to; /* ... and of its program, both once it is extracted */
};

/* Options that are fixed at link time and stored in the program (lib/rt/link_options.h). */
struct baked {
    int library_level;
    int checkpoint_seconds;
    int migration_seconds;
    bool check_syncs;
    bool prof;
    bool stat;
    bool cgprof;
    bool oxford;
    bool warn;
    const char *device; /* full name */
};

struct request {
    struct item *items;
    size_t item_count;

    enum tool default_tool;      /* from the name of the driver */
    const char *output;          /* -o */
    bool compile_only;           /* -c, -S, -E, -M, ... */
    bool no_libbsp;              /* -shared, -r, -nostdlib, -nodefaultlibs */
    bool shared_libbsp;          /* -fshared-libbsp */
    bool mpi;                    /* called bspmpicc: the MPI subset */
    bool force_cxx;              /* -c++ */
    bool force_fortran;          /* -f77 */
    bool verbose;                /* -v */
    bool debug;                  /* -debug */
    bool help, manual, log;      /* -help, -man, -showlog */
    bool c_standard;             /* the user chose -std= or -ansi */
    bool save_temps_here;        /* -save-temps=cwd */
    bool own_dump_names;         /* -dumpdir, -dumpbase */
    bool write_dependencies;     /* -MD, -MMD */
    bool only_dependencies;      /* -M, -MM */
    bool dependency_target;      /* -MT, -MQ */
    const char *dependency_file; /* -MF, or of -Wp,-MD */

    struct baked baked;
    struct arguments compiler[TOOL_COUNT]; /* command words, e.g. {"gcc"} */
    struct arguments flags[TOOL_COUNT];    /* -cflags, -c++flags, -f77flags */
    struct arguments linker;               /* -overrideld; empty: the compiler links */
    struct arguments link_flags;           /* -ldflags */
};

/* Whether the compiler counts this as an input file: a library is one, too, and what the linker is
 * told. */
bool is_input(const struct item *item);

/* `called` is argv[0]'s last component; `words` the expanded arguments after it. */
void request_parse(struct request *request, const char *called, const struct arguments *words);

#endif
