#!/usr/bin/env python3
# ===- resume_tests.py - A suite in as many runs as it takes --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs the tests of a build for so many minutes, and goes on the next time.

usage: resume_tests.py BUILD [--minutes M] [--filter-out REGEX] SUITE...

What passed is kept in BUILD/passed.json, for the tree as it is: a change of any
file but a page (*.md) begins again. Tests of pages and those that failed are tried
again. The last line is
"N passed, N failed, N skipped[, N left: run it again]"; the exit status is 0
when nothing failed and nothing is left.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from test_summary import PASSED, SKIPPED

LIT = "/usr/lib/llvm-22/bin/lit"


def tree_state():
    """A name of the tree: its files in git, and what is changed beside them, but for pages."""
    run = lambda *words: subprocess.run(["git", *words, "--", ".", ":!*.md"], capture_output=True).stdout  # noqa: E731
    return hashlib.sha256(run("ls-files", "-s") + run("diff")).hexdigest()[:16]


def program(name):
    """The unit test program of a case's or a shard's name, `suite :: tests/Program/...`, or None."""
    found = re.match(r"(\S+ :: tests/\w+/)", name)
    return found.group(1) if found else None


def done(state):
    """Regexes of what need not run again. A program of unit tests is one of them, not each of its cases, which lit
    does not know before it has run: thousands of names do not fit into an environment variable."""
    names = [name for name in state["passed"] + state["skipped"] if "Docs" not in name]
    programs = {program(name) for name in names} - {None, *state.get("again", [])}
    return [f"^{re.escape(name)}" for name in sorted(programs)] + \
        [f"^{re.escape(name)}$" for name in sorted(names) if not program(name)]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("build", type=pathlib.Path)
    p.add_argument("--minutes", type=float, default=50)
    p.add_argument("--filter-out", default="")
    p.add_argument("suites", nargs="+")
    a = p.parse_args()
    kept, results = a.build / "passed.json", a.build / "test-results.json"
    state = json.loads(kept.read_text()) if kept.exists() else {}
    if state.get("tree") != tree_state():
        state = {"tree": tree_state(), "passed": [], "skipped": []}
    out = "|".join([a.filter_out] * bool(a.filter_out) + done(state))
    results.unlink(missing_ok=True)
    command = [LIT, "-q", "--allow-empty-runs", "--timeout", "1800", "--max-time", str(int(a.minutes * 60)),
               "-j", str(os.cpu_count()), "--output", results, *a.suites]
    subprocess.run(command, env=dict(os.environ, **({"LIT_FILTER_OUT": out} if out else {})))
    # Without a test to run, lit writes nothing.
    tests = json.loads(results.read_text())["tests"] if results.exists() else []
    mine = [t for t in tests if not (out and re.search(out, t["name"]))]
    by_code = lambda codes: [t["name"] for t in mine if t["code"] in codes]  # noqa: E731
    state["passed"] = sorted({*state["passed"], *by_code(PASSED)})
    state["skipped"] = sorted({*state["skipped"], *by_code(SKIPPED - {"SKIPPED", "EXCLUDED"})})
    left = by_code({"SKIPPED", "EXCLUDED"})
    failed = [t["name"] for t in mine if t["code"] not in PASSED | SKIPPED]
    state["again"] = sorted({name for name in map(program, failed + left) if name})
    kept.write_text(json.dumps(state))
    for name in failed:
        print(f"FAILED: {name}")
    print(f"{len(state['passed'])} passed, {len(failed)} failed, {len(state['skipped'])} skipped"
          + (f", {len(left)} left: run it again" if left else ""))
    sys.exit(1 if failed or left else 0)


if __name__ == "__main__":
    main()
