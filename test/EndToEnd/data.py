#!/usr/bin/env python3
# ===- data.py - Samples of many files, and evaluation between steps ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models on many files, with a part held out, and judges what they read.

    data.py -o FOLDER

The inputs of each step are fetched and compared with the files: every window of
tokens lies within one file, an epoch has each once, parts of a mixture come as
often as their weights say, nothing that is held out is trained. A GPT on tokens
and a perceptron on arrays train with and without evaluation, on one device, on
meshes and from a plan: parameters are equal bit by bit, losses of evaluations
agree, and with a learning rate of 0 equal the interpreter's on the same data.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
INPUTS, GPT = HERE / "Inputs", HERE.parents[1] / "examples/gpt/gpt.toml"
BATCH, LENGTH = 2, 8  # of gpt-tiny
STATES = {"gpt": "wte", "mlp": "layers.0.w"}
failed = 0


def check(name, sound, found=""):
    global failed
    failed += not sound
    print(f"{'' if sound else 'FAILED '}{name}", "" if sound else found)


def run(*command, code=0):
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode != code:
        sys.exit(f"FAILED {' '.join(map(str, command))}: {process.returncode}\n{process.stdout}{process.stderr}")
    return process


def write_tokens(folder):
    """Five files of tokens; which one, and where in it, a window says itself: no two are equal."""
    draw = np.random.default_rng(1)
    files = {f"part-{i}.bin": draw.integers(0, 250, 90 + 31 * i).astype(np.uint8) for i in range(5)}
    for name, tokens in files.items():
        tokens.tofile(folder / name)
    rest = GPT.read_text().split("\n[data.inputs]")[1]
    head = GPT.read_text().split("[data]")[0]

    def configure(name, data):
        (folder / name).write_text(f'{head}[data]\n{data}\n[data.inputs]{rest}')
        return folder / name

    return files, configure


def windows_of(folder, name, steps, files):
    """(file, row) of each sample of a run, in their order; the targets lie one token after."""
    places = {}
    for file, tokens in files.items():
        for row in range(len(tokens) - LENGTH):
            places[tokens[row : row + LENGTH + 1].tobytes()] = (file, row)
    found = []
    for step in range(steps):
        x, y = (np.load(folder / name / f"step-{step}.{each}.npy") for each in ("tokens", "targets"))
        window = np.concatenate([x, y[:, -1:]], 1).astype(np.uint8)
        found += [places[row.tobytes()] for row in window]
    return found


