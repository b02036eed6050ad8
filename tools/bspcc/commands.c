/* Builds and runs the compiler's command lines.
 *
 * One compiler call does the whole work where that is possible, with the user's words in the
 * user's order, so that nothing a build system relies on (names of dependency files, of
 * intermediate files, of messages) differs from the plain compiler.  Only when the sources need
 * compilers of several languages, or are literate and from several directories, is each compiled on
 * its own before the link.
 */
#include "tools/bspcc/commands.h"

#include <stdlib.h>
#include <string.h>

#include "tools/bspcc/dependencies.h"
#include "tools/bspcc/dump_names.h"
#include "tools/bspcc/link_object.h"
#include "tools/bspcc/literate.h"
#include "tools/bspcc/plain_calls.h"
#include "tools/bspcc/process.h"

/* Which items a command gets. */
struct selection {
    bool compiles, links;
    bool all_sources;
    enum tool tool;             /* if not all: only the sources of this tool ... */
    const struct item *source;  /* ... and, when not NULL, only this one */
    struct arguments *compiled; /* when not NULL: replacements for the sources, in order */
};

static void add_document_directories(struct arguments *flags, const struct item *document)
{
    bool fortran = document->language.tool == TOOL_FORTRAN;

    arguments_add(flags, fortran ? "-I" : "-iquote");
    arguments_add(flags, document->directory);
    if (fortran)
        return;
    arguments_add(flags, "-iquote");
    arguments_add(flags, document->extracted_to);
}

static void replace_literate(struct request *request)
{
    for (size_t i = 0; i < request->item_count; i++) {
        struct item *item = &request->items[i];
        if (item->kind != ITEM_SOURCE || item->language.extracted_suffix == NULL)
            continue;
        const char *slash = strrchr(item->original, '/');
        const char *base = slash != NULL ? slash + 1 : item->original;
        int stem = (int)(strrchr(base, '.') - base);
        const char *directory =
            slash == NULL ? "."
                          : format_text("%.*s", (int)(slash - item->original), item->original);
        /* Sources of one name, and headers, can be in several directories. */
        const char *inside = temporary_subdirectory(format_text("%zu", i));
        item->text = format_text("%s/%.*s.%s", inside, stem, base, item->language.extracted_suffix);
        item->extracted_to = inside;
        bool fortran = item->language.tool == TOOL_FORTRAN;
        if (directory[0] == '\0')
            directory = "/";
        item->directory = directory;
        extract_program(item->original, item->text, fortran ? "#" : "#line");
        arguments_add(&request->flags[item->language.tool], fortran ? "-I" : "-iquote");
        arguments_add(&request->flags[item->language.tool], directory);
        if (fortran)
            continue;
        extract_headers(directory, inside);
        for (int tool = TOOL_C; tool <= TOOL_CXX; tool++) { /* sources of other directories */
            arguments_add(&request->flags[tool], "-iquote");
            arguments_add(&request->flags[tool], inside);
        }
    }
}

/* Whether each source must be compiled by itself: of headers of one name it has the one of its own
 * directory, and a directory is named for all sources of a call. */
static bool documents_lie_apart(const struct request *request)
{
    const char *first = NULL;

    for (size_t i = 0; i < request->item_count; i++) {
        const char *directory = request->items[i].directory;
        if (directory != NULL && first != NULL && strcmp(directory, first) != 0)
            return true;
        if (directory != NULL)
            first = directory;
    }
    return false;
}

/* Flags for sources of 1998: the last C in which `f()` takes any arguments, tentative definitions
 * in several files, and warnings instead of errors where old compilers only warned.  They precede
 * the user's own flags, so that those win. */
