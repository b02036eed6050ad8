/* test_manifest.c - manifests and the small records as bytes: there and back, and what is refused.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/manifest_sample.h"
#include "tests/unit/suite.h"

static struct manifest_sample sample;
static char error[MANIFEST_ERROR_SIZE];
static struct bspz_buffer buffer, again;

static void tear_down(void)
{
    bspz_buffer_free(&buffer);
    bspz_buffer_free(&again);
}

/* Decoded and encoded once more it must be the same bytes, so nothing was lost. */
START_TEST(a_manifest_comes_back)
{
    struct manifest manifest;

    manifest_sample(&sample, 1 + (uint32_t)_i * 9, (uint64_t)_i, 3, _i > 1 ? 2 : 0);
    ck_assert_msg(manifest_encode(&sample.manifest, &buffer, error) == 0, "%s", error);
    ck_assert_msg(manifest_decode(buffer.data, buffer.size, &manifest, error) == 0, "%s", error);
    ck_assert_uint_eq(manifest.nprocs, sample.manifest.nprocs);
    ck_assert_uint_eq(manifest.name.superstep, (uint64_t)_i);
    ck_assert_uint_eq(manifest.created, 1700000000123456789u);
    ck_assert_str_eq(manifest.program, "/home/someone/prog");
    ck_assert_uint_eq(manifest.arguments.count, 5);
    ck_assert_str_eq(manifest.arguments.items[3], "");
    ck_assert_str_eq(manifest.arguments.items[4], "two words");
    ck_assert_str_eq(manifest.environment.items[1], "EMPTY=");
    ck_assert_uint_eq(manifest.images.items[manifest.nprocs - 1].facts.size,
                      100000 + manifest.nprocs - 1);
    ck_assert_mem_eq(manifest.images.items[0].facts.digest, sample.images[0].facts.digest,
                     BSPZ_IMAGE_DIGEST_SIZE);
    ck_assert_uint_eq(manifest.streams.items[2].position, 2000);
    for (uint32_t i = 0; i < manifest.nprocs; i++)
        ck_assert_uint_eq(manifest_together(&manifest, i), i % 3);
    ck_assert_int_eq(manifest_encode(&manifest, &again, error), 0);
    ck_assert_uint_eq(again.size, buffer.size);
    ck_assert_mem_eq(again.data, buffer.data, buffer.size);
    manifest_free(&manifest);
    manifest_free(&manifest);
}
END_TEST

START_TEST(terms_and_the_end_come_back)
{
    struct manifest_terms terms;
    struct manifest_finish finish;

    manifest_sample(&sample, 2, 8, 3, 0);
    ck_assert_int_eq(manifest_terms_encode(&sample.terms, &buffer, error), 0);
    ck_assert_int_eq(manifest_terms_decode(buffer.data, buffer.size, &terms, error), 0);
    ck_assert_uint_eq(terms.terms.count, 3);
    ck_assert_uint_eq(terms.terms.items[2].term, 7);
    ck_assert_uint_eq(terms.terms.items[2].from.superstep, 9);
    ck_assert_int_eq(manifest_finish_encode(&sample.finish, &again, error), 0);
    ck_assert_int_eq(manifest_finish_decode(again.data, again.size, &finish, error), 0);
    ck_assert_int_eq(finish.status, 3);
    ck_assert_str_eq(finish.text, "it is over");
    /* One is not the other. */
    ck_assert_int_eq(manifest_finish_decode(buffer.data, buffer.size, &finish, error), -EBADMSG);
    ck_assert_str_eq(error, "not a record of the end");
    manifest_terms_free(&terms);
    manifest_finish_free(&finish);
}
END_TEST

START_TEST(any_damage_is_noticed)
{
    struct manifest manifest;

    manifest_sample(&sample, 2, 8, 3, 1);
    ck_assert_int_eq(manifest_encode(&sample.manifest, &buffer, error), 0);
    for (size_t i = 0; i < buffer.size; i++)
        for (int bit = 0; bit < 8; bit++) {
            buffer.data[i] ^= (unsigned char)(1 << bit);
            int status = manifest_decode(buffer.data, buffer.size, &manifest, error);
            /* What has become the number of an older version has the wrong checksum. */
            bool other = i >= 8 && i < 12 && !(i == 8 && buffer.data[8] > 0 && buffer.data[8] < 3);
            ck_assert_int_eq(status, other ? -EPROTO : -EBADMSG);
            buffer.data[i] ^= (unsigned char)(1 << bit);
        }
    for (size_t size = 0; size < buffer.size; size++)
        ck_assert_int_eq(manifest_decode(buffer.data, size, &manifest, error), -EBADMSG);
    ck_assert_int_eq(manifest_decode(buffer.data, buffer.size, &manifest, error), 0);
    manifest_free(&manifest);
}
END_TEST

