/* image_sample.c - processes that never were, and their images; see image_sample.h. */
#include "tests/ckpt/image_sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/format/section.h"

#define PAGE 4096u

static void *need(void *memory)
{
    if (!memory) {
        perror("image_sample");
        exit(2);
    }
    return memory;
}

int sample_write(void *context, const void *bytes, size_t size)
{
    struct sample_file *file = context;

    if (file->fail_after != 0 && file->size + size > file->fail_after)
        return -ENOSPC;
    if (file->size + size > file->capacity) {
        file->capacity = 2 * (file->size + size);
        file->bytes = need(realloc(file->bytes, file->capacity));
    }
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    return 0;
}

int sample_read(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct sample_file *file = context;

    if (offset > file->size || size > file->size - offset)
        return -EIO;
    memcpy(bytes, file->bytes + offset, size);
    return 0;
}

static int sample_scatter(void *context, uint64_t offset, const struct iovec *places,
                          uint32_t count)
{
    struct sample_file *file = context;
    int status = 0;

    file->scattered++;
    for (uint32_t i = 0; i < count && status == 0; offset += places[i++].iov_len)
        status = sample_read(file, offset, places[i].iov_base, places[i].iov_len);
    return status;
}

void sample_file_free(struct sample_file *file)
{
    free(file->bytes);
    *file = (struct sample_file){0};
}

uint64_t sample_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Zeros, noise, smooth doubles, small integers, text. */
static void fill(unsigned char *bytes, uint32_t kind, uint64_t seed)
{
    uint64_t random = seed;

    for (uint32_t i = 0; i < PAGE / 8; i++) {
        uint64_t word = 0;
        double smooth = 1.0 + (double)(seed % 1000 + i) * 1e-6;
        switch (kind % 5) {
        case 1:
            word = sample_random(&random);
            break;
        case 2:
            memcpy(&word, &smooth, 8);
            break;
        case 3:
            word = (sample_random(&random) % 1000) << 32 | sample_random(&random) % 1000;
            break;
        case 4:
            memcpy(&word, "all that", 8);
            word ^= i % 7 == 0 ? seed % 16 : 0;
            break;
        default:
            break;
        }
        memcpy(bytes + 8 * i, &word, 8);
    }
}

static void add_region(struct sample_process *process, uint64_t address, uint64_t length,
                       uint32_t kind, const char *path)
{
    uint32_t i = process->region_count++;

    process->paths[i] = path;
    process->regions[i] = (struct bspz_image_region){
        .address = address,
        .length = length,
        .offset = path ? 0x1000 : 0,
        .protection = 3,
        .flags = kind == BSPZ_REGION_STACK ? BSPZ_REGION_GROWS_DOWN : 0,
        .kind = kind,
        .build_id_size = path ? 20 : 0,
    };
    if (path)
        memset(process->regions[i].build_id, 0x5a, 20);
}

/* The pages of a region: runs and gaps of random length; those beside a seam are always there. */
static void add_pages(struct sample_process *process, uint32_t region, uint64_t *random)
{
    const struct bspz_image_region *where = &process->regions[region];
    uint64_t count = where->length / PAGE, run = 1 + sample_random(random) % 60, gap = 0;

    process->bytes[region] = need(calloc(count, PAGE));
    process->present[region] = need(calloc(count, 1));
    for (uint64_t i = 0; i < count; i++) {
        bool at_seam = (region == 1 && i + 8 >= count) || (region == 2 && i < 8);
        if (run == 0 && gap == 0) {
            run = 1 + sample_random(random) % (sample_random(random) % 4 ? 60 : 300);
            gap = sample_random(random) % 20;
        }
        bool present = run > 0;
        run > 0 ? run-- : gap--;
        if (!present && !at_seam)
            continue;
        process->present[region][i] = 1;
        process->pages++;
        fill(process->bytes[region] + i * PAGE, (uint32_t)(i / 40 + region), sample_random(random));
    }
}

void sample_process_make(struct sample_process *process, uint32_t pages, uint64_t seed)
{
    uint64_t random = seed, share = pages / 3 + 9, anon = 0x7f0000003000;

    *process = (struct sample_process){.pid = 2, .nprocs = 4, .term = 1, .superstep = 7};
    add_region(process, 0x555555554000, share * PAGE, BSPZ_REGION_FILE, "/usr/bin/a program");
    /* Two that touch: a run of pages must not be stored across the seam. */
    add_region(process, anon, share * PAGE, BSPZ_REGION_ANON, NULL);
    add_region(process, anon + share * PAGE, share * PAGE, BSPZ_REGION_HEAP, NULL);
    add_region(process, 0x7ffffff00000, share * PAGE, BSPZ_REGION_STACK, "[stack]");
    for (uint32_t region = 0; region < process->region_count; region++)
        add_pages(process, region, &random);
}

