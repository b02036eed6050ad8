# Spack recipe: not yet in Spack's own repository.  Without a published archive it builds a checkout:
#
#     spack repo add CHECKOUT/packaging/spack
#     spack dev-build -d CHECKOUT bspzero@0.2.0
import os

from spack.package import *


class Bspzero(MesonPackage):
    """BSPlib for Linux: bulk synchronous parallel programs in C, C++ and Fortran, old ones unchanged,
    restarted from snapshots when a process or a host is lost."""

    license("Apache-2.0", checked_by="the authors")

    version("0.2.0")

    variant("simgrid", default=False, description="bspsim replays profiles on simulated machines")

    depends_on("c", type="build")
    depends_on("meson@1.0.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libuv@1.44:")
    depends_on("libsodium@1.0.18:")
    depends_on("msgpack-c@4.0:")
    depends_on("hwloc@2.0:")
    depends_on("popt")
    depends_on("json-c@0.14:")
    depends_on("ncurses@6:")
    depends_on("lz4@1.9: libs=static")
    depends_on("xxhash@0.8:")
    depends_on("simgrid", when="+simgrid")

    requires("platform=linux")
    requires("target=x86_64:", msg="processes are restored on x86-64 only")

    def meson_args(self):
        return ["-Dtests=disabled"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """Builds an example with the installed bspcc and runs it."""
        make = which("make")
        with working_dir("spack-check", create=True):
            with_path = {"PATH": f"{self.prefix.bin}:{os.environ['PATH']}"}
            makefile = self.prefix.share.doc.bspzero.examples.Makefile
            make("-f", makefile, "check", extra_env=with_path)