static void add_dialect(struct arguments *command, const struct request *request, enum tool tool)
{
    static const char *const old_c[] = {
        "-fcommon",
        "-Wno-error=implicit-function-declaration",
        "-Wno-error=implicit-int",
        "-Wno-error=int-conversion",
        "-Wno-error=incompatible-pointer-types",
    };

    if (tool == TOOL_C) {
        if (!request->c_standard)
            arguments_add(command, "-std=gnu17");
        for (size_t i = 0; i < sizeof(old_c) / sizeof(old_c[0]); i++)
            arguments_add(command, old_c[i]);
    } else if (tool == TOOL_FORTRAN && !request->c_standard) {
        /* BSPlib calls take arrays of every type, which is an error in later standards. */
        arguments_add(command, "-std=legacy");
    }
    arguments_add(command, "-D_BSPFRONT_");
    arguments_add(command, "-DLINUX");
    arguments_add(command, "-DSHMEM_SYSV");
}

/* Keeps a prototype of bsp_begin in a source from being expanded as a macro. */
static void add_plain_calls(struct arguments *command, const struct request *request)
{
    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];

        if (item->kind != ITEM_SOURCE || item->language.tool == TOOL_FORTRAN ||
            !declares_begin_or_end(item->original))
            continue;
        arguments_add(command, "-DBSP_PLAIN_BEGIN_END");
        return;
    }
}

static void add_include_path(struct arguments *command, const struct layout *layout, enum tool tool)
{
    if (layout->include_is_standard && tool != TOOL_FORTRAN)
        return;
    arguments_add(command, tool == TOOL_FORTRAN ? "-I" : "-isystem");
    arguments_add(command, layout->includedir);
}

/* Whether directories that -I names before a -I- are only for #include "...". */
static bool has_divided_path(const struct request *request, enum tool tool)
{
    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];

        if (item->kind != ITEM_SOURCE && (strcmp(item->text, "-I-") == 0 ||
                                          (strcmp(item->text, "-I") == 0 && item->value != NULL &&
                                           strcmp(item->value, "-") == 0)))
            return true;
    }
    for (size_t i = 0; i < request->flags[tool].count; i++)
        if (strcmp(request->flags[tool].items[i], "-I-") == 0)
            return true;
    return false;
}

/* Comes first, and by -I: what the environment and the user's words name may hold the mpi.h of
 * another MPI.  The header itself says that it is the system's. */
static void add_mpi_path(struct arguments *command, const struct request *request,
                         const struct layout *layout, enum tool tool)
{
    arguments_add(command, has_divided_path(request, tool) ? "-isystem" : "-I");
    arguments_add(command, format_text("%s/bspmpi", layout->includedir));
}

static bool is_selected(const struct item *item, const struct selection *selection)
{
    switch (item->kind) {
    case ITEM_OPTION:
        return true;
    case ITEM_COMPILE_OPTION:
        return selection->compiles;
    case ITEM_LINK_OPTION:
        return selection->links || selection->all_sources;
    case ITEM_OBJECT:
        return selection->links || selection->all_sources;
    case ITEM_LANGUAGE:
        return selection->compiles;
    case ITEM_SOURCE:
        break;
    }
    if (selection->all_sources || selection->compiled != NULL)
        return true;
    return item->language.tool == selection->tool &&
           (selection->source == NULL || item == selection->source);
}

/* The user's words; true when a -x is in effect at their end. */
static bool add_items(struct arguments *command, const struct request *request,
                      const struct selection *selection)
{
    const struct item *language = NULL; /* added just before the first source that it applies to */
    bool language_forced = false;
    size_t compiled = 0;

    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (!is_selected(item, selection))
            continue;
        if (item->kind == ITEM_LANGUAGE) {
            language = item;
            continue;
        }
        if (language != NULL && (item->kind == ITEM_SOURCE || item->kind == ITEM_OBJECT)) {
            arguments_add(command, language->text);
            arguments_add(command, language->value);
            language_forced = strcmp(language->value, "none") != 0;
            language = NULL;
        }
        if (item->kind == ITEM_SOURCE && selection->compiled != NULL) {
            arguments_add(command, selection->compiled->items[compiled++]);
            continue;
        }
        arguments_add(command, item->text);
        if (item->value != NULL)
            arguments_add(command, item->value);
    }
    return language_forced;
}

