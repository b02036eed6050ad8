/* test_messages.c - a process that reads its messages (lib/rt/mpi/messages.c) while others come:
 * the sender is the part of this test that is called for each record that is read. */
#include <stdlib.h>
#include <string.h>

#include "lib/rt/mpi/inside.h"
#include "tests/unit/suite.h"

#define SIZE      8192
#define UNSTOPPED 100000 /* records: of a sender that would not have stopped */
#define TAG       7

struct bspz_mpi bspz_mpi;
struct bspz_runtime bspz_rt;

static struct bspz_mail mail;
static struct bspz_mpi_peer peers[2];
static struct bspz_ring_end sender; /* the end of process 1 of its ring to process 0 */
static char *memory;
static struct bspmpi_request *long_message; /* whose pieces it sends; NULL: it sends messages */
static int written, most, at_once, records_read;

static bool write_next(const struct bspz_record *record)
{
    if (written == most || bspz_ring_room(&sender) < bspz_record_bytes(sizeof written))
        return false;
    bspz_ring_write(&sender, record, &written);
    written++;
    return true;
}

static void tell(void)
{
    atomic_fetch_or(&mail.in[0], UINT64_C(1) << 1);
}

/* Messages are told one by one; pieces, when the last one is written. */
static void send_some(int count)
{
    struct bspz_record record = {.kind = long_message ? BSPZ_RECORD_DATA : BSPZ_RECORD_MESSAGE,
                                 .tag = TAG,
                                 .size = sizeof written,
                                 .receiver = (uint64_t)(uintptr_t)long_message};

    while (count-- > 0 && write_next(&record))
        if (!long_message || written == most)
            tell();
}

/* ---- What messages.c calls ------------------------------------------------------------------- */

void bspz_mpi_count_read(void)
{
    records_read++;
    send_some(at_once);
}

void bspz_mpi_tell_read(int from, bool wanted)
{
    ck_assert_int_eq(from, 1);
    ck_assert(!wanted);
}

/* Who sleeps has been told nothing. */
void bspz_mpi_doze(enum bspz_mail_wait waits, int peer, int tag)
{
    ck_abort_msg("sleeps (%d) for process %d and tag %d", (int)waits, peer, tag);
}

void bspz_mpi_push_on(int to)
{
    ck_assert_int_eq(to, 1);
}

void bspz_mpi_push(int to, struct bspz_outgoing *outgoing)
{
    ck_abort_msg("something is sent to process %d: kind %d", to, outgoing->record.kind);
}

void bspz_mpi_push_record(int to, const struct bspz_record *record)
{
    ck_abort_msg("something is sent to process %d: kind %d", to, record->kind);
}

bool bspz_mpi_pushing(void)
{
    return false;
}

uint64_t bspz_mpi_eager(const struct bspz_mpi_peer *peer)
{
    return peer->to.size;
}

bool bspz_mpi_has_kept(void)
{
    return false;
}

struct bspz_mpi_kept *bspz_mpi_take_kept(void)
{
    return NULL;
}

void bspz_fail(const char *function, int line, const char *file, const char *format, ...)
{
    ck_abort_msg("%s, %s:%d: %s", function, file, line, format);
}

const char *bspz_call_name(enum bspz_call call)
{
    return call == BSPZ_CALL_MPI_Recv ? "MPI_Recv" : "another call";
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void set_up(void)
{
    struct bspz_ring *ring;

    memory = aligned_alloc(4096, 4096 + SIZE); /* the head takes less */
    ck_assert_ptr_nonnull(memory);
    memset(memory, 0, BSPZ_RING_HEAD + SIZE);
    ring = (struct bspz_ring *)memory;
    bspz_ring_open(&sender, ring, SIZE, true);
    bspz_ring_open(&peers[1].from, ring, SIZE, false);
    bspz_mpi = (struct bspz_mpi){.mail = &mail, .peers = peers, .words = 1};
    bspz_mpi.call = BSPZ_CALL_MPI_Recv;
    bspz_mpi_messages_begin();
}

static void tear_down(void)
{
    free(memory);
}

static int receive(bool waits)
{
    struct bspmpi_request request;
    int number = -1;

    bspz_mpi_receive(&request, &number, sizeof number, 1, TAG, BSPZ_MPI_USER);
    if (waits)
        bspz_mpi_wait(&request);
    ck_assert(request.done);
    return number;
}

/* Whatever the receiver has read, more is there. */
START_TEST(a_receive_returns_while_more_comes)
{
    most = UNSTOPPED;
    at_once = 1;
    send_some(3);
    ck_assert_int_eq(receive(true), 0);
    ck_assert_int_eq(records_read, 3);
    /* The same for calls that do not wait. */
    ck_assert(bspz_mpi_progress());
    ck_assert_int_eq(records_read, 6);
}
END_TEST

START_TEST(what_came_meanwhile_is_read_next)
{
    most = 5000;
    at_once = _i;
    send_some(1);
    while (bspz_mpi_progress())
        ck_assert_int_le(records_read, written);
    ck_assert_int_eq(written, most);
    ck_assert_int_eq(records_read, most);
    for (int i = 0; i < most; i++)
        ck_assert_int_eq(receive(false), i);
}
END_TEST

START_TEST(pieces_are_read_as_they_come)
{
    enum { PIECES = 1000 };
    static int pieces[PIECES];
    struct bspmpi_request request;

    bspz_mpi_receive(&request, pieces, sizeof pieces, 1, TAG, BSPZ_MPI_USER);
    request.size = sizeof pieces; /* an offer has come, and it has been asked for */
    request.got = 0;
    long_message = &request;
    most = PIECES;
    at_once = 1;
    send_some(1);
    tell(); /* the ring was full */
    bspz_mpi_progress();
    ck_assert(request.done);
    for (int i = 0; i < PIECES; i++)
        ck_assert_int_eq(pieces[i], i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("messages");
    TCase *cases = tcase_create("messages");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_receive_returns_while_more_comes);
    tcase_add_test(cases, pieces_are_read_as_they_come);
    tcase_add_loop_test(cases, what_came_meanwhile_is_read_next, 1, 4);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
