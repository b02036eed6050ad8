/* The machine parameters of the BSP model, from BSP_SLG or from a text database.
 *
 * The database is a text file with a line per machine and number of processes:
 *
 *     # host  processes  s  l  g  n_half
 *     node7   4          812.5  5200  3.1  40
 *     *       4          500    8000  4    60
 *
 * Fields are separated by blanks or tabs, `#` starts a comment.  s is the speed of one process in
 * Mflop/s; l and g are the costs of a superstep and of communicating one 32-bit word, both in
 * flops; n_half is the message size in words at which half the asymptotic bandwidth is reached.
 * Host `*` stands for every host that has no line of its own.  The last matching line counts.
 *
 * Nothing here writes, logs or depends on the caller's locale.
 */
#ifndef BSPZ_BASE_PARAMS_H
#define BSPZ_BASE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#define BSPZ_PARAMS_HOST_MAX      255
#define BSPZ_PARAMS_LINE_MAX      1023
#define BSPZ_PARAMS_PROCESSES_MAX 1000000

struct bspz_params {
    double s;   /* Mflop/s */
    double l;   /* flops */
    double g;   /* flops per 32-bit word */
    int n_half; /* 32-bit words */
};

struct bspz_params_row {
    char host[BSPZ_PARAMS_HOST_MAX + 1];
    int processes;
    struct bspz_params params;
};

enum bspz_params_line { BSPZ_PARAMS_BLANK, BSPZ_PARAMS_ROW, BSPZ_PARAMS_MALFORMED };

enum bspz_params_source {
    BSPZ_PARAMS_ASSUMED, /* unknown: values of a typical machine */
    BSPZ_PARAMS_DATABASE,
    BSPZ_PARAMS_ENVIRONMENT,
};

/* The default for a machine that was not measured. */
extern const struct bspz_params bspz_params_assumed;

/* Reads "s,l,g,n_half" (n_half may be left out).  All four must be positive.  *params changes only
 * on success. */
bool bspz_params_parse_slg(const char *text, struct bspz_params *params);

/* Reads one line of the database.  *row changes only when the answer is BSPZ_PARAMS_ROW. */
enum bspz_params_line bspz_params_parse_line(const char *line, struct bspz_params_row *row);

/* The database of this user: $BSP_INCLUDE_DIR/bsp_parameters.ascii, else
 * $XDG_CONFIG_HOME/bspzero/parameters, else $HOME/.config/bspzero/parameters.  False when none of
 * the three variables is set or the path does not fit. */
bool bspz_params_path(char *path, size_t size);

/* The parameters of this host for a number of processes: BSP_SLG when it is set and readable, else
 * the user's database, else bspz_params_assumed. */
enum bspz_params_source bspz_params_find(int processes, struct bspz_params *params);

/* The parameters of another host, by the user's database.  False: it has no line for this host, or
 * for all hosts, and this number of processes; *params is as it was. */
bool bspz_params_of(const char *host, int processes, struct bspz_params *params);

#endif
