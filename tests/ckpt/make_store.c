/* make_store.c - a directory with a job and a few snapshots, for the tests of bspckpt: make_store
 * DIR. Prints the job's name. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/ckpt/store_sample.h"

static char error[MANIFEST_ERROR_SIZE];

static void must(int status)
{
    if (status < 0) {
        fprintf(stderr, "make_store: %s\n", error);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static struct store_sample sample;
    struct store *store;

    if (argc != 2)
        return 2;
    store_sample_make(&sample);
    must(store_open(&store, argv[1], STORE_CREATE, NULL, error));
    must(store_job_create(store, store_sample_job, 1700000000000000000u, error));
    for (uint64_t superstep = 0; superstep < 6; superstep++)
        must(store_sample_snapshot(&sample, store, superstep, 1,
                                   superstep % 3 == 0 ? STORE_SAMPLE_ALL : 0, true, error));
    must(store_term_begin(store, 2, NAME(4, 1), 1700000001000000000u, error));
    puts(store_job_name(store));
    store_close(store);
    store_sample_free(&sample);
    return 0;
}
