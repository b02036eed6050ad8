"""spmv and pagerank, and through them the reader of Matrix Market files."""
import random

from harness import *


def multiply(rows, entries, x):
    y = [0.0] * rows
    for (row, col), value in sorted(entries.items()):
        y[row] += value * x[col]
    return y


def product(text, rows, entries, x, *options):
    """Runs spmv on a file and compares the vector it writes; the output is the same for all p."""
    name, out = write("m.mtx", text), path("y.mtx")
    x_file = write("x.mtx", column(x))
    same_for_all("spmv", name, "-x", x_file, *options)
    for p in PROCESSES:
        verified(run("spmv", name, "-x", x_file, "-o", out, *options, p=p))
        y = read_column(out)
        check(y == multiply(rows, entries, x), "p =", p, y)


def random_matrix(rows, cols, count, seed):
    generator = random.Random(seed)
    return {(generator.randrange(rows), generator.randrange(cols)): generator.uniform(-1, 1)
            for _ in range(count)}


@case
def general_matrices():
    generator = random.Random(3)
    for rows, cols, count in ((20, 20, 80), (5, 30, 40), (30, 5, 40), (1, 1, 1), (3, 3, 0)):
        entries = random_matrix(rows, cols, count, rows)
        x = [generator.uniform(-1, 1) for _ in range(cols)]
        product(matrix_market(rows, cols, entries), rows, entries, x)


@case
def symmetric_and_skew_matrices():
    lower = {(1, 0): 2.5, (2, 2): -1.0, (3, 1): 4.0, (4, 0): 0.125}
    x = [1.0, 2.0, 3.0, 4.0, 5.0]
    full = dict(lower)
    full.update({(j, i): v for (i, j), v in lower.items()})
    product(matrix_market(5, 5, lower, symmetry="symmetric"), 5, full, x)
    del lower[2, 2]
    full = dict(lower)
    full.update({(j, i): -v for (i, j), v in lower.items()})
    product(matrix_market(5, 5, lower, symmetry="skew-symmetric"), 5, full, x)


@case
def patterns_integers_and_arrays():
    places = {(0, 1): 1, (2, 0): 1, (1, 1): 1}
    x = [1.5, -2.0, 8.0]
    product(matrix_market(3, 3, places, "pattern"), 3, places, x)
    numbers = {(0, 1): 7, (2, 0): -3}
    product(matrix_market(3, 3, numbers, "integer"), 3, numbers, x)
    dense = {(i, j): float(1 + i + 3 * j) for j in range(3) for i in range(3)}
    text = "%%MatrixMarket matrix array real general\n3 3\n" + "".join(
        f"{value!r}\n" for value in dense.values())
    product(text, 3, dense, x)
    lower = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"
    full = {(0, 0): 1.0, (1, 0): 2.0, (2, 0): 3.0, (1, 1): 4.0, (2, 1): 5.0, (2, 2): 6.0,
            (0, 1): 2.0, (0, 2): 3.0, (1, 2): 5.0}
    product(lower, 3, full, x)
    skew = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n"
    full = {(1, 0): 2.0, (2, 0): 3.0, (2, 1): 5.0, (0, 1): -2.0, (0, 2): -3.0, (1, 2): -5.0}
    product(skew, 3, full, x)


@case
def layout_of_the_file():
    text = ("%%matrixmarket MATRIX Coordinate Real General\n% a comment\n\n%\n  2  2\t3  \n"
            "1 1 1.5\n\n% another\n 2 2 -4e-1\r\n1 1 0.5\n%end")
    product(text, 2, {(0, 0): 2.0, (1, 1): -0.4}, [1.0, 10.0])


@case
def a_file_of_several_pieces():
    # More entries than process 0 deals out at a time.
    entries = {(i, (7 * i + k) % 3000): float(k + 1) for i in range(3000) for k in range(12)}
    product(matrix_market(3000, 3000, entries), 3000, entries, [1.0] * 3000)


@case
def stdin_is_a_file_too():
    text = matrix_market(2, 2, {(0, 0): 3.0, (1, 1): 4.0})
    output = verified(run("spmv", "-", p=3, stdin=text.encode()))
    check(number(output, "length of y") == 5, output)


@case
def stdin_is_read_once():
    text = matrix_market(1, 1, {(0, 0): 3.0}).encode()
    for words in (("spmv", "-", "-x", "-"), ("innerprod", "-x", "-"), ("innerprod", "-x", "-", "-y", "-"),
                  ("matmul", "-a", "-"), ("matmul", "-a", "-", "-b", "-")):
        complains(run(*words, stdin=text), f"{words[0]}: standard input can be read only once; try {words[0]} --help", 2)
    one = write("one.mtx", text)
    for words in (("spmv", "-", "-x", one), ("innerprod", "-x", one, "-y", "-"), ("matmul", "-a", "-", "-b", one)):
        verified(run(*words, stdin=text))


