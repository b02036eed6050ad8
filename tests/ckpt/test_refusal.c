/* test_refusal.c - images that are whole and wrong all the same: forged, or not the expected ones.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/format/section.h"
#include "tests/ckpt/image_sample.h"
#include "tests/unit/suite.h"

static struct bspz_image_fault fault;

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
    static const uint16_t kinds[] = {BSPZ_IMAGE_HASHES, BSPZ_IMAGE_BLOCKS, BSPZ_IMAGE_BLOCKS,
                                     BSPZ_IMAGE_BLOCKS};
    uint16_t kind = which < 4 ? kinds[which] : BSPZ_IMAGE_DATA;
    size_t at = find_section(file, kind, 0, &section);
    unsigned char *bytes = file->bytes + at + sizeof(section);
    size_t whole = sizeof(section) + section.stored;

    switch (which) {
    case 0: /* another hash of the first page */
        bytes[8] ^= 1;
        return "the page at 0x555555554000 is not what it was";
    case 1: /* a page more than there is */
        bytes[0] |= 1;
        return "does not fit";
    case 2: /* the first one elsewhere */
        bytes[0] ^= 0x30;
        return "are not in the table of blocks";
    case 3: /* the second one elsewhere, in the middle of a record */
        bytes[0] ^= 0xc0;
        return "the page at 0x555555556000 is not what it was";
    case 4: /* a record is taken out */
        memmove(file->bytes + at, file->bytes + at + whole, file->size - at - whole);
        file->size -= whole;
        return "are not in the table of blocks";
    case 5: /* the last one */
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
    case 6: /* one twice */
        memmove(file->bytes + at + whole, file->bytes + at, file->size - at);
        file->size += whole;
        return "a record out of order";
    default: /* elsewhere: address of the struct */
        section.where += 4096;
        memcpy(file->bytes + at, &section, sizeof(section));
        return "are not in the table of blocks";
    }
}
#define FORGED 8

START_TEST(forged_contents_are_refused)
{
    struct sample_process process;
    struct sample_options options = {.compress = false};
    struct sample_file file = {0};

    sample_process_make(&process, 600, 4);
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
    sample_must_open(&reader, &file);
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
    Suite *suite = suite_create("refusal");
    TCase *image = tcase_create("image");

    tcase_set_timeout(image, 60);
    tcase_add_loop_test(image, forged_contents_are_refused, 0, FORGED);
    tcase_add_test(image, an_end_that_does_not_fit_is_refused);
    tcase_add_test(image, another_identity_is_refused);
    suite_add_tcase(suite, image);

    return suite_run(suite);
}
