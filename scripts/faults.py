#!/usr/bin/env python3
"""Runs the tests on each seeded fault and prints which one catches it.

    scripts/faults.py build/dev [--quick] [1 5 20 ...]

The build has LLMC_SEEDED_FAULTS=ON; test/EndToEnd/faults.md lists the faults.
With --quick no plan is run, so that faults behind phase 4 are not met. Without a fault every test must pass. Exit status 1 when one does not, or when a
fault is caught by none.
"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LIT = "/usr/lib/llvm-22/bin/lit"


def tests(build):
    """Cheapest first: name, command, environment."""
    unit = build / "test/Unit/tests"

    def lit(pattern):
        return [LIT, "-q", str(build / "test"), "--filter", pattern]

    few = {"LLMC_TEST_CASES": "120"}
    return [
        ("OpCases", [unit / "OpCaseTest"], {"LLMC_TEST_CASES": "40"}),
        ("MeshCases graphs", [unit / "MeshCaseTest", "--gtest_filter=*Graphs*"], few),
        ("MeshCases exact", [unit / "MeshCaseTest", "--gtest_filter=*Steps*-*Smooth*"], few),
        ("MeshCases smooth", [unit / "MeshCaseTest", "--gtest_filter=*Smooth*"], few),
        ("lockstep GPT", lit("EndToEnd/lockstep.test"), {}),
        ("meshes by plan", lit("EndToEnd/(meshes|stages|rows|Programs/random-programs).test"), {}),
        ("one device by plan", lit("EndToEnd/(same-bits|parts|places).test"), {}),
    ]


def passes(command, environment, fault):
    env = dict(os.environ, **environment, LLMC_FAULT=str(fault))
    try:
        return subprocess.run([str(part) for part in command], env=env, timeout=600,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    rows = re.findall(r"^\| (\d+) \| (\w+) \| ([^|]*) \|", (SOURCE / "test/EndToEnd/faults.md").read_text(), re.M)
    quick = "--quick" in sys.argv
    wanted = {int(text) for text in sys.argv[2:] if text != "--quick"}
    bad = 0
    # A test that fails by itself would seem to catch everything.
    useful = []
    for test in tests(build)[:4 if quick else None]:
        if passes(test[1], test[2], 0):
            useful.append(test)
        else:
            print(f"without a fault: {test[0]} fails, not used", flush=True)
            bad += 1
    for number, kind, where in rows:
        if wanted and int(number) not in wanted:
            continue
        caught = next((name for name, command, environment in useful
                       if not passes(command, environment, number)), None)
        bad += caught is None
        print(f"{number:>3}  {kind:<10} {where:<38} {caught or 'NOT CAUGHT'}", flush=True)
    print(f"{bad} of {len(wanted) or len(rows)} not as expected")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
