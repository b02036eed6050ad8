/* Reads the command line of bspcc.
 *
 * Two tables: the toolset's own options, which the compiler never sees, and the compiler's options
 * that take the next word (so that this word is not mistaken for a source).  Everything else that
 * starts with a dash goes through unchanged.
 */
#include "tools/bspcc/request.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices.h"

enum own {
    OWN_IGNORED, /* a tuning option of the old library without a meaning here */
    OWN_KEEP,
    OWN_VERBOSE,
    OWN_TRUE, /* or the contrary: sets a member of the request */
    OWN_FALSE,
    OWN_NO_CHECKPOINTING,
    OWN_NO_MIGRATION,
    OWN_DEVICE_SWITCH, /* a device by its short name */
    /* with a value */
    OWN_IGNORED_VALUE,
    OWN_DEVICE,
    OWN_LEVEL,
    OWN_COMPAT,
    OWN_CHECKPOINTING,
    OWN_MIGRATION,
    OWN_FLAGS,    /* + enum tool */
    OWN_COMPILER, /* + enum tool */
    OWN_LINK_FLAGS,
    OWN_LINKER,
};

#define FLAG(member) offsetof(struct request, member)

static const struct own_option {
    const char *name;
    enum own what;
    enum tool tool;
    size_t flag; /* the place of that member */
} own_options[] = {
    {"-v", OWN_VERBOSE, 0},
    {"-keep", OWN_KEEP, 0},
    {"-debug", OWN_TRUE, 0, FLAG(debug)},
    {"-help", OWN_TRUE, 0, FLAG(help)},
    {"--help", OWN_TRUE, 0, FLAG(help)},
    {"-man", OWN_TRUE, 0, FLAG(manual)},
    {"-showlog", OWN_TRUE, 0, FLAG(log)},
    {"-c++", OWN_TRUE, 0, FLAG(force_cxx)},
    {"-f77", OWN_TRUE, 0, FLAG(force_fortran)},
    {"-prof", OWN_TRUE, 0, FLAG(baked.prof)},
    {"-stat", OWN_TRUE, 0, FLAG(baked.stat)},
    {"-cgprof", OWN_TRUE, 0, FLAG(baked.cgprof)},
    {"-fcheck-syncs", OWN_TRUE, 0, FLAG(baked.check_syncs)},
    {"-fnocheck-syncs", OWN_FALSE, 0, FLAG(baked.check_syncs)},
    {"-fno-check-syncs", OWN_FALSE, 0, FLAG(baked.check_syncs)},
    {"-fwarn-bsp", OWN_TRUE, 0, FLAG(baked.warn)},
    {"-fnowarn-bsp", OWN_FALSE, 0, FLAG(baked.warn)},
    {"-fno-warn-bsp", OWN_FALSE, 0, FLAG(baked.warn)},
    {"-fshared-libbsp", OWN_TRUE, 0, FLAG(shared_libbsp)},
    {"-fstatic-libbsp", OWN_FALSE, 0, FLAG(shared_libbsp)},
    {"-fnocheckpointing", OWN_NO_CHECKPOINTING, 0},
    {"-fno-checkpointing", OWN_NO_CHECKPOINTING, 0},
    {"-fnoprocessmigration", OWN_NO_MIGRATION, 0},
    {"-fnoprocess-migration", OWN_NO_MIGRATION, 0},
    {"-fno-process-migration", OWN_NO_MIGRATION, 0},
    {"-nof77munging", OWN_IGNORED, 0},
    {"-fcombine-puts", OWN_IGNORED, 0},
    {"-fnocombine-puts", OWN_IGNORED, 0},
    {"-fno-combine-puts", OWN_IGNORED, 0},
    {"-fthrottle-procs", OWN_IGNORED, 0},
    {"-fnothrottle-procs", OWN_IGNORED, 0},
    {"-fno-throttle-procs", OWN_IGNORED, 0},
    {"-finfinite-bsmp-buffers", OWN_IGNORED, 0},
    {"-mpi", OWN_DEVICE_SWITCH, 0},
    {"-tcpip", OWN_DEVICE_SWITCH, 0},
    {"-udpip", OWN_DEVICE_SWITCH, 0},
    {"-shmemsysv", OWN_DEVICE_SWITCH, 0},
    {"-shmemwin32", OWN_DEVICE_SWITCH, 0},
    {"-device", OWN_DEVICE, 0},
    {"-fcombine-puts-buffer", OWN_IGNORED_VALUE, 0},
    {"-fcontention-resolve", OWN_IGNORED_VALUE, 0},
    {"-ffixed-bsmp-buffers", OWN_IGNORED_VALUE, 0},
    {"-bspbuffer", OWN_IGNORED_VALUE, 0},
    {"-bspfifo", OWN_IGNORED_VALUE, 0},
    {"-bspnobuffers", OWN_IGNORED_VALUE, 0},
    {"-bspbufferstalls", OWN_IGNORED_VALUE, 0},
    {"-bspslotsize", OWN_IGNORED_VALUE, 0},
    {"-bspnoslots", OWN_IGNORED_VALUE, 0},
    {"-bsproundtrip", OWN_IGNORED_VALUE, 0},
    {"-bspsendlatency", OWN_IGNORED_VALUE, 0},
    {"-flibrary-level", OWN_LEVEL, 0},
    {"-fcompat", OWN_COMPAT, 0},
    {"-fcheckpointing", OWN_CHECKPOINTING, 0},
    {"-fprocessmigration", OWN_MIGRATION, 0},
    {"-fprocess-migration", OWN_MIGRATION, 0},
    {"-cflags", OWN_FLAGS, TOOL_C},
    {"-c++flags", OWN_FLAGS, TOOL_CXX},
    {"-f77flags", OWN_FLAGS, TOOL_FORTRAN},
    {"-ldflags", OWN_LINK_FLAGS, 0},
    {"-overridecc", OWN_COMPILER, TOOL_C},
    {"-overridec++", OWN_COMPILER, TOOL_CXX},
    {"-overridef77", OWN_COMPILER, TOOL_FORTRAN},
    {"-overrideld", OWN_LINKER, 0},
};

