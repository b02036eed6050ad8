"""Frozen copies are thawed, again and again from one snapshot."""

from harness import WAYS, expect, main


def lives(place):
    for way in WAYS:
        done = place.run(f"frozen_{way}", 5, check=0)
        expect(done.stdout == b"5 lives\n", f"{way}: {done.stdout} {done.stderr}")


main([lives])
