/* Warnings: with BSP_WARN=1, or linked with -fwarn-bsp, legal and doubtful calls are told, each place
 * once per job; without it nothing is.
 *
 * CASE: nothing is said
 * ARGS: all
 * ERR-NOT: .
 *
 * CASE: from the link
 * ARGS: cut
 * CC: -fwarn-bsp
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('cut')}: bsp_move: pid 0 of ${p}, superstep 1: the reception area of 4 bytes is smaller than the payload of 8 bytes[^\n]*\n\Z
 *
 * CASE: a tag that is not sent
 * ARGS: tag
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('tag')}: bsp_send: pid 0 of ${p}, superstep 0: a tag is given, but the tag size is 0[^\n]*\n\Z
 *
 * CASE: messages that are not read
 * ARGS: unread
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('unread')}: bsp_sync: pid 0 of ${p}, superstep 1: 1 message\(s\) with 8 bytes are discarded unread[^\n]*\n\Z
 *
 * CASE: messages that are not read in the end
 * ARGS: unread-end
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('end')}: bsp_end: pid 0 of ${p}, superstep 1: 1 message\(s\) with 8 bytes are discarded unread[^\n]*\n\Z
 *
 * CASE: puts at a collective
 * ARGS: put
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('sum')}: bsp_sumI: pid 0 of ${p}, superstep 1: puts or gets issued before \(one at [^\n]*warn_doubtful\.c:${line('put')}\) are carried out[^\n]*\n\Z
 *
 * CASE: gets at a collective
 * ARGS: get
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('sum')}: bsp_sumI: pid 0 of ${p}, superstep 1: puts or gets issued before \(one at [^\n]*warn_doubtful\.c:${line('get')}\) are carried out[^\n]*\n\Z
 *
 * CASE: messages sent before a collective
 * ARGS: sent
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('sum')}: bsp_sumI: pid 0 of ${p}, superstep 1: messages sent before may be lost[^\n]*\n\Z
 *
 * CASE: messages unread at a collective
 * ARGS: lost
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('sum')}: bsp_sumI: pid 0 of ${p}, superstep 1: 1 message\(s\) with 8 bytes are discarded unread by this[^\n]*\n\Z
 *
 * CASE: only the last process
 * ARGS: last
 * ENV: BSP_WARN=1
 * ERR-RE: \A[^\n]*warn_doubtful\.c:${line('last')}: bsp_send: pid ${p-1} of ${p}, superstep 2: a tag is given, but the tag size is 0[^\n]*\n\Z
 *
 * CASE: a message is dropped on purpose, and all is read
 * ARGS: good
 * ENV: BSP_WARN=1
 * ERR-NOT: .
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdlib.h>
#include <string.h>

static const char *what;

static int is(const char *name)
{
    return strcmp(what, name) == 0 || strcmp(what, "all") == 0;
}

static void message(const void *tag)
{
    double value = 1;

    if (tag)
        bsp_send((bsp_pid() + 1) % bsp_nprocs(), tag, &value, sizeof value); /* @tag */
    else
        bsp_send((bsp_pid() + 1) % bsp_nprocs(), NULL, &value, sizeof value);
}

int main(int argc, char **argv)
{
    static double area, got;
    float small;

    what = argc > 1 ? argv[1] : "";
    bsp_begin(0);
    bsp_push_reg(&area, sizeof area);
    if (is("tag"))
        message("tag");
    else
        message(NULL);
    bsp_sync();
    if (is("cut"))
        bsp_move(&small, 4); /* @cut */
    else if (!is("unread") && !is("unread-end") && !is("lost"))
        bsp_move(NULL, 0);
    if (is("put"))
        bsp_put(0, &got, &area, 0, sizeof area); /* @put */
    if (is("get"))
        bsp_get(0, &area, 0, &got, sizeof got); /* @get */
    if (is("sent"))
        message(NULL);
    if (is("put") || is("get") || is("sent") || is("lost"))
        bsp_sumI(1); /* @sum */
    if (!is("unread-end"))
        bsp_sync(); /* @unread */
    for (int k = 0; k < 3; k++) {
        if (is("last") && bsp_pid() == bsp_nprocs() - 1)
            bsp_send(0, "tag", NULL, 0); /* @last */
        if (!is("unread-end")) {
            bsp_sync();
            if (is("last") && bsp_pid() == 0)
                bsp_move(NULL, 0);
        }
    }
    bsp_end(); /* @end */
    return 0;
}
