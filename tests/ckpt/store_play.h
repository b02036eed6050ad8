/* store_play.h - what the tests of the store have in common: a store with one job, snapshots of it
 * in one call each, and looks at what is there. */
#ifndef TESTS_CKPT_STORE_PLAY_H
#define TESTS_CKPT_STORE_PLAY_H

#include "tests/ckpt/store_sample.h"

extern char directory[256];
extern struct store *store; /* of that directory, open for writing */
extern struct store_sample sample;
/* What the last call complained of, and what was said of snapshots that were passed over. */
extern char complaint[MANIFEST_ERROR_SIZE], note[MANIFEST_ERROR_SIZE];

/* The fixture of each test. */
void set_up(void);
void tear_down(void);

/* Takes a snapshot, which must work. */
void snapshot(uint64_t superstep, uint32_t term, bool full);
/* Full images of those processes whose bit is set. */
void snapshot_of(uint64_t superstep, uint32_t term, uint32_t whole);

/* DIR/JOB/name, valid until the next call. */
const char *path_of(const char *name);
/* Negative offsets count from the end. */
void change_byte(const char *path, off_t offset);

/* 0, or what store_newest() says. */
int newest(uint64_t *superstep, uint32_t *term);
void expect_newest(uint64_t superstep, uint32_t term);
/* Every snapshot as SUPERSTEP.TERM and what is wrong with it: r retired, d damaged, u unfinished.
 */
void expect_list(const char *expected);

#endif
