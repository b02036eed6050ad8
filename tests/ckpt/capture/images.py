"""Increments; images and files that are not what they were are refused before anything is touched."""

import os
import random
import shutil
import subprocess
import time

from harness import BIN, NOT_RESTORED, SAVED, expect, main, of

LIFE = {"STATE_LIFE": "first", "STATE_OPENED": os.path.join(BIN, "libopened.so")}
FILES = ("written", "appended", "stream", "input")


def increments(place):
    paths = [place.path(name) for name in ("full", "first", "second")]
    place.run("increments_pie", *paths, check=SAVED)
    full, first, second = paths
    sizes = [os.path.getsize(path) for path in paths]
    for chain, said in (
        ([full], b"full\n"),
        ([first, full], b"first\n"),
        ([second, first, full], b"second\n"),
    ):
        done = place.restore("increments_pie", chain, check=0)
        expect(done.stdout == said, f"{chain}: {done.stdout}")
    for chain in ([second, full], [first], [second, first], [first, second]):
        done = place.restore("increments_pie", chain, check=NOT_RESTORED)
        expect(b"not restored: " in done.stderr, f"{chain}: {done.stderr}")
    expect(sizes[2] < sizes[1] <= sizes[0], f"increments are no smaller: {sizes}")


def advance(place, program, groups, **options):
    """Restores from the first list of images, and then goes on to those of the others in turn."""
    more = {"CAPTURE_MORE": "|".join(":".join(group) for group in groups[1:])}
    return place.restore(program, groups[0], env=more, **options)


def ahead(place):
    full, first, second = paths = [place.path(name) for name in ("full", "first", "second")]
    place.run("increments_pie", *paths, check=SAVED)
    for groups, said in (
        ([[full], [first]], b"first\n"),
        ([[full], [first], [second]], b"second\n"),
        ([[full], [second, first]], b"second\n"),
        ([[first, full], [second]], b"second\n"),
    ):
        done = advance(place, "increments_pie", groups, check=0)
        expect(done.stdout == said, f"{groups}: {done.stdout}")
    for groups in ([[full], [second]], [[full], [first], [first]], [[first, full], [full]]):
        done = advance(place, "increments_pie", groups, check=NOT_RESTORED)
        expect(b"not restored: " in done.stderr, f"{groups}: {done.stderr}")


def ahead_at_random(place):
    """Regions that come, go, grow, are divided and joined: images 0 to 5, in steps of any size.  What
    has changed is found by the kernel's record where it has one, and by hashes."""
    seed = time.time_ns() // 1000
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    paths = [place.path(f"image{i}") for i in range(6)]
    for way in of("pie", "static"):
        for turn in range(8):
            env = {"CAPTURE_UNTRACKED": "1"} if turn % 4 == 3 else {}
            place.run(f"advanced_{way}", seed + turn, *paths, env=env, check=SAVED)
            last = chance.randrange(1, len(paths))
            stops = sorted(chance.sample(range(last), chance.randrange(1, last + 1))) + [last]
            groups, before = [], -1
            for stop in stops:
                groups.append([paths[i] for i in range(stop, before, -1)])
                before = stop
            done = advance(place, f"advanced_{way}", groups, check=0)
            expect(done.stdout == b"image %d\n" % last, f"turn {turn}: {stops}: {done.stdout}")


def ahead_with_many_mappings(place):
    """The tables of a process that follows to the end of a chain."""
    paths = [place.path(f"image{i}") for i in range(16)]
    place.run("advanced_pie", 1, *paths, env={"ADVANCED_BESIDE": "1500"}, check=SAVED)
    done = advance(place, "advanced_pie", [[path] for path in paths], check=0)
    expect(done.stdout == b"image 15\n", f"{done.stdout}")


def many_mappings(place):
    """Of the 65530 that Linux permits, more than half."""
    paths = [place.path("full"), place.path("increment")]
    place.run("advanced_pie", 1, *paths, env={"ADVANCED_BESIDE": "22000"}, check=SAVED)
    done = place.restore("advanced_pie", paths[::-1], check=0)
    expect(done.stdout == b"image 1\n", f"{done.stdout}")


def start(place):
    image = place.path("image")
    place.run("state_pie", image, "last argument", env=LIFE, check=SAVED)
    return image


def lengths(place):
    return [os.path.getsize(place.path(name)) for name in FILES if os.path.exists(place.path(name))]


