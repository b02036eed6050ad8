"""heat, replica and nbody against known solutions."""
import math
import operator

from harness import *


def plate(n, steps):
    """The edge plate by straightforward iteration."""
    now = [[100.0] * (n + 2)] + [[0.0] * (n + 2) for _ in range(n + 1)]
    for _ in range(steps):
        new = [row[:] for row in now]
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                new[i][j] = 0.25 * ((now[i][j - 1] + now[i][j + 1]) +
                                    (now[i - 1][j] + now[i + 1][j]))
        now = new
    return [row[1:-1] for row in now[1:-1]]


@case
def heat_of_a_sine():
    for n in (0, 1, 2, 5, 30):
        for steps in (0, 1, 100):
            output = same_for_all("heat", "-n", n, "-i", steps)
            check(number(output, "error") <= 1e-14, output)


@case
def heat_of_an_edge():
    for n, steps in ((0, 5), (1, 5), (2, 5), (3, 0), (11, 40)):
        picture = path("heat.pgm")
        output = same_for_all("heat", "--plate", "edge", "-n", n, "-i", steps)
        field = [value for row in plate(n, steps) for value in row]
        if n:
            check(near(number(output, "mean"), sum(field) / n ** 2), output)
            check(number(output, "coldest") == min(field), output)
            check(number(output, "hottest") == max(field), output)
        scale = 255 / (max(field) - min(field)) if field and max(field) > min(field) else 0
        pixels = bytes(int((value - min(field)) * scale + 0.5) for value in field)
        for p in PROCESSES:
            verified(run("heat", "--plate", "edge", "-n", n, "-i", steps, "-o", picture, p=p))
            with open(picture, "rb") as file:
                check(file.read() == b"P5\n%d %d\n255\n" % (n, n) + pixels, "picture of p =", p)


@case
def heat_bad_input():
    complains(run("heat", "--plate", "dish"), 'heat: --plate is sine or edge, not "dish";.*', 2)
    result = run("heat", "-n", 3, "-o", path("no/where"), p=3)
    check(result.returncode == 1 and result.stdout.endswith("FAILED\n"), result)
    check(re.fullmatch("heat: cannot write .*\n", result.stderr), result)


@case
def replicas():
    same_for_all("replica", "-i", 2000)
    same_for_all("replica", "-L", 5, "-r", 3, "-i", 500, "--sweeps", 3, "--warm-up", 0)
    same_for_all("replica", "-L", 6, "-r", 1, "-i", 500)


def ising_energy(edge, temperature):
    """The mean energy per spin of a small lattice, over all its states: row by row, as each row
    meets only the one before it."""
    states = [[1 if state >> k & 1 else -1 for k in range(edge)] for state in range(1 << edge)]

    def energy(row, next_row):
        return -sum(row[k] * (row[(k + 1) % edge] + next_row[k]) for k in range(edge))

    def times(left, right):
        columns = list(zip(*right))
        return [[sum(map(operator.mul, row, column)) for column in columns] for row in left]

    weights = [[math.exp(-energy(row, other) / temperature) for other in states] for row in states]
    with_energy = [[energy(row, other) * weight for other, weight in zip(states, line)]
                   for row, line in zip(states, weights)]
    others = weights
    for _ in range(edge - 2):
        others = times(others, weights)
    trace = lambda matrix: sum(matrix[k][k] for k in range(len(states)))
    return trace(times(with_energy, others)) / trace(times(weights, others)) / edge


@case
def exact_energies_are_exact():
    result = run("replica", "-L", 5, "-r", 5, "--coldest", 0.5, "--hottest", 5, "-i", 400, "--json",
                 p=3)
    summary = json.loads(result.stdout)
    check(summary["verified"] is True and len(summary["temperatures"]) == 5, summary)
    for k, row in enumerate(summary["temperatures"]):
        # Eight digits are printed.
        check(near(row["exact"], ising_energy(5, 0.5 + k * 4.5 / 4), 1e-6), row)


