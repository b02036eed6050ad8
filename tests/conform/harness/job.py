"""Starts one job, feeds it, waits for it and counts what it leaves behind."""

import os
import pty
import signal
import subprocess
import threading
import time
import uuid

MARK = 'CONFORM_MARK'
# How long processes that are already told to go may take on a loaded machine.
GRACE = 10.0


class Outcome:
    """What came of a job."""

    def __init__(self):
        self.status = None
        self.out = ''
        self.err = ''
        self.timed_out = False
        self.left = []


def marked_processes(mark):
    """The living processes whose environment carries the mark, as 'pid command'."""
    wanted = f'{MARK}={mark}'.encode()
    found = []
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open(f'/proc/{name}/environ', 'rb') as environ:
                if wanted not in environ.read().split(b'\0'):
                    continue
            with open(f'/proc/{name}/cmdline', 'rb') as cmdline:
                found.append((int(name), cmdline.read().replace(b'\0', b' ').decode(errors='replace')))
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return found


def of_other_check(name):
    """What another copy of check_runner leaves on purpose, to see that its runner notices."""
    return name.startswith('bsp-check-runner-') and name != os.environ.get('CHECK_RUNNER_NAME')


def shared_names():
    """Names of this project in the places where a shared memory object can be forgotten."""
    names = set()
    for directory in ('/dev/shm', '/dev/mqueue'):
        try:
            names |= {f'{directory}/{n}' for n in os.listdir(directory)
                      if 'bsp' in n.lower() and not of_other_check(n)}
        except OSError:
            pass
    return names


def wait_until_gone(mark):
    """What is left of the job once it had the time to go."""
    deadline = time.monotonic() + GRACE
    left = marked_processes(mark)
    while left and time.monotonic() < deadline:
        time.sleep(0.01)
        left = marked_processes(mark)
    return left


def kill_marked(mark):
    for pid, _ in marked_processes(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


class Stream:
    """Reads a descriptor to its end in a thread of its own."""

    def __init__(self, fd):
        self.fd = fd
        self.chunks = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            try:
                chunk = os.read(self.fd, 65536)
            except OSError:  # a terminal whose other side is closed
                chunk = b''
            if not chunk:
                break
            self.chunks.append(chunk)
        os.close(self.fd)

    def text(self, patience):
        self.thread.join(patience)
        return b''.join(self.chunks).decode(errors='replace')

    def is_open(self):
        return self.thread.is_alive()


class Job:
    """A command under watch: its descriptors, its time and its descendants."""

    def __init__(self, command, env, cwd, stdin=('null', ''), stdout='pipe', timeout=60.0):
        self.command = command
        self.mark = uuid.uuid4().hex
        self.env = dict(env, **{MARK: self.mark})
        self.cwd = cwd
        self.stdin_kind, self.stdin_text = stdin
        self.stdout_kind = stdout
        self.timeout = timeout
        self.close_after_start = []
        self.feeder = None

    def run(self):
        outcome = Outcome()
        before = shared_names()
        stdin = self._open_stdin()
        stdout, out = self._open_stdout()
        err_read, err_write = os.pipe()
        self.close_after_start.append(err_write)
        process = subprocess.Popen(self.command, stdin=stdin, stdout=stdout, stderr=err_write,
                                   env=self.env, cwd=self.cwd, preexec_fn=self._prepare)
        for fd in self.close_after_start:
            os.close(fd)
        err = Stream(err_read)
        out = Stream(out) if out is not None else None
        feeder = self._start_feeding()
        try:
            outcome.status = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            outcome.timed_out = True
            outcome.left = [f'{p} {c}' for p, c in marked_processes(self.mark)]
            kill_marked(self.mark)
            process.kill()
            process.wait()
        except BaseException:  # the runner itself is told to end
            kill_marked(self.mark)
            process.kill()
            raise
        if not outcome.timed_out:
            outcome.left = [f'{p} {c}' for p, c in wait_until_gone(self.mark)]
            outcome.left += sorted(shared_names() - before)
        kill_marked(self.mark)
        outcome.err = err.text(GRACE)
        outcome.out = out.text(GRACE).replace('\r\n', '\n') if out else ''
        outcome.left += [f'somebody who holds {name}' for name, stream in
                         (('stdout', out), ('stderr', err)) if stream and stream.is_open()]
        if feeder:
            feeder.join(GRACE)
        return outcome

    def _prepare(self):
        """In the child, before exec: a session of its own, default signals, closed descriptors."""
        if self.stdin_kind == 'tty':
            os.setsid()
            import fcntl
            import termios
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        else:
            os.setsid()
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        if self.stdin_kind == 'closed':
            os.close(0)
        if self.stdout_kind == 'closed':
            os.close(1)

    def _open_stdin(self):
        if self.stdin_kind in ('null', 'closed'):
            fd = os.open('/dev/null', os.O_RDONLY)
        elif self.stdin_kind == 'file':
            path = os.path.join(self.cwd, 'stdin.txt')
            with open(path, 'w', encoding='utf-8') as file:
                file.write(self.stdin_text)
            fd = os.open(path, os.O_RDONLY)
        elif self.stdin_kind == 'pipe':
            fd, self.feeder = os.pipe()
        elif self.stdin_kind == 'tty':
            self.feeder, fd = pty.openpty()
        else:
            raise ValueError(f'unknown kind of stdin: {self.stdin_kind}')
        self.close_after_start.append(fd)
        return fd

    def _open_stdout(self):
        """The descriptor to hand over, and the one to read from."""
        if self.stdout_kind == 'tty':
            if self.stdin_kind == 'tty':
                raise ValueError('the terminal of stdin is not read: use pipe for stdout')
            master, slave = pty.openpty()
            self.close_after_start.append(slave)
            return slave, master
        read, write = os.pipe()
        self.close_after_start.append(write)
        return write, read

    def _start_feeding(self):
        """Writes stdin from a thread, so that a program that reads late cannot block the test."""
        if self.feeder is None:
            return None

        def feed():
            try:
                os.write(self.feeder, self.stdin_text.encode())
                if self.stdin_kind == 'tty':
                    os.write(self.feeder, b'\x04')  # end of file, as a user would type it
                    while os.read(self.feeder, 4096):
                        pass  # the echo
            except OSError:
                pass
            os.close(self.feeder)

        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        return thread
