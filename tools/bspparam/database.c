/* Listing and changing the database of machine parameters. */
#include "tools/bspparam/database.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buffer.h"

static const char new_database[] =
    "# Machine parameters of the BSP model, written by bspparam -measure.\n"
    "# s: speed of a process in Mflop/s; l: cost of a superstep in flops; g: cost per 32-bit word\n"
    "# in flops; n_half: words per message at which half the bandwidth is reached.\n"
    "# host  processes  s  l  g  n_half\n";

int database_read(const char *path, struct row_list *list)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    unsigned long number = 0;
    int error = 0;

    *list = (struct row_list){NULL, 0};
    if (file == NULL)
        return errno;
    while (error == 0 && getline(&line, &capacity, file) > 0) {
        struct bspz_params_row row;
        number++;
        enum bspz_params_line kind = bspz_params_parse_line(line, &row);
        if (kind == BSPZ_PARAMS_MALFORMED)
            fprintf(stderr, "bspparam: %s:%lu: not 'host processes s l g n_half', skipped\n", path,
                    number);
        if (kind != BSPZ_PARAMS_ROW)
            continue;
        if (!BSPZ_GROW(list->rows, list->count)) {
            error = ENOMEM;
            break;
        }
        list->rows[list->count++] = row;
    }
    if (error == 0 && !feof(file))
        error = errno;
    free(line);
    fclose(file);
    return error;
}

/* Creates the missing directories of the path. */
static int make_directories(const char *path)
{
    char directory[PATH_MAX];

    if (strlen(path) >= sizeof(directory))
        return ENAMETOOLONG;
    strcpy(directory, path);
    for (char *slash = strchr(directory + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(directory, 0755) != 0 && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    return 0;
}

static bool is_replaced(const char *line, const struct bspz_params_row *rows, size_t count)
{
    struct bspz_params_row row;

    if (bspz_params_parse_line(line, &row) != BSPZ_PARAMS_ROW)
        return false;
    for (size_t i = 0; i < count; i++)
        if (row.processes == rows[i].processes && strcmp(row.host, rows[i].host) == 0)
            return true;
    return false;
}

static int copy_others(FILE *from, FILE *to, const struct bspz_params_row *rows, size_t count)
{
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, from) > 0) {
        if (is_replaced(line, rows, count))
            continue;
        fputs(line, to);
        if (strchr(line, '\n') == NULL)
            fputc('\n', to);
    }
    int error = feof(from) ? 0 : errno;
    free(line);
    return error;
}

/* The database is replaced by what was read from it and these rows: a database that cannot be read
 * must stay as it is. */
static int write_fresh(const char *path, FILE *to, const struct bspz_params_row *rows, size_t count)
{
    FILE *from = fopen(path, "re");
    int error = from != NULL || errno == ENOENT ? 0 : errno;

    if (from != NULL) {
        error = copy_others(from, to, rows, count);
        fclose(from);
    } else if (error == 0) {
        fputs(new_database, to);
    }
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s %d %.6g %.6g %.6g %d\n", rows[i].host, rows[i].processes, rows[i].params.s,
                rows[i].params.l, rows[i].params.g, rows[i].params.n_half);
    return error;
}

static int replace(const char *path, const struct bspz_params_row *rows, size_t count)
{
    char fresh[PATH_MAX];
    int error;

    if (snprintf(fresh, sizeof(fresh), "%s.XXXXXX", path) >= (int)sizeof(fresh))
        return ENAMETOOLONG;
    int fd = mkstemp(fresh);
    if (fd < 0)
        return errno;
    FILE *to = fdopen(fd, "w");
    if (to == NULL) {
        error = errno;
        close(fd);
        unlink(fresh);
        return error;
    }
    error = write_fresh(path, to, rows, count);
    if (error == 0 && (fchmod(fd, 0644) != 0 || fflush(to) != 0 || fsync(fd) != 0))
        error = errno;
    if (fclose(to) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(fresh, path) != 0)
        error = errno;
    if (error != 0)
        unlink(fresh);
    return error;
}

/* Who may replace the database may lock it: in a directory of a group its members, and in one of a
 * user that user, whoever stores there first. */
static void open_to_writers(int lock, const char *path)
{
    const char *slash = strrchr(path, '/');
    char directory[PATH_MAX];
    struct stat status;

    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (stat(directory, &status) != 0)
        return;
    /* It fails where we are no member of that group, and ours has nothing to do with it. */
    bool given = fchown(lock, geteuid() == 0 ? status.st_uid : (uid_t)-1, status.st_gid) == 0;
    mode_t writers = status.st_mode & S_ISVTX ? 0 : status.st_mode & (given ? 0022 : 0002);
    (void)fchmod(lock, 0600 | writers | writers << 1);
}

/* Links are not followed, and what was there is left as it is: whoever may write the directory may
 * put any name there. */
static int open_lock(const char *name, const char *path)
{
    int lock = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (lock >= 0)
        open_to_writers(lock, path);
    else if (errno == EEXIST)
        lock = open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    return lock;
}

/* Others that store at the same time, also on other hosts: only the locks of fcntl hold on NFS.
 * The file of the lock stays, since whoever waits for it has it open.  What was measured is stored
 * also where there cannot be a lock (*lock is -1), or the file system has none. */
static int take_lock(const char *path, int *lock)
{
    char name[PATH_MAX];
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
        return ENAMETOOLONG;
    *lock = open_lock(name, path);
    if (*lock < 0)
        return errno == EACCES || errno == EPERM ? 0 : errno;
    while (fcntl(*lock, F_SETLKW, &all) != 0)
        if (errno != EINTR)
            return 0;
    return 0;
}

int database_store(const char *path, const struct bspz_params_row *rows, size_t count)
{
    struct stat status;
    int lock, error = make_directories(path);

    if (error != 0)
        return error;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return EISDIR;
    error = take_lock(path, &lock);
    if (error != 0)
        return error;
    error = replace(path, rows, count);
    if (lock >= 0)
        close(lock);
    return error;
}
