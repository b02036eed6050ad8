/* binary.c - build ids of ELF files; see binary.h. */
#include "ckpt/format/binary.h"

#include <elf.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "lib/base/hex.h"

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

/* ---- Names ----------------------------------------------------------------------------------- */

static char *add_decimal(char *at, uint64_t number)
{
    char digits[20];
    unsigned count = 0;

    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

void bspz_binary_name(const struct bspz_binary *binary, const char *path,
                      char name[BSPZ_BINARY_NAME])
{
    const uint8_t *bytes = binary->id.bytes;
    unsigned count =
        binary->id.size < BSPZ_BINARY_NAME_BYTES ? binary->id.size : BSPZ_BINARY_NAME_BYTES;
    uint64_t hash[2];

    *name++ = count ? 'b' : 'f';
    if (count == 0) {
        bspz_hash128(path, strlen(path), binary->modified, hash);
        bytes = (const uint8_t *)hash;
        count = sizeof hash;
    }
    bspz_hex(name, bytes, count);
    name += 2 * count;
    *name++ = '-';
    *add_decimal(name, binary->size) = '\0';
}

bool bspz_binary_same(const struct bspz_binary *one, const struct bspz_binary *other)
{
    if (one->size != other->size || one->id.size != other->id.size)
        return false;
    if (one->id.size)
        return memcmp(one->id.bytes, other->id.bytes, one->id.size) == 0;
    return one->modified == other->modified;
}

void bspz_binary_of(const struct bspz_image_region *region, struct bspz_binary *binary)
{
    *binary = (struct bspz_binary){.size = region->file_size, .modified = region->modified};
    binary->id.size = region->build_id_size;
    memcpy(binary->id.bytes, region->build_id, sizeof binary->id.bytes);
}