/* Options of the compilers whose value is the next word. */
static const struct {
    const char *name;
    enum item_kind kind;
} two_word_options[] = {
    {"-D", ITEM_COMPILE_OPTION},
    {"-U", ITEM_COMPILE_OPTION},
    {"-I", ITEM_COMPILE_OPTION},
    {"-A", ITEM_COMPILE_OPTION},
    {"-J", ITEM_COMPILE_OPTION},
    {"-include", ITEM_COMPILE_OPTION},
    {"-imacros", ITEM_COMPILE_OPTION},
    {"-isystem", ITEM_COMPILE_OPTION},
    {"-iquote", ITEM_COMPILE_OPTION},
    {"-idirafter", ITEM_COMPILE_OPTION},
    {"-iprefix", ITEM_COMPILE_OPTION},
    {"-iwithprefix", ITEM_COMPILE_OPTION},
    {"-iwithprefixbefore", ITEM_COMPILE_OPTION},
    {"-imultilib", ITEM_COMPILE_OPTION},
    {"-isysroot", ITEM_OPTION},
    {"-MT", ITEM_COMPILE_OPTION},
    {"-MQ", ITEM_COMPILE_OPTION},
    {"-MF", ITEM_COMPILE_OPTION},
    {"-MJ", ITEM_COMPILE_OPTION},
    {"-Xpreprocessor", ITEM_COMPILE_OPTION},
    {"-Xassembler", ITEM_COMPILE_OPTION},
    {"-Xclang", ITEM_COMPILE_OPTION},
    {"-aux-info", ITEM_COMPILE_OPTION},
    {"-dumpbase", ITEM_COMPILE_OPTION},
    {"-dumpbase-ext", ITEM_COMPILE_OPTION},
    {"-dumpdir", ITEM_COMPILE_OPTION},
    {"-mllvm", ITEM_OPTION},
    {"-target", ITEM_OPTION},
    {"--sysroot", ITEM_OPTION},
    {"--param", ITEM_OPTION},
    {"-wrapper", ITEM_OPTION},
    {"-B", ITEM_OPTION},
    {"-G", ITEM_OPTION},
    {"-l", ITEM_LINK_OPTION},
    {"-L", ITEM_LINK_OPTION},
    {"-T", ITEM_LINK_OPTION},
    {"-u", ITEM_LINK_OPTION},
    {"-z", ITEM_LINK_OPTION},
    {"-e", ITEM_LINK_OPTION},
    {"-Xlinker", ITEM_LINK_OPTION},
};

