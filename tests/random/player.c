/* player.c - carries out a script of BSPlib calls; written by `run`, which knows what must come of
 * it.
 *
 *   player SCRIPT [MARKER]
 *
 * A script is lines of numbers: who (-1: every process), what (enum what), and arguments.  After
 * each superstep every process prints its number, the superstep's, a checksum of its memory and one
 * of all that it was told (messages, sizes, results).  With MARKER, DIE is obeyed by the first that
 * can make that file.  Mistakes have a line each, which a comment names.
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY = 1024, SHIFT = 48, PROCS = 16, ARGUMENTS = 6, TAG_MOST = 64 };

enum what {
    SYNC,
    STORE,
    PUSH,
    POP,
    PUT,
    HPPUT,
    GET,
    HPGET,
    SET_TAGSIZE,
    SEND,
    QSIZE,
    GET_TAG,
    MOVE,
    HPMOVE,
    SUM,
    PREFIX,
    FOLD,
    SCAN,
    BCAST,
    GATHER,
    SCATTER,
    DIE,
    MISTAKE,
    LEAVE_OUT, /* of the next checksum: others may write there already */
};

struct call {
    int who, what, at[ARGUMENTS];
};

static struct call *calls;
static int count;
static unsigned char storage[MEMORY + SHIFT * PROCS], *memory;
static unsigned char left_out[MEMORY];
static unsigned told;
static unsigned table[256];
static const char *marker;

