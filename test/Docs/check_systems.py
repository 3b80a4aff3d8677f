# ===- check_systems.py - The configurations of docs/systems.md -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles each system of docs/systems.md up to a phase.

    check_systems.py PAGE EXAMPLE --llmc LLMC -o FOLDER [--to PHASE]

A section's TOML block is put in place of the tables that the page leaves out of
EXAMPLE/gpt.toml; the line before the block names the mesh, and the model where it
is another one.
"""

import argparse
import pathlib
import re
import subprocess
import sys

# Tables of gpt.toml that a section replaces.
REPLACED = ("[[layout]]", "[training]", "[pipeline]")
# What [training] has in every system.
COMMON = {"steps": "2", "max_norm": "1.0", "seed": "1"}


def base_tables(text):
    """gpt.toml without the tables that a section replaces."""
    tables = re.split(r"(?m)^(?=\[)", text)
    return "".join(t for t in tables if not t.startswith(REPLACED))


def sections(page):
    """(title, mesh, model or None, toml) of each section with a block."""
    for part in re.split(r"(?m)^## ", page)[1:]:
        title = part.split("\n", 1)[0]
        found = re.search(r"`--mesh (\S+)`(?:, `(\S+)`)?\n```toml\n(.*?)```", part, re.S)
        if not found:
            sys.exit(f"error: expected a mesh and a block of TOML in section '{title}'")
        yield title, *found.groups()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("page", type=pathlib.Path)
    p.add_argument("example", type=pathlib.Path)
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    p.add_argument("--to", default="training")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    corpus = (a.example / "corpus.bin").resolve()
    base = base_tables((a.example / "gpt.toml").read_text(encoding="utf-8"))
    base = base.replace('"corpus.bin"', f'"{corpus}"')
    failed = 0
    count = 0
    for title, mesh, model, toml in sections(a.page.read_text(encoding="utf-8")):
        name = re.sub(r"\W+", "-", title.lower())
        config = a.out / f"{name}.toml"
        config.write_text(base + toml, encoding="utf-8")
        sets = [f"--set=training.{k}={v}" for k, v in COMMON.items()]
        text = a.example / (pathlib.Path(model).name if model else "gpt.mlir")
        out = a.out / name if a.to == "plan" else a.out / f"{name}.mlir"
        command = [a.llmc, "compile", text, "--config", config, "--mesh", mesh, *sets, "--compile-to", a.to, "-o", out]
        done = subprocess.run(command, capture_output=True, text=True)
        count += 1
        failed += done.returncode != 0
        last = done.stderr.strip().split("\n")[-1]
        print(f"{title}: {'compiled' if done.returncode == 0 else last}")
    print(f"{count} systems, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
