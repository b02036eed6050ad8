#!/usr/bin/env python3
"""bspckpt and the parts of a job that lie on other hosts: ls, verify and rm reach them.

All hosts are this machine.  A job of two hosts saves its snapshots in one directory; then each host
gets a part of it: the launcher of these tests shows to host H the directory DIR.H for DIR, and has a
TMPDIR for each."""
import json
import os
import re
import shutil
import stat
import tempfile

from harness import BIN, PROG, RSH, bsprun, check, expect, main, run, scratch

BSPCKPT = os.path.join(BIN, "bspckpt")
OTHERS = ("h0", "h1")

# What stands for DIR is one word of the command; a host that is down hangs or refuses.
LAUNCHER = """#!/bin/bash
here='%s' host=$1
shift
[ ! -e "$here/refuses.$host" ] || { echo "no way to $host" >&2; exit 9; }
[ ! -e "$here/hangs.$host" ] || exec sleep 1000
[ ! -e "$here/garbles.$host" ] || { echo "what?"; exit 0; }
[ ! -e "$here/chats.$host" ] || echo "welcome to $host"
if [ -e "$here/writes.$host" ]; then
    for job in "$here"/store/*/; do mkdir "${job}99.1" && rmdir "${job}99.1"; done
fi
TMPDIR="$here/tmp.$host" BSPZERO_HOST_NAME=$host
export TMPDIR BSPZERO_HOST_NAME
words=()
for word; do
    case $word in
    "$here/store"*) [ -e "$here/shares.$host" ] || word=$here/store.$host${word#"$here/store"} ;;
    esac
    words+=("$word")
done
exec "${words[@]}"
"""

# What starts a program on another host says which that was.
SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do [ "$1" != -o ] || shift; shift; done
echo "ssh $1" >>'%s'
export BSPZERO_HOST_NAME=$1
shift
exec sh -c "$*"
"""
SRUN = """#!/bin/sh
while [ "${1#--}" != "$1" ]; do case $1 in --nodelist=*) host=${1#*=} ;; esac; shift; done
case $host in
*,*) # what it reads goes to all
    directory=$(mktemp -d)
    IFS=,
    for name in $host; do
        mkfifo "$directory/$name"
        BSPZERO_HOST_NAME=$name "$@" <"$directory/$name" &
    done
    cd "$directory" && tee -- * >/dev/null
    wait
    rm -r "$directory"
    exit
    ;;
esac
echo "srun $host" >>'%s'
export BSPZERO_HOST_NAME=$host
exec "$@"
"""


class Parts:
    """A finished job of two hosts.  Host h0 has the images of process 0, h1 those of process 1, this
    host none; all have the manifests."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="parts-", dir=scratch)
        self.store = self.path("store")
        expect(bsprun("--launcher", RSH, "--hosts", "h0:1,h1:1", "--ckpt", self.store, "--every", 1,
                      "--keep", "all", PROG, "turns", 4), 0)
        (self.job,) = [name for name in os.listdir(self.store)
                       if os.path.isdir(os.path.join(self.store, name))]
        self.count = len(self.images(self.store)) // 2 + 1  # snapshot 0 is one image
        for host, gone in (("h0", "1.img"), ("h1", "0.img")):
            shutil.copytree(self.store, self.on(host))
            os.mkdir(self.path(f"tmp.{host}"))
            self.drop(self.on(host), gone)
        self.drop(self.store, "0.img", "1.img")
        with open(self.path("launcher"), "w", encoding="utf-8") as file:
            file.write(LAUNCHER % self.directory)
        os.chmod(file.name, 0o700)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def path(self, name):
        return os.path.join(self.directory, name)

    def on(self, host):
        return self.path(f"store.{host}")

    def mark(self, what, host):
        with open(self.path(f"{what}.{host}"), "w", encoding="utf-8"):
            pass

    @staticmethod
    def drop(store, *names):
        for directory, _, files in os.walk(store):
            for name in set(names) & set(files):
                os.unlink(os.path.join(directory, name))

    def bspckpt(self, *words, status=0, **more):
        result = run([BSPCKPT, *words, "--launcher", self.path("launcher")], **more)
        check(result.status == status, f"status {status}\n", result)
        if status == 0:
            check(result.err == "", result)
        return result

    def images(self, store):
        return sorted(os.path.relpath(os.path.join(directory, name), store)
                      for directory, _, names in os.walk(store) for name in names
                      if name.endswith(".img"))


