/* chance.h - chance by seed: the same seed gives the same numbers on every machine and for ever.
 *
 * The generator is xoshiro256** (Blackman and Vigna), its four words are made of a seed by
 * splitmix64.  Every sequence is named by three numbers, the seed of the user, the simulated job
 * and the host, so that the lives of a host do not depend on what else is drawn: jobs that differ
 * only in how they are run meet the same failures.
 */
#ifndef BSPSIM_CHANCE_H
#define BSPSIM_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t words[4];
};

/* The sequence of that name. */
void chance_begin(struct chance *chance, uint64_t seed, uint64_t job, uint64_t host);

/* 64 bits. */
uint64_t chance_bits(struct chance *chance);

/* Above 0, at most 1: its logarithm is finite. */
double chance_unit(struct chance *chance);

/* Draws with that mean, which is positive: times between events that have no memory; of a Weibull
 * distribution with that shape; of a log-normal one, where the logarithm has the standard deviation
 * sigma.  Shape and sigma are positive. */
double chance_exponential(struct chance *chance, double mean);
double chance_weibull(struct chance *chance, double mean, double shape);
double chance_lognormal(struct chance *chance, double mean, double sigma);

#endif
