import shlex
"""The programs on the dataspace: the same verified answer for any number of processes and hosts."""
from harness import *

RSH = shlex.quote(os.path.join(os.environ["APPS_SOURCE"], "tests/hosts/local-rsh"))
PROGRAMS = {"sieve": ["100000", "700"], "samplesort": ["200000"], "exchange": ["9", "20", "8"], "wordcount": ["13", "800"]}
KNOWN = {"sieve": "9592 primes below 100000, their sum is 454396537\n"}


def on_hosts(program, *words):
    return subprocess.run([BSPRUN, "--launcher", RSH, "--hosts", "h0:1,h1:2,h2:1", os.path.join(APPS, program), *words],
                          capture_output=True, text=True, timeout=PATIENCE)


@case
def answers():
    for name, words in PROGRAMS.items():
        wanted = None
        for p in PROCESSES:
            result = run("dataspace-" + name, *words, p=p)
            check(result.returncode == 0 and result.stderr == "", result)
            check(result.stdout.endswith("\nverified\n"), result)
            check(result.stdout == (wanted or result.stdout), wanted, result)
            wanted = result.stdout
        check(wanted.startswith(KNOWN.get(name, "")), wanted)
        result = on_hosts("dataspace-" + name, *words)
        check(result.returncode == 0 and result.stdout == wanted, result)


@case
def edges():
    """More processes than there is work, and the least of everything."""
    for name, words in {"sieve": ["3", "1"], "samplesort": ["2"], "exchange": ["1", "1", "2"], "wordcount": ["1", "1"]}.items():
        for p in (1, 4):
            result = run("dataspace-" + name, *words, p=p)
            check(result.returncode == 0 and result.stdout.endswith("\nverified\n"), result)


def word(piece, i):
    """The i-th word of a piece of dataspace-wordcount's text: its number."""
    z = (piece * 0x9e3779b97f4a7c15 + i + 0x632be59bd9b4e019) % 2 ** 64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 % 2 ** 64
    z = (z ^ z >> 27) * 0x94d049bb133111eb % 2 ** 64
    part = ((z ^ z >> 31) >> 11) * 2.0 ** -53
    return int(part * part * part * 20000)


def spelt(number):
    return chr(ord("a") + number % 26) + (spelt(number // 26) if number >= 26 else "")


@case
def frequent_words():
    """Words that are equally frequent, and fewer words than are shown."""
    for pieces, words in ((1, 1), (1, 10), (2, 9), (13, 800)):
        times = {}
        for piece in range(pieces):
            for i in range(words):
                times[word(piece, i)] = times.get(word(piece, i), 0) + 1
        most = sorted(times.items(), key=lambda item: (-item[1], item[0]))[:5]
        result = run("dataspace-wordcount", pieces, words)
        check(result.stdout == "".join(f"{spelt(number)} {count}\n" for number, count in most) + "verified\n", most, result)


@case
def defined():
    """What is put into a dataspace has been written before: valgrind finds nothing."""
    if "APPS_FLAGS" in os.environ or not shutil.which("valgrind"):
        print("no valgrind, or a build that it cannot run")
        return
    for name, words in {"sieve": ["1000", "100"], "samplesort": ["200"], "exchange": ["3", "3", "4"], "wordcount": ["2", "9"]}.items():
        result = subprocess.run([BSPRUN, "-np", "2", "valgrind", "-q", "--error-exitcode=9", os.path.join(APPS, "dataspace-" + name),
                                 *words], capture_output=True, text=True, timeout=PATIENCE)
        check(result.returncode == 0 and result.stderr == "" and result.stdout.endswith("\nverified\n"), result)


@case
def timed():
    for name, words in PROGRAMS.items():
        result = run("dataspace-" + name, *words, "time")
        check(result.returncode == 0 and re.search(r"\n\d+\.\d+ seconds\n\Z", result.stdout), result)


@case
def bad_input():
    for name in PROGRAMS:
        result = run("dataspace-" + name, "many")
        check(result.returncode == 2 and result.stderr.endswith(
            'argument 1: a number from %d on is expected, not "many"\n' % {"sieve": 3}.get(name, 1)), result)


main()
