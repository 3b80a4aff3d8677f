# ===- decisions.py - What the compiler decides ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles models for meshes and compares what was decided with a table.

Results say nothing of decisions: a value that is gathered twice, a kernel that is
not fused, a buffer that is never reused and a wait too many are right. A line of
the table is a plan:

    llama tensor2: kernels 98, library calls 61, ..., arena 183296, plan 1f3a...

`plan` is a digest of all programs, buffers and tables, without names, places in
the text and whatever depends on the processor. A pass that is meant to decide
otherwise writes the table anew, and its change is read line by line:

    python decisions.py --llmc llmc -o out decisions.txt --update

oneDNN is held to AVX2, since the memory that it asks for depends on the instruction set.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "Families"), str(HERE / "oracle")]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402

EXAMPLE = HERE.parents[1] / "examples/gpt"
# What `llmc compile` gets beside the GPT's text and the configuration of the example.
GPT = {
    "one": "",
    "micro4": "--set training.microbatches=4",
    "tensor4": "--mesh tensor=4",
    "data3": "--mesh data=3",
    "pipe4": "--mesh pipe=4 --set training.microbatches=4",
    "gpipe": "--mesh pipe=2,data=2 --set training.microbatches=4 --set pipeline.schedule=gpipe",
    "cube": "--mesh pipe=2,data=2,tensor=2 --set training.microbatches=2",
    "recompute": "--mesh pipe=2,tensor=2 --set training.microbatches=4 --set training.recompute=all",
    "every2": "--mesh pipe=4 --set training.microbatches=4 --set training.recompute=2",
    "zero1": "--mesh data=2,tensor=2 --config {example}/gpt-zero1.toml",
    "buckets": "--mesh data=3 --set machine.bucket=65536",
    "bucketed1": "--mesh data=2,tensor=2 --config {example}/gpt-zero1.toml --set machine.bucket=65536",
}
COUNTED = {"kernel": "kernels", "library": "library calls", "copy": "copies", "fill": "fills", "wait": "waits",
           "send": "messages", "exchange": "messages"}


def run(command):
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment)
    if process.returncode:
        raise SystemExit(f"FAILED {' '.join(map(str, command))}: {process.stderr.strip()[-500:]}")
    return process.stdout


def cases(a):
    """Name -> what `llmc compile` gets."""
    for name, flags in GPT.items():
        config = [] if "--config" in flags else ["--config", EXAMPLE / "gpt.toml"]
        yield f"gpt {name}", [HERE / "Inputs/gpt-four.mlir", *config, *flags.format(example=EXAMPLE).split()]
    yield "gpt annotated", [EXAMPLE / "gpt-sharded.mlir", "--config", EXAMPLE / "gpt-sharded.toml"]
    for line in a.table.read_text().splitlines():
        name, mesh = line.split(":")[0].split()[:2] if ":" in line else (None, None)
        if name not in MAKERS:
            continue
        family = MAKERS[name]()
        folder = a.out / name
        folder.mkdir(parents=True, exist_ok=True)
        text = folder / "model.mlir"
        if not text.exists():
            text.write_text(families.text_of(family))
        config = folder / f"{mesh}.toml"
        config.write_text(families.configuration(family, mesh))
        flags = ["--mesh", families.MESHES[mesh]] if families.MESHES[mesh] else []
        yield f"{name} {mesh}", [text, "--config", config, *flags]


def strip(value, without):
    if isinstance(value, dict):
        return {k: strip(v, without) for k, v in value.items() if k not in without}
    return [strip(v, without) for v in value] if isinstance(value, list) else value


def describe(plan):
    """The line of a plan, without its name."""
    counts, received = collections.Counter(), collections.Counter()
    for program in plan["programs"]:
        for instruction in program["instructions"]:
            action = instruction["action"]
            if action["kind"] in COUNTED:
                counts[COUNTED[action["kind"]]] += 1
            elif "axes" in action:
                received[action["kind"].replace("_", "-")] += 1
    kinds = [f"{word} {counts[word]}" for word in dict.fromkeys(COUNTED.values())]
    kinds += [f"{kind} {number}" for kind, number in sorted(received.items())]
    # Plans for processors have no kernels in place of a library, whose operations would count.
    without = {"location", "locations", "objects", "kernels", "files", "producer", "threads", "name", "symbols",
               "operations"}
    digest = hashlib.sha256(json.dumps(strip(plan, without), sort_keys=True).encode()).hexdigest()[:12]
    return f"{', '.join(kinds)}, arena {max(plan['arenas'])}, plan {digest}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", default="llmc")
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    p.add_argument("--update", action="store_true", help="write the table anew")
    p.add_argument("table", type=pathlib.Path)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    lines = a.table.read_text().splitlines()
    head = [line for line in lines if line.startswith("#")]
    wanted = dict(line.split(": ", 1) for line in lines if ": " in line and not line.startswith("#"))
    found = {}
    for name, flags in cases(a):
        plan = a.out / "plan"
        run([a.llmc, "compile", *flags, "--threads", 1, "-o", plan])
        found[name] = describe(json.loads(run([a.llmc, "inspect", plan, "--json"])))
    if a.update:
        a.table.write_text("\n".join(head + [f"{name}: {line}" for name, line in found.items()]) + "\n")
    failed = 0
    for name, line in found.items():
        if not a.update and wanted.get(name) != line:
            failed += 1
            print(f"FAILED {name}: expected {wanted.get(name)}\n    got {line}")
    print(f"{len(found)} plans, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
