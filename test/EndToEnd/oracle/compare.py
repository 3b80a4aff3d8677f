# ===- compare.py - Gradients and losses against an oracle's -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compares two runs and exits with 1 where a bar is missed.

    compare.py gradients OURS THEIRS [--exact F64] [--bar 1e-5] [--scale 1]
        for each parameter ||g - g'|| / ||g'||. OURS and THEIRS are folders of .npy
        or safetensors files. Exempt, and printed, are parameters whose norm in
        F64 (gradients of the same step in double) is below 1e-12 of the global norm.
    compare.py losses OURS.jsonl THEIRS.jsonl [--bar 1e-4] [--steps 20] [--key loss]
        (several keys: loss,grad_norm)
        relative difference at every step; --bar 0 asks for equal numbers.
"""

import argparse
import json
import sys

import numpy as np

import arrays


def norm(x):
    return float(np.sqrt(np.sum(np.square(np.asarray(x, np.float64)))))


def global_norm(gradients):
    return float(np.sqrt(sum(norm(g) ** 2 for g in gradients.values())))


def compare_gradients(a):
    ours, theirs = arrays.read_arrays(a.ours), arrays.read_arrays(a.theirs)
    exact = arrays.read_arrays(a.exact) if a.exact else None
    if sorted(ours) != sorted(theirs):
        difference = sorted(set(ours) ^ set(theirs))
        sys.exit(f"error: expected the same names, got {len(difference)} unmatched: {difference[:5]}")
    worst, failed, exempt = 0.0, 0, 0
    for name in sorted(theirs):
        g = np.asarray(theirs[name], np.float64)
        if ours[name].shape != g.shape:
            sys.exit(f"error: expected '{name}' of shape {g.shape}, got {ours[name].shape}")
        error = norm(ours[name] * a.scale - g)
        relative = error / norm(g) if norm(g) else (0.0 if error == 0 else float("inf"))
        if not np.isfinite(relative):
            relative = float("inf")
        verdict = "ok" if relative <= a.bar else "FAIL"
        if verdict == "FAIL" and exact and norm(exact[name]) < 1e-12 * global_norm(exact):
            verdict, exempt = "exempt", exempt + 1
        else:
            worst, failed = max(worst, relative), failed + (verdict == "FAIL")
        print(f"{relative:10.3e}  {norm(g):10.3e}  {verdict:6s}  {name}")
    print(
        f"gradients: {len(theirs)} parameters, worst {worst:.3e}, bar {a.bar:.0e}, "
        f"{exempt} exempt, {failed} failed"
    )
    return failed == 0


def read_steps(path, key):
    """Step -> value, from the lines that carry both; other lines are passed over."""
    result = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            entry = json.loads(line) if line.strip() else {}
            if "step" in entry and key in entry:
                result[int(entry["step"])] = float(entry[key])
    return result


def compare_losses(a):
    return all([compare_key(a, key) for key in a.key.split(",")])


def compare_key(a, key):
    ours, theirs = read_steps(a.ours, key), read_steps(a.theirs, key)
    steps = a.steps or len(theirs)
    worst, failed = 0.0, 0
    if not steps:
        sys.exit(f"error: expected steps with '{key}' in '{a.theirs}'")
    for t in range(steps):
        if t not in ours or t not in theirs:
            sys.exit(f"error: expected '{key}' at step {t} in both logs")
        x, y = ours[t], theirs[t]
        relative = abs(x - y) / abs(y) if y else abs(x - y)
        failed += not relative <= a.bar
        worst = max(worst, relative if relative == relative else float("inf"))
        print(f"{t:5d}  {x:.9g}  {y:.9g}  {relative:.3e}  {'ok' if relative <= a.bar else 'FAIL'}")
    print(f"{key}: {steps} steps, worst {worst:.3e}, bar {a.bar:.0e}, {failed} failed")
    return failed == 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    modes = p.add_subparsers(required=True)
    g = modes.add_parser("gradients")
    g.add_argument("--exact")
    g.add_argument("--bar", type=float, default=1e-5)
    g.add_argument("--scale", type=float, default=1.0, help="factor on OURS")
    g.set_defaults(run=compare_gradients)
    l = modes.add_parser("losses")
    l.add_argument("--bar", type=float, default=1e-4)
    l.add_argument("--steps", type=int, default=0)
    l.add_argument("--key", default="loss")
    l.set_defaults(run=compare_losses)
    for mode in (g, l):
        mode.add_argument("ours")
        mode.add_argument("theirs")
    a = p.parse_args()
    sys.exit(0 if a.run(a) else 1)


if __name__ == "__main__":
    main()
