#!/usr/bin/env python3
# ===- check_probes.py - A mutant that nothing notes changes nothing -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Builds every mutation of a program into one, with its probes, and runs it on many
inputs: where a mutant prints something else, the unchanged program must have noted
its number.

    check_probes.py scripts-folder program.txt output-folder

The last line says how many mutants have a probe, how many runs were compared, in
how many of them a mutant was noted and in how many it printed something else.
"""

import collections
import itertools
import pathlib
import subprocess
import sys


def main():
    scripts, program, out = map(pathlib.Path, sys.argv[1:])
    sys.path.insert(0, str(scripts / "mutation"))
    import operators
    from source import Source
    from switches import Switches

    source = Source(program.name, program.read_text())
    total = collections.Counter()
    for index, group in enumerate(apart(operators.mutations(source))):
        folder = out / str(index)
        folder.mkdir(parents=True, exist_ok=True)
        switches = Switches([(m, source, *m) for m in group])
        (folder / "switches.h").write_text(switches.header(folder))
        (folder / "program.cpp").write_text(switches.texts(folder)[program.name])
        subprocess.run(["clang++-22", "-std=c++17", "-w", folder / "program.cpp", "-o", folder / "program"], check=True)
        total += compare(folder, switches)
        total["mutants"] += len(switches.numbers)
        total["probes"] += len(switches.probes)
    print("{probes} of {mutants} mutants with a probe, {runs} runs, noted in {noted}, different in {different}, "
          "missed {missed}".format_map(collections.defaultdict(int, total)))
    return 1 if total["missed"] or not total["different"] else 0


def apart(mutations):
    """Groups of mutations with one of a line in each, so that no probe stands in another."""
    for each in itertools.zip_longest(*mutations.values()):
        yield [m for m in each if m]


def compare(folder, switches):
    """Runs each mutant of a build on each input beside the unchanged program."""
    found = collections.Counter()
    for a, b, rest in itertools.product(("-3", "4"), ("1", "5"), (["1"], ["4", "-1", "7"])):
        words = [a, b, *rest]
        plain, reached = run(folder, -1, words)
        for mutant, number in switches.numbers.items():
            changed, _ = run(folder, number, words)
            found["runs"] += 1
            found["noted"] += number in reached
            found["different"] += changed != plain
            if changed != plain and number not in reached:
                found["missed"] += 1
                print("not noted, though it prints something else:", mutant, words)
    return found


def run(folder, number, words):
    """(what the program shows, the numbers that it notes)"""
    (folder / "choice").write_text(f"{number}\n")
    noted = folder / "reached"
    noted.unlink(missing_ok=True)
    try:
        ran = subprocess.run([folder / "program", *words], capture_output=True, text=True, timeout=2)
    except subprocess.TimeoutExpired:
        return "no end", set()
    return (ran.returncode, ran.stdout), {int(n) for n in noted.read_text().split()} if noted.exists() else set()


if __name__ == "__main__":
    sys.exit(main())
