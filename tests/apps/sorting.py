"""samplesort against the sort of this language, and sieve against known counts."""
import random
import struct

from harness import *


def sorts(content, *options, processes=PROCESSES, expected=None):
    """Sorts a file of lines on every p and by way of pipes."""
    name, out = write("in", content), path("out")
    if expected is None:
        lines = content.split(b"\n")
        expected = b"".join(line + b"\n" for line in sorted(lines[:-1] if lines[-1] == b"" else lines))
    output = same_for_all("samplesort", *options, name, out, processes=processes)
    for p in processes:
        verified(run("samplesort", *options, name, out, p=p))
        with open(out, "rb") as file:
            check(file.read() == expected, "wrong file for p =", p)
    result = run("samplesort", *options, "-", "-", p=3, stdin=content)
    check(result.returncode == 0 and result.stderr == "", result.stderr)
    check(result.stdout.encode("latin-1") == expected, "wrong output of the pipe")
    return output


@case
def lines_of_text():
    generator = random.Random(4)
    lines = [bytes(generator.choices(b"abc \t\0\xff", k=generator.randrange(12)))
             for _ in range(3000)]
    output = sorts(b"\n".join(lines) + b"\n")
    check(fact(output, "lines") == "3000", output)


@case
def few_lines():
    for content in (b"", b"\n", b"one", b"one\n", b"b\na\n", b"\n\n\n", b"b\n\na"):
        sorts(content)


@case
def long_lines_and_prefixes():
    sorts(b"\n".join([b"x" * 700000, b"x" * 699999 + b"y", b"x", b"", b"xx", b"x" * 8, b"x" * 9]))


@case
def more_than_a_piece_per_process():
    generator = random.Random(5)
    sorts(b"".join(b"%020d\n" % generator.randrange(10 ** 20) for _ in range(80000)),
          processes=(2, 3))


@case
def reversed_order():
    sorts(b"b\na\nc\na\n", "-r", expected=b"c\nb\na\na\n")


def fact_of_time(output, name):
    return float(re.search(rf"^time: {name} (.*)$", output, re.M).group(1))


@case
def equal_lines_are_shared_out():
    content = b"same\n" * 20000
    sorts(content, processes=(1, 4))
    output = verified(run("samplesort", "--timing", write("in", content), p=4))
    share = fact_of_time(output, "largest share of a process")
    check(share <= 0.5, "regular sampling promises at most 2/p, not", share)


@case
def random_lines_are_shared_out():
    output = verified(run("samplesort", "-n", 20000, "--timing", p=4))
    share = fact_of_time(output, "largest share of a process")
    check(share <= 0.5, "regular sampling promises at most 2/p, not", share)


@case
def binary_keys():
    generator = random.Random(6)
    keys = [generator.getrandbits(64) for _ in range(5000)] + [0, 0, 2 ** 64 - 1, 255, 256]
    content = struct.pack(f"<{len(keys)}Q", *keys)
    ordered = sorted(keys)
    sorts(content, "-b", expected=struct.pack(f"<{len(keys)}Q", *ordered))
    sorts(content, "-br", expected=struct.pack(f"<{len(keys)}Q", *reversed(ordered)))
    sorts(b"", "-b", expected=b"")


@case
def generated_lines():
    for n in (0, 1, 3, 1000):
        same_for_all("samplesort", "-n", n)
        same_for_all("samplesort", "-b", "-n", n)
    once = verified(run("samplesort", "-n", 1000))
    check(verified(run("samplesort", "-n", 1000, "-i", 5)) == once)


@case
def sorting_in_place():
    name = write("inout", b"b\na\n")
    verified(run("samplesort", name, name, p=3))
    with open(name, "rb") as file:
        check(file.read() == b"a\nb\n")


@case
def samplesort_bad_input():
    for p in (1, 3):
        complains(run("samplesort", path("nowhere"), p=p), "samplesort: .*: No such file .*")
        complains(run("samplesort", scratch, p=p), "samplesort: .*: Is a directory")
        complains(run("samplesort", "-b", write("odd", b"1234567"), p=p),
                  "samplesort: .*: the size is not a whole number of records")
    name = write("in", b"b\na\n")
    for out, why in ((path("no/where"), "No such file.*"), ("/dev/full", "cannot be written")):
        result = run("samplesort", name, out, p=3)
        check(result.returncode == 1 and result.stdout.endswith("FAILED\n"), result)
        check(re.fullmatch(f"samplesort: {out}: {why}\n", result.stderr), result)
    with open("/dev/full", "w") as full:
        result = run("samplesort", name, "-", stdout=full, p=3)
    check(result.returncode == 1 and result.stderr == "samplesort: -: cannot be written\n", result)


@case
def primes():
    table = {0: 0, 1: 0, 2: 1, 3: 2, 4: 2, 5: 3, 8: 4, 9: 4, 10: 4, 24: 9, 25: 9, 26: 9, 48: 15,
             49: 15, 120: 30, 121: 30, 1000: 168, 10 ** 6: 78498}
    for limit, count in table.items():
        processes = PROCESSES if limit in (0, 2, 10, 121, 10 ** 6) else (2,)
        output = same_for_all("sieve", "-n", limit, processes=processes)
        check(int(fact(output, "primes")) == count, output)
    check(fact(output, "largest") == "999983", output)
    check(int(fact(output, "sum of primes"), 16) == 37550402023, output)


@case
def segments_of_any_size():
    whole = verified(run("sieve", "-n", 30000))
    for segment in (1, 2, 3, 10, 97, 5000, 100000):
        for batch in (1, 5):
            check(verified(run("sieve", "-n", 30000, "--segment", segment, "--batch", batch, p=3))
                  == whole)


main()
