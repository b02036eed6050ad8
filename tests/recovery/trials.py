"""What the kill matrices share: a job that is stopped where it shall be hit, and what must be so in the
end."""
from harness import *


class Aim:
    """One job and what it is to lose."""

    def __init__(self, place, p, words, reference):
        self.place, self.p, self.words, self.reference = place, p, words, reference
        self.job = None
        self.after = []  # what to do when it has come to its end

    def start(self):
        raise NotImplementedError

    def hold_all(self, superstep):
        for pid in range(self.p):
            self.place.hold(pid, superstep)

    def release_all(self, superstep):
        for pid in range(self.p):
            self.place.release(pid, superstep)

    def wait_held(self, superstep):
        """Until all are in the superstep, and the snapshot at its beginning is committed."""
        for pid in range(self.p):
            self.place.wait_executed(pid, superstep)
        self.place.wait_committed(superstep)


def try_it(aim, phase, go_on=None):
    """Hits the job in a phase.  It ends as if nothing had been, or go_on sees to that."""
    try:
        phase(aim)
        if go_on:
            go_on(aim)
        else:
            aim.job.check_all(aim.reference)
            check(aim.job.said(), "bsprun said nothing of the fault\n", aim.job)
        aim.place.check_files(aim.reference)
        aim.place.check_executions()
        aim.place.check_store()
    except Failed as failure:
        raise Failed(f"{failure}\n{aim.job}")
    for act in aim.after:
        act()
    aim.place.check_clean()
