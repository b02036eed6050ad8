"""Programs and libraries that are not where they were: copies by build id take their place."""

import os
import shutil

from harness import BIN, NOT_RESTORED, SAVED, WAYS, expect, main


def lend(place, *names):
    """A directory with copies of programs, which can be taken away again."""
    directory = place.path("lent")
    os.makedirs(directory, exist_ok=True)
    for name in names:
        shutil.copy2(os.path.join(BIN, name), directory)
    return directory


def keep(place, what, image, *root):
    return place.run("keep", what, image, *root, check=0).stdout.decode().split("\n")[:-1]


def program_is_gone(place):
    for way in WAYS:
        image, root = place.path(way + ".img"), place.path("root-" + way)
        program = os.path.join(lend(place, f"trivial_{way}"), f"trivial_{way}")
        place.run(program, image, check=SAVED)
        keep(place, "copy", image, root)
        os.unlink(program)
        gone = [line for line in keep(place, "list", image) if line.startswith("gone")]
        expect(gone == [f"gone {program}"], f"{way}: gone are {gone}")
        kept = [
            os.path.join(root, "binaries", name)
            for name in os.listdir(os.path.join(root, "binaries"))
        ]
        size = os.path.getsize(os.path.join(BIN, f"trivial_{way}"))
        copy = [path for path in kept if os.path.getsize(path) == size][0]
        place.restore(copy, image, check=NOT_RESTORED)
        env = {"CAPTURE_BINARIES": os.path.join(root, "binaries")}
        done = place.restore(copy, image, env=env, check=0)
        expect(done.stdout.startswith(b"before after 42"), f"{way}: {done.stdout}")


def another_program_is_there(place):
    image, root = place.path("image"), place.path("root")
    program = os.path.join(lend(place, "trivial_pie"), "trivial_pie")
    place.run(program, image, check=SAVED)
    keep(place, "copy", image, root)
    shutil.copy2(os.path.join(BIN, "apart_pie"), program)
    env = {"CAPTURE_BINARIES": os.path.join(root, "binaries")}
    done = place.restore(os.path.join(BIN, "trivial_pie"), image, env=env, check=0)
    expect(done.stdout.startswith(b"before after 42"), f"{done.stdout}")
    place.restore(os.path.join(BIN, "trivial_pie"), image, check=NOT_RESTORED)


def copy_is_damaged(place):
    """A wrong copy is not taken; one that was cut later is not used."""
    image, root = place.path("image"), place.path("root")
    program = os.path.join(lend(place, "trivial_pie"), "trivial_pie")
    place.run(program, image, check=SAVED)
    keep(place, "wrong", image, root)
    keep(place, "copy", image, root)
    os.unlink(program)
    directory = os.path.join(root, "binaries")
    for name in os.listdir(directory):
        os.truncate(os.path.join(directory, name), 8192)
    done = place.restore(
        os.path.join(BIN, "trivial_pie"), image, env={"CAPTURE_BINARIES": directory}, check=NOT_RESTORED
    )
    expect(program.encode() in done.stderr, f"message is {done.stderr}")


def library_is_gone(place):
    if "pie" not in WAYS:
        return
    image, root = place.path("image"), place.path("root")
    directory = lend(place, "liblinked.so")
    env = {"LD_PRELOAD": os.path.join(directory, "liblinked.so")}
    place.run("trivial_pie", image, env=env, check=SAVED)
    keep(place, "copy", image, root)
    os.unlink(os.path.join(directory, "liblinked.so"))
    place.restore("trivial_pie", image, check=NOT_RESTORED)
    binaries = os.path.join(root, "binaries")
    done = place.restore("trivial_pie", image, env={"CAPTURE_BINARIES": binaries}, check=0)
    expect(done.stdout.startswith(b"before after 42"), f"{done.stdout}")
    links = keep(place, "link", image, root)[0]
    expect(os.listdir(links) == ["liblinked.so"], f"{links} has {os.listdir(links)}")
    expect(os.path.exists(os.path.join(links, "liblinked.so")), "the link leads nowhere")


def directory_is_gone(place):
    """Only a process made beside the saved one may do without its directory."""
    if "pie" not in WAYS:
        return
    image, directory = place.path("image"), place.path("directory")
    os.mkdir(directory)
    before = ("env", "-C", directory)
    place.run("trivial_pie", image, before=before, check=SAVED)
    os.rmdir(directory)
    done = place.restore("trivial_pie", image, check=NOT_RESTORED)
    expect(directory.encode() in done.stderr, f"message is {done.stderr}")
    done = place.restore("trivial_pie", image, env={"CAPTURE_ELSEWHERE": "1"}, check=0)
    expect(done.stdout.startswith(b"before after 42"), f"{done.stdout}")


main([directory_is_gone, program_is_gone, another_program_is_there, copy_is_damaged, library_is_gone])
