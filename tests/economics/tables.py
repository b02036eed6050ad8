#!/usr/bin/env python3
"""Tables of what realjobs.py has measured.

    tables.py OUT [NAME OF A RULE]      against that rule instead of "auto"

Of each cell only the traces count that all fixed intervals and auto have been through; other rules are
compared on those of them that they have been through, too.  A job that was not waited for any longer counts with the time it was given: ratios with it are
bounds, and medians are true where less than half of the jobs are such.  Intervals are of 95 %, by
10,000 draws of traces.
"""
import json
import math
import os
import random
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from cells import CELLS, SCALED, best_interval  # noqa: E402

DRAWS = 10000


def load(out):
    """{cell: {rule: {seed: result}}}"""
    found = {}
    with open(os.path.join(out, "results.jsonl")) as file:
        for result in map(json.loads, file):
            if result["rule"] != "warm" and not result.get("failed"):
                rules = found.setdefault(result["cell"], {})
                rules.setdefault(result["rule"], {})[result["seed"]] = result
    return found


def common(rules, against):
    """The traces that all fixed intervals and auto have been through."""
    needed = [set(runs) for rule, runs in rules.items() if is_fixed(rule) or rule == against]
    return sorted(set.intersection(*needed))


def bootstrap(values, draw):
    """The median and the ends of its interval."""
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return (statistics.median(values), medians[int(DRAWS * 0.025)], medians[int(DRAWS * 0.975)])


def is_fixed(rule):
    return rule.endswith(" s")


def mean_of(runs, name):
    values = [run[name] for run in runs if run["finished"] and name in run]
    return f"{statistics.mean(values):.1f}" if values else ""


def interval_of(runs):
    values = [value for run in runs for value in run["intervals"]]
    return f"{statistics.median(values):.1f}" if values else ""


def row(rule, runs, reference, best, draw):
    """reference: the runs of auto; best: the best fixed interval."""
    seeds = [seed for seed in reference if seed in runs]
    mine = [runs[seed] for seed in seeds]
    ratio = bootstrap([runs[seed]["seconds"] / reference[seed]["seconds"] for seed in seeds], draw)
    ended = sum(run["finished"] for run in mine)
    bound = "" if ended == len(mine) else ">= " if ended * 2 <= len(mine) else ""
    name = f"**{rule}**" if rule == best else rule
    name += f", {SCALED[rule]}" if rule in SCALED else ""
    return (f"| {name} | {ended} of {len(mine)} "
            f"| {bound}{statistics.median(run['seconds'] for run in mine):.1f} "
            f"| {bound}{ratio[0]:.3f} | {ratio[1]:.3f} to {ratio[2]:.3f} | {interval_of(mine)} "
            f"| {mean_of(mine, 'pauses')} | {mean_of(mine, 'lost')} | {mean_of(mine, 'down')} "
            f"| {mean_of(mine, 'restarts')} |")


