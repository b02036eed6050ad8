/* test_parts.c - parts that can be tried without a snapshot: redirecting a vdso, comparing
 * processors, build ids. */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/vdso.h"
#include "ckpt/format/binary.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef long function(void *, void *, void *);

struct vdso {
    char *base;
    size_t size;
    Elf64_Sym *symbols;
    size_t count;
    const char *strings;
};

static size_t vdso_size(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long start = 0, end = 0;
    char line[512];

    CHECK(maps);
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "[vdso]"))
            CHECK(sscanf(line, "%lx-%lx", &start, &end) == 2);
    fclose(maps);
    return end - start;
}

/* A writable and executable copy of this kernel's, with its tables found. */
static void copy_vdso(struct vdso *copy)
{
    const Elf64_Ehdr *header;
    const Elf64_Phdr *segment;

    memset(copy, 0, sizeof *copy);
    copy->size = vdso_size();
    copy->base = mmap(NULL, copy->size, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(copy->base != MAP_FAILED);
    memcpy(copy->base, (const void *)getauxval(AT_SYSINFO_EHDR), copy->size);
    header = (const void *)copy->base;
    segment = (const void *)(copy->base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        const Elf64_Dyn *entry = (const void *)(copy->base + segment[i].p_vaddr);

        if (segment[i].p_type != PT_DYNAMIC)
            continue;
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_SYMTAB)
                copy->symbols = (void *)(copy->base + entry->d_un.d_ptr);
            if (entry->d_tag == DT_STRTAB)
                copy->strings = copy->base + entry->d_un.d_ptr;
        }
    }
    CHECK(copy->symbols && copy->strings > (char *)copy->symbols);
    copy->count = (size_t)(copy->strings - (char *)copy->symbols) / sizeof(Elf64_Sym);
}

static Elf64_Sym *find(struct vdso *vdso, const char *name)
{
    for (size_t i = 0; i < vdso->count; i++)
        if (strcmp(vdso->strings + vdso->symbols[i].st_name, name) == 0)
            return &vdso->symbols[i];
    CHECK(!"the vdso has this function");
    return NULL;
}

static long call(struct vdso *vdso, const char *name)
{
    function *code = (function *)(uintptr_t)(vdso->base + find(vdso, name)->st_value);
    long unused[8];

    return code(unused, unused, unused);
}

/* A function has several names, which all lead to one place. */
static void change_all(struct vdso *vdso, const char *name, size_t place, bool there)
{
    Elf64_Addr before = find(vdso, name)->st_value;

    for (size_t i = 0; i < vdso->count; i++) {
        if (vdso->symbols[i].st_value != before)
            continue;
        vdso->symbols[i].st_value = place;
        if (!there)
            vdso->symbols[i].st_shndx = SHN_UNDEF;
    }
}

/* Makes a function of the vdso answer a number, somewhere else than it used to be. */
static void move_function(struct vdso *vdso, const char *name, int slot, unsigned char number)
{
    static const unsigned char code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov $number, %eax; ret */
    size_t place = vdso->size - 64 * (size_t)slot;

    memcpy(vdso->base + place, code, sizeof code);
    vdso->base[place + 1] = (char)number;
    change_all(vdso, name, place, true);
}

static void test_redirect(void)
{
    struct vdso old, other, third;

    copy_vdso(&old);
    copy_vdso(&other);
    copy_vdso(&third);
    /* The other kernel has one function elsewhere and lacks another. */
    move_function(&other, "__vdso_time", 1, 42);
    change_all(&other, "__vdso_getcpu", 0, false);
    CHECK(bspz_vdso_redirect(old.base, old.size, other.base, other.size,
                             (uint64_t)(uintptr_t)other.base) > 3);
    CHECK(call(&old, "__vdso_time") == 42);
    CHECK((int)call(&old, "__vdso_getcpu") == -ENOSYS);
    /* And again, to a third one, over the jumps of the first time. */
    move_function(&third, "__vdso_time", 1, 43);
    move_function(&third, "__vdso_getcpu", 2, 44);
    CHECK(bspz_vdso_redirect(old.base, old.size, third.base, third.size,
                             (uint64_t)(uintptr_t)third.base) > 3);
    CHECK(call(&old, "__vdso_time") == 43 && call(&old, "__vdso_getcpu") == 44);
}

static void test_no_vdso(void)
{
    static char zeros[8192];
    struct vdso vdso;

    copy_vdso(&vdso);
    CHECK(bspz_vdso_redirect(zeros, sizeof zeros, vdso.base, vdso.size, 0) == -ENOEXEC);
    CHECK(bspz_vdso_redirect(vdso.base, vdso.size, zeros, sizeof zeros, 0) == -ENOEXEC);
    CHECK(bspz_vdso_redirect(vdso.base, 100, vdso.base, vdso.size, 0) == -ENOEXEC);
}

/* Whatever is in those pages: an error or a number, no access outside. */
static void test_damaged_vdso(void)
{
    struct vdso good, bad;
    uint64_t seed = 1;

    copy_vdso(&good);
    copy_vdso(&bad);
    for (int round = 0; round < 5000; round++) {
        memcpy(bad.base, (const void *)getauxval(AT_SYSINFO_EHDR), bad.size);
        for (int i = 0; i < 4; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bad.base[(seed >> 33) % 2048] = (char)(seed >> 20);
        }
        bspz_vdso_redirect(bad.base, bad.size, good.base, good.size, 0x1000);
    }
}

static void test_processor(void)
{
    uint64_t own[8], more[8], none[8] = {0};
    const char *name;

    bspz_cpu_features(own);
    CHECK(own[0] && own[1]);
    CHECK(bspz_cpu_lacks(own, own) == NULL);
    CHECK(bspz_cpu_lacks(none, own) == NULL);
    CHECK(bspz_cpu_lacks(own, none) != NULL);
    memcpy(more, own, sizeof more);
    more[2] |= UINT64_C(1) << 5;
    own[2] &= ~(UINT64_C(1) << 5);
    name = bspz_cpu_lacks(more, own);
    CHECK(name && strcmp(name, "AVX2") == 0);
    bspz_cpu_features(own);
    CHECK(__builtin_cpu_supports("avx") == 0 || own[7] >> 10 & 7);
    memcpy(more, own, sizeof more);
    more[7] |= UINT64_C(1) << 11;
    own[7] &= ~(UINT64_C(1) << 11);
    name = bspz_cpu_lacks(more, own);
    CHECK(name && strcmp(name, "XSAVEC") == 0);
}

static void test_build_id(void)
{
    struct bspz_build_id id;
    struct vdso vdso;

    copy_vdso(&vdso);
    bspz_build_id_find(&id, vdso.base, vdso.size);
    CHECK(id.size == 20);
    for (size_t size = 0; size < 700; size++)
        bspz_build_id_find(&id, vdso.base, size);
    bspz_build_id_find(&id, "no ELF", 6);
    CHECK(id.size == 0);
}

int main(void)
{
    test_redirect();
    test_no_vdso();
    test_damaged_vdso();
    test_processor();
    test_build_id();
    return 0;
}
