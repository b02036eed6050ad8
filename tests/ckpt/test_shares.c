/* test_shares.c - descriptors that an agent keeps for its processes: opened once for each group of
 * them, given by process 0, and who inherits which.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/shares.h"
#include "tests/ckpt/image_sample.h"
#include "tests/unit/suite.h"

#define MARK    40
#define NUMBERS 256

static char path[64], image[64];
static int image_fd;
static struct shares *shares;

/* An image of a process that has the file open. */
static void set_up(void)
{
    struct sample_options options = {.shared = path, .mark = MARK};
    struct sample_process process;
    struct sample_file file = {0};
    struct bspz_image_written written;

    strcpy(path, "/tmp/bspzero-shares-XXXXXX");
    strcpy(image, "/tmp/bspzero-shares-XXXXXX");
    close(mkstemp(path));
    image_fd = mkstemp(image);
    sample_process_make(&process, 1, 1);
    ck_assert_int_eq(sample_image(&process, &options, &file, &written), 0);
    ck_assert_int_eq(write(image_fd, file.bytes, file.size), (ssize_t)file.size);
    sample_process_free(&process);
    sample_file_free(&file);
    shares = shares_new();
    ck_assert_ptr_nonnull(shares);
}

static void tear_down(void)
{
    shares_free(shares);
    close(image_fd);
    unlink(path);
    unlink(image);
}

static bool is_kept(int fd)
{
    struct stat one, other;

    return stat(path, &one) == 0 && fstat(fd, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static int kept(void)
{
    int count = 0;

    for (int fd = 0; fd < NUMBERS; fd++)
        count += is_kept(fd);
    return count;
}

/* The one that a process of the group would inherit; -1: none. */
static int inherited(uint32_t group)
{
    int found = -1;

    shares_pass(shares, group);
    for (int fd = 0; fd < NUMBERS; fd++) {
        if (!is_kept(fd) || fcntl(fd, F_GETFD) != 0)
            continue;
        ck_assert_int_eq(found, -1);
        found = fd;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return found;
}

START_TEST(each_group_has_its_own)
{
    ck_assert_int_eq(shares_open(shares, 0, image_fd), 0);
    ck_assert_int_eq(shares_open(shares, 0, image_fd), 0);
    ck_assert_int_eq(kept(), 1);
    ck_assert_int_eq(shares_open(shares, 2, image_fd), 0);
    ck_assert_int_eq(kept(), 2);
    ck_assert_int_ge(inherited(0), 0);
    ck_assert_int_ge(inherited(2), 0);
    ck_assert_int_ne(inherited(0), inherited(2));
    ck_assert_int_eq(inherited(1), -1);
    ck_assert_int_eq(fcntl(inherited(2), F_GETSIG), MARK);
}
END_TEST

static void give(int socket, int fd)
{
    char space[CMSG_SPACE(sizeof fd)] __attribute__((aligned(8))) = "";
    struct iovec byte = {(void *)"", 1};
    struct msghdr message = {
        .msg_iov = &byte, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    ck_assert_int_eq(sendmsg(socket, &message, 0), 1);
    close(fd);
    close(socket);
}

START_TEST(what_process_0_gives_is_of_its_group)
{
    int end, fd = open(path, O_RDONLY | O_CLOEXEC), given;

    ck_assert_int_eq(fcntl(fd, F_SETSIG, MARK), 0);
    ck_assert_int_eq(shares_offer(shares, &end), 0);
    give(end, fd);
    ck_assert_int_eq(shares_take(shares), 0);
    given = inherited(0);
    ck_assert_int_ge(given, 0);
    ck_assert_int_eq(shares_open(shares, 0, image_fd), 0);
    ck_assert_int_eq(inherited(0), given);
    ck_assert_int_eq(shares_open(shares, 1, image_fd), 0);
    ck_assert_int_eq(kept(), 2);
    ck_assert_int_ne(inherited(1), given);
}
END_TEST

START_TEST(groups_get_other_numbers)
{
    const uint32_t from[] = {1, 1, 3}, to[] = {2, 2, 1};
    int first, second;

    for (uint32_t group = 0; group < 4; group++)
        if (group != 2)
            ck_assert_int_eq(shares_open(shares, group, image_fd), 0);
    first = inherited(1);
    second = inherited(3);
    ck_assert_int_eq(kept(), 3);
    shares_regroup(shares, from, to, 3);
    ck_assert_int_eq(kept(), 2); /* nobody of group 0 is here any more */
    ck_assert_int_eq(inherited(2), first);
    ck_assert_int_eq(inherited(1), second);
    ck_assert_int_eq(inherited(0), -1);
    ck_assert_int_eq(inherited(3), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shares");
    TCase *tests = tcase_create("shares");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, each_group_has_its_own);
    tcase_add_test(tests, what_process_0_gives_is_of_its_group);
    tcase_add_test(tests, groups_get_other_numbers);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