def table(name, rules, cost, against):
    cell, draw = CELLS[name], random.Random(1)
    seeds = common(rules, against)
    if not seeds or against not in rules:
        return f"### {name}\n\nNo trace that all have been through.\n"
    reference = {seed: rules[against][seed] for seed in seeds}
    fixed = {rule: statistics.median(runs[seed]["seconds"] for seed in seeds)
             for rule, runs in rules.items() if is_fixed(rule)}
    best = min(fixed, key=fixed.get)
    runs = [run for each in rules.values() for seed, run in each.items() if seed in seeds]
    # An older bspzero does not say for how long it was down.
    done = [run for run in runs if run["finished"] and run["restarts"] and "down" in run]
    down = statistics.mean(run["down"] / run["restarts"] for run in done)
    mean, heartbeat = cell.mean(), cell.setting.heartbeat
    rate = (f"{cell.mean_at_first:.1f} s at the beginning, twice as often every {cell.doubling:.0f} s, "
            f"{mean:.1f} s on average over {1.5 * cell.work.seconds:.0f} s" if cell.doubling
            else f"{mean:.1f} s")
    exact = best_interval(cost["cost"], mean)
    lines = [
        f"### {name}", "",
        f"{len(seeds)} traces.  Useful time {cell.work.seconds:.0f} s, mean time between failures of "
        f"the job {rate}; a snapshot costs {cost['cost']:.2f} s and is committed {cost['commit']:.2f} s "
        f"after its barrier; after a failure the job is down for {down:.1f} s, {heartbeat:.1f} s or "
        f"more of silence before that included in lost time.  The exact model's interval for the mean "
        f"is {exact:.1f} s.  Not waited for after {cell.cap:.0f} s, "
        f"{cell.cap / fixed[best]:.1f} times the best.", "",
        f"| rule | finished | median s | time / that of {against} | 95 % | interval s | pauses s "
        "| lost s | down s | rollbacks |", "|---|---|---|---|---|---|---|---|---|---|"]
    order = sorted(rules, key=lambda rule: (is_fixed(rule), float(rule.split()[0]) if is_fixed(rule)
                                            else 0))
    inverse = bootstrap([reference[seed]["seconds"] / rules[best][seed]["seconds"] for seed in seeds],
                        draw)
    lines[2] += (f"  {against} against the best fixed interval, {best}: {inverse[0]:.3f} "
                 f"({inverse[1]:.3f} to {inverse[2]:.3f}).")
    lines += [row(rule, rules[rule], reference, best, draw) for rule in order
              if any(seed in rules[rule] for seed in seeds)]
    return "\n".join(lines) + "\n"


# ---- What the jobs had learnt at their end --------------------------------------------------------

UNITS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "days": 86400}
TIME = r"([\d.]+) (ms|s|min|h|days|d)"


def seconds(match, at=1):
    return float(match[at]) * UNITS[match[at + 1]]


def learnt(out, run):
    """Estimates of a job over the truth: life of a host, V; and Td in seconds.  None: it says none."""
    path = os.path.join(out, "said", f"{run['cell']}, {run['seed']}, {run['rule']}")
    with open(path.replace("%", "percent")) as file:
        said = file.read()
    life = re.search(rf"^host +\d+ +{TIME} +{TIME} +{TIME} to {TIME}", said, re.M)
    cost = re.search(rf"a snapshot costs {TIME}", said)
    restore = re.search(rf"a restore takes {TIME} \(host, of", said)
    if not life or not cost:
        return None
    cell = CELLS[run["cell"]]
    true = cell.life / (2 ** (run["seconds"] / cell.doubling) if cell.doubling else 1)
    return {"life": seconds(life, 3) / true,
            "inside": seconds(life, 5) <= true <= seconds(life, 7),
            "cost": seconds(cost) / statistics.mean(run["snapshot_pauses"]),
            "restore": seconds(restore) if restore else math.nan}


def estimates(out, name, rules):
    lines = ["| rule | jobs | life of a host / true one at the end: median, least, most | true one within "
             "5 % to 95 % | V / mean pause | Td s |", "|---|---|---|---|---|---|"]
    for rule in sorted(rule for rule in rules if rule.startswith("auto") and "before" not in rule):
        found = [one for run in rules[rule].values() if run["finished"] and (one := learnt(out, run))]
        if not found:
            continue
        lives = [one["life"] for one in found]
        down = [one["restore"] for one in found if not math.isnan(one["restore"])]
        lines.append(f"| {rule} | {len(found)} | {statistics.median(lives):.2f}, {min(lives):.2f}, "
                     f"{max(lives):.2f} | {sum(one['inside'] for one in found)} of {len(found)} "
                     f"| {statistics.median(one['cost'] for one in found):.2f} "
                     f"| {statistics.median(down) if down else math.nan:.2f} |")
    return "\n".join(lines) + "\n" if len(lines) > 2 else ""


def main():
    out, against = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "auto"
    with open(os.path.join(out, "costs.json")) as file:
        costs = json.load(file)
    for name, rules in load(out).items():
        print(table(name, rules, costs[name], against))
        print(estimates(out, name, rules))


if __name__ == "__main__":
    main()
