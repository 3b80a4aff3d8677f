# ===- repeated.py - What families move twice, or in every microbatch -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles each family on meshes and looks, in the text after phase 3, for collectives
that need not be done.

Two of one function that move the same value alike: values are numbered by what computes
them, so that a value which is computed twice counts as one. And those of a microbatch
whose value is the same in all microbatches: they may only gather a state that the row
stores split (FSDP), and each says so in its remark.

    python repeated.py --llmc llmc --llmc-opt llmc-opt -o out
    python repeated.py --llmc llmc --llmc-opt llmc-opt -o out --only llama,moe
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import remarks  # noqa: E402
from makers import MAKERS  # noqa: E402

# "recompute" stands in no text of phase 3: blocks are computed again from phase 6 on.
COLLECTIVE = re.compile(r"dist\.(all_reduce|all_gather|reduce_scatter|all_to_all|permute|broadcast|reduce|transfer)$")
MARKS = re.compile(r"(dist\.(block|phase) = (#dist\.phase<\w+>|\d+ : i64)|symbol = @\w+)(, )?")
# What has another value in each microbatch.
CHANGING = ("input", "carried", "gradient", "loss_sum", "count")


class Numbering:
    """Numbers for values, equal where they are computed alike from equal ones."""

    def __init__(self, head, arguments):
        ports = re.findall(r"#dist\.port<(\w+) ?([^>]*)>", head[: head.index("function_type")])
        names = re.findall(r"(%arg\d+): ", arguments)
        self.number = {name: f"{kind} {rest}" for name, (kind, rest) in zip(names, ports)}
        self.changing = {self.number[name] for name, (kind, _) in zip(names, ports) if kind in CHANGING}
        self.known = {}
        # Of moved values: the op, and the values by number.
        self.moved = collections.Counter()
        self.same = []

    def add(self, line):
        results, name = re.match(r'\s*(?:%(\w+)(?::\d+)? = )?"([\w.]+)"', line).groups()
        body = re.sub(r" loc\(.*?\)(?=$|\s|,|\))", "", MARKS.sub("", line.split("=", 1)[1] if results else line))
        # Names in regions are numbered from the top of the function.
        inner = {n: f"%_{i}" for i, n in enumerate(dict.fromkeys(re.findall(r"%\w+", body)))}
        key = re.sub(r"%\w+(?:#\d+)?", lambda m: self.number.get(m[0], inner.get(m[0], m[0])), body)
        read = [self.number[n] for n in re.findall(r"%\w+(?:#\d+)?", body) if n in self.number]
        value = self.known.setdefault(key, f"<{len(self.known)}>")
        changes = any(each in self.changing for each in read)
        for i in range(8):
            self.number[f"%{results}#{i}"] = f"{value}#{i}"
        self.number[f"%{results}"] = value
        if changes:
            self.changing |= {value} | {f"{value}#{i}" for i in range(8)}
        if COLLECTIVE.match(name):
            self.moved[key] += 1
            if not changes and "#dist.phase<prepare>" not in line:
                self.same.append((name, line.strip()[:120]))


def count_said(text):
    """How many gathers have a remark that they are the same in all microbatches."""
    lines = [line for line in text.splitlines() if "it is the same in all" in line]
    times = [remarks.TIMES.search(line.rstrip().rstrip('"')) for line in lines]
    return sum(int(each[1]) if each else 1 for each in times)


def judge(program, text, gathers):
    """What is done in vain, a line each; of `gathers` states may be stored split."""
    for name, head, arguments, ops in remarks.read_functions(program):
        numbering = Numbering(head, arguments)
        for op in ops:
            numbering.add(op)
        for key, times in numbering.moved.items():
            if times > 1:
                yield f"{name} moves {times} times: {key[:160]}"
        if not name.endswith(".microbatch"):
            continue
        kinds = collections.Counter(kind for kind, _ in numbering.same)
        expected = {"dist.all_gather": count_said(text)} if gathers else {}
        for kind in kinds:
            if kinds[kind] != expected.get(kind, 0):
                lines = [line for each, line in numbering.same if each == kind]
                yield f"{name} has {kinds[kind]} {kind} of what is the same, expected {expected.get(kind, 0)}: {lines[:1]}"
        if gathers and not kinds:
            yield f"{name} gathers no state"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--llmc-opt", required=True)
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", default=",".join(remarks.MESHES), help="these meshes alone")
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    names, meshes = a.only.split(",") if a.only else list(MAKERS), a.meshes.split(",")
    failed = 0
    for name in names:
        family = MAKERS[name]()
        for mesh in meshes:
            out = pathlib.Path(a.output) / name / mesh.replace(" ", "")
            family = dataclasses.replace(family, microbatches=2, step_loss="mean of microbatches")
            program, text = remarks.compile_family(a, family, *remarks.MESHES[mesh], out)
            gathers = mesh.startswith(("fsdp", "zero3"))
            found = list(judge(program, text, gathers))
            failed += bool(found)
            for line in found:
                print(f"FAILED  {name} {mesh}: {line}")
    print(f"{len(names)} families, {len(names) * len(meshes)} programs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