/* Prefixes of one-word options that concern only one of the two steps. */
static const struct {
    const char *start;
    enum item_kind kind;
} one_word_options[] = {
    {"-D", ITEM_COMPILE_OPTION},     {"-U", ITEM_COMPILE_OPTION},
    {"-I", ITEM_COMPILE_OPTION},     {"-M", ITEM_COMPILE_OPTION},
    {"-Wp,", ITEM_COMPILE_OPTION},   {"-Wa,", ITEM_COMPILE_OPTION},
    {"-Wl,", ITEM_LINK_OPTION},      {"-l", ITEM_LINK_OPTION},
    {"-L", ITEM_LINK_OPTION},        {"-static-lib", ITEM_LINK_OPTION},
    {"-rdynamic", ITEM_LINK_OPTION},
};

/* The same for options that must match completely. */
static const char *const link_words[] = {"-static", "-static-pie",  "-shared", "--shared",
                                         "-s",      "-r",           "-pie",    "-no-pie",
                                         "-nopie",  "-nostartfiles"};

static const char *const compile_only_words[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"};

static const char *const no_libbsp_words[] = {"-shared", "--shared",    "-r",
                                              "-Wl,-r",  "-Wl,-shared", "-Wl,--shared",
                                              "-nolibc", "-nostdlib",   "-nodefaultlibs"};

#define LENGTH(table) (sizeof(table) / sizeof((table)[0]))

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static void add_item(struct request *request, struct item item)
{
    /* request_parse made room for an item per word. */
    request->items[request->item_count++] = item;
}

static int whole_number(const char *option, const char *text, int minimum, int maximum)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < minimum || value > maximum)
        fail("%s: '%s' is not a whole number from %d to %d", option, text, minimum, maximum);
    return (int)value;
}

static void replace_command(struct arguments *command, const char *option, const char *text)
{
    *command = (struct arguments){0};
    arguments_split(command, text);
    if (command->count == 0)
        fail("%s: no program given", option);
}

static const char *device_name(const char *source, const char *name)
{
    const char *device = bspz_device_name(name);

    if (device == NULL)
        fail("%s: '%s' is not a device of BSPlib: try " BSPZ_DEVICE, source, name);
    return device;
}

static void apply_value(struct request *request, const struct own_option *option, const char *value)
{
    struct baked *baked = &request->baked;

    switch (option->what) {
    case OWN_DEVICE:
        baked->device = device_name(option->name, value);
        break;
    case OWN_LEVEL:
        baked->library_level = whole_number(option->name, value, 0, 2);
        break;
    case OWN_COMPAT:
        if (strcmp(value, "oxford") != 0 && strcmp(value, "none") != 0)
            fail("%s: '%s' is neither oxford nor none", option->name, value);
        baked->oxford = strcmp(value, "oxford") == 0;
        break;
    case OWN_CHECKPOINTING:
        baked->checkpoint_seconds = whole_number(option->name, value, 1, INT_MAX);
        break;
    case OWN_MIGRATION:
        baked->migration_seconds = whole_number(option->name, value, 1, INT_MAX);
        break;
    case OWN_FLAGS:
        arguments_split(&request->flags[option->tool], value);
        break;
    case OWN_LINK_FLAGS:
        arguments_split(&request->link_flags, value);
        break;
    case OWN_COMPILER:
        replace_command(&request->compiler[option->tool], option->name, value);
        break;
    case OWN_LINKER:
        replace_command(&request->linker, option->name, value);
        break;
    default:
        break;
    }
}

static void apply_switch(struct request *request, const struct own_option *option)
{
    enum own what = option->what;
    struct baked *baked = &request->baked;

    switch (what) {
    case OWN_KEEP:
        request->save_temps_here = false;
        add_item(request, (struct item){.kind = ITEM_COMPILE_OPTION, .text = "-save-temps=obj"});
        break;
    case OWN_VERBOSE:
        request->verbose = true;
        add_item(request, (struct item){.kind = ITEM_OPTION, .text = "-v"});
        break;
    case OWN_TRUE:
    case OWN_FALSE:
        *(bool *)((char *)request + option->flag) = what == OWN_TRUE;
        break;
    case OWN_NO_CHECKPOINTING:
        baked->checkpoint_seconds = 0;
        break;
    case OWN_NO_MIGRATION:
        baked->migration_seconds = 0;
        break;
    case OWN_DEVICE_SWITCH:
        baked->device = device_name(option->name, option->name + 1);
        break;
    default:
        break;
    }
}