void sample_process_change(struct sample_process *process, uint32_t one_in, uint64_t seed)
{
    uint64_t random = seed;

    process->superstep++;
    for (uint32_t region = 0; region < process->region_count; region++)
        for (uint64_t i = 0; i < process->regions[region].length / PAGE; i++)
            if (sample_random(&random) % one_in == 0) {
                /* Sometimes a page becomes the process's own, or is given back. */
                unsigned char *present = &process->present[region][i];
                unsigned char now = *present ? sample_random(&random) % 8 != 0 : 1;
                process->pages += now;
                process->pages -= *present;
                *present = now;
                fill(process->bytes[region] + i * PAGE, (uint32_t)sample_random(&random),
                     sample_random(&random));
            }
}

void sample_process_free(struct sample_process *process)
{
    for (uint32_t region = 0; region < process->region_count; region++) {
        free(process->bytes[region]);
        free(process->present[region]);
    }
    *process = (struct sample_process){0};
}

/* ---- Images ---------------------------------------------------------------------------------- */

static void describe(const struct sample_process *process, struct bspz_image_header *header)
{
    memcpy(header->job, "job of a sample!", sizeof(header->job));
    header->superstep = process->superstep;
    header->term = process->term;
    header->pid = process->pid;
    header->nprocs = process->nprocs;
    header->arch = BSPZ_IMAGE_X86_64;
    header->page_size = PAGE;
    header->created = 1700000000000000000u;
    header->cpu_features[0] = 0xf00d;
    header->vdso_hash[1] = 77;
    header->build_id_size = 20;
    memset(header->build_id, 0x11, 20);
}

static void add_descriptors(struct bspz_image_writer *writer, const struct sample_options *options)
{
    for (uint32_t i = 0; i < 3; i++) {
        struct bspz_image_descriptor job = {
            .number = i, .kind = BSPZ_DESCRIPTOR_JOB, .flags = 2, .same_as = i ? 1 : 0};
        bspz_image_descriptor(writer, &job, NULL);
    }
    struct bspz_image_descriptor file = {
        .number = 5, .kind = BSPZ_DESCRIPTOR_FILE, .offset = 100, .size = 5000, .same_as = 5};
    bspz_image_descriptor(writer, &file, "/home/someone/results of today.txt");
    if (!options->shared)
        return;
    file.number = file.same_as = 6;
    file.shared = options->mark;
    bspz_image_descriptor(writer, &file, options->shared);
}

/* Gives the pages in runs that lie within one region, as capture would, from other memory. */
static void add_data(const struct sample_process *process, struct bspz_image_writer *writer)
{
    for (uint32_t r = 0; r < process->region_count; r++) {
        const unsigned char *present = process->present[r];
        uint64_t count = process->regions[r].length / PAGE;
        unsigned char *copy = need(malloc(count * PAGE));
        for (uint64_t i = 0, run; i < count; i += run) {
            for (run = 0; i + run < count && present[i + run] == present[i]; run++)
                continue;
            if (!present[i])
                continue;
            memcpy(copy, process->bytes[r] + i * PAGE, run * PAGE);
            bspz_image_data(writer, process->regions[r].address + i * PAGE, copy, run * PAGE);
            memset(copy, 0xee, run * PAGE); /* not to be looked at again */
        }
        free(copy);
    }
}

int sample_image(const struct sample_process *process, const struct sample_options *options,
                 struct sample_file *file, struct bspz_image_written *written)
{
    struct bspz_image_config config = {
        .write = sample_write,
        .context = file,
        .base = options->base,
        .next = options->next,
        .compress = options->compress,
    };
    struct bspz_image_writer *writer;
    void *scratch = need(aligned_alloc(64, BSPZ_IMAGE_WRITER_SCRATCH));

    memset(scratch, 0xcc, BSPZ_IMAGE_WRITER_SCRATCH);
    describe(process, &config.header);
    int status = bspz_image_writer_open(&writer, scratch, &config);
    if (status == 0) {
        bspz_image_opaque(writer, BSPZ_IMAGE_TAG_THREAD, 3, "registers and the like", 22);
        bspz_image_opaque(writer, 9, 1, "", 0);
        for (uint32_t i = 0; i < process->region_count; i++)
            bspz_image_region(writer, &process->regions[i], process->paths[i]);
        add_descriptors(writer, options);
        add_data(process, writer);
        status = bspz_image_writer_close(writer, written);
    }
    free(scratch);
    return status;
}

