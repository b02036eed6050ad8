"""The smallest program, linked in every way, is saved and goes on."""

from harness import SAVED, WAYS, NOT_RESTORED, expect, main


def every_way(place):
    for way in WAYS:
        image = place.path(way + ".img")
        saved = place.run(f"trivial_{way}", image, check=SAVED)
        expect(saved.stdout == b"", f"{way}: what was in a buffer came out: {saved.stdout}")
        for time in range(3):
            done = place.restore(f"trivial_{way}", image, handover=f"time {time}", check=0)
            wanted = f"before after 42 kept 6 time {time}\n".encode()
            expect(done.stdout == wanted, f"{way}: {done.stdout} instead of {wanted}")


def another_program(place):
    image = place.path("image")
    place.run("trivial_pie", image, check=SAVED)
    done = place.restore("trivial_nopie", image, check=NOT_RESTORED)
    expect(b"another program" in done.stderr, f"message is {done.stderr}")


def space_is_free(place):
    for way in WAYS:
        image = place.path(way + ".img")
        place.run(f"apart_{way}", image, check=SAVED)
        for other in ({}, {"CAPTURE_OTHER": "1"}):
            place.restore(f"apart_{way}", image, env=other, check=0)


main([every_way, another_program, space_is_free])
