/* vdso.c - redirecting the functions of one vdso to another.
 *
 * Both are small ELF images with a symbol table.  Only code is changed, so a redirected vdso can be
 * redirected again. */
#include "ckpt/capture/vdso.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "ckpt/capture/arch.h"

struct symbols {
    const char *base;
    size_t size;
    const Elf64_Sym *symbol;
    size_t count;
    const char *strings;
    size_t strings_size;
    uint64_t bias; /* address in the file's terms minus this = offset from base */
};

static const void *part(const struct symbols *image, uint64_t address, size_t bytes)
{
    uint64_t offset = address - image->bias;

    return offset <= image->size && bytes <= image->size - offset ? image->base + offset : NULL;
}

/* The number of symbols comes from the old hash table, or else from the distance to the strings. */
static int find_tables(struct symbols *image, const Elf64_Dyn *entry, size_t entries)
{
    uint64_t symbols = 0, strings = 0, hash = 0, strings_size = 0;

    for (size_t i = 0; i < entries && entry[i].d_tag != DT_NULL; i++) {
        if (entry[i].d_tag == DT_SYMTAB)
            symbols = entry[i].d_un.d_ptr;
        if (entry[i].d_tag == DT_STRTAB)
            strings = entry[i].d_un.d_ptr;
        if (entry[i].d_tag == DT_STRSZ)
            strings_size = entry[i].d_un.d_val;
        if (entry[i].d_tag == DT_HASH)
            hash = entry[i].d_un.d_ptr;
    }
    if (!symbols || !strings)
        return -ENOEXEC;
    if (hash && part(image, hash, 8)) {
        uint32_t chains;

        memcpy(&chains, (const char *)part(image, hash, 8) + 4, sizeof chains);
        image->count = chains;
    } else {
        image->count = strings > symbols ? (strings - symbols) / sizeof(Elf64_Sym) : 0;
    }
    image->symbol = part(image, symbols, image->count * sizeof(Elf64_Sym));
    image->strings = part(image, strings, strings_size);
    image->strings_size = strings_size;
    return image->symbol && image->strings && strings_size && image->count < 4096 ? 0 : -ENOEXEC;
}

static int read_symbols(struct symbols *image, const void *base, size_t size)
{
    const Elf64_Ehdr *header = base;
    const Elf64_Phdr *segment;
    const Elf64_Dyn *dynamic = NULL;
    size_t entries = 0;
    bool loaded = false;

    *image = (struct symbols){.base = base, .size = size};
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phoff > size || header->e_phnum > (size - header->e_phoff) / sizeof *segment)
        return -ENOEXEC;
    segment = (const void *)(image->base + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD && !loaded) {
            image->bias = segment[i].p_vaddr - segment[i].p_offset;
            loaded = true;
        }
        if (segment[i].p_type == PT_DYNAMIC) {
            dynamic = part(image, segment[i].p_vaddr, segment[i].p_filesz);
            entries = segment[i].p_filesz / sizeof *dynamic;
        }
    }
    return loaded && dynamic ? find_tables(image, dynamic, entries) : -ENOEXEC;
}

static const char *name_of(const struct symbols *image, const Elf64_Sym *symbol)
{
    const char *name;

    if (symbol->st_name >= image->strings_size || symbol->st_shndx == SHN_UNDEF ||
        ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return NULL;
    name = image->strings + symbol->st_name;
    return memchr(name, '\0', image->strings_size - symbol->st_name) ? name : NULL;
}

static const Elf64_Sym *find(const struct symbols *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        const char *other = name_of(image, &image->symbol[i]);

        if (other && strcmp(other, name) == 0)
            return &image->symbol[i];
    }
    return NULL;
}

/* The bytes from a function to the next one, or to the end of the pages. */
static uint64_t room_of(const struct symbols *image, const Elf64_Sym *symbol)
{
    uint64_t next = image->bias + image->size;

    for (size_t i = 0; i < image->count; i++) {
        uint64_t other = image->symbol[i].st_value;

        if (name_of(image, &image->symbol[i]) && other > symbol->st_value && other < next)
            next = other;
    }
    return next - symbol->st_value;
}

int bspz_vdso_redirect(void *old, size_t old_size, const void *new, size_t new_size,
                       uint64_t new_home)
{
    struct symbols from, to;
    int error = read_symbols(&from, old, old_size), redirected = 0;

    if (!error)
        error = read_symbols(&to, new, new_size);
    if (error)
        return error;
    for (size_t i = 0; i < from.count; i++) {
        const char *name = name_of(&from, &from.symbol[i]);
        const Elf64_Sym *target = name ? find(&to, name) : NULL;
        void *code;

        if (!name)
            continue;
        code = (void *)(uintptr_t)part(&from, from.symbol[i].st_value, BSPZ_STUB_BYTES);
        if (!code || room_of(&from, &from.symbol[i]) < BSPZ_STUB_BYTES)
            return -ENOEXEC;
        bspz_write_stub(code, target ? new_home + (target->st_value - to.bias) : 0);
        redirected += target != NULL;
    }
    return redirected;
}