def listed():
    with Parts() as parts:
        result = parts.bspckpt("ls", parts.store)
        here, *others = re.split(r"^on host (\w+):\n", result.out, flags=re.M)
        check(others[0::2] == list(OTHERS) or others[0::2] == list(OTHERS)[::-1], result)
        for text in (here, *others[1::2]):
            check(len(re.findall(rf"^{parts.job} +\d+\.1 .* committed", text, re.M)) == parts.count, result)
        sizes = {re.search(r"4\.1 .*? (\S+ [KM]?i?B)", text)[1] for text in (here, others[1])}
        check(len(sizes) == 2, "the same size with and without images", sizes)
        check("on host" not in parts.bspckpt("ls", parts.store, "--local").out, "--local")
        check("has run on h" in parts.bspckpt("ls", parts.store, "--local").out, "--local")
        found = json.loads(parts.bspckpt("ls", parts.store, "--json").out)
        check([entry.get("host") for entry in found] in ([None, "h0", "h1"], [None, "h1", "h0"]), found)
        check(all(entry["jobs"][0]["job"] == parts.job for entry in found[1:]), found)
        # A relative name means the same there.
        check("on host h1" in parts.bspckpt("ls", "store", cwd=parts.directory).out, "relative")


def verified():
    """Together they are whole.  What is damaged is named with its host, what all lack once."""
    with Parts() as parts:
        result = parts.bspckpt("verify", parts.store)
        check(result.out == f"{parts.count} snapshots, 0 damaged files\n", result)
        result = parts.bspckpt("verify", f"{parts.store}@4")
        check(result.out == "1 snapshot, 0 damaged files\n", result)
        result = parts.bspckpt("verify", parts.store, "--local", status=1)
        check("4.1/1.img: " in result.out and "has run on h" in result.out, result)
        name = f"{parts.job}/3.1/1.img"
        with open(os.path.join(parts.on("h1"), name), "r+b") as file:
            file.seek(os.fstat(file.fileno()).st_size // 2)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        result = parts.bspckpt("verify", parts.store, status=1)
        check(re.search(rf"^{name}: bytes \d+ to \d+: .*\(on host h1\)$", result.out, re.M), result)
        check(result.out.endswith(f"{parts.count} snapshots, 1 damaged file\n"), result)
        (fault,) = json.loads(parts.bspckpt("verify", parts.store, "--json", status=1).out)["faults"]
        check(fault["host"] == "h1" and fault["job"] == parts.job and fault["file"] == "3.1/1.img",
              fault)
        parts.bspckpt("verify", f"{parts.store}@4.1")
        os.unlink(os.path.join(parts.on("h1"), name))
        result = parts.bspckpt("verify", parts.store, status=1)
        check(len(re.findall(rf"^{name}: .*the job has run on h", result.out, re.M)) == 1, result)
        check(result.out.endswith(f"{parts.count} snapshots, 1 damaged file\n"), result)


def left_on_another_host():
    """What removes it is said, and does: the next restart never comes, and prune goes to no other host."""
    with Parts() as parts:
        left = os.path.join(parts.on("h1"), parts.job, "99.1")
        os.mkdir(left, 0o700)
        shutil.copy(os.path.join(parts.on("h1"), parts.job, "3.1", "1.img"), left)
        result = parts.bspckpt("verify", parts.store, status=1)
        check(re.search(rf"^{parts.job}/99\.1: 1 image without a manifest: .*bspckpt prune on the host that has it, "
                        r"removes .*\(on host h1\)$", result.out, re.M), result)
        many = str(parts.count + 1)
        parts.bspckpt("prune", parts.store, "--keep", many)
        check(os.path.exists(left), "prune reaches other hosts: say so")
        parts.bspckpt("prune", parts.on("h1"), "--keep", many)
        check(not os.path.exists(left), "left")
        parts.bspckpt("verify", parts.store)


def hosts_of_each_job():
    """What is missing is said to be of the hosts of its own job."""
    directory = tempfile.mkdtemp(prefix="parts-", dir=scratch)
    store, known = os.path.join(directory, "store"), {}
    for hosts in ("h0, h1", "h2, h3"):
        expect(bsprun("--launcher", RSH, "--hosts", hosts.replace(", ", ":1,") + ":1", "--ckpt", store,
                      "--every", 1, PROG, "turns", 4), 0)
        (job,) = set(os.listdir(store)) - set(known) - {"lock"}
        known[job] = hosts
    Parts.drop(store, "1.img")
    out = run([BSPCKPT, "verify", "--local", store]).out
    for job, hosts in known.items():
        named = re.findall(rf"^{job}/.*; the job has run on (.*)$", out, re.M)
        check(named and set(named) == {hosts}, job, "is of", hosts, "and not of", named, out)
    shutil.rmtree(directory)


def removed():
    """Everywhere, and what the hosts share is removed once."""
    for shared in (False, True):
        with Parts() as parts:
            if shared:
                parts.mark("shares", "h1")
            result = parts.bspckpt("rm", f"{parts.store}/{parts.job}")
            check("on host h0: " in result.out and f"job {parts.job} removed" in result.out, result)
            check(("on host h1: " in result.out) != shared, result)
            for store in (parts.store, parts.on("h0")) + (() if shared else (parts.on("h1"),)):
                check(not os.path.exists(os.path.join(store, parts.job)), "left in", store)
    with Parts() as parts:
        parts.bspckpt("rm", f"{parts.store}/{parts.job}", "--local")
        check(len(parts.images(parts.on("h0"))) == parts.count and not parts.images(parts.store), "--local")


def hidden():
    """What an agent keeps in $TMPDIR, as it cannot have the path, is found and removed with its directory."""
    with Parts() as parts:
        kept = parts.path(f"tmp.h1/bspzero-store-{os.getuid()}-1")
        os.rename(parts.on("h1"), kept)
        result = parts.bspckpt("ls", parts.store)
        check(f"in {kept}/{parts.job}:\n" in result.out, result)
        check(parts.bspckpt("verify", parts.store).out == f"{parts.count} snapshots, 0 damaged files\n", "verify")
        result = parts.bspckpt("rm", f"{parts.store}/{parts.job}")
        check(f"on host h1: {kept}/{parts.job} removed\n" in result.out, result)
        check(os.listdir(parts.path("tmp.h1")) == [], os.listdir(parts.path("tmp.h1")))


def not_reached():
    """One line for each host that does not answer, and a status; nothing is removed here then."""
    for kind, text in (("refuses", "host h1: .*status 9.*no way to h1"),
                       ("hangs", "host h1: .*"), ("garbles", "host h1: .*not understood")):
        with Parts() as parts:
            parts.mark(kind, "h1")
            quick = ["--connect-timeout", "1"]
            for command in ("ls", "verify", "rm"):
                target = parts.store + ("/" + parts.job if command == "rm" else "")
                result = parts.bspckpt(command, target, *quick, status=1)
                lines = result.err.splitlines()
                check(re.search("^bspckpt: " + text, lines[0]) and
                      len(lines) == (2 if command == "rm" else 1), result)
                check(command != "rm" or "rm --local" in lines[1], result)
            check(os.path.isdir(os.path.join(parts.store, parts.job)), "it is gone here")
            check(not os.path.exists(os.path.join(parts.on("h0"), parts.job)), "it is left on h0")
            os.unlink(parts.path(f"{kind}.h1"))
            parts.bspckpt("rm", f"{parts.store}/{parts.job}")
            check(not os.path.exists(os.path.join(parts.on("h1"), parts.job)), "it is left on h1")


def chatty_shells():
    with Parts() as parts:
        parts.mark("chats", "h0")
        check(parts.bspckpt("verify", parts.store).out == f"{parts.count} snapshots, 0 damaged files\n", "verify")
        json.loads(parts.bspckpt("ls", parts.store, "--json").out)


def cannot_be_read_there():
    """A directory that others may write to is not believed there either."""
    with Parts() as parts:
        directory = parts.on("h0")
        os.chmod(directory, 0o777 & ~stat.S_ISVTX)
        result = parts.bspckpt("verify", parts.store, status=1)
        check(re.search(r"^bspckpt: host h0: .*store.h0", result.err, re.M), result)
        os.chmod(directory, 0o700)
        os.chmod(os.path.join(directory, parts.job), 0o770)
        message = rf"^bspckpt: host h0: .*store\.h0: job {parts.job}: it is not yours"
        result = parts.bspckpt("ls", parts.store, status=1)
        check(re.search(message, result.err, re.M) and "bspckpt" not in result.out, result)
        result = parts.bspckpt("ls", parts.store, "--json", status=1)
        check(re.search(message, result.err, re.M), result)
        found = {entry.get("host"): entry for entry in json.loads(result.out)}
        check(found["h0"]["jobs"] == [] and found["h1"]["jobs"][0]["job"] == parts.job, found)
        os.chmod(os.path.join(directory, parts.job), 0o700)


def beside_a_job():
    """What hosts share is shown once, also while a job takes snapshots there."""
    with Parts() as parts:
        for host in OTHERS:
            parts.mark("shares", host)
        parts.mark("writes", "h1")
        for words in ([], ["--json"]):
            result = parts.bspckpt("ls", parts.store, *words)
            check("h0" not in result.out and "on host h1" not in result.out and '"host"' not in result.out,
                  "it is shown as another host's", result)


def as_the_job_was_started():
    """The launcher is remembered; and hosts that share the directory are not shown twice."""
    with Parts() as parts:
        for words in (["ls"], ["verify"]):
            result = run([BSPCKPT, *words, parts.store])
            check("on host" not in result.out and result.err == "", result)
        expect(run([BSPCKPT, "ls", parts.store, "--launcher", "-x"]), 2, err="--launcher")
        expect(run([BSPCKPT, "ls", parts.store, "--connect-timeout", "soon"]), 2, err="--connect-timeout")
        expect(run([BSPCKPT, "rm", f"{parts.store}/{parts.job}"]), 0, no_err=True)
        check(not os.path.exists(os.path.join(parts.store, parts.job)), "left")


def in_another_allocation():
    """Only its nodes are reached by srun; others that the job has run on are no nodes of it."""
    directory = tempfile.mkdtemp(prefix="parts-", dir=scratch)
    calls, store = os.path.join(directory, "calls"), os.path.join(directory, "store")
    for name, text in (("ssh", SSH), ("srun", SRUN)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text % calls)
        os.chmod(file.name, 0o700)
    env = {"PATH": directory + ":" + os.environ["PATH"]}
    for launcher in ((), ("--launcher", "slurm")):
        for name in ("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "BSPZERO_LAUNCHER"):
            env.pop(name, None)
        begun_in = {**env, "SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "h[0-1]"} if launcher else env
        expect(bsprun("--hosts", "h0:1,h1:1", "--ckpt", store, "--every", 1, *launcher, PROG, "turns", 4, env=begun_in), 0)
        for nodes, expected in ((None, ["ssh h0", "ssh h1"]), ("h[0-1]", ["srun h0", "srun h1"]),
                                ("h[1-2]", ["srun h1", "ssh h0"]), ("h[2-3]", ["ssh h0", "ssh h1"])):
            if nodes:
                env.update(SLURM_JOB_ID="7", SLURM_JOB_NODELIST=nodes)
            verified_by(["verify", store], env, calls, expected)
        env["BSPZERO_LAUNCHER"] = "slurm"
        verified_by(["verify", store], env, calls, ["ssh h0", "ssh h1"])
        verified_by(["verify", "--launcher", "slurm", store], env, calls, ["srun h0", "srun h1"])
        shutil.rmtree(store)
    shutil.rmtree(directory)


def verified_by(words, env, calls, expected):
    with open(calls, "w", encoding="utf-8"):
        pass
    expect(run([BSPCKPT, *words], env=env), 0, no_err=True)
    with open(calls, encoding="utf-8") as file:
        called = sorted(file.read().splitlines())
    check(called == sorted(expected), words, "in the allocation", env.get("SLURM_JOB_NODELIST"), called)


if __name__ == "__main__":
    main([listed, verified, left_on_another_host, hosts_of_each_job, removed, hidden, not_reached, chatty_shells,
          cannot_be_read_there, beside_a_job, as_the_job_was_started, in_another_allocation])