/* True when the word is one of the toolset's; *used is the number of words it took.  A value may
 * also be joined by an equals sign. */
static bool parse_own(struct request *request, char *const *words, size_t count, size_t *used)
{
    *used = 0;
    for (size_t i = 0; i < LENGTH(own_options); i++) {
        const struct own_option *option = &own_options[i];
        bool takes_value = option->what >= OWN_IGNORED_VALUE;
        size_t length = strlen(option->name);

        if (strncmp(words[0], option->name, length) != 0)
            continue;
        *used = 1;
        if (words[0][length] == '=' && takes_value) {
            apply_value(request, option, words[0] + length + 1);
            return true;
        }
        if (words[0][length] != '\0')
            continue;
        if (!takes_value) {
            apply_switch(request, option);
            return true;
        }
        if (count < 2)
            fail("%s needs a value", option->name);
        apply_value(request, option, words[1]);
        *used = 2;
        return true;
    }
    return false;
}

static enum item_kind kind_of_option(const char *word)
{
    if (is_one_of(word, link_words, LENGTH(link_words)))
        return ITEM_LINK_OPTION;
    for (size_t i = 0; i < LENGTH(one_word_options); i++)
        if (strncmp(word, one_word_options[i].start, strlen(one_word_options[i].start)) == 0)
            return one_word_options[i].kind;
    return ITEM_OPTION;
}

/* Records properties of options that are passed on. */
static void note_option(struct request *request, char *const *words, size_t count)
{
    const char *word = words[0];

    if (is_one_of(word, compile_only_words, LENGTH(compile_only_words)))
        request->compile_only = true;
    if (is_one_of(word, no_libbsp_words, LENGTH(no_libbsp_words)))
        request->no_libbsp = true;
    if (strncmp(word, "-std=", 5) == 0 || strncmp(word, "--std", 5) == 0 ||
        strcmp(word, "-ansi") == 0 || strcmp(word, "--ansi") == 0)
        request->c_standard = true;
    if (strcmp(word, "-MD") == 0 || strcmp(word, "-MMD") == 0)
        request->write_dependencies = true;
    if (strcmp(word, "-M") == 0 || strcmp(word, "-MM") == 0)
        request->only_dependencies = true;
    if (strncmp(word, "-MF", 3) == 0)
        request->dependency_file = word[3] != '\0' || count < 2 ? word + 3 : words[1];
    if (strncmp(word, "-Wp,-MD,", 8) == 0 || strncmp(word, "-Wp,-MMD,", 9) == 0) {
        const char *file = strchr(word + 4, ',') + 1;
        request->dependency_file = format_text("%.*s", (int)strcspn(file, ","), file);
    }
    if (strncmp(word, "-MT", 3) == 0 || strncmp(word, "-MQ", 3) == 0)
        request->dependency_target = true;
    if (strncmp(word, "-save-temps", 11) == 0)
        request->save_temps_here = strcmp(word, "-save-temps=cwd") == 0;
    if (strncmp(word, "-dumpdir", 8) == 0 || strncmp(word, "-dumpbase", 9) == 0)
        request->own_dump_names = true;
}

static size_t parse_option(struct request *request, char *const *words, size_t count)
{
    const char *word = words[0];

    /* Every link gets libbsp in the right place. */
    if (strcmp(word, "-lbsp") == 0)
        return 1;
    if (strcmp(word, "-l") == 0 && count > 1 && strcmp(words[1], "bsp") == 0)
        return 2;
    note_option(request, words, count);
    for (size_t i = 0; i < LENGTH(two_word_options); i++)
        if (strcmp(word, two_word_options[i].name) == 0 && count > 1) {
            add_item(
                request,
                (struct item){.kind = two_word_options[i].kind, .text = word, .value = words[1]});
            return 2;
        }
    add_item(request, (struct item){.kind = kind_of_option(word), .text = word});
    return 1;
}

/* -o FILE, -oFILE, -x LANGUAGE, -xLANGUAGE: the number of words used, 0 when it is none of them. */
static size_t parse_placed_option(struct request *request, char *const *words, size_t count,
                                  struct language *forced, bool *is_forced)
{
    const char *word = words[0];

