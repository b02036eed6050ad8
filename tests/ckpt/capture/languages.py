"""Programs in C++ and Fortran."""

from harness import SAVED, expect, main


def cxx(place):
    for way in ("pie", "static"):
        images = [place.path(f"{way}.{n}") for n in range(3)]
        place.run(f"cxx_{way}", images[0], check=SAVED)
        place.restore(f"cxx_{way}", images[0], handover=images[1], check=SAVED)
        place.restore(f"cxx_{way}", images[1], handover=images[2], check=SAVED)
        done = place.restore(f"cxx_{way}", images[2], check=0)
        expect(done.stdout == b"00ff fe\n", f"{way}: printed {done.stdout}")
        text = open(place.path("cxx stream")).read()
        expect(text == "one\ntwo, not flushed three", f"{way}: the stream is {text!r}")


def fortran(place):
    image = place.path("image")
    saved = place.run("fortran", image, check=SAVED)
    done = place.restore("fortran", image, check=0)
    # libgfortran may write a line without an end at once or later, but once.
    printed = saved.stdout + done.stdout
    expect(printed == b"printed and printed\n", f"printed {printed}")
    text = open(place.path("formatted")).read()
    expect(text == "first line\nsecond line\n", f"the formatted file is {text!r}")
    expect(len(open(place.path("stream"), "rb").read()) == 12, "the stream file has another length")


main([cxx, fortran])
