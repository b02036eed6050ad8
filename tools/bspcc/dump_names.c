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

void add_dump_names(struct arguments *command, const struct request *request,
                    const struct item *source)
{
    const char *slash = strrchr(source->text, '/');
    const char *base = slash != NULL ? slash + 1 : source->text;
    const char *dot = strrchr(base, '.');

    arguments_add(command, "-dumpdir");
    arguments_add(command, dump_prefix(request));
    arguments_add(command, "-dumpbase");
    arguments_add(command, base);
    if (dot != NULL && dot != base) {
        arguments_add(command, "-dumpbase-ext");
        arguments_add(command, dot);
    }
}
