"""What cannot be captured is refused by name; the user's rules make exceptions."""

import os

from harness import BIN, expect, main

TEXTS = {
    "nothing": "possible",
    "thread": "the process has 2 threads",
    "timer": "POSIX timer",
    "socket": "descriptor 3 is socket:[",
    "pipe": "descriptor 3 is pipe:[",
    "epoll": "descriptor 3 is anon_inode:[eventpoll]",
    "eventfd": "descriptor 3 is anon_inode:[eventfd]",
    "inotify": "descriptor 3 is anon_inode:inotify",
    "timerfd": "descriptor 3 is anon_inode:[timerfd]",
    "deleted": "some file (deleted), whose file has been deleted",
    "replaced": "elsewhere (deleted), whose file has been deleted",
    "lock": "some file, which holds a lock",
    "flock": "some file, which holds a lock",
    "segment": "(/SYSV00000000) is memory shared with others",
    "memfd": "(/memfd:mine) is memory shared with others",
    "sharedfile": "is a file mapped shared and writable",
    "directory": "the current directory has been removed",
}


def answer(place, *arguments):
    return place.run("refused_pie", *arguments, check=0).stdout.decode().strip()


def each_by_name(place):
    for kind, text in TEXTS.items():
        said = answer(place, kind)
        expect(text in said, f"{kind}: {said}")
        expect("\n" not in said and len(said) < 500, f"{kind}: not one line: {said}")


def exceptions(place):
    for kind, rule in (
        ("socket", "fd:3"),
        ("pipe", "path:pipe:*"),
        ("deleted", "path:*/some file*"),
        ("memfd", "path:/memfd:min?"),
        ("sharedfile", "path:*some file"),
    ):
        expect(answer(place, kind, rule) == "possible", f"{kind} in spite of {rule}")
    for kind, rule in (("socket", "fd:4"), ("memfd", "path:/memfd:other"), ("pipe", "fd:3")):
        expect(answer(place, kind, rule) != "possible", f"{kind} though {rule} does not name all")


def sanitizer(place):
    said = place.run("refused_asan", "nothing", check=0).stdout.decode()
    expect("the program was compiled with AddressSanitizer" in said, said)


main(
    [each_by_name, exceptions]
    + ([sanitizer] if os.path.exists(os.path.join(BIN, "refused_asan")) else [])
)
