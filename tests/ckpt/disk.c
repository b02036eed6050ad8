/* disk.c - see disk.h.
 *
 * A file system in two versions: what programs see, and what is durable.  Syncing a file makes its
 * bytes durable, syncing a directory its entries; nothing else does. */
#include "tests/ckpt/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ckpt/image_sample.h"

#define WRITE_MAX 20000u /* short writes must be dealt with, too */

enum step_kind { MAKE_DIRECTORY, MAKE_FILE, WRITE, SYNC, RENAME, UNLINK };

struct disk_step {
    enum step_kind kind;
    char path[128]; /* from the root */
    char to[128];
    unsigned char *bytes;
    size_t size;
};

/* ---- Noting ---------------------------------------------------------------------------------- */

/* The path, from the root, of a name in an open directory, or of the descriptor itself. */
static void path_of(const struct disk *disk, int descriptor, const char *name, char path[128])
{
    char link[64], full[512];

    snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, full, sizeof(full) - 1);
    full[size > 0 ? size : 0] = '\0';
    size_t root = strlen(disk->root);
    if (strncmp(full, disk->root, root) != 0) {
        fprintf(stderr, "disk: %s is not below %s\n", full, disk->root);
        exit(2);
    }
    snprintf(path, 128, "%.60s%s%.60s", full + root + (full[root] == '/'),
             name && full[root] ? "/" : "", name ? name : "");
}

static struct disk_step *note(struct disk *disk, enum step_kind kind, int descriptor,
                              const char *name)
{
    if (disk->count == disk->room) {
        disk->room = 2 * disk->room + 64;
        disk->steps = realloc(disk->steps, disk->room * sizeof(*disk->steps));
    }
    struct disk_step *step = &disk->steps[disk->count++];
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    path_of(disk, descriptor, name, step->path);
    return step;
}

static bool fails(struct disk *disk)
{
    if (++disk->calls != disk->fail_at)
        return false;
    disk->failed = true;
    return true;
}

static int disk_open(void *context, int directory, const char *name, int flags, mode_t mode)
{
    struct disk *disk = context;
    bool makes = (flags & O_CREAT) && faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0;

    if (makes && fails(disk))
        return disk->fail_with;
    int file = store_io_system.open(NULL, directory, name, flags, mode);
    if (file >= 0 && makes)
        note(disk, MAKE_FILE, directory, name);
    return file;
}

static int disk_close(void *context, int descriptor)
{
    (void)context;
    return store_io_system.close(NULL, descriptor);
}

static ssize_t disk_write(void *context, int descriptor, const void *bytes, size_t size)
{
    struct disk *disk = context;

    if (fails(disk))
        return disk->fail_with;
    ssize_t count =
        store_io_system.write(NULL, descriptor, bytes, size < WRITE_MAX ? size : WRITE_MAX);
    if (count > 0) {
        struct disk_step *step = note(disk, WRITE, descriptor, NULL);
        step->bytes = malloc((size_t)count);
        step->size = (size_t)count;
        memcpy(step->bytes, bytes, step->size);
    }
    return count;
}

static ssize_t disk_read(void *context, int descriptor, void *bytes, size_t size, uint64_t offset)
{
    (void)context;
    return store_io_system.read(NULL, descriptor, bytes, size, offset);
}

static int disk_sync(void *context, int descriptor)
{
    struct disk *disk = context;

    if (fails(disk))
        return disk->fail_with;
    note(disk, SYNC, descriptor, NULL);
    return 0;
}

static int disk_rename(void *context, int directory, const char *from, const char *to)
{
    struct disk *disk = context;

    if (fails(disk))
        return disk->fail_with;
    int status = store_io_system.rename(NULL, directory, from, to);
    if (status == 0)
        path_of(disk, directory, to, note(disk, RENAME, directory, from)->to);
    return status;
}

static int disk_unlink(void *context, int directory, const char *name, int flags)
{
    struct disk *disk = context;

    if (faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0 && fails(disk))
        return disk->fail_with;
    int status = store_io_system.unlink(NULL, directory, name, flags);
    if (status == 0)
        note(disk, UNLINK, directory, name);
    return status;
}

static int disk_make_directory(void *context, int directory, const char *name, mode_t mode)
{
    struct disk *disk = context;

    if (directory != AT_FDCWD && fails(disk))
        return disk->fail_with;
    int status = store_io_system.make_directory(NULL, directory, name, mode);
    if (status == 0)
        note(disk, MAKE_DIRECTORY, directory, name);
    return status;
}

struct store_io disk_io(struct disk *disk)
{
    return (struct store_io){
        .context = disk,
        .open = disk_open,
        .close = disk_close,
        .write = disk_write,
        .read = disk_read,
        .sync = disk_sync,
        .rename = disk_rename,
        .unlink = disk_unlink,
        .make_directory = disk_make_directory,
    };
}

void disk_free(struct disk *disk)
{
    for (size_t i = 0; i < disk->count; i++)
        free(disk->steps[i].bytes);
    free(disk->steps);
    disk->steps = NULL;
    disk->count = disk->room = 0;
}

/* ---- What remains ---------------------------------------------------------------------------- */

#define NODES   512
#define ENTRIES 48

struct entry {
    char name[64];
    int node;
};

/* A change of a directory's entries that is not durable yet: name becomes node (-1: goes), and
 * at the same time `old`, when not empty, goes. */
struct change {
    char name[64], old[64];
    int node;
};

