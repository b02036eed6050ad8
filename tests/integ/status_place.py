"""A directory of the sockets of jobs that is the test's own."""
import os
import shutil
import tempfile

from harness import BSPRUN, Job


class StatusPlace:
    def __enter__(self):
        # Paths of sockets are short, and $TMPDIR may be long.
        self.directory = tempfile.mkdtemp(prefix="bspzero-status-", dir="/tmp")
        self.path = os.path.join(self.directory, "sockets")
        self.env = {"BSPZERO_STATUS_DIR": self.path}
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def job(self, *words, **more):
        return Job([BSPRUN, *map(str, words)], env=dict(self.env), **more)
