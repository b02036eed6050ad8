/* Listing and changing the database of machine parameters. */
#include "tools/bspparam/database.h"

#include <errno.h>
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

static void copy_others(FILE *from, FILE *to, const struct bspz_params_row *rows, size_t count)
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
    free(line);
}

int database_store(const char *path, const struct bspz_params_row *rows, size_t count)
{
    char fresh[PATH_MAX];
    int error = make_directories(path);

    if (error != 0)
        return error;
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
    FILE *from = fopen(path, "re");
    if (from != NULL) {
        copy_others(from, to, rows, count);
        fclose(from);
    } else {
        fputs(new_database, to);
    }
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%s %d %.6g %.6g %.6g %d\n", rows[i].host, rows[i].processes, rows[i].params.s,
                rows[i].params.l, rows[i].params.g, rows[i].params.n_half);

    bool bad = fchmod(fd, 0644) != 0 || fflush(to) != 0 || fsync(fd) != 0;
    error = bad ? errno : 0;
    if (fclose(to) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(fresh, path) != 0)
        error = errno;
    if (error != 0)
        unlink(fresh);
    return error;
}
