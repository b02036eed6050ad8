/* replay.c - runs a fuzz target as an ordinary test.
 *
 *   replay [FILE...]        the seeds, damaged copies of them, and the files
 *   replay --write LIST     writes the seeds to LIST.0, LIST.1, ... and their names to LIST, the
 * way libFuzzer's -seed_inputs=@LIST wants them */
#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX     (1u << 20)
#define DAMAGED_EACH 400u

/* Runs the target on a copy that ends where the bytes end, for the sanitizer to see. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        exit(2);
    memcpy(copy + 1, bytes, size);
    LLVMFuzzerTestOneInput(copy + 1, size);
    free(copy);
}

static void run_damaged(const uint8_t *bytes, size_t size, unsigned seed)
{
    uint8_t damaged[2 * FUZZ_SEED_MAX];
    uint64_t random = 0x9e3779b97f4a7c15u * (seed + 1);
    for (unsigned round = 0; round < DAMAGED_EACH; round++) {
        memcpy(damaged, bytes, size);
        size_t length = size;
        for (unsigned k = 0; k <= round % 6 && length > 0; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            size_t at = (random >> 16) % length;
            if (random % 8 == 0) {
                length = at; /* cut */
            } else if (random % 8 == 1) {
                memmove(damaged + at + 1, damaged + at, length - at); /* one more byte */
                length++;
            } else {
                damaged[at] = (uint8_t)(random >> 40);
            }
        }
        run(damaged, length);
    }
}

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(FILE_MAX);
    if (!file || !bytes) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        return -1;
    }
    size_t size = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    run(bytes, size);
    free(bytes);
    return 0;
}

static int write_seeds(const char *list)
{
    uint8_t bytes[FUZZ_SEED_MAX];
    char full[PATH_MAX];
    FILE *names = fopen(list, "w");
    /* Whole paths, since the reader may be started elsewhere. */
    if (!names || !realpath(list, full))
        return -1;
    size_t size;
    for (unsigned i = 0; (size = fuzz_seed(i, bytes)) > 0; i++) {
        char path[PATH_MAX + 16];
        snprintf(path, sizeof(path), "%s.%u", full, i);
        FILE *file = fopen(path, "wb");
        if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
            return -1;
        fprintf(names, "%s%s", i > 0 ? "," : "", path);
    }
    return fclose(names) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_seeds(argv[2]) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    uint8_t bytes[FUZZ_SEED_MAX] = {0};
    unsigned count = 0;
    run(bytes, 0);
    for (size_t size; (size = fuzz_seed(count, bytes)) > 0; count++) {
        run(bytes, size);
        run_damaged(bytes, size, count);
    }
    for (int i = 1; i < argc; i++)
        if (run_file(argv[i]) < 0)
            return EXIT_FAILURE;
    printf("%u seeds, %u damaged copies of each, %d files\n", count, DAMAGED_EACH, argc - 1);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
