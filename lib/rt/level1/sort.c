/* bsp_sort: all processes get all p items in one superstep; each selects its own, with about 3*p
 * comparisons on average.  All select from the same items by the same total order, so that each
 * item is selected once.
 */
#include "include/bsp_level1.h"
#include "lib/rt/level1/collective.h"

#include <string.h>

struct items {
    bsp_order_t before;
    unsigned char *bytes;
    int n;
};

/* Whether item i comes before item j, i != j; equal items keep their order.  One call of the user's
 * order decides both (i, j) and (j, i). */
static bool comes_before(const struct items *items, int i, int j)
{
    int n = items->n;
    int low = i < j ? i : j, high = i < j ? j : i;
    bool swapped = items->before(items->bytes + (ptrdiff_t)high * items->n,
                                 items->bytes + (ptrdiff_t)low * items->n, &n) != 0;

    return swapped == (i == high);
}

static void swap(int *a, int *b)
{
    int kept = *a;

    *a = *b;
    *b = kept;
}

/* Moves the middle one of the first, middle and last item of [low, high] to high. */
static void choose_pivot(const struct items *items, int *order, int low, int high)
{
    int middle = low + (high - low) / 2;

    if (middle == low)
        return;
    if (comes_before(items, order[middle], order[low]))
        swap(&order[middle], &order[low]);
    if (comes_before(items, order[high], order[low]))
        swap(&order[high], &order[low]);
    if (comes_before(items, order[middle], order[high]))
        swap(&order[middle], &order[high]);
}

/* The index of the item with `rank` items before it. */
static int select_item(const struct items *items, int *order, int count, int rank)
{
    int low = 0, high = count - 1;

    while (low < high) {
        choose_pivot(items, order, low, high);
        int border = low;
        for (int i = low; i < high; i++)
            if (comes_before(items, order[i], order[high]))
                swap(&order[i], &order[border++]);
        swap(&order[border], &order[high]);
        if (border == rank)
            break;
        if (border < rank)
            low = border + 1;
        else
            high = border - 1;
    }
    return order[rank];
}

void bspz_sort(struct bspz_collective *call, bsp_order_t before, const void *src, void *dst)
{
    int p = bsp_nprocs();
    ptrdiff_t indices = (p * call->n + 15) & ~(ptrdiff_t)15;
    struct bspz_work work = bspz_work_open(call, p, p * (ptrdiff_t)sizeof(int) + 15);
    int *order = (int *)(work.bytes + indices);
    struct items items = {.before = before, .bytes = work.bytes, .n = (int)call->n};

    bspz_collect(call, &work, src);
    for (int i = 0; i < p; i++)
        order[i] = i;
    if (call->n > 0) {
        int mine = select_item(&items, order, p, bsp_pid());
        memcpy(dst, work.bytes + mine * call->n, (size_t)call->n);
    }
    bspz_work_close(call, &work);
}

void bsp_sort_cpp(bsp_order_t before, const void *src, void *dst, ptrdiff_t nbytes, int line,
                  const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_sort), .root = BSPZ_NO_ROOT, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    bspz_collective_int(&call);
    bspz_collective_operator(&call, before != NULL);
    bspz_collective_pointer(&call, "src", src);
    bspz_collective_pointer(&call, "dst", dst);
    bspz_sort(&call, before, src, dst);
    bspz_collective_end();
}
