"""What the capture tests share: running programs, a directory that vanishes, a count of checks."""

import os
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ["CAPTURE_BIN"]
WAYS = os.environ.get("CAPTURE_WAYS", "pie nopie static staticpie").split()
SAVED, REFUSED, NOT_RESTORED = 10, 3, 5


def of(*ways):
    """Those of them that there are."""
    return [way for way in ways if way in WAYS]


class Failure(Exception):
    pass


class Place:
    """A directory for one test, with functions that run programs in it."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="bspz-capture-")
        os.chmod(self.directory, 0o755)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, program, *args, env=None, before=(), check=None, timeout=120, stdin=b""):
        command = [*before, os.path.join(BIN, program), *map(str, args)]
        whole = dict(os.environ, **(env or {}))
        done = subprocess.run(
            command, env=whole, cwd=self.directory, input=stdin, capture_output=True, timeout=timeout
        )
        if check is not None and done.returncode != check:
            raise Failure(
                f"{' '.join(command)} ended with {done.returncode}, not {check}\n"
                f"stdout: {done.stdout.decode(errors='replace')}\n"
                f"stderr: {done.stderr.decode(errors='replace')}"
            )
        return done

    def restore(self, program, images, *args, handover="", env=None, **options):
        if isinstance(images, str):
            images = [images]
        settings = {"CAPTURE_RESTORE": ":".join(images), "CAPTURE_HANDOVER": handover}
        settings.update(env or {})
        return self.run(program, *args, env=settings, **options)


def expect(condition, text):
    if not condition:
        raise Failure(text)


def main(tests):
    wanted = sys.argv[1:]
    failed = 0
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        try:
            with Place() as place:
                test(place)
            print(f"ok {test.__name__}", flush=True)
        except (Failure, subprocess.TimeoutExpired, OSError) as why:
            failed += 1
            print(f"FAILED {test.__name__}: {why}", flush=True)
    sys.exit(1 if failed else 0)