def refused(place, image, text):
    before = lengths(place)
    done = place.restore("state_pie", image, check=NOT_RESTORED)
    said = done.stderr.decode()
    expect(text in said and said.count("\n") == 1, f"{text!r} is not in {said!r}")
    expect(lengths(place) == before, f"{text}: files were touched")


def damaged(place):
    image = start(place)
    whole = open(image, "rb").read()
    bad = place.path("bad")
    for cut in (0, 7, 100, 4096, len(whole) // 2, len(whole) - 1):
        open(bad, "wb").write(whole[:cut])
        refused(place, bad, "not restored: ")
    for at in (0, 50, 330, len(whole) // 3, len(whole) // 2, len(whole) - 5):
        flipped = bytearray(whole)
        flipped[at] ^= 4
        open(bad, "wb").write(flipped)
        refused(place, bad, "not restored: ")
    place.restore("state_pie", image, check=0)


def files_gone(place):
    image = start(place)
    os.rename(place.path("written"), place.path("away"))
    refused(place, image, f"{place.path('written')}: it cannot be opened again")
    os.rename(place.path("away"), place.path("written"))
    longer = open(place.path("input"), "rb").read()
    os.truncate(place.path("input"), 3)
    refused(place, image, f"{place.path('input')}: it is shorter than it was")
    open(place.path("input"), "wb").write(longer)
    os.rename(place.path("input"), place.path("away"))
    os.mkdir(place.path("input"))
    refused(place, image, place.path("input"))
    os.rmdir(place.path("input"))
    os.rename(place.path("away"), place.path("input"))
    # What the program itself writes it may have cut.
    os.truncate(place.path("appended"), 3)
    place.restore("state_pie", image, check=0)
    length = os.path.getsize(place.path("appended"))
    expect(length == len("first\nagain\n"), f"appended has {length} bytes")


def files_up_to_the_limit(place):
    """With ulimit -n 1024, which leaves few numbers above those in use: an image is at 900."""
    limited = ["sh", "-c", 'ulimit -n 1024 && exec "$@"', "sh"]
    for way in of("pie", "static"):
        image = place.path(way)
        place.run(f"filled_{way}", image, before=limited, check=SAVED)
        place.restore(f"filled_{way}", image, before=limited, check=0)


def other_library(place):
    library = place.path("mine.so")
    shutil.copy(os.path.join(BIN, "libopened.so"), library)
    image = place.path("image")
    place.run(
        "state_pie", image, "last argument", env={**LIFE, "STATE_OPENED": library}, check=SAVED
    )
    os.remove(library)
    refused(place, image, f"{library}: it cannot be read")
    shutil.copy(os.path.join(BIN, "liblinked.so"), library)
    refused(place, image, f"{library}: it is not the file that the image was made with")
    os.remove(library)
    shutil.copy(os.path.join(BIN, "libopened.so"), library)
    place.restore("state_pie", image, check=0)


def confined(place):
    filter = os.path.join(BIN, "confined")
    for way in ("pie", "static"):
        image = place.path(way)
        place.run(f"state_{way}", image, "last argument", env=LIFE, check=SAVED, before=[filter])
        second = place.path(way + "2")
        place.restore(f"state_{way}", image, handover=second, check=SAVED, before=[filter])
        place.restore(f"state_{way}", second, check=0, before=[filter])
        for name in FILES:
            os.remove(place.path(name))
    place.run("frozen_pie", 3, check=0, before=[filter])


def large(place):
    for way in of("pie", "static"):
        image = place.path(way)
        place.run(f"large_{way}", image, check=SAVED)
        place.restore(f"large_{way}", image, check=0)


def restorer_moves(_place):
    """Code that is copied elsewhere must not refer to anything."""
    objects = os.path.join(BIN, "../../../ckpt/capture/libbspzcapture.a.p/restorer.c.o")
    sections = subprocess.run(
        ["readelf", "-SW", objects], capture_output=True, check=True
    ).stdout.decode()
    expect(" bspz_restorer " in sections, "the section of the restorer is missing")
    expect(".rela" + "bspz_restorer" not in sections, "the restorer refers to something")


main(
    [increments, ahead, ahead_at_random, ahead_with_many_mappings, many_mappings, damaged, files_gone,
     files_up_to_the_limit, other_library, large, restorer_moves]
    + ([confined] if os.path.exists(os.path.join(BIN, "confined")) else [])
)
