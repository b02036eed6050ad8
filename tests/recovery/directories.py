"""Waits for files to appear, by inotify: a snapshot in the making is there for milliseconds."""
import ctypes
import os
import select
import struct
import time

_libc = ctypes.CDLL(None, use_errno=True)
_CREATE, _MOVED_TO, _NONBLOCK = 0x100, 0x80, 0o4000


class Directories:
    """Names that appear in directories, as they appear.  A context."""

    def __init__(self, *directories):
        self.fd = _libc.inotify_init1(_NONBLOCK)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self.directories = {}
        self.pending = []
        for directory in directories:
            self.add(directory, False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def add(self, directory, tell_existing=True):
        """Watches a directory, too; what it has already is told as well."""
        watch = _libc.inotify_add_watch(self.fd, os.fsencode(directory), _CREATE | _MOVED_TO)
        if watch < 0:
            return  # it has gone again
        self.directories[watch] = directory
        if tell_existing:
            try:
                self.pending += [os.path.join(directory, name) for name in os.listdir(directory)]
            except FileNotFoundError:
                pass

    def next(self, patience):
        """The path of the next that appeared, None when nothing did."""
        end = time.monotonic() + patience
        while not self.pending:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            events = os.read(self.fd, 65536)
            at = 0
            while at < len(events):
                watch, _, _, length = struct.unpack_from("iIII", events, at)
                name = events[at + 16:at + 16 + length].rstrip(b"\0").decode()
                self.pending.append(os.path.join(self.directories[watch], name))
                at += 16 + length
        return self.pending.pop(0)

    def wait_for(self, wanted, patience):
        """The first path for which wanted(path) is true; directories that appear are watched, too."""
        end = time.monotonic() + patience
        while True:
            path = self.next(end - time.monotonic())
            if path is None:
                return None
            if os.path.isdir(path):
                self.add(path)
            if wanted(path):
                return path
