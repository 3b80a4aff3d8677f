#!/usr/bin/env python3
#===- check_meshes.py - The walkthrough's step on every mesh ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   check_meshes.py --llmc LLMC --run LLMC_RUN --out FOLDER --microbatches 1,2,4
#
# Compiles the programs of walkthrough_program.py for all meshes of pipe x data
# x tensor, runs 20 steps of each entry on virtual devices, and compares metrics
# and logits with those of one device. A step adds up in another order on each
# mesh, so the bar is relative: 1e-5, where one device against itself is 0.
# Leaves the plans in FOLDER/p<pipe>d<data>t<tensor>m<microbatches> and prints
# the worst distance.
#
#===------------------------------------------------------------------------===#

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
from array import array

BAR = 1e-5


def read_metrics(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def read_floats(path):
    """The elements of an .npy file of f32."""
    with open(path, "rb") as file:
        data = file.read()
    assert b"'<f4'" in data[:128], path
    return array("f", data[10 + int.from_bytes(data[8:10], "little"):])


def train(arguments, corpus, sizes):
    name = "p{}d{}t{}m{}".format(*sizes)
    folder = os.path.join(arguments.out, name)
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(os.path.dirname(__file__), "walkthrough_program.py")
    words = [f"{k}={v}" for k, v in zip(("pipe", "data", "tensor", "microbatches"), sizes)]
    with open(f"{folder}/memory.mlir", "w") as file:
        subprocess.run([sys.executable, program] + words, stdout=file, check=True)
    subprocess.run([arguments.llmc, "compile", f"{folder}/memory.mlir", "--compile-from=memory", "-o", folder,
                    "--threads", "1"], stdout=subprocess.DEVNULL, check=True)
    command = [arguments.run, f"{folder}/plan.llmc", "--data", corpus, "--threads", "2"]
    facts = []
    for entry in ("train", "evaluate"):
        log = f"{folder}/{entry}.jsonl"
        subprocess.run(command + ["--entry", entry, "--steps", "20", "--log", log], stdout=subprocess.DEVNULL,
                       check=True)
        facts.append(read_metrics(log))
    subprocess.run(command + ["--entry", "forward", "--fetch", "logits", "--dump", folder],
                   stdout=subprocess.DEVNULL, check=True)
    return facts, read_floats(f"{folder}/logits.npy")


def distance(found, reference):
    assert len(found[1]) == len(reference[1])
    worst = max(abs(a - b) if a == a else float("inf") for a, b in zip(found[1], reference[1])) / max(map(abs, reference[1]))
    for steps, others in zip(found[0], reference[0]):
        assert len(steps) == len(others) == 20
        for step, other in zip(steps, others):
            for key in ("loss", "grad_norm"):
                if key in other:
                    far = abs(step[key] - other[key]) / abs(other[key])
                    worst = max(worst, far if far == far else float("inf"))
    return worst


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--llmc", "--run", "--out"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--microbatches", default="1,2,4")
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    corpus = f"{arguments.out}/corpus.bin"
    draw = random.Random(3)
    with open(corpus, "wb") as file:
        file.write(bytes(draw.randrange(10) for _ in range(4000)))
    worst, count = 0, 0
    for m in map(int, arguments.microbatches.split(",")):
        reference = train(arguments, corpus, (1, 1, 1, m))
        first, last = reference[0][0][0]["loss"], reference[0][0][-1]["loss"]
        assert last < first, f"expected the loss to fall, got {first} and {last}"
        for mesh in itertools.product((1, 2), repeat=3):
            if mesh == (1, 1, 1):
                continue
            found = distance(train(arguments, corpus, mesh + (m,)), reference)
            worst, count = max(worst, found), count + 1
            if not found <= BAR:
                sys.exit(f"mesh {mesh} with {m} microbatches: relative distance {found}")
    print(f"{count} meshes, worst relative distance {worst:.1e}")


main()
