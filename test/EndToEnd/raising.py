#!/usr/bin/env python3
# ===- raising.py - Raised graphs against the ops of the text -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains models with `training.raise` on and off, and counts what is raised.

    train   losses of 2 steps and the gradients of the first one, in f64, on one
            device and on meshes: raised and not, relative to their norms. Where
            both give the same bits, nothing has been raised: a failure
    counts  how many of each nn op the forward of each export of Torch/Models has,
            against a table; with --update it is written anew

    python raising.py --llmc llmc -o out train onnx
    python raising.py --llmc llmc -o out train jax
    python raising.py --llmc llmc -o out counts table.txt
"""

import argparse
import collections
import json
import pathlib
import re
import shutil
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "Torch")]

import check  # noqa: E402

MESHES = {"one": "", "data2-tensor2": "data=2,tensor=2", "pipe2": "pipe=2"}
# Numbers of a GELU, which a text has in f32, differ from the op's in the eighth digit.
EXPORTS = {"gpt_fused": 1e-6, "gpt_dropout": 1e-6, "hf_llama": 1e-12, "hf_bert": 1e-6, "unet": 1e-12}
FAMILIES = {"llama": 1e-12, "vit": 1e-6, "retnet": 1e-6, "scan": 1e-6}


class OnnxCase:
    """An export of PyTorch; rows as in Torch/check.py."""

    def __init__(self, a, name, form="default"):
        self.checker = check.Checker(a, name, form)
        self.checker.read_states()
        self.out, self.text = self.checker.out, self.checker.model

    def words(self, mesh):
        config = self.out / f"{mesh}.toml"
        rows = mesh if "tensor" in mesh else ""
        config.write_text(self.checker.configuration(rows, 1), encoding="utf-8")
        return [self.text, "--config", config, *self.checker.dims()]


class JaxCase:
    """A family of Families, as JAX prints it."""

    def __init__(self, a, name):
        # Before the oracle, which has a module of a name of theirs.
        sys.path.insert(0, str(HERE / "Families"))
        import family
        from makers import MAKERS

        self.library, self.family = family, MAKERS[name]()
        self.out = pathlib.Path(a.out) / name
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.text = self.out / "model.mlir"
        self.text.write_text(family.text_of(self.family), encoding="utf-8")

    def words(self, mesh):
        config = self.out / f"{mesh}.toml"
        config.write_text(self.library.configuration(self.family, mesh), encoding="utf-8")
        return [self.text, "--config", config]


def train(a, case, mesh, isRaised):
    """Losses of two steps, gradients of the first."""
    stem = case.out / f"{mesh}-{'raised' if isRaised else 'text'}"
    words = [a.llmc, "train", *case.words(mesh), "--threads", 1, "--log", stem.with_suffix(".jsonl")]
    words += ["--set", 'training.precision="f64"', "--set", f"training.raise={str(isRaised).lower()}"]
    words += ["--mesh", MESHES[mesh]] if MESHES[mesh] else []
    check.Checker.call(None, words + ["--steps", 2, "--fetch", "grad.*", "--fetch-each-step", "--dump", stem])
    first = "step-0."
    gradients = {f.name.removeprefix(first): np.load(f).astype(np.float64) for f in stem.glob(f"{first}grad.*.npy")}
    rows = [json.loads(line) for line in stem.with_suffix(".jsonl").read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row], gradients


def compare(a, case, mesh, bar):
    (losses, gradients), (theirs, wanted) = (train(a, case, mesh, isRaised) for isRaised in (True, False))
    if len(losses) != 2 or set(gradients) != set(wanted) or not wanted:
        raise check.Failure(f"expected 2 losses and {len(wanted)} gradients, got {len(losses)} and {len(gradients)}")
    floor = 1e-3 * check.norm([check.norm(g) for g in wanted.values()]) / np.sqrt(len(wanted))
    far = {n: check.norm(gradients[n] - g) / max(check.norm(g), floor) for n, g in wanted.items()}
    worst = max(far, key=far.get)
    if far[worst] == 0:
        raise check.Failure("expected other bits than those of the text's ops, got the same")
    return [("losses", check.farthest_loss(losses, theirs), bar, ""), (f"{len(far)} gradients", far[worst], bar, worst)]


def train_all(a):
    judge = check.Judge()
    isOnnx = a.what == "onnx"
    for name, bar in (EXPORTS if isOnnx else FAMILIES).items():
        case = OnnxCase(a, name) if isOnnx else JaxCase(a, name)
        for mesh in [a.mesh] if a.mesh else MESHES:
            judge.note(f"{name} {mesh}", lambda: compare(a, case, mesh, bar))
    print(f"{judge.cases} cases, {judge.failed} failed")
    return judge.failed


def count(a, name, form):
    """nn ops of the forward of a microbatch, derivatives left out."""
    case = OnnxCase(a, name, form)
    text = case.out / "training.mlir"
    check.Checker.call(None, [a.llmc, "compile", *case.words("one"), "--compile-to=training", "-o", text])
    found, isInside = collections.Counter(), False
    for line in text.read_text(encoding="utf-8").splitlines():
        if re.match(r"\s*func\.func ", line):
            isInside = ".microbatch" in line
        op = re.search(r"= (nn\.\w+) .*#dist.phase<forward>", line)
        if isInside and op:
            found[op[1]] += 1
    return found


def count_all(a):
    lines = ["# Written by raising.py --update: nn ops of the forward of one microbatch."]
    for name in check.CASES:
        for form in ("default", "plain"):
            try:
                found = count(a, name, form)
            except check.Failure as failure:
                if "the exporter has computed it into others" not in str(failure):
                    raise
                continue
            lines.append(f"{name} {form}: " + ", ".join(f"{op} {found[op]}" for op in sorted(found)))
    table = pathlib.Path(a.what)
    if a.update:
        table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    wanted = table.read_text(encoding="utf-8").splitlines()
    different = [line for line in lines if line not in wanted] + [f"missing {w}" for w in wanted if w not in lines]
    for line in different:
        print(f"FAILED  {line}")
    print(f"{len(lines) - 1} exports, {len(different)} failed")
    return len(different)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--mesh", choices=MESHES, help="train on this mesh alone")
    parser.add_argument("mode", choices=["train", "counts"])
    parser.add_argument("what", help="onnx, jax, or the table")
    a = parser.parse_args()
    failed = train_all(a) if a.mode == "train" else count_all(a)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
