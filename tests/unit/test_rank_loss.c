/* test_rank_loss.c - what the death of a rank means, for each state of the job and each way to die.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>

#include "bsprun/agent/snapshot/rank_loss.h"
#include "tests/unit/suite.h"

#define KILLED  .death = {.known = true, .signal = SIGKILL}
#define LEFT    .death = {.known = true, .status = 1}
#define RUNNING .mark = BSPZ_RANK_RUNNING

static void expect(enum loss_step step, struct rank_loss loss)
{
    ck_assert_int_eq(loss_judge(&loss), step);
}

START_TEST(while_it_runs)
{
    expect(LOSS_OF_RANK, (struct rank_loss){.job = JOB_RUNNING, RUNNING, KILLED});
    expect(LOSS_OF_RANK, (struct rank_loss){.job = JOB_RUNNING, RUNNING}); /* nobody knows how */
    expect(LOSS_IS_KNOWN, (struct rank_loss){.job = JOB_RUNNING, RUNNING, KILLED, .told = true});
    expect(LOSS_OF_RANK,
           (struct rank_loss){
               .job = JOB_FORMING, .mark = BSPZ_RANK_HELD, .first_is_here = true, KILLED});
    /* The program's own doing. */
    expect(LOSS_IS_AN_END, (struct rank_loss){.job = JOB_RUNNING, RUNNING, LEFT});
    for (enum bspz_rank_state mark = BSPZ_RANK_ENDED; mark <= BSPZ_RANK_FAILED; mark++)
        expect(LOSS_IS_AN_END, (struct rank_loss){.job = JOB_RUNNING, .mark = mark, KILLED});
    /* What is killed because the term is over. */
    expect(LOSS_IS_AN_END, (struct rank_loss){.job = JOB_REWINDING, RUNNING, KILLED});
    expect(LOSS_IS_AN_END, (struct rank_loss){.job = JOB_REWINDING, RUNNING, KILLED, .told = true});
}
END_TEST

/* The agent need not have seen it in its place before it ends. */
START_TEST(restarted_alone)
{
    struct rank_loss loss = {.job = JOB_RUNNING, .mark = BSPZ_RANK_HELD, .alone = true, KILLED};

    expect(LOSS_OF_LONE, loss);
    loss.mark = BSPZ_RANK_READY;
    expect(LOSS_OF_LONE, loss);
    loss.mark = BSPZ_RANK_RUNNING;
    expect(LOSS_OF_RANK, loss);
    loss = (struct rank_loss){.job = JOB_RUNNING, .mark = BSPZ_RANK_HELD, .alone = true, LEFT};
    expect(LOSS_OF_LONE, loss);
    for (loss.mark = BSPZ_RANK_RUNNING; loss.mark <= BSPZ_RANK_FAILED; loss.mark++)
        expect(LOSS_IS_AN_END, loss);
    loss.told = true;
    expect(LOSS_IS_KNOWN, loss);
}
END_TEST

START_TEST(in_a_restore)
{
    const struct rank_loss left = {.job = JOB_RESTORING, .mark = BSPZ_RANK_HELD, LEFT};
    struct rank_loss loss = left;

    ck_assert(loss_in_restore(&loss));
    expect(LOSS_BY_CHANCE, loss); /* without a word */
    loss.said = true;
    expect(LOSS_OF_IMAGE, loss);
    loss.error = ENOMEM;
    expect(LOSS_OF_IMAGE, loss);
    loss.refused = true;
    expect(LOSS_BY_CHANCE, loss);
    loss.error = EAGAIN;
    expect(LOSS_BY_CHANCE, loss);
    loss.error = ENOENT;
    expect(LOSS_OF_MACHINE, loss);
    loss.copied = true; /* of the copy, not of the machine */
    expect(LOSS_BY_CHANCE, loss);
    loss.told = true;
    expect(LOSS_IS_KNOWN, loss);
    loss = left;
    loss.death = (struct death){.known = true, .signal = SIGKILL};
    ck_assert(!loss_in_restore(&loss));
    expect(LOSS_OF_RANK, loss);
}
END_TEST

/* Made of another host's process 0: there is no snapshot besides the one that it is made of. */
START_TEST(while_it_is_made_elsewhere)
{
    struct rank_loss loss = {.job = JOB_FORMING, .mark = BSPZ_RANK_HELD, LEFT};

    ck_assert(loss_in_restore(&loss));
    expect(LOSS_OF_MACHINE, loss);
    loss.said = true;
    expect(LOSS_OF_MACHINE, loss);
    loss.first_is_here = true;
    expect(LOSS_IS_AN_END, loss);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {while_it_runs, restarted_alone, in_a_restore,
                                  while_it_is_made_elsewhere};

    return suite_run_tests("rank loss", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
