"""innerprod, matmul, lu and fft against answers computed here."""
import math
import random
from fractions import Fraction

from harness import *


@case
def innerprod_of_known_sums():
    for n in (0, 1, 2, 5, 1000):
        output = same_for_all("innerprod", "-n", n)
        check(number(output, "inner product") == n * (n + 1) * (2 * n + 1) / 6, output)


@case
def innerprod_is_correctly_rounded():
    # Terms that cancel almost completely: any rounding on the way would show.
    generator = random.Random(1)
    x = [generator.uniform(-1, 1) * 10.0 ** generator.randint(-8, 8) for _ in range(200)]
    y = [generator.uniform(-1, 1) * 10.0 ** generator.randint(-8, 8) for _ in range(200)]
    x += x
    y += [-value for value in y]
    x.append(1e-30)
    y.append(1.0)
    expected = float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y)))
    output = same_for_all("innerprod", "-x", write("x.mtx", column(x)), "-y",
                          write("y.mtx", column(y)))
    check(number(output, "inner product") == expected == 1e-30, output)


@case
def innerprod_repeats():
    once = verified(run("innerprod", "-n", 1000))
    check(verified(run("innerprod", "-n", 1000, "-i", 7)) == once)


@case
def infinities_have_signs():
    large, minus = write("large.mtx", column([1e200])), write("minus.mtx", column([-1e200]))
    check(fact(run("innerprod", "-x", large).stdout, "inner product") == "inf")
    check(fact(run("innerprod", "-x", large, "-y", minus).stdout, "inner product") == "-inf")


@case
def innerprod_bad_input():
    short, long = write("short.mtx", column([1.0])), write("long.mtx", column([1.0, 2.0]))
    wide = write("wide.mtx", matrix_market(2, 2, {(0, 0): 1.0}))
    complains(run("innerprod", "-x", short, "-y", long, p=3),
              "innerprod: the vectors have 1 and 2 elements")
    complains(run("innerprod", "-x", wide, p=3), "innerprod: .*: a vector has 1 column, .* 2")
    complains(run("innerprod", "-y", short), "innerprod: --y needs --x;.*", 2)


@case
def matmul_of_random_matrices():
    same_for_all("matmul", "-n", 60, "--panel", 7)
    same_for_all("matmul", "-m", 13, "-k", 41, "-n", 5, "--panel", 10)
    check(same_for_all("matmul", "-n", 50) == same_for_all("matmul", "-n", 50, "--panel", 3))


@case
def matmul_of_small_matrices():
    for n in (0, 1, 2, 3):
        same_for_all("matmul", "-n", n)
    same_for_all("matmul", "-m", 0)
    same_for_all("matmul", "-k", 0, "-n", 4)


@case
def matmul_of_files():
    generator = random.Random(2)
    a = {(i, k): generator.randint(-99, 99) for i in range(9) for k in range(11)}
    b = {(k, j): generator.randint(-99, 99) for k in range(11) for j in range(5)}
    c = [sum(a[i, k] * b[k, j] for k in range(11)) for i in range(9) for j in range(5)]
    output = same_for_all("matmul", "-a", write("a.mtx", matrix_market(9, 11, a, "integer")),
                          "-b", write("b.mtx", matrix_market(11, 5, b, "integer")))
    check(number(output, "sum of elements") == sum(c), output, sum(c))
    check(number(output, "frobenius norm") == math.sqrt(sum(x * x for x in c)), output)


@case
def matmul_bad_input():
    a = write("a.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    complains(run("matmul", "-a", a, p=3), "matmul: a matrix with 3 columns .* with 2 rows")


@case
def lu_of_random_matrices():
    for n in (0, 1, 2, 5, 40):
        same_for_all("lu", "-n", n)


@case
def lu_of_a_file():
    # A = P L U with a known solution, pivots out of order and exactly computable numbers.
    a = [[0, 2, 0, 1], [4, 0, 0, 0], [0, 0, 0, 8], [0, 1, 2, 0]]
    b = [1, 2, 3, 4]
    expected = [Fraction(1, 2), Fraction(5, 16), Fraction(59, 32), Fraction(3, 8)]
    for row, right in zip(a, b):
        check(sum(x * y for x, y in zip(row, expected)) == right)
    entries = {(i, j): float(a[i][j]) for i in range(4) for j in range(4) if a[i][j]}
    output = same_for_all("lu", "-a", write("a.mtx", matrix_market(4, 4, entries)))
    check(number(output, "sum of x") == float(sum(expected)), output)
    check(number(output, "first of x") == 0.5 and number(output, "last of x") == 0.375, output)
    # |det A| = 4 * 2 * 2 * 8
    check(near(number(output, "log of the determinant"), math.log(128)), output)


@case
def lu_of_an_ill_scaled_matrix_needs_pivoting():
    entries = {(0, 0): 1e-20, (0, 1): 1.0, (1, 0): 1.0, (1, 1): 1.0}
    output = same_for_all("lu", "-a", write("a.mtx", matrix_market(2, 2, entries)))
    check(number(output, "first of x") == 1 and number(output, "last of x") == 1, output)


@case
def lu_bad_input():
    singular = write("a.mtx", matrix_market(3, 3, {(0, 0): 1.0, (1, 1): 1.0, (2, 1): 3.0}))
    wide = write("b.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    for p in (1, 3, 4):
        complains(run("lu", "-a", singular, p=p), "lu: the matrix is singular: column 3 .*")
        complains(run("lu", "-a", wide, p=p), "lu: .*b.mtx: the matrix is 2 by 3, not square")


@case
def fft_of_random_signals():
    for n in (0, 1, 2, 4, 8, 100, 4096):
        same_for_all("fft", "-n", n)


@case
def fft_of_tones():
    tone = [math.cos(2 * math.pi * 5 * j / 64) for j in range(64)]
    output = same_for_all("fft", "-f", write("tone.mtx", column(tone)))
    check(int(fact(output, "strongest frequency")) in (5, 59), output)
    check(near(number(output, "its strength"), 32), output)
    # exp(2 pi i 3 j / 16): one line of the spectrum
    wave = {(j, k): part(2 * math.pi * 3 * j / 16)
            for j in range(16) for k, part in ((0, math.cos), (1, math.sin))}
    output = same_for_all("fft", "-f", write("wave.mtx", matrix_market(16, 2, wave)))
    check(fact(output, "strongest frequency") == "3", output)
    check(near(number(output, "its strength"), 16), output)


@case
def fft_fills_up_with_zeros():
    output = same_for_all("fft", "-f", write("five.mtx", column([1.0, 1.0, 1.0, 1.0, 1.0])))
    check(fact(output, "n") == "8" and number(output, "its strength") == 5, output)


@case
def fft_bad_input():
    wide = write("wide.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    complains(run("fft", "-f", wide, p=3), "fft: .*: a signal has 1 column .* 3")


main()
