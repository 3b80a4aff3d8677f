# ===- score.py - What the mutants showed ---------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Scores by slot and class, the survivors, and the arguments for equivalence."""

import collections
import tomllib

from source import CLASSES

ARGUED_SHARE = 0.10
BARS = {"all": 0.90, CLASSES[0]: 0.95}


class Refused(Exception):
    pass


def read_arguments(path):
    """{(file, line, becomes): argument} of the committed list."""
    if not path.exists():
        return {}
    with open(path, "rb") as file:
        rows = tomllib.load(file).get("mutant", [])
    for row in rows:
        if set(row) != {"file", "line", "becomes", "because"}:
            raise Refused(f"{path}: expected file, line, becomes and because of each mutant, got {', '.join(sorted(row))}")
    return {(r["file"], r["line"], r["becomes"]): r["because"] for r in rows}


def argument_of(record, arguments):
    """Why no test can see the mutant, or None: what is argued needs no test."""
    return arguments.get((record["file"], record["line"], record["becomes"]))


class Score:
    """`records`: what became of each mutant drawn; `count`: how many were to be drawn."""

    def __init__(self, records, arguments, count):
        alive = [r for r in records if r["status"] in ("survived", "open")]
        self.argued = [r for r in alive if argument_of(r, arguments)]
        self.tried = [r for r in records if r["status"] in ("killed", "survived") or r in self.argued]
        self.same = [r for r in records if r["status"] == "same bytes"]
        self.broken = [r for r in records if r["status"] == "does not compile"]
        self.count = count
        self.arguments = arguments
        if len(self.argued) > ARGUED_SHARE * count:
            raise Refused(f"expected at most {ARGUED_SHARE * count:.0f} mutants argued to be equivalent, "
                          f"got {len(self.argued)}")
        self.survivors = [r for r in self.tried if r["status"] == "survived" and r not in self.argued]

    def share(self, key=None, value=None):
        """(killed, counted) of all or of those whose `key` is `value`."""
        rows = [r for r in self.tried if r not in self.argued and (key is None or r[key] == value)]
        return sum(r["status"] == "killed" for r in rows), len(rows)

    def is_good(self):
        killed, all_of = self.share()
        checks, all_checks = self.share("class", CLASSES[0])
        by_slot = collections.Counter(r["slot"] for r in self.survivors)
        return (len(self.tried) >= self.count and killed >= BARS["all"] * all_of
                and checks >= BARS[CLASSES[0]] * all_checks and max(by_slot.values(), default=0) < 2)

    def lines(self):
        """The table, as Markdown."""
        seconds = sum(r["seconds"] for r in self.tried)
        yield "| class | killed | of | score |"
        yield "|---|---|---|---|"
        for name in (*CLASSES, None):
            killed, of = self.share("class", name) if name else self.share()
            yield f"| {name or 'all'} | {killed} | {of} | {percent(killed, of)} |"
        yield ""
        yield "| slot | killed | of | argued | same bytes | did not compile |"
        yield "|---|---|---|---|---|---|"
        for slot in sorted({r["slot"] for r in self.tried}):
            killed, of = self.share("slot", slot)
            rest = [sum(r["slot"] == slot for r in rows) for rows in (self.argued, self.same, self.broken)]
            yield f"| {slot} | {killed} | {of} | " + " | ".join(map(str, rest)) + " |"
        yield ""
        yield (f"{len(self.tried)} of {self.count} mutants tried in {seconds / 60:.0f} minutes of one worker, "
               f"{seconds / max(1, len(self.tried)):.0f} s each; drawn again: {len(self.same)} that compile to the same "
               f"bytes, hence equivalent, and {len(self.broken)} that do not compile.")
        for title, rows in (("Survivors", self.survivors), ("Argued to be equivalent", self.argued)):
            if rows:
                yield ""
                yield f"{title}:"
                yield ""
            for r in rows:
                yield f"- `{r['file']}`:{r['number']}, {r['operator']} ({r['class']})"
                yield f"  `{r['line']}` → `{r['becomes']}`"
                if r in self.argued:
                    yield f"  {self.arguments[(r['file'], r['line'], r['becomes'])]}"

    def summary(self):
        killed, of = self.share()
        checks, all_checks = self.share("class", CLASSES[0])
        return (f"{killed} of {of} mutants killed ({percent(killed, of)}), checks and bounds {checks} of {all_checks} "
                f"({percent(checks, all_checks)}), {len(self.argued)} argued to be equivalent, "
                f"{len(self.survivors)} survivors")


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "none"