int sample_open_with(struct sample_reader *reader, struct sample_file *file, void *scratch,
                     struct bspz_image_fault *fault)
{
    struct bspz_image_source source = {
        .read = sample_read, .scatter = sample_scatter, .context = file, .size = file->size};

    reader->memory = reader->scratch = NULL;
    return bspz_image_open(&reader->image, &source, scratch, fault);
}

int sample_open(struct sample_reader *reader, struct sample_file *file,
                struct bspz_image_fault *fault)
{
    void *scratch = need(aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH));
    int status = sample_open_with(reader, file, scratch, fault);

    reader->scratch = scratch;
    return status;
}

int sample_load(struct sample_reader *reader, struct bspz_image_fault *fault)
{
    /* Exactly as large as it says, for a sanitizer to see. */
    reader->memory = need(malloc(bspz_image_memory(&reader->image)));
    return bspz_image_load(&reader->image, reader->memory, fault);
}

void sample_must_open(struct sample_reader *reader, struct sample_file *file)
{
    struct bspz_image_fault fault;

    if (sample_open(reader, file, &fault) == 0 && sample_load(reader, &fault) == 0 &&
        bspz_image_verify(&reader->image, &fault) == 0)
        return;
    fprintf(stderr, "an image that should be good: %s\n", fault.text);
    exit(2);
}

struct bspz_image_table *sample_table(uint64_t capacity)
{
    struct bspz_image_table *table = need(calloc(1, bspz_image_table_size(capacity)));

    table->capacity = capacity;
    return table;
}

void sample_reader_free(struct sample_reader *reader)
{
    free(reader->scratch);
    free(reader->memory);
    reader->scratch = reader->memory = NULL;
}

int sample_check(struct sample_file *file, struct bspz_image_fault *fault)
{
    struct sample_reader reader;

    int status = sample_open(&reader, file, fault);
    if (status == 0)
        status = sample_load(&reader, fault);
    if (status == 0)
        status = bspz_image_verify(&reader.image, fault);
    sample_reader_free(&reader);
    return status;
}

/* ---- Forging ------------------------------------------------------------------------------ */

/* What the end has to say follows from what comes before it. */
static void put_end_right(struct bspz_image_end *end, size_t size, uint32_t sections,
                          uint64_t records, const struct bspz_digest *digest)
{
    uint64_t hash[2];

    end->length = size;
    end->sections = sections;
    end->records = records;
    bspz_digest_get(digest, hash);
    memcpy(end->digest, hash, sizeof(hash));
}

void sample_put_right(unsigned char *bytes, size_t size)
{
    struct bspz_image_header header;
    struct bspz_digest digest;
    uint64_t records = 0;
    uint32_t sequence = 0;
    size_t at = sizeof(header);

    if (size < at)
        return;
    memcpy(&header, bytes, sizeof(header));
    memcpy(header.magic, BSPZ_IMAGE_MAGIC, 8);
    if (header.version != BSPZ_IMAGE_VERSION_BLOCKS)
        header.version = BSPZ_IMAGE_VERSION;
    header.size = sizeof(header);
    header.hash = bspz_hash64(&header, offsetof(struct bspz_image_header, hash), 0);
    memcpy(bytes, &header, sizeof(header));
    bspz_digest_start(&digest, 0);
    bspz_digest_add(&digest, &header, sizeof(header));
    while (size - at >= sizeof(struct bspz_image_section)) {
        struct bspz_image_section section;
        unsigned char *body = bytes + at + sizeof(section);
        memcpy(&section, bytes + at, sizeof(section));
        if (section.stored > size - at - sizeof(section))
            return;
        section.magic = BSPZ_IMAGE_SECTION_MAGIC;
        section.sequence = sequence;
        if (section.kind == BSPZ_IMAGE_END && section.stored == sizeof(struct bspz_image_end)) {
            struct bspz_image_end end;
            memcpy(&end, body, sizeof(end));
            put_end_right(&end, size, sequence, records, &digest);
            memcpy(body, &end, sizeof(end));
        }
        section.hash = bspz_hash64(body, section.stored, bspz_section_seed(&section, header.hash));
        section.check = bspz_section_check(&section, header.hash);
        memcpy(bytes + at, &section, sizeof(section));
        bspz_digest_add(&digest, &section, sizeof(section));
        records += section.kind == BSPZ_IMAGE_DATA;
        sequence++;
        at += sizeof(section) + section.stored;
    }
}

/* ---- Restoring ------------------------------------------------------------------------------- */

struct restored {
    const struct sample_process *process;
    unsigned char *bytes[SAMPLE_REGIONS_MAX];
    unsigned char *times[SAMPLE_REGIONS_MAX]; /* that a page was put in its place */
};