@case
def cold_replicas():
    """Where spins hardly ever turn the standard error says little."""
    for seed in range(1, 9):
        verified(run("replica", "--coldest", 0.5, "--hottest", 1, "-s", seed))


@case
def few_rounds_are_not_judged():
    verified(run("replica", "-i", 20))
    for rounds in (1, 5, 19):
        for seed in range(1, 6):
            outputs = [run("replica", "-i", rounds, "-s", seed, p=p) for p in (1, 3)]
            for result in outputs:
                check(result.returncode == 0 and result.stderr == "", result)
                check(result.stdout == outputs[0].stdout, *outputs)
                check(result.stdout.endswith("\nnot verified: too few rounds to judge the energies by\n"), result)
    check(json.loads(run("replica", "-i", 5, "--json").stdout)["verified"] is None)
    with open("/dev/full", "w") as full:
        check(run("replica", "-i", 5, stdout=full).returncode != 0)


@case
def seeds_matter_to_replicas():
    sums = {fact(verified(run("replica", "-i", 100, "-s", seed)), "checksum") for seed in range(4)}
    check(len(sums) == 4, sums)


@case
def replica_bad_input():
    complains(run("replica", "--coldest", 3, "--hottest", 2), "replica: --coldest must not .*", 2)
    # Of 4 x 4 and 3 x 3 spins some never leave the states in which they begin.
    complains(run("replica", "-L", 4), "replica: --size must lie between 5 and 1024;.*", 2)


@case
def clusters_of_stars():
    for n, steps in ((0, 3), (1, 3), (2, 10), (5, 10), (60, 20)):
        same_for_all("nbody", "-n", n, "-i", steps)


def bodies(*rows):
    """A file of masses, places and velocities."""
    return matrix_market(len(rows), 7, {(i, k): value for i, row in enumerate(rows)
                                        for k, value in enumerate(row)})


@case
def a_binary_star_keeps_its_circle():
    # Two unit masses at distance d pull with d / (d^2 + e^2)^(3/2); the speed of the circle is
    # then v^2 = a d / 2.
    d, softening = 1.0, 0.1
    speed = math.sqrt(d / (d * d + softening ** 2) ** 1.5 * d / 2)
    name = write("pair.mtx", bodies((1.0, d / 2, 0, 0, 0, speed, 0),
                                    (1.0, -d / 2, 0, 0, 0, -speed, 0)))
    output = same_for_all("nbody", "-f", name, "--softening", softening, "--step", 0.01, "-i", 300)
    energy = speed ** 2 - 1 / math.sqrt(d * d + softening ** 2)
    check(near(number(output, "energy at the start"), energy), output, energy)
    check(near(number(output, "energy at the end"), energy, 1e-6), output)


@case
def masses_may_differ():
    name = write("three.mtx", bodies((1.0, 0, 0, 0, 0, 0, 0), (1e-3, 1.0, 0, 0, 0, 1.0, 0),
                                     (0.0, 0, 2.0, 0, 0.7, 0, 0)))
    output = same_for_all("nbody", "-f", name, "--step", 0.002, "-i", 200)
    check(number(output, "change of momentum") < 1e-15, output)


@case
def an_energy_that_drifts_is_a_failure():
    result = run("nbody", "-n", 20, "-i", 20, "--step", 0.5, "--tolerance", 0, p=3)
    check(result.returncode == 1 and result.stdout.endswith("FAILED\n"), result)


@case
def nbody_bad_input():
    wide = write("w.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    complains(run("nbody", "-f", wide, p=3), "nbody: .*: a body is mass, .*: 7 columns, not 3")
    negative = write("n.mtx", bodies((-1.0, 0, 0, 0, 0, 0, 0)))
    complains(run("nbody", "-f", negative, p=3), "nbody: .*: a mass is negative")


main()
