/* test_chain_end.c - when the images of a job's next snapshot are full. */
#include <check.h>

#include "bsprun/agent/snapshot/chain_end.h"
#include "ckpt/format/layout.h"
#include "ckpt/manifest.h"
#include "ckpt/store.h"
#include "tests/unit/suite.h"

/* The second snapshot at a barrier, and from then on one of STORE_CHAIN_MOST. */
START_TEST(one_job)
{
    struct chain_end chain = chain_end_next((struct chain_end){.length = 9}, 7, true);
    unsigned since = 0;

    ck_assert(!chain_end_is_due(chain, 3, false));
    chain = chain_end_next(chain, 0, false); /* on snapshot 0 */
    ck_assert(chain_end_is_due(chain, 3, false));
    ck_assert(!chain_end_is_due(chain, 1, false));
    ck_assert(chain_end_is_due(chain, 0, false));
    for (uint64_t superstep = 1; superstep < 100; superstep++) {
        bool full = chain_end_is_due(chain, 3, false);

        since = full ? 0 : since + 1;
        ck_assert(since < STORE_CHAIN_MOST);
        ck_assert(superstep == 1 || full == (superstep % STORE_CHAIN_MOST == 1));
        chain = chain_end_next(chain, superstep, full);
    }
}
END_TEST

/* Where processes wait, images are increments unless the chain is longer than all others; and then
 * the next ones are full. */
START_TEST(while_processes_wait)
{
    struct chain_end chain = chain_end_next((struct chain_end){.length = 0}, 0, false);

    ck_assert(!chain_end_is_due(chain, 3, true));
    chain = chain_end_next(chain, 1, false);
    ck_assert(chain_end_is_due(chain, 3, false));
    ck_assert(!chain_end_is_due((struct chain_end){.length = STORE_CHAIN_MOST - 1}, 3, true));
    ck_assert(chain_end_is_due((struct chain_end){.length = STORE_CHAIN_MOST}, 3, true));
    ck_assert(!chain_end_is_due((struct chain_end){.length = STORE_CHAIN_MOST}, 1, true));
}
END_TEST

/* With one snapshot to keep chains are as long as images permit, and end together on all hosts,
 * whichever bases they have. */
START_TEST(the_newest_alone)
{
    struct chain_end chain = chain_end_next((struct chain_end){.length = 9}, 0, true);

    for (uint64_t superstep = 1; superstep < 100; superstep++) {
        bool full = chain_end_is_due(chain, 1, false);

        ck_assert(full == (superstep % BSPZ_IMAGE_CHAIN_MAX == 0));
        ck_assert(full == chain_end_is_due(chain, 1, true)); /* it cannot be longer by one */
        chain = chain_end_next(chain, superstep - 1, full);
    }
}
END_TEST

/* Every host goes on from the longest chain of all. */
START_TEST(after_a_restore)
{
    struct manifest_image images[] = {
        {.pid = 0, .facts = {.generation = 2, .base.superstep = 4}},
        {.pid = 1, .facts = {.generation = STORE_CHAIN_MOST - 1, .base.superstep = 4}},
        {.pid = 2}};
    struct manifest manifest = {.images = {images, 3}};

    ck_assert(chain_end_is_due(chain_end_of(&manifest, 1), 2, false));
    images[1].facts.generation--;
    ck_assert(!chain_end_is_due(chain_end_of(&manifest, 1), 2, false));
    ck_assert(chain_end_is_due(chain_end_of(&manifest, 0), 2, false));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {one_job, while_processes_wait, the_newest_alone, after_a_restore};

    return suite_run_tests("chain end", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