    if (word[1] != 'o' && word[1] != 'x')
        return 0;
    const char *value = word[2] != '\0' ? word + 2 : words[1];
    if (word[2] == '\0' && count < 2)
        fail("%s needs a value", word);
    if (word[1] == 'o') {
        request->output = value;
    } else {
        *is_forced = language_of_option(value, forced);
        add_item(request, (struct item){.kind = ITEM_LANGUAGE, .text = "-x", .value = value});
    }
    return word[2] != '\0' ? 1 : 2;
}

static void add_input(struct request *request, const char *word, const struct language *forced,
                      bool is_forced)
{
    struct item item = {.kind = ITEM_SOURCE, .text = word, .original = word};

    if (is_forced)
        item.language = *forced;
    else if (strcmp(word, "-") == 0) /* the compiler insists on -E or -x */
        item.language = (struct language){.tool = request->default_tool};
    else if (!language_of_file(word, &item.language))
        item.kind = ITEM_OBJECT;
    add_item(request, item);
}

static void choose_compilers(struct request *request)
{
    static const struct {
        const char *variable, *command;
    } defaults[TOOL_COUNT] = {
        [TOOL_C] = {"BSPCC_CC", "gcc"},
        [TOOL_CXX] = {"BSPCC_CXX", "g++"},
        [TOOL_FORTRAN] = {"BSPCC_FC", "gfortran"},
    };

    for (int tool = 0; tool < TOOL_COUNT; tool++) {
        const char *command = getenv(defaults[tool].variable);
        if (command == NULL || command[0] == '\0')
            command = defaults[tool].command;
        replace_command(&request->compiler[tool], defaults[tool].variable, command);
    }
}

/* The device when no option chooses one. */
static const char *default_device(const struct request *request)
{
    const char *name = getenv("BSP_DEVICE");
    bool only_tells = request->help || request->manual || request->log;

    return name != NULL && name[0] != '\0' && !only_tells ? device_name("BSP_DEVICE", name)
                                                          : BSPZ_DEVICE;
}

/* Of the linker's words its options are none, since --version works without, and empty ones. */
static bool is_input_word(const char *word)
{
    return strchr("-,", word[0]) == NULL || strncmp(word, "-l", 2) == 0;
}

bool is_input(const struct item *item)
{
    if (item->kind == ITEM_SOURCE || item->kind == ITEM_OBJECT)
        return true;
    if (item->kind != ITEM_LINK_OPTION)
        return false;
    if (strcmp(item->text, "-Xlinker") == 0)
        return item->value != NULL && is_input_word(item->value);
    if (strncmp(item->text, "-Wl,", 4) != 0)
        return strncmp(item->text, "-l", 2) == 0;
    for (const char *word = item->text + 3; word != NULL; word = strchr(word, ','))
        if (is_input_word(++word))
            return true;
    return false;
}

/* Of headers alone no program is made: the compiler does not link. */
static bool has_only_headers(const struct request *request)
{
    bool any = false;

    for (size_t i = 0; i < request->item_count; i++) {
        const struct item *item = &request->items[i];
        if (!is_input(item))
            continue;
        if (item->kind != ITEM_SOURCE || item->language.kind != SOURCE_HEADER)
            return false;
        any = true;
    }
    return any;
}

void request_parse(struct request *request, const char *called, const struct arguments *words)
{
    struct language forced = {.tool = TOOL_C};
    bool is_forced = false;

    *request = (struct request){.default_tool = TOOL_C};
    if (strcmp(called, "bspcxx") == 0 || strcmp(called, "bspc++") == 0)
        request->default_tool = TOOL_CXX;
    else if (strcmp(called, "bspmpicc") == 0)
        request->mpi = true;
    else if (strcmp(called, "bspf77") == 0 || strcmp(called, "bspf90") == 0)
        request->default_tool = TOOL_FORTRAN;
    choose_compilers(request);
    request->items = allocate((words->count + 1) * sizeof(*request->items));

    for (size_t i = 0; i < words->count;) {
        char *const *rest = words->items + i;
        size_t left = words->count - i;
        size_t used = 1;
        if (rest[0][0] != '-' || rest[0][1] == '\0') {
            add_input(request, rest[0], &forced, is_forced);
        } else {
            if (!parse_own(request, rest, left, &used))
                used = parse_placed_option(request, rest, left, &forced, &is_forced);
            if (used == 0)
                used = parse_option(request, rest, left);
        }
        i += used;
    }
    if (request->mpi)
        request->shared_libbsp = false;
    if (has_only_headers(request))
        request->compile_only = true;
    if (request->baked.device == NULL)
        request->baked.device = default_device(request);
}
