/* sparse.c - a distributed sparse matrix times a vector; see sparse.h. */
#include "apps/common/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>

#include "apps/common/layout.h"
#include "apps/common/report.h"

static int compare_numbers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

static bool owns_col(const struct sparse *m, int64_t col)
{
    return col >= m->first_col && col < m->first_col + m->own_cols;
}

/* Lists the columns that the own rows need and others own, each once, ascending. */
static void find_ghosts(struct sparse *m, const struct entries *entries)
{
    int64_t kept = 0;

    m->ghost_col = allocate(entries->count, sizeof *m->ghost_col);
    for (int64_t e = 0; e < entries->count; e++)
        if (!owns_col(m, entries->item[e].col))
            m->ghost_col[m->ghosts++] = entries->item[e].col;
    qsort(m->ghost_col, (size_t)m->ghosts, sizeof *m->ghost_col, compare_numbers);
    for (int64_t g = 0; g < m->ghosts; g++)
        if (g == 0 || m->ghost_col[g] != m->ghost_col[kept - 1])
            m->ghost_col[kept++] = m->ghost_col[g];
    m->ghosts = kept;
}

static int32_t place_of(const struct sparse *m, int64_t col)
{
    int64_t *ghost;

    if (owns_col(m, col))
        return (int32_t)(col - m->first_col);
    ghost = bsearch(&col, m->ghost_col, (size_t)m->ghosts, sizeof col, compare_numbers);
    return (int32_t)(m->own_cols + (ghost - m->ghost_col));
}

static void store_rows(struct sparse *m, const struct entries *entries)
{
    m->start = allocate(m->own_rows + 1, sizeof *m->start);
    m->col = allocate(entries->count, sizeof *m->col);
    m->value = allocate(entries->count, sizeof *m->value);
    for (int64_t e = 0; e < entries->count; e++) {
        m->start[entries->item[e].row - m->first_row + 1]++;
        m->col[e] = place_of(m, entries->item[e].col);
        m->value[e] = entries->item[e].value;
    }
    for (int64_t i = 0; i < m->own_rows; i++)
        m->start[i + 1] += m->start[i];
}

/* Asks every owner of ghosts for them: a message of sender, offset and columns. */
static void send_wishes(const struct sparse *m)
{
    for (int64_t g = 0; g < m->ghosts;) {
        int owner = block_owner(m->cols, bsp_nprocs(), m->ghost_col[g]);
        int64_t end = g, *wanted;

        while (end < m->ghosts && block_owner(m->cols, bsp_nprocs(), m->ghost_col[end]) == owner)
            end++;
        wanted = allocate(end - g + 2, sizeof *wanted);
        wanted[0] = bsp_pid();
        wanted[1] = m->own_cols + g;
        memcpy(wanted + 2, m->ghost_col + g, (size_t)(end - g) * sizeof *wanted);
        bsp_send(owner, NULL, wanted, (end - g + 2) * (int64_t)sizeof *wanted);
        free(wanted);
        g = end;
    }
}

static void receive_wishes(struct sparse *m)
{
    size_t packets, bytes;
    int64_t longest = 0;

    bsp_qsize(&packets, &bytes);
    m->deliveries = (int)packets;
    m->delivery = allocate(m->deliveries, sizeof *m->delivery);
    for (int d = 0; d < m->deliveries; d++) {
        struct delivery *delivery = &m->delivery[d];
        size_t size;
        int64_t *wanted;

        bsp_get_tag(&size, NULL);
        wanted = allocate((int64_t)size, 1);
        bsp_move(wanted, (int64_t)size);
        delivery->to = (int)wanted[0];
        delivery->offset = wanted[1];
        delivery->count = (int64_t)(size / sizeof *wanted) - 2;
        delivery->index = allocate(delivery->count, sizeof *delivery->index);
        for (int64_t i = 0; i < delivery->count; i++)
            delivery->index[i] = (int32_t)(wanted[i + 2] - m->first_col);
        longest = larger(longest, delivery->count);
        free(wanted);
    }
    m->outgoing = allocate(longest, sizeof *m->outgoing);
}

void sparse_create(struct sparse *m, struct entries *entries)
{
    int p = bsp_nprocs(), pid = bsp_pid();

    *m = (struct sparse){.rows = entries->rows, .cols = entries->cols};
    m->first_row = block_first(m->rows, p, pid);
    m->own_rows = block_size(m->rows, p, pid);
    m->first_col = block_first(m->cols, p, pid);
    m->own_cols = block_size(m->cols, p, pid);
    entries_assemble(entries);
    find_ghosts(m, entries);
    store_rows(m, entries);
    send_wishes(m);
    bsp_sync();
    receive_wishes(m);
    m->x = allocate(m->own_cols + m->ghosts, sizeof *m->x);
    bsp_push_reg(m->x, (m->own_cols + m->ghosts) * (int64_t)sizeof *m->x);
    bsp_sync();
}

void sparse_multiply(struct sparse *m, double *y)
{
    for (int d = 0; d < m->deliveries; d++) {
        const struct delivery *delivery = &m->delivery[d];

        for (int64_t i = 0; i < delivery->count; i++)
            m->outgoing[i] = m->x[delivery->index[i]];
        bsp_put(delivery->to, m->outgoing, m->x, delivery->offset * (int64_t)sizeof *m->x,
                delivery->count * (int64_t)sizeof *m->x);
    }
    bsp_sync();
    for (int64_t i = 0; i < m->own_rows; i++) {
        double sum = 0;

        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++)
            sum += m->value[e] * m->x[m->col[e]];
        y[i] = sum;
    }
}

void sparse_column_sums(struct sparse *m, double *sums, bool absolute)
{
    double *all = allocate(m->own_cols + m->ghosts, sizeof *all);
    size_t packets, bytes;

    for (int64_t e = 0; e < m->start[m->own_rows]; e++)
        all[m->col[e]] += absolute ? fabs(m->value[e]) : m->value[e];
    memcpy(sums, all, (size_t)m->own_cols * sizeof *sums);
    for (int64_t g = 0; g < m->ghosts; g++) {
        struct entry parcel = {0, m->ghost_col[g], all[m->own_cols + g]};

        bsp_send(block_owner(m->cols, bsp_nprocs(), parcel.col), NULL, &parcel, sizeof parcel);
    }
    bsp_sync();
    for (bsp_qsize(&packets, &bytes); packets > 0; packets--) {
        struct entry parcel;

        bsp_move(&parcel, sizeof parcel);
        sums[parcel.col - m->first_col] += parcel.value;
    }
    free(all);
}

void sparse_destroy(struct sparse *m)
{
    bsp_pop_reg(m->x);
    bsp_sync();
    for (int d = 0; d < m->deliveries; d++)
        free(m->delivery[d].index);
    free(m->delivery);
    free(m->start);
    free(m->col);
    free(m->value);
    free(m->ghost_col);
    free(m->x);
    free(m->outgoing);
}
