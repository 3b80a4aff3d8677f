# ===- trial.py - What becomes of a mutant ---------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs tests on a mutant, in the order in which they are likely to notice it, until
one fails."""

import re
import time

PATIENCE = 4  # times what a test took without a mutant, and half a minute
CODEGEN = "Codegen"  # kernels that are in the cache do not pass it
TOOLS = ("bin/llmc", "bin/llmc-opt", "bin/llmc-run", "bin/llmc-plan-probe", "test/Target/Plan/llmc-plan-check")


class Trial:
    """Finds out what becomes of mutants: by its switch where it has one (`switched`
    and its copy), by a build of its own in `copy` elsewhere."""

    def __init__(self, copy, pristine, switched, switched_copy, journal, a):
        self.copy, self.pristine, self.journal = copy, pristine, journal
        self.switched, self.switched_copy, self.times = switched, switched_copy, switched.times
        self.cores, self.seconds = a.cores, a.seconds

    def outcome(self, record, text):
        """(status, test that failed)"""
        number = self.switched.number_of(key_of(record))
        if number is None:
            return self.build_and_test(record, text)
        status, test = self.switch_and_test(record["slot"], number)
        if status == "survived" and self.is_same_object(record["file"], text):
            return "same bytes", None
        return status, test

    # --- By its switch ----------------------------------------------------------------

    def switch_and_test(self, slot, number):
        self.switched.choose(self.switched_copy, number)
        reaching = self.switched.reach.get(number, [])
        own = [t for t in reaching if is_inside(t, slot) or self.is_own(t, slot)]
        end = time.time() + self.seconds
        for stage in (own, [t for t in reaching if t not in own]):
            for group in self.groups(slot, stage):
                limit = self.limit(group)
                failed = (self.switched_copy.run_unit(group[0], limit) and group[0] if is_unit(group[0])
                          else first_failure(self.switched_copy.run_lit(group, limit, cache=slot != CODEGEN)))
                if failed:
                    return "killed", failed
                if time.time() > end:
                    return "open", None
        return "survived", None if reaching else "no test reaches it"

    def is_same_object(self, name, text):
        """Whether the mutant alone compiles to the same bytes; of a header nobody asks."""
        objects = self.copy.graph.objects.get(name)
        if not objects:
            return False
        since = time.time() - 0.01
        self.copy.write(name, text)
        try:
            return self.copy.ninja(objects, self.cores)[0] and not self.copy.changed_objects(self.pristine, since)
        finally:
            self.copy.restore(name, self.pristine, since)

    # --- By a build of its own --------------------------------------------------------

    def build_and_test(self, record, text):
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
        for unit in sorted(u for u in self.times if self.is_own(u, slot)):
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
        lit = [t for t in self.times if not is_unit(t)] if set(tools) & set(TOOLS) else []
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
        return is_unit(unit) and any(is_inside(part[5:], slot) for part in self.copy.graph.programs[unit] if part.startswith("test/"))

    def groups(self, slot, tests):
        """Units alone, lit tests a few at a time; first what catches most in a second."""
        def worth(test):
            kills = self.journal.kills
            return -(4 * kills[slot, test] + kills[test] + 0.2) / (self.times[test] + 0.3)
        group = []
        for test in sorted(tests, key=worth):
            if is_unit(test):
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
        limit = self.limit(group)
        if is_unit(group[0]):
            needs = [group[0]] + (["llmc-run"] if "RuntimeExecutor" in group[0] else [])
            return self.build(needs) or (self.copy.run_unit(group[0], limit) and group[0])
        failed = self.build(TOOLS)
        if failed:
            return failed
        return first_failure(self.copy.run_lit(group, limit))

    def limit(self, group):
        return PATIENCE * max(self.times[t] for t in group) + 30

    def build(self, targets):
        return None if self.copy.ninja(list(targets))[0] else "link"


def is_inside(test, slot):
    folders = [slot, "Import" if slot.startswith("Import/") else slot, slot.replace("tools/", "Tools/")]
    if re.match(r"Dialect/\w+/(IR|Models)$", slot):
        folders.append("/".join(slot.split("/")[:2]))
    return any(test.startswith(folder + "/") for folder in folders)


def is_unit(test):
    return test.startswith("test/Unit/")


def first_failure(results):
    bad = [t for t, (code, _) in results.items() if code in ("FAIL", "TIMEOUT", "UNRESOLVED", "XPASS")]
    return bad[0] if bad else None


def key_of(record):
    """What tells a mutant from all others."""
    return record["slot"], record["index"], record["file"], record["line"], record["becomes"]
