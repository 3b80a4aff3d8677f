#!/usr/bin/env python3
# ===- compare.py - Figures of runs, beside each other ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints figures from the logs and traces of run.sh; needs nothing but Python.

    compare.py losses truth.jsonl log.jsonl...    the farthest loss and norm of each, relative
    compare.py rate log.jsonl TOKENS              the median step and tokens a second, without the first ten steps
    compare.py kernels trace.json                 the five kernels that take most of the time, and the gaps between all
"""

import collections
import json
import pathlib
import statistics
import sys


def rows(path):
    file = pathlib.Path(path)
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def losses(truth, *logs):
    theirs = rows(truth)
    for log in logs:
        ours = rows(log)
        if len(ours) != len(theirs):
            print(f"{log}: {len(ours)} of {len(theirs)} steps")
            continue
        apart = {key: max(abs(a[key] / b[key] - 1) for a, b in zip(ours, theirs)) for key in ("loss", "grad_norm")}
        print(f"{log}: losses {apart['loss']:.1e} and norms {apart['grad_norm']:.1e} from {truth}")


def rate(log, tokens):
    seconds = [row["seconds"] for row in rows(log)][10:]
    if not seconds:
        print(f"{log}: no step after the tenth")
        return
    middle = statistics.median(seconds)
    print(f"{log}: {1e3 * middle:.2f} ms a step, {int(tokens) / middle:,.0f} tokens a second, "
          f"least {1e3 * min(seconds):.2f} ms, of {len(seconds)} steps")


def kernels(trace):
    """Of the last half of what was traced."""
    events = [e for e in json.loads(pathlib.Path(trace).read_text())["traceEvents"] if e.get("ph") == "X"]
    if not events:
        print(f"{trace}: no events")
        return
    events.sort(key=lambda e: e["ts"])
    events = events[len(events) // 2 :]
    total = collections.defaultdict(lambda: [0.0, 0, 0])
    for event in events:
        row = total[event["name"]]
        row[0] += event["dur"]
        row[1] += event.get("args", {}).get("bytes", 0)
        row[2] += 1
    all_time = sum(row[0] for row in total.values())
    for name, (time, size, count) in sorted(total.items(), key=lambda item: -item[1][0])[:5]:
        print(f"{name}: {time / all_time:.1%} of the time, {time / count:.1f} us each, {size / time * 1e-3:.0f} GB/s of its operands")
    end, gaps = events[0]["ts"], 0.0
    for event in events:
        gaps += max(0.0, event["ts"] - end)
        end = max(end, event["ts"] + event["dur"])
    print(f"gaps: {gaps / (end - events[0]['ts']):.1%} of {len(events)} events")


if __name__ == "__main__":
    {"losses": losses, "rate": rate, "kernels": kernels}[sys.argv[1]](*sys.argv[2:])
