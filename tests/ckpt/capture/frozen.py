"""Frozen copies are thawed, again and again from one snapshot."""

from harness import SAVED, WAYS, expect, main, of


def lives(place):
    for way in WAYS:
        done = place.run(f"frozen_{way}", 5, check=0)
        expect(done.stdout == b"5 lives\n", f"{way}: {done.stdout} {done.stderr}")


def changed_flags(place):
    """A copy that would lack memory is given up; what was in it is in the next image.  Locks, which a
    copy never has, are those at each image."""
    for way in of("pie", "static"):
        images = [place.path(way + when) for when in ("locked", "later")]
        place.run(f"stale_{way}", *images, check=SAVED)
        for image in images:
            place.restore(f"stale_{way}", image, check=0)


def guessed_flags(place):
    """The process writes its image by itself, and once more if flags were not what they were before."""
    for way in of("pie", "static"):
        for case, attempts in (("same", 1), ("changed", 2), ("new", 1)):
            full, increment = place.path("full"), place.path("increment")
            done = place.run(f"guessed_{way}", case, full, increment, env={"CAPTURE_GUESS": "1"}, check=SAVED)
            expect(int(done.stdout) == attempts, f"{way}, {case}: written {done.stdout} times")
            place.restore(f"guessed_{way}", [increment, full], check=0)


main([lives, changed_flags, guessed_flags])
