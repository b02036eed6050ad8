/* keep.c - what an agent does for a host that lacks files of an image, without the network.
 *
 *   keep list IMAGE                 prints each file that the image needs: here or gone, its path
 *   keep copy IMAGE ROOT            copies all of them into ROOT/binaries
 *   keep link IMAGE ROOT            prints the directory for LD_LIBRARY_PATH
 *   keep wrong IMAGE ROOT           tries to pass off a damaged copy of the first one
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ckpt/binaries.h"

static char why[BINARIES_WHY];

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "keep: %s: %s\n", what, why);
    exit(1);
}

static int copy_one(int directory, const struct binaries_file *file, bool wrong)
{
    struct binaries_copy *copy;
    char bytes[65536];
    uint64_t size;
    ssize_t count;
    int from = binaries_open(directory, file->name, file->path, &size, why);

    if (from < 0 || binaries_begin(directory, file, &copy, why) != 0)
        fail(file->path);
    while ((count = read(from, bytes, sizeof bytes)) > 0) {
        if (wrong)
            memset(bytes, 0, (size_t)count);
        if (binaries_add(copy, bytes, (size_t)count, why) != 0)
            fail(file->path);
    }
    close(from);
    return binaries_finish(copy, why);
}

int main(int argc, char **argv)
{
    struct binaries needed;
    char path[PATH_MAX] = "", links[PATH_MAX];
    int image = argc > 2 ? open(argv[2], O_RDONLY) : -1;
    int directory = argc > 3 ? binaries_directory(argv[3], path, why) : -1;

    if (image < 0 || (argc > 3 && directory < 0) || binaries_of_image(image, &needed, why) != 0)
        fail("image or directory");
    for (size_t i = 0; i < needed.count; i++) {
        const struct binaries_file *file = &needed.files[i];

        if (strcmp(argv[1], "list") == 0)
            printf("%s %s\n", file->here ? "here" : "gone", file->path);
        else if (strcmp(argv[1], "copy") == 0 &&
                 (copy_one(directory, file, false) != 0 || !binaries_kept(directory, file)))
            fail(file->path);
        else if (strcmp(argv[1], "wrong") == 0 && i == 0 &&
                 (copy_one(directory, file, true) == 0 || binaries_kept(directory, file)))
            fail("a wrong copy was taken");
    }
    if (strcmp(argv[1], "link") == 0) {
        if (binaries_link(directory, path, &needed, links, why) != 0)
            fail("link");
        printf("%s\n", links);
    }
    binaries_free(&needed);
    return 0;
}
