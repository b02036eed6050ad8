/* trace_stack.c - the callers of bsp_sync: return addresses, and the names of their functions.
 *
 * The names of the program's own functions, static ones included, come from the symbol table of its
 * executable; those of shared libraries are the exported ones.  Frames without a name are left out,
 * so of a stripped program nothing is listed.
 */
#include "lib/rt/trace.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_MOST 200

/* The executable as a file in memory; image = NULL when it cannot be read. */
struct executable {
    const char *image;
    size_t bytes;
    uintptr_t base, end; /* where it is loaded */
};

int bspz_stack_take(void **frames)
{
    return backtrace(frames, BSPZ_STACK_MOST);
}

/* dl_iterate_phdr shows the program itself first. */
static int note_place(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct executable *executable = argument;

    (void)size;
    executable->base = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > executable->end)
            executable->end = end;
    }
    return 1;
}

static void open_executable(struct executable *executable)
{
    struct stat status;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    void *image;

    *executable = (struct executable){0};
    dl_iterate_phdr(note_place, executable);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && (size_t)status.st_size >= sizeof(ElfW(Ehdr))) {
        image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (image != MAP_FAILED) {
            executable->image = image;
            executable->bytes = (size_t)status.st_size;
        }
    }
    close(fd);
}

static void close_executable(struct executable *executable)
{
    if (executable->image)
        munmap((void *)(uintptr_t)executable->image, executable->bytes);
}

/* The contents of a section, or NULL if the header is inconsistent with the file. */
static const void *section_at(const struct executable *executable, const ElfW(Shdr) * section)
{
    if (section->sh_offset > executable->bytes ||
        section->sh_size > executable->bytes - section->sh_offset)
        return NULL;
    return executable->image + section->sh_offset;
}

/* The name of the function at an address of the executable, from one symbol table. */
static const char *name_in_table(const struct executable *executable, const ElfW(Shdr) * table,
                                 const ElfW(Shdr) * strings, uintptr_t address)
{
    const ElfW(Sym) *symbol = section_at(executable, table);
    const char *names = section_at(executable, strings);
    size_t count = table->sh_size / sizeof *symbol;

    if (!symbol || !names)
        return NULL;
    for (size_t i = 0; i < count; i++, symbol++)
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
            address >= symbol->st_value && address - symbol->st_value < symbol->st_size &&
            symbol->st_name < strings->sh_size &&
            memchr(names + symbol->st_name, 0, strings->sh_size - symbol->st_name))
            return names + symbol->st_name;
    return NULL;
}

static const char *name_in_executable(const struct executable *executable, uintptr_t address)
{
    const ElfW(Ehdr) *header = (const void *)executable->image;
    const ElfW(Shdr) * sections;

    if (!header || header->e_shentsize != sizeof *sections || header->e_shoff > executable->bytes ||
        (executable->bytes - header->e_shoff) / sizeof *sections < header->e_shnum)
        return NULL;
    sections = (const void *)(executable->image + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const char *name = NULL;

        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < header->e_shnum)
            name = name_in_table(executable, &sections[i], &sections[sections[i].sh_link],
                                 address - executable->base);
        if (name)
            return name;
    }
    return NULL;
}

/* The name of the function a return address lies in; empty if it has none. */
static void name_of(const struct executable *executable, const void *frame, char *name)
{
    uintptr_t call =
        (uintptr_t)frame - 1; /* the call may be the last instruction of its function */
    const char *found = NULL;
    Dl_info info;

    if (call >= executable->base && call < executable->end)
        found = name_in_executable(executable, call);
    else if (dladdr((void *)call, &info))
        found = info.dli_sname;
    /* Compilers append ".part.0" and the like to pieces of functions. */
    snprintf(name, NAME_MOST, "%.*s", found ? (int)strcspn(found, ".") : 0, found ? found : "");
}

/* The calls of bsp.h enter libbsp by names that end in _cpp, and call others that begin with bspz_;
 * no program defines such names. */
static bool is_of_library(const char *name)
{
    size_t length = strlen(name);

    if (strncmp(name, "bspz_", 5) == 0)
        return true;
    return strncmp(name, "bsp", 3) == 0 && length > 4 && strcmp(name + length - 4, "_cpp") == 0;
}

/* Whether it is the plain function of the same call, for other languages: "bsp_sync",
 * "bsp_sync_". */
static bool is_plain_form(const char *name, const char *entry)
{
    size_t length = strlen(entry);

    if (length > 4 && strcmp(entry + length - 4, "_cpp") == 0)
        length -= 4;
    return strncmp(name, entry, length) == 0 && name[length + strspn(name + length, "_")] == '\0';
}

/* Whether it is the function that bsp.h defines for the call in C++, of the same name and with the
 * line and the file at the end: "_Z8bsp_synciPKc".  Without optimisation it is not inlined. */
static bool is_inline_form(const char *name, const char *entry)
{
    size_t length = strlen(entry), whole = strlen(name);
    char start[NAME_MOST];

    if (length <= 4 || strcmp(entry + length - 4, "_cpp") != 0) {
        entry = "bsp_sync_cpp"; /* which leaves no frame */
        length = strlen(entry);
    }
    length -= 4;
    int size = snprintf(start, sizeof start, "_Z%zu%.*s", length, (int)length, entry);
    return strncmp(name, start, (size_t)size) == 0 && whole > 4 &&
           strcmp(name + whole - 4, "iPKc") == 0;
}

void bspz_stack_name(void *const *frames, int count, char *text, size_t size)
{
    struct executable executable;
    char name[NAME_MOST], entry[NAME_MOST] = "";
    size_t used = 0;
    int first = 0;

    open_executable(&executable);
    for (int i = 0; i < count; i++) {
        name_of(&executable, frames[i], name);
        if (is_of_library(name)) {
            first = i + 1;
            memcpy(entry, name, sizeof entry);
        }
    }
    text[0] = '\0';
    for (int i = first; i < count; i++) {
        name_of(&executable, frames[i], name);
        if (strncmp(name, "__libc_start", 12) == 0) /* of a program whose main has no name */
            break;
        if (i == first && entry[0] && (is_plain_form(name, entry) || is_inline_form(name, entry)))
            continue;
        if (name[0] && used + strlen(name) + 3 < size)
            used += (size_t)snprintf(text + used, size - used, "%s, ", name);
        if (strcmp(name, "main") == 0)
            break;
    }
    close_executable(&executable);
}
