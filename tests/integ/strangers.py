"""Strangers at the ports of a job on several hosts (all of which are this one): scans, garbage,
wrong keys, slow ones, what was recorded and is sent again, peers that have the key and lie.  The
job goes on as if they were not there.
"""
import base64
import os
import random
import re
import resource
import select

from harness import *
from strangers_play import *


def a_local_job_listens_nowhere():
    """Neither does one whose only host is named, nor one that keeps snapshots."""
    store = tempfile.mkdtemp(dir=scratch)
    for options in ((), ("--hosts", "localhost:2"), ("--ckpt", os.path.join(store, "store"))):
        with Job([BSPRUN, "-np", "2", *options, PROG, "loop", "0"]) as job:
            job.wait_ready(2)
            check(len(job.members()) >= 4, job.members())
            for pid in job.members():
                check(not any(link.startswith("socket:") and link in sockets_of_tcp()
                              for link in descriptors(pid)), options, "a TCP socket of", pid)


def sockets_of_tcp():
    found = set()
    for table in ("tcp", "tcp6"):
        with open("/proc/net/" + table) as file:
            found |= {f"socket:[{line.split()[9]}]" for line in file.readlines()[1:]}
    return found


def the_key_is_in_no_argument_and_no_environment():
    with Spied() as job:
        forms = [job.key, job.key.hex().encode(), base64.b64encode(job.key)]
        members = job.members()
        check(sum(name == "bspnode" for name in members.values()) == 2, members)
        for pid in members:
            for what in ("cmdline", "environ"):
                with open(f"/proc/{pid}/{what}", "rb") as file:
                    data = file.read()
                check(not any(form in data for form in forms), "the key is in", what, "of", pid)
        job.ends_well()


def strangers_cost_nothing(*options):
    with Spied(*options) as job:
        ports = job.ports()
        check(sorted(ports.values()) == ["bspnode", "bspnode", "bsprun"], ports)
        before = {pid: len(descriptors(pid)) for pid in job.members()}
        slow = [c for port in ports for c in begin_slowly(port, 200)]
        for port in ports:
            scan(port)
            babble(port)
        for connection in slow:
            connection.close()
        # All that they took is given back.
        for pid, count in before.items():
            wait_until(lambda: len(descriptors(pid)) <= count, "the descriptors of " + str(pid))
        job.ends_well()


def strangers_of_an_encrypted_job():
    strangers_cost_nothing("--encrypt")


def ends_after_a_loss(job):
    """The number in "ready" is another one; on a busy machine going back takes most of the time."""
    job.ends_well([r"host h[01] was lost: the connection to its node agent ended"],
                  [r"process 0 has not written the same output as before the rollback",
                   r"the job makes little progress because its 2 hosts fail so often"])


def a_lost_agent_is_replaced_beside_strangers():
    """The new agent, and the links to it, get in where others hold all the places."""
    with Spied("--ckpt", os.path.join(scratch, "ckpt")) as job:
        slow = [c for port in job.ports() for c in begin_slowly(port, 200)]
        os.kill(next(pid for pid, name in job.members().items() if name == "bspnode"),
                signal.SIGKILL)
        job.wait_for(r"^ready ", 2)
        for connection in slow:
            connection.close()
        ends_after_a_loss(job)


