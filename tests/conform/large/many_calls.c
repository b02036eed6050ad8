/* Sizes: more than 2 GiB in one superstep, in many calls of 64 KiB each from a buffer that is used
 * again at once, and after that a small superstep.
 *
 * P: 2
 * RUN: bsprun
 * CC: -O2
 * MEMORY: 8
 * TIMEOUT: 600
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: put
 * ARGS: put
 *
 * CASE: get
 * ARGS: get
 *
 * CASE: send
 * ARGS: send
 */
#include "../check.h"
#include "words.h"

enum { PIECE = 64 << 10, PIECES = 40 << 10 };
static const size_t bytes = (size_t)PIECE * PIECES;
static uint64_t piece[PIECE / 8];

static void put_pieces(int me, int last)
{
    char *area = me == last ? malloc(bytes) : NULL, name_of_area;

    bsp_push_reg(me == last ? area : &name_of_area, me == last ? bytes : 0);
    bsp_sync();
    for (size_t k = PIECES; k-- > 0 && me == 0;) {
        words_fill(piece, k * PIECE / 8, PIECE);
        bsp_put(last, piece, &name_of_area, k * PIECE, PIECE);
    }
    bsp_sync();
    if (me == last)
        CHECK(words_are_right(area, bytes));
    free(area);
}

static void get_pieces(int me, int last)
{
    char *area = me == last ? words_new(bytes) : NULL, name_of_area;
    char *destination = me == 0 ? malloc(bytes) : NULL;

    bsp_push_reg(me == last ? area : &name_of_area, me == last ? bytes : 0);
    bsp_sync();
    for (size_t k = PIECES; k-- > 0 && me == 0;)
        bsp_get(last, &name_of_area, k * PIECE, destination + k * PIECE, PIECE);
    bsp_sync();
    if (me == 0)
        CHECK(words_are_right(destination, bytes));
    free(area);
    free(destination);
}

static void send_pieces(int me, int last)
{
    static uint64_t expected[PIECE / 8];
    size_t packets, payload;
    bool right = true;

    for (size_t k = 0; k < PIECES && me == 0; k++) {
        words_fill(piece, k * PIECE / 8, PIECE);
        bsp_send(last, NULL, piece, PIECE);
    }
    bsp_sync();
    bsp_qsize(&packets, &payload);
    CHECK(packets == (me == last ? PIECES : 0) && payload == (me == last ? bytes : 0));
    for (size_t k = 0; k < PIECES && me == last; k++) {
        bsp_move(piece, PIECE);
        words_fill(expected, k * PIECE / 8, PIECE);
        right = right && memcmp(piece, expected, PIECE) == 0;
    }
    CHECK(right);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    int me = bsp_pid(), p = bsp_nprocs(), small = 0;

    if (strcmp(name, "put") == 0)
        put_pieces(me, p - 1);
    else if (strcmp(name, "get") == 0)
        get_pieces(me, p - 1);
    else
        send_pieces(me, p - 1);
    bsp_push_reg(&small, sizeof small);
    bsp_sync();
    bsp_put((me + 1) % p, &me, &small, 0, sizeof me);
    bsp_sync();
    CHECK_INT(small, (me + p - 1) % p);
    conform_done();
    bsp_end();
    return 0;
}
