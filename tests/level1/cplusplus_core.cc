// The primitives from C++: calls with commas in template arguments, numbers of every width, results
// of either width, pointers of any type; a message names the place of the call.
//
// @flags -std=c++98 -Wall -Wextra
// @flags -std=c++20 -Wall -Wextra
// @flags -overridec++ clang++ -std=c++17 -Wall -Wextra
// @succeeds all
// @fails put => cplusplus_core\.cc:113: bsp_put: pid 0 of [1-7], superstep 1: .*process -1
// @fails send => cplusplus_core\.cc:115: bsp_send: pid 0 of [1-7], superstep 1: .*process -1
#include <bsp.h>

#include <cstring>
#include <utility>
#include <vector>

#include "check.h"

typedef std::pair<int, double> Item;

static void drma(int p, int me)
{
    std::vector<Item> area(p), seen(p);
    Item own(me, me * 0.5);
    long offset = me * static_cast<long>(sizeof(Item));

    bsp_push_reg(&area[0], area.size() * sizeof(Item));
    bsp_sync();
    for (int to = 0; to < p; to++)
        bsp_put(to, &own, &area[0], offset, sizeof(std::pair<int, double>));
    bsp_sync();
    for (int pid = 0; pid < p; pid++)
        CHECK(area[pid] == Item(pid, pid * 0.5));
    bsp_get((me + 1) % p, &area[0], 0u, &seen[0], sizeof(Item) * p);
    bsp_sync();
    CHECK(seen == area);
    own.first = -me;
    bsp_hpput((me + 1) % p, &own, &area[0], 0, sizeof own);
    bsp_hpget(me, &area[0], offset, &seen[me], 0);
    bsp_pop_reg(&area[0]);
    bsp_sync();
    CHECK(area[0].first == -((me + p - 1) % p));
}

/* Three messages of eight bytes are in the queue. */
static void not_wanted()
{
    int packets = 0, bytes = 0;
    std::size_t wide_packets = 0, wide_bytes = 0;
    unsigned unsigned_packets = 0;

    bsp_qsize(&packets, NULL);
    bsp_qsize(NULL, &bytes);
    bsp_qsize(&unsigned_packets, NULL);
    bsp_qsize(&wide_packets, 0);
    bsp_qsize(NULL, &wide_bytes);
    bsp_qsize(NULL, NULL);
    CHECK(packets == 3 && bytes == 24 && unsigned_packets == 3 && wide_packets == 3);
    CHECK(wide_bytes == 24);
#if __cplusplus >= 201103L
    packets = bytes = 0;
    bsp_qsize(&packets, nullptr);
    bsp_qsize(nullptr, &bytes);
    CHECK(packets == 3 && bytes == 24);
#endif
}

static void messages(int p, int me)
{
    int narrow = sizeof(short), packets, bytes;
    std::size_t wide = sizeof(short), wide_packets, wide_bytes, wide_status;
    unsigned unsigned_packets;
    short tag = static_cast<short>(me), *tag_at;
    double value = me + 0.25, *value_at;
    void *any_tag, *any_payload;

    bsp_set_tagsize(&narrow);
    CHECK(narrow == 0);
    bsp_set_tagsize(&wide);
    CHECK(wide == sizeof(short));
    bsp_sync();
    for (int k = 0; k < 3; k++)
        bsp_send((me + 1) % p, &tag, &value, sizeof(value));
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 3 && bytes == 24);
    bsp_qsize(&packets, &wide_bytes);
    CHECK(packets == 3 && wide_bytes == 24);
    bsp_qsize(&unsigned_packets, &wide_bytes);
    CHECK(unsigned_packets == 3);
    bsp_qsize(&wide_packets, &wide_bytes);
    CHECK(wide_packets == 3);
    not_wanted();
    bsp_get_tag(&packets, &tag);
    CHECK(packets == 8 && tag == (me + p - 1) % p);
    bsp_get_tag(&wide_status, &tag);
    CHECK(wide_status == 8);
    CHECK(bsp_hpmove(&tag_at, &value_at) == 8 && *tag_at == tag && *value_at == tag + 0.25);
    CHECK(bsp_hpmove(&any_tag, &any_payload) == 8 && any_payload != 0);
    bsp_move(&value, 8);
    CHECK(value == tag + 0.25);
    CHECK(bsp_hpmove(&any_tag, &any_payload) == -1);
}

static void mistakes(const char *name)
{
    static int word;

    bsp_push_reg(&word, sizeof(word));
    bsp_sync();
    if (bsp_pid() != 0)
        return;
    if (std::strcmp(name, "put") == 0)
        bsp_put(-1, &word, &word, 0, 4);
    if (std::strcmp(name, "send") == 0)
        bsp_send(-1, 0, &word, sizeof(word));
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "all";

    bsp_begin(bsp_nprocs());
    CHECK(bsp_time() >= 0 && bsp_dtime() >= 0);
    if (std::strcmp(name, "all") == 0) {
        drma(bsp_nprocs(), bsp_pid());
        messages(bsp_nprocs(), bsp_pid());
    } else {
        mistakes(name);
        bsp_sync();
    }
    bsp_end();
    puts("ok");
    return 0;
}
