#!/usr/bin/env python3
"""Tests bspckpt on a directory made for it: bspckpt.py BSPCKPT MAKE_STORE."""
import ctypes
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

bspckpt, make_store = sys.argv[1:]
failures = 0


def check(what, condition, shown=""):
    global failures
    if not condition:
        failures += 1
        print(f"FAILED: {what}\n{shown}")


def run(*words, status=0):
    result = subprocess.run([bspckpt, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, check=False)
    shown = f"{' '.join(words)}: status {result.returncode}\n{result.stdout}{result.stderr}"
    check(f"status {status}", result.returncode == status, shown)
    check("stderr only when something is wrong", status != 0 or result.stderr == "", shown)
    if status == 2 or (status == 1 and not result.stdout):
        lines = result.stderr.splitlines()
        check("one message", len(lines) == 1 and lines[0].startswith("bspckpt: "), shown)
    return result.stdout, result.stderr


def as_json(*words, status=0):
    return json.loads(run(*words, "--json", status=status)[0])


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))


def test_ls_unfinished(directory, job):
    """A snapshot that was begun has no reason to show behind its state."""
    begun = os.path.join(directory, job, "9.1")
    os.mkdir(begun)
    (line,) = [line for line in run("ls", directory)[0].splitlines() if " 9.1 " in line]
    check("unfinished, and no more", line.endswith(" unfinished"), repr(line))
    os.rmdir(begun)


def test_ls(directory, job):
    out, _ = run("ls", directory)
    lines = out.splitlines()
    check("a head and six snapshots", len(lines) == 7, out)
    check("the head", lines[0].split() == "JOB SNAPSHOT AGE PROCS SIZE KIND STATE".split(), out)
    check("full", "0.1" in lines[1] and " full " in lines[1] and "committed" in lines[1], out)
    check("an increment", " +1 " in lines[2], out)
    check("retired", "5.1" in lines[6] and "retired" in lines[6], out)
    check("the job by name", run("ls", f"{directory}/{job}")[0] == out)
    (found,) = as_json("ls", directory)
    check("json: the job", found["job"] == job, str(found))
    check("json: supersteps", [s["superstep"] for s in found["snapshots"]] == list(range(6)))
    check("json: state", found["snapshots"][5]["state"] == "retired")
    sizes = [sum(os.path.getsize(os.path.join(directory, job, f"{s}.1", name))
                 for name in os.listdir(os.path.join(directory, job, f"{s}.1")))
             for s in range(6)]
    check("json: sizes", [s["bytes"] for s in found["snapshots"]] == sizes, str(found))


def test_show(directory, job):
    out, _ = run("show", directory)
    check("the newest that counts", "superstep   4, term 1" in out, out)
    check("on its base", "on the image of process 0 in 3.1" in out, out)
    check("regions", "/usr/bin/a program" in out and "[stack]" in out and "anon" in out, out)
    check("descriptors", "descriptor 5: file /home/someone/results of today.txt" in out, out)
    check("compression", "records lz4" in out, out)
    found = as_json("show", f"{directory}@3.1", "--pid", "1")
    check("json: the manifest", found["manifest"]["superstep"] == 3 and found["name"] == job)
    check("json: bytes are digits", len(found["manifest"]["images"][0]["digest"]) == 32)
    (process,) = found["processes"]
    check("json: one process", process["pid"] == 1)
    check("json: full", process["generation"] == 0 and process["pages_here"] == process["pages"])
    saved = sum(region["saved"] for region in process["regions"])
    raw = sum(coding["raw"] for coding in process["codings"])
    check("json: all that is saved belongs to a region", saved == raw > 0, str(process))
    check("json: smaller than it was", process["length"] < raw)
    increment = as_json("show", f"{directory}/{job}@4", "--pid", "1")["processes"][0]
    check("json: an increment", increment["generation"] == 1
          and 0 < increment["pages_here"] < increment["pages"], str(increment))
    run("show", directory, "--pid", "2", status=1)
    run("show", f"{directory}@17", status=1)
    check("named", "superstep 17" in run("show", f"{directory}@17", status=1)[1])