static void *place(void *context, uint64_t address, size_t length)
{
    struct restored *restored = context;

    for (uint32_t r = 0; r < restored->process->region_count; r++) {
        const struct bspz_image_region *region = &restored->process->regions[r];
        if (address < region->address || address >= region->address + region->length)
            continue;
        uint64_t offset = address - region->address;
        if (length > region->length - offset)
            return NULL; /* crosses a seam */
        for (uint64_t i = 0; i < length / PAGE; i++)
            restored->times[r][offset / PAGE + i]++;
        return restored->bytes[r] + offset;
    }
    return NULL;
}

static bool same(const struct restored *restored)
{
    const struct sample_process *process = restored->process;

    for (uint32_t r = 0; r < process->region_count; r++)
        for (uint64_t i = 0; i < process->regions[r].length / PAGE; i++)
            if ((restored->times[r][i] > 0) != process->present[r][i] ||
                (process->present[r][i] &&
                 memcmp(restored->bytes[r] + i * PAGE, process->bytes[r] + i * PAGE, PAGE) != 0))
                return false;
    return true;
}

static void restored_make(struct restored *restored, const struct sample_process *process)
{
    *restored = (struct restored){.process = process};
    for (uint32_t r = 0; r < process->region_count; r++) {
        restored->bytes[r] = need(malloc(process->regions[r].length));
        restored->times[r] = need(calloc(process->regions[r].length / PAGE, 1));
    }
}

static void restored_free(struct restored *restored)
{
    for (uint32_t r = 0; r < restored->process->region_count; r++) {
        free(restored->bytes[r]);
        free(restored->times[r]);
    }
}

static void list_images(struct sample_reader *const *chain, uint32_t count,
                        struct bspz_image *images[BSPZ_IMAGE_CHAIN_MAX + 1])
{
    for (uint32_t i = 0; i < count; i++)
        images[i] = &chain[i]->image;
}

int sample_restore(struct sample_reader *const *chain, uint32_t count,
                   const struct sample_process *process, uint32_t *index,
                   struct bspz_image_fault *fault)
{
    struct bspz_image *images[BSPZ_IMAGE_CHAIN_MAX + 1];
    struct restored restored;

    restored_make(&restored, process);
    list_images(chain, count, images);
    int status = bspz_image_decode(images, count, place, &restored, index, fault);
    if (status == 0 && !same(&restored))
        status = -EILSEQ;
    restored_free(&restored);
    return status;
}

/* A page that is kept must be in its place, and is so by what the older state put there. */
static int keep(void *context, uint64_t address, size_t length)
{
    struct restored *restored = context;

    for (uint64_t at = 0; at < length; at += PAGE) {
        unsigned char *times = NULL;
        for (uint32_t r = 0; r < restored->process->region_count; r++) {
            const struct bspz_image_region *region = &restored->process->regions[r];
            if (address + at >= region->address && address + at - region->address < region->length)
                times = &restored->times[r][(address + at - region->address) / PAGE];
        }
        if (!times || *times == 0)
            return -EFAULT;
    }
    return 0;
}

static int drop(void *context, uint64_t address, size_t length)
{
    struct restored *restored = context;

    for (uint64_t at = 0; at < length; at += PAGE) {
        unsigned char *page = place(restored, address + at, PAGE);
        if (!page)
            return -EFAULT;
        memset(page, 0, PAGE);
        for (uint32_t r = 0; r < restored->process->region_count; r++)
            if (page >= restored->bytes[r] &&
                page < restored->bytes[r] + restored->process->regions[r].length)
                restored->times[r][(page - restored->bytes[r]) / PAGE] = 0;
    }
    return 0;
}

int sample_advance(struct sample_reader *const *chain, uint32_t count, const uint32_t *bases,
                   uint32_t base_count, const struct sample_process *process, uint32_t *index,
                   struct bspz_image_fault *fault)
{
    struct bspz_image *images[BSPZ_IMAGE_CHAIN_MAX + 1];
    struct restored restored;
    const struct bspz_image_changes changes = {place, keep, drop, &restored};
    uint32_t at = bases[0];

    restored_make(&restored, process);
    list_images(chain, count, images);
    int status = bspz_image_decode(images + at, count - at, place, &restored, index, fault);
    for (uint32_t i = 1; i <= base_count && status == 0; i++) {
        uint32_t next = i < base_count ? bases[i] : 0;
        status = bspz_image_advance(images + next, count - next, at - next, &changes, index, fault);
        at = next;
    }
    if (status == 0 && !same(&restored))
        status = -EILSEQ;
    restored_free(&restored);
    return status;
}
