"""Frozen copies are thawed, again and again from one snapshot."""

from harness import SAVED, WAYS, expect, main, of


def lives(place):
    for way in WAYS:
        done = place.run(f"frozen_{way}", 5, check=0)
        expect(done.stdout == b"5 lives\n", f"{way}: {done.stdout} {done.stderr}")


def changed_flags(place):
    """A copy that would lack memory is given up; what was in it is in the next image."""
    for way in of("pie", "static"):
        image = place.path(way)
        place.run(f"stale_{way}", image, check=SAVED)
        place.restore(f"stale_{way}", image, check=0)


main([lives, changed_flags])
