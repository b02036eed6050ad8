/* test_increment.c - increments: what they store, and chains of them. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/image_sample.h"
#include "tests/unit/suite.h"

static struct bspz_image_fault fault;

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

/* Every other image is packed: those with an odd number, or the full one and all with an even one.
 */
static void history_make_with(struct history *history, uint32_t pages, bool full_is_packed)
{
    memset(history, 0, sizeof(*history));
    sample_process_make(&history->process, pages, 11);
    for (uint32_t i = 0; i < CHAIN; i++) {
        struct sample_options options = {.compress = i % 2 != full_is_packed};
        if (i > 0)
            sample_process_change(&history->process, i == 3 ? 2 : 97, i);
        history->tables[i] = sample_table(10000);
        options.base = i > 0 ? history->tables[i - 1] : NULL;
        options.next = history->tables[i];
        ck_assert_int_eq(
            sample_image(&history->process, &options, &history->files[i], &history->written[i]), 0);
        ck_assert_uint_eq(history->tables[i]->usable, 1);
        sample_must_open(&history->readers[i], &history->files[i]);
        ck_assert_uint_eq(history->readers[i].image.header.generation, i);
        history->chain[CHAIN - 1 - i] = &history->readers[i];
    }
}

static void history_make(struct history *history, uint32_t pages)
{
    history_make_with(history, pages, false);
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

    history_make_with(&history, 900, _i == 1);
    ck_assert_msg(sample_restore(history.chain, CHAIN, &history.process, NULL, &fault) == 0, "%s",
                  fault.text);
    if (_i == 0)
        ck_assert_uint_lt(history.files[1].size, history.files[0].size / 2);
    ck_assert_uint_lt(history.written[1].units_stored, history.written[1].units);
    ck_assert_uint_gt(history.written[1].units_stored, 0);
    /* From a source that cannot read into several places at once, too. */
    for (uint32_t i = 0; i < CHAIN; i++)
        history.readers[i].image.source.scatter = NULL;
    ck_assert_msg(sample_restore(history.chain, CHAIN, &history.process, NULL, &fault) == 0, "%s",
                  fault.text);
    history_free(&history);
}
END_TEST

START_TEST(an_unchanged_process_stores_nothing)
{
    struct sample_process process;
    struct bspz_image_table *first = sample_table(1000), *second = sample_table(1000);
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
    ck_assert_uint_eq(written.units_stored, 0);
    ck_assert_uint_gt(written.units, 0);
    sample_must_open(&readers[0], &files[0]);
    sample_must_open(&readers[1], &files[1]);
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
    struct bspz_image_table *table = sample_table(1000);
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
    sample_must_open(&readers[0], &files[0]);
    sample_must_open(&readers[1], &files[1]);
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
    struct bspz_image_table *again = sample_table(last->count),
                            *small = sample_table(last->count - 1);
    struct bspz_image *chain[CHAIN];
    uint64_t units = history.written[CHAIN - 1].units;
    for (uint32_t i = 0; i < CHAIN; i++)
        chain[i] = &history.chain[i]->image;
    ck_assert_int_eq(bspz_image_table_from(again, chain, CHAIN, &fault), 0);
    ck_assert_uint_eq(again->usable, 1);
    ck_assert_uint_eq(again->generation, last->generation);
    ck_assert_uint_eq(again->count, last->count);
    ck_assert_mem_eq(&again->image, &last->image, sizeof(again->image));
    ck_assert_mem_eq(again->blocks, last->blocks, last->count * sizeof(last->blocks[0]));
    ck_assert_mem_eq(bspz_image_table_hashes(again), bspz_image_table_hashes_of(last),
                     units * sizeof(struct bspz_image_hash));
    ck_assert_int_eq(bspz_image_table_from(small, chain, CHAIN, &fault), 0);
    ck_assert_uint_eq(small->usable, 0);
    ck_assert_int_eq(bspz_image_table_from(again, chain, CHAIN - 1, &fault), -ESTALE);
    ck_assert_uint_eq(again->usable, 0);
    free(again);
    free(small);
    history_free(&history);
}
END_TEST

