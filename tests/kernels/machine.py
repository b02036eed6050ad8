"""Machines with a kernel of Debian's, emulated by qemu: how one is made, started and read.

A machine has no file system but memory.  It starts from an archive with busybox and tar, takes a
tree of this machine's files from one disk and puts its results onto another (init).
"""
import glob
import lzma
import os
import shutil
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BUSYBOX, TAR, QEMU = "/bin/busybox", "/usr/bin/tar", "qemu-system-x86_64"
MODULES = ["virtio_pci", "virtio_blk"]
RESULTS_BYTES = 1 << 30  # of a disk with holes
PATIENCE = 1500  # seconds; one or two hundred are normal


class Failed(Exception):
    pass


# ---- Kernels -------------------------------------------------------------------------------------

def fetch_kernels(packages, directory):
    """Has Debian's packages unpacked in a directory.  They are not installed: nobody starts this
    machine with them."""
    for package in packages:
        place = os.path.join(directory, package)
        if os.path.exists(os.path.join(place, "complete")):
            continue
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        # A package of this name has no contents; it depends on the newest kernel of its kind.
        depends = output("apt-cache", "depends", "--important", package)
        names = [line.split()[1] for line in depends.splitlines() if "Depends: linux-image" in line]
        if not names:
            raise Failed(f"there is no package {package}")
        output("apt-get", "-q", "download", names[0], cwd=place)
        for archive in glob.glob(os.path.join(place, "*.deb")):
            output("dpkg", "-x", archive, place)
            os.unlink(archive)
        open(os.path.join(place, "complete"), "w").close()


def output(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: {done.stdout[-1000:]}")
    return done.stdout


class Kernel:
    def __init__(self, root):
        self.image, = glob.glob(os.path.join(root, "boot", "vmlinuz-*"))
        self.release = os.path.basename(self.image).partition("-")[2]
        self.files = {}
        for directory, _, names in os.walk(os.path.join(root, "lib", "modules", self.release)):
            for name in names:
                module = name.partition(".ko")[0]
                if module != name:
                    self.files[module.replace("-", "_")] = os.path.join(directory, name)

    def modules(self):
        """[(name, contents)] in the order to load them; what is not there is built in."""
        order = {}

        def add(name):
            if name in order or name not in self.files:
                return
            opened = lzma.open if self.files[name].endswith(".xz") else open
            with opened(self.files[name], "rb") as file:
                contents = file.read()
            needs = contents.partition(b"\0depends=")[2].partition(b"\0")[0].decode()
            for need in filter(None, needs.split(",")):
                add(need.replace("-", "_"))
            order[name] = contents

        for name in MODULES:
            add(name)
        return list(order.items())


# ---- What goes in --------------------------------------------------------------------------------

def with_links(path):
    """A path's real one, and every symbolic link on the way to it."""
    found, done, parts = [], "", [part for part in path.split("/") if part]
    while parts:
        done = os.path.normpath(done + "/" + parts.pop(0))
        if os.path.islink(done):
            found.append(done)
            target = os.path.normpath(os.path.join(os.path.dirname(done), os.readlink(done)))
            parts, done = [part for part in target.split("/") if part] + parts, ""
    return [*found, done]


def with_libraries(*programs):
    """Files that are needed to run programs, links on the way included."""
    paths = set()
    for program in programs:
        paths.update(with_links(program))
        listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True).stdout
        for word in listed.split():
            if word.startswith("/"):
                paths.update(with_links(word))
    return sorted(paths)


def entry(name, mode, contents):
    """A member of an archive that a kernel unpacks (cpio, format newc)."""
    encoded = name.lstrip("/").encode() + b"\0"
    fields = [0, mode, 0, 0, 1, 0, len(contents), 0, 0, 0, 0, len(encoded), 0]
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return (header + bytes(-len(header) % 4) + contents + bytes(-len(contents) % 4))


def archive(paths, extra):
    """Files of this machine, and [(name, mode, contents)] of no machine; directories as they come."""
    members, directories = [], set()
    for path in paths:
        if os.path.islink(path):
            members.append((path, stat.S_IFLNK | 0o777, os.readlink(path).encode()))
        else:
            with open(path, "rb") as file:
                members.append((path, stat.S_IFREG | 0o755, file.read()))
    members += [(name, stat.S_IFREG | mode, contents) for name, mode, contents in extra]
    packed = []
    for name, mode, contents in members:
        parts = name.strip("/").split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            directory = "/".join(parts[:depth])
            if directory not in directories:
                directories.add(directory)
                packed.append(entry(directory, stat.S_IFDIR | 0o755, b""))
        packed.append(entry(name, mode, contents))
    packed.append(entry("TRAILER!!!", 0, b""))
    return b"".join(packed)


def read(*names):
    with open(os.path.join(*names), "rb") as file:
        return file.read()


# ---- A machine -----------------------------------------------------------------------------------

def run(kernel, processor, directory, paths, task, results):
    """Starts a machine with files of this one, does a task there (lines for a shell), and brings
    the results' paths back, in place of what is there now.  directory: for its disks and console."""
    os.makedirs(directory)
    place = lambda name: os.path.join(directory, name)
    with open(place("start"), "wb") as file:
        file.write(archive(with_libraries(BUSYBOX, TAR),
                           [("kernels/busybox", 0o755, read(BUSYBOX)),
                            ("kernels/init", 0o755, read(HERE, "init")),
                            ("kernels/task", 0o644, task.encode()),
                            ("kernels/results", 0o644, "".join(
                                path.lstrip("/") + "\n" for path in results).encode()),
                            *((f"kernels/modules/{number:02}-{name}.ko", 0o644, contents)
                              for number, (name, contents) in enumerate(kernel.modules()))]))
    with open(place("list"), "w") as file:
        file.writelines(path.lstrip("/") + "\n" for path in paths)
    output(TAR, "-c", "--format=posix", "-C", "/", "-f", place("disk.in"), "-T", place("list"))
    with open(place("disk.out"), "wb") as file:
        file.truncate(RESULTS_BYTES)
    boot(kernel, processor, place)
    bring_back(place, results)


def boot(kernel, processor, place):
    command = [QEMU, "-accel", "tcg", "-cpu", processor, "-smp", "2", "-m", "1024", "-nodefaults",
               "-no-user-config", "-no-reboot", "-display", "none", "-serial",
               "file:" + place("console"), "-kernel", kernel.image, "-initrd", place("start"),
               # No XSAVEC for the kernel: the processor only claims to have it.
               "-append", "console=ttyS0 quiet panic=-1 mitigations=off clearcpuid=xsavec "
               "rdinit=/kernels/init"]
    for name in ("disk.in", "disk.out"):
        command += ["-drive", f"if=virtio,format=raw,cache=unsafe,file={place(name)}"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Failed(f"{kernel.release} did not come to its end:\n{console(place)}") from None
    if f"{kernel.release} is done" not in console(place):
        raise Failed(f"{kernel.release} has not done its task: {done.stdout[-300:]}\n{console(place)}")


def console(place):
    try:
        return read(place("console")).decode(errors="replace")[-1500:]
    except FileNotFoundError:
        return ""


def bring_back(place, results):
    for path in results:
        if os.path.isdir(path):
            shutil.rmtree(path)
    output(TAR, "-x", "-p", "--no-same-owner", "-C", "/", "-f", place("disk.out"))
    os.unlink(place("disk.out"))
    os.unlink(place("disk.in"))
