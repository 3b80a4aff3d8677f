#!/usr/bin/env python3
# ===- writer_faults.py - Which mistakes of the GPU's writer are found ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs the test of KernelObjectTest that a table of mistakes names with each of them and prints
what says so first. A fault is caught when the tests fail, crash or do not end.

    writer_faults.py --table WriterFaults.def --tests KernelObjectTest
    writer_faults.py --table WriterFaults.def --tests KernelObjectTest --most 20
"""

import argparse
import os
import pathlib
import re
import subprocess


def run(tests, test, fault):
    """What the first line of a failure is; empty where all pass."""
    environment = dict(os.environ, LLMC_WRITER_FAULT=fault)
    # The first failure ends the program.
    command = [tests, "--gtest_filter=" + test, "--gtest_brief=1", "--gtest_throw_on_failure"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return ""
    said = re.search(r"(result \d+|race in shared memory.*|access beyond.*|threads that do not meet.*|expected .*)",
                     done.stdout + done.stderr)
    if said:
        return said.group(1)
    return f"signal {-done.returncode}" if done.returncode < 0 else "fails"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--tests", required=True)
    parser.add_argument("--most", type=int, help="so many of them, from all over the table")
    options = parser.parse_args()
    faults, test = [], None
    for said, name in re.findall(r"(?mi)found by ([\w.]+):$|^LLMC_WRITER_FAULT\((\w+),\s", options.table.read_text()):
        test = said or test
        if name:
            faults.append((test, name))
    if options.most and options.most < len(faults):
        faults = [faults[number * len(faults) // options.most] for number in range(options.most)]
    every = ":".join(sorted({test for test, _ in faults}))
    print("without a fault:", run(options.tests, every, "") or "passes", flush=True)
    caught = 0
    for test, fault in faults:
        said = run(options.tests, test, fault)
        caught += bool(said)
        print(f"{fault}: {said or 'NOT CAUGHT'}", flush=True)
    print(f"{caught} of {len(faults)} caught")


if __name__ == "__main__":
    main()
