/* fuzz_image.c - the reader of images: whatever the bytes are, it comes back; what it verifies, it
 * decodes to the places it names and nowhere else.
 *
 * Random bytes seldom have the right hashes, so each input is also tried with its hashes put right:
 * then everything behind them has to hold by itself. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/image_sample.h"

#define INPUT_MAX 65536u
#define INCREMENT 3u /* number of the seed that is one */

/* The places of one record, which are in use together, lie beside each other. */
static unsigned char record[2 * BSPZ_IMAGE_RECORD_MAX];
static size_t record_used;
/* Made once: with a sanitizer, memory of this size costs more than reading an image. */
static _Alignas(64) unsigned char scratch[BSPZ_IMAGE_READER_SCRATCH];

static void *place(void *context, uint64_t address, size_t length)
{
    const struct bspz_image *image = context;
    uint64_t i = 0;

    FUZZ_CHECK(length > 0 && length <= BSPZ_IMAGE_RECORD_MAX);
    while (i < image->end.regions &&
           image->regions[i]->address + image->regions[i]->length <= address)
        i++;
    FUZZ_CHECK(i < image->end.regions && image->regions[i]->address <= address &&
               address + length <= image->regions[i]->address + image->regions[i]->length);
    if (length > sizeof(record) - record_used)
        record_used = 0;
    record_used += length;
    return record + record_used - length;
}

static void look(const struct bspz_image *image)
{
    uint32_t version;
    size_t size;

    for (uint32_t tag = 0; tag < 70; tag++) {
        const char *bytes = bspz_image_find(image, tag, &version, &size);
        for (size_t i = 0; bytes && i < size; i += 64)
            record[i % 64] = (unsigned char)bytes[i];
    }
    for (uint64_t i = 0; i < image->end.regions; i++)
        FUZZ_CHECK(strlen(bspz_image_region_path(image->regions[i])) ==
                   image->regions[i]->path_size);
    for (uint64_t i = 0; i < image->end.descriptors; i++)
        FUZZ_CHECK(strlen(bspz_image_descriptor_path(image->descriptors[i])) ==
                   image->descriptors[i]->path_size);
}

static void make_sample(unsigned number, struct sample_process *process,
                        struct bspz_image_table *table, struct sample_file *file)
{
    struct sample_options options = {.compress = true, .next = table};

    sample_process_make(process, 1, number);
    for (uint32_t r = 0; r < process->region_count; r++) {
        uint64_t count = process->regions[r].length / 4096;
        memset(process->bytes[r], (int)(7 * r), process->regions[r].length);
        for (uint64_t i = 0; i < count; i++)
            process->present[r][i] = number > 0 && (i % 3 == number % 3 || i + 1 == count);
    }
    FUZZ_CHECK(sample_image(process, &options, file, NULL) == 0);
}

/* The image that the increment among the seeds is based on. */
static struct sample_reader *base_of_seed(void)
{
    static struct sample_reader base;
    static struct sample_file file;

    if (!base.memory) {
        struct sample_process process;
        make_sample(INCREMENT, &process, NULL, &file);
        sample_process_free(&process);
        sample_must_open(&base, &file);
    }
    return &base;
}

static void read_image(const uint8_t *bytes, size_t size)
{
    struct sample_file file = {.bytes = (unsigned char *)bytes, .size = size};
    struct bspz_image_fault fault = {.text = ""};
    struct sample_reader reader;
    uint32_t index;

    int status = sample_open_with(&reader, &file, scratch, &fault);
    if (status == 0)
        status = sample_load(&reader, &fault);
    if (status == 0) {
        look(&reader.image);
        status = bspz_image_verify(&reader.image, &fault);
        struct bspz_image *chain[1] = {&reader.image};
        struct bspz_image_fault other;
        int decoded = bspz_image_decode(chain, 1, place, &reader.image, &index, &other);
        if (reader.image.header.generation == 0)
            FUZZ_CHECK(status < 0 || decoded == 0);
        else
            FUZZ_CHECK(decoded == -ESTALE);
        struct bspz_image *both[2] = {&reader.image, &base_of_seed()->image};
        struct bspz_image_table *table = sample_table(reader.image.end.blocks);
        decoded = bspz_image_decode(both, 2, place, &reader.image, &index, &other);
        int listed = bspz_image_table_from(table, both, 2, &other);
        FUZZ_CHECK(decoded < 0 || (listed == 0 && table->usable));
        free(table);
    }
    FUZZ_CHECK(status == 0 || (fault.text[0] != '\0' && fault.first <= fault.end));
    sample_reader_free(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > INPUT_MAX)
        return 0;
    read_image(bytes, size);
    uint8_t *copy = malloc(size + 1);
    FUZZ_CHECK(copy);
    if (size > 0)
        memcpy(copy, bytes, size);
    sample_put_right(copy, size);
    read_image(copy, size);
    free(copy);
    return 0;
}

/* Small images: with what compresses well, without memory, as an increment. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    struct sample_process process;
    struct sample_file file = {0};
    struct bspz_image_table *table;

    if (number >= 4)
        return 0;
    table = sample_table(64);
    make_sample(number, &process, table, &file);
    if (number == INCREMENT) {
        struct sample_options options = {.compress = true, .base = table};
        sample_file_free(&file);
        process.bytes[1][5] ^= 1;
        FUZZ_CHECK(sample_image(&process, &options, &file, NULL) == 0);
    }
    FUZZ_CHECK(file.size <= FUZZ_SEED_MAX);
    memcpy(bytes, file.bytes, file.size);
    size_t size = file.size;
    sample_file_free(&file);
    sample_process_free(&process);
    free(table);
    return size;
}
