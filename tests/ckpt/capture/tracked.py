"""Pages that have not been written to since the base was written are not looked at, where the kernel
records that; whatever happens between, the increment is right."""

from harness import SAVED, expect, main, of

# KiB, of 32768; four pages are written to.  A look by a translation that the processor still has is not counted,
# which may be thousands of pages.
NEARLY_ALL, FEW = 16000, 64


def looked_at(place, way, case, **env):
    full, increment = place.path("full"), place.path("increment")
    done = place.run(f"tracked_{way}", case, full, increment, env=env, check=SAVED)
    place.restore(f"tracked_{way}", [increment, full], check=0)
    said = done.stdout.decode().strip()
    return None if said == "not permitted" else int(said)


def only_what_was_written(place):
    for way in of("pie", "static"):
        for case in ("plain", "forked"):
            kib = looked_at(place, way, case)
            expect(kib is None or kib <= FEW, f"{way}, {case}: {kib} KiB were looked at")


def all_where_it_is_not_recorded(place):
    for case in ("plain", "forked"):
        kib = looked_at(place, "pie", case, CAPTURE_UNTRACKED="1")
        expect(kib is None or kib >= NEARLY_ALL, f"{case}: {kib} KiB were looked at")


def all_where_the_record_is_of_another_base(place):
    kib = looked_at(place, "pie", "failed")
    expect(kib is None or kib >= NEARLY_ALL, f"{kib} KiB were looked at")


def all_without_the_descriptor(place):
    for case in ("closed", "left"):
        kib = looked_at(place, "pie", case)
        expect(kib is None or kib >= NEARLY_ALL, f"{case}: {kib} KiB were looked at")


def after_one_without_the_record(place):
    """The image of a process alone uses none; the kernel's goes on."""
    kib = looked_at(place, "pie", "alone")
    expect(kib is None or kib <= FEW, f"{kib} KiB were looked at")


main(
    [
        only_what_was_written,
        all_where_it_is_not_recorded,
        all_where_the_record_is_of_another_base,
        all_without_the_descriptor,
        after_one_without_the_record,
    ]
)
