"""Tables and pictures of what `run` has measured."""
import os

import picture

BEGIN, END = "<!-- tests/bench/replicas/run --doc writes what follows -->", "<!-- up to here -->"
FAULTS = {"none": "no fault", "killed": "a host killed", "slow": "a host ten times slower"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def patterns_of(figures):
    return list(dict.fromkeys(figure["pattern"] for figure in figures))


def find(figures, **what):
    return next((figure for figure in figures if what.items() <= figure.items()), None)


def percent(ratio):
    return f"{100 * (ratio - 1):+.1f} %"


def faults_table(figures):
    """Milliseconds per superstep; against no fault with the same replicas, and these against one."""
    rows = []
    for pattern in patterns_of(figures):
        alone = find(figures, pattern=pattern, replicas=1, fault="none")
        for replicas in sorted({figure["replicas"] for figure in figures}):
            plain = find(figures, pattern=pattern, replicas=replicas, fault="none")
            row = [pattern, f'{replicas} ({plain["hosts"]} hosts)', f'{plain["ms"]:.1f} ms']
            row.append(percent(plain["ms"] / alone["ms"]) if alone else "")
            row.append(f'{plain["cpu_ms"]:.2f} ms')
            for fault in ("killed", "slow"):
                with_it = find(figures, pattern=pattern, replicas=replicas, fault=fault)
                row.append(percent(with_it["ms"] / plain["ms"]) if with_it else "")
            row.append(sum(figure["rollbacks"] for figure in figures
                           if figure["pattern"] == pattern and figure["replicas"] == replicas))
            rows.append(row)
    return table(["", "K", "superstep", "against K = 1", "processor time of a host", *list(FAULTS.values())[1:], "rollbacks"], rows)


def losses_table(figures):
    rows = [[f'{figure["life"]} s', f'`--replicas {figure["replicas"]}`' if figure["replicas"] > 1 else "`--ckpt` alone",
             f'{figure["seconds"]:.1f} s' if figure["finished"] == figure["jobs"] else
             f'{figure["finished"]} of {figure["jobs"]} ended', f'{figure["seconds"] / figure["work"]:.2f}',
             figure["losses"], figure["rollbacks"]] for figure in figures]
    return table(["mean life", "", "time", "against undisturbed work", "hosts lost", "rollbacks"], rows)


def link_table(figures):
    kinds = [(call, replicas) for call in ("put", "get") for replicas in (1, 2, 4)]
    rows = []
    for size in sorted({figure["bytes"] for figure in figures}):
        row = [f"{size // 1024} KiB"]
        for call, replicas in kinds:
            figure = find(figures, call=call, replicas=replicas, bytes=size)
            row.append(f'{100 * figure["share"]:.0f} %' if figure else "")
        rows.append(row)
    return table(["bytes", *(f"{call}, K = {replicas}" for call, replicas in kinds)], rows)


def costs_table(figures):
    """Of a host, in a superstep; the least of several runs, as other programs' work counts."""
    rows = [[f'{figure["replicas"]} ({figure["hosts"]} hosts)', f'{figure["agent_ms"]:.2f} ms', f'{figure["ranks_ms"]:.2f} ms',
             f'{figure["sleeps"]:.1f}', f'{figure["frames"]:.1f}'] for figure in figures]
    return table(["K", "processor time of the agent", "... of the processes", "agent sleeps", "frames sent"], rows)


TABLES = {"faults": faults_table, "costs": costs_table, "losses": losses_table, "link": link_table}


def tables(results):
    return "\n\n".join(TABLES[part](figures) for part, figures in results.items())


def panels(results):
    drawn = []
    if "faults" in results:
        figures = results["faults"]
        for fault, title in FAULTS.items():
            lines = {}
            for pattern in patterns_of(figures):
                alone = find(figures, pattern=pattern, replicas=1, fault="none")
                lines[pattern.split(":")[0]] = [
                    (figure["replicas"], figure["ms"] / alone["ms"]) for figure in figures
                    if figure["pattern"] == pattern and figure["fault"] == fault] if alone else []
            if all(lines.values()):
                drawn.append(picture.Panel(f"{title}: time by that of K = 1 without fault", "replicas K", lines, 4,
                                           [(k, str(k)) for k in (1, 2, 3, 4)]))
    if "losses" in results:
        lines = {("--ckpt alone", "--replicas 2")[replicas - 1]: [
            (figure["life"], figure["seconds"] / figure["work"]) for figure in results["losses"]
            if figure["replicas"] == replicas] for replicas in (1, 2)}
        drawn.append(picture.Panel("random losses: time by that of the work", "mean life of a host (s)", lines, 6,
                                   [(life, str(life)) for life in (20, 60, 300)]))
    if "link" in results:
        lines = {f"{call}, K = {replicas}": [
            (figure["bytes"], figure["share"]) for figure in results["link"]
            if figure["call"] == call and figure["replicas"] == replicas]
            for call in ("put", "get") for replicas in (1, 2, 4)}
        drawn.append(picture.Panel("share of the link", "bytes", lines, 1.5,
                                   [(1 << 10, "1 KiB"), (1 << 16, "64 KiB"), (1 << 22, "4 MiB")]))
    return drawn


def picture_of(results, path):
    drawn = panels(results)
    if drawn:
        picture.write(path, drawn)


def into_document(results, path):
    """Replaces what is between the marks."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    titles = {"faults": "### Without faults, and with one", "losses": "### Hosts that come and go",
              "costs": "### What a superstep of the latency-bound program costs each host",
              "link": "### Put and get over a link of 100 Mbit/s"}
    parts = [f"{titles[part]}\n\n{TABLES[part](figures)}" for part, figures in results.items()]
    svg = os.path.splitext(path)[0] + "-bench.svg"
    picture_of(results, svg)
    shown = f"![what replicas cost, by K, life and size]({os.path.basename(svg)})"
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n\n" + "\n\n".join([*parts, shown]) + "\n\n" + END + after)