/* Says of the pages in the newest table that they are in the full image; only_there: of those of
 * which it has some other state. */
static void lie(struct bspz_image_table *table, const struct bspz_image_table *full,
                bool only_there)
{
    for (uint64_t i = 0, k = 0; i < table->count; i++) {
        struct bspz_image_block *block = &table->blocks[i];
        uint32_t mask = only_there ? 0 : 0xffff;
        while (k < full->count && bspz_block_address(&full->blocks[k]) < bspz_block_address(block))
            k++;
        if (k < full->count && bspz_block_address(&full->blocks[k]) == bspz_block_address(block))
            mask |= bspz_block_mask(&full->blocks[k]);
        for (uint32_t unit = 0; unit < BSPZ_IMAGE_BLOCK_UNITS; unit++)
            if (mask >> unit & 1)
                block->sources &= ~(UINT64_C(15) << 4 * unit);
    }
}

/* A base's table says that pages are where they are not, or not as they are there: the images by
 * themselves are whole. */
START_TEST(a_chain_that_is_not_what_was_saved_is_refused)
{
    struct history history;
    struct sample_file file = {0};
    struct sample_reader reader, *chain[CHAIN + 1] = {&reader};
    uint32_t index = 99;

    history_make(&history, 300);
    lie(history.tables[CHAIN - 1], history.tables[0], _i == 1);
    history.process.superstep++;
    struct sample_options options = {.base = history.tables[CHAIN - 1]};
    ck_assert_int_eq(sample_image(&history.process, &options, &file, NULL), 0);
    sample_must_open(&reader, &file);
    memcpy(chain + 1, history.chain, sizeof(history.chain));
    ck_assert_int_eq(sample_restore(chain, CHAIN + 1, &history.process, &index, &fault), -EBADMSG);
    ck_assert_msg(strstr(fault.text, _i == 0 ? "are missing" : "together are not"), "%s",
                  fault.text);
    sample_reader_free(&reader);
    sample_file_free(&file);
    history_free(&history);
}
END_TEST

/* One page in a hundred, or in ten, here and there, of memory that does not compress. */
START_TEST(an_increment_is_little_more_than_what_changed)
{
    static const uint32_t one_in[] = {100, 10};
    const uint64_t size = 64u << 20, pages = size / 4096;
    struct sample_process process = {.nprocs = 1, .term = 1, .superstep = 1, .region_count = 1};
    struct bspz_image_table *table = sample_table(size / BSPZ_IMAGE_BLOCK + 1);
    struct sample_options options = {.next = table, .compress = true};
    struct sample_file files[2] = {0};
    struct sample_reader readers[2], *chain[2] = {&readers[1], &readers[0]};
    uint64_t random = 5, changed = 0;

    process.regions[0] = (struct bspz_image_region){
        .address = 0x7f0000003000, .length = size, .protection = 3, .kind = BSPZ_REGION_ANON};
    process.bytes[0] = malloc(size);
    process.present[0] = malloc(pages);
    memset(process.present[0], 1, pages);
    for (uint64_t i = 0; i < size / 8; i++)
        ((uint64_t *)process.bytes[0])[i] = sample_random(&random);
    ck_assert_int_eq(sample_image(&process, &options, &files[0], NULL), 0);
    for (uint64_t i = 0; i < pages; i++)
        if (sample_random(&random) % one_in[_i] == 0) {
            process.bytes[0][i * 4096 + 77] ^= 1;
            changed++;
        }
    process.superstep++;
    options = (struct sample_options){.base = table, .compress = true};
    ck_assert_int_eq(sample_image(&process, &options, &files[1], NULL), 0);
    ck_assert_uint_gt(changed, pages / one_in[_i] / 2);
    ck_assert_uint_le(files[1].size, changed * 4096 + changed * 4096 / 10);
    /* And not a read for each page. */
    for (int i = 0; i < 2; i++)
        sample_must_open(&readers[i], &files[i]);
    ck_assert_msg(sample_restore(chain, 2, &process, NULL, &fault) == 0, "%s", fault.text);
    ck_assert_uint_gt(files[1].scattered, 0);
    ck_assert_uint_le(files[1].scattered, changed * 4096 / BSPZ_IMAGE_RECORD_MAX + 2);
    sample_reader_free(&readers[0]);
    sample_reader_free(&readers[1]);
    sample_file_free(&files[0]);
    sample_file_free(&files[1]);
    sample_process_free(&process);
    free(table);
}
END_TEST

