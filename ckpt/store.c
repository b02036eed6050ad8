/* store.c - opening the directory of snapshots, its lock, its jobs; see store.h. */
#include "ckpt/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/inside.h"
#include "lib/base/error_text.h"
#include "lib/base/hex.h"

#define NO_JOB     "no job has snapshots here"
#define JOB_DIGITS 12u /* in its name: enough to be unique, few enough to type */

/* ---- Opening --------------------------------------------------------------------------------- */

/* Makes the directory, and makes its entry in the parent durable. */
static int make_base(struct store *store, const char *path)
{
    const struct store_io *io = &store->io;
    char parent[PATH_MAX];

    int status = io->make_directory(io->context, AT_FDCWD, path, 0700);
    if (status < 0)
        return status == -EEXIST ? 0 : status;
    snprintf(parent, sizeof(parent), "%s/..", path);
    int directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    status = io->sync(io->context, directory);
    io->close(io->context, directory);
    return status;
}

/* The user may have put a symbolic link there, or root; nobody else. */
static int open_base(struct store *store, const char *path)
{
    struct stat about;

    if (lstat(path, &about) < 0)
        return -errno;
    if (S_ISLNK(about.st_mode) && about.st_uid != geteuid() && about.st_uid != 0)
        return -EPERM;
    store->base = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->base < 0)
        return -errno;
    return store_check_directory(store->base);
}

#define HOLDER_SIZE 128u

/* What the lock says of this process: for messages, and for store_locked_here. */
static size_t describe_holder(char holder[HOLDER_SIZE], long process)
{
    char host[65] = "";

    gethostname(host, sizeof(host) - 1);
    return (size_t)snprintf(holder, HOLDER_SIZE, "process %ld on %s\n", process, host);
}

bool store_locked_here(const char *path)
{
    char name[PATH_MAX], holder[HOLDER_SIZE], expected[HOLDER_SIZE];
    long process;

    if (snprintf(name, sizeof(name), "%s/" LOCK_NAME, path) >= (int)sizeof(name))
        return false;
    int file = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t size = file >= 0 ? pread(file, holder, sizeof(holder) - 1, 0) : -1;
    if (file >= 0)
        close(file);
    holder[size > 0 ? size : 0] = '\0';
    if (sscanf(holder, "process %ld ", &process) != 1)
        return false;
    describe_holder(expected, process);
    return strcmp(holder, expected) == 0;
}

static int take_lock(struct store *store, char *error)
{
    const struct store_io *io = &store->io;
    char holder[HOLDER_SIZE] = "";

    store->lock = io->open(io->context, store->base, LOCK_NAME, O_RDWR | O_CREAT, 0600);
    if (store->lock < 0)
        return store_fail_system(store, store->lock, error, "cannot be locked");
    if (flock(store->lock, LOCK_EX | LOCK_NB) < 0) {
        int status = errno == EWOULDBLOCK ? -EBUSY : -errno;
        if (status != -EBUSY)
            return store_fail_system(store, status, error, "cannot be locked");
        ssize_t size = pread(store->lock, holder, sizeof(holder) - 1, 0);
        holder[size > 0 ? size : 0] = '\0';
        holder[strcspn(holder, "\n")] = '\0';
        return store_fail(store, status, error, "in use by %s",
                          holder[0] ? holder : "another bsprun");
    }
    /* Without it the lock is one all the same: errors are ignored. */
    size_t length = describe_holder(holder, (long)getpid());
    if (ftruncate(store->lock, 0) == 0)
        (void)!pwrite(store->lock, holder, length, 0);
    return 0;
}

static bool job_name_possible(const char *name)
{
    size_t length = strlen(name);

    return length > 0 && length <= STORE_NAME_MAX && name[0] != '.' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
               length;
}

/* ---- Whether a directory is a job's ---------------------------------------------------------- */

static bool has_job_digits(const char *name)
{
    return strlen(name) == JOB_DIGITS && strspn(name, "0123456789abcdef") == JOB_DIGITS;
}

/* What another version has written is a record, too. */
static bool is_record(int status)
{
    return status == 0 || status == -EPROTO;
}

static int find_manifest(const struct store *store, const struct store_visited *at, void *context)
{
    static const char *const names[] = {MANIFEST_NAME, MANIFEST_COPY};
    struct manifest manifest;
    bool found = false;

    (void)context;
    for (size_t i = 0; at->directory >= 0 && i < 2 && !found; i++) {
        int status =
            store_load_manifest(store, at->directory, names[i], at->snapshot, &manifest, NULL);
        if (status == 0)
            manifest_free(&manifest);
        found = is_record(status);
    }
    return found;
}