def test_diff(directory):
    out, _ = run("diff", directory, "3", "4")
    check("both processes", out.count("process ") == 2 and "changed" in out, out)
    changes = as_json("diff", directory, "3", "5.1", "--pid", "0")
    check("json: one process", [p["pid"] for p in changes] == [0])
    regions = changes[0]["regions"]
    check("json: regions", len(regions) == 4 and any(r["changed"] > 0 for r in regions)
          and all(0 <= r["changed"] <= r["pages"] for r in regions), str(regions))
    same = as_json("diff", directory, "3", "3")
    check("json: nothing changed", all(r["changed"] == 0 and r["what"] == "same"
                                       for p in same for r in p["regions"]), str(same))
    check("nothing changed", run("diff", directory, "3", "3")[0] == "process 0\nprocess 1\n")
    run("diff", directory, "3", status=2)
    run("diff", directory, "3", "four", status=2)
    run("diff", directory, "3", "44", status=1)


def test_verify_base(directory, image):
    """One file is damaged, however many snapshots are based on it."""
    with open(image, "r+b") as file:
        whole = file.read()
        file.truncate(len(whole) - 100)
    out, _ = run("verify", directory, status=1)
    check("once", len(out.splitlines()) == 2 and out.endswith("6 snapshots, 1 damaged file\n"), out)
    check("json: once", len(as_json("verify", directory, status=1)["faults"]) == 1)
    with open(image, "wb") as file:
        file.write(whole)


def test_verify(directory, job):
    out, _ = run("verify", directory)
    check("all is well", out == "6 snapshots, 0 damaged files\n", out)
    image = os.path.join(directory, job, "3.1", "1.img")
    at = os.path.getsize(image) // 2
    flip(image, at)
    out, _ = run("verify", directory, status=1)
    line = out.splitlines()[0]
    check("the file", line.startswith(f"{job}/3.1/1.img: bytes "), out)
    first, last = (int(word) for word in line.split("bytes ")[1].split(":")[0].split(" to "))
    check("the range", first <= at <= last, out)
    check("one file", out.splitlines()[-1] == "6 snapshots, 1 damaged file", out)
    found = as_json("verify", directory, status=1)
    check("json", found["snapshots"] == 6 and len(found["faults"]) == 1
          and found["faults"][0]["first"] == first and found["faults"][0]["last"] == last)
    check("the others are well", run("verify", f"{directory}@2")[0]
          == "1 snapshot, 0 damaged files\n")
    run("verify", f"{directory}@3", status=1)
    flip(image, at)
    test_verify_base(directory, os.path.join(directory, job, "0.1", "1.img"))
    flip(os.path.join(directory, job, "0.1", "manifest"), 50)
    out, _ = run("verify", directory, status=1)
    check("a manifest", f"{job}/0.1/manifest: manifest damaged: wrong checksum" in out, out)
    check("listed as damaged", "damaged: manifest damaged" in run("ls", directory)[0])
    flip(os.path.join(directory, job, "0.1", "manifest"), 50)
    run("verify", directory)
    run("verify", f"{directory}@9", status=1)


