/* test_image.c - images written and read again: full ones, increments, chains, refusals. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "ckpt/format/codec.h"
#include "ckpt/format/section.h"
#include "tests/ckpt/image_sample.h"

static struct bspz_image_fault fault;

static struct bspz_image_table *new_table(uint64_t capacity)
{
    struct bspz_image_table *table = calloc(1, bspz_image_table_size(capacity));

    ck_assert_ptr_nonnull(table);
    table->capacity = capacity;
    return table;
}

static void open_all(struct sample_reader *reader, struct sample_file *file)
{
    ck_assert_msg(sample_open(reader, file, &fault) == 0, "%s", fault.text);
    ck_assert_msg(sample_load(reader, &fault) == 0, "%s", fault.text);
    ck_assert_msg(bspz_image_verify(&reader->image, &fault) == 0, "%s", fault.text);
}

/* ---- Codec ----------------------------------------------------------------------------------- */

static unsigned char raw[BSPZ_IMAGE_RECORD_MAX], back[BSPZ_IMAGE_RECORD_MAX];
static unsigned char sorted[BSPZ_IMAGE_RECORD_MAX];
static struct bspz_codec codec;

static size_t code(size_t size, enum bspz_image_coding *coding)
{
    const void *stored;
    size_t stored_size = bspz_encode(&codec, raw, size, coding, &stored);

    ck_assert_uint_le(stored_size, size);
    memset(back, 0xab, sizeof(back));
    ck_assert_int_eq(bspz_decode(*coding, stored, stored_size, back, size, sorted), 0);
    ck_assert_mem_eq(raw, back, size);
    return stored_size;
}

START_TEST(codings_are_chosen_by_content)
{
    static const size_t sizes[] = {4096, 8192, 12288, 65536, 135168, BSPZ_IMAGE_RECORD_MAX};
    enum bspz_image_coding coding;
    uint64_t random = 1;

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        size_t size = sizes[k];
        memset(raw, 0, size);
        ck_assert_uint_lt(code(size, &coding), size / 20);
        ck_assert_int_eq(coding, BSPZ_IMAGE_LZ4);
        for (size_t i = 0; i < size / 8; i++)
            ((uint64_t *)raw)[i] = sample_random(&random);
        ck_assert_uint_eq(code(size, &coding), size);
        ck_assert_int_eq(coding, BSPZ_IMAGE_RAW);
        for (size_t i = 0; i < size / 8; i++)
            ((double *)raw)[i] = 1.0 + (double)i * 1e-7;
        ck_assert_uint_lt(code(size, &coding), size * 7 / 8);
        ck_assert_int_eq(coding, BSPZ_IMAGE_LZ4_SORTED);
        for (size_t i = 0; i < size / 4; i++)
            ((uint32_t *)raw)[i] = (uint32_t)(sample_random(&random) % 256);
        ck_assert_uint_lt(code(size, &coding), size / 2);
        ck_assert_int_eq(coding, BSPZ_IMAGE_LZ4_SORTED);
    }
}
END_TEST

/* A sample that looks good, and noise where it was not taken. */
START_TEST(a_misleading_sample_does_no_harm)
{
    enum bspz_image_coding coding;
    uint64_t random = 5;
    const size_t quarter = sizeof(raw) / 4;

    for (size_t i = 0; i < sizeof(raw) / 8; i++)
        ((uint64_t *)raw)[i] = sample_random(&random);
    for (size_t i = 0; i < 4; i++)
        memset(raw + i * quarter + quarter / 2 - 2048, 0, 4096);
    ck_assert_uint_eq(code(sizeof(raw), &coding), sizeof(raw));
    ck_assert_int_eq(coding, BSPZ_IMAGE_RAW);
}
END_TEST

START_TEST(decoding_refuses_what_does_not_fit)
{
    const void *stored;
    enum bspz_image_coding coding;

    memset(raw, 7, 8192);
    size_t size = bspz_encode(&codec, raw, 8192, &coding, &stored);
    ck_assert_int_eq(bspz_decode(coding, stored, size, back, 4096, sorted), -1);
    ck_assert_int_eq(bspz_decode(coding, stored, size - 1, back, 8192, sorted), -1);
    ck_assert_int_eq(bspz_decode(coding, stored, size, back, 8193, sorted), -1);
    ck_assert_int_eq(bspz_decode(BSPZ_IMAGE_RAW, stored, size, back, 8192, sorted), -1);
}
END_TEST