@case
def stdout_is_a_file_too():
    """What is written there is a Matrix Market file, hence nothing else."""
    result = run("spmv", "-g", 2, "-o", "-", p=3)
    check(result.returncode == 0 and result.stderr == "" and result.stdout == column([2, 2, 2, 2]), result)
    again = run("spmv", "-g", 2, "-x", "-", stdin=result.stdout.encode())
    check(number(verified(again), "sum of y") == 16, again)
    with open("/dev/full", "w") as full:
        result = run("spmv", "-g", 2, "-o", "-", stdout=full, p=3)
    check(result.returncode == 1 and result.stderr == "spmv: cannot write -\n", result)


@case
def malformed_files():
    head = "%%MatrixMarket matrix coordinate real general\n"
    symmetric = "%%MatrixMarket matrix coordinate real symmetric\n"
    skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n"
    array = "%%MatrixMarket matrix array real general\n"
    table = (
        ("", 1, "the file ends too early"),
        ("hello\n", 1, "not a Matrix Market file.*"),
        ("%%MatrixMarket vector coordinate real general\n", 1, "holds a vector, not a matrix"),
        ("%%MatrixMarket matrix heap real general\n", 1, "format heap is not known"),
        ("%%MatrixMarket matrix coordinate complex general\n", 1, "entries of type complex .*"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", 1, "symmetry hermitian .*"),
        ("%%MatrixMarket matrix array pattern general\n", 1, "an array .* pattern"),
        (head, 2, "the file ends too early"),
        (head + "2 2\n", 2, 'expected "ROWS COLUMNS ENTRIES"'),
        (head + "2 -2 1\n", 2, 'expected "ROWS COLUMNS ENTRIES"'),
        (head + "2 2 1 1\n", 2, 'expected "ROWS COLUMNS ENTRIES"'),
        (head + "99999999999999999999 2 1\n", 2, 'expected "ROWS COLUMNS ENTRIES"'),
        (head + "3000000000 2 1\n", 2, "larger than .*"),
        (array + "2 2 1\n", 2, 'expected "ROWS COLUMNS"'),
        (symmetric + "2 3 1\n", 2, "a symmetric matrix cannot be 2 by 3"),
        (head + "2 2 2\n1 1 1\n", 4, "the file ends too early"),
        (head + "2 2 1\n%\n3 1 1\n", 4, "row 3 is outside 1..2"),
        (head + "2 2 1\n0 1 1\n", 3, "row 0 is outside 1..2"),
        (head + "2 2 1\n1 3 1\n", 3, "column 3 is outside 1..2"),
        (head + "2 2 1\n1 x 1\n", 3, "expected a row and a column number"),
        (head + "2 2 1\n1 2.5\n", 3, "expected a row and a column number"),
        (head + "2 2 1\n1,2 5\n", 3, "expected a row and a column number"),
        (head + "2 2 1\n1 1\n", 3, "expected a finite number"),
        (head + "2 2 1\n1 1 nan\n", 3, "expected a finite number"),
        (head + "2 2 1\n1 1 1e999\n", 3, "expected a finite number"),
        (head + "2 2 1\n1 1 1 1\n", 3, "unexpected text after the entry"),
        (head + "2 2 1\n1 1 1\n\n2 2 1\n", 5, "more entries than the 1 announced"),
        (symmetric + "2 2 1\n1 2 1\n", 3, "entry above the diagonal .*"),
        (skew + "2 2 1\n1 1 1\n", 3, "entry on the diagonal .*"),
        (array + "1 2\n1\n", 4, "the file ends too early"),
        (array + "1 1\n1 1\n", 3, "unexpected text after the entry"),
    )
    for text, line, message in table:
        name = write("bad.mtx", text)
        for p in (1, 3):
            complains(run("spmv", name, p=p), f"spmv: .*/bad.mtx:{line}: {message}")


@case
def files_that_cannot_be_read_or_written():
    complains(run("spmv", path("nowhere.mtx"), p=3), "spmv: .*/nowhere.mtx: No such file .*")
    complains(run("spmv", scratch, p=3), "spmv: .*: Is a directory")
    result = run("spmv", "-g", 3, "-o", path("no/where"), p=3)
    check(result.returncode == 1 and "cannot write" in result.stderr, result)
    check(result.stdout.endswith("FAILED\n"), result)
    wrong = write("x.mtx", column([1.0]))
    complains(run("spmv", "-g", 3, "-x", wrong, p=3), "spmv: .*: expected 9 rows .* found 1 .*")


@case
def the_longest_numbers_are_printed_whole():
    """A sign, 17 digits and an exponent of three."""
    name = write("tiny.mtx", matrix_market(1, 1, {(0, 0): -1.1e-200}))
    check(number(same_for_all("spmv", name), "sum of y") == -1.1e-200)
    check(json.loads(run("spmv", name, "--json").stdout)["sum_of_y"] == -1.1e-200)


@case
def lengths_whose_squares_are_no_doubles():
    for value in (-1.1e-200, 3e200, -5e-324):
        name = write("scaled.mtx", matrix_market(2, 2, {(0, 0): value, (1, 1): value}))
        output = same_for_all("spmv", name, "-x", write("axis.mtx", column([1.0, 0.0])), "-i", 3)
        check(number(output, "length of y") == abs(value), output)
        check(number(output, "eigenvalue estimate") == value, output)


@case
def laplacians():
    for n in (0, 1, 2, 3, 20):
        output = same_for_all("spmv", "-g", n)
        # Every missing neighbour leaves one over.
        check(number(output, "sum of y") == 4 * n, output)


@case
def power_method_finds_the_largest_eigenvalue():
    entries = {(i, i): float(i + 1) for i in range(10)}
    output = same_for_all("spmv", write("d.mtx", matrix_market(10, 10, entries)), "-i", 300)
    check(near(number(output, "eigenvalue estimate"), 10), output)
    wide = write("w.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    complains(run("spmv", wide, "-i", 2), "spmv: .*: only a square matrix .*")


def ranks(n, links, damping=0.85):
    """Ranks by straightforward iteration; links: {(from, to): weight}."""
    out = [sum(w for (i, _), w in links.items() if i == v) for v in range(n)]
    x = [1 / n] * n
    for _ in range(2000):
        lost = sum(x[v] for v in range(n) if out[v] == 0)
        y = [(1 - damping) / n + damping * lost / n] * n
        for (i, j), w in links.items():
            if w:
                y[j] += damping * x[i] * w / out[i]
        x = y
    return x


def compare_ranks(output, expected):
    table = re.findall(r"^ +(\d+) +([-+.e\d]+)$", output, re.M)
    check(len(table) == len(expected), output)
    order = sorted(range(len(expected)), key=lambda v: (-round(expected[v], 9), v))
    check([int(v) - 1 for v, _ in table] == order, output, order)
    for vertex, value in table:
        check(near(float(value), expected[int(vertex) - 1], 1e-9), vertex, value)


@case
def pagerank_of_a_small_graph():
    # 4 has no links, 0 links to itself, 1 -> 2 stands twice.
    links = {(0, 0): 1, (0, 1): 1, (1, 2): 1, (2, 0): 1, (2, 4): 1, (3, 2): 1}
    text = matrix_market(5, 5, links).replace("5 5 6\n", "5 5 7\n") + "2 3 1\n"
    output = same_for_all("pagerank", write("g.mtx", text))
    compare_ranks(output, ranks(5, links))


@case
def pagerank_with_weights():
    links = {(0, 1): 3.0, (0, 2): 1.0, (1, 0): 0.5, (2, 1): 2.0, (3, 3): 0.0}
    name = write("g.mtx", matrix_market(4, 4, links))
    compare_ranks(same_for_all("pagerank", "-w", name), ranks(4, links))
    compare_ranks(same_for_all("pagerank", "-w", "-d", 0.5, name), ranks(4, links, 0.5))
    negative = write("n.mtx", matrix_market(2, 2, {(0, 1): -1.0}))
    complains(run("pagerank", "-w", negative, p=3), "pagerank: .*: a link cannot .* negative .*")


@case
def pagerank_with_weights_that_have_no_sum():
    """Only how they compare matters, also where their sum is no double."""
    links = {(0, 1): 1.5, (0, 2): 0.5, (0, 3): 0.75, (1, 0): 0.5, (2, 1): 1.0, (3, 3): 0.0}
    large = {place: weight * (2.0 ** 1023 if place[0] == 0 else 1) for place, weight in links.items()}
    check(same_for_all("pagerank", "-w", write("large.mtx", matrix_market(4, 4, large))) ==
          same_for_all("pagerank", "-w", write("small.mtx", matrix_market(4, 4, links))))
    twice = matrix_market(2, 2, {(0, 1): 1e308}).replace("2 2 1\n", "2 2 2\n") + "1 2 1e308\n"
    complains(run("pagerank", "-w", write("twice.mtx", twice), p=3),
              "pagerank: .*: the weights of a link that is repeated have too large a sum")


@case
def pagerank_of_generated_graphs():
    for n in (0, 1, 2, 5, 500):
        same_for_all("pagerank", "-n", n, "-k", 3)
    check(fact(verified(run("pagerank", "-i", 3, "-t", 0)), "iterations") == "3")
    check(fact(verified(run("pagerank", "-i", 0)), "iterations") == "0")
    wide = write("w.mtx", matrix_market(2, 3, {(0, 0): 1.0}))
    complains(run("pagerank", wide, p=3), "pagerank: .*: the matrix of a graph is square.*")


main()
