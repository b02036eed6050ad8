#!/usr/bin/env python3
"""Runs another test on the first of several hosts, where every bsprun uses all of them.

    within.py [--hosts N] [--launcher rsh|loopback|ssh|slurm] [--alone] [--bsprun OPTIONS] COMMAND ...

In COMMAND, and in NAME=VALUE words before it, which become environment, {bsprun} is a command that is
bsprun with --hosts and --launcher (under Slurm in an allocation, with none of them).  loopback: the
hosts are addresses of this machine, and nothing but processes is their own.  --alone: the
directory for temporary files is the first host's own, so what is compiled there is nowhere else; jobs
run in a directory that all see.  In the end nothing may be left on any host.
"""
import argparse
import os
import re
import shutil
import signal
import sys
import tempfile

import farm as farms
from farm import Farm, Loopback
from slurm import COMMANDS, Slurm
from sshd import Sshd

SLOTS = 4  # per host: enough for seven processes on two
SLURM_SLOTS = 2  # the cores of a node there


def wrapper(farm, options):
    """The command that stands for bsprun."""
    bsprun = os.path.join(os.path.abspath(options.build), "bin/bsprun")
    words = [bsprun, *options.bsprun.split()]
    if options.launcher != "slurm":
        hosts = ",".join(f"{name}:{SLOTS}" for name in farm.names)
        words += ["--hosts", hosts, "--map-by", "node", "--launcher",
                  options.launcher if options.launcher == "ssh" else farm.rsh]
    else:  # seven processes do not fit
        words += ["--oversubscribe"]
    directory = farm.path("work")
    os.makedirs(directory, exist_ok=True)
    command = " ".join(f"'{word}'" for word in words)
    change = f"cd '{directory}' && " if options.alone else ""
    return farm.write("bin/bsprun", f'#!/bin/sh\n{change}exec {command} "$@"\n', 0o755)


def make_farm(options, directory):
    if options.launcher == "loopback":
        return Loopback(options.hosts)
    private_on = {name: [directory] for name in farms.default_names(options.hosts)[1:]} \
        if options.alone else {}
    put = Slurm.PUT if options.launcher == "slurm" else {}
    return Farm(options.hosts, private_on=private_on, put=put)


def start_services(farm, options):
    if options.launcher == "ssh":
        Sshd(farm)
    elif options.launcher == "slurm":
        Slurm(farm)


def run(farm, options, directory):
    command = wrapper(farm, options)
    words = [word.replace("{bsprun}", command) for word in options.command]
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("BSP_", "BSPZERO_", "FARM_"))}
    slots = SLURM_SLOTS if options.launcher == "slurm" else SLOTS
    replicas = re.search(r"--replicas (\d)", options.bsprun)  # so many hosts have the slots of one
    cells = options.hosts // int(replicas[1]) if replicas else options.hosts
    environment.update(BSPZERO_HISTORY="off", TMPDIR=directory, HOME=farm.root_home, CONFORM_SLOTS=str(slots * cells))
    while words and re.match(r"\w+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if options.launcher == "slurm":
        words = ["salloc", "-Q", f"-N{options.hosts}", f"--ntasks-per-node={SLURM_SLOTS}", *words]
    before = {name: set(farm.processes(name)) for name in farm.names}
    process = farm.popen(farm.names[0], words, env=environment, cwd=os.getcwd())
    status = process.wait()
    left = {name: {k: v for k, v in farm.processes(name).items() if k not in before[name]
                   and not v.startswith(("slurmstepd", "sshd"))} for name in farm.names}
    if any(left.values()):
        print(f"FAILED: left on the hosts: {left}")
        return 1
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--launcher", choices=["rsh", "loopback", "ssh", "slurm"], default="rsh")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--build", default=os.environ.get("BUILD", "build"))
    parser.add_argument("--bsprun", default="", metavar="OPTIONS")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    need = {"ssh": ("sshd", "ssh"), "slurm": COMMANDS}.get(options.launcher, ())
    if options.launcher != "loopback":
        farms.require(*need, root=bool(need))
    directory = tempfile.mkdtemp(prefix="bspzero-within-")
    try:
        with make_farm(options, directory) as farm:
            start_services(farm, options)
            return run(farm, options, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
