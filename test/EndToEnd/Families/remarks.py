# ===- remarks.py - Costs that the compiler reports, and those there are ----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles each family on meshes and compares the remarks of category `costs` with what
the materialized program says: all-gathers, values that devices hold or compute alike,
and padding are read here from the text, by its types alone. Each must have its remark,
with place, axes and bytes, as often as it occurs, and each remark its fact.

    python remarks.py --llmc llmc --llmc-opt llmc-opt -o out
    python remarks.py --llmc llmc --llmc-opt llmc-opt -o out --only llama,moe
"""

import argparse
import collections
import math
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402

# Layouts of family.py, and the mesh.
MESHES = {
    "4 x 2": ("data2", "data=4,tensor=2"),
    "3 x 3": ("data3", "data=3,tensor=3"),
    "fsdp 2 x 2": ("fsdp", "data=2,tensor=2"),
    "zero3 2": ("zero3", "data=2"),
    "pipe 2 x 2": ("data2", "pipe=2,data=2"),
}
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+), (#layout\d*)>")
BITS = {"i1": 8, "bf16": 16, "f16": 16}
REMARK = re.compile(r"(.*?): remark: .*?\[Analysis\] (\w+) \| Category:costs \| Remark=\"(.*)\"$")
TIMES = re.compile(r" \((\d+) times\)$")
AXES = re.compile(r"\{[^}]*\}")


class Program:
    """The text of a module in generic form, with its layouts, places and mesh."""

    def __init__(self, text):
        self.text = text
        self.mesh = {k: int(n) for k, n in re.findall(r'"(\w+)"=(\d+)', re.search(r"mesh_axes<[^>]*>", text)[0])}
        self.layouts = {n: read_layout(t) for n, t in re.findall(r"^(#layout\d*) = (.*)$", text, re.M)}
        self.locs = dict(re.findall(r"^(#loc\d*) = loc\((.*)\)$", text, re.M))

    def place(self, loc):
        """file:line:column, or empty where there is a name alone."""
        while re.search(r"#loc\d*", loc):
            loc = re.sub(r"#loc\d*", lambda m: self.locs[m[0]], loc)
        found = re.search(r'"([^"]*)":(\d+):(\d+)', loc)
        return ":".join(found.groups()) if found else ""

    def tensors(self, text):
        for shape, element, layout in TENSOR.findall(text):
            bits = BITS.get(element) or int(re.sub(r"\D", "", element))
            sizes = [int(size) for size in shape.split("x")[:-1]]
            yield Tensor(sizes, bits // 8, self.layouts[layout], self.mesh)


class Tensor:
    def __init__(self, sizes, width, layout, mesh):
        dims, self.partial = layout
        self.split = {axis for axes, _ in dims for axis in axes}
        stored = [extent or size for size, (_, extent) in zip(sizes, dims)]
        self.local = [n // math.prod(mesh[a] for a in axes) for n, (axes, _) in zip(stored, dims)]
        self.bytes = width * math.prod(self.local)
        self.stored, self.whole = width * math.prod(stored), width * math.prod(sizes)
        self.mesh = mesh

    def replicas(self):
        free = [a for a, n in self.mesh.items() if n > 1 and a not in self.split | self.partial and a != "pipe"]
        return [a for a in free if any(size >= self.mesh[a] for size in self.local)]


def read_layout(text):
    """For each dim its axes and the size with padding (0: as it is); partial axes."""
    body, dims = text[text.index("[") + 1 :], []
    while not body.startswith("]"):
        axes, body = re.match(r"(?:, )?\{([^}]*)\}(.*)", body).groups()
        extent = re.match(r":(\d+|\[[^\]]*\])", body)
        size = 0
        if extent:
            body = body[extent.end() :]
            size = math.prod(int(atom.split(":")[-1]) for atom in extent[1].strip("[]").split(", "))
        dims.append((re.findall(r'"(\w+)"', axes), size))
    partial = re.search(r"partial = \[(.*?)\]", text)
    return dims, set(re.findall(r'"(\w+)"', partial[1])) if partial else set()


def show(axes):
    return "{" + ", ".join(f'"{axis}"' for axis in axes) + "}"


def hide(name):
    return re.sub(r"\.\d+(?=[.']|$)", ".*", name)


def read_functions(program):
    """Of each function of the step: its name, its head, the lines of its ops."""
    names = set(re.findall(r"@([\w.$]+)", re.search(r'"dist\.step".*', program.text)[0]))
    for part in program.text.split('\n  "func.func"')[1:]:
        name = re.search(r'sym_name = "([^"]*)"', part)[1]
        if name not in names:
            continue
        head, arguments, *lines = part.split("\n")
        ops, opened = [], ""
        for line in lines[: lines.index(next(x for x in lines if x.startswith("  })")))]:
            if not line.startswith("    ") or line[4] in " ^":
                continue
            opened += line
            if not line.endswith("({"):
                ops.append(opened)
                opened = ""
        yield name, head, arguments, ops


def facts_of_argument(port, tensor):
    # A "$" marks words of llmc's own in the name of a state.
    name = re.search(r'(?:@|input ")([\w.$]+)', port)[1].replace("$", "")
    if tensor.stored != tensor.whole:
        yield "pad", "", hide(name), tensor.stored - tensor.whole, tensor.stored
    if axes := tensor.replicas():
        copies = math.prod(tensor.mesh[a] for a in axes)
        yield "held", "", hide(name), show(axes), copies, tensor.bytes


def facts_of_op(program, line):
    op = re.match(r'\s*(?:%[\w:]+ = )?"([\w.]+)"\((.*?)\)', line)
    name, operands = op.groups()
    types, loc = re.match(r".* : (\(.*?) loc\((.*)\)$", line).groups()
    place, results = program.place(loc), list(program.tensors(types.split(" -> ")[-1]))
    if name == "dist.all_gather":
        axes = re.findall(r'"(\w+)"', re.search(r"axes = \[(.*?)\]", line)[1])
        for tensor in results:
            yield "gather", place, show(axes), tensor.bytes - tensor.bytes // math.prod(program.mesh[a] for a in axes)
    if name.startswith("dist."):
        return
    for tensor in results:
        if tensor.stored != tensor.whole:
            yield "pad", place, "", tensor.stored - tensor.whole, tensor.stored
        if operands and (axes := tensor.replicas()):
            yield "replication", place, name, show(axes), tensor.bytes


def facts_of_kept(program, ops):
    """What is prepared before the microbatches and read in them."""
    prepared = {}
    for line in ops:
        results, name, operands = re.match(r'\s*(?:%(\w+)(?::\d+)? = )?"([\w.]+)"\((.*?)\)', line).groups()
        if "#dist.phase<prepare>" in line:
            types, loc = re.match(r".* : (\(.*?) loc\((.*)\)$", line).groups()
            prepared[results] = "keep", program.place(loc), name, next(program.tensors(types.split(" -> ")[-1])).bytes
            continue
        for each in re.findall(r"%(\w+)", operands):
            if fact := prepared.pop(each, None):
                yield fact


def find_facts(program):
    facts = collections.Counter()
    for name, head, arguments, ops in read_functions(program):
        ports = re.findall(r"#dist\.port<([^>]*)>", head[: head.index("function_type")])
        for port, tensor in zip(ports, program.tensors(arguments)):
            if not name.endswith(".update") and re.match("parameter|optimizer|carried|constant|input", port):
                facts.update(facts_of_argument(port, tensor))
        facts.update(facts_of_kept(program, ops))
        for line in ops:
            facts.update(facts_of_op(program, line))
    return facts


def read_remark(place, kind, text):
    numbers = [int(n) for n in re.findall(r"(\d+) (?:B|of|copies)\b", text)]
    if place.startswith("<unknown>"):
        place = ""
    subject = re.search(r"'([^']*)'", text)[1]
    if kind == "keep":
        return kind, place, subject, int(re.search(r"(\d+) B on each device", text)[1])
    axes = AXES.search(text)[0]
    if kind == "gather":
        return kind, place, axes, numbers[-1]
    if kind == "pad":
        padding, stored = re.search(r": (\d+) of (\d+) B are padding", text).groups()
        return kind, place, hide(subject) if text.startswith("'") and not place else "", int(padding), int(stored)
    if text.startswith("'"):
        copies, size = re.search(r": (\d+) copies of (\d+) B", text).groups()
        return "held", place, hide(subject), axes, int(copies), int(size)
    return kind, place, subject, axes, int(re.search(r"(\d+) B on each", text)[1])


def read_remarks(text):
    remarks = collections.Counter()
    for line in text.splitlines():
        if match := REMARK.match(line):
            place, kind, body = match.groups()
            times = TIMES.search(body)
            body = TIMES.sub("", body)
            remarks[read_remark(place, kind, body)] += int(times[1]) if times else 1
    return remarks


def compile_family(a, family, layouts, mesh, out):
    """The program after phase 3, in generic form, and what the pass says of it."""
    out.mkdir(parents=True, exist_ok=True)
    model, config, text = out / "model.mlir", out / "config.toml", out / "materialized.mlir"
    model.write_text(families.text_of(family), encoding="utf-8")
    config.write_text(families.configuration(family, layouts), encoding="utf-8")
    command = [a.llmc, "compile", model, "--config", config, "--mesh", mesh, "--compile-to=materialized", "-o", text]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stderr)
    command = [a.llmc_opt, text, "--llmc-report-costs=least-bytes=0", "--remarks-filter=costs", "--remark-policy=all"]
    command += ["--remark-format=emitRemark", "--mlir-print-op-generic", "--mlir-print-debuginfo"]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return Program(process.stdout), process.stderr


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--llmc-opt", required=True)
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", default=",".join(MESHES), help="these meshes alone")
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    names, meshes = a.only.split(",") if a.only else list(MAKERS), a.meshes.split(",")
    failed, total = 0, collections.Counter()
    for name in names:
        for mesh in meshes:
            out = pathlib.Path(a.output) / name / mesh.replace(" ", "")
            program, text = compile_family(a, MAKERS[name](), *MESHES[mesh], out)
            facts, remarks = find_facts(program), read_remarks(text)
            for what, difference in ("no remark of", facts - remarks), ("nothing behind", remarks - facts):
                for fact, times in difference.items():
                    print(f"FAILED  {name} {mesh}: {what} {fact}, {times} times")
            failed += facts != remarks
            for fact, times in facts.items():
                total[fact[0]] += times
    found = ", ".join(f"{total[kind]} {kind}" for kind in sorted(total))
    print(f"{len(names)} families, {len(names) * len(meshes)} programs, {failed} failed: {found}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
