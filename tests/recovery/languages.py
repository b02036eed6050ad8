"""C++ with exceptions in flight at the barrier, Fortran with open units: killed and restored."""
import signal

from harness import *

PROGRAMS_HERE = {"lent_cxx_pie": 3, "lent_cxx_static": 3, "lent_fortran": 1}  # with how many kills


def run(place, program, *options):
    return place.start(BSPRUN, "-np", 1, *options, os.path.join(PROGRAMS, program), "word",
                       cwd=place.files, env={"RECOVERY_DIRECTORY": place.files})


def killed_after_each_barrier(program, kills):
    def test():
        if not os.path.exists(os.path.join(PROGRAMS, program)):
            return "skipped: there is no compiler for it"
        with Place() as place:
            undisturbed = run(place, program).wait(0)
            out, files = undisturbed.out(), place.contents()
        check(out and files, "the program does nothing", undisturbed.command)
        with Place() as place:
            for superstep in range(1, kills + 1):
                place.hold(0, superstep)
            job = run(place, program, "--ckpt", place.store, "--every", 1)
            for superstep in range(1, kills + 1):
                rank = place.wait_executed(0, superstep)
                place.wait_committed(superstep)
                place.kill(rank)  # comes back as its frozen copy
                rank = place.wait_executed(0, superstep, 2)
                kill_copies(job.agent())
                place.kill(rank)  # from its image
                place.wait_executed(0, superstep, 3)
                place.release(0, superstep)
            job.wait(0)
            check(job.out() == out, "stdout", first_difference(job.out(), out), job)
            for name, content in files.items():
                check(place.contents().get(name) == content, name, "differs")
            place.check_executions()
            place.check_clean()
    return test


if __name__ == "__main__":
    main([(name, killed_after_each_barrier(name, kills))
          for name, kills in PROGRAMS_HERE.items()])