/* A directory with a program called "term", say, need not be a job's.  That of a job has either its
 * name still, or something in it that can be read. */
static bool is_job_named(const struct store *store, int directory, const char *name)
{
    struct manifest_terms terms;
    struct store job = *store;

    if (!job_name_possible(name) || !store_is_job(directory))
        return false;
    if (has_job_digits(name))
        return true;
    job.job = directory;
    int status = store_load_terms(store, directory, &terms, NULL);
    if (status == 0)
        manifest_terms_free(&terms);
    return is_record(status) || store_walk(&job, find_manifest, NULL) > 0;
}

/* Splits the real path into DIR and JOB when it is that of a job. */
static bool split(struct store *store, char full[PATH_MAX])
{
    char *slash = strrchr(full, '/');
    int directory = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_job = directory >= 0 && is_job_named(store, directory, slash + 1);

    if (directory >= 0)
        close(directory);
    if (!is_job)
        return false;
    strcpy(store->wanted, slash + 1);
    *slash = '\0';
    strcpy(store->path, full[0] ? full : "/");
    return true;
}

/* Copies the path without trailing slashes; splits DIR/JOB when JOB is the directory of a job. */
static int divide(struct store *store, const char *path)
{
    char full[PATH_MAX];
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0)
        return -ENOENT;
    if (length >= sizeof(store->path))
        return -ENAMETOOLONG;
    memcpy(store->path, path, length);
    store->path[length] = '\0';
    if (realpath(store->path, full))
        split(store, full);
    return 0;
}

/* The real path of a file, or of the directory in which it is to be made. */
static bool find_real(const char *path, char full[PATH_MAX], bool *is_there)
{
    char parent[PATH_MAX];

    *is_there = realpath(path, full) != NULL;
    if (*is_there)
        return true;
    snprintf(parent, sizeof(parent), "%s", path);
    char *slash = strrchr(parent, '/');
    if (!slash)
        strcpy(parent, ".");
    else
        slash[slash == parent] = '\0';
    return realpath(parent, full) != NULL;
}

#define DEPTH 2u /* of what is in a snapshot below the directory of its job */

/* Whether what the path names is in the directory of a job, which is split then. */
static bool is_in_job(struct store *store)
{
    char full[PATH_MAX];
    bool is_there;

    if (store->wanted[0])
        return true;
    if (!find_real(store->path, full, &is_there))
        return false;
    for (unsigned depth = is_there ? 0 : 1; depth <= DEPTH; depth++) {
        if (split(store, full))
            return true;
        char *slash = strrchr(full, '/');
        if (slash == full)
            break;
        *slash = '\0';
    }
    return false;
}

/* ---- The directory --------------------------------------------------------------------------- */

/* The directory may be any: what has no job is not locked, which would leave a file there. */
static int look_for_jobs(struct store *store, char *error)
{
    struct store_job *jobs;
    size_t count;

    if (store->wanted[0])
        return 0;
    int status = store_jobs(store, &jobs, &count, error);
    if (status < 0)
        return status;
    free(jobs);
    return count > 0 ? 0 : store_fail(store, -ENOENT, error, NO_JOB);
}

int store_open(struct store **result, const char *path, enum store_mode mode,
               const struct store_io *io, char *error)
{
    struct store *store = calloc(1, sizeof(*store));

    if (!store)
        return bspz_error_text(error, MANIFEST_ERROR_SIZE, -ENOMEM, "out of memory");
    store->io = io ? *io : store_io_system;
    store->base = store->lock = store->job = -1;
    snprintf(store->path, sizeof(store->path), "%s", path);
    int status = divide(store, path);
    bool in_job = status == 0 && mode == STORE_CREATE && is_in_job(store);
    if (in_job)
        status = -EEXIST;
    if (status == 0 && mode == STORE_CREATE)
        status = make_base(store, store->path);
    if (status == 0)
        status = open_base(store, store->path);
    if (in_job)
        store_fail(store, status, error, "%s is a job in this directory; give the directory alone",
                   store->wanted);
    else if (status == -ENOENT && mode == STORE_CREATE && path[0])
        store_fail(store, status, error, "cannot be made: the directory above it does not exist");
    else if (status < 0)
        store_fail_system(store, status, error, "cannot be used for snapshots");
    else if (mode == STORE_WRITE)
        status = look_for_jobs(store, error);
    if (status == 0 && (mode == STORE_WRITE || mode == STORE_CREATE))
        status = take_lock(store, error);
    if (status < 0) {
        store_close(store);
        return status;
    }
    *result = store;
    return 0;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    int descriptors[] = {store->job, store->base, store->lock};
    for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++)
        if (descriptors[i] >= 0)
            store->io.close(store->io.context, descriptors[i]);
    free(store);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

