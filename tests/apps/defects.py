"""Each program notices when its answer is wrong: one line of it is spoilt, and it must fail.

The programs are built with bspcc, as a user would.
"""
from harness import *

BSPCC = os.environ["APPS_BSPCC"]
SOURCE = os.environ["APPS_SOURCE"]  # the root of the sources

# Program, file, what stands there, what is put in its place, options that let it show.
DEFECTS = (
    ("innerprod", "innerprod.c", "exact_add_product(&sum, x->value[i], y->value[i]);",
     "exact_add_product(&sum, x->value[i], y->value[0]);", ("-n", 50)),
    ("innerprod", "common/exact.c", "pieces[2] = (int64_t)(high >> 32);", "pieces[2] = 0;",
     ("-n", 5000)),
    ("matmul", "matmul.c", "out[j] + a0 * b0[j]", "out[j] + a0 * b1[j]", ("-n", 20)),
    ("matmul", "matmul.c", "panel += count * length;", "panel += length;",
     ("-n", 20, "--panel", 20)),
    ("lu", "lu.c", "out[j] -= m * in[j];", "out[j] -= 0.999 * m * in[j];", ("-n", 20)),
    ("lu", "lu.c", "-= column[i] * x[k];", "+= column[i] * x[k];", ("-n", 20)),
    ("fft", "fft.c", "root(roots, place(shape, i, 0) * j)", "root(roots, place(shape, i, 0) * j + 1)",
     ("-n", 64)),
    ("fft", "fft.c", "x[start + half + k] = a - b;", "x[start + half + k] = b - a;", ("-n", 64)),
    ("spmv", "common/sparse.c", "e < m->start[i + 1]; e++)\n            sum",
     "e < m->start[i + 1] - 1; e++)\n            sum", ("-g", 5)),
    ("spmv", "common/sparse.c", "sum += m->value[e] *", "sum -= m->value[e] *", ("-g", 5)),
    ("pagerank", "pagerank.c", "(y[v] + lost / n)", "(y[v] + lost / (n + 1))", ("-n", 100)),
    ("pagerank", "pagerank.c", "(1 - options.damping) / n;", "(1 - options.damping);", ("-n", 100)),
    ("sieve", "sieve.c", "tally->count++;", "tally->count += first > 0;", ("-n", 1000)),
    ("sieve", "sieve.c", "j += q)", "j += 2 * q)", ("-n", 1000)),
    ("heat", "heat.c", "0.25 *", "0.25000001 *", ("-n", 20, "-i", 100)),
    ("heat", "heat.c", "(up[j] + down[j])", "(up[j] + up[j])", ("-n", 20, "-i", 100)),
    ("heat", "heat.c", "(here[j - 1] + here[j + 1])", "(here[j - 1] + here[j])",
     ("-n", 20, "-i", 100, "--plate", "edge")),
    ("samplesort", "samplesort.c", "int64_t i = begin; i < end; i++",
     "int64_t i = begin + 1; i < end; i++", ("-n", 100)),
    ("samplesort", "common/lines.c", "a->head < b->head ? -1 : 1;",
     "a->head << 8 < b->head << 8 ? -1 : 1;", ("-n", 1000)),
    ("replica", "replica.c", "change += cost;", "change -= cost;", ()),
    ("replica", "replica.c", "[8] = exp(-8 * beta)", "[8] = exp(-4 * beta)", ()),
    ("replica", "replica.c", "(s->beta[i] - s->beta[i + 1])", "(s->beta[i + 1] - s->beta[i])", ()),
    ("nbody", "nbody.c", "kick(options.step / 2);", "kick(options.step);", ("-n", 50)),
    ("nbody", "nbody.c", "(int64_t)(strength * dx)", "(int64_t)(strength * fabs(dx))",
     ("-n", 50, "--tolerance", 1e6)),
    ("bspprobe", "bspprobe.c", "bsp_put((pid + hop) % p, board.source + sent,",
     "bsp_put((pid + hop) % p, board.source,",
     ("--max-h", 16, "--rounds", 1, "--batch", 0.01)),
)


def build(program, root, changed=None):
    """Compiles a program with bspcc from the sources below root; returns its path.  What it shares
    with the others comes from the library, but for the changed file."""
    out = path(program)
    sources = {os.path.join(root, "apps", name) for name in (program + ".c", changed) if name}
    flags = os.environ.get("APPS_FLAGS", "").split()
    result = subprocess.run([BSPCC, "-O1", *flags, "-I", root, *sources,
                             os.path.join(APPS, "libapps_common.a"), "-lm", "-o", out],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(result.returncode == 0, result.stdout.decode())
    return out


def spoilt(file, old, new):
    """A copy of the sources with one line changed; returns its root."""
    root = tempfile.mkdtemp(dir=scratch)
    shutil.copytree(os.path.join(SOURCE, "apps"), os.path.join(root, "apps"))
    name = os.path.join(root, "apps", file)
    with open(name) as source:
        text = source.read()
    check(text.count(old) > 0, file, "no longer has", old)
    os.chmod(name, 0o644)
    with open(name, "w") as source:
        source.write(text.replace(old, new))
    return root


@case
def sound_programs_are_verified():
    for program, _, _, _, options in DEFECTS:
        verified(run(program, *options, p=4))


@case
def a_program_built_with_bspcc_runs_with_and_without_bsprun():
    build("heat", SOURCE)
    expected = verified(run("heat", "-n", 9, "-i", 5))
    check(verified(run(path("heat"), "-n", 9, "-i", 5, p=3)) == expected)
    result = subprocess.run([path("heat"), "-n", "9", "-i", "5"],
                            env=dict(os.environ, BSP_PROCS="3"), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
    check(result.stdout == expected, result)


def defect_case(program, file, old, new, options):
    def spoilt_program_fails():
        result = run(build(program, spoilt(file, old, new), file), *options, p=4)
        check(result.returncode == 1, "survives", result)
        check(result.stdout.endswith("\nFAILED\n"), result)

    spoilt_program_fails.__name__ = f"{program}: {new}".replace("\n", " ")
    case(spoilt_program_fails)


for row in DEFECTS:
    defect_case(*row)

main()
