"""What the tests rely on when they wait: the program lasts, and a job that has ended is noticed."""
from harness import *


def a_job_that_ends_ends_the_wait():
    """With what the job said, long before the patience is over."""
    with Place() as place:
        job = place.ticker(2, 3, "-x", 7, options=("--every", "1000"))
        start = time.monotonic()
        try:
            place.wait_committed(1)
        except Failed as failure:
            check("waited in vain" not in str(failure) and "process 0 ends with" in str(failure),
                  "what has ended is not shown:", failure)
        else:
            raise Failed("there is a snapshot that nobody asked for")
        check(time.monotonic() - start < PATIENCE / 2, "waited for a job that has ended")
        job.wait(7)


def as_long_as_wanted():
    """More supersteps than there are numbers in the file that the ticker reads; a snapshot behind
    its end is gone back to."""
    words = (5010,)
    reference = Reference.of(2, *words)
    with Place() as place:
        place.hold(0, 5005)
        job = place.ticker(2, *words, options=("--every", "5003"))
        rank = place.wait_executed(0, 5005)
        place.wait_committed(5003)
        place.kill(rank)
        place.release(0, 5005)
        job.check_all(reference)
        place.check_files(reference)
        place.check_clean()


if __name__ == "__main__":
    main([a_job_that_ends_ends_the_wait, as_long_as_wanted])