static void load(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];

    while (file && fgets(line, sizeof line, file)) {
        struct call call = {0};

        if (sscanf(line, "%d %d %d %d %d %d %d %d", &call.who, &call.what, call.at, call.at + 1,
                   call.at + 2, call.at + 3, call.at + 4, call.at + 5) < 2)
            continue;
        calls = realloc(calls, (size_t)(count + 1) * sizeof *calls);
        calls[count++] = call;
    }
    if (file)
        fclose(file);
    for (unsigned i = 0; i < 256; i++) {
        table[i] = i;
        for (int k = 0; k < 8; k++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
}

static unsigned checksum(unsigned sum, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;

    for (sum = ~sum; length > 0; length--)
        sum = sum >> 8 ^ table[(sum ^ *at++) & 255];
    return ~sum;
}

static unsigned checksum_of_memory(void)
{
    static const unsigned char zero;
    unsigned sum = 0;

    for (int i = 0; i < MEMORY; i++)
        sum = checksum(sum, left_out[i] ? &zero : memory + i, 1);
    memset(left_out, 0, sizeof left_out);
    return sum;
}

static void tell(const void *bytes, size_t length)
{
    told = checksum(told, bytes, length);
}

static void tell_int(int value)
{
    tell(&value, sizeof value);
}

/* What a put, store or message brings is told by a number. */
static unsigned char *pattern(int seed, int length)
{
    static unsigned char bytes[MEMORY];

    for (int i = 0; i < length; i++)
        bytes[i] = (unsigned char)(seed * 7 + i * 13 + (i * seed >> 3));
    return bytes;
}

static void *area(int offset)
{
    return offset < 0 ? NULL : memory + offset;
}

/* Maps x -> a*x + b, which are put behind each other: associative, and the order matters. */
static void compose(unsigned *result, unsigned *left, unsigned *right, int *nbytes)
{
    (void)nbytes;
    result[0] = left[0] * right[0];
    result[1] = left[1] * right[0] + right[1];
}

static void send(const int *at)
{
    unsigned char tag[TAG_MOST];

    memcpy(tag, pattern(at[2], TAG_MOST), TAG_MOST);
    bsp_send(at[0], tag, at[1] ? pattern(at[3], at[1]) : NULL, at[1]);
}

static void read_queue(int what, const int *at)
{
    unsigned char bytes[MEMORY] = {0}, tag[TAG_MOST] = {0};
    int packets = -7, nbytes = -7, status = -7;
    void *tag_at = NULL, *payload = NULL;

    if (what == QSIZE) {
        bsp_qsize(at[0] & 1 ? NULL : &packets, at[0] & 2 ? NULL : &nbytes);
        tell_int(packets);
        tell_int(nbytes);
    } else if (what == GET_TAG) {
        bsp_get_tag(&status, tag);
        tell_int(status);
        tell(tag, sizeof tag);
    } else if (what == MOVE) {
        bsp_move(bytes, at[0]);
        tell(bytes, sizeof bytes);
    } else {
        status = bsp_hpmove(&tag_at, &payload);
        tell_int(status);
        tell_int((int)(((size_t)tag_at | (size_t)payload) & 15));
        if (at[0] > 0)
            tell(tag_at, (size_t)at[0]);
        if (status > 0)
            tell(payload, (size_t)status);
    }
}

static void collective(int what, const int *at)
{
    unsigned map[2] = {2u * (unsigned)(at[0] + bsp_pid()) + 1, (unsigned)(at[0] * bsp_pid())};
    unsigned result[2] = {0, 0};

    switch (what) {
    case SUM:
        tell_int(bsp_sumI(at[0] + bsp_pid()));
        break;
    case PREFIX:
        tell_int(bsp_maxI_prefix((at[0] * (bsp_pid() + 3)) % 17));
        break;
    case FOLD:
        bsp_fold(compose, map, result, sizeof map);
        break;
    case SCAN:
        bsp_scan(compose, map, result, sizeof map);
        break;
    case BCAST:
        bsp_bcast(at[0], area(at[1]), area(at[2]), at[3]);
        break;
    case GATHER:
        bsp_gather(at[0], area(at[1]), area(at[2]), at[3]);
        break;
    case SCATTER:
        bsp_scatter(at[0], area(at[1]), area(at[2]), at[3]);
        break;
    }
    tell(result, sizeof result);
}

static unsigned char other[64]; /* not registered */

/* A put or get: `base` is registered, with `size` bytes on the last process. */
static void wrong_access(int number, unsigned char *base, int size)
{
    int p = bsp_nprocs();

    switch (number) {
    case 0:
        bsp_put(p, other, base, 0, 1); /* @put_pid */
        break;
    case 1:
        bsp_get(-1, base, 0, other, 1); /* @get_pid */
        break;
    case 3:
        bsp_put(0, other, other, 0, 1); /* @put_unregistered */
        break;
    case 4:
        bsp_hpget(0, other, 0, base, 1); /* @hpget_unregistered */
        break;
    case 5:
        bsp_put(p - 1, other, base, size, 1); /* @put_bounds */
        break;
    case 6:
        bsp_get(p - 1, base, size > 0 ? size - 1 : 0, other, 2); /* @get_bounds */
        break;
    case 7:
        bsp_put(0, other, base, -1, 1); /* @put_offset */
        break;
    case 8:
        bsp_hpput(0, other, base, 0, -1); /* @hpput_size */
        break;
    case 20:
        bsp_put(0, NULL, base, 0, 1); /* @put_null */
        break;
    case 21:
        bsp_get(0, NULL, 0, other, 1); /* @get_null */
        break;
    case 22:
        bsp_push_reg(other, 4);
        bsp_put(0, other + 8, other, 0, 4); /* @fresh */
        break;
    }
}

/* Any other call by one process. */
static void wrong_call(int number)
{
    int n = -5;

    switch (number) {
    case 2:
        bsp_send(bsp_nprocs() + 3, other, other, 1); /* @send_pid */
        break;
    case 9:
        bsp_push_reg(other, -4); /* @push_negative */
        break;
    case 10:
        bsp_push_reg(NULL, 4); /* @push_null */
        break;
    case 11:
        bsp_pop_reg(other); /* @pop_unregistered */
        break;
    case 12:
        bsp_send(0, other, NULL, 3); /* @send_null */
        break;
    case 13:
        bsp_send(0, other, other, -3); /* @send_negative */
        break;
    case 14:
        bsp_set_tagsize(&n); /* @tag_negative */
        break;
    case 15:
        bsp_get_tag(NULL, other); /* @get_tag_null */
        break;
    case 16:
        bsp_move(other, -1); /* @move_negative */
        break;
    case 17:
        bsp_hpmove(NULL, NULL); /* @hpmove_null */
        break;
    case 18:
        bsp_begin(0); /* @begin_again */
        break;
    case 19:
        bsp_init(NULL, 0, NULL); /* @init_null */
        break;
    case 24:
        bsp_fold(compose, other, other + 32, -8); /* @fold_size */
        break;
    }
}

/* What not all processes do, or not alike; most of it is found at the barrier. */
static void wrong_together(int number, unsigned char *base)
{
    int p = bsp_nprocs(), me = bsp_pid(), size;

    switch (number) {
    case 23:
        bsp_bcast(p, other, base, 1); /* @root */
        break;
    case 25:
        if (me == p - 1)
            bsp_push_reg(other, 4);
        break;
    case 26:
        if (me == p - 1)
            bsp_end(); /* @end_alone */
        break;
    case 27:
        size = 3 + me;
        bsp_set_tagsize(&size); /* @tag_differs */
        break;
    case 28:
        if (me == p - 1)
            bsp_sumI(1); /* @sum_alone */
        break;
    case 29:
        bsp_gather(me == p - 1, memory, base, 1); /* @roots */
        break;
    case 30:
        bsp_push_reg(other, 4);
        bsp_push_reg(other + 8, 4);
        bsp_pop_reg(me ? other : other + 8); /* @pops */
        break;
    case 31:
        bsp_sumI(1);
        bsp_put(p, other, base, 0, 1); /* @behind_sum */
        break;
    }
}

/* The arguments are the number of the mistake (or INNOCENT), an area that is registered (or -1),
 * and its size on the last process. */
static void mistake(const int *at)
{
    unsigned char *base = at[1] < 0 ? memory : memory + at[1];

    wrong_access(at[0], base, at[2]);
    wrong_call(at[0]);
    wrong_together(at[0], base);
    bsp_sync(); /* @barrier */
}

static void die(void)
{
    int fd = marker ? open(marker, O_CREAT | O_EXCL | O_WRONLY, 0600) : -1;

    if (fd < 0)
        return;
    close(fd);
    kill(getpid(), SIGKILL);
}

static void play(const struct call *call)
{
    const int *at = call->at;
    int size = at[0];

    switch (call->what) {
    case SYNC:
        bsp_sync();
        break;
    case STORE:
        memcpy(memory + at[0], pattern(at[2], at[1]), (size_t)at[1]);
        break;
    case PUSH:
        bsp_push_reg(area(at[0]), at[1]);
        break;
    case POP:
        bsp_pop_reg(area(at[0]));
        break;
    case PUT:
        bsp_put(at[0], area(at[1]), area(at[2]), at[3], at[4]);
        break;
    case HPPUT:
        bsp_hpput(at[0], area(at[1]), area(at[2]), at[3], at[4]);
        break;
    case GET:
        bsp_get(at[0], area(at[1]), at[2], area(at[3]), at[4]);
        break;
    case HPGET:
        bsp_hpget(at[0], area(at[1]), at[2], area(at[3]), at[4]);
        break;
    case SET_TAGSIZE:
        bsp_set_tagsize(&size);
        tell_int(size);
        break;
    case SEND:
        send(at);
        break;
    case QSIZE:
    case GET_TAG:
    case MOVE:
    case HPMOVE:
        read_queue(call->what, at);
        break;
    case DIE:
        die();
        break;
    case LEAVE_OUT:
        memset(left_out + at[0], 1, (size_t)at[1]);
        break;
    case MISTAKE:
        mistake(at);
        break;
    default:
        collective(call->what, at);
        break;
    }
}

int main(int argc, char **argv)
{
    int superstep = 0;

    if (argc < 2)
        return 2;
    load(argv[1]);
    marker = argc > 2 ? argv[2] : NULL;
    bsp_begin(0);
    memory = storage + SHIFT * bsp_pid();
    memcpy(memory, pattern(bsp_pid() + 1, MEMORY), MEMORY);
    for (int k = 0; k < count; k++) {
        /* Lists of one process hold what it alone does, and arguments of its own in common calls.
         */
        if (calls[k].who >= 0 && calls[k].who != bsp_pid())
            continue;
        play(&calls[k]);
        if (calls[k].what == SYNC || (calls[k].what >= SUM && calls[k].what <= SCATTER)) {
            printf("%d %d %08x %08x\n", superstep++, bsp_pid(), checksum_of_memory(), told);
            told = 0;
        }
    }
    bsp_end();
    return 0;
}
