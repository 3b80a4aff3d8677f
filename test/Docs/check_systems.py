# ===- check_systems.py - The configurations of docs/systems.md -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains each system of docs/systems.md for two steps.

    check_systems.py PAGE EXAMPLE --model MODEL --models MODELS --llmc LLMC -o FOLDER

A section's TOML block is put in place of the tables that the page leaves out of
EXAMPLE/gpt.toml; the line before the block names the mesh, and the model where it
is not MODEL but one of the folder MODELS. Prints what a step communicates, and how far the losses are from those
of one device with the same microbatches in f32; fails above 2e-5, and above 2e-3
where contractions are narrow (2e-2 where they have eight bits).
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# Tables of gpt.toml that a section replaces; [mesh] only where it names other axes.
REPLACED = ("[[layout]]", "[training]", "[pipeline]")
# What [training] has in every system.
COMMON = {"steps": "2", "max_norm": "1.0", "seed": "1"}
BAR, NARROW_BAR, EIGHT_BAR = 2e-5, 2e-3, 2e-2


def base_tables(text, toml):
    """gpt.toml without the tables that a section's block replaces."""
    tables = re.split(r"(?m)^(?=\[)", text)
    replaced = REPLACED + (("[mesh]",) if "[mesh]" in toml else ())
    return "".join(t for t in tables if not t.startswith(replaced))


def sections(page):
    """(title, mesh, model or None, toml) of each section with a block."""
    for part in re.split(r"(?m)^## ", page)[1:]:
        title = part.split("\n", 1)[0]
        found = re.search(r"`--mesh (\S+)`(?:, `(\S+)`)?\n```toml\n(.*?)```", part, re.S)
        if not found:
            sys.exit(f"error: expected a mesh and a block of TOML in section '{title}'")
        yield title, *found.groups()


class Trainer:
    """Runs `llmc train` and remembers runs on one device."""

    def __init__(self, llmc, out):
        self.llmc, self.out, self.references = llmc, out, {}

    def train(self, name, model, config, flags):
        """Losses and what the summary says of collectives, or the error."""
        path, log = self.out / f"{name}.toml", self.out / f"{name}.jsonl"
        path.write_text(config, encoding="utf-8")
        sets = [f"--set=training.{k}={v}" for k, v in COMMON.items()]
        command = [self.llmc, "train", model, "--config", path, "--log", log, *sets, *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return None, [done.stderr.strip().split("\n")[-1][:300]]
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        moves = re.findall(r"(?m)^  (\d+ x .*)", done.stdout)
        return [line["loss"] for line in lines if "loss" in line], moves

    def reference(self, model, base, toml):
        """Losses of one device with the same microbatches."""
        found = re.search(r"microbatches = (\d+)", toml)
        count = found.group(1) if found else "1"
        if (model, count) not in self.references:
            name = f"one-{model.stem}-{count}"
            mesh = re.search(r"(?m)^\[mesh\]\n(?:.+\n)+", toml)
            config = base + (mesh.group(0) if mesh else "") + f"[training]\nmicrobatches = {count}\n"
            self.references[model, count] = self.train(name, model, config, [])[0]
        return self.references[model, count]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("page", type=pathlib.Path)
    p.add_argument("example", type=pathlib.Path)
    p.add_argument("--model", type=pathlib.Path, required=True)
    p.add_argument("--models", type=pathlib.Path, required=True, help="folder of those that sections name")
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    corpus = (a.example / "corpus.bin").resolve()
    gpt = (a.example / "gpt.toml").read_text(encoding="utf-8").replace('"corpus.bin"', f'"{corpus}"')
    trainer = Trainer(a.llmc, a.out)
    count = failed = 0
    for title, mesh, text, toml in sections(a.page.read_text(encoding="utf-8")):
        printed = a.models / text.removeprefix("models/") if text else a.model
        model = printed if printed.exists() else a.example.resolve().parents[1] / text
        name = re.sub(r"\W+", "-", title.lower())
        losses, moves = trainer.train(name, model, base_tables(gpt, toml) + toml, ["--mesh", mesh])
        wanted = trainer.reference(model, base_tables(gpt, toml), toml)
        passed = bool(losses and wanted) and len(losses) == len(wanted)
        worst = max((abs(x - y) / abs(y) for x, y in zip(losses, wanted)), key=lambda far: (far != far, far)) if passed else 0
        bar = EIGHT_BAR if "fp8" in toml else NARROW_BAR if "precision = " in toml else BAR
        passed = passed and worst <= bar
        count += 1
        failed += not passed
        print(f"{title}: {f'within {bar}' if passed else 'FAILED'}")
        print(*(f"  {move}" for move in moves or ["nothing"]), sep="\n")
    print(f"{count} systems, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
