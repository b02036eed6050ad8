/* dump_names.c - see dump_names.h. */
#include "tools/bspcc/dump_names.h"

#include <string.h>
#include <sys/stat.h>

#include "tools/bspcc/process.h"

char *dump_prefix(const struct request *request)
{
    const char *output = request->output;
    struct stat status;

    if (output == NULL || (stat(output, &status) == 0 && !S_ISREG(status.st_mode)))
        output = "a";
    const char *slash = strrchr(output, '/'), *base = slash != NULL ? slash + 1 : output;
    const char *dot = strrchr(base, '.');
    int length = (int)strlen(output);

    if (dot != NULL && dot != base && (strcmp(dot, ".exe") == 0 || strcmp(base, "a.out") == 0))
        length = (int)(dot - output);
    if (request->save_temps_here)
        return format_text("%.*s-", length - (int)(base - output), base);
    return format_text("%.*s-", length, output);
}

/* Beginnings of options; what they take in vain only costs time. */
static bool asks_for_files(const char *word)
{
    static const char *const starts[] = {
        "-save-temps",
        "--save-temps",
        "-gsplit-dwarf",
        "-fstack-usage",
        "-coverage",
        "--coverage",
        "-ftest-coverage",
        "-fprofile-",
        "-d",
        "-fdump-",
        "-ftime-trace",
        "-fsave-optimization-record",
        "-fdiagnostics-format=",
        "-fcallgraph-info",
    };

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(word, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool any_asks_for_files(const struct arguments *words)
{
    for (size_t i = 0; i < words->count; i++)
        if (asks_for_files(words->items[i]))
            return true;
    return false;
}

bool writes_beside(const struct request *request, enum tool tool)
{
    for (size_t i = 0; i < request->item_count; i++)
        if ((request->items[i].kind == ITEM_OPTION ||
             request->items[i].kind == ITEM_COMPILE_OPTION) &&
            asks_for_files(request->items[i].text))
            return true;
    return any_asks_for_files(&request->compiler[tool]) ||
           any_asks_for_files(&request->flags[tool]);
}

bool takes_dump_names(const struct arguments *compiler)
{
    struct arguments command = {0};
    char *prefix = temporary_path("try-"), *object = temporary_path("try.o");
    /* Assembler, since a compiler of any language has it. */
    const char *const words[] = {"-dumpdir",      prefix,      "-dumpbase", "try.s",
                                 "-dumpbase-ext", ".s",        "-c",        "-x",
                                 "assembler",     "/dev/null", "-o",        object};

    arguments_begin(&command, compiler);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        arguments_add(&command, words[i]);
    return run_unheard(&command) == 0;
}

static const char *base_of(const struct item *source)
{
    const char *slash = strrchr(source->text, '/');

    return slash != NULL ? slash + 1 : source->text;
}

void add_dump_names(struct arguments *command, const struct request *request,
                    const struct item *source)
{
    const char *base = base_of(source), *dot = strrchr(base, '.');

    arguments_add(command, "-dumpdir");
    arguments_add(command, dump_prefix(request));
    arguments_add(command, "-dumpbase");
    arguments_add(command, base);
    if (dot != NULL && dot != base) {
        arguments_add(command, "-dumpbase-ext");
        arguments_add(command, dot);
    }
}

char *object_beside(const struct request *request, const struct item *source)
{
    const char *base = base_of(source), *dot = strrchr(base, '.');
    int stem = dot != NULL && dot != base ? (int)(dot - base) : (int)strlen(base);
    char *path = format_text("%s%.*s.o", dump_prefix(request), stem, base);

    return temporary_elsewhere(path) ? path : NULL;
}
