/* Error 7: a primitive outside the SPMD part, before bsp_begin and behind bsp_end; bsp_pid,
 * bsp_nprocs, bsp_time and bsp_abort are allowed there.
 *
 * P: 1 2 3
 * STATUS: nonzero
 *
 * CASE: sync before
 * ARGS: before sync
 * ERROR: bsp_sync @sync -1 ?
 *
 * CASE: sync after
 * P: 1 2
 * ARGS: after sync
 * ERROR: bsp_sync @sync 0 ?
 *
 * CASE: push_reg before
 * ARGS: before push_reg
 * ERROR: bsp_push_reg @push_reg -1 ?
 *
 * CASE: push_reg after
 * P: 1 2
 * ARGS: after push_reg
 * ERROR: bsp_push_reg @push_reg 0 ?
 *
 * CASE: pop_reg before
 * ARGS: before pop_reg
 * ERROR: bsp_pop_reg @pop_reg -1 ?
 *
 * CASE: pop_reg after
 * P: 1 2
 * ARGS: after pop_reg
 * ERROR: bsp_pop_reg @pop_reg 0 ?
 *
 * CASE: put before
 * ARGS: before put
 * ERROR: bsp_put @put -1 ?
 *
 * CASE: put after
 * P: 1 2
 * ARGS: after put
 * ERROR: bsp_put @put 0 ?
 *
 * CASE: get before
 * ARGS: before get
 * ERROR: bsp_get @get -1 ?
 *
 * CASE: get after
 * P: 1 2
 * ARGS: after get
 * ERROR: bsp_get @get 0 ?
 *
 * CASE: hpput before
 * ARGS: before hpput
 * ERROR: bsp_hpput @hpput -1 ?
 *
 * CASE: hpput after
 * P: 1 2
 * ARGS: after hpput
 * ERROR: bsp_hpput @hpput 0 ?
 *
 * CASE: hpget before
 * ARGS: before hpget
 * ERROR: bsp_hpget @hpget -1 ?
 *
 * CASE: hpget after
 * P: 1 2
 * ARGS: after hpget
 * ERROR: bsp_hpget @hpget 0 ?
 *
 * CASE: set_tagsize before
 * ARGS: before set_tagsize
 * ERROR: bsp_set_tagsize @set_tagsize -1 ?
 *
 * CASE: set_tagsize after
 * P: 1 2
 * ARGS: after set_tagsize
 * ERROR: bsp_set_tagsize @set_tagsize 0 ?
 *
 * CASE: send before
 * ARGS: before send
 * ERROR: bsp_send @send -1 ?
 *
 * CASE: send after
 * P: 1 2
 * ARGS: after send
 * ERROR: bsp_send @send 0 ?
 *
 * CASE: qsize before
 * ARGS: before qsize
 * ERROR: bsp_qsize @qsize -1 ?
 *
 * CASE: qsize after
 * P: 1 2
 * ARGS: after qsize
 * ERROR: bsp_qsize @qsize 0 ?
 *
 * CASE: get_tag before
 * ARGS: before get_tag
 * ERROR: bsp_get_tag @get_tag -1 ?
 *
 * CASE: get_tag after
 * P: 1 2
 * ARGS: after get_tag
 * ERROR: bsp_get_tag @get_tag 0 ?
 *
 * CASE: move before
 * ARGS: before move
 * ERROR: bsp_move @move -1 ?
 *
 * CASE: move after
 * P: 1 2
 * ARGS: after move
 * ERROR: bsp_move @move 0 ?
 *
 * CASE: hpmove before
 * ARGS: before hpmove
 * ERROR: bsp_hpmove @hpmove -1 ?
 *
 * CASE: hpmove after
 * P: 1 2
 * ARGS: after hpmove
 * ERROR: bsp_hpmove @hpmove 0 ?
 */
#include <bsp.h>
#include <string.h>

static void call(const char *name)
{
    int area = 0, value = 0;
    void *tag, *payload;

    if (strcmp(name, "sync") == 0)
        bsp_sync(); /* @sync */
    if (strcmp(name, "push_reg") == 0)
        bsp_push_reg(&area, sizeof area); /* @push_reg */
    if (strcmp(name, "pop_reg") == 0)
        bsp_pop_reg(&area); /* @pop_reg */
    if (strcmp(name, "put") == 0)
        bsp_put(0, &value, &area, 0, sizeof value); /* @put */
    if (strcmp(name, "get") == 0)
        bsp_get(0, &area, 0, &value, sizeof value); /* @get */
    if (strcmp(name, "hpput") == 0)
        bsp_hpput(0, &value, &area, 0, sizeof value); /* @hpput */
    if (strcmp(name, "hpget") == 0)
        bsp_hpget(0, &area, 0, &value, sizeof value); /* @hpget */
    if (strcmp(name, "set_tagsize") == 0)
        bsp_set_tagsize(&value); /* @set_tagsize */
    if (strcmp(name, "send") == 0)
        bsp_send(0, NULL, &value, sizeof value); /* @send */
    if (strcmp(name, "qsize") == 0)
        bsp_qsize(&value, &area); /* @qsize */
    if (strcmp(name, "get_tag") == 0)
        bsp_get_tag(&value, NULL); /* @get_tag */
    if (strcmp(name, "move") == 0)
        bsp_move(&value, 0); /* @move */
    if (strcmp(name, "hpmove") == 0)
        bsp_hpmove(&tag, &payload); /* @hpmove */
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    if (strcmp(argv[1], "before") == 0)
        call(argv[2]);
    bsp_begin(0);
    bsp_end();
    call(argv[2]);
    return 0;
}