def check_tokens(folder):
    folder.mkdir(parents=True)
    files, configure = write_tokens(folder)
    model, span = INPUTS / "gpt-tiny.mlir", LENGTH + 1

    def read(name, data, steps, *flags):
        config = configure(f"{name}.toml", data)
        run("llmc", "train", model, "--config", config, "--steps", steps, "--fetch", "tokens,targets",
            "--fetch-each-step", "--dump", folder / name, "--log", folder / f"{name}.jsonl", *flags)
        return windows_of(folder, name, steps, files)

    aside = {(f, r) for f, t in files.items() for r in range(0, len(t) - LENGTH, span)}
    epoch = len(aside) // BATCH * BATCH
    once = read("once", 'file = "part-*.bin"\ndtype = "u8"\nwindows = "once"', 2 * len(aside) // BATCH)
    check("an epoch has each window once", set(once[:epoch]) <= aside and len(set(once[:epoch])) == epoch, once)
    check("the next one comes in another order", once[:epoch] != once[len(aside) : len(aside) + epoch])
    log = [json.loads(line) for line in (folder / "once.jsonl").read_text().splitlines()]
    epochs = [row["epoch"] for row in log]
    check("epochs are counted", np.allclose(epochs, np.arange(1, len(log) + 1) * BATCH / len(aside)), epochs)

    mixed = read("mixed", 'kind = "text"\nfile = ["part-4.bin", "part-[01].bin"]\nweights = [0.75, 0.25]', 10)
    parts = [file == "part-4.bin" for file, _ in mixed]
    check("each four samples have three of the first part", all(sum(parts[i : i + 4]) == 3 for i in range(0, len(parts), 4)), parts)
    check("the second part has two files", {file for file, _ in mixed} == {f"part-{i}.bin" for i in (0, 1, 4)}, mixed)

    data = 'file = "part-*.bin"\ndtype = "u8"\nheld_out = 0.3'
    for name, flags in (("one", []), ("mesh", ["--mesh", "data=2,tensor=2"])):
        trained = read(f"held-{name}", data, 12, *flags)
        ends = all(row + span <= len(files[file]) - np.ceil(0.3 * len(files[file])) for file, row in trained)
        check(f"training stays before what is held out, {name}", ends, trained)
        check("and reads what one device reads", name == "one" or trained == first, trained)
        first = trained


def write_arrays(folder):
    """Two files of rows for each of x and y."""
    draw = np.random.default_rng(2)
    for i, rows in enumerate((23, 40)):
        np.save(folder / f"x{i}.npy", draw.normal(size=(rows, 6)).astype(np.float32))
        np.save(folder / f"y{i}.npy", draw.normal(size=(rows, 3)))
    (folder / "train.toml").write_text("""[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x*.npy"
held_out = 0.2
[data.y]
kind = "array"
file = "y*.npy"
held_out = 0.2
[[init]]
match = "*"
std = 0.3
[[layout]]
input = "*"
dims = [["data"]]
""")
    return folder / "train.toml"


def runs_of(family, folder):
    """Names and commands of runs that evaluate after every second step."""
    if family == "gpt":
        files, configure = write_tokens(folder)
        config = configure("train.toml", 'file = "part-*.bin"\ndtype = "u8"\nwindows = "once"\nheld_out = 0.3')
        model, data = INPUTS / "gpt-tiny.mlir", ["--data", f"{folder}/part-*.bin"]
    else:
        config = write_arrays(folder)
        model, data = INPUTS / "mlp.mlir", ["--data", f"x={folder}/x*.npy", "--data", f"y={folder}/y*.npy"]
    train = ["llmc", "train", model, "--config", config, "--steps", 6]
    evaluate = ["--set", "training.evaluate_every=2", "--set", "training.evaluate_steps=2"]
    for mesh in ("", "data=2", "pipe=2"):
        yield mesh or "one device", [*train, *(["--mesh", mesh] if mesh else [])], evaluate
    run("llmc", "compile", model, "--config", config, "--mesh", "data=2", "-o", folder / "plan")
    execute = ["llmc-run", folder / "plan", "--steps", 6, *data]
    evaluate_plan = ["--evaluate-every", 2, "--evaluate-steps", 2]
    yield "a plan", execute, evaluate_plan
    yield "two processes", ["llmc-launch", "-n", 2, "--", *execute], evaluate_plan
    # A run that is resumed evaluates after the same steps, on the same data.
    for steps, resume in ((3, []), (6, ["--resume"])):
        run(*train[:-1], steps, *evaluate, "--checkpoint", folder / "out", "--log", folder / "resumed.jsonl", *resume)
    # Without training, an evaluation is that of the initial parameters.
    run(*train, *evaluate, "--set", "optimizer.lr=0", "--set", "optimizer.weight_decay=0", "--set",
        "training.evaluate_steps=1", "--log", folder / "still.jsonl")
    run("llmc", "interpret", model, "--config", config, "--entry", "evaluate", "--dump", folder / "interpreted")


def evaluations(log, key="loss"):
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    return [row[key] for row in rows if row["entry"] == "evaluate"]


def check_evaluation(family, folder):
    folder.mkdir(parents=True)
    losses = {}
    for name, command, evaluate in runs_of(family, folder):
        states = []
        for flags in ([], evaluate):
            log, dump = folder / "run.jsonl", folder / "dump"
            run(*command, *flags, "--fetch", STATES[family], "--dump", dump, "--log", log)
            states.append((dump / f"{STATES[family]}.npy").read_bytes())
        check(f"{family}, {name}: parameters are equal bit by bit with and without", states[0] == states[1])
        losses[name], steps = evaluations(log), evaluations(log, "step")
        check(f"{family}, {name}: after every second step", steps == [2, 4, 6], steps)
    losses["resumed"] = evaluations(folder / "resumed.jsonl")
    first = losses["one device"]
    far = float(np.max([abs(a / b - 1) for each in losses.values() for a, b in zip(each, first)]))
    check(f"{family}: evaluations agree on {len(losses)} runs, within {far:.1e}", far < 1e-5 and len(set(first)) == 3, losses)
    still = set(evaluations(folder / "still.jsonl"))
    alone = float(np.load(folder / "interpreted" / "loss.npy"))
    check(f"{family}: the interpreter evaluates the same", len(still) == 1 and abs(still.pop() / alone - 1) < 1e-6, alone)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", required=True)
    out = pathlib.Path(parser.parse_args().output)
    check_tokens(out / "tokens")
    for family in STATES:
        check_evaluation(family, out / family)
    print(f"{failed} failed")


if __name__ == "__main__":
    main()