struct node {
    bool is_directory;
    unsigned char *bytes;
    size_t size, durable;
    struct entry entries[ENTRIES], kept[ENTRIES]; /* as seen, and durable */
    size_t entry_count, kept_count;
    struct change changes[4 * ENTRIES];
    size_t change_count;
};

static struct node *nodes;
static int node_count;

static int new_node(bool is_directory)
{
    struct node *node = &nodes[node_count];

    if (node_count == NODES) {
        fprintf(stderr, "disk: too many files\n");
        exit(2);
    }
    free(node->bytes);
    memset(node, 0, sizeof(*node));
    node->is_directory = is_directory;
    return node_count++;
}

static void set_entry(struct entry *entries, size_t *count, const char *name, int node)
{
    size_t i = 0;

    while (i < *count && strcmp(entries[i].name, name) != 0)
        i++;
    if (node < 0) {
        if (i < *count)
            entries[i] = entries[--*count];
        return;
    }
    if (i == *count) {
        if (*count == ENTRIES) {
            fprintf(stderr, "disk: too many entries\n");
            exit(2);
        }
        strcpy(entries[(*count)++].name, name);
    }
    entries[i].node = node;
}

static int get_entry(const struct node *directory, const char *name)
{
    for (size_t i = 0; i < directory->entry_count; i++)
        if (strcmp(directory->entries[i].name, name) == 0)
            return directory->entries[i].node;
    return -1;
}

/* The node of a path; *name: its last part, *directory: where that is. */
static int resolve(const char *path, int *directory, char name[64])
{
    int node = 0;
    const char *at = path;

    *directory = 0;
    name[0] = '\0';
    while (*at) {
        size_t length = strcspn(at, "/");
        snprintf(name, 64, "%.*s", (int)length, at);
        *directory = node;
        node = get_entry(&nodes[node], name);
        at += length + (at[length] == '/');
        if (node < 0)
            break;
    }
    return node;
}

static void change(int directory, const char *name, int node, const char *old)
{
    struct node *where = &nodes[directory];
    struct change *change = &where->changes[where->change_count++];

    snprintf(change->name, sizeof(change->name), "%s", name);
    snprintf(change->old, sizeof(change->old), "%s", old);
    change->node = node;
    if (old[0])
        set_entry(where->entries, &where->entry_count, old, -1);
    set_entry(where->entries, &where->entry_count, name, node);
}

static void sync_node(struct node *node)
{
    node->durable = node->size;
    memcpy(node->kept, node->entries, sizeof(node->kept));
    node->kept_count = node->entry_count;
    node->change_count = 0;
}

static void apply(const struct disk_step *step)
{
    char name[64], to[64];
    int directory, elsewhere, node = resolve(step->path, &directory, name);

    switch (step->kind) {
    case MAKE_DIRECTORY:
    case MAKE_FILE:
        change(directory, name, new_node(step->kind == MAKE_DIRECTORY), "");
        break;
    case WRITE:
        nodes[node].bytes = realloc(nodes[node].bytes, nodes[node].size + step->size);
        memcpy(nodes[node].bytes + nodes[node].size, step->bytes, step->size);
        nodes[node].size += step->size;
        break;
    case SYNC:
        sync_node(&nodes[node]);
        break;
    case RENAME:
        resolve(step->to, &elsewhere, to);
        change(directory, to, node, name);
        break;
    case UNLINK:
        change(directory, name, -1, "");
        break;
    }
}

/* Each change that is not durable may have got to the disk or not. */
static void mix_entries(struct node *node, uint64_t *random)
{
    for (size_t i = 0; i < node->change_count; i++) {
        const struct change *change = &node->changes[i];
        if (sample_random(random) % 2)
            continue;
        if (change->old[0])
            set_entry(node->kept, &node->kept_count, change->old, -1);
        set_entry(node->kept, &node->kept_count, change->name, change->node);
    }
}

static void make_file(const struct node *node, int directory, const char *name, enum disk_loss loss,
                      uint64_t *random)
{
    size_t size = loss == DISK_LOSES ? node->durable : node->size;
    int file = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

    if (loss == DISK_MIXES && sample_random(random) % 2)
        size = node->durable + sample_random(random) % (node->size - node->durable + 1);
    if (write(file, node->bytes, size) != (ssize_t)size) {
        perror("disk");
        exit(2);
    }
    /* The size may be there before the bytes are. */
    if (loss == DISK_MIXES && sample_random(random) % 2 && ftruncate(file, (off_t)node->size) < 0)
        exit(2);
    close(file);
}

static void make(struct node *node, int directory, enum disk_loss loss, uint64_t *random)
{
    if (loss == DISK_MIXES)
        mix_entries(node, random);
    const struct entry *entries = loss == DISK_KEEPS ? node->entries : node->kept;
    size_t count = loss == DISK_KEEPS ? node->entry_count : node->kept_count;

    for (size_t i = 0; i < count; i++) {
        struct node *child = &nodes[entries[i].node];
        if (!child->is_directory) {
            make_file(child, directory, entries[i].name, loss, random);
            continue;
        }
        mkdirat(directory, entries[i].name, 0700);
        int subdirectory = openat(directory, entries[i].name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        make(child, subdirectory, loss, random);
        close(subdirectory);
    }
}

void disk_remains(const struct disk *disk, size_t steps, enum disk_loss loss, uint64_t seed,
                  const char *directory)
{
    if (!nodes)
        nodes = calloc(NODES, sizeof(*nodes));
    node_count = 0;
    new_node(true);
    for (size_t i = 0; i < steps; i++)
        apply(&disk->steps[i]);
    int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make(&nodes[0], root, loss, &seed);
    close(root);
}
