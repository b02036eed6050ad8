/* image_damage.c - damages images in random ways; none may go unnoticed: image_damage COUNT SEED.
 *
 * Bits flipped, bytes overwritten, ranges zeroed, cut out, doubled or exchanged, pieces of other
 * images put in, at random places and at the boundaries of sections.  A damage at one place must
 * also be reported as the place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/image_sample.h"

#define IMAGES 6

static struct sample_file images[IMAGES];
static uint64_t *sections[IMAGES]; /* where each section begins, and the end */
static size_t section_count[IMAGES];
static uint64_t state;

static size_t below(size_t limit)
{
    return limit ? (size_t)(sample_random(&state) % limit) : 0;
}

/* Three states of one process, each full and as an increment, and one of another. */
static void make_images(void)
{
    struct sample_process process;
    struct bspz_image_table *tables[2];

    for (int i = 0; i < 2; i++) {
        tables[i] = calloc(1, bspz_image_table_size(1000));
        tables[i]->capacity = 1000;
    }
    sample_process_make(&process, 60, 5);
    for (int i = 0; i < IMAGES; i++) {
        struct sample_options options = {.compress = i % 2, .next = tables[i % 2]};
        if (i == IMAGES - 1) {
            sample_process_free(&process);
            sample_process_make(&process, 60, 6);
        } else if (i > 0) {
            sample_process_change(&process, 4, (uint64_t)i);
            options.base = i > 2 ? tables[(i + 1) % 2] : NULL;
        }
        if (sample_image(&process, &options, &images[i], NULL) != 0)
            exit(2);
    }
    sample_process_free(&process);
    free(tables[0]);
    free(tables[1]);
}

static void find_sections(void)
{
    for (int i = 0; i < IMAGES; i++) {
        size_t at = sizeof(struct bspz_image_header);
        sections[i] = calloc(images[i].size / sizeof(struct bspz_image_section) + 2, 8);
        while (at < images[i].size) {
            struct bspz_image_section section;
            memcpy(&section, images[i].bytes + at, sizeof(section));
            sections[i][section_count[i]++] = at;
            at += sizeof(section) + section.stored;
        }
        sections[i][section_count[i]] = at;
    }
}

/* Replaces size bytes at `at` by others. */
static void replace(struct sample_file *file, size_t at, size_t size, const unsigned char *with,
                    size_t with_size)
{
    memmove(file->bytes + at + with_size, file->bytes + at + size, file->size - at - size);
    if (with_size > 0)
        memcpy(file->bytes + at, with, with_size);
    file->size += with_size - size;
}

static void copy_of(struct sample_file *file, const struct sample_file *from)
{
    file->size = from->size;
    memcpy(file->bytes, from->bytes, from->size);
}

/* A section of the image and its extent. */
static size_t some_section(int image, size_t *size)
{
    size_t i = below(section_count[image]);

    *size = sections[image][i + 1] - sections[image][i];
    return sections[image][i];
}

static void exchange(struct sample_file *file, size_t a, size_t a_size, size_t b, size_t b_size)
{
    unsigned char *first = malloc(a_size + 1), *second = malloc(b_size + 1);

    memcpy(first, file->bytes + a, a_size);
    memcpy(second, file->bytes + b, b_size);
    if (a + a_size <= b) {
        replace(file, b, b_size, first, a_size);
        replace(file, a, a_size, second, b_size);
    }
    free(first);
    free(second);
}

/* Overwrites one byte or bit; where goes to *at. */
static void hit_one_byte(struct sample_file *file, int image, size_t *at)
{
    size_t size;

    *at = below(file->size);
    if (below(2)) /* the structs are small: seldom hit otherwise */
        *at = some_section(image, &size) + below(sizeof(struct bspz_image_section));
    if (below(8) == 0)
        *at = below(sizeof(struct bspz_image_header));
    file->bytes[*at] ^= below(2) ? 1u << below(8) : 1 + below(255);
}

