#!/usr/bin/env python3
# ===- fuzz.py - Mutated models and plans by the thousand -----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Tries mutated models (llmc-model-fuzz) and plans (llmc-plan-fuzz) of a build.

Inputs are numbered, and tried a few hundred at a time; the output folder keeps
how far each kind came with this seed and these programs, so that a run goes on
where the one before stopped (--fresh begins again). Inputs that fail lie there too, shortened.

    python fuzz.py --build build/asan --compiler build/dev/bin/llmc -o out --count 10000 [--minutes 50] [--only plans]

The last line is "N of N models, N of N plans, F faults".
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS, GPT = SOURCE / "test/EndToEnd/Inputs", SOURCE / "examples/gpt"
CORPUS = GPT / "corpus.bin"
# Name -> arguments of `llmc compile`.
PLANS = {
    "one": [INPUTS / "gpt-tiny.mlir", "--config", GPT / "gpt.toml", "--set", "training.microbatches=2"],
    "four": [INPUTS / "gpt-tiny.mlir", "--config", GPT / "gpt-zero1.toml", "--mesh", "pipe=2,data=2",
             "--set", "training.microbatches=2"],
    "eight": [INPUTS / "walkthrough.mlir", "--config", INPUTS / "walkthrough.toml", "--mesh", "pipe=2,data=2,tensor=2",
              "--set", "training.recompute=all"],
}
MODELS = ("walkthrough", "kinds", "counter")
CHUNK = 400


def commands(a):
    """Kind -> the command that tries inputs of it."""
    models = [a.build / "bin/llmc-model-fuzz", CORPUS, SOURCE / "test/Fuzz/Models/fuzz.toml"]
    for name in MODELS:
        models += [INPUTS / f"{name}.mlir", INPUTS / f"{name}.toml"]
    plans = [a.build / "bin/llmc-plan-fuzz", CORPUS]
    for name, arguments in PLANS.items() if a.only != "models" else ():
        folder = a.output / "compiled" / name
        if not (folder / "plan.llmc").exists():
            subprocess.run([a.compiler, "compile", *arguments, "--threads", "1", "-o", folder], check=True,
                           stdout=subprocess.DEVNULL)
        plans.append(folder)
    made = {"models": models, "plans": plans}
    return {kind: made[kind] for kind in made if a.only in (None, kind)}


class Fuzzing:
    def __init__(self, a):
        self.a, self.state_file = a, a.output / "state.json"
        # What an earlier program was tried with says nothing of this one.
        programs = [a.build / "bin" / name for name in ("llmc-model-fuzz", "llmc-plan-fuzz")]
        key = [a.seed] + [p.stat().st_mtime_ns for p in programs if p.exists()]
        self.state = {"key": key, "tried": {}, "faults": 0, "codes": {}}
        if self.state_file.exists():
            kept = json.loads(self.state_file.read_text())
            if kept.get("key") == key:
                self.state = kept
        self.deadline = time.time() + 60 * a.minutes

    def run(self, kind, command):
        tried = self.state["tried"].get(kind, 0)
        codes = collections.Counter(self.state["codes"].get(kind, {}))
        while tried < self.a.count and time.time() < self.deadline:
            count = min(CHUNK, self.a.count - tried)
            words = [*command, "--seed", self.a.seed, "--first", tried, "--count", count, "--jobs", self.a.jobs,
                     "--folder", self.a.output / kind]
            process = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, text=True, errors="replace")
            print(process.stdout, end="", flush=True)
            found = re.search(r"(\d+) tried(.*); (\d+) faults", process.stdout)
            if not found:
                sys.exit(f"error: expected {command[0]} to end with its counts, got exit status {process.returncode}")
            codes.update({name: int(n) for n, name in re.findall(r", (\d+) ([\w-]+)", found.group(2))})
            tried += count
            self.state["faults"] += int(found.group(3))
            self.state["tried"][kind], self.state["codes"][kind] = tried, codes
            self.state_file.write_text(json.dumps(self.state))

    def report(self, kinds):
        parts = []
        for kind in kinds:
            codes = ", ".join(f"{n} {name}" for name, n in self.state["codes"].get(kind, {}).items())
            parts.append(f"{self.state['tried'].get(kind, 0)} of {self.a.count} {kind} ({codes})")
        print("; ".join(parts) + f"; {self.state['faults']} faults")
        done = all(self.state["tried"].get(kind, 0) >= self.a.count for kind in kinds)
        accepted = all(self.state["codes"].get(kind, {}).get("accepted") for kind in kinds)
        return 0 if done and accepted and not self.state["faults"] else 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--compiler", required=True, help="the llmc that makes the plans")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    p.add_argument("--only", choices=("models", "plans"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=10000)
    p.add_argument("--minutes", type=float, default=1e9, help="begin nothing after so many")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--fresh", action="store_true")
    a = p.parse_args()
    if a.fresh:
        shutil.rmtree(a.output, ignore_errors=True)
    a.output.mkdir(parents=True, exist_ok=True)
    fuzzing, kinds = Fuzzing(a), commands(a)
    for kind, command in kinds.items():
        fuzzing.run(kind, command)
    return fuzzing.report(kinds)


if __name__ == "__main__":
    sys.exit(main())
