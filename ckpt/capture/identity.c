/* identity.c - build ids of ELF files, and a hash for the kernel's pages. */
#include "ckpt/capture/identity.h"

#include <elf.h>
#include <string.h>

static void find_in_notes(struct bspz_build_id *id, const char *notes, size_t size)
{
    size_t at = 0;

    while (at + sizeof(Elf64_Nhdr) <= size) {
        Elf64_Nhdr note;
        size_t name, value;

        memcpy(&note, notes + at, sizeof note);
        name = at + sizeof note;
        value = name + ((note.n_namesz + 3u) & ~(size_t)3);
        if (note.n_namesz > size || note.n_descsz > size || value + note.n_descsz > size)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 && note.n_descsz <= sizeof id->bytes) {
            id->size = note.n_descsz;
            memcpy(id->bytes, notes + value, note.n_descsz);
            return;
        }
        at = value + ((note.n_descsz + 3u) & ~(size_t)3);
    }
}

void bspz_build_id_find(struct bspz_build_id *id, const void *elf, size_t size)
{
    const char *bytes = elf;
    Elf64_Ehdr header;

    memset(id, 0, sizeof *id);
    if (size < sizeof header)
        return;
    memcpy(&header, elf, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > size ||
        header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
        return;
    for (unsigned i = 0; i < header.e_phnum && id->size == 0; i++) {
        Elf64_Phdr segment;

        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_NOTE && segment.p_offset <= size &&
            segment.p_filesz <= size - segment.p_offset)
            find_in_notes(id, bytes + segment.p_offset, segment.p_filesz);
    }
}

void bspz_hash_bytes(uint64_t hash[2], const void *bytes, size_t size)
{
    const char *at = bytes;
    uint64_t a = 0x9e3779b97f4a7c15u ^ size, b = 0xc2b2ae3d27d4eb4fu + size;

    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;

        memcpy(&word, at, 8);
        a = (a ^ word) * 0x9fb21c651e98df25u;
        a ^= a >> 32;
        b = (b + word) * 0xd6e8feb86659fd93u;
        b ^= b >> 29;
    }
    hash[0] = a ^ b >> 7;
    hash[1] = b + a;
}
