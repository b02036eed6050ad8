/* bspcc, bspcxx, bspc++, bspfront, bspf77, bspf90: compile and link BSPlib programs.
 *
 * A thin layer over the host's compilers that adds the headers, libbsp and what is needed to read
 * sources of the 1990s, and that understands the options of the Oxford BSP Toolset.  The name the
 * driver is called by chooses the language it links for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/bsp.h"
#include "lib/base/stdout.h"
#include "tools/bspcc/arguments.h"
#include "tools/bspcc/commands.h"
#include "tools/bspcc/layout.h"
#include "tools/bspcc/request.h"

static const char help_text[] =
    "usage: %s [OPTION]... FILE...\n"
    "Compiles and links BSPlib programs with the host's compilers.\n"
    "\n"
    "Language by suffix: C .c .lc, C++ .cc .cpp .cxx .c++ .C .lcc .lc++, Fortran .f .F .f90 .lf,\n"
    "assembler .s .S; .lc .lcc .lf are literate sources.  Other files go to the linker, options\n"
    "not listed here to the compiler (-c, -o FILE, -O2, -g, -Dname, -Idir, -llib, @FILE, ...).\n"
    "\n"
    "Fixed at link time, effective in the program:\n"
    "  -flibrary-level N        0 all checks (default); 1, 2 without those of collectives\n"
    "  -fcheck-syncs            all processes must call bsp_sync at the same line\n"
    "  -fwarn-bsp               warn about doubtful BSPlib calls when the program runs\n"
    "  -fcompat=oxford          behave as the Oxford toolset 1.4 where it differs\n"
    "  -prof -cgprof -stat      write PROF.bsp, also with call stacks; write STAT.bsp\n"
    "  -fcheckpointing S        take a snapshot every S seconds\n"
    "  -fprocessmigration S     recorded only: bsprun decides which processes move\n"
    "  -fshared-libbsp          link the shared library instead of the static one\n"
    "  -device NAME -shmemsysv -shmemwin32 -mpi -tcpip -udpip\n"
    "                           a name only, which BSP_DEVICE must match if it is set\n"
    "Compilers:\n"
    "  -overridecc CMD -overridec++ CMD -overridef77 CMD -overrideld CMD\n"
    "  -cflags F -c++flags F -f77flags F -ldflags F   additional options for one of them\n"
    "  -c++ -f77                link for C++, for Fortran\n"
    "Other options:\n"
    "  -v -debug                show the commands; also the options that bspcc adds\n"
    "  -keep                    keep intermediate files\n"
    "  -help -man -showlog      this text; the manual page; the version\n"
    "Accepted and without effect: -fcombine-puts, -fcombine-puts-buffer N, -fthrottle-procs,\n"
    "  -fcontention-resolve N, -ffixed-bsmp-buffers N, -finfinite-bsmp-buffers, -nof77munging,\n"
    "  -bspbuffer N and similar options\n"
    "Environment: BSPCC_CC, BSPCC_CXX, BSPCC_FC name the compilers, BSP_DEVICE the device.\n";

static void show_manual(const struct layout *layout, const char *command)
{
    static const char *const suffixes[] = {"", ".gz", ".bz2", ".xz", ".zst"}; /* of packages */

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char *page =
            format_text("%s/../share/man/man1/%s.1%s", layout->bindir, command, suffixes[i]);
        if (access(page, R_OK) == 0)
            execlp("man", "man", "-l", page, (char *)NULL);
    }
    printf(help_text, program_name);
}

int main(int argc, char **argv)
{
    struct arguments words = {0};
    struct request request;
    struct layout layout;

    if (argc > 0) {
        const char *slash = strrchr(argv[0], '/');
        program_name = slash != NULL ? slash + 1 : argv[0];
        arguments_expand(&words, argv + 1, (size_t)argc - 1);
    }
    request_parse(&request, program_name, &words);
    layout_find(&layout);

    if (request.help)
        printf(help_text, program_name);
    else if (request.log)
        printf("%s of bspzero %s\n", program_name, BSPZERO_VERSION);
    else if (request.manual)
        show_manual(&layout, request.mpi ? "bspmpicc" : "bspcc");
    if (request.help || request.log || request.manual)
        return bspz_stdout_flushed(program_name) ? 0 : 1;
    if (words.count == 0)
        fail("no input files; %s -help lists the options", program_name);
    if (request.debug)
        fprintf(stderr, "%s: headers %s, library %s, programs %s\n", program_name,
                layout.includedir, layout.libdir, layout.bindir);
    int status = carry_out(&request, &layout);
    return bspz_stdout_flushed(program_name) || status != 0 ? status : 1;
}
