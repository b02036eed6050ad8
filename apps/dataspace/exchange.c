/* exchange - replica exchange: spins on a square lattice (Ising) at several temperatures at once.
 * exchange [REPLICAS [ROUNDS [SIDE]]] [time]
 *
 * Every replica of the lattice makes a sweep; then neighbours in temperature exchange their
 * temperatures with the probability that Metropolis gives.  Both need only the other's energy,
 * which is an object of the dataspace: nobody waits but for his neighbour.  Chance depends on
 * replica and round alone, so the answer is the same for any number of processes.
 */
#include <math.h>

#include "apps/dataspace/space.h"

#define COLDEST 1.5
#define HOTTEST 3.5

struct replica {
    signed char *spins;
    int level; /* of temperature */
    int energy;
};

/* At each level: who is there, and how often it has been exchanged. */
struct said {
    int replica, energy;
};

static int side, replicas;

static double chance(uint64_t a, uint64_t b)
{
    return (double)(hash_of(a, b) >> 11) * 0x1p-53;
}

static double beta_of(int level)
{
    double step = replicas > 1 ? (HOTTEST - COLDEST) / (replicas - 1) : 0;

    return 1 / (COLDEST + step * level);
}

static struct replica new_replica(int number)
{
    struct replica replica = {.spins = allocate((size_t)side * (size_t)side), .level = number};

    for (int i = 0; i < side * side; i++)
        replica.spins[i] = hash_of((uint64_t)number, (uint64_t)i) & 1 ? 1 : -1;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            replica.energy -=
                replica.spins[y * side + x] * (replica.spins[y * side + (x + 1) % side] +
                                               replica.spins[(y + 1) % side * side + x]);
    return replica;
}

static void sweep(struct replica *replica, int number, int round)
{
    double beta = beta_of(replica->level);
    uint64_t seed = hash_of((uint64_t)number, (uint64_t)round + 1000);

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            signed char *spins = replica->spins, *spin = &spins[y * side + x];
            int around = spins[y * side + (x + 1) % side] +
                         spins[y * side + (x + side - 1) % side] +
                         spins[(y + 1) % side * side + x] + spins[(y + side - 1) % side * side + x];
            int more = 2 * *spin * around;

            if (more <= 0 || chance(seed, (uint64_t)(y * side + x)) < exp(-beta * more)) {
                *spin = (signed char)-*spin;
                replica->energy += more;
            }
        }
}

/* The level that exchanges with this one in that round; the same one: none. */
static int partner_of(int level, int round)
{
    int other = (level + round) % 2 == 0 ? level + 1 : level - 1;

    return other < 0 || other >= replicas ? level : other;
}

/* Whether the levels exchange, as both of them find out. */
static bool exchanges(int level, int energy, int other, int other_energy, int round)
{
    double gain = (beta_of(level) - beta_of(other)) * (energy - other_energy);
    int lower = level < other ? level : other;

    return gain >= 0 || chance((uint64_t)round + 77, (uint64_t)lower) < exp(gain);
}

/* What is the same for any number of processes. */
static uint64_t digest_of(const struct replica *replica, int number)
{
    uint64_t digest =
        hash_of((uint64_t)(replica->level * 100000 + number), (uint64_t)replica->energy);

    for (int i = 0; i < side * side; i++)
        digest += hash_of((uint64_t)(i * 2 + (replica->spins[i] > 0)), (uint64_t)number);
    return digest;
}

/* The same by one process, without the dataspace. */
static uint64_t alone(int rounds)
{
    struct replica *all = allocate((size_t)replicas * sizeof *all);
    int *at = allocate((size_t)replicas * sizeof *at);
    uint64_t digest = 0;

    for (int i = 0; i < replicas; i++)
        all[i] = new_replica(i);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < replicas; i++) {
            sweep(&all[i], i, round);
            at[all[i].level] = i;
        }
        for (int level = 0; level < replicas; level++) {
            int other = partner_of(level, round);
            struct replica *one = &all[at[level]], *two = &all[at[other]];

            if (other > level && exchanges(level, one->energy, other, two->energy, round)) {
                one->level = other;
                two->level = level;
            }
        }
    }
    for (int i = 0; i < replicas; i++) {
        digest += digest_of(&all[i], i);
        free(all[i].spins);
    }
    free(all);
    free(at);
    return digest;
}

int main(int argc, char **argv)
{
    bool timed = is_timed(&argc, argv);
    int rounds, self, procs;
    struct replica *own;
    uint64_t digest = 0, part;
    double start;

    replicas = (int)number_of(argc, argv, 1, 16, 1);
    rounds = (int)number_of(argc, argv, 2, 50, 0);
    side = (int)number_of(argc, argv, 3, 16, 2);
    volpex_init(argc, argv);
    start = seconds();
    self = volpex_getProcId();
    procs = volpex_getNumProc();
    own = allocate((size_t)replicas * sizeof *own);
    for (int i = self; i < replicas; i += procs)
        own[i] = new_replica(i);
    for (int round = 0; round < rounds; round++) {
        for (int i = self; i < replicas; i += procs) {
            struct said said = {i, 0};

            sweep(&own[i], i, round);
            said.energy = own[i].energy;
            if (partner_of(own[i].level, round) != own[i].level)
                space_put(&said, sizeof said, "%d at level %d", round, own[i].level);
        }
        for (int i = self; i < replicas; i += procs) {
            int level = own[i].level, other = partner_of(level, round);
            struct said said;

            if (other == level)
                continue;
            space_get(&said, sizeof said, "%d at level %d", round, other);
            if (exchanges(level, own[i].energy, other, said.energy, round))
                own[i].level = other;
        }
    }
    for (int i = self; i < replicas; i += procs) {
        digest += digest_of(&own[i], i);
        free(own[i].spins);
    }
    free(own);
    space_put(&digest, sizeof digest, "digest %d", self);
    for (int pid = 0; pid < procs && self == 0; pid++) {
        space_get(&part, sizeof part, "digest %d", pid);
        digest = pid == 0 ? part : digest + part;
    }
    volpex_finalize();
    printf("%d replicas, %d rounds: %016llx\n", replicas, rounds, (unsigned long long)digest);
    finish(timed, timed || digest == alone(rounds), start);
    return 0;
}
