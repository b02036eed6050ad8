"""Blocked signals that wait at a snapshot wait in the process that goes on and in the restored one."""

import os

from harness import BIN, REFUSED, SAVED, WAYS, expect, main

MANY = 9000


def each_way(place):
    for way in WAYS:
        for env in ({}, {"STATE_FORKED": "1"}):
            image = place.path(f"{way}{len(env)}")
            done = place.run(f"pending_{way}", image, env=env, check=SAVED)
            expect(done.stdout == b"all of them\n", f"{way}: {done.stdout}")
            done = place.restore(f"pending_{way}", image, check=0)
            expect(done.stdout == b"all of them\n", f"{way}, restored: {done.stdout}")


def confined(place):
    before = [os.path.join(BIN, "confined")]
    place.run("pending_pie", place.path("image"), check=SAVED, before=before)
    place.restore("pending_pie", place.path("image"), check=0, before=before)


def too_many(place):
    """Refused by name, unless this user may not even send so many."""
    done = place.run("pending_pie", place.path("image"), MANY)
    if done.returncode == 77:
        print("no limit of pending signals that is high enough here")
        return
    expect(done.returncode == REFUSED and b"signals are pending" in done.stderr, f"{done}")


main([each_way, too_many] + ([confined] if os.path.exists(os.path.join(BIN, "confined")) else []))