/* Compiles the generated file separately: it is C, whatever the language of the program. */
static const char *make_link_object(const struct request *request, const struct layout *layout,
                                    enum libgfortran libgfortran)
{
    const char *source = temporary_path("bspcc-link-options.c");
    const char *object = temporary_path("bspcc-link-options.o");
    struct arguments command = {0};

    write_link_options(&request->baked, libgfortran, format_text("%s/bspnode", layout->bindir),
                       source);
    arguments_begin(&command, &request->compiler[TOOL_C]);
    const char *const words[] = {"-w", "-fPIC", "-fno-lto", "-x", "c", "-c", source, "-o", object};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        arguments_add(&command, words[i]);
    int status = run(&command, request->debug);
    if (status != 0)
        fail("the compiler refused the link-time options");
    return object;
}

/* An option in one word or two. */
static bool names_libgfortran(const char *word, const char *next)
{
    return strcmp(word, "-lgfortran") == 0 ||
           (strcmp(word, "-l") == 0 && next != NULL && strcmp(next, "gfortran") == 0);
}

/* Other compilers of Fortran have libraries of their own, and another linker may find libgfortran
 * before the object that needs it. */
static enum libgfortran libgfortran_of(const struct request *request, bool fortran)
{
    const struct arguments *compiler = &request->compiler[TOOL_FORTRAN];

    for (size_t i = 0; fortran && request->linker.count == 0 && i < compiler->count; i++)
        if (strstr(compiler->items[i], "gfortran") != NULL)
            return LIBGFORTRAN_SURELY;
    for (size_t i = 0; i < request->item_count && !fortran; i++)
        fortran = names_libgfortran(request->items[i].text, request->items[i].value);
    for (size_t i = 0; i < request->link_flags.count && !fortran; i++)
        fortran = names_libgfortran(request->link_flags.items[i], request->link_flags.items[i + 1]);
    return fortran ? LIBGFORTRAN_MAYBE : LIBGFORTRAN_NONE;
}

static void add_wraps(struct arguments *command, const char *const *names)
{
    for (; *names; names++)
        arguments_add(command, format_text("-Wl,--wrap=%s", *names));
}

static void add_libraries(struct arguments *command, const struct request *request,
                          const struct layout *layout, enum libgfortran libgfortran,
                          bool lacks_libgfortran)
{
    arguments_add_all(command, &request->link_flags);
    if (!request->no_libbsp) {
        arguments_add(command, make_link_object(request, layout, libgfortran));
        add_wraps(command, wrapped_exits);
        if (libgfortran != LIBGFORTRAN_NONE)
            add_wraps(command, wrapped_statements);
    }
    if (!request->no_libbsp && !request->shared_libbsp) {
        arguments_add(command, "-Wl,-z,now");
        if (request->mpi)
            arguments_add(command, format_text("%s/libbspmpi.a", layout->libdir));
        arguments_add(command, format_text("%s/libbsp.a", layout->libdir));
    }
    if (request->shared_libbsp) {
        arguments_add(command, "-Wl,-z,now");
        arguments_add(command, format_text("-Wl,-rpath,%s", layout->libdir));
        arguments_add(command, format_text("%s/libbsp.so", layout->libdir));
    }
    if (lacks_libgfortran) {
        arguments_add(command, "-lgfortran");
        arguments_add(command, "-lm");
    }
}

static void add_output(struct arguments *command, const char *output)
{
    if (output == NULL)
        return;
    arguments_add(command, "-o");
    arguments_add(command, output);
}

/* Some compilers warn of options for languages when they only assemble. */
static bool only_assembles(const struct request *request, const struct selection *selection)
{
    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (item->kind == ITEM_SOURCE && item->language.kind != SOURCE_ASSEMBLER &&
            is_selected(item, selection))
            return false;
    }
    return true;
}

