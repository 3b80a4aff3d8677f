# ===- numbered.py - Ends of commands, by the number of a fault ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs commands that must end with a certain code and one line, and counts them by fault.

docs/refusals.md has the list of faults; its numbers are those of the functions that
`fault` marks. A command that is killed by a signal, writes a second line of errors or
leaves a file of output fails, whatever its code.
"""

import pathlib
import re
import subprocess
import sys
import traceback

FAULTS = {}
KINDS = {1: "diagnosed", 2: "usage", 3: "malformed", 4: "infeasible", 5: "unsupported", 13: "numeric", 14: "no-checkpoint", 15: "mismatch"}


def fault(number):
    def mark(function):
        FAULTS[number] = function
        return function

    return mark


class Runs:
    """Commands of one folder."""

    def __init__(self, binaries, folder):
        self.bin, self.out = pathlib.Path(binaries).resolve(), pathlib.Path(folder).resolve()
        self.count = self.failed = 0

    def fail(self, case, why):
        self.failed += 1
        print(f"FAILED: {case}: {why}")

    def command(self, words):
        tool, *rest = map(str, words)
        return [str(self.bin / tool), *rest]

    def finish(self, *words, **more):
        return subprocess.run(self.command(words), cwd=self.out, capture_output=True, timeout=120, check=False, **more)

    def good(self, *words, **more):
        done = self.finish(*words, **more)
        self.count += 1
        if done.returncode:
            self.fail(" ".join(map(str, words)), f"code {done.returncode}: {done.stderr.decode('utf-8', 'replace')[-400:]}")
        return done.stdout.decode("utf-8", "replace")

    def ends(self, case, words, codes, pattern="", **more):
        """One line of error with one of the codes (0: none), and no new file."""
        self.count += 1
        codes = codes if isinstance(codes, tuple) else (codes,)
        before = set(self.out.iterdir())
        done = self.finish(*words, **more)
        lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "error" in line]
        if done.returncode not in codes:
            return self.fail(case, f"expected code {codes}, got {done.returncode}: {lines or done.stderr[-300:]}")
        if done.returncode == 0:
            return None
        if len(lines) != 1 or f"error[{KINDS[done.returncode]}]: " not in lines[0]:
            return self.fail(case, f"expected one line of {KINDS[done.returncode]}, got {lines}")
        if not re.search(pattern, lines[0]):
            return self.fail(case, f"expected '{pattern}', got {lines[0][:400]}")
        if left := set(self.out.iterdir()) - before:
            return self.fail(case, f"expected no output, got {sorted(map(str, left))}")
        return lines[0]


def run_all(binaries, folder, only=None):
    """Each fault in a folder of its own."""
    failed = 0
    for number in sorted(FAULTS) if only is None else only:
        place = pathlib.Path(folder) / str(number)
        place.mkdir(parents=True)
        runs = Runs(binaries, place)
        try:
            FAULTS[number](runs)
        except Exception:
            runs.fail(f"fault {number}", traceback.format_exc())
        failed += runs.failed
        what = (FAULTS[number].__doc__ or "").splitlines()[0].rstrip(".")
        print(f"fault {number}: {what}: {runs.count} cases, {runs.failed} failed", flush=True)
    print(f"{len(FAULTS) if only is None else len(only)} faults, {failed} failed")
    sys.exit(1 if failed else 0)