def strangers_leave_descriptors_to_a_job():
    """There are more of them than bsprun may have descriptors, of which it needs some to start an agent and go back."""
    limit = 256
    with Spied("--ckpt", os.path.join(tempfile.mkdtemp(dir=scratch), "store")) as job:
        own = job.process.pid
        resource.prlimit(own, resource.RLIMIT_NOFILE, (limit, limit))
        before = len(descriptors(own))
        port = next(port for port, name in job.ports().items() if name == "bsprun")
        silent = [connect(port) for _ in range(2 * limit)]
        # The kernel has all of them; bsprun takes what it wants of them, or all that it can.
        wait_until(lambda: hung_up(silent) or len(descriptors(own)) == limit, "places that are taken")
        check(len(descriptors(own)) < limit // 2 + before, "bsprun has", len(descriptors(own)), "descriptors")
        os.kill(next(pid for pid, name in job.members().items() if name == "bspnode"), signal.SIGKILL)
        job.wait_for(r"^ready ", 2)
        for connection in silent:
            connection.close()
        ends_after_a_loss(job)


def hung_up(connections):
    """Whether so many are closed by the other side that it must have seen them all."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLRDHUP)
    return len(poll.poll(0)) > len(connections) // 2


def a_wrong_key_hears_nothing():
    with Spied() as job:
        for port, name in job.ports().items():
            wrong = caller(job, key=bytes(32))
            with connect(port) as connection:
                say(connection, wrong.hello((AGENT, 0, 1, purpose_for(name), 0),
                                            (role_of(name), ANY, ANY)))
                check(heard(connection, 1) == b"", "an answer to a wrong key by", name)
        job.ends_well()


def what_was_recorded_is_of_no_use():
    with Spied() as job:
        for port, name in job.ports().items():
            # No such incarnation, or the recording itself would have ended the job's own agent.
            own = (AGENT, 0, 4711, purpose_for(name), 0)
            with connect(port) as connection:
                first = caller(job)
                say(connection, first.hello(own, (role_of(name), ANY, ANY)))
                confirm = first.take(heard(connection, REPLY))
                check(first.verdict == ACCEPTED, name, "says", first.verdict)
            with connect(port) as connection:
                say(connection, first.said)
                check(len(heard(connection, REPLY)) == REPLY, "no reply to a good HELLO")
                say(connection, confirm)
                check(heard(connection, 1) == b"", "an answer to a recording by", name)
        job.ends_well()


def another_version_is_named():
    with Spied() as job:
        for port, name in job.ports().items():
            other = caller(job)
            with connect(port) as connection:
                say(connection, other.hello((AGENT, 0, 1, purpose_for(name), 0),
                                            (role_of(name), ANY, ANY), version=99))
                other.take(heard(connection, REPLY))
                check(other.verdict == OTHER_VERSION and other.version == VERSION, name, other.verdict)
                check(heard(connection, 1) == b"", "it goes on with another version")
        job.ends_well([r"it speaks version 99 of the protocol"])


def the_wrong_place_is_named():
    with Spied() as job:
        for port, name in job.ports().items():
            for own, wanted, verdict in (
                    ((AGENT, 0, 1, purpose_for(name), 0), (role_of(name), 77, ANY), NOT_THE_WANTED),
                    ((AGENT, 0, 1, purpose_for(name), 0), (1 - role_of(name), ANY, ANY),
                     NOT_THE_WANTED),
                    ((BSPRUN_ROLE, 0, 1, purpose_for(name), 0), (role_of(name), ANY, ANY),
                     NOT_TAKEN),
                    ((AGENT, 0, 1, 55, 0), (role_of(name), ANY, ANY), NOT_TAKEN)):
                peer = caller(job)
                with connect(port) as connection:
                    say(connection, peer.hello(own, wanted))
                    peer.take(heard(connection, REPLY))
                    check(peer.verdict == verdict, name, "says", peer.verdict, "to", own, wanted)
                    check(heard(connection, 1) == b"", "it goes on with the wrong one")
        job.ends_well([r"the agent of host 0 wants (the agent of host 77|bsprun), and came here",
                       r"the agent of host 0 wants any bsprun, and came here",
                       r"the agent of host 0 wants any agent, and came here",
                       r"bsprun wants what is not offered here",
                       r"the agent of host 0 wants what is not offered here"])


def who_has_the_key_and_lies_is_dropped():
    """Claims to be an agent: one that is there already, is none of the job, or is from another
    time; and goes on with lengths that are not true."""
    with Spied() as job:
        for port, name in job.ports().items():
            for host in (0, 1, 2, 4095, ANY):
                for incarnation in (0, 1, 2, ANY):
                    peer = caller(job, number=os.urandom(32))
                    with connect(port) as connection:
                        say(connection, peer.hello((AGENT, host, incarnation, purpose_for(name), 0),
                                                   (role_of(name), ANY, ANY)))
                        confirm = peer.take(heard(connection, REPLY))
                        say(connection, confirm + b"\xff" * 5000)
        job.ends_well()


def nothing_can_be_overheard():
    """Not even what agents and bsprun say to each other in a job that is not encrypted."""
    between, result = diverted()
    expect(result, 0, out=r"^line 0 of 3$", no_err=True)
    for data in between.heard.values():
        check(len(data) > 1000, "only", len(data), "bytes went that way")
        for word in (b"line", b"integ_prog", b"/tmp", b"PATH", b"bspnode"):
            check(word not in data, word, "can be read on the way")


def an_encrypted_job_can_not_be_overheard():
    """Without --encrypt names of source files can be read between agents, so it would be heard."""
    try:
        Wire().heard(set())
    except PermissionError:
        print("not allowed to listen on lo: not tested")
        return
    for options in ([], ["--encrypt"]):
        wire = Wire()
        with Spied(*options) as job:
            ports = job.ports()
            job.ends_well()
        data = wire.heard({port for port, name in ports.items() if name == "bspnode"})
        check(len(data) > 2000, "only", len(data), "bytes between agents")
        check((b"prog.c" in data) == (options == []), options, "prog.c" in repr(data))


def whatever_is_changed_is_noticed():
    """A changed bit ends that connection, as if it had broken, and nothing else comes of it.  In
    the handshake it costs an address, and there may be another."""
    chance = random.Random(5)
    for to_bsprun, at in ((True, 10), (False, 10), (True, 130), (True, 160), (True, 300),
                          (False, 100), (False, 300)):
        changed = []

        def change(so_far, way, piece):
            if way == to_bsprun and so_far <= at < so_far + len(piece) and not changed:
                changed.append(at)
                piece = bytearray(piece)
                piece[at - so_far] ^= 1 << chance.randrange(8)
            return bytes(piece)

        _, result = diverted(change, "--heartbeat", "1", "--connect-timeout", "5")
        check(changed, "nothing came to byte", at, result)
        shaking_hands = at < (HELLO + CONFIRM if to_bsprun else REPLY)
        check(result.err or shaking_hands and result.status == 0,
              "nobody has noticed a change at", at, "\n", result)
        for line in result.out.splitlines():
            check(re.fullmatch(r"line \d+ of [0-3]|p = 4", line), "who says", line)


def gated_job(*words):
    """A job on two hosts that waits for a line, and what holds the messages of each host.  Processor
    Zero is on the first, which comes first."""
    directory = tempfile.mkdtemp(dir=scratch)
    gates = [Gate(directory), Gate(directory)]
    gates[1].is_open.clear()
    launcher = diverting_launcher(directory, {f"h{i}": gate.port for i, gate in enumerate(gates)})
    with Job([BSPRUN, "-vv", "-np", "4", "--hosts", "h0:2,h1:2", "--launcher", launcher, *words, "0",
              "wait"], stdin=subprocess.PIPE) as job:
        job.wait_for("host h0 has joined")
        gates[1].is_open.set()
        job.wait_ready(1)
        gates[1].held.clear()
        yield job, gates
    for gate in gates:
        gate.cut()
        gate.close()


def output_that_is_lost_at_the_end_is_missed():
    """Process 0 goes on behind bsp_end when a host is lost whose processes have ended, with their
    output on the way: that is not a good end."""
    name = os.path.basename(PROG)

    def processes(what):
        return list(job.members().values()).count(what)

    for job, gates in gated_job(PROG, "cat"):
        gates[1].is_open.clear()
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        check(gates[1].held.wait(PATIENCE), "nothing was held")
        wait_until(lambda: processes(name) == 1, "the end of the other processes")
        # A host lost before Processor Zero knows that is one that the job needs.
        for pid in (2, 3):
            job.wait_for(f"event RANK_EXITED term 1 host 1 pid {pid} status 0")
        gates[1].cut()
        wait_until(lambda: processes("bspnode") == 1, "the end of an agent")
        job.process.stdin.close()
        job.finish()
        check("pid 1 reads" in job.text() and "pid 3 reads" not in job.text(), job.text())
        check(job.status == 1 and "host h1 has not confirmed its end" in job.text(),
              "nothing is missed:", job.status, job.text())


def output_of_a_host_silent_at_the_end_is_missed():
    """The host falls silent, with its output on the way, when the job has ended well."""
    for job, gates in gated_job("--heartbeat", "2", PROG, "cat"):
        gates[1].is_open.clear()
        job.process.stdin.write(b"\n")
        job.process.stdin.close()
        job.wait_for("effect FINISH")
        job.finish()
        check("pid 1 reads" in job.text() and "pid 3 reads" not in job.text(), job.text())
        check(job.status == 1 and "host h1 has not confirmed its end" in job.text(),
              "nothing is missed:", job.status, job.text())


def output_before_bsp_end_is_not_lost():
    """With --ckpt nothing leaves bsp_end before the output of all hosts is there: a host that is lost
    then is restarted, and its output comes again."""
    store = os.path.join(tempfile.mkdtemp(dir=scratch), "store")
    for job, gates in gated_job("--ckpt", store, PROG, "cat"):
        gates[1].is_open.clear()
        job.process.stdin.write(b"\n")
        job.process.stdin.flush()
        job.wait_for("coord RUNNING -> CLOSING")
        check(gates[1].held.wait(PATIENCE), "nothing was held")
        gates[1].cut()
        job.process.stdin.close()
        job.finish()
        check(job.status == 0 and all(f"pid {pid} reads" in job.text() for pid in (1, 2, 3)),
              job.status, job.text())


def two_hosts_that_fall_silent_at_once():
    """Both are given up in the same moment; that is the end, not only of the first of them."""
    for job, gates in gated_job("--heartbeat", "1", PROG, "talk"):
        for gate in gates:
            gate.is_open.clear()
        job.finish()
        check(job.status == 1 and "nothing has been heard from it for 1 s" in job.text(), job.status,
              job.text())


if __name__ == "__main__":
    main([nothing_can_be_overheard, an_encrypted_job_can_not_be_overheard,
          whatever_is_changed_is_noticed, output_that_is_lost_at_the_end_is_missed,
          output_of_a_host_silent_at_the_end_is_missed, output_before_bsp_end_is_not_lost,
          two_hosts_that_fall_silent_at_once,
          a_local_job_listens_nowhere, the_key_is_in_no_argument_and_no_environment,
          strangers_cost_nothing, strangers_of_an_encrypted_job,
          a_lost_agent_is_replaced_beside_strangers, strangers_leave_descriptors_to_a_job, a_wrong_key_hears_nothing,
          what_was_recorded_is_of_no_use, another_version_is_named, the_wrong_place_is_named,
          who_has_the_key_and_lies_is_dropped])
