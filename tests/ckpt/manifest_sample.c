/* manifest_sample.c - see manifest_sample.h. */
#include "tests/ckpt/manifest_sample.h"

#include <string.h>

static const char *const arguments[] = {"./prog", "--size", "100", "", "two words"};
static const char *const environment[] = {"HOME=/home/someone", "EMPTY=", "LANG=C.UTF-8"};
static const char *const options[] = {"-np", "4", "--ckpt", "snapshots"};
static const char *const hosts[] = {"here", "there"};

static void lists(struct manifest_sample *sample, uint32_t nprocs, uint64_t superstep,
                  uint32_t generation)
{
    for (uint32_t i = 0; i < nprocs; i++) {
        sample->host_of[i] = i % 2;
        sample->together[i] = i % 3; /* 2 and 4 were on other hosts */
        sample->images[i] = (struct manifest_image){
            .pid = i,
            .image_pid = superstep == 0 ? 0 : i,
            .facts = {.size = 100000 + i, .generation = generation},
        };
        struct bspz_image_facts *facts = &sample->images[i].facts;
        memset(facts->digest, superstep == 0 ? 1 : (int)(i + 1), sizeof(facts->digest));
        if (generation > 0) {
            facts->base = (struct bspz_image_name){.superstep = superstep - 1, .term = 1};
            memcpy(facts->base.digest, facts->digest, sizeof(facts->digest));
        }
        for (uint32_t k = 0; k < 3; k++)
            sample->streams[3 * i + k] =
                (struct manifest_stream){.pid = i, .number = k, .position = 1000 * k + i};
    }
}

void manifest_sample(struct manifest_sample *sample, uint32_t nprocs, uint64_t superstep,
                     uint32_t term, uint32_t generation)
{
    struct wire_bytes job = {"job of a sample!", WIRE_JOB_SIZE};

    memset(sample, 0, sizeof(*sample));
    lists(sample, nprocs, superstep, generation);
    sample->manifest = (struct manifest){
        .job = job,
        .name = {superstep, term},
        .nprocs = nprocs,
        .created = 1700000000123456789u,
        .program = "/home/someone/prog",
        .arguments = {arguments, 5},
        .environment = {environment, 3},
        .directory = "/home/someone",
        .options = {options, 4},
        .hosts = {hosts, 2},
        .host_of = {sample->host_of, nprocs},
        .version = "0.1.0",
        .images = {sample->images, nprocs},
        .streams = {sample->streams, 3 * nprocs},
        .together = {sample->together, nprocs},
        .input_digest = 0x0123456789abcdefu,
    };
    sample->term_list[0] = (struct manifest_term){.term = 1, .created = 1};
    sample->term_list[1] = (struct manifest_term){.term = 2, .from = {5, 1}};
    sample->term_list[2] = (struct manifest_term){.term = 7, .from = {9, 2}};
    sample->terms = (struct manifest_terms){.job = job, .terms = {sample->term_list, 3}};
    sample->finish = (struct manifest_finish){
        .job = job, .superstep = superstep, .term = term, .status = 3, .text = "it is over"};
}