/* ---- One image ------------------------------------------------------------------------------- */

START_TEST(what_is_written_is_read)
{
    struct sample_process process;
    struct sample_options options = {.compress = _i % 2};
    struct sample_file file = {0};
    struct sample_reader reader, *chain[1] = {&reader};
    struct bspz_image_written written;
    uint32_t version;
    size_t size;

    sample_process_make(&process, 100u << _i, (uint64_t)_i);
    ck_assert_int_eq(sample_image(&process, &options, &file, &written), 0);
    ck_assert_uint_eq(written.length, file.size);
    ck_assert_uint_eq(written.total_bytes, process.pages * 4096);
    ck_assert_uint_eq(written.raw_bytes, written.total_bytes);
    ck_assert_uint_eq(written.blocks, written.blocks_stored);
    open_all(&reader, &file);
    ck_assert_mem_eq(&reader.image.name, &written.name, sizeof(written.name));
    ck_assert_uint_eq(reader.image.header.pid, process.pid);
    ck_assert_uint_eq(reader.image.header.superstep, process.superstep);
    ck_assert_uint_eq(reader.image.end.regions, process.region_count);
    for (uint32_t i = 0; i < process.region_count; i++) {
        const struct bspz_image_region *region = reader.image.regions[i];
        const char *path = process.paths[i] ? process.paths[i] : "";
        ck_assert_uint_eq(region->address, process.regions[i].address);
        ck_assert_uint_eq(region->length, process.regions[i].length);
        ck_assert_uint_eq(region->kind, process.regions[i].kind);
        ck_assert_str_eq(bspz_image_region_path(region), path);
        ck_assert_uint_eq(region->path_size, strlen(path));
    }
    ck_assert_uint_eq(reader.image.end.descriptors, 4);
    ck_assert_uint_eq(reader.image.descriptors[3]->number, 5);
    ck_assert_str_eq(bspz_image_descriptor_path(reader.image.descriptors[3]),
                     "/home/someone/results of today.txt");
    const void *thread = bspz_image_find(&reader.image, BSPZ_IMAGE_TAG_THREAD, &version, &size);
    ck_assert_uint_eq(version, 3);
    ck_assert_uint_eq(size, 22);
    ck_assert_mem_eq(thread, "registers and the like", 22);
    ck_assert_ptr_nonnull(bspz_image_find(&reader.image, 9, &version, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_null(bspz_image_find(&reader.image, 2, &version, &size));
    ck_assert_msg(sample_restore(chain, 1, &process, NULL, &fault) == 0, "%s", fault.text);
    sample_reader_free(&reader);
    sample_file_free(&file);
    sample_process_free(&process);
}
END_TEST

/* The restored pages must be compared, or nothing here means anything. */
START_TEST(a_changed_process_is_not_the_same)
{
    struct sample_process process;
    struct sample_options options = {.compress = true};
    struct sample_file file = {0};
    struct sample_reader reader, *chain[1] = {&reader};

    sample_process_make(&process, 50, 3);
    ck_assert_int_eq(sample_image(&process, &options, &file, NULL), 0);
    open_all(&reader, &file);
    process.bytes[1][100] ^= 1;
    process.present[1][0] = 1;
    ck_assert_int_eq(sample_restore(chain, 1, &process, NULL, &fault), -EILSEQ);
    sample_reader_free(&reader);
    sample_file_free(&file);
    sample_process_free(&process);
}
END_TEST

START_TEST(a_full_disk_is_reported_wherever_it_happens)
{
    struct sample_process process;
    struct sample_options options = {.compress = false};
    struct sample_file whole = {0};

    sample_process_make(&process, 60, 4);
    ck_assert_int_eq(sample_image(&process, &options, &whole, NULL), 0);
    for (uint64_t at = 1; at < whole.size; at += whole.size / 37) {
        struct sample_file file = {.fail_after = at};
        ck_assert_int_eq(sample_image(&process, &options, &file, NULL), -ENOSPC);
        sample_file_free(&file);
    }
    sample_file_free(&whole);
    sample_process_free(&process);
}
END_TEST

START_TEST(many_regions_and_long_paths)
{
    struct sample_file file = {0};
    struct bspz_image_config config = {.write = sample_write, .context = &file};
    struct bspz_image_writer *writer;
    struct sample_reader reader;
    static char path[BSPZ_IMAGE_PATH_MAX + 2];
    void *scratch = aligned_alloc(64, BSPZ_IMAGE_WRITER_SCRATCH);
    const uint32_t count = 3000;

    config.header.page_size = 4096;
    ck_assert_int_eq(bspz_image_writer_open(&writer, scratch, &config), 0);
    memset(path, 'x', sizeof(path) - 1);
    for (uint32_t i = 0; i < count; i++) {
        struct bspz_image_region region = {
            .address = 4096u * (i + 1), .length = 4096, .protection = 1, .kind = BSPZ_REGION_FILE};
        ck_assert_int_eq(bspz_image_region(writer, &region, path + 1 + i % BSPZ_IMAGE_PATH_MAX), 0);
    }
    ck_assert_int_eq(bspz_image_writer_close(writer, NULL), 0);
    open_all(&reader, &file);
    ck_assert_uint_eq(reader.image.end.regions, count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_str_eq(bspz_image_region_path(reader.image.regions[i]),
                         path + 1 + i % BSPZ_IMAGE_PATH_MAX);
    sample_reader_free(&reader);
    sample_file_free(&file);
    free(scratch);
}
END_TEST

/* The writer as capture uses it: on a stack of its own, with nothing but the scratch memory. */
#define STACK_SIZE 65536u
#define STACK_USED 16384u /* what image.h promises */

static struct {
    ucontext_t test, writer;
    unsigned char *stack, *scratch, *memory;
    struct sample_file file; /* with room for everything */
    int status;
} small;

static void write_on_small_stack(void)
{
    struct bspz_image_config config = {
        .write = sample_write, .context = &small.file, .compress = true};
    struct bspz_image_region region = {.address = 0x100000,
                                       .length = 3 * BSPZ_IMAGE_RECORD_MAX,
                                       .protection = 3,
                                       .kind = BSPZ_REGION_ANON};
    struct bspz_image_descriptor descriptor = {.number = 3, .kind = BSPZ_DESCRIPTOR_FILE};
    struct bspz_image_writer *writer;

    config.header.page_size = 4096;
    bspz_image_writer_open(&writer, small.scratch, &config);
    bspz_image_opaque(writer, 1, 1, small.memory, 5000);
    bspz_image_region(writer, &region, "/some/where");
    bspz_image_descriptor(writer, &descriptor, "/any/where");
    bspz_image_data(writer, region.address, small.memory, region.length);
    small.status = bspz_image_writer_close(writer, NULL);
}

START_TEST(the_writer_needs_little_stack)
{
    const size_t size = 3 * BSPZ_IMAGE_RECORD_MAX;
    uint64_t random = 3;

    small.stack =
        mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(small.stack, MAP_FAILED);
    memset(small.stack, 0xa5, STACK_SIZE);
    small.scratch = aligned_alloc(64, BSPZ_IMAGE_WRITER_SCRATCH);
    small.memory = calloc(1, size); /* zeros, noise, and numbers to be sorted */
    for (size_t i = 0; i < BSPZ_IMAGE_RECORD_MAX / 8; i++) {
        ((uint64_t *)small.memory)[i + BSPZ_IMAGE_RECORD_MAX / 8] = sample_random(&random);
        ((double *)small.memory)[i + BSPZ_IMAGE_RECORD_MAX / 4] = 1.0 + (double)i * 1e-9;
    }
    small.file.capacity = 2 * size;
    small.file.bytes = malloc(small.file.capacity);
    ck_assert_int_eq(getcontext(&small.writer), 0);
    small.writer.uc_stack.ss_sp = small.stack;
    small.writer.uc_stack.ss_size = STACK_SIZE;
    small.writer.uc_link = &small.test;
    makecontext(&small.writer, write_on_small_stack, 0);
    errno = 12345;
    ck_assert_int_eq(swapcontext(&small.test, &small.writer), 0);
    ck_assert_int_eq(errno, 12345);
    ck_assert_int_eq(small.status, 0);
    size_t untouched = 0;
    while (untouched < STACK_SIZE && small.stack[untouched] == 0xa5)
        untouched++;
    ck_assert_uint_gt(untouched, 0);
    ck_assert_uint_le(STACK_SIZE - untouched, STACK_USED);
    ck_assert_msg(sample_check(&small.file, &fault) == 0, "%s", fault.text);
    sample_file_free(&small.file);
    free(small.scratch);
    free(small.memory);
    munmap(small.stack, STACK_SIZE);
}
END_TEST

/* Each of these is a mistake of the caller. */
static int wrong_call(struct bspz_image_writer *writer, int which)
{
    static unsigned char page[8192];
    struct bspz_image_region region = {
        .address = 0x10000, .length = 0x10000, .protection = 3, .kind = BSPZ_REGION_ANON};
    struct bspz_image_descriptor descriptor = {.number = 3, .kind = BSPZ_DESCRIPTOR_FILE};

    switch (which) {
    case 0: /* an opaque section after a region */
        bspz_image_region(writer, &region, NULL);
        return bspz_image_opaque(writer, 1, 1, page, 8);
    case 1: /* overlapping regions */
        bspz_image_region(writer, &region, NULL);
        region.address += 0x1000;
        return bspz_image_region(writer, &region, NULL);
    case 2: /* the same descriptor twice */
        bspz_image_descriptor(writer, &descriptor, NULL);
        return bspz_image_descriptor(writer, &descriptor, NULL);
    case 3: /* data backwards */
        bspz_image_region(writer, &region, NULL);
        bspz_image_data(writer, 0x12000, page, 4096);
        return bspz_image_data(writer, 0x11000, page, 8192);
    case 4: /* parts of pages */
        return bspz_image_data(writer, 0x11000, page, 100);
    case 5:
        return bspz_image_data(writer, 0x11010, page, 4096);
    case 6: /* after the end */
        bspz_image_writer_close(writer, NULL);
        return bspz_image_writer_close(writer, NULL);
    case 7: /* a region that wraps around */
        region.address = UINT64_MAX - 0xffff;
        region.length = 0x20000;
        return bspz_image_region(writer, &region, NULL);
    case 8: /* no kind */
        region.kind = 0;
        return bspz_image_region(writer, &region, NULL);
    case 9:
        return bspz_image_opaque(writer, 0, 1, page, 8);
    case 10:
        return bspz_image_opaque(writer, 65, 1, page, 8);
    default:
        return bspz_image_opaque(writer, 1, 1, page, BSPZ_IMAGE_OPAQUE_MAX + 1);
    }
}
#define WRONG_CALLS 12

START_TEST(calls_in_a_wrong_order_are_refused)
{
    struct sample_file file = {0};
    struct bspz_image_config config = {.write = sample_write, .context = &file};
    struct bspz_image_writer *writer;
    void *scratch = aligned_alloc(64, BSPZ_IMAGE_WRITER_SCRATCH);

    config.header.page_size = 4096;
    ck_assert_int_eq(bspz_image_writer_open(&writer, scratch, &config), 0);
    ck_assert_int_eq(wrong_call(writer, _i), -EINVAL);
    ck_assert_int_eq(bspz_image_writer_close(writer, NULL), -EINVAL);
    config.header.page_size = 5000;
    ck_assert_int_eq(bspz_image_writer_open(&writer, scratch, &config), -EINVAL);
    sample_file_free(&file);
    free(scratch);
}
END_TEST

/* ---- Increments ------------------------------------------------------------------------------ */

#define CHAIN 6u

struct history {
    struct sample_process process;
    struct sample_file files[CHAIN];
    struct bspz_image_written written[CHAIN];
    struct bspz_image_table *tables[CHAIN];
    struct sample_reader readers[CHAIN];
    struct sample_reader *chain[CHAIN]; /* newest first */
};

static void history_make(struct history *history, uint32_t pages)
{
    memset(history, 0, sizeof(*history));
    sample_process_make(&history->process, pages, 11);
    for (uint32_t i = 0; i < CHAIN; i++) {
        struct sample_options options = {.compress = i % 2};
        if (i > 0)
            sample_process_change(&history->process, i == 3 ? 2 : 97, i);
        history->tables[i] = new_table(10000);
        options.base = i > 0 ? history->tables[i - 1] : NULL;
        options.next = history->tables[i];
        ck_assert_int_eq(
            sample_image(&history->process, &options, &history->files[i], &history->written[i]), 0);
        ck_assert_uint_eq(history->tables[i]->usable, 1);
        open_all(&history->readers[i], &history->files[i]);
        ck_assert_uint_eq(history->readers[i].image.header.generation, i);
        history->chain[CHAIN - 1 - i] = &history->readers[i];
    }
}

static void history_free(struct history *history)
{
    sample_process_free(&history->process);
    for (uint32_t i = 0; i < CHAIN; i++) {
        sample_file_free(&history->files[i]);
        sample_reader_free(&history->readers[i]);
        free(history->tables[i]);
    }
}

START_TEST(a_chain_gives_every_page_once)
{
    struct history history;

    history_make(&history, 900);
    ck_assert_msg(sample_restore(history.chain, CHAIN, &history.process, NULL, &fault) == 0, "%s",
                  fault.text);
    ck_assert_uint_lt(history.files[1].size, history.files[0].size / 2);
    ck_assert_uint_lt(history.written[1].blocks_stored, history.written[1].blocks);
    ck_assert_uint_gt(history.written[1].blocks_stored, 0);
    history_free(&history);
}
END_TEST

START_TEST(an_unchanged_process_stores_nothing)
{
    struct sample_process process;
    struct bspz_image_table *first = new_table(1000), *second = new_table(1000);
    struct sample_options options = {.next = first};
    struct sample_file files[2] = {0};
    struct bspz_image_written written;
    struct sample_reader readers[2], *chain[2] = {&readers[1], &readers[0]};

    sample_process_make(&process, 200, 12);
    ck_assert_int_eq(sample_image(&process, &options, &files[0], NULL), 0);
    process.superstep++;
    options = (struct sample_options){.base = first, .next = second};
    ck_assert_int_eq(sample_image(&process, &options, &files[1], &written), 0);
    ck_assert_uint_eq(written.raw_bytes, 0);
    ck_assert_uint_eq(written.blocks_stored, 0);
    ck_assert_uint_gt(written.blocks, 0);
    open_all(&readers[0], &files[0]);
    open_all(&readers[1], &files[1]);
    ck_assert_msg(sample_restore(chain, 2, &process, NULL, &fault) == 0, "%s", fault.text);
    for (int i = 0; i < 2; i++) {
        sample_file_free(&files[i]);
        sample_reader_free(&readers[i]);
    }
    free(first);
    free(second);
    sample_process_free(&process);
}
END_TEST

/* mprotect cuts a region in two: what an older image stored in one piece now has two places. */
START_TEST(a_region_may_be_divided_later)
{
    struct sample_process process, divided;
    struct bspz_image_table *table = new_table(1000);
    struct sample_options options = {.next = table};
    struct sample_file files[2] = {0};
    struct sample_reader readers[2], *chain[2] = {&readers[1], &readers[0]};

    sample_process_make(&process, 300, 13);
    memset(process.present[3], 1, process.regions[3].length / 4096);
    ck_assert_int_eq(sample_image(&process, &options, &files[0], NULL), 0);
    divided = process;
    divided.superstep++;
    uint64_t cut = 37 * 4096;
    divided.regions[4] = divided.regions[3];
    divided.regions[3].length = cut;
    divided.regions[4].address += cut;
    divided.regions[4].length -= cut;
    divided.bytes[4] = process.bytes[3] + cut;
    divided.present[4] = process.present[3] + 37;
    divided.region_count = 5;
    options = (struct sample_options){.base = table};
    ck_assert_int_eq(sample_image(&divided, &options, &files[1], NULL), 0);
    open_all(&readers[0], &files[0]);
    open_all(&readers[1], &files[1]);
    ck_assert_uint_eq(readers[1].image.end.records, 0);
    ck_assert_msg(sample_restore(chain, 2, &divided, NULL, &fault) == 0, "%s", fault.text);
    for (int i = 0; i < 2; i++) {
        sample_file_free(&files[i]);
        sample_reader_free(&readers[i]);
    }
    free(table);
    sample_process_free(&process);
}
END_TEST

START_TEST(a_table_read_back_is_the_table_written)
{
    struct history history;

    history_make(&history, 300);
    const struct bspz_image_table *last = history.tables[CHAIN - 1];
    struct bspz_image_table *again = new_table(last->count), *small = new_table(last->count - 1);
    bspz_image_table_from(again, &history.readers[CHAIN - 1].image);
    ck_assert_uint_eq(again->usable, 1);
    ck_assert_uint_eq(again->generation, last->generation);
    ck_assert_uint_eq(again->count, last->count);
    ck_assert_mem_eq(&again->image, &last->image, sizeof(again->image));
    ck_assert_mem_eq(again->blocks, last->blocks, last->count * sizeof(last->blocks[0]));
    bspz_image_table_from(small, &history.readers[CHAIN - 1].image);
    ck_assert_uint_eq(small->usable, 0);
    free(again);
    free(small);
    history_free(&history);
}
END_TEST

START_TEST(a_table_that_is_too_small_is_no_base)
{
    struct sample_process process;
    struct bspz_image_table *table = new_table(3);
    struct sample_options options = {.next = table};
    struct sample_file file = {0};

    sample_process_make(&process, 200, 12);
    ck_assert_int_eq(sample_image(&process, &options, &file, NULL), 0);
    ck_assert_uint_eq(table->usable, 0);
    ck_assert(!bspz_image_may_extend(table));
    ck_assert(!bspz_image_may_extend(NULL));
    ck_assert_int_eq(sample_check(&file, &fault), 0);
    options = (struct sample_options){.base = table};
    ck_assert_int_eq(sample_image(&process, &options, &file, NULL), -EINVAL);
    sample_file_free(&file);
    free(table);
    sample_process_free(&process);
}
END_TEST

START_TEST(a_chain_has_a_longest_length)
{
    struct sample_process process;
    struct bspz_image_table *tables[2] = {new_table(1000), new_table(1000)};
    uint32_t length = 0;

    sample_process_make(&process, 30, 14);
    for (;; length++) {
        struct sample_file file = {0};
        struct sample_options options = {.base = length ? tables[length % 2] : NULL,
                                         .next = tables[(length + 1) % 2]};
        if (options.base && !bspz_image_may_extend(options.base)) {
            ck_assert_int_eq(sample_image(&process, &options, &file, NULL), -EINVAL);
            break;
        }
        ck_assert_int_eq(sample_image(&process, &options, &file, NULL), 0);
        ck_assert_int_eq(sample_check(&file, &fault), 0);
        sample_file_free(&file);
        process.superstep++;
    }
    ck_assert_uint_eq(length, BSPZ_IMAGE_CHAIN_MAX);
    free(tables[0]);
    free(tables[1]);
    sample_process_free(&process);
}
END_TEST

START_TEST(a_missing_or_foreign_base_is_refused_by_name)
{
    struct history history, other;
    struct sample_reader *chain[CHAIN + 1];
    uint32_t index = 99;

    history_make(&history, 60);
    history_make(&other, 90);
    memcpy(chain, history.chain, sizeof(history.chain));
    ck_assert_int_eq(sample_restore(chain, CHAIN - 1, &history.process, &index, &fault), -ESTALE);
    ck_assert_str_eq(fault.text,
                     "its base, the image of process 2 at superstep 7, term 1, is missing");
    ck_assert_uint_eq(index, CHAIN - 2);
    chain[CHAIN - 1] = other.chain[CHAIN - 1];
    ck_assert_int_eq(sample_restore(chain, CHAIN, &history.process, &index, &fault), -ESTALE);
    ck_assert_str_eq(fault.text,
                     "not the base that is needed, the image of process 2 at superstep 7, term 1");
    ck_assert_uint_eq(index, CHAIN - 1);
    chain[CHAIN - 1] = history.chain[CHAIN - 1];
    chain[CHAIN] = history.chain[CHAIN - 1];
    ck_assert_int_eq(sample_restore(chain, CHAIN + 1, &history.process, &index, &fault), -ESTALE);
    ck_assert_int_eq(sample_restore(chain + 1, 1, &history.process, &index, &fault), -ESTALE);
    ck_assert_int_eq(sample_restore(chain, 0, &history.process, &index, &fault), -ESTALE);
    history_free(&history);
    history_free(&other);
}
END_TEST

/* Bytes of a base that rotted after it was opened. */
START_TEST(damage_in_a_base_is_found_while_decoding)
{
    struct history history;
    uint32_t index = 99;

    history_make(&history, 300);
    struct sample_file *base = &history.files[0];
    base->bytes[base->size / 2] ^= 4;
    /* From the second image, which needs nearly all of the first. */
    ck_assert_int_eq(sample_restore(history.chain + CHAIN - 2, 2, &history.process, &index, &fault),
                     -EBADMSG);
    ck_assert_uint_eq(index, 1);
    ck_assert_uint_le(fault.first, base->size / 2);
    ck_assert_uint_gt(fault.end, base->size / 2);
    history_free(&history);
}
END_TEST

/* ---- Hashes that are right, and contents that are not ---------------------------------------- */

/* The n-th section of that kind; its struct is copied to *section. */
static size_t find_section(const struct sample_file *file, uint16_t kind, unsigned n,
                           struct bspz_image_section *section)
{
    size_t at = sizeof(struct bspz_image_header);

    for (;; at += sizeof(*section) + section->stored) {
        ck_assert_uint_lt(at, file->size);
        memcpy(section, file->bytes + at, sizeof(*section));
        if (section->kind == kind && n-- == 0)
            return at;
    }
}

/* Changes the image in a way that no hash of a section shows; returns the complaint. */
static const char *forge(struct sample_file *file, int which)
{
    struct bspz_image_section section;
    size_t at = find_section(file, which < 3 ? BSPZ_IMAGE_BLOCKS : BSPZ_IMAGE_DATA, 0, &section);
    unsigned char *bytes = file->bytes + at + sizeof(section);
    size_t whole = sizeof(section) + section.stored;

    switch (which) {
    case 0: /* another hash of the first block */
        bytes[8] ^= 1;
        return "the block at 0x555555550000 is not what it was";
    case 1: /* a unit more than there is */
        bytes[0] |= 1;
        return "are missing";
    case 2: /* one less */
        bytes[0] &= 0xef;
        return "are not in the table of blocks";
    case 3: /* a record is taken out */
        memmove(file->bytes + at, file->bytes + at + whole, file->size - at - whole);
        file->size -= whole;
        return "are missing";
    case 4: /* the last one */
        for (unsigned n = 0; section.kind == BSPZ_IMAGE_DATA; n++) {
            size_t next = at + sizeof(section) + section.stored;
            struct bspz_image_section after;
            memcpy(&after, file->bytes + next, sizeof(after));
            if (after.kind != BSPZ_IMAGE_DATA)
                break;
            at = find_section(file, BSPZ_IMAGE_DATA, n + 1, &section);
        }
        whole = sizeof(section) + section.stored;
        memmove(file->bytes + at, file->bytes + at + whole, file->size - at - whole);
        file->size -= whole;
        return "are missing";
    case 5: /* one twice */
        memmove(file->bytes + at + whole, file->bytes + at, file->size - at);
        file->size += whole;
        return "a record out of order";
    default: /* elsewhere: address of the struct */
        section.where += 4096;
        memcpy(file->bytes + at, &section, sizeof(section));
        return "are missing";
    }
}
#define FORGED 7

START_TEST(forged_contents_are_refused)
{
    struct sample_process process;
    struct sample_options options = {.compress = false};
    struct sample_file file = {0};

    sample_process_make(&process, 60, 4);
    for (uint32_t r = 0; r < process.region_count; r++) /* small records, with gaps */
        for (uint64_t i = 0; i < process.regions[r].length / 4096; i++)
            process.present[r][i] = i % 3 == 0;
    ck_assert_int_eq(sample_image(&process, &options, &file, NULL), 0);
    file.bytes = realloc(file.bytes, 2 * file.size);
    const char *expected = forge(&file, _i);
    sample_put_right(file.bytes, file.size);
    ck_assert_int_eq(sample_check(&file, &fault), -EBADMSG);
    ck_assert_msg(strstr(fault.text, expected) != NULL, "%s", fault.text);
    sample_file_free(&file);
    sample_process_free(&process);
}
END_TEST

/* Each number of the end, with the hash of the end itself right. */
START_TEST(an_end_that_does_not_fit_is_refused)
{
    struct sample_process process;
    struct sample_options options = {.compress = true};
    struct sample_file file = {0};
    struct bspz_image_section section;
    struct bspz_image_header header;

    sample_process_make(&process, 10, 4);
    ck_assert_int_eq(sample_image(&process, &options, &file, NULL), 0);
    memcpy(&header, file.bytes, sizeof(header));
    size_t at = find_section(&file, BSPZ_IMAGE_END, 0, &section);
    unsigned char *end = file.bytes + at + sizeof(section);
    for (size_t i = 0; i < sizeof(struct bspz_image_end); i++) {
        if (i / 8 == offsetof(struct bspz_image_end, raw_bytes) / 8 ||
            i / 8 == offsetof(struct bspz_image_end, data_bytes) / 8)
            continue; /* for people only */
        end[i] ^= 1;
        section.hash = bspz_hash64(end, section.stored, bspz_section_seed(&section, header.hash));
        section.check = bspz_section_check(&section, header.hash);
        memcpy(file.bytes + at, &section, sizeof(section));
        ck_assert_int_eq(sample_check(&file, &fault), -EBADMSG);
        end[i] ^= 1;
    }
    sample_file_free(&file);
    sample_process_free(&process);
}
END_TEST

/* ---- Identity -------------------------------------------------------------------------------- */

START_TEST(another_identity_is_refused)
{
    struct sample_process process;
    struct sample_options options = {0};
    struct sample_file file = {0};
    struct sample_reader reader;
    struct bspz_image_written written;
    static const uint8_t build_id[20] = "0123456789abcdefghi";
    const uint8_t right_id[4] = {0x11, 0x11, 0x11, 0x11};

    sample_process_make(&process, 10, 1);
    ck_assert_int_eq(sample_image(&process, &options, &file, &written), 0);
    open_all(&reader, &file);
    struct bspz_image_name name = written.name;
    struct bspz_image_expected right = {.job = (const uint8_t *)"job of a sample!",
                                        .name = &name,
                                        .nprocs = 4,
                                        .arch = BSPZ_IMAGE_X86_64,
                                        .page_size = 4096,
                                        .build_id_size = 20,
                                        .build_id = reader.image.header.build_id};
    ck_assert_int_eq(bspz_image_expect(&reader.image, &right, &fault), 0);
    struct bspz_image_expected wrong[] = {right, right, right, right, right,
                                          right, right, right, right, right};
    struct bspz_image_name names[] = {name, name, name, name};
    names[0].pid++;
    names[1].superstep--;
    names[2].term++;
    names[3].digest[15] ^= 1;
    for (int i = 0; i < 4; i++)
        wrong[i].name = &names[i];
    wrong[4].job = (const uint8_t *)"job of a simple!";
    wrong[5].nprocs = 3;
    wrong[6].arch = BSPZ_IMAGE_AARCH64;
    wrong[7].page_size = 65536;
    wrong[8].build_id = build_id;
    wrong[9].build_id_size = 4;
    wrong[9].build_id = right_id;
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(bspz_image_expect(&reader.image, &wrong[i], &fault), -ESTALE);
        ck_assert_uint_gt(strlen(fault.text), 10);
    }
    sample_reader_free(&reader);
    sample_file_free(&file);
    sample_process_free(&process);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *codec_case = tcase_create("codec"), *image = tcase_create("image");

    tcase_add_test(codec_case, codings_are_chosen_by_content);
    tcase_add_test(codec_case, a_misleading_sample_does_no_harm);
    tcase_add_test(codec_case, decoding_refuses_what_does_not_fit);
    suite_add_tcase(suite, codec_case);
    tcase_set_timeout(image, 60);
    tcase_add_loop_test(image, what_is_written_is_read, 0, 6);
    tcase_add_test(image, a_changed_process_is_not_the_same);
    tcase_add_test(image, a_full_disk_is_reported_wherever_it_happens);
    tcase_add_test(image, many_regions_and_long_paths);
    tcase_add_test(image, the_writer_needs_little_stack);
    tcase_add_loop_test(image, calls_in_a_wrong_order_are_refused, 0, WRONG_CALLS);
    tcase_add_test(image, a_chain_gives_every_page_once);
    tcase_add_test(image, an_unchanged_process_stores_nothing);
    tcase_add_test(image, a_region_may_be_divided_later);
    tcase_add_test(image, a_table_read_back_is_the_table_written);
    tcase_add_test(image, a_table_that_is_too_small_is_no_base);
    tcase_add_test(image, a_chain_has_a_longest_length);
    tcase_add_test(image, a_missing_or_foreign_base_is_refused_by_name);
    tcase_add_test(image, damage_in_a_base_is_found_while_decoding);
    tcase_add_loop_test(image, forged_contents_are_refused, 0, FORGED);
    tcase_add_test(image, an_end_that_does_not_fit_is_refused);
    tcase_add_test(image, another_identity_is_refused);
    suite_add_tcase(suite, image);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
