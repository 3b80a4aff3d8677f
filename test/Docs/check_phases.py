#!/usr/bin/env python3
# ===- check_phases.py - The table of phases against the pipelines ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Holds the table of phases of docs/architecture.md against `llmc-opt`.

    check_phases.py PAGE LLMC_OPT

Each row names the passes of `--llmc-phase-<name>`, all of them and in order; rows
and phases are the same, in the same order. Passes of MLIR's own may be left out.
"""
import re
import subprocess
import sys


def passes_of(opt, phase):
    command = [opt, f"--llmc-phase-{phase}", "--dump-pass-pipeline", "-"]
    done = subprocess.run(command, input="module {}", capture_output=True, text=True)
    found = re.search(r"(?ms)^builtin\.module\((.*?)^\)", done.stdout + done.stderr)
    if not found:
        sys.exit(f"phase '{phase}': expected a pipeline, got {(done.stdout + done.stderr)[:200]!r}")
    return re.findall(r"(?m)^\s+(llmc-[\w-]+)", found.group(1))


def main():
    page, opt = sys.argv[1:]
    text = open(page, encoding="utf-8").read()
    rows = re.findall(r"(?m)^\| \d `(\w+)` \| (.*?) \|", text)
    shown = subprocess.run([opt, "--help"], capture_output=True, text=True).stdout
    phases = set(re.findall(r"--llmc-phase-(\w+)", shown))
    if sorted(name for name, _ in rows[1:]) != sorted(phases):
        sys.exit(f"expected rows {phases}, got {[name for name, _ in rows]}")
    for name, passes in rows[1:]:
        named, run = re.findall(r"`(llmc-[\w-]+)`", passes), passes_of(opt, name)
        if named != run:
            sys.exit(f"phase '{name}': the page names {named}, the pipeline runs {run}")
    print(f"{len(phases)} phases agree")


if __name__ == "__main__":
    main()
