/* binaries.c - see binaries.h. */
#include "ckpt/binaries.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/format/image.h"
#include "ckpt/io.h"
#include "lib/base/temporary.h"

#define NANOSECONDS UINT64_C(1000000000)

static int fail(char *why, int error, const char *what, const char *name)
{
    snprintf(why, BINARIES_WHY, "%s %.400s: %s", what, name, strerror(-error));
    return error;
}

static int identify(int file, struct bspz_binary *binary)
{
    char start[BSPZ_BINARY_START] __attribute__((aligned(16)));
    ssize_t bytes = pread(file, start, sizeof start, 0);
    struct stat status;

    if (bytes < 0 || fstat(file, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    *binary = (struct bspz_binary){
        .size = (uint64_t)status.st_size,
        .modified =
            (uint64_t)status.st_mtim.tv_sec * NANOSECONDS + (uint64_t)status.st_mtim.tv_nsec,
    };
    bspz_build_id_find(&binary->id, start, (size_t)bytes);
    return 0;
}

/* ---- What an image needs --------------------------------------------------------------------- */

static int read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
    return store_io_read(&store_io_system, (int)(intptr_t)context, offset, bytes, size);
}

bool binaries_is_at(const struct binaries_file *file, const char *path)
{
    struct bspz_binary found;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool same = fd >= 0 && identify(fd, &found) == 0 && bspz_binary_same(&file->binary, &found);

    if (fd >= 0)
        close(fd);
    return same;
}

static bool is_listed(const struct binaries *needed, const char *path)
{
    for (size_t i = 0; i < needed->count; i++)
        if (strcmp(needed->files[i].path, path) == 0)
            return true;
    return false;
}

static int list_files(const struct bspz_image *image, struct binaries *needed)
{
    needed->files = calloc(image->end.regions + 1, sizeof *needed->files);
    if (!needed->files)
        return -ENOMEM;
    for (uint64_t i = 0; i < image->end.regions; i++) {
        const struct bspz_image_region *region = image->regions[i];
        struct binaries_file *file = &needed->files[needed->count];
        const char *path = bspz_image_region_path(region);

        if (region->kind != BSPZ_REGION_FILE || is_listed(needed, path))
            continue;
        file->path = strdup(path);
        if (!file->path)
            return -ENOMEM;
        bspz_binary_of(region, &file->binary);
        bspz_binary_name(&file->binary, path, file->name);
        file->here = binaries_is_at(file, path);
        if (file->binary.id.size > 0 && file->binary.id.size == image->header.build_id_size &&
            memcmp(file->binary.id.bytes, image->header.build_id, file->binary.id.size) == 0)
            needed->program = file;
        needed->count++;
    }
    return 0;
}

int binaries_of_image(int file, struct binaries *needed, char *why)
{
    struct bspz_image image = {0};
    struct bspz_image_source source = {.read = read_image, .context = (void *)(intptr_t)file};
    struct bspz_image_fault fault = {.text = ""};
    void *scratch = aligned_alloc(64, BSPZ_IMAGE_READER_SCRATCH), *tables = NULL;
    struct stat status;
    int error = scratch ? 0 : -ENOMEM;

    *needed = (struct binaries){0};
    if (!error && fstat(file, &status) != 0)
        error = -errno;
    if (!error) {
        source.size = (uint64_t)status.st_size;
        error = bspz_image_open(&image, &source, scratch, &fault);
    }
    if (!error) {
        tables = malloc(bspz_image_memory(&image));
        error = tables ? bspz_image_load_front(&image, tables, &fault) : -ENOMEM;
    }
    if (!error)
        error = list_files(&image, needed);
    if (error)
        snprintf(why, BINARIES_WHY, "%.300s", fault.text[0] ? fault.text : strerror(-error));
    free(tables);
    free(scratch);
    return error;
}

void binaries_free(struct binaries *needed)
{
    for (size_t i = 0; i < needed->count; i++)
        free(needed->files[i].path);
    free(needed->files);
    *needed = (struct binaries){0};
}

/* ---- The program ----------------------------------------------------------------------------- */

/* A program in a directory that everybody may write to could have been planted there. */
static int check_owner(const char *program, char *why)
{
    char directory[PATH_MAX];
    struct stat file, around;
    char *slash;

    snprintf(directory, sizeof directory, "%s", program);
    slash = strrchr(directory, '/');
    if (!slash)
        return 0;
    slash[slash == directory] = '\0';
    if (stat(program, &file) != 0 || stat(directory, &around) != 0)
        return fail(why, -errno, "the program", program);
    if ((around.st_mode & S_IWOTH) == 0 || file.st_uid == geteuid() || file.st_uid == 0 ||
        file.st_uid == around.st_uid)
        return 0;
    snprintf(why, BINARIES_WHY,
             "the program %.300s is not executed: it belongs to user %u and is in a directory "
             "where everybody may write",
             program, (unsigned)file.st_uid);
    return -EPERM;
}

static int check_identity(const struct binaries *needed, const char *program, char *why)
{
    const struct binaries_file *file = needed->program;

    for (size_t i = 0; i < needed->count && !file; i++)
        if (strcmp(needed->files[i].path, program) == 0)
            file = &needed->files[i];
    if (!file || binaries_is_at(file, program))
        return 0;
    snprintf(
        why, BINARIES_WHY,
        "%.400s is not the program that the snapshot was taken of: it is different or has been "
        "rebuilt",
        program);
    return -ESTALE;
}

/* The process itself checks its other files. */
static int check_libraries(const struct binaries *needed, char *why)
{
    for (size_t i = 0; i < needed->count; i++) {
        const struct binaries_file *file = &needed->files[i];

        if (file->here || file->binary.id.size == 0 || file == needed->program)
            continue;
        snprintf(why, BINARIES_WHY,
                 "the program needs %.400s: it is not the file that the snapshot was taken with",
                 file->path);
        return -ESTALE;
    }
    return 0;
}

int binaries_check_program(int image, const char *program, bool have_copies, char *why)
{
    struct binaries needed = {0};
    int error = 0;

    if (access(program, X_OK) != 0)
        error = fail(why, -errno, "the program", program);
    if (!error)
        error = check_owner(program, why);
    /* The restore itself reports a damaged image. */
    if (!error && binaries_of_image(image, &needed, why) == 0) {
        error = check_identity(&needed, program, why);
        if (!error && !have_copies)
            error = check_libraries(&needed, why);
    }
    binaries_free(&needed);
    return error;
}

/* ---- The directory --------------------------------------------------------------------------- */

/* Creates every missing directory of the path. */
static int make_path(char *path)
{
    for (char *at = path + 1;; at++) {
        char after = *at;

        if (after != '/' && after != '\0')
            continue;
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return -errno;
        *at = after;
        if (after == '\0')
            return 0;
    }
}

/* 0, or -EPERM: it is writable by others. */
static int trusted(int directory)
{
    struct stat status;

    if (fstat(directory, &status) != 0)
        return -errno;
    return status.st_uid == geteuid() && (status.st_mode & 022) == 0 ? 0 : -EPERM;
}

static int try_directory(const char *path)
{
    char copy[PATH_MAX];
    int directory, error;

    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return -ENAMETOOLONG;
    error = make_path(copy);
    if (error)
        return error;
    directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    error = trusted(directory);
    if (!error && faccessat(directory, ".", W_OK, 0) != 0)
        error = -errno;
    if (!error)
        return directory;
    close(directory);
    return error;
}

/* The directory must be this user's, or its owner could exchange what is in it. */
static int try_temporary(char *path)
{
    char stem[32];
    int found = -ENAMETOOLONG;

    snprintf(stem, sizeof stem, "bspzero-%u", (unsigned)geteuid());
    for (unsigned number = 1; number <= BSPZ_TEMPORARY_NAMES && found < 0; number++) {
        char inside[PATH_MAX];
        if (!bspz_temporary_name(path, stem, number) ||
            snprintf(inside, sizeof inside, "%s/binaries", path) >= PATH_MAX)
            return -ENAMETOOLONG;
        found = -EPERM;
        mkdir(path, 0700); /* or it is there */
        if (!bspz_temporary_is_taken(path))
            found = try_directory(inside);
        strcpy(path, inside);
    }
    return found;
}

int binaries_directory(const char *root, char *path, char *why)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int directory = -ENOENT;

    if (root) {
        snprintf(path, PATH_MAX, "%s/binaries", root);
        directory = try_directory(path);
        return directory < 0 ? fail(why, directory, "no copies of programs can be kept in", path)
                             : directory;
    }
    if (cache && cache[0] == '/') {
        snprintf(path, PATH_MAX, "%s/bspzero/binaries", cache);
        directory = try_directory(path);
    }
    if (directory < 0 && home && home[0] == '/') {
        snprintf(path, PATH_MAX, "%s/.cache/bspzero/binaries", home);
        directory = try_directory(path);
    }
    if (directory < 0)
        directory = try_temporary(path);
    return directory < 0 ? fail(why, directory, "no copies of programs can be kept in", path)
                         : directory;
}