START_TEST(another_version_is_named)
{
    struct manifest manifest;

    manifest_sample(&sample, 2, 8, 3, 0);
    ck_assert_int_eq(manifest_encode(&sample.manifest, &buffer, error), 0);
    buffer.data[8] = 9;
    ck_assert_int_eq(manifest_decode(buffer.data, buffer.size, &manifest, error), -EPROTO);
    ck_assert_str_eq(error, "a manifest of version 9; this program reads version 3");
}
END_TEST

/* What does not fit together: text of the complaint. */
static const char *spoil(int which)
{
    struct manifest *manifest = &sample.manifest;

    switch (which) {
    case 0:
        manifest->images.count--;
        return "manifest: not as many images and places as processes";
    case 1:
        sample.host_of[1] = 2;
        return "manifest: a process on a host that does not exist";
    case 2:
        sample.images[1].pid = 0;
        return "manifest: the images are not in the order of the processes";
    case 3:
        sample.images[1].image_pid = 3;
        return "manifest: an image of a process that does not exist";
    case 4:
        memset(sample.images[0].facts.digest, 0, BSPZ_IMAGE_DIGEST_SIZE);
        return "manifest: an image without a digest";
    case 5:
        sample.images[0].facts.generation = 0;
        return "manifest: a full image with a base";
    case 6:
        memset(sample.images[0].facts.base.digest, 0, BSPZ_IMAGE_DIGEST_SIZE);
        return "manifest: an image without its base";
    case 7:
        sample.images[2].facts.base.superstep = 8;
        sample.images[2].facts.base.term = 3;
        return "manifest: an image whose base is not older";
    case 8:
        sample.images[2].facts.generation = 16;
        return "manifest: a chain of images that is too long";
    case 9:
        sample.streams[0].pid = 3;
        return "manifest: a stream of a process that does not exist";
    case 10:
        manifest->name.term = 0;
        return "manifest: no term";
    case 11:
        manifest->together.count--;
        return "manifest: processes share files with nobody";
    case 12:
        sample.together[1] = 2;
        return "manifest: processes share files with nobody";
    case 13:
        sample.together[1] = 0; /* not the lowest: that is in a group of its own */
        sample.together[2] = 1;
        return "manifest: processes share files with nobody";
    default:
        manifest->job.size = 15;
        return "manifest: no job";
    }
}
#define SPOILED 15

START_TEST(what_does_not_fit_together_is_refused)
{
    manifest_sample(&sample, 3, 8, 3, 1);
    const char *expected = spoil(_i);
    ck_assert_int_eq(manifest_encode(&sample.manifest, &buffer, error), -EINVAL);
    ck_assert_str_eq(error, expected);
    ck_assert_uint_eq(buffer.size, 0);
}
END_TEST

START_TEST(terms_must_ascend)
{
    manifest_sample(&sample, 3, 8, 3, 1);
    sample.term_list[1].term = 7;
    ck_assert_int_eq(manifest_terms_encode(&sample.terms, &buffer, error), -EINVAL);
    sample.term_list[1].term = 2;
    sample.term_list[1].from.term = 2;
    ck_assert_int_eq(manifest_terms_encode(&sample.terms, &buffer, error), -EINVAL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("manifest");
    TCase *tests = tcase_create("manifest");

    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_manifest_comes_back, 0, 7);
    tcase_add_test(tests, terms_and_the_end_come_back);
    tcase_add_test(tests, any_damage_is_noticed);
    tcase_add_test(tests, another_version_is_named);
    tcase_add_loop_test(tests, what_does_not_fit_together_is_refused, 0, SPOILED);
    tcase_add_test(tests, terms_must_ascend);
    suite_add_tcase(suite, tests);

    return suite_run(suite);
}
