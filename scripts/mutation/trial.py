# ===- trial.py - What becomes of a mutant ---------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Builds a mutant and runs tests on it, in the order in which they are likely to
notice it, until one fails."""

import re
import time

PATIENCE = 4  # times what a test took without a mutant, and half a minute
TOOLS = ("bin/llmc", "bin/llmc-opt", "bin/llmc-run", "bin/llmc-plan-probe", "test/Target/Plan/llmc-plan-check")


class Trial:
    """Finds out what becomes of mutants, in one copy."""

    def __init__(self, copy, pristine, times, journal, a):
        self.copy, self.pristine, self.times, self.journal = copy, pristine, times, journal
        self.cores, self.seconds = a.cores, a.seconds

    def outcome(self, record, text):
        """(status, test that failed)"""
        since, name = time.time() - 0.01, record["file"]
        self.copy.write(name, text)
        try:
            objects = self.copy.graph.objects.get(name)
            if not objects:  # a header: what includes it may be much
                outcome = self.test_own(record["slot"])
                if outcome:
                    return outcome
            built, _ = self.copy.ninja(objects or ["all", "llmc-test-depends"], self.cores)
            if not built:
                return "does not compile", None
            changed = self.copy.changed_objects(self.pristine, since)
            if not changed:
                return "same bytes", None
            return self.test(record["slot"], self.copy.graph.dependents(changed))
        finally:
            self.copy.restore(name, self.pristine, since)

    def test_own(self, slot):
        """What the unit tests of the slot alone say of a mutant; None: nothing yet."""
        for unit in sorted(u for u in self.times if u.startswith("test/Unit/") and self.is_own(u, slot)):
            if self.build([unit]):
                return "does not compile", None
            if self.run_group([unit]):
                return "killed", unit
        return None

    def test(self, slot, programs):
        units = sorted(p for p in programs if p in self.times)
        tools = [p for p in programs if p not in units]
        if "bin/llmc-run" in programs:
            units += [u for u in self.times if u.endswith("RuntimeExecutorTest") and u not in units]
        own_units = [u for u in units if self.is_own(u, slot)]
        lit = [t for t in self.times if not t.startswith("test/Unit/")] if set(tools) & set(TOOLS) else []
        own_lit = [t for t in lit if is_inside(t, slot)]
        end = time.time() + self.seconds
        for stage in (self.groups(slot, own_units), self.groups(slot, own_lit),
                      self.groups(slot, [t for t in units + lit if t not in own_units and t not in own_lit])):
            for group in stage:
                failed = self.run_group(group)
                if not failed and time.time() > end:
                    return "open", None
                if failed:
                    return ("killed" if failed != "link" else "does not compile"), failed
        return "survived", None

    def is_own(self, unit, slot):
        """Whether a unit test lies in the folder that mirrors the slot."""
        return any(is_inside(part[5:], slot) for part in self.copy.graph.programs[unit] if part.startswith("test/"))

    def groups(self, slot, tests):
        """Units alone, lit tests a few at a time; first what catches most in a second."""
        def worth(test):
            kills = self.journal.kills
            return -(4 * kills[slot, test] + kills[test] + 0.2) / (self.times[test] + 0.3)
        group = []
        for test in sorted(tests, key=worth):
            if test.startswith("test/Unit/"):
                if group:
                    yield group
                group = []
                yield [test]
                continue
            group.append(test)
            if sum(self.times[t] for t in group) > 15 * self.copy.jobs:
                yield group
                group = []
        if group:
            yield group

    def run_group(self, group):
        limit = PATIENCE * max(self.times[t] for t in group) + 30
        if group[0].startswith("test/Unit/"):
            needs = [group[0]] + (["llmc-run"] if "RuntimeExecutor" in group[0] else [])
            return self.build(needs) or (self.copy.run_unit(group[0], limit) and group[0])
        failed = self.build(TOOLS)
        if failed:
            return failed
        found = self.copy.run_lit(group, limit)
        bad = [t for t, (code, _) in found.items() if code in ("FAIL", "TIMEOUT", "UNRESOLVED", "XPASS")]
        return bad[0] if bad else None

    def build(self, targets):
        return None if self.copy.ninja(list(targets))[0] else "link"


def is_inside(test, slot):
    folders = [slot, "Import" if slot.startswith("Import/") else slot, slot.replace("tools/", "Tools/")]
    if re.match(r"Dialect/\w+/(IR|Models)$", slot):
        folders.append("/".join(slot.split("/")[:2]))
    return any(test.startswith(folder + "/") for folder in folders)


def measure(copy, cores):
    """Seconds of each test without a mutant; those that fail or are skipped are left out."""
    times, failing = {}, []
    for unit in copy.unit_tests():
        begin = time.time()
        failed = copy.run_unit(unit, 1200)
        times[unit] = time.time() - begin
        if failed:
            failing.append(failed)
            del times[unit]
    for test, (code, seconds) in copy.run_lit(copy.lit_tests(), 1200, jobs=cores, stop=False).items():
        if code == "PASS":
            times[test] = seconds
        elif code != "UNSUPPORTED":
            failing.append(test)
    return times, failing
