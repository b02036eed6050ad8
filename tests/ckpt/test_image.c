/* test_image.c - coding, and images written and read again. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "ckpt/format/codec.h"
#include "tests/ckpt/image_sample.h"
#include "tests/unit/suite.h"

static struct bspz_image_fault fault;

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
    ck_assert_uint_eq(written.units, written.units_stored);
    ck_assert_uint_eq(written.units, process.pages);
    sample_must_open(&reader, &file);
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
    sample_must_open(&reader, &file);
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
    sample_must_open(&reader, &file);
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

/* The image of memory that reads as zero where nothing is saved: whole, or page by page by who
 * looks for zeros. */
static void write_zeroed(const unsigned char *memory, size_t pages, bool whole,
                         struct sample_file *file, void *scratch)
{
    struct bspz_image_config config = {.write = sample_write, .context = file, .compress = true};
    struct bspz_image_region region = {.address = 0x10000,
                                       .length = pages * BSPZ_IMAGE_UNIT,
                                       .protection = 3,
                                       .kind = BSPZ_REGION_ANON};
    struct bspz_image_writer *writer;
    struct bspz_image_written written;
    size_t saved = 0;

    config.header.page_size = BSPZ_IMAGE_UNIT;
    ck_assert_int_eq(bspz_image_writer_open(&writer, scratch, &config), 0);
    ck_assert_int_eq(bspz_image_region(writer, &region, NULL), 0);
    for (size_t i = 0, run; i < pages; i += run ? run : 1) {
        static const unsigned char zeros[BSPZ_IMAGE_UNIT];
        for (run = 0; i + run < pages &&
                      memcmp(memory + (i + run) * BSPZ_IMAGE_UNIT, zeros, BSPZ_IMAGE_UNIT) != 0;
             run++)
            saved++;
        if (run > 0 && !whole)
            ck_assert_int_eq(bspz_image_data(writer, region.address + i * BSPZ_IMAGE_UNIT,
                                             memory + i * BSPZ_IMAGE_UNIT, run * BSPZ_IMAGE_UNIT),
                             0);
    }
    if (whole)
        ck_assert_int_eq(bspz_image_zeroed(writer, region.address, memory, region.length), 0);
    ck_assert_int_eq(bspz_image_writer_close(writer, &written), 0);
    ck_assert_uint_eq(written.units, saved);
    ck_assert_uint_eq(written.total_bytes, saved * BSPZ_IMAGE_UNIT);
}

START_TEST(zeros_are_left_out)
{
    const size_t pages = 300;
    struct sample_file found = {0}, given = {0};
    unsigned char *memory = calloc(pages, BSPZ_IMAGE_UNIT);
    uint64_t random = 11;
    void *scratch = aligned_alloc(64, BSPZ_IMAGE_WRITER_SCRATCH);

    for (size_t i = 0; i < pages; i++) {
        uint64_t kind = sample_random(&random) % 4;
        if (kind == 1)
            memory[i * BSPZ_IMAGE_UNIT + sample_random(&random) % BSPZ_IMAGE_UNIT] =
                1; /* anywhere, and that is all */
        for (size_t j = 0; kind == 2 && j < BSPZ_IMAGE_UNIT / 8; j++)
            ((uint64_t *)(void *)memory)[i * BSPZ_IMAGE_UNIT / 8 + j] = sample_random(&random);
    }
    memory[BSPZ_IMAGE_UNIT - 1] = memory[(pages - 1) * BSPZ_IMAGE_UNIT] = 1;
    found.capacity = given.capacity = 2 * pages * BSPZ_IMAGE_UNIT;
    found.bytes = malloc(found.capacity);
    given.bytes = malloc(given.capacity);
    write_zeroed(memory, pages, true, &found, scratch);
    write_zeroed(memory, pages, false, &given, scratch);
    ck_assert_uint_eq(found.size, given.size);
    ck_assert_int_eq(memcmp(found.bytes, given.bytes, found.size), 0);
    memset(memory, 0, pages * BSPZ_IMAGE_UNIT);
    found.size = 0;
    write_zeroed(memory, pages, true, &found, scratch);
    free(found.bytes);
    free(given.bytes);
    free(memory);
    free(scratch);
}
END_TEST

/* A digest is begun in memory that an earlier one was in, and of which a part has other contents.
 */
START_TEST(a_digest_depends_on_nothing_but_bytes_and_seed)
{
    static const char bytes[] = "bytes of some length, so that they are not hashed at once";
    struct bspz_digest digest;
    uint64_t first[2], second[2];

    for (uint64_t seed = 0; seed < 3; seed++)
        for (size_t written = 0; written <= sizeof digest.state; written += 64) {
            memset(&digest, 0, sizeof digest);
            bspz_digest_start(&digest, seed);
            for (int i = 0; i < 20; i++)
                bspz_digest_add(&digest, bytes, sizeof bytes);
            bspz_digest_get(&digest, first);
            memset(digest.state, 0x5a, written);
            bspz_digest_start(&digest, seed);
            for (int i = 0; i < 20; i++)
                bspz_digest_add(&digest, bytes, sizeof bytes);
            bspz_digest_get(&digest, second);
            ck_assert_mem_eq(first, second, sizeof first);
        }
}
END_TEST

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
    tcase_add_test(image, zeros_are_left_out);
    tcase_add_test(image, a_digest_depends_on_nothing_but_bytes_and_seed);
    tcase_add_loop_test(image, calls_in_a_wrong_order_are_refused, 0, WRONG_CALLS);
    suite_add_tcase(suite, image);

    return suite_run(suite);
}
