"""Jobs on several hosts, all of which are this machine: where they are named, and what comes of it."""
import os
import re
import signal
import socket
import tempfile
import time

from harness import BIN, BSPRUN, Job, PROG, RSH, bsprun, check, expect, main, run, scratch, wait_until

BSPCTL = os.path.join(BIN, "bspctl")


def on(*words, **more):
    return bsprun("--launcher", RSH, *words, **more)


def placed(result):
    """For each process the process id of its agent."""
    rows = re.findall(r"^rank (\d+) \d+ group \d+ parent (\d+)$", result.out, re.M)
    agents = [parent for _, parent in sorted(rows, key=lambda row: int(row[0]))]
    return "".join(str(sorted(set(agents), key=agents.index).index(agent)) for agent in agents)


def file_of(text, directory=None, name=None):
    path = os.path.join(directory or tempfile.mkdtemp(dir=scratch), name or "hosts")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def by_slot_and_by_node():
    for words, places in (((), "0011"), (("--map-by", "slot"), "0011"),
                          (("--map-by", "node"), "0101")):
        result = expect(on("--hosts", "h0:2,h1:2", *words, PROG, "whoami", 1), 0, out="^p = 4$",
                        no_err=True)
        check(placed(result) == places, words, result)
    result = expect(on("--hosts", "h0:1,h1:1", "-np", 2, PROG, "whoami", 1), 0, out="^p = 2$")
    check(placed(result) == "01", result)


def more_processes_than_slots():
    result = expect(on("--hosts", "h0:1,h1:2", "-np", 6, PROG, "whoami", 1), 0, out="^p = 6$",
                    err="^bsprun: 6 processes have 3 slots, so some of them share a core")
    check(result.err.count("\n") == 1 and placed(result) == "001111", result)
    expect(on("--hosts", "h0:1,h1:2", "-np", 6, "--oversubscribe", PROG), 0, out="^p = 6$",
           no_err=True)
    # This host is one like the others when its slots were given.
    expect(bsprun("--hosts", "localhost:2", "-np", 4, PROG), 0, out="^p = 4$",
           err="^bsprun: 4 processes have 2 slots, so some of them share a core")
    expect(bsprun("--hosts", "localhost:1", "-np", 2, PROG), 0, out="^p = 2$",
           err="^bsprun: 2 processes have 1 slot, so some of them share a core")
    for words in (("-np", 2), ("-np", 4, "--oversubscribe")):
        expect(bsprun("--hosts", "localhost:2", *words, PROG), 0, out=f"^p = {words[1]}$", no_err=True)


def more_processes_than_slots_of_cells():
    """Hosts with replicas of the same processes have the slots of one of them."""
    for words, processes, slots in ((("--hosts", "h0:2,h1:2", "--replicas", 2), 4, 2),
                                    (("--hosts", "h0:2", "--replicas", 2, "--replicas-on-host"), 3, 2),
                                    (("--hosts", "h0:1,h1:2,h2:1", "--replicas", "0=2"), 4, 2)):
        expect(on(*words, "-np", processes, PROG), 0, out=f"^p = {processes}$",
               err=f"^bsprun: {processes} processes have {slots} slots, so some of them share a core")
        expect(on(*words, "-np", slots, PROG), 0, out=f"^p = {slots}$", no_err=True)


def a_drained_host_has_no_slots():
    """Without it two hosts have replicas of all processes, and the third one is left over."""
    gate = os.path.join(tempfile.mkdtemp(dir=scratch), "gate")
    with Job([BSPRUN, "--launcher", RSH, "--hosts", "h0:2,h1:2,h2:2,h3:2", "--replicas", "2", "--ckpt", os.path.dirname(gate),
              "-np", "4", PROG, "early-gate", gate]) as job:
        job.wait_for("^ready", 1)
        # The program begins before the other hosts have come.
        wait_until(lambda: run([BSPCTL, str(job.os_pid), "drain", "h3"]).status == 0 or job.is_over(), "host h3")
        with open(gate, "w", encoding="ascii") as file:
            file.write("1")
        check(job.finish() == 0, job.status, job.text())
        check("4 processes have 2 slots, so some of them share a core" in job.text(), job.text())