static void start_compile(struct arguments *command, const struct request *request,
                          const struct layout *layout, enum tool tool,
                          const struct selection *selection)
{
    arguments_begin(command, &request->compiler[tool]);
    if (only_assembles(request, selection)) {
        arguments_add_all(command, &request->flags[tool]);
        return;
    }
    add_dialect(command, request, tool);
    if (tool != TOOL_FORTRAN)
        add_plain_calls(command, request);
    if (request->mpi)
        add_mpi_path(command, request, layout, tool);
    if (selection->source != NULL && selection->source->directory != NULL)
        add_document_directories(command, selection->source);
    arguments_add_all(command, &request->flags[tool]);
    add_include_path(command, layout, tool);
}

static bool is_standard_output(const char *file)
{
    return strcmp(file, "-") == 0 || strcmp(file, "/dev/stdout") == 0;
}

static bool shows_dependencies(const struct request *request)
{
    if (request->dependency_file != NULL)
        return is_standard_output(request->dependency_file);
    return request->only_dependencies &&
           (request->output == NULL || is_standard_output(request->output));
}

/* Dependencies on the standard output name what was extracted, too. */
static int run_for_user(const struct request *request, struct arguments *command)
{
    bool show = request->verbose || request->debug;
    const char *unused;

    if (!shows_dependencies(request) || !extracted(0, &unused, &unused))
        return run(command, show);
    const char *list = temporary_path("dependencies");
    int status = run_into(command, show, list);
    show_dependencies(list);
    return status;
}

static int compile_selected(const struct request *request, const struct layout *layout,
                            const struct selection *selection)
{
    struct arguments command = {0};

    start_compile(&command, request, layout, selection->tool, selection);
    add_items(&command, request, selection);
    add_output(&command, request->output);
    return run_for_user(request, &command);
}

/* The sources of one tool, each in a call of its own. */
static int compile_apart(const struct request *request, const struct layout *layout, enum tool tool)
{
    int status = 0;

    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (item->kind != ITEM_SOURCE || item->language.tool != tool)
            continue;
        struct selection selection = {.compiles = true, .tool = tool, .source = item};
        int one = compile_selected(request, layout, &selection);
        if (one > status)
            status = one;
    }
    return status;
}

/* -c, -S, -E, ...: one call for each compiler needed. */
static int compile_only(struct request *request, const struct layout *layout,
                        const bool needs[TOOL_COUNT], int tools)
{
    /* -M -o takes several sources only in one call. */
    bool apart = documents_lie_apart(request) && request->output == NULL;
    int status = 0;

    if (tools > 1 && request->output != NULL)
        fail("cannot specify -o with -c, -S or -E and sources in several languages");
    for (int tool = 0; tool < TOOL_COUNT; tool++) {
        if (!needs[tool])
            continue;
        struct selection selection = {.compiles = true, .all_sources = tools == 1, .tool = tool};
        int one = apart ? compile_apart(request, layout, tool)
                        : compile_selected(request, layout, &selection);
        if (one > status)
            status = one;
    }
    return status;
}

/* The names of a source's dependency file and target as one call for everything would choose
 * them. */
static void add_dependency_names(struct arguments *command, const struct request *request,
                                 const struct item *source)
{
    const char *slash = strrchr(source->original, '/');
    const char *base = slash != NULL ? slash + 1 : source->original;
    const char *dot = strrchr(base, '.');
    int stem = dot != NULL ? (int)(dot - base) : (int)strlen(base);

    if (!request->write_dependencies)
        return;
    if (request->dependency_file == NULL) {
        arguments_add(command, "-MF");
        arguments_add(command, format_text("%.*s.d", stem, base));
    }
    if (!request->dependency_target) {
        arguments_add(command, "-MQ");
        arguments_add(command, format_text("%.*s.o", stem, base));
    }
}

/* Where a source's object goes, which is temporary, and what names the files beside it. */
static const char *place_object(struct arguments *command, const struct request *request,
                                const struct item *source, bool takes_names)
{
    const char *object = NULL;

    if (writes_beside(request, source->language.tool) && !request->own_dump_names) {
        if (takes_names)
            add_dump_names(command, request, source);
        else
            object = object_beside(request, source);
    }
    return object != NULL
               ? object
               : temporary_path(format_text("source%zu.o", (size_t)(source - request->items)));
}