def when_opened(path, act):
    """Runs bspckpt verify, and what is to be done while it is at it: as soon as it opens that file."""
    libc = ctypes.CDLL(None, use_errno=True)
    opened = 0x20  # IN_OPEN
    with open(libc.inotify_init(), "rb", buffering=0) as events:
        check("a watch", libc.inotify_add_watch(events.fileno(), os.fsencode(path), opened) >= 0)
        process = subprocess.Popen([bspckpt, "verify", os.path.dirname(os.path.dirname(os.path.dirname(path)))],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check("it is opened", select.select([events], [], [], 60)[0])
        act()
        out, _ = process.communicate()
    return process.returncode, out


def test_verify_beside_a_job(directory, job):
    """A job that runs removes older snapshots: what is missing of one that has just been removed is no fault."""
    kept = os.path.join(directory, "kept")
    names = ["manifest.copy", "manifest", "1.img", "0.img"]  # in the order in which a job removes them

    def remove():
        for name in names:
            os.rename(os.path.join(directory, job, "5.1", name), os.path.join(kept, name))
    os.mkdir(kept)
    status, out = when_opened(os.path.join(directory, job, "0.1", "0.img"), remove)
    check("no fault", status == 0 and out.endswith(", 0 damaged files\n"), out)
    for name in names:
        os.rename(os.path.join(kept, name), os.path.join(directory, job, "5.1", name))
    os.rmdir(kept)
    run("verify", directory)


def test_lost(directory, job):
    """Records, manifests and images that are gone: noticed, and what can be is made again."""
    def path(*names):
        return os.path.join(directory, job, *names)

    os.unlink(path("term"))
    out, _ = run("verify", directory, status=1)
    check("a missing record", f"{job}/term: missing" in out and "6 snapshots, 1 damaged" in out, out)
    flip(path("term.copy"), 30)
    out, _ = run("verify", directory, status=1)
    check("no record", f"{job}/term.copy: record of terms damaged" in out, out)
    check("all snapshots are looked at", "6 snapshots, 2 damaged files" in out, out)
    out, _ = run("ls", directory)
    check("what counts is unknown", out.count(" unknown") == 6, out)
    run("prune", directory, "--keep", "1", status=1)
    out, _ = run("repair", directory)
    check("the records", out.startswith(f"{job}/term: made again") and
          out.endswith("\n1 file made again\n"), out)
    out, _ = run("ls", directory)
    check("what was retired stays so", out.count(" committed") == 5 and out.count("retired") == 1, out)
    check("nothing more", run("repair", directory)[0] == "0 files made again\n")
    os.unlink(path("2.1", "manifest"))
    out, _ = run("verify", directory, status=1)
    check("a missing manifest", f"{job}/2.1/manifest: manifest: missing" in out, out)
    check("json", as_json("repair", directory)["repaired"][0]["file"] == "2.1/manifest")
    check("all is well", run("verify", directory)[0] == "6 snapshots, 0 damaged files\n")
    for name in ("manifest", "manifest.copy"):
        os.rename(path("5.1", name), os.path.join(directory, name))
    out, _ = run("verify", directory, status=1)
    check("orphans", f"{job}/5.1: 2 images without a manifest" in out, out)
    run("repair", directory)
    run("repair", f"{directory}@5", status=2)
    with open(path("finished"), "w", encoding="utf-8") as file:
        file.write("yes")
    out, _ = run("verify", directory, status=1)
    check("the record of the end", f"{job}/finished: not a record of the end; " in out and "remove" in out, out)
    os.unlink(path("finished"))
    for name in ("manifest", "manifest.copy"):
        os.rename(os.path.join(directory, name), path("5.1", name))
    run("verify", directory)


def test_cannot_be_opened(directory, job):
    """A job that others may write to is not passed over as if it were none: it may be the newest."""
    other = os.path.join(directory, "abcdef012345")
    shutil.copytree(os.path.join(directory, job), other)
    os.chmod(other, 0o770)
    before = sorted(os.listdir(os.path.join(directory, job)))
    for words in (["ls"], ["verify"], ["repair"], ["ls", "--json"]):
        out, err = run(words[0], directory, *words[1:], status=1)
        check(f"{words} says so", "job abcdef012345: it is not yours, or it is writable by others" in err, err)
    check("the other one is listed", [found["job"] for found in json.loads(out)] == [job], out)
    for words in (["show"], ["prune", "--keep", "1"], ["diff", "3", "4"]):
        err = run(words[0], directory, *words[1:], status=1)[1]
        check(f"{words} says so", "job abcdef012345 may be the newest" in err, err)
    check("nothing is removed", sorted(os.listdir(os.path.join(directory, job))) == before)
    run("show", f"{directory}/{job}")
    os.chmod(other, 0o700)
    shutil.rmtree(other)


def test_prune(directory, job):
    run("prune", directory, status=2)
    run("prune", directory, "--keep", "0", status=2)
    run("prune", f"{directory}@3", "--keep", "1", status=2)
    out, _ = run("prune", directory, "--keep", "1")
    check("what is needed stays", out == f"job {job}: 4 snapshots removed\n", out)
    check("on the disk", sorted(os.listdir(os.path.join(directory, job))) == ["3.1", "4.1", "term", "term.copy"])
    run("verify", directory)
    check("json", as_json("prune", directory, "--keep", "1") == {"job": job, "removed": 0})
    # What an interrupted one has left goes, too: a job that has ended is not restarted.
    os.mkdir(os.path.join(directory, job, "2.1"), 0o700)
    shutil.copy(os.path.join(directory, job, "3.1", "0.img"), os.path.join(directory, job, "2.1"))
    out, _ = run("verify", directory, status=1)
    check("what removes it is said", "bspckpt prune" in out, out)
    out, _ = run("prune", directory, "--keep", "1")
    check("it is gone, and said so", out == f"job {job}: 0 snapshots removed, and what interrupted ones had left\n", out)
    run("verify", directory)


def test_rm(directory, job):
    run("rm", directory, status=2)
    run("rm", f"{directory}/{job}@4", status=2)
    check("removed", run("rm", f"{directory}/{job}")[0] == f"job {job} removed\n")
    check("nothing is left", os.listdir(directory) == ["lock"], str(os.listdir(directory)))


def test_no_job(directory, job):
    """A directory without a job is left as it is by those who write, who say that it is none."""
    empty = os.path.join(directory, "empty")
    os.mkdir(empty, 0o700)
    for where in (empty, f"{directory}/{job}/3.1"):
        before = os.listdir(where)
        for words in (["repair"], ["rm"], ["prune", "--keep", "1"]):
            err = run(words[0], where, *words[1:], status=1)[1]
            check("none", "no job has snapshots here" in err, err)
        check("nothing is left", os.listdir(where) == before, os.listdir(where))
    os.rmdir(empty)


def test_wrong_calls(directory):
    run(status=2)
    run("colour", status=2)
    run("ls", status=2)
    run("ls", "a", "b", status=2)
    run("ls", directory, "--colour", status=2)
    run("show", directory, "--pid", status=2)
    run("show", directory, "--pid", "x", status=2)
    run("show", directory, "--pid", "-1", status=2)
    run("show", f"{directory}@", status=2)
    run("show", f"{directory}@x", status=2)
    run("ls", f"{directory}/missing", status=1)
    check("help", run("--help")[0].startswith("Usage: bspckpt"))
    check("help with one dash", run("-help")[0].startswith("Usage: bspckpt"))
    check("version", run("--version")[0].startswith("bspckpt (bspzero) "))
    empty = os.path.join(directory, "empty@dir")
    os.mkdir(empty, 0o700)
    check("no jobs", as_json("ls", empty) == [])
    run("show", empty, status=1)
    os.chmod(empty, 0o777)
    check("open to others", "it is writable by others" in run("ls", empty, status=1)[1])
    os.rmdir(empty)


def main():
    scratch = tempfile.mkdtemp(prefix="bspckpt-")
    try:
        directory = os.path.join(scratch, "snapshots")
        job = subprocess.run([make_store, directory], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.strip()
        test_ls(directory, job)
        test_ls_unfinished(directory, job)
        test_show(directory, job)
        test_diff(directory)
        test_verify(directory, job)
        test_verify_beside_a_job(directory, job)
        test_lost(directory, job)
        test_cannot_be_opened(directory, job)
        test_no_job(directory, job)
        test_wrong_calls(directory)
        test_prune(directory, job)
        test_rm(directory, job)
    finally:
        shutil.rmtree(scratch)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
