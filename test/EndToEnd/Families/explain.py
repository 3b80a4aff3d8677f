# ===- explain.py - Explanations of families, beside their plans ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""`llmc explain` for families of models on meshes, compared with what the plan and a run
say: memory of each stage to the byte, and with `--all` each collective as often as the
run prints it. Each line of a section names a line of the model's file or of the program
that printed it, and without `--all` there are at most 100 lines.

    python explain.py --llmc llmc -o out
"""

import argparse
import collections
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402

CASES = [("llama", "cube", "pipe=2,data=2,tensor=2"), ("llama", "fsdp", "data=2,tensor=2")]
CASES += [("moe", "data3", "data=3,tensor=3"), ("gru", "one", "")]
MACHINE = '[machine]\nflops = 1e12\n[[machine.link]]\nname = "net"\nlatency = 1e-6\nbandwidth = 1e10\n'
PLACE = re.compile(r"  [\w./-]+\.(mlir|py):\d+(:\d+)?( and \d+ more)?: ")
# A section's heading; what follows it by two spaces are its rows.
SECTIONS = ("communication", "gathers", "kept", "conflicts", "replication", "padding", "recomputation", "largest")


def number(text):
    return int(text.replace(",", ""))


def run(*command):
    result = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def sections_of(text):
    found, rows = {}, []
    for line in text.splitlines():
        if line.startswith("  "):
            rows.append(line)
        else:
            rows = found.setdefault(line.split()[0].rstrip(":,"), [])
    return found


def moves_of_explanation(rows):
    """(kind, axes) -> how often, all stages together; what is sent counts where it arrives."""
    counts = collections.Counter()
    for row in rows:
        times, kind, axes = re.search(r": (\d+) x (\w+) over ([\w ]+?)(?: on stage|, )", row).groups()
        counts[kind, axes] += int(times)
    return counts


def check(llmc, folder, case):
    name, mesh, sizes = case
    made = MAKERS[name]()
    if name == "llama":
        made.parameters["blocks"].append(made.parameters["blocks"][0])  # the fourth
    model, config = folder / f"{name}.mlir", folder / f"{name}.{mesh}.toml"
    model.write_text(families.text_of(made), encoding="utf-8")
    config.write_text(families.configuration(made, mesh) + MACHINE, encoding="utf-8")
    flags = [model, "--config", config, f"--mesh={sizes}"]
    short, full = run(llmc, "explain", *flags), run(llmc, "explain", *flags, "--all")
    assert len(short.splitlines()) <= 100, f"{len(short.splitlines())} lines"
    for text in (short, full):
        for title, rows in sections_of(text).items():
            for row in rows:
                is_rest = row.startswith("  and ") or title == "memory"
                assert title not in SECTIONS or is_rest or PLACE.match(row), (title, row)
    assert not re.search(r"unknown", full), full
    # The run prints its own plan: memory by stage, collectives of more than a number.
    printed = run(llmc, "train", *flags, "--steps=0", "--threads=1", f"--kernel-cache={folder}/cache")
    plan = folder / "plan"
    run(llmc, "compile", *flags, "-o", plan, f"--kernel-cache={folder}/cache")
    arenas = re.search(r'"arenas": \[([^\]]*)\]', run(llmc, "inspect", plan, "--json"))[1]
    stages = [number(m) for m in re.findall(r"(?m)^  stage \d+: ([\d,]+) B", full)]
    assert stages == [int(n) for n in arenas.split(",")], (stages, arenas)
    rows = sections_of(full).get("communication", [])
    got = moves_of_explanation([row for row in rows if "single numbers" not in row])
    want = collections.Counter()
    for times, kind, axes in re.findall(r"(?m)^  (\d+) x (\w+) over ([\w ]+),", printed):
        if kind != "send":
            want[kind, axes] += int(times)
    assert got == want, (got, want)
    return len(short.splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    lines = [check(args.llmc, args.folder, case) for case in CASES]
    print(f"{len(CASES)} explanations agree with their plans; the longest has {max(lines)} lines")


if __name__ == "__main__":
    main()
