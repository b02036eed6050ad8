"""Files that several processes have open together are that again, however each comes back."""

import os

from harness import BIN, WAYS, expect, main

LIVES = ["0", "02", "012", "1", "", "n012"]


def every_mixture(place):
    for way in WAYS:
        done = place.run(f"shared_{way}", *LIVES, check=0)
        expect(done.stdout == b"7 lives\n", f"{way}: {done.stdout} {done.stderr}")


def confined(place):
    done = place.run("shared_pie", *LIVES, check=0, before=[os.path.join(BIN, "confined")])
    expect(done.stdout == b"7 lives\n", f"{done.stdout} {done.stderr}")


main([every_mixture] + ([confined] if os.path.exists(os.path.join(BIN, "confined")) else []))
