"""What the tests of the example programs share: running them, and judging what they print."""
import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import uuid

BSPRUN = os.environ["APPS_BSPRUN"]
APPS = os.environ["APPS_DIR"]
PROCESSES = (1, 2, 3, 4, 7)
PATIENCE = 120  # seconds after which a job will never end

scratch = tempfile.mkdtemp(prefix="bspzero-apps-")
atexit.register(shutil.rmtree, scratch, ignore_errors=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that atexit has its turn

cases = []


def case(function):
    cases.append(function)
    return function


def check(truth, *what):
    if not truth:
        raise AssertionError(" ".join(str(part) for part in what))


def path(name):
    return os.path.join(scratch, name)


def write(name, content):
    """A file in the scratch directory; returns its path."""
    with open(path(name), "wb" if isinstance(content, bytes) else "w") as file:
        file.write(content)
    return path(name)


def kill_marked(mark):
    """Ends what is left of a job: every process that carries its mark in the environment."""
    wanted = ("APPS_MARK=" + mark).encode()
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    os.kill(int(entry), signal.SIGKILL)
        except OSError:
            continue


def run(program, *arguments, p=2, bare=None, stdin=None, stdout=subprocess.PIPE):
    """Runs a program on p processes (0: without bsprun, on as many as it likes, or on `bare` many);
    the result's stdout and stderr are text."""
    mark = uuid.uuid4().hex
    environment = dict(os.environ, APPS_MARK=mark, LC_ALL="C")
    for name in ("BSP_PROCS", "BSP_COMPAT", "BSP_SLG"):
        environment.pop(name, None)
    if bare:
        environment["BSP_PROCS"] = str(bare)
        p = 0
    command = [os.path.join(APPS, program), *map(str, arguments)]
    if p:
        command = [BSPRUN, "-np", str(p), *command]
    job = subprocess.Popen(command, env=environment, stdout=stdout, stderr=subprocess.PIPE,
                           stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL)
    try:
        out, err = job.communicate(stdin, timeout=PATIENCE)
    except BaseException as error:
        job.kill()
        kill_marked(mark)
        job.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise AssertionError(f"{command} does not end")
        raise
    out = b"" if out is None else out
    return subprocess.CompletedProcess(command, job.returncode, out.decode("latin-1"),
                                       err.decode("latin-1"))


def verified(result):
    """A job that ended well: its output."""
    check(result.returncode == 0, result)
    check(result.stderr == "", result)
    check(result.stdout.endswith("\nverified\n"), result)
    return result.stdout


def same_for_all(program, *arguments, processes=PROCESSES, stdin=None):
    """The output of a program, which must be verified and the same for all p."""
    outputs = {p: verified(run(program, *arguments, p=p, stdin=stdin)) for p in processes}
    first = outputs[processes[0]]
    for p, output in outputs.items():
        check(output == first, program, arguments, "differs for p =", p, "\n", output, "\n", first)
    return first


def fact(output, name):
    found = re.search(rf"^{re.escape(name)}: (.*)$", output, re.M)
    check(found, "no", name, "in", output)
    return found.group(1)


def number(output, name):
    return float(fact(output, name))


def near(a, b, tolerance=1e-12):
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-300)


def complains(result, pattern, status=1):
    """A job that ended with one line on stderr, nothing on stdout and the status."""
    check(result.returncode == status, result)
    check(result.stdout == "", result)
    check(re.fullmatch(pattern + "\n", result.stderr), pattern, "is not what was said:", result)


def matrix_market(rows, cols, entries, field="real", symmetry="general"):
    """The text of a coordinate file; entries: {(row, col): value} from 0."""
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", f"{rows} {cols} {len(entries)}"]
    for (row, col), value in entries.items():
        lines.append(f"{row + 1} {col + 1}" + ("" if field == "pattern" else f" {value!r}"))
    return "\n".join(lines) + "\n"


def column(values):
    """The text of a vector."""
    return f"%%MatrixMarket matrix array real general\n{len(values)} 1\n" + "".join(
        f"{value!r}\n" for value in values)


def read_column(name):
    with open(name) as file:
        lines = file.read().split("\n")
    check(lines[0] == "%%MatrixMarket matrix array real general", lines[0])
    rows = int(lines[1].split()[0])
    values = [float(line) for line in lines[2:] if line]
    check(len(values) == rows, "the vector has", len(values), "elements, not", rows)
    return values


def main():
    failed = 0
    for function in cases:
        try:
            function()
            print("ok  ", function.__name__)
        except Exception:
            failed += 1
            print("FAIL", function.__name__)
            traceback.print_exc(file=sys.stdout)
    print(f"{len(cases) - failed} of {len(cases)} cases passed")
    sys.exit(1 if failed or not cases else 0)
