"""Walks the tables of doc/process-attributes.md: each row is tried, through an image and through a frozen
copy, as whoever runs this, and as an ordinary user when that is root."""

import os
import re
import shutil

from harness import BIN, NOT_RESTORED, REFUSED, SAVED, WAYS, Failure, expect, main

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../doc/process-attributes.md")
IMPOSSIBLE = 77
OUTCOMES = {"restored": b"has it\n", "kept": b"has it\n", "lost": b"has it not\n"}
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# What any Linux and any user can do, so that a row is not passed over unnoticed.
EVERYBODY = """limits nice policy affinity io-priority timer-slack oom-score name umask directory
core-filter no-huge-pages subreaper memory-errors securebits no-new-privs personality time-stamps
locked-memory dumpable signal-mask pending-signals signal-actions signal-stack interval-timers posix-timers robust-list
tid-address threads children ended-children process-id session death-signal processor-time usage
record-locks file-locks file-owner advice""".split()


def rows():
    """{name: (from an image, in a frozen copy)} as the page says."""
    found = {}
    with open(PAGE) as page:
        for line in page:
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            name = re.fullmatch(r"`([a-z-]+)`", cells[0])
            if not line.startswith("| `"):
                continue
            expect(name and len(cells) == 4, f"a row that is none: {line}")
            expect(name[1] not in found, f"two rows for {name[1]}")
            found[name[1]] = (cells[2], cells[3])
    expect(len(found) > 50, "the page has no tables")
    return found


def lines_of(place, word):
    return place.run("attributes_pie", word, check=0).stdout.decode().split()


def table_is_complete(place):
    """Every row has its case, every case its row, and so has whatever the engine reads."""
    cases, table = lines_of(place, "list"), rows()
    expect(len(set(cases)) == len(cases), "two cases of one name")
    expect(set(cases) == set(table), f"not the same: {set(cases) ^ set(table)}")
    expect(set(lines_of(place, "known")) <= set(table), "the engine reads more than the page says")
    for name, (image, copy) in table.items():
        expect(re.fullmatch(r'restored|lost|refused ".+"', image), f"{name}: {image}")
        expect(copy in ("kept", "lost", "refused"), f"{name}: {copy}")
        expect(image.startswith("refused") == (copy == "refused"), f"{name}: refused once only")


def outcome(name, how, done, wanted):
    """Whether it could be tried."""
    said = done.stderr.decode(errors="replace")
    if done.returncode == IMPOSSIBLE:
        return False
    if wanted.startswith("refused"):
        expect(done.returncode == REFUSED and "refused: " in said,
               f"{name} {how}: status {done.returncode}, {said}")
        words = wanted[len("refused "):].strip('"')
        expect(words in said, f"{name} {how}: not {words!r} but {said}")
    else:
        expect(done.returncode == 0 and done.stdout == OUTCOMES[wanted],
               f"{name} {how}: not {wanted}: status {done.returncode}, {done.stdout} {said}")
    return True


def through_image(place, way, name, wanted, before):
    image = place.path("image")
    done = place.run(f"attributes_{way}", "image", name, image, before=before)
    if done.returncode == SAVED:
        done = place.restore(f"attributes_{way}", image, before=before)
    return outcome(name, "from an image", done, wanted)


def through_copy(place, way, name, wanted, before):
    done = place.run(f"attributes_{way}", "thaw", name, before=before)
    return outcome(name, "in a copy", done, wanted)


def each(place, way="pie", before=(), names=None, must=EVERYBODY):
    failures, passed_over = [], []
    for name, (image, copy) in rows().items():
        if names and name not in names:
            continue
        if copy == "refused":
            copy = image
        for try_it, wanted in ((through_image, image), (through_copy, copy)):
            directory = place.path("work")
            os.mkdir(directory)
            os.chmod(directory, 0o777)
            inside = type("Inside", (), {})()
            inside.__class__ = type(place)
            inside.directory = directory
            try:
                if not try_it(inside, way, name, wanted, before):
                    passed_over.append(name)
            except Failure as failure:
                failures.append(str(failure))
            shutil.rmtree(directory)
    passed_over = sorted(set(passed_over))
    print(f"# not possible here: {' '.join(passed_over) or 'nothing'}")
    missing = [name for name in passed_over if name in must]
    if "affinity" in missing and len(os.sched_getaffinity(0)) < 2:
        missing.remove("affinity")
    expect(not missing, f"could not be tried, but can be everywhere: {missing}")
    expect(not failures, "\n  ".join(failures))


def as_it_is(place):
    each(place)


def static(place):
    if "static" in WAYS:
        each(place, "static", names=["limits", "policy", "dumpable", "personality", "seccomp"])


def as_an_ordinary_user(place):
    if os.geteuid() == 0 and shutil.which(NOBODY[0]):
        each(place, before=NOBODY)


def confined(place):
    """In a container, whose filter is everybody's."""
    if os.path.exists(os.path.join(BIN, "confined")):
        each(place, before=[os.path.join(BIN, "confined")])


main([table_is_complete, as_it_is, static, as_an_ordinary_user, confined])
