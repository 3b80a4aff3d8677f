#!/usr/bin/env python3
"""Summary of a lit result file: what was skipped, what failed, and the counts.

usage: test_summary.py [--counts] results.json
"""
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main():
    counts_only = sys.argv[1] == "--counts"
    with open(sys.argv[-1]) as file:
        tests = json.load(file)["tests"]
    passed = [t for t in tests if t["code"] in PASSED]
    skipped = [t for t in tests if t["code"] in SKIPPED]
    failed = [t for t in tests if t["code"] not in PASSED | SKIPPED]
    if counts_only:
        print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
        return
    for kind, group in (("skipped", skipped), ("FAILED", failed)):
        for test in group:
            print(f"{kind}: {test['name']}")
    slowest = sorted(tests, key=lambda t: -t.get("elapsed", 0))[:5]
    print("slowest: " + ", ".join(f"{t['name'].split(' :: ')[-1]} {t['elapsed']:.1f} s" for t in slowest))


if __name__ == "__main__":
    main()
