/* Header: the plain symbols exist behind the macros and can be called through pointers; a message
 * then names the place as unprofiled.
 *
 * CASE: right
 * OUT-EACH: pid ${i}: ok
 *
 * CASE: wrong
 * ARGS: wrong
 * STATUS: nonzero
 * ERROR: bsp_put unprofiled ? 1
 * FACT: \b${p+9}\b
 */
#include "../check.h"

static void (*put)(int, const void *, void *, int, int) = (bsp_put);
static void (*get)(int, const void *, int, void *, int) = (bsp_get);
static void (*hpput)(int, const void *, void *, int, int) = (bsp_hpput);
static void (*hpget)(int, const void *, int, void *, int) = (bsp_hpget);
static void (*push)(const void *, int) = (bsp_push_reg);
static void (*pop)(const void *) = (bsp_pop_reg);
static void (*sync_all)(void) = (bsp_sync);
static void (*set_tag)(int *) = (bsp_set_tagsize);
static void (*send_one)(int, const void *, const void *, int) = (bsp_send);
static void (*size_of)(int *, int *) = (bsp_qsize);
static void (*tag_of)(int *, void *) = (bsp_get_tag);
static void (*move)(void *, int) = (bsp_move);
static int (*hpmove)(void **, void **) = (bsp_hpmove);

int main(int argc, char **argv)
{
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), right = (me + 1) % p, left = (me + p - 1) % p;
    int area[5] = {0, 0, 70 + me, 80 + me, 0}, seen[2] = {0, 0}, size = 1, packets, bytes;
    void *tag, *payload;
    char letter;

    push(area, sizeof area);
    set_tag(&size);
    sync_all();
    if (argc > 1 && strcmp(argv[1], "wrong") == 0)
        put(p + 9, &me, area, 0, 4);
    put(right, &me, area, 0, 4);
    hpput(right, &me, area, 4, 4);
    get(right, area, 8, &seen[0], 4);
    hpget(right, area, 12, &seen[1], 4);
    send_one(right, "t", "load", 4);
    send_one(right, "u", "more", 4);
    sync_all();
    size_of(&packets, &bytes);
    CHECK(packets == 2 && bytes == 8);
    tag_of(&size, &letter);
    CHECK(size == 4 && letter == 't');
    move(seen + 1 - 1, 0);
    CHECK_INT(hpmove(&tag, &payload), 4);
    CHECK(memcmp(payload, "more", 4) == 0 && *(char *)tag == 'u');
    CHECK_INT(area[0], left);
    CHECK_INT(area[1], left);
    CHECK_INT(seen[0], 70 + right);
    CHECK_INT(seen[1], 80 + right);
    pop(area);
    sync_all();
    conform_done();
    bsp_end();
    return 0;
}
