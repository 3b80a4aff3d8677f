#!/usr/bin/env python3
# ===- mutate.py - Would the tests notice a slip? -------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Changes one line at random and looks whether a test fails, a hundred times.

    scripts/mutate.py --seed 7 [--count 100] [--slots Analysis,Runtime/Plan] [--limit N] [--minutes M]
    scripts/mutate.py --again --output FILE      # only the survivors of FILE, on the tree as it is now

Lines are drawn by the seed over all slots (each gets a share by the square root
of its lines, at least one), then one of the operators that apply to the line
(mutation/operators.py). The mutants are put into one build, each with a switch
(mutation/switches.py); what cannot be switched is built by itself. A mutant that
does not compile, or that survives with objects of the same bytes, is drawn again
and counted apart. The tests that can notice a mutant, since what it changes has
another value in them (mutation/probes.py), run on it: first those of its slot, then
the others by what they caught before and how quick they are; all tests take part
but for test/Layering, which reads sources. The first failure ends it, a
test that does not end is one. Each result is a line of JSON in the output file; what
is there already is not done again, so a run may be stopped at any time.

A survivor is closed by a test, or argued to be equivalent in
mutation/equivalent.toml (at most one mutant in ten). The tree itself is never
changed: mutants are made in copies below build/mutate. The exit status is 0 when
all mutants were tried and the bars of mutation/score.py hold.
"""

import argparse
import collections
import fcntl
import hashlib
import itertools
import json
import math
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts/mutation"))

import operators  # noqa: E402
from build_copy import BuildCopy, tracked  # noqa: E402
from score import Refused, Score, argument_of, read_arguments  # noqa: E402
from source import Source, class_of, slot_of  # noqa: E402
from switched_build import SwitchedBuild  # noqa: E402
from switches import Switches  # noqa: E402
from trial import Trial, key_of  # noqa: E402


# --- Drawing ---------------------------------------------------------------------

def read_slots():
    """{slot: [(source, line, mutations)]}"""
    slots = collections.defaultdict(list)
    for name in sorted(tracked(ROOT)):
        slot = slot_of(name)
        if slot:
            source = Source(name, (ROOT / name).read_text())
            slots[slot] += [(source, line, found) for line, found in sorted(operators.mutations(source).items())]
    return dict(slots)


def shares(slots, count):
    """How many mutants of each slot: by the root of its lines, at least one while there are enough."""
    weights = {slot: math.sqrt(len(lines)) for slot, lines in slots.items() if lines}
    given = {slot: 1 for slot in sorted(weights, key=lambda s: -weights[s])[:count]}
    while sum(given.values()) < count:
        slot = max(sorted(given), key=lambda s: weights[s] / (given[s] + 0.5))
        given[slot] += 1
    return given


def squeeze(text):
    return " ".join(text.split())


def make_mutant(source, line, mutation):
    """What a record says of a mutant, and the changed text."""
    operator, start, end, replacement = mutation
    text = source.text[:start] + replacement + source.text[end:]
    first = min(line, source.line_of(start))
    last = source.line_of(end)
    tail = len(source.text) - (source.starts[last] if last < len(source.starts) else len(source.text))
    before = source.text[source.starts[first - 1]:len(source.text) - tail]
    after = text[source.starts[first - 1]:len(text) - tail]
    return {"file": source.name, "span": [start, end, replacement], "number": line, "operator": operator, "class": class_of(source, start, end),
            "line": squeeze(before), "becomes": squeeze(after)}, text


def draw(lines, seed, slot):
    """An endless sequence of mutants of a slot, each of another line while there are any."""
    dice = random.Random(f"{seed} {slot}")
    order = list(lines)
    dice.shuffle(order)
    for index, (source, line, found) in enumerate(order):
        names = sorted({m[0] for m in found})
        name = dice.choice(names)
        record, text = make_mutant(source, line, dice.choice([m for m in found if m[0] == name]))
        yield dict(record, seed=seed, slot=slot, index=index), text


# --- Trying ------------------------------------------------------------------------

class Journal:
    """The output file: what is known already, and what is added."""

    def __init__(self, path):
        self.path, self.lock, self.rows = path, threading.Lock(), {}
        self.kills = collections.Counter()
        for line in path.read_text().splitlines() if path.exists() else []:
            self.note(json.loads(line))

    def key(self, row):
        return row["seed"], row["slot"], row["index"], row["file"], row["line"], row["becomes"]

    def note(self, row):
        self.rows[self.key(row)] = row
        if row["status"] == "killed":
            self.kills[row["slot"], row["test"]] += 1
            self.kills[row["test"]] += 1

    def known(self, record):
        return self.rows.get(self.key(record))

    def add(self, row):
        with self.lock:
            self.note(row)
            with open(self.path, "a") as file:
                file.write(json.dumps(row) + "\n")


# --- The run -------------------------------------------------------------------------

def tree_hash():
    digest = hashlib.sha256()
    for name in sorted(tracked(ROOT)):
        if not name.startswith(("docs/", "scripts/")):
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()[:16]


def prepare(a, run):
    """Copies of tree and build, the switched build, and what its tests reach; kept between runs."""
    folder = ROOT / "build/mutate"
    folder.mkdir(parents=True, exist_ok=True)
    a.lock = open(folder / "lock", "w")  # held to the end
    try:
        fcntl.flock(a.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Refused("expected one run at a time, got another in build/mutate") from None
    print("build: the tree and its tests", flush=True)
    subprocess.run([ROOT / "scripts/build.sh", "dev", "all", "llmc-test-depends"], check=True)
    copies = [BuildCopy(ROOT, folder / f"copy{i}", max(1, a.cores // a.workers)) for i in range(a.workers)]
    for copy in copies:
        copy.synchronize()
        built, output = copy.ninja(["all", "llmc-test-depends"], a.cores)
        if not built:
            raise Refused("cannot build the copy:\n" + output[-3000:])
        copy.load_graph()  # a changed CMakeLists.txt has written build.ninja anew
    pristine, tree, known = folder / "objects", tree_hash(), folder / "tree"
    if not known.exists() or known.read_text() != tree:
        copies[0].save_objects(pristine)
        known.write_text(tree)
    switched = SwitchedBuild(ROOT, folder, a.workers, a.cores, Switches(run.candidates()))
    switched.prepare(copies[0], tree)
    for name in switched.failing:
        print(f"left out, it fails without a mutant: {name}")
    return copies[:len(switched.copies)], pristine, switched


TRIED = ("killed", "survived", "open")


class Run:
    def __init__(self, a, journal):
        self.a, self.journal, self.lock = a, journal, threading.Lock()
        self.slots = read_slots()
        if a.slots:
            unknown = set(a.slots) - set(self.slots)
            if unknown:
                raise Refused(f"expected slots of {', '.join(sorted(self.slots))}, got {', '.join(sorted(unknown))}")
            self.slots = {s: self.slots[s] for s in a.slots}
        self.given = shares(self.slots, a.count)
        self.arguments = read_arguments(ROOT / "scripts/mutation/equivalent.toml")
        self.records, self.tried, self.deadline = [], 0, time.time() + 60 * a.minutes

    def queue(self):
        """Slots with as many mutants as each needs."""
        if self.a.again:
            for row in [r for r in self.journal.rows.values() if r["status"] in ("survived", "open")]:
                yield row["slot"], 1, self.find_again(row)
            return
        for slot, needed in self.given.items():
            yield slot, needed, draw(self.slots[slot], self.a.seed, slot)

    def candidates(self):
        """What goes into one build: as many of each slot as it needs, and one in two more
        for those that are drawn again."""
        sources = {source.name: source for lines in self.slots.values() for source, _, _ in lines}
        for _, needed, mutants in self.queue():
            for record, _ in itertools.islice(mutants, needed + (needed + 1) // 2):
                yield key_of(record), sources[record["file"]], record["operator"], *record["span"]

    def find_again(self, row):
        """The mutant of a record on the tree as it is now, of equal lines the nearest; nothing
        when its line is gone."""
        found = []
        for source, line, mutations in self.slots.get(row["slot"], []):
            for mutation in mutations if source.name == row["file"] else []:
                record, text = make_mutant(source, line, mutation)
                if (record["line"], record["becomes"]) == (row["line"], row["becomes"]):
                    found.append((abs(line - row["number"]), dict(record, seed=row["seed"], slot=row["slot"], index=row["index"]), text))
        if found:
            yield min(found, key=lambda each: each[0])[1:]
        else:
            print(f"gone: {row['file']} `{row['line']}`", flush=True)

    def may_go_on(self):
        with self.lock:
            return time.time() < self.deadline and self.tried < self.a.limit

    def work(self, queue, trial):
        while True:
            with self.lock:
                job = next(queue, None)
            if job is None:
                return
            _, needed, mutants = job
            for record, text in mutants:
                known = None if self.a.again else self.journal.known(record)
                if known is None or (known["status"] == "open" and not argument_of(known, self.arguments)):
                    if not self.may_go_on():
                        break
                    known = self.try_one(record, text, trial)
                with self.lock:
                    self.records.append(known)
                needed -= known["status"] in TRIED
                if needed == 0:
                    break

    def try_one(self, record, text, trial):
        begin = time.time()
        status, test = trial.outcome(record, text)
        seconds = round(time.time() - begin, 1)
        row = dict(record, status=status, test=test, seconds=seconds)
        self.journal.add(row)
        with self.lock:
            self.tried += status in TRIED
            print(f"{seconds:6.1f} s  {status:16}  {row['file']}:{row['number']}  {row['operator']}"
                  + (f"  by {test}" if test else ""), flush=True)
            if status in ("survived", "open"):
                print(f"          - {row['line']}\n          + {row['becomes']}", flush=True)
        return row


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=100, help="mutants that compile and differ")
    p.add_argument("--slots", type=lambda t: t.split(","), help="these alone, in place of all")
    p.add_argument("--limit", type=float, default=math.inf, help="try at most so many now")
    p.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant after so many")
    p.add_argument("--seconds", type=float, default=math.inf,
                   help="leave a mutant open after so many seconds of tests; a run without this takes it up again")
    p.add_argument("--output", type=pathlib.Path, help="the results; default: build/mutate/seed-<seed>.jsonl")
    p.add_argument("--resume", action="store_true", help="what is always done: results in the output are kept")
    p.add_argument("--again", action="store_true", help="try the survivors of the output once more")
    p.add_argument("--workers", type=int, help="copies in which mutants are tried side by side")
    p.add_argument("--cores", type=int, default=os.cpu_count())
    p.add_argument("--table", type=pathlib.Path, help="a Markdown file: its part after the marker is written again")
    p.add_argument("--show", type=pathlib.Path, help="show every mutation of a file, try nothing")
    p.add_argument("--list", action="store_true", help="show what would be drawn, try nothing")
    a = p.parse_args()
    a.workers = a.workers or max(1, a.cores)
    a.output = a.output or ROOT / f"build/mutate/seed-{a.seed}.jsonl"
    return a


MARKER = "<!-- written by scripts/mutate.py -->\n"


def write_table(path, seed, score):
    head = path.read_text().split(MARKER)[0] if path.exists() else "# Mutation\n\n"
    path.write_text(head + MARKER + f"Seed {seed}.\n\n" + "\n".join(score.lines()) + "\n")


def show(record):
    print(f"{record['file']}:{record['number']}  {record['operator']} ({record['class']})\n"
          f"    - {record['line']}\n    + {record['becomes']}")


def main():
    a = parse()
    if a.show:
        source = Source(a.show.name, a.show.read_text())
        for line, found in sorted(operators.mutations(source).items()):
            for mutation in found:
                show(make_mutant(source, line, mutation)[0])
        return 0
    a.output.parent.mkdir(parents=True, exist_ok=True)
    run = Run(a, Journal(a.output))
    if a.list:
        for slot, needed in run.given.items():
            for (record, _), _ in zip(draw(run.slots[slot], a.seed, slot), range(needed)):
                show(record)
        return 0
    copies, pristine, switched = prepare(a, run)
    queue = run.queue()
    trials = [Trial(copy, pristine, switched, beside, run.journal, a) for copy, beside in zip(copies, switched.copies)]
    threads = [threading.Thread(target=run.work, args=(queue, trial)) for trial in trials]
    begin = time.time()

    def stop(*_):
        for copy in copies + switched.copies:
            copy.stop()
        os._exit(1)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if a.again:
        left = sum(r["status"] == "survived" for r in run.records)
        print(f"{len(run.records)} survivors tried again, {left} survive")
        return 1 if left else 0
    score = Score(run.records, run.arguments, a.count)
    print("\n".join(score.lines()))
    if a.table and len(score.tried) >= a.count:
        write_table(a.table, a.seed, score)
    print(f"mutation: seed {a.seed}, {len(score.tried)} of {a.count} tried, {score.summary()}, "
          f"{(time.time() - begin) / 60:.0f} minutes now")
    return 0 if score.is_good() else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Refused as refused:
        print(f"mutate.py: error: {refused}", file=sys.stderr)
        sys.exit(2)