/* Compiles every source to a temporary object. */
static int compile_each(const struct request *request, const struct layout *layout,
                        const bool needs[TOOL_COUNT], struct arguments *compiled)
{
    bool names[TOOL_COUNT];

    for (int tool = 0; tool < TOOL_COUNT; tool++)
        names[tool] = needs[tool] && !request->own_dump_names && writes_beside(request, tool) &&
                      takes_dump_names(&request->compiler[tool]);
    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (item->kind != ITEM_SOURCE)
            continue;
        struct arguments command = {0};
        struct selection selection = {
            .compiles = true, .tool = item->language.tool, .source = item};
        start_compile(&command, request, layout, item->language.tool, &selection);
        add_items(&command, request, &selection);
        add_dependency_names(&command, request, item);
        const char *object = place_object(&command, request, item, names[item->language.tool]);
        arguments_add(&command, "-c");
        add_output(&command, object);
        arguments_add(compiled, object);
        int status = run_for_user(request, &command);
        if (status != 0)
            return status;
    }
    return 0;
}

static int link_program(struct request *request, const struct layout *layout,
                        const bool needs[TOOL_COUNT], int tools)
{
    bool cxx = needs[TOOL_CXX] || request->force_cxx || request->default_tool == TOOL_CXX;
    bool fortran =
        needs[TOOL_FORTRAN] || request->force_fortran || request->default_tool == TOOL_FORTRAN;
    enum tool tool = cxx ? TOOL_CXX : fortran ? TOOL_FORTRAN : TOOL_C;
    bool at_once = (tools == 0 || (tools == 1 && needs[tool])) && request->linker.count == 0 &&
                   !documents_lie_apart(request);
    struct selection selection = {.compiles = at_once, .links = true, .all_sources = at_once};
    struct arguments compiled = {0}, command = {0};

    if (at_once && tools == 1) {
        start_compile(&command, request, layout, tool, &selection);
    } else if (!at_once) {
        int status = compile_each(request, layout, needs, &compiled);
        if (status != 0)
            return status;
        selection.compiled = &compiled;
    }
    if (command.count == 0)
        arguments_begin(&command,
                        request->linker.count > 0 ? &request->linker : &request->compiler[tool]);
    if (add_items(&command, request, &selection)) {
        arguments_add(&command, "-x");
        arguments_add(&command, "none");
    }
    add_libraries(&command, request, layout, libgfortran_of(request, fortran), cxx && fortran);
    add_output(&command, request->output);
    return run_for_user(request, &command);
}

int carry_out(struct request *request, const struct layout *layout)
{
    bool needs[TOOL_COUNT] = {false};
    bool any_input = false, literate = false;
    int tools = 0;

    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        any_input = any_input || is_input(item);
        if (item->kind != ITEM_SOURCE)
            continue;
        literate = literate || item->language.extracted_suffix != NULL;
        if (!needs[item->language.tool])
            tools++;
        needs[item->language.tool] = true;
    }

    struct arguments command = {0};
    struct selection everything = {.compiles = true, .links = true, .all_sources = true};
    if (!any_input || (request->compile_only && tools == 0)) {
        /* --version, -print-..., -v and mistakes: left to the compiler */
        arguments_begin(&command, &request->compiler[request->default_tool]);
        add_items(&command, request, &everything);
        add_output(&command, request->output);
        become(&command, request->verbose || request->debug);
    }
    if (request->compile_only && tools == 1 && !literate) {
        enum tool tool = needs[TOOL_C] ? TOOL_C : needs[TOOL_CXX] ? TOOL_CXX : TOOL_FORTRAN;
        start_compile(&command, request, layout, tool, &everything);
        add_items(&command, request, &everything);
        add_output(&command, request->output);
        become(&command, request->verbose || request->debug);
    }

    replace_literate(request);
    int status = request->compile_only ? compile_only(request, layout, needs, tools)
                                       : link_program(request, layout, needs, tools);
    if (literate)
        mend_dependencies(request);
    remove_temporary_directory();
    return status;
}
