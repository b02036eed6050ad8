/* test_early_links.c - links that come to an agent before their term: which are kept, which are closed.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "bsprun/agent/core/early_links.h"
#include "tests/unit/suite.h"

static struct early_links links;
static struct early taken;

static void set_up(void)
{
    early_begin(&links);
    taken = (struct early){.fd = -1};
}

static void tear_down(void)
{
    early_end(&links);
}

/* The descriptor that was kept. */
static int keep(uint32_t host, uint32_t term)
{
    struct net_meeting meeting = {.fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
                                  .peer = {.host = host, .incarnation = term}};

    ck_assert_int_ge(meeting.fd, 0);
    early_keep(&links, &meeting);
    return meeting.fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

START_TEST(each_term_gets_its_own)
{
    int second = keep(2, 5), first = keep(1, 4);

    ck_assert(early_take(&links, 4, &taken));
    ck_assert(taken.fd == first && taken.host == 1 && taken.term == 4);
    ck_assert(!early_take(&links, 4, &taken));
    close(first);
    ck_assert(is_open(second));
    ck_assert(early_take(&links, 5, &taken));
    ck_assert_int_eq(taken.fd, second);
    close(second);
}
END_TEST

START_TEST(the_newer_one_stays)
{
    int newer = keep(1, 5), older = keep(1, 4), third;

    ck_assert(is_open(newer) && !is_open(older));
    third = keep(1, 6);
    ck_assert(!is_open(newer) || third == newer);
    ck_assert(!early_take(&links, 5, &taken));
    ck_assert(early_take(&links, 6, &taken));
    close(taken.fd);
}
END_TEST

/* A peer calls again when it thinks that the first call came to nothing. */
START_TEST(the_later_one_of_a_term_stays)
{
    int first = keep(1, 5), second = keep(1, 5);

    ck_assert(!is_open(first) && is_open(second));
    ck_assert(early_take(&links, 5, &taken));
    ck_assert_int_eq(taken.fd, second);
    close(second);
}
END_TEST

START_TEST(older_ones_are_closed_on_the_way)
{
    int older = keep(1, 3), newer = keep(2, 9);

    ck_assert(!early_take(&links, 4, &taken));
    ck_assert(!is_open(older) && is_open(newer));
}
END_TEST

START_TEST(there_is_a_bound)
{
    int last = -1;

    for (uint32_t host = 0; host < EARLY_MAX; host++)
        last = keep(host, 2);
    ck_assert(is_open(last));
    last = keep(EARLY_MAX, 2);
    ck_assert(!is_open(last));
    last = keep(7, 3); /* of one that has a place */
    ck_assert(is_open(last));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_term_gets_its_own, the_newer_one_stays,
                                  the_later_one_of_a_term_stays, older_ones_are_closed_on_the_way,
                                  there_is_a_bound};

    return suite_run_tests("early links", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