bool binaries_kept(int directory, const struct binaries_file *file)
{
    struct bspz_binary found;
    int fd = openat(directory, file->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool same = fd >= 0 && identify(fd, &found) == 0;

    if (fd >= 0)
        close(fd);
    found.modified = file->binary.modified; /* meaningless for a copy */
    return same && bspz_binary_same(&file->binary, &found);
}

int binaries_open(int directory, const char *name, const char *path, uint64_t *size, char *why)
{
    char found[BSPZ_BINARY_NAME] = "";
    struct bspz_binary binary;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && identify(fd, &binary) == 0)
        bspz_binary_name(&binary, path, found);
    if (fd >= 0 && strcmp(found, name) != 0) {
        close(fd);
        fd = -1;
    }
    if (fd < 0 && directory >= 0 && !strchr(name, '/') && name[0] != '.') {
        fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && identify(fd, &binary) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0)
        return fail(why, -ENOENT, "it is not here any more:", path);
    *size = binary.size;
    return fd;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

struct binaries_copy {
    int directory, file;
    uint64_t written;
    struct bspz_binary binary;
    char name[BSPZ_BINARY_NAME];
    char temporary[BSPZ_BINARY_NAME + 32];
};

int binaries_begin(int directory, const struct binaries_file *file, struct binaries_copy **copy,
                   char *why)
{
    struct binaries_copy *made = calloc(1, sizeof *made);
    static unsigned count;

    if (!made)
        return fail(why, -ENOMEM, "no copy of", file->path);
    made->binary = file->binary;
    memcpy(made->name, file->name, sizeof made->name);
    snprintf(made->temporary, sizeof made->temporary, ".%s.%d.%u", file->name, (int)getpid(),
             count++);
    made->directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    made->file = openat(directory, made->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (made->directory < 0 || made->file < 0) {
        int error = -errno;

        binaries_give_up(made);
        return fail(why, error, "no copy can be made of", file->path);
    }
    *copy = made;
    return 0;
}

int binaries_add(struct binaries_copy *copy, const void *bytes, size_t size, char *why)
{
    int error = size > copy->binary.size - copy->written
                    ? -EFBIG
                    : store_io_write(&store_io_system, copy->file, bytes, size);

    if (error)
        return fail(why, error, "no copy can be made:", copy->name);
    copy->written += size;
    return 0;
}

int binaries_finish(struct binaries_copy *copy, char *why)
{
    struct binaries_file file = {.binary = copy->binary};
    int error = 0;

    memcpy(file.name, copy->temporary, sizeof file.name);
    if (copy->written != copy->binary.size)
        error = -EBADMSG;
    if (!error && fdatasync(copy->file) != 0) /* a hole must never pass for the file's contents */
        error = -errno;
    if (!error) {
        struct bspz_binary found;
        int fd = openat(copy->directory, copy->temporary, O_RDONLY | O_CLOEXEC);

        error = fd < 0 ? -errno : identify(fd, &found);
        if (fd >= 0)
            close(fd);
        found.modified = copy->binary.modified;
        if (!error && !bspz_binary_same(&copy->binary, &found))
            error = -EBADMSG;
    }
    if (!error && renameat(copy->directory, copy->temporary, copy->directory, copy->name) != 0)
        error = -errno;
    if (error)
        fail(why, error, "what came is not the file it should be:", copy->name);
    else
        copy->temporary[0] = '\0';
    binaries_give_up(copy);
    return error;
}

void binaries_give_up(struct binaries_copy *copy)
{
    if (!copy)
        return;
    if (copy->file >= 0)
        close(copy->file);
    if (copy->directory >= 0) {
        if (copy->temporary[0] && copy->file >= 0)
            unlinkat(copy->directory, copy->temporary, 0);
        close(copy->directory);
    }
    free(copy);
}

/* ---- For the loader -------------------------------------------------------------------------- */

/* The directory is named after the first missing file, usually the program. */
static const struct binaries_file *first_missing(const struct binaries *needed)
{
    for (size_t i = 0; i < needed->count; i++)
        if (!needed->files[i].here)
            return &needed->files[i];
    return NULL;
}

static int link_one(int links, const struct binaries_file *file)
{
    const char *slash = strrchr(file->path, '/');
    const char *base = slash ? slash + 1 : file->path;
    char target[BSPZ_BINARY_NAME + 4], temporary[32];

    snprintf(target, sizeof target, "../%s", file->name);
    snprintf(temporary, sizeof temporary, ".%d", (int)getpid());
    unlinkat(links, temporary, 0);
    if (symlinkat(target, links, temporary) != 0 || renameat(links, temporary, links, base) != 0)
        return -errno;
    return 0;
}

int binaries_link(int directory, const char *directory_path, const struct binaries *needed,
                  char *path, char *why)
{
    const struct binaries_file *first = first_missing(needed);
    char name[BSPZ_BINARY_NAME + 8];
    int links, error = 0;

    path[0] = '\0';
    if (!first)
        return 0;
    snprintf(name, sizeof name, "links-%s", first->name);
    if (mkdirat(directory, name, 0700) != 0 && errno != EEXIST)
        return fail(why, -errno, "no directory for", first->path);
    links = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (links < 0)
        return fail(why, -errno, "no directory for", first->path);
    for (size_t i = 0; i < needed->count && !error; i++)
        if (!needed->files[i].here)
            error = link_one(links, &needed->files[i]);
    close(links);
    if (!error && snprintf(path, PATH_MAX, "%s/%s", directory_path, name) >= PATH_MAX)
        error = -ENAMETOOLONG;
    return error ? fail(why, error, "no directory for", first->path) : 0;
}
