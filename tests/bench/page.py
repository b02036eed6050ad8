"""The page doc/performance.md and its picture, from the rows of tests/bench/run."""
import html
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent / "economics/simulated"))
import picture  # noqa: E402

PEERS = {"bspzero": "bspzero", "openmpi": "Open MPI", "mpich": "MPICH"}
BYTES = {"words": 8, "gets": 8, "block": 1, "message": 16}  # of one unit of a line's size
DRAWN = ["words.consecutive", "words.scattered", "gets.rows", "block.put", "block.hpput", "message.move"]
TOP = 4  # times faster; what is beyond is drawn at the edge
TICKS = [(8, "8 B"), (1 << 10, "1 KiB"), (1 << 15, "32 KiB"), (1 << 20, "1 MiB"), (1 << 25, "32 MiB")]

INTRODUCTION = """# Performance

What one superstep costs, for bspzero and for hand-written MPI programs that do the same exchange on the same
machine. `tests/bench/run --doc doc` measures and writes this page; `tests/bench/README.md` explains each line, the
forms of the MPI programs, and what to consider when figures are compared. MPI columns show the fastest form. Peers take
part if they are installed.
"""

LOADED = """**This was measured while other programs were running: the figures are distorted, in particular those of the shorter
supersteps, and are not to be quoted. Measure on an idle machine.**
"""

ENDING = """## On your machine

    meson compile -C build
    tests/bench/run --build build                # a quarter of an hour; prints the tables
    tests/bench/run --build build --doc doc      # the same, and this page

A number before the brackets is the median of all repetitions, the one in brackets the best. `~`: they lie more than
30 % apart, which usually means that something else was running. `!`: measured too rarely. *Times* says how many times faster
bspzero is than the better MPI. *Limit* is what the machine does without any library: `memcpy`, words copied one
by one, or a hand-off between two cores.
"""


OTHERS_MOST = 0.05  # share of the processors that other programs may have had meanwhile


def is_loaded(about):
    return about["load"] > 0.3 * about["cores"] or about.get("others", 0) > OTHERS_MOST


def load_text(about):
    before = f"load average {about['load']:.1f} at the start"
    return before + (f", {100 * about['others']:.1f} % of the processors afterwards" if "others" in about else "")


def header(about, settings, missing):
    day = time.strftime("%Y-%m-%d", time.gmtime(about["time"]))
    facts = [("machine", f"{about['cpu']}, {about['cores']} cores" + (", virtual" if about.get("virtual") else "")),
             ("system", f"Linux {about['kernel']}"),
             ("other programs", load_text(about)),
             ("measured", f"{day}, {settings['rounds']} rounds of {settings['reps']} repetitions"),
             ("versions", ", ".join(f"{PEERS[peer]} {version}" for peer, version in about["versions"].items()))]
    if missing:
        facts.append(("left out", ", ".join(PEERS.get(peer, peer) for peer in missing)))
    lines = ["| | |", "|---|---|"] + [f"| {name} | {value} |" for name, value in facts] + [""]
    return lines + ([LOADED] if is_loaded(about) else [])


def table(rows, procs, cell, size_name, number):
    peers = [peer for peer in PEERS if any(peer in row["peers"] for row in rows)]
    lines = ["| Line | Size | Unit | " + " | ".join(PEERS[peer] for peer in peers) + " | Times | Limit |",
             "|---|---|---|" + "---|" * (len(peers) + 2)]
    for row in (row for row in rows if row["procs"] == procs):
        times = row.get("times_faster")
        lines.append(f"| {row['line']} | {size_name(row['line'], row['size'])} | {row['unit']} | " +
                     " | ".join(cell(row, peer) for peer in peers) +
                     f" | {f'{times:.2f}' if times else '-'} | {number(row.get('limit'))} |")
    return lines


def panels(rows):
    found = []
    for procs in sorted({row["procs"] for row in rows}):
        lines = {}
        for row in rows:
            if row["procs"] == procs and row["line"] in DRAWN and row.get("times_faster"):
                size = row["size"] * BYTES[row["line"].split(".")[0]]
                lines.setdefault(row["line"], []).append((size, row["times_faster"]))
        if lines:
            found.append(picture.Panel(html.escape(f"{procs} processes: times faster than the better MPI"),
                                       "bytes out of and into a process", lines, TOP, TICKS))
            found[-1].names_at = picture.TOP + 14
    return found


def write(directory, about, settings, rows, missing, cell, size_name, number):
    """Writes performance.md, and performance.svg where there is an MPI to compare with."""
    drawn = panels(rows)
    text = [INTRODUCTION, *header(about, settings, missing)]
    if drawn:
        picture.write(str(directory / "performance.svg"), drawn)
        text += ["![times faster than the better MPI, by size](performance.svg)", "",
                 f"Above 1 bspzero is faster; what is above {TOP} is drawn at the edge.", ""]
    for procs in sorted({row["procs"] for row in rows}):
        text += [f"## {procs} processes", ""]
        if procs > about["cores"]:
            text += ["More processes than cores: they take turns, and are not bound.", ""]
        text += table(rows, procs, cell, size_name, number) + [""]
    (directory / "performance.md").write_text("\n".join(text) + "\n" + ENDING, encoding="utf-8")