START_TEST(a_table_that_is_too_small_is_no_base)
{
    struct sample_process process;
    struct bspz_image_table *table = sample_table(3);
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
    struct bspz_image_table *tables[2] = {sample_table(1000), sample_table(1000)};
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

/* ---- From one state to a newer one ----------------------------------------------------------- */

START_TEST(an_older_state_becomes_the_newest)
{
    static const uint32_t one_by_one[] = {5, 4, 3, 2, 1}, in_two_steps[] = {4, 1};
    struct history history;

    history_make_with(&history, 900, _i == 1);
    for (uint32_t base = 1; base < CHAIN; base++)
        ck_assert_msg(
            sample_advance(history.chain, CHAIN, &base, 1, &history.process, NULL, &fault) == 0,
            "from %u: %s", base, fault.text);
    ck_assert_msg(
        sample_advance(history.chain, CHAIN, one_by_one, 5, &history.process, NULL, &fault) == 0,
        "%s", fault.text);
    ck_assert_msg(
        sample_advance(history.chain, CHAIN, in_two_steps, 2, &history.process, NULL, &fault) == 0,
        "%s", fault.text);
    history_free(&history);
}
END_TEST

/* Damage in an older image was found before, and in a newer one is found now. */
START_TEST(damage_between_two_states_is_found)
{
    struct history history;
    uint32_t base = 3, index = 99, none = 0, all = CHAIN;

    history_make(&history, 900);
    struct sample_file *newer = &history.files[CHAIN - 2];
    newer->bytes[newer->size / 2] ^= 0x10;
    int status = sample_advance(history.chain, CHAIN, &base, 1, &history.process, &index, &fault);
    ck_assert_int_eq(status, -EBADMSG);
    ck_assert_uint_eq(index, 1);
    newer->bytes[newer->size / 2] ^= 0x10;
    ck_assert_int_eq(
        sample_advance(history.chain, CHAIN, &none, 1, &history.process, &index, &fault), -EINVAL);
    struct bspz_image *images[CHAIN];
    for (uint32_t i = 0; i < CHAIN; i++)
        images[i] = &history.chain[i]->image;
    ck_assert_int_eq(bspz_image_advance(images, CHAIN, all, NULL, &index, &fault), -EINVAL);
    ck_assert_int_eq(bspz_image_advance(images, CHAIN - 1, 2, NULL, &index, &fault), -ESTALE);
    history_free(&history);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("increment");
    TCase *image = tcase_create("image");

    tcase_set_timeout(image, 60);
    tcase_add_loop_test(image, a_chain_gives_every_page_once, 0, 2);
    tcase_add_test(image, an_unchanged_process_stores_nothing);
    tcase_add_test(image, a_region_may_be_divided_later);
    tcase_add_test(image, a_table_read_back_is_the_table_written);
    tcase_add_loop_test(image, a_chain_that_is_not_what_was_saved_is_refused, 0, 2);
    tcase_add_loop_test(image, an_increment_is_little_more_than_what_changed, 0, 2);
    tcase_add_test(image, a_table_that_is_too_small_is_no_base);
    tcase_add_test(image, a_chain_has_a_longest_length);
    tcase_add_test(image, a_missing_or_foreign_base_is_refused_by_name);
    tcase_add_test(image, damage_in_a_base_is_found_while_decoding);
    tcase_add_loop_test(image, an_older_state_becomes_the_newest, 0, 2);
    tcase_add_test(image, damage_between_two_states_is_found);
    suite_add_tcase(suite, image);

    return suite_run(suite);
}