int store_lock(const struct store *store)
{
    return store->lock;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static int by_age(const void *a, const void *b)
{
    const struct store_job *left = a, *right = b;

    if (left->started != right->started)
        return left->started < right->started ? -1 : 1;
    return strcmp(left->name, right->name);
}

/* Whether a directory of that name, which cannot be opened, may be a job's. */
static bool may_be_job(const struct store *store, const char *name, int status)
{
    struct stat about;

    if (status == -ENOENT || !has_job_digits(name))
        return false;
    /* Not through a symbolic link: jobs are no such. */
    return fstatat(store->base, name, &about, AT_SYMLINK_NOFOLLOW) == 0 ? S_ISDIR(about.st_mode)
                                                                        : errno != ENOENT;
}

/* Whether the directory is a job's, or may be one; fills in `job`. */
static bool look_at_job(const struct store *store, const char *name, struct store_job *job)
{
    struct manifest_terms terms;

    if (!job_name_possible(name))
        return false;
    *job = (struct store_job){.started = 0};
    strcpy(job->name, name);
    int directory = store_open_directory(store, store->base, name);
    if (directory < 0)
        return may_be_job(store, name, directory);
    bool is_one = store_is_job(directory);
    if (!is_one && !store_has_file(directory, TERM_NAME))
        is_one = may_be_job(store, name, -errno); /* it is not permitted to look into it */
    if (is_one && store_load_terms(store, directory, &terms, NULL) == 0) {
        if (terms.terms.count > 0)
            job->started = terms.terms.items[terms.terms.count - 1].created;
        manifest_terms_free(&terms);
    }
    store->io.close(store->io.context, directory);
    return is_one;
}

int store_jobs(struct store *store, struct store_job **jobs, size_t *count, char *error)
{
    char **names;
    size_t name_count, found = 0;

    int status = store_names(store->base, &names, &name_count);
    struct store_job *list = status == 0 ? calloc(name_count + 1, sizeof(*list)) : NULL;
    if (status == 0 && !list) {
        store_names_free(names, name_count);
        status = -ENOMEM;
    }
    if (status < 0)
        return store_fail_system(store, status, error, "cannot be read");
    for (size_t i = 0; i < name_count; i++)
        found += look_at_job(store, names[i], &list[found]);
    store_names_free(names, name_count);
    qsort(list, found, sizeof(*list), by_age);
    *jobs = list;
    *count = found;
    return 0;
}

/* Which job is the newest must not depend on a clock that went back, or that is another host's.  If
 * the jobs cannot be listed, no term fails for that. */
uint64_t store_later(struct store *store, uint64_t now)
{
    struct store_job *jobs;
    size_t count;

    if (store_jobs(store, &jobs, &count, NULL) < 0)
        return now;
    if (count > 0 && jobs[count - 1].started >= now && jobs[count - 1].started < UINT64_MAX)
        now = jobs[count - 1].started + 1;
    free(jobs);
    return now;
}

static void choose(struct store *store, int directory, const char *name)
{
    if (store->job >= 0)
        store->io.close(store->io.context, store->job);
    store->job = directory;
    snprintf(store->job_name, sizeof(store->job_name), "%s", name);
}

int store_job_create(struct store *store, const uint8_t job[WIRE_JOB_SIZE], uint64_t now,
                     char *error)
{
    const struct store_io *io = &store->io;
    struct manifest_term first = {.term = 1, .created = store_later(store, now)};
    struct manifest_terms terms = {.job = {job, WIRE_JOB_SIZE}, .terms = {&first, 1}};
    char name[2 * WIRE_JOB_SIZE + 1];

    bspz_hex(name, job, WIRE_JOB_SIZE);
    name[JOB_DIGITS] = '\0';
    int status = io->make_directory(io->context, store->base, name, 0700);
    if (status == 0)
        status = store_open_directory(store, store->base, name);
    if (status < 0)
        return store_fail_system(store, status, error, "no directory for job %s", name);
    choose(store, status, name);
    status = store_save_terms(store, &terms, error);
    if (status < 0) {
        store_remove_directory(store, store->base, name);
        return status;
    }
    status = io->sync(io->context, store->base);
    return status < 0 ? store_fail_system(store, status, error, "no directory for job %s", name)
                      : 0;
}

/* 0; a job that cannot be opened, or whose records cannot be read, has no age, and sorts as the
 * oldest, but may be the newest: then -errno. */
static int know_age(struct store *store, const struct store_job *job, char *error)
{
    struct manifest_terms terms;
    char text[MANIFEST_ERROR_SIZE];

    int directory = store_open_directory(store, store->base, job->name);
    if (directory == -ENOENT)
        return 0; /* it has been removed since */
    int status = directory < 0 ? directory : store_load_terms(store, directory, &terms, text);
    if (directory >= 0)
        store->io.close(store->io.context, directory);
    if (directory < 0 || status == -EACCES || status == -EPERM)
        return store_fail(store, status, error,
                          "job %s may be the newest, but cannot be opened: %s; mend that, or name "
                          "another job as DIR/JOB",
                          job->name, store_error_text(status));
    if (status < 0)
        return store_fail(store, status, error,
                          "job %s may be the newest, but %.200s; %s cannot be used either: bspckpt "
                          "repair restores what it can, and DIR/JOB names another job",
                          job->name, text, TERM_COPY);
    manifest_terms_free(&terms);
    return 0;
}

static int find_newest(struct store *store, char name[STORE_NAME_MAX + 1], char *error)
{
    struct store_job *jobs;
    size_t count;

    int status = store_jobs(store, &jobs, &count, error);
    if (status < 0)
        return status;
    if (count == 0)
        status = store_fail(store, -ENOENT, error, NO_JOB);
    /* There is no doubt which one is meant if there is only one. */
    for (size_t i = 0; count > 1 && i < count && jobs[i].started == 0 && status == 0; i++)
        status = know_age(store, &jobs[i], error);
    if (status == 0)
        strcpy(name, jobs[count - 1].name);
    free(jobs);
    return status;
}

int store_job_open(struct store *store, const char *name, char *error)
{
    char newest[STORE_NAME_MAX + 1];

    if (!name && store->wanted[0])
        name = store->wanted;
    if (name && !job_name_possible(name))
        return store_fail(store, -ENOENT, error, "%.64s is not the name of a job", name);
    if (!name) {
        int status = find_newest(store, newest, error);
        if (status < 0)
            return status;
        name = newest;
    }
    int directory = store_open_directory(store, store->base, name);
    if (directory < 0)
        return store_fail_system(store, directory, error, "job %s", name);
    choose(store, directory, name);
    return 0;
}

bool store_names_job(const struct store *store)
{
    return store->wanted[0] != '\0';
}

const char *store_job_name(const struct store *store)
{
    return store->job_name;
}

/* ---- The end --------------------------------------------------------------------------------- */

int store_finish(struct store *store, const struct manifest_finish *finish, char *error)
{
    struct bspz_buffer buffer = {0};

    int status = manifest_finish_encode(finish, &buffer, error);
    if (status < 0)
        return status;
    status = store_io_replace(&store->io, store->job, FINISH_NAME, buffer.data, buffer.size);
    bspz_buffer_free(&buffer);
    return status < 0 ? store_fail_system(store, status, error, "cannot note the end of the job")
                      : 0;
}

int store_load_finish(const struct store *store, struct manifest_finish *finish, char *text)
{
    void *bytes;
    size_t size;

    int status = store_io_load(&store->io, store->job, FINISH_NAME, SEALED_FILE_MAX, &bytes, &size);
    if (status < 0)
        return bspz_error_text(text, MANIFEST_ERROR_SIZE, status, "%s", store_error_text(status));
    status = manifest_finish_decode(bytes, size, finish, text);
    free(bytes);
    size_t used = strlen(text);
    if (status == -EBADMSG) /* nothing can tell whether the job has ended */
        snprintf(text + used, MANIFEST_ERROR_SIZE - used, "; to continue the job, remove %s",
                 FINISH_NAME);
    return status;
}

int store_finished(struct store *store, struct manifest_finish *finish, char *error)
{
    char text[MANIFEST_ERROR_SIZE] = "";

    int status = store_load_finish(store, finish, text);
    return status < 0 ? store_fail(store, status, error, "job %s: %s: %.300s", store->job_name,
                                   FINISH_NAME, text)
                      : 0;
}
