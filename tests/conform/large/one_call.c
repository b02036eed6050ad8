/* Sizes: more than 2 GiB, and more than 4 GiB of address range, in one call of each kind.  Process 0
 * hands a block of 3 GiB to the last process, or fetches it there; every word is looked at.
 *
 * P: 2
 * RUN: bsprun
 * CC: -O2
 * MEMORY: 11
 * TIMEOUT: 600
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: put
 * ARGS: put
 *
 * CASE: get
 * ARGS: get
 *
 * CASE: hpput
 * ARGS: hpput
 *
 * CASE: hpget
 * ARGS: hpget
 *
 * CASE: send and move
 * ARGS: move
 */
#include "../check.h"
#include "words.h"

enum { SHIFT = 8 }; /* where the block begins in the area */
static const size_t bytes = (size_t)3 << 30;

static bool is(const char *name, const char *given)
{
    return strcmp(name, given) == 0;
}

/* Process 0 writes into an area that only the last process has. */
static void write_there(const char *name, int me, int last)
{
    char *area = me == last ? malloc(SHIFT + bytes) : NULL, name_of_area;
    void *source = me == 0 ? words_new(bytes) : NULL;

    bsp_push_reg(me == last ? area : &name_of_area, me == last ? SHIFT + bytes : 0);
    bsp_sync();
    if (me == 0 && is(name, "put"))
        bsp_put(last, source, &name_of_area, SHIFT, bytes);
    if (me == 0 && is(name, "hpput"))
        bsp_hpput(last, source, &name_of_area, SHIFT, bytes);
    bsp_sync();
    if (me == last)
        CHECK(words_are_right(area + SHIFT, bytes));
    free(area);
    free(source);
}

/* Process 0 reads an area that only the last process has. */
static void read_there(const char *name, int me, int last)
{
    char *area = me == last ? words_new(bytes) : NULL, name_of_area;
    void *destination = me == 0 ? malloc(bytes) : NULL;

    bsp_push_reg(me == last ? area : &name_of_area, me == last ? bytes : 0);
    bsp_sync();
    if (me == 0 && is(name, "get"))
        bsp_get(last, &name_of_area, 0, destination, bytes);
    if (me == 0 && is(name, "hpget"))
        bsp_hpget(last, &name_of_area, 0, destination, bytes);
    bsp_sync();
    if (me == 0)
        CHECK(words_are_right(destination, bytes));
    free(area);
    free(destination);
}

static void send_there(int me, int last)
{
    void *source = me == 0 ? words_new(bytes) : NULL;
    size_t packets, payload, length;

    if (me == 0)
        bsp_send(last, NULL, source, bytes);
    bsp_sync();
    bsp_qsize(&packets, &payload);
    CHECK(packets == (me == last) && payload == (me == last ? bytes : 0));
    bsp_get_tag(&length, NULL);
    CHECK(length == (me == last ? bytes : (size_t)-1));
    if (me == last) {
        void *destination = malloc(bytes);

        bsp_move(destination, bytes);
        CHECK(words_are_right(destination, bytes));
        free(destination);
    }
    free(source);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    int me = bsp_pid(), last = bsp_nprocs() - 1;

    if (is(name, "put") || is(name, "hpput"))
        write_there(name, me, last);
    else if (is(name, "get") || is(name, "hpget"))
        read_there(name, me, last);
    else
        send_there(me, last);
    conform_done();
    bsp_end();
    return 0;
}