def room_before_the_beginning():
    """bsp_nprocs() before bsp_begin: what bsp_begin(0) will have, on all hosts."""
    cores = int(re.search("room for ([0-9]+)", bsprun(PROG, "room").out)[1])
    for words, room in ((("--hosts", "h0:2,h1:3"), 5),
                        (("--hosts", "h0:1,h1:1,h2:2", "--spares", 1), 2),
                        (("--hosts", "h0,h1:2"), cores + 2),
                        (("--hosts", "h0:3,h1,localhost"), 3 + 2 * cores),
                        (("--hosts", "h0:2,h1:3", "-np", 4), 4), (("-np", 3), 3),
                        (("--hosts", "h0:1,h1:1", "-np", 6, "--oversubscribe"), 6),
                        (("--hosts", "h0:2,h1:2,h2:2,h3:1", "--replicas", 2), 3),
                        (("--hosts", "h0:2,h1:1", "--replicas", 2, "--replicas-on-host"), 3),
                        (("--hosts", "localhost:5"), 5), (("--hosts", "localhost:2,localhost:1"), 3),
                        (("--hosts", f"localhost:{cores + 1},127.0.0.1"), cores + 2)):
        result = expect(on(*words, PROG, "room"), 0, out=f"^room for {room}$", no_err=True)
        check(f"p = {room}\n" in result.out, words, result)


def a_host_that_comes_after_the_program():
    """With -np the program does not wait for it; how many cores it has is known before anybody is warned."""
    directory = tempfile.mkdtemp(dir=scratch)
    process = os.path.join(directory, "process")
    cores = int(re.search("room for ([0-9]+)", bsprun(PROG, "room").out)[1])
    # Process 0 sleeps in bsp_begin when h1 is called.
    slow = file_of(f"""#!/bin/sh
if [ $1 = h1 ]; then
    until [ -e {process} ]; do sleep 0.01; done
    until grep -qx {os.path.basename(PROG)[:15]} /proc/$(cat {process})/comm && grep -q "^State:.S" /proc/$(cat {process})/status; do
        sleep 0.01
    done
fi
exec {RSH} "$@"
""")
    os.chmod(slow, 0o700)
    for processes, warned in ((cores + 1, False), (2 * cores + 1, True)):
        result = expect(bsprun("--launcher", slow, "--hosts", "localhost,h1", "-np", processes, "sh", "-c",
                               f'echo $$ >{process}.new; mv {process}.new {process}; exec "$0"', PROG),
                        0, out=f"^p = {processes}$")
        check(result.err == warned * f"bsprun: {processes} processes have {2 * cores} slots, so some of them share a "
              "core (--oversubscribe suppresses this warning)\n", result)
        os.unlink(process)


def stopped_before_it_has_begun():
    """How many cores a host has is not known yet, so the program has not been started."""
    directory = tempfile.mkdtemp(dir=scratch)
    slow = file_of(f'#!/bin/sh\nif [ $1 = h1 ]; then echo $$ >{directory}/waits.new\n'
                   f'mv {directory}/waits.new {directory}/waits; exec sleep 100; fi\nexec {RSH} "$@"\n')
    os.chmod(slow, 0o700)
    with Job([BSPRUN, "--launcher", slow, "--hosts", "localhost,h1", PROG, "room"]) as job:
        wait_until(lambda: os.path.exists(os.path.join(directory, "waits")), "the launcher of h1")
        job.signal(signal.SIGTERM)
        status = job.finish()
        check(status == 128 + signal.SIGTERM and "room" not in job.text(), status, job.text())
        job.check_gone()


def spares_are_not_used():
    result = expect(on("--hosts", "h0:1,h1:1,h2:1", "--spares", 1, PROG, "whoami", 1), 0,
                    out="^p = 2$", no_err=True)
    check(placed(result) == "01", result)


def host_files():
    for text in ("h0\nh1 slots=2\n", "h0\nh1\nh1\n", "# all\nh0:1\n\nh1:2 # fast\n",
                 "host(h0);\nhost(h1) ncpus(2) adapter(127.0.0.1) macaddr(0:1);"):
        result = expect(on("--hostfile", file_of(text), PROG, "whoami", 1), 0, out="^p = 3$",
                        no_err=True)
        check(placed(result) == "011", text, result)
    path = file_of("h0 slots=2\nh1 slots=two\n")
    result = expect(on("--hostfile", path, PROG), 2, err=f"^bsprun: {path}:2:10: expected a number")
    check(result.err.count("\n") == 1, result)
    expect(on("--hostfile", "/nonexistent", PROG), 2, err="^bsprun: --hostfile /nonexistent: No such")


def an_adapter_that_is_not_known():
    path = file_of('host(h0); host(h1) adapter("no-such.invalid");')
    expect(on("--hostfile", path, PROG), 0, out="^p = 2$",
           err="^bsprun: host h1: its adapter no-such.invalid is not used: ")