/* Damages file, a copy of the image; *at is where, when that is one byte. */
static const char *damage(struct sample_file *file, int image, size_t *at)
{
    int other = (int)below(IMAGES);
    size_t size, other_size, from, to, longest = file->size < 9000 ? file->size : 9000;

    *at = SIZE_MAX;
    switch (below(12)) {
    case 0:
    case 1:
    case 2:
        hit_one_byte(file, image, at);
        return "one byte";
    case 3:
        for (size_t i = 2 + below(20); i > 0; i--)
            file->bytes[below(file->size)] ^= 1u << below(8);
        return "several bits";
    case 4:
        file->size = below(2) ? below(file->size) : some_section(image, &size);
        return "cut off";
    case 5:
        size = 1 + below(longest - 1);
        memset(file->bytes + below(file->size - size), below(2) ? 0 : 0xff, size);
        return "a range overwritten";
    case 6:
        from = some_section(image, &size);
        replace(file, from, size, NULL, 0);
        return "a section gone";
    case 7:
        from = some_section(image, &size);
        replace(file, from, 0, images[image].bytes + from, size);
        return "a section doubled";
    case 8:
        from = some_section(image, &size);
        to = some_section(image, &other_size);
        exchange(file, from, size, to, other_size);
        return "sections exchanged";
    case 9:
        from = some_section(image, &size);
        to = some_section(other, &other_size);
        replace(file, from, size, images[other].bytes + to, other_size);
        return "a section of another image";
    case 10:
        size = below(longest);
        to = below(file->size - size);
        from = to + size < images[other].size && below(2) ? to : below(images[other].size - size);
        replace(file, to, size, images[other].bytes + from, size);
        return "bytes of another image";
    default:
        size = below(longest / 2);
        from = below(file->size - 2 * size);
        exchange(file, from, size, from + size + below(file->size - from - 2 * size), size);
        return "ranges exchanged";
    }
}

static bool is_one_of(const struct sample_file *file)
{
    for (int i = 0; i < IMAGES; i++)
        if (file->size == images[i].size && memcmp(file->bytes, images[i].bytes, file->size) == 0)
            return true;
    return false;
}

static int run(unsigned long count)
{
    struct sample_file file = {.bytes = malloc(1u << 24)};
    unsigned long unnoticed = 0, misplaced = 0;

    for (unsigned long round = 0; round < count; round++) {
        struct bspz_image_fault fault = {.text = ""};
        int image = (int)below(IMAGES);
        const char *what;
        size_t at;
        do {
            copy_of(&file, &images[image]);
            what = damage(&file, image, &at);
        } while (is_one_of(&file));
        bool noticed = sample_check(&file, &fault) < 0;
        if (!noticed) {
            printf("round %lu, image %d: %s went unnoticed\n", round, image, what);
            unnoticed++;
        } else if (fault.text[0] == '\0' || fault.first >= fault.end ||
                   (at != SIZE_MAX && (at < fault.first || at >= fault.end))) {
            printf("round %lu, image %d: %s at %zu, reported as %" PRIu64 " to %" PRIu64 ", %s\n",
                   round, image, what, at, fault.first, fault.end, fault.text);
            misplaced++;
        }
    }
    printf("%lu damages, %lu unnoticed, %lu misplaced\n", count, unnoticed, misplaced);
    free(file.bytes);
    return unnoticed == 0 && misplaced == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: image_damage COUNT SEED\n");
        return 2;
    }
    state = strtoull(argv[2], NULL, 10);
    make_images();
    find_sections();
    for (int i = 0; i < IMAGES; i++) {
        struct bspz_image_fault fault;
        if (sample_check(&images[i], &fault) < 0) {
            printf("undamaged image %d: %s\n", i, fault.text);
            return EXIT_FAILURE;
        }
    }
    int status = run(strtoul(argv[1], NULL, 10));
    for (int i = 0; i < IMAGES; i++) {
        free(sections[i]);
        sample_file_free(&images[i]);
    }
    return status;
}
