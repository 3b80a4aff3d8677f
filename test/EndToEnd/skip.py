#!/usr/bin/env python3
# ===- skip.py - Steps that are not finite change nothing ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a model that some samples make infinite, with training.skip_not_finite.

On each mesh: in a step whose loss is not finite parameters and moments keep
their bits, in the others parameters change; all meshes skip the same steps and
end at the same parameters. Without the key the first such step ends the run
with 13.

    python skip.py --llmc llmc --model logs.mlir --config logs.toml -o out
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys

import numpy

STEPS = 16
STATES = ("b", "w", "b.m", "w.m", "b.v", "w.v")
MESHES = ("", "data=2", "tensor=2", "pipe=2", "pipe=2,data=2,tensor=2")


def train(a, mesh, more=()):
    folder = pathlib.Path(a.output) / (mesh or "one")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Fewer windows with a 0 than without.
    tokens = bytes(0 if i in (30, 80) else 1 + i * i % 7 for i in range(120))
    (folder / "tokens.bin").write_bytes(tokens)
    command = [a.llmc, "train", a.model, "--config", a.config, "--data", folder / "tokens.bin", "--steps", STEPS]
    command += ["--threads", 1, "--log", folder / "log", "--dump", folder, "--fetch", ",".join(STATES), "--fetch-each-step"]
    command += [*more, *(["--mesh", mesh] if mesh else [])]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    rows = [json.loads(line) for line in (folder / "log").read_text().splitlines()]
    # What is not finite is logged as null.
    losses = [row["loss"] for row in rows]
    values = [{n: numpy.load(folder / f"step-{i}.{n}.npy") for n in STATES} for i in range(len(rows))]
    return process, losses, values


def faults_of(losses, values):
    if None not in losses[1:] or all(loss is None for loss in losses[1:]):
        yield f"expected steps of both kinds, got losses {losses}"
    for step in range(1, len(losses)):
        same = [name for name in STATES if values[step][name].tobytes() == values[step - 1][name].tobytes()]
        if losses[step] is None and len(same) != len(STATES):
            yield f"skipped step {step} changed {sorted(set(STATES) - set(same))}"
        if losses[step] is not None and same:
            yield f"step {step} did not change {same}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("llmc", "model", "config", "output"):
        p.add_argument(f"--{name}" if name != "output" else "-o", dest=name, required=True)
    a = p.parse_args()
    failed, reference = 0, None
    for mesh in MESHES:
        process, losses, values = train(a, mesh)
        faults = [process.stderr] if process.returncode else list(faults_of(losses, values))
        skipped = [step for step, loss in enumerate(losses) if loss is None]
        if reference is None:
            reference = skipped, values
        worst = float(numpy.max([abs(values[-1][n] - reference[1][-1][n]).max() for n in STATES])) if values else float("inf")
        if skipped != reference[0] or not worst <= 1e-5:
            faults.append(f"differs from one device: steps {skipped}, distance {worst:.1e}")
        failed += bool(faults)
        print(f"{mesh or 'one device'}: skipped {len(skipped)} of {len(losses)} steps, {worst:.1e} from one device", *faults, sep="; ")
    process, losses, _ = train(a, "", ["--set", "training.skip_not_finite=false"])
    if process.returncode != 13 or losses[-1] is not None or None in losses[:-1]:
        failed += 1
        print(f"expected the run to end with 13 at the first such step, got {process.returncode} after {losses}")
    print(f"{len(MESHES)} meshes, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
