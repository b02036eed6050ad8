"""Every kind of state, in programs linked in every way, through restores and chains of them."""

import os
import subprocess

from harness import BIN, SAVED, WAYS, Failure, expect, main, of

ARGUMENTS = ["-x", "last argument"]
LIFE = {"STATE_LIFE": "first", "STATE_OPENED": os.path.join(BIN, "libopened.so")}
OTHER_LIFE = {"STATE_LIFE": "second " * 500, "ANOTHER": "x" * 3000}


def start(place, way, image, env=None, before=()):
    place.run(
        f"state_{way}", image, *ARGUMENTS, env={**LIFE, **(env or {})}, check=SAVED, before=before
    )


def chain(place, way, hops, env=None, before=(), **more):
    """Saved, restored and saved again, `hops` times, with other arguments than at first."""
    image = place.path(f"{way}.0")
    start(place, way, image, env, before)
    for hop in range(1, hops + 1):
        last = hop == hops
        following = "" if last else place.path(f"{way}.{hop}")
        done = place.restore(
            f"state_{way}",
            image,
            *["other"] * (hop * 40 % 300),
            handover=following,
            env={**OTHER_LIFE, **more},
            check=0 if last else SAVED,
            before=before,
        )
        if last:
            expect(done.stdout == b"all of it\n", f"printed {done.stdout}")
        os.remove(image)
        image = following
    lines = "".join(f"line {n}\n" if n != 1 else "line 1, in the buffer\n" for n in range(hops + 2))
    expect(open(place.path("stream")).read() == lines, "the stream's lines are not as undisturbed")
    appended = "first\n" + "again\n" * hops
    expect(open(place.path("appended")).read() == appended, "appended is not as undisturbed")


def clear(place):
    for name in ("written", "appended", "stream", "input"):
        if os.path.exists(place.path(name)):
            os.remove(place.path(name))


def once_in_every_way(place):
    for way in WAYS:
        chain(place, way, 1)
        clear(place)


def thirty_times(place):
    chain(place, "pie", 30)


def thirty_times_static(place):
    chain(place, "static", 30)


def by_forked_writer(place):
    for way in ("pie", "static"):
        chain(place, way, 3, env={"STATE_FORKED": "1"})
        clear(place)


def on_another_kernel(place):
    for way in of("pie", "staticpie"):
        chain(place, way, 4, CAPTURE_OTHER="1")
        clear(place)


def there_and_back(place):
    """Kernels alternate: stand-ins are made from stand-ins, then there is the living page again."""
    image = place.path("0")
    start(place, "pie", image)
    for hop in range(1, 7):
        following = "" if hop == 6 else place.path(str(hop))
        other = {"CAPTURE_OTHER": "1"} if hop % 2 else {}
        place.restore(
            "state_pie", image, handover=following, env=other, check=0 if hop == 6 else SAVED
        )
        image = following


def without_privileges(place):
    if os.getuid() != 0:
        chain(place, "pie", 2)
        return
    os.chmod(place.directory, 0o777)
    before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    before += ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    if subprocess.run([*before, "test", "-x", os.path.join(BIN, "state_pie")]).returncode != 0:
        raise Failure("the programs of the tests cannot be reached by nobody")
    chain(place, "pie", 3, before=before)


main(
    [
        once_in_every_way,
        thirty_times,
        thirty_times_static,
        by_forked_writer,
        on_another_kernel,
        there_and_back,
        without_privileges,
    ]
)
