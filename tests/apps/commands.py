"""What all example programs have in common, and bspprobe."""
from harness import *

# Each program with options that make it end at once.
QUICK = {
    "bspprobe": ("--max-h", 16, "--rounds", 2, "--batch", 0.01),
    "fft": ("-n", 16),
    "heat": ("-n", 8, "-i", 3),
    "innerprod": ("-n", 10),
    "lu": ("-n", 10),
    "matmul": ("-n", 10),
    "nbody": ("-n", 10, "-i", 2),
    "pagerank": ("-n", 20),
    "replica": ("-L", 5, "-i", 40),
    "samplesort": ("-n", 100),
    "sieve": ("-n", 1000),
    "spmv": ("-g", 5),
}
TAKES_FILES = {"pagerank": 1, "samplesort": 2, "spmv": 1}


@case
def help_is_given():
    for program in QUICK:
        result = run(program, "--help", p=0)
        check(result.returncode == 0 and result.stderr == "", result)
        check(result.stdout.startswith(f"Usage: {program} [OPTION]..."), result)
        check(result.stdout.count("Usage:") == 1 and "--json" in result.stdout, result)
        check(all(len(line) <= 100 for line in result.stdout.split("\n")), result.stdout)


@case
def mistakes_are_explained_once():
    for program in QUICK:
        hint = f"; try {program} --help"
        complains(run(program, "--colour", p=3), f"{program}: unknown option --colour{hint}", 2)
        complains(run(program, "--json=yes", p=3), f"{program}: .*{hint}", 2)
        files = ["x"] * TAKES_FILES.get(program, 0)
        complains(run(program, *files, "y", p=3),
                  f'{program}: unexpected argument "y"{hint}', 2)


@case
def numbers_are_checked():
    for value in ("", "x", "1x", "1.5", "1e99", "nan", "99999999999999999999"):
        complains(run("heat", f"--n={value}"),
                  f'heat: --n needs a whole number, not "{value}";.*', 2)
    for value in ("", "x", "1.5.2", "inf", "nan"):
        complains(run("pagerank", f"--damping={value}"),
                  f'pagerank: --damping needs a number, not "{value}";.*', 2)
    complains(run("heat", "-n", -1), "heat: --n must lie between 0 and 1000000;.*", 2)
    complains(run("pagerank", "-d", 1), "pagerank: --damping must lie between 0 and 0.999999;.*", 2)
    complains(run("heat", "-n"), "heat: -n needs a value;.*", 2)
    complains(run("heat", "--n"), "heat: --n needs a value;.*", 2)
    # Of letters that stand together the one is named.
    complains(run("heat", "-i", 5, "-qn", 5), "heat: unknown option -q;.*", 2)
    complains(run("samplesort", "-bq"), "samplesort: unknown option -q;.*", 2)
    complains(run("samplesort", "-bn"), "samplesort: -n needs a value;.*", 2)
    check(verified(run("sieve", "-n", "1e3")) == verified(run("sieve", "--limit=1000")))


@case
def json_is_json():
    for program, options in QUICK.items():
        for p in (1, 3):
            result = run(program, *options, "--json", p=p)
            check(result.returncode == 0 and result.stderr == "", result)
            summary = json.loads(result.stdout)
            check(summary["program"] == program and summary["verified"] is True, summary)
            check(" " not in "".join(summary), summary)
    summary = json.loads(run("heat", *QUICK["heat"], "--json", "--timing").stdout)
    check(summary["seconds"] > 0, summary)


@case
def timing_stands_on_lines_of_its_own():
    for program, options in QUICK.items():
        if program == "bspprobe":
            continue
        plain = verified(run(program, *options, p=3))
        timed = verified(run(program, *options, "--timing", p=3))
        check("time:" not in plain and "\ntime: " in timed, timed)
        check(re.sub(r"^time: .*\n", "", timed, flags=re.M) == plain, timed)


@case
def a_summary_that_cannot_be_written_is_a_failure():
    for program, options in QUICK.items():
        with open("/dev/full", "w") as full:
            result = run(program, *options, p=3, stdout=full)
        check(result.returncode != 0, result)


@case
def they_run_without_bsprun():
    for program, options in QUICK.items():
        for p in (1, 3):
            result = run(program, *options, "--json", bare=p)
            check(result.returncode == 0 and result.stderr == "", result)
            summary = json.loads(result.stdout)
            check(summary["verified"] is True and summary.get("p", p) == p, summary)


@case
def probe_measures():
    for p in (1, 2, 3, 4):
        result = run("bspprobe", *QUICK["bspprobe"], "--json", p=p)
        check(result.returncode == 0, result)
        summary = json.loads(result.stdout)
        check(summary["p"] == p and summary["bytes_per_word"] == 8, summary)
        check(summary["r_in_Mflop_per_second"] > 0, summary)
        for name in ("g_in_ns_per_word", "l_in_microseconds"):
            check(summary[name] > 0, summary)
        check([row["h"] for row in summary["h_relations"]] == list(range(17)), summary)
        check([row["words"] for row in summary["message_sizes"]] == [1, 2, 4, 8, 16], summary)
        check(all(row["microseconds"] > 0 for row in summary["h_relations"]), summary)
        parameters = [float(value) for value in summary["BSP_SLG"].split(",")]
        check(len(parameters) == 4 and min(parameters) > 0, summary)
        check(near(parameters[0], summary["r_in_Mflop_per_second"], 1e-4), summary)
        check(near(parameters[2], summary["g_in_flops_per_word"] / 2, 1e-4), summary)


main()
