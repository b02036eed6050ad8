"""A directory of the sockets of jobs that is the test's own."""
import os
import shutil
import signal
import socket
import tempfile

from harness import BSPRUN, Job, process_stat, wait_until


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

    def stop(self, job):
        """Stops the only job's bsprun, connects to it and leaves until it has as many connections waiting as it may."""
        os.kill(job.os_pid, signal.SIGSTOP)
        wait_until(lambda: process_stat(job.os_pid)[0] == "T", "its stop")
        [name] = os.listdir(self.path)
        while True:
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                try:
                    client.connect(os.path.join(self.path, name))
                except BlockingIOError:
                    return
