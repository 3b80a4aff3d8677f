#!/usr/bin/env python3
# ===- counts.py - What devices communicate, against closed formulas ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs a GPT on meshes and compares what its communicators counted with formulas.

For L blocks, m microbatches of a batch B x T, width d, parameters P and tied
embedding E (all f32, in bytes), per device and step, scalars left out:

    tensor=t        4 L m all-reduces of B T d, no other
    data=n          all-reduces of P, whatever m
    pipe=p,data=n   all-reduces of P + (p - 1) E over all stages; stage i keeps
                    min(p - i, m) microbatches in flight under 1F1B, m under gpipe

`llmc train --count` compares the counts with those of the plan by itself. The
vocabulary is made 8192: with a small one, reducing the gradient of the embedding
in the update costs fewer bytes than reducing the activations in front of it.

    python counts.py --llmc llmc --model gpt-four.mlir --config gpt.toml -o out
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"counted on stage (\d+): (\d+) (scalar )?(\w+) over ([\w ]+), (\d+) B")


def run(a, text, mesh, microbatches, schedule):
    command = [a.llmc, "train", text, "--config", a.config, "--steps", 1, "--threads", 1, "--count"]
    command += ["--mesh", mesh, "--set", f"training.microbatches={microbatches}"]
    command += ["--set", f'pipeline.schedule="{schedule}"']
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode:
        return None, None, process.stderr.strip()
    rows = [m.groups() for m in ROW.finditer(process.stdout)]
    rows = [(kind, axes, int(count), int(size)) for _, count, scalar, kind, axes, size in rows if not scalar]
    found = re.search(r"counted in flight on each stage: (.*)", process.stdout)
    return rows, [int(x) for x in found.group(1).split(", ")], None


def total(rows, axis):
    """Count and bytes of the all-reduces over `axis`, alone or with others; None when there is any other row."""
    if any(kind != "all_reduce" or axis not in axes.split() for kind, axes, _, _ in rows):
        return None
    return sum(r[2] for r in rows), sum(r[3] for r in rows)


def check_tensor(a, text, sizes, tensor, m):
    rows, _, error = run(a, text, f"tensor={tensor}", m, "1f1b")
    blocks, batch, seq, width = sizes
    count = 4 * blocks * m
    expected = count, count * batch * seq * width * 4
    return f"tensor={tensor} microbatches={m}", error or total(rows, "tensor"), expected


def check_data(a, text, bytes_, stages, data, m, schedule):
    parameters, embedding = bytes_
    mesh = f"pipe={stages},data={data}" if stages > 1 else f"data={data}"
    rows, live, error = run(a, text, mesh, m, schedule)
    found = error or ((total(rows, "data") or ("other", "rows"))[1], live)
    most = [min(stages - i, m) if schedule == "1f1b" else m for i in range(stages)]
    expected = parameters + (stages - 1) * embedding, most
    return f"{mesh} microbatches={m} schedule={schedule}", found, expected


def describe(text):
    """(blocks, batch, seq, width) and bytes of (parameters, embedding) of a GPT's text."""
    types = re.findall(r"%arg\d+: tensor<([\dx]*)f32> loc\(\"params([^)]*)\"\)", text)
    sizes = {name: [int(n) for n in dims.split("x") if n] for dims, name in types}

    def elements(dims):
        product = 1
        for n in dims:
            product *= n
        return product

    blocks = len({re.match(r"\['blocks'\]\[(\d+)\]", name).group(1) for name in sizes if "blocks" in name})
    batch, seq = map(int, re.search(r"tensor<(\d+)x(\d+)xi32> loc\(\"tokens\"\)", text).groups())
    wte = sizes["['wte']"]
    return (blocks, batch, seq, wte[1]), (4 * sum(map(elements, sizes.values())), 4 * elements(wte))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("llmc", "model", "config"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    folder = pathlib.Path(a.output)
    folder.mkdir(parents=True, exist_ok=True)
    small = pathlib.Path(a.model)
    wide = folder / "wide.mlir"
    wide.write_text(small.read_text().replace("256", "8192"))
    sizes, _ = describe(wide.read_text())
    _, bytes_ = describe(small.read_text())
    cases = [check_tensor(a, wide, sizes, t, m) for t, m in ((2, 1), (2, 4), (4, 4))]
    for stages, data, m in ((1, 2, 1), (1, 2, 4), (1, 4, 4), (2, 2, 1), (2, 2, 4), (4, 2, 2), (4, 2, 6)):
        cases.append(check_data(a, small, bytes_, stages, data, m, "1f1b"))
    cases.append(check_data(a, small, bytes_, 2, 2, 4, "gpipe"))
    failed = 0
    for name, found, expected in cases:
        failed += found != expected
        verdict = "passed" if found == expected else f"FAILED, expected {expected}"
        print(f"{name}: {found} {verdict}", flush=True)
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
