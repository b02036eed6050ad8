/* chance.h - random numbers: a seed gives the same numbers on every machine and in every version.
 *
 * The generator is xoshiro256** (Blackman and Vigna), seeded by splitmix64.  A sequence is selected
 * by three numbers, the user's seed, the simulated job and the host, so that the lives of a host do
 * not depend on other draws: jobs that differ only in their policy meet the same failures.
 */
#ifndef BSPSIM_CHANCE_H
#define BSPSIM_CHANCE_H

#include <stdint.h>

struct chance {
    uint64_t words[4];
};

/* Begins the sequence of these numbers. */
void chance_begin(struct chance *chance, uint64_t seed, uint64_t job, uint64_t host);

/* 64 bits. */
uint64_t chance_bits(struct chance *chance);

/* Draw from an exponential, Weibull or log-normal distribution with that mean; sigma is the
 * standard deviation of the logarithm.  All parameters are positive. */
double chance_exponential(struct chance *chance, double mean);
double chance_weibull(struct chance *chance, double mean, double shape);
double chance_lognormal(struct chance *chance, double mean, double sigma);

#endif
