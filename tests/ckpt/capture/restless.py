"""Images of memory that the kernel or another process changes meanwhile can be restored."""

from harness import SAVED, WAYS, main


def every_way(place, what):
    for way in WAYS:
        for how in ("at-once", "forked"):
            image = place.path(f"{way}.{how}")
            place.run(f"restless_{way}", what, how, image, check=SAVED)
            place.restore(f"restless_{way}", image, check=0)


def from_core_to_core(place):
    every_way(place, "cores")


def a_child_that_writes(place):
    every_way(place, "child")


def memory_that_is_taken(place):
    """A forked writer is left out, since madvise takes no pages that another process has, too."""
    for way in WAYS:
        image = place.path(way)
        place.run(f"restless_{way}", "freed", "at-once", image, check=SAVED)
        place.restore(f"restless_{way}", image, check=0)


main([from_core_to_core, a_child_that_writes, memory_that_is_taken])
