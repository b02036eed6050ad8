"""bspload, and bsprun --load: hosts are asked by a launcher, which is a script here."""
import os
import re
import tempfile

from harness import BIN, BSPRUN, PROG, check, expect, main, run, scratch

BSPLOAD = os.path.join(BIN, "bspload")


def launcher(**answers):
    """The path of a program HOST COMMAND...: for some hosts a script of our own, else what is to be
    executed on the host is executed here."""
    path = tempfile.mktemp(prefix="reach", dir=scratch)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhost=$1; shift\ncase $host in\n")
        for host, script in answers.items():
            file.write(f"{host}) {script};;\n")
        file.write('esac\nBSPZERO_HOST_NAME=$host exec "$@"\n')
    os.chmod(path, 0o700)
    return path


def bspload(*words, **more):
    return run([BSPLOAD, *map(str, words)], **more)


def rows(result):
    """Rows of the table as lists of words."""
    lines = result.out.splitlines()
    check(lines[0].split() == ["host", "cores", "1", "min", "5", "min", "15", "min", "Mflop/s",
                               "free"], result)
    return [line.split() for line in lines[1:]]


def this_host():
    for words in ((), ("--hosts", "localhost")):
        result = expect(bspload(*words, env={"HOME": scratch}), 0, no_err=True)
        [row] = rows(result)
        check(row[0] == "localhost" and int(row[1]) == len(os.sched_getaffinity(0)), result)
        check(int(row[5]) > 0, result)


def measured_there():
    """The other host's shell executes bspload, which measures."""
    result = expect(bspload("--hosts", "a,b", "--launcher", launcher()), 0, no_err=True)
    table = rows(result)
    check(sorted(row[0] for row in table) == ["a", "b"], result)
    check(all(int(row[5]) > 0 for row in table), result)


def measured_by_a_shell_there():
    """A command that passes its words to a shell, as rsh and oarsh do: those of agents mean the same to it, and so do these."""
    path = tempfile.mktemp(prefix="joins", dir=scratch)
    with open(path, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexport BSPZERO_HOST_NAME=$1; shift\nexec sh -c "$*"\n')
    os.chmod(path, 0o700)
    result = expect(bspload("--hosts", "a,b", "--launcher", path), 0, no_err=True)
    check(sorted(row[0] for row in rows(result)) == ["a", "b"], result)
    check(all(int(row[5]) > 0 for row in rows(result)), result)
    expect(run([BSPRUN, "--hosts", "a:1,b:1", "--load", "--launcher", path, PROG]), 0, out="^p = 2$", no_err=True)


def ranked():
    path = launcher(slow='echo "bspload 0 0 0 4 100"; exit 0',
                    busy='echo "bspload 3.5 0 0 4 1000"; exit 0',
                    best='echo "bspload 0.5 1 2 4 1000"; exit 0')
    result = expect(bspload("--hosts", "slow,busy,best", "--launcher", path), 0, no_err=True)
    check(rows(result) == [["best", "4", "0.50", "1.00", "2.00", "1000", "3500"],
                           ["busy", "4", "3.50", "0.00", "0.00", "1000", "500"],
                           ["slow", "4", "0.00", "0.00", "0.00", "100", "400"]], result)


def without_bspload_there():
    """The shell to which ssh passes its last word says what there is."""
    path = os.path.join(tempfile.mkdtemp(dir=scratch), "ssh")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nfor line; do :; done\nexec sh -c \"$(echo \"$line\" | sed 's,/bspload,/none,g')\"\n")
    os.chmod(path, 0o700)
    result = expect(bspload("--hosts", "old", "--launcher", path), 0, no_err=True)
    [row] = rows(result)
    check(row[0] == "old" and int(row[1]) > 0 and row[5:] == ["-", "-"], result)
    check(all(float(load) >= 0 for load in row[2:5]), result)
    path = launcher(old='echo "0.25 0.50 0.75 1/2 3"; echo 8; exit 0')
    result = expect(bspload("--hosts", "old", "--launcher", path), 0, no_err=True)
    check(rows(result) == [["old", "8", "0.25", "0.50", "0.75", "-", "-"]], result)


def hosts_that_do_not_answer():
    path = launcher(deaf="exec sleep 1000", rude="echo go away >&2; exit 1", odd="echo hm; exit 0",
                    asks="read -r password </dev/tty || exit 3")
    result = expect(bspload("--hosts", "deaf,rude,odd,asks,fine", "--launcher", path,
                            "--connect-timeout", "3"), 1)
    table = rows(result)
    check(table[0][0] == "fine" and int(table[0][5]) > 0, result)
    check(sorted(row[0] for row in table[1:]) == ["asks", "deaf", "odd", "rude"], result)
    check(all(row[1:] == ["-"] * 6 for row in table[1:]), result)
    check("host deaf: " in result.err and "within 3 seconds" in result.err, result)
    check(re.search(r"^bspload: host rude: .* status 1\n  go away$", result.err, re.M), result)
    check("not understood" in result.err and re.search("host asks: .* status", result.err), result)


