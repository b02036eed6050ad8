/* chance.c - random numbers; see chance.h. */
#include "tools/bspsim/chance.h"

#include <math.h>

#define UNIT (1.0 / 9007199254740992.0) /* 2^-53 */

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void chance_begin(struct chance *chance, uint64_t seed, uint64_t job, uint64_t host)
{
    uint64_t state = seed;
    state = splitmix(&state) ^ job;
    state = splitmix(&state) ^ host;
    for (int i = 0; i < 4; i++)
        chance->words[i] = splitmix(&state);
}

static uint64_t turned(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

uint64_t chance_bits(struct chance *chance)
{
    uint64_t *word = chance->words;
    uint64_t result = turned(word[1] * 5, 7) * 9, kept = word[1] << 17;
    word[2] ^= word[0];
    word[3] ^= word[1];
    word[1] ^= word[2];
    word[0] ^= word[3];
    word[2] ^= kept;
    word[3] = turned(word[3], 45);
    return result;
}

/* Above 0, at most 1: its logarithm is finite. */
static double unit(struct chance *chance)
{
    return (double)((chance_bits(chance) >> 11) + 1) * UNIT;
}

double chance_exponential(struct chance *chance, double mean)
{
    return -mean * log(unit(chance));
}

double chance_weibull(struct chance *chance, double mean, double shape)
{
    double scale = mean / tgamma(1 + 1 / shape);
    return scale * pow(-log(unit(chance)), 1 / shape);
}

double chance_lognormal(struct chance *chance, double mean, double sigma)
{
    double radius = sqrt(-2 * log(unit(chance)));
    double normal = radius * cos(2 * M_PI * unit(chance));
    return mean * exp(sigma * normal - sigma * sigma / 2);
}
