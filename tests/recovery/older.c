/* older.c - makes a snapshot look as if libbsp 1 had taken it: older DIRECTORY.  For images that
 * are full, as nothing may build on them: their digests change, and the manifest says the new ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/manifest.h"
#include "tests/ckpt/image_sample.h"

static struct sample_file load(const char *directory, const char *name)
{
    struct sample_file file = {0};
    char path[4096];
    unsigned char bytes[4096];
    size_t size;

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        perror(path);
        exit(1);
    }
    while ((size = fread(bytes, 1, sizeof(bytes), stream)) > 0)
        sample_write(&file, bytes, size);
    fclose(stream);
    return file;
}

static void save(const char *directory, const char *name, const void *bytes, size_t size)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *stream = fopen(path, "r+b"); /* with the owner and mode it has */
    if (!stream || fwrite(bytes, 1, size, stream) != size || fclose(stream) != 0) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct manifest manifest;
    struct bspz_buffer buffer = {0};
    char error[MANIFEST_ERROR_SIZE], name[40];
    uint32_t version = 1;

    if (argc != 2)
        return 2;
    struct sample_file file = load(argv[1], "manifest");
    if (manifest_decode(file.bytes, file.size, &manifest, error) < 0) {
        fprintf(stderr, "older: %s\n", error);
        return 1;
    }
    for (uint32_t i = 0; i < manifest.images.count; i++) {
        const struct manifest_image *image = &manifest.images.items[i];
        if (image->facts.generation > 0) {
            fprintf(stderr, "older: process %u has an increment\n", i);
            return 1;
        }
        snprintf(name, sizeof(name), "%u.img", image->image_pid);
        struct sample_file bytes = load(argv[1], name);
        memcpy(bytes.bytes + offsetof(struct bspz_image_header, libbsp_version), &version,
               sizeof(version));
        sample_put_right(bytes.bytes, bytes.size);
        save(argv[1], name, bytes.bytes, bytes.size);
        /* The digest is what the file ends with. */
        memcpy((void *)image->facts.digest, bytes.bytes + bytes.size - BSPZ_IMAGE_DIGEST_SIZE,
               BSPZ_IMAGE_DIGEST_SIZE);
        sample_file_free(&bytes);
    }
    if (manifest_encode(&manifest, &buffer, error) < 0) {
        fprintf(stderr, "older: %s\n", error);
        return 1;
    }
    save(argv[1], "manifest", buffer.data, buffer.size);
    bspz_buffer_free(&buffer);
    manifest_free(&manifest);
    sample_file_free(&file);
    return 0;
}