def the_host_file_of_old():
    home = tempfile.mkdtemp(dir=scratch)
    file_of("host(h0); host(h1);", home, ".bsptcphosts")
    file_of("host(h0) ncpus(3);", home, "others")
    for words, processes in ((("-nolocal",), 2), (("-hostlist", "others"), 3),
                             (("-hostlist", ".bsptcphosts"), 2)):
        expect(on(*words, PROG, env={"HOME": home}), 0, out=f"^p = {processes}$", no_err=True)
    result = expect(on("-local", "-np", 3, PROG, "whoami", 1, env={"HOME": home}), 0, no_err=True)
    check(placed(result) == "000", result)


def variables_of_the_environment():
    env = {"BSPZERO_HOSTS": "h0:1,h1:1,h2:1", "BSPZERO_LAUNCHER": RSH, "BSPZERO_SPARES": "1",
           "BSPZERO_MAP_BY": "node"}
    expect(bsprun(PROG, env=env), 0, out="^p = 2$", no_err=True)
    expect(bsprun("--spares", 0, PROG, env=env), 0, out="^p = 3$", no_err=True)


def own_address():
    """A number of a network that is not loopback; "" where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return ""
        return probe.getsockname()[0]


def this_host_by_its_address():
    address = own_address()
    if not address:
        return
    result = expect(bsprun("--launcher", "/nonexistent/rsh", "--hosts", f"{address}:2,localhost:1",
                           PROG, "whoami", 1), 0, out="^p = 3$", no_err=True)
    check(placed(result) == "000", result)


def the_environment_of_the_first_host():
    """Here it is bsprun's; elsewhere what the launcher gives, and what -x names."""
    path = file_of(f'#!/bin/sh\nunset HERE NAMED\nexport THERE=2\nexec {RSH} "$@"\n')
    os.chmod(path, 0o700)
    for first, shown in (("h0", "here= there=2"), ("localhost", "here=1 there=")):
        expect(bsprun("--launcher", path, "--hosts", f"{first}:1,h1:1", "-x", "NAMED", "-x", "GIVEN=4",
                      "sh", "-c", "echo here=$HERE there=$THERE named=$NAMED given=$GIVEN; exec \"$0\"",
                      PROG,
                      env={"HERE": "1", "NAMED": "3"}), 0, out=f"^{shown} named=3 given=4$",
               no_err=True)


def a_launcher_that_fails():
    path = file_of("#!/bin/sh\necho no such host >&2\nexit 255\n")
    os.chmod(path, 0o700)
    result = expect(bsprun("--launcher", path, "--hosts", "localhost:1,far:1", PROG), 1,
                    err="^bsprun: host far: .* ended with status 255\n  no such host$")
    check(result.out == "", result)
    # The agent here is told to leave while it is told to start.
    for _ in range(8):
        expect(bsprun("--launcher", "/nonexistent/rsh", "--hosts", "localhost:1,far:1", PROG), 1,
               err="^bsprun: host far: /nonexistent/rsh: No such file or directory$")


def a_launcher_that_asks():
    """It wants a password of the terminal: there is none, whatever bsprun's is."""
    path = file_of("#!/bin/sh\nread -r password </dev/tty || exit 255\n")
    os.chmod(path, 0o700)
    expect(bsprun("--launcher", path, "--hosts", "localhost:1,far:1", PROG), 1,
           err="^bsprun: host far: .* ended with status 255")


def a_launcher_that_hangs():
    path = file_of("#!/bin/sh\ntrap '' TERM HUP\nwhile :; do sleep 100; done\n")
    os.chmod(path, 0o700)
    expect(bsprun("--launcher", path, "--connect-timeout", 1, "--hosts", "localhost:1,far:1", PROG),
           1, err="^bsprun: host far: .* did not start it within 1 seconds")


def hosts_that_come_too_late():
    """The program ends before its hosts are there: whenever one calls, the job does not wait."""
    path = file_of(f'#!/bin/sh\nsleep "$LATE"\nexec {RSH} "$@"\n')
    os.chmod(path, 0o700)
    for late in range(0, 160, 4):
        begun = time.monotonic()
        expect(bsprun("--launcher", path, "--hosts", "localhost:1,far:1,farther:1", "true",
                      env={"LATE": str(late / 1000)}), 1,
               err="ended without calling bsp_begin")
        seconds = time.monotonic() - begun
        check(seconds < 8, "it took", seconds, "s where they are", late, "ms late")


if __name__ == "__main__":
    main([by_slot_and_by_node, room_before_the_beginning, stopped_before_it_has_begun,
          a_host_that_comes_after_the_program,
          more_processes_than_slots, more_processes_than_slots_of_cells, a_drained_host_has_no_slots, spares_are_not_used, host_files,
          an_adapter_that_is_not_known, the_host_file_of_old, variables_of_the_environment,
          this_host_by_its_address, the_environment_of_the_first_host,
          a_launcher_that_fails, a_launcher_that_asks, a_launcher_that_hangs,
          hosts_that_come_too_late])