def in_an_allocation():
    """One step asks all nodes; what some of them say counts although it fails."""
    directory = tempfile.mkdtemp(dir=scratch)
    path = os.path.join(directory, "srun")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""#!/bin/sh
echo step >>{directory}/steps
while [ "${{1#--}}" != "$1" ]; do case $1 in --nodelist=*) names=${{1#*=}};; esac; shift; done
for name in $(echo $names | tr , ' '); do
    if [ $name != n3 ]; then SLURMD_NODENAME=$name "$@"; fi
done
case $names in *n3*) exit 1;; esac
""")
    os.chmod(path, 0o700)
    env = {"PATH": directory + ":" + os.environ["PATH"], "SLURM_JOB_ID": "7",
           "SLURM_JOB_NODELIST": "n[1-2,4]", "SLURM_JOB_CPUS_PER_NODE": "4(x3)"}
    result = expect(bspload(env=env), 0, no_err=True)
    check(sorted(row[0] for row in rows(result)) == ["n1", "n2", "n4"], result)
    check(all(int(row[1]) > 0 and int(row[5]) > 0 for row in rows(result)), result)
    with open(directory + "/steps", encoding="utf-8") as file:
        check(file.read() == "step\n", "as many steps as hosts")
    env.update(SLURM_JOB_NODELIST="n[1-3]")
    result = expect(bspload(env=env), 1, err="^bspload: host n3: it did not answer$")
    check(sorted(row[0] for row in rows(result) if row[1] != "-") == ["n1", "n2"], result)
    check(result.err.count("\n") == 1, result)


def where_hosts_come_from():
    home = tempfile.mkdtemp(dir=scratch)
    path = launcher()
    with open(os.path.join(home, ".bsptcphosts"), "w", encoding="utf-8") as file:
        file.write("host(old1) ncpus(2);\n")
    env = {"HOME": home, "BSPZERO_LAUNCHER": path}
    check([row[0] for row in rows(bspload(env=env))] == ["old1"], "the file of old")
    env["BSPZERO_HOSTS"] = "new1"
    check([row[0] for row in rows(bspload(env=env))] == ["new1"], "the environment")
    result = bspload("--hosts", "newer1", env=env)
    check([row[0] for row in rows(result)] == ["newer1"], result)


def variables_for_bsprun():
    """Those of jobs have no meaning here, whatever they say; those by which hosts are reached do."""
    env = {"HOME": scratch, "BSPZERO_HOSTS": "a", "BSPZERO_LAUNCHER": launcher()}
    for name, value in (("BSPZERO_SPARES", "3"), ("BSPZERO_REPLICAS", "0=2"), ("BSPZERO_REPLICAS", "4"),
                        ("BSPZERO_REPLICAS_ON_HOST", "1"), ("BSPZERO_HEARTBEAT", "never"), ("BSPZERO_CKPT", "/none"),
                        ("BSP_PROCS", "many")):
        result = expect(bspload(env={**env, name: value}), 0, no_err=True)
        check([row[0] for row in rows(result)] == ["a"], name, value, result)
    expect(bspload(env={**env, "BSPZERO_LAUNCHER": "/nonexistent/rsh"}), 1, err="^bspload: host a: /nonexistent/rsh: ")
    expect(bspload(env={**env, "BSPZERO_CONNECT_TIMEOUT": "never"}), 2, err="^bspload: BSPZERO_CONNECT_TIMEOUT=never: ")


def bsprun_prefers_the_idle():
    """Processes fill the slots of the host that is least busy first."""
    path = launcher(a='case $* in *--probe*) echo "bspload 3 3 3 4 1000"; exit 0;; esac',
                    b='case $* in *--probe*) echo "bspload 0 0 0 4 1000"; exit 0;; esac',
                    c='case $* in *--probe*) echo "bspload 1 1 1 4 1000"; exit 0;; esac')
    tells = ["sh", "-c", 'echo "on $BSPZERO_HOST_NAME" && exec "$0"', PROG]
    for words, host in ((["--load"], "b"), ([], "a")):
        expect(run([BSPRUN, "--hosts", "a:1,b:1,c:1", *words, "--launcher", path, "-np", "1", *tells]),
               0, out=f"^on {host}\np = 1$")


def wrong_calls():
    for words in (["x"], ["--ckpt", "d"], ["-np", "3"], ["--hosts", "a:0"], ["--nonsense"],
                  ["--hosts"], ["--hostfile", "/nonexistent"], ["--launcher", "slurm"]):
        result = expect(bspload(*words, env={"SLURM_JOB_ID": None}), 2, err="^bspload: ")
        check(result.err.count("\n") == 1 and result.out == "", result)
    expect(bspload("--help"), 0, out="^Usage: bspload", no_err=True)
    expect(bspload("--version"), 0, out=r"^bspload \(bspzero\)", no_err=True)


if __name__ == "__main__":
    main([this_host, measured_there, measured_by_a_shell_there, ranked, without_bspload_there, hosts_that_do_not_answer,
          in_an_allocation, where_hosts_come_from, variables_for_bsprun, bsprun_prefers_the_idle,
          wrong_calls])
