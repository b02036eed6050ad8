/* golden.c - files of every version of the formats must stay readable, and what this version writes
 * must be the same bytes: golden DIR; golden --write DIR makes the files that this version writes.
 *
 * What lz4 packs may change with its version, so the packed image is only read. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ckpt/image_sample.h"
#include "tests/ckpt/manifest_sample.h"

static const char *directory;
static bool writing;
static unsigned failures;
static char error[MANIFEST_ERROR_SIZE];
static struct bspz_image_fault fault;

static void wrong(const char *name, const char *text)
{
    printf("%s: %s\n", name, text);
    failures++;
}

/* The file's bytes, or an empty one when it is being made now. */
static struct sample_file load(const char *name)
{
    struct sample_file file = {0};
    char path[4096];
    unsigned char bytes[4096];
    size_t size;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        wrong(name, "cannot be opened");
        return file;
    }
    while ((size = fread(bytes, 1, sizeof(bytes), stream)) > 0)
        sample_write(&file, bytes, size);
    fclose(stream);
    return file;
}

/* Writes the bytes, or compares them with the file. */
static void expect(const char *name, const void *bytes, size_t size)
{
    char path[4096];

    if (writing) {
        snprintf(path, sizeof(path), "%s/%s", directory, name);
        FILE *stream = fopen(path, "wb");
        if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0)
            wrong(name, "cannot be written");
        return;
    }
    struct sample_file file = load(name);
    if (file.size != size || memcmp(file.bytes, bytes, size) != 0)
        wrong(name, "this version writes other bytes");
    sample_file_free(&file);
}

/* A few pages: on both sides of a seam, at the ends, and alone. */
static void make_process(struct sample_process *process)
{
    sample_process_make(process, 1, 1);
    for (uint32_t r = 0; r < process->region_count; r++) {
        uint64_t count = process->regions[r].length / 4096;
        for (uint64_t i = 0; i < count; i++)
            process->present[r][i] = (r == 0 && i == 0) || (r == 1 && i + 1 == count) ||
                                     (r == 2 && i < 2) || (r == 3 && i + 1 == count);
    }
}

static void change_process(struct sample_process *process)
{
    process->superstep++;
    memset(process->bytes[2], 0x42, 100);
    process->present[3][0] = 1;
}

/* The images of one version: of both states, and of the first one packed. */
static void read_images(const char *version, const struct sample_process states[2])
{
    static const char *const images[] = {"full.img", "increment.img", "packed.img"};
    char names[3][40];
    struct sample_file files[3];
    struct sample_reader readers[3];
    struct sample_reader *chain[2] = {&readers[1], &readers[0]}, *packed[1] = {&readers[2]};

    for (int i = 0; i < 3; i++) {
        snprintf(names[i], sizeof(names[i]), "%s/%s", version, images[i]);
        files[i] = load(names[i]);
        fault.text[0] = '\0';
        if (sample_open(&readers[i], &files[i], &fault) < 0 ||
            readers[i].image.header.version != strtoul(version, NULL, 10) ||
            sample_load(&readers[i], &fault) < 0 ||
            bspz_image_verify(&readers[i].image, &fault) < 0) {
            wrong(names[i], fault.text);
            return;
        }
    }
    if (sample_restore(chain + 1, 1, &states[0], NULL, &fault) < 0)
        wrong(names[0], "it is not the state it was");
    if (sample_restore(chain, 2, &states[1], NULL, &fault) < 0)
        wrong(names[1], "it is not the state it was");
    if (sample_restore(packed, 1, &states[0], NULL, &fault) < 0)
        wrong(names[2], "it is not the state it was");
    for (int i = 0; i < 3; i++) {
        sample_reader_free(&readers[i]);
        sample_file_free(&files[i]);
    }
}

static void check_images(void)
{
    struct bspz_image_table *table = calloc(1, bspz_image_table_size(100));
    struct sample_process states[2];
    struct sample_file full = {0}, increment = {0}, packed = {0};

    table->capacity = 100;
    for (int i = 0; i < 2; i++)
        make_process(&states[i]);
    change_process(&states[1]);
    struct sample_options options = {.next = table};
    sample_image(&states[0], &options, &full, NULL);
    expect("2/full.img", full.bytes, full.size);
    options = (struct sample_options){.base = table};
    sample_image(&states[1], &options, &increment, NULL);
    expect("2/increment.img", increment.bytes, increment.size);
    if (writing) {
        options = (struct sample_options){.compress = true};
        sample_image(&states[0], &options, &packed, NULL);
        expect("2/packed.img", packed.bytes, packed.size);
    }
    read_images("1", states);
    read_images("2", states);
    for (int i = 0; i < 2; i++)
        sample_process_free(&states[i]);
    sample_file_free(&full);
    sample_file_free(&increment);
    sample_file_free(&packed);
    free(table);
}

static void check_documents(void)
{
    static struct manifest_sample sample;
    struct bspz_buffer buffers[3] = {0};
    static const char *const names[] = {"3/manifest", "1/term", "1/finished"};
    struct manifest manifest = {0};
    struct manifest_terms terms = {0};
    struct manifest_finish finish = {0};

    manifest_sample(&sample, 3, 9, 7, 2);
    if (manifest_encode(&sample.manifest, &buffers[0], error) < 0 ||
        manifest_terms_encode(&sample.terms, &buffers[1], error) < 0 ||
        manifest_finish_encode(&sample.finish, &buffers[2], error) < 0)
        wrong("documents", error);
    for (int i = 0; i < 3; i++) {
        expect(names[i], buffers[i].data, buffers[i].size);
        struct sample_file file = load(names[i]);
        int status = i == 0   ? manifest_decode(file.bytes, file.size, &manifest, error)
                     : i == 1 ? manifest_terms_decode(file.bytes, file.size, &terms, error)
                              : manifest_finish_decode(file.bytes, file.size, &finish, error);
        if (status < 0)
            wrong(names[i], error);
        sample_file_free(&file);
        bspz_buffer_free(&buffers[i]);
    }
    if (manifest.nprocs != 3 || manifest.streams.count != 9 || terms.terms.count != 3 ||
        finish.status != 3)
        wrong("documents", "they do not say what they said");
    manifest_free(&manifest);
    manifest_terms_free(&terms);
    manifest_finish_free(&finish);
}

/* Version 1 does not know who shares files: those of one host are taken to.  Neither it nor version
 * 2 knows what had been read. */
static void check_older_manifest(const char *name, bool grouped)
{
    struct sample_file file = load(name);
    struct manifest manifest = {0};

    if (manifest_decode(file.bytes, file.size, &manifest, error) < 0)
        wrong(name, error);
    else if (manifest.nprocs != 3 || manifest.streams.count != 9 || manifest.input_digest != 0 ||
             strcmp(manifest.version, "0.1.0") != 0)
        wrong(name, "it does not say what it said");
    else
        for (uint32_t pid = 0; pid < manifest.nprocs; pid++)
            if (manifest_together(&manifest, pid) != (grouped ? pid % 3 : pid % 2))
                wrong(name, "others share files");
    sample_file_free(&file);
    manifest_free(&manifest);
}

int main(int argc, char **argv)
{
    writing = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (argc != 2 && !writing) {
        fprintf(stderr, "usage: golden [--write] DIR\n");
        return 2;
    }
    directory = argv[argc - 1];
    check_images();
    check_documents();
    check_older_manifest("1/manifest", false);
    check_older_manifest("2/manifest", true);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
