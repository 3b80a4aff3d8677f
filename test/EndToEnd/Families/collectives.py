# ===- collectives.py - What families communicate, against formulas --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles each family on meshes and compares the bytes that a device receives in a step
of one microbatch with the formula written by hand (formulas.py).

A plan must receive no more than the formula, or than the formula and the excess that is
listed there with its cause; an excess that is gone must leave the list. Scalars (loss,
norm) are left out.

    python collectives.py --llmc llmc -o out
    python collectives.py --llmc llmc -o out --only llama,moe
"""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import family as families  # noqa: E402
import formulas  # noqa: E402
from makers import MAKERS  # noqa: E402

# Name -> layouts of family.py, mesh, devices on data and tensor. Of "fsdp" the rows say
# nothing of the use of parameters, as annotations of JAX do.
MESHES = {
    "data=2": ("data2", "data=2", 2, 1),
    "tensor=2": ("tensor2", "tensor=2", 1, 2),
    "2 x 2": ("data2", "data=2,tensor=2", 2, 2),
    "4 x 2": ("data2", "data=4,tensor=2", 4, 2),
    "fsdp 2": ("fsdp", "data=2", 2, 1),
    "fsdp 2 x 2": ("fsdp", "data=2,tensor=2", 2, 2),
}
ROW = re.compile(r"  train: (\d+) x (\w+) ([\w ]+), (\d+) -> (\d+) bytes a step")
# Received for each byte of the result, by the number of devices.
RECEIVED = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: n - 1,
    "all_to_all": lambda n: (n - 1) / n,
    "permute": lambda n: 1,
}


@dataclasses.dataclass(frozen=True)
class Collective:
    kind: str
    axes: tuple
    count: int
    # Of the results on a device.
    size: int

    def received(self, mesh):
        members = 1
        for axis in self.axes:
            members *= mesh[axis]
        return RECEIVED[self.kind](members) * self.size


def parse_mesh(text):
    return {name: int(size) for name, size in (axis.split("=") for axis in text.split(","))}


def received(collectives, mesh):
    return sum(each.received(parse_mesh(mesh)) for each in collectives)


def compile_family(llmc, family, layouts, mesh, out):
    """The collectives of a step; a string where the compiler refuses."""
    out.mkdir(parents=True, exist_ok=True)
    model, config, plan = out / "model.mlir", out / "config.toml", out / "plan"
    model.write_text(families.text_of(family), encoding="utf-8")
    config.write_text(families.configuration(family, layouts), encoding="utf-8")
    command = [llmc, "compile", model, "--config", config, "--mesh", mesh, "-o", plan]
    command += ["--set", "training.microbatches=1"]
    process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if process.returncode:
        return process.stderr.strip().splitlines()[0]
    command = [llmc, "inspect", "plan", plan / "plan.llmc"]
    text = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout
    rows = [match.groups() for match in map(ROW.match, text.splitlines()) if match]
    return [Collective(kind, tuple(axes.split()), int(n), int(size)) for n, kind, axes, _, size in rows]


def judge(name, mesh, found, wanted):
    """The verdict as a line, and whether it is good."""
    if isinstance(found, str):
        return f"FAILED  {name} {mesh}: {found}", False
    size = received(found, MESHES[mesh][1])
    excess, why = formulas.EXCESS.get((name, mesh), (0, ""))
    above = size - wanted
    good = above < 1 if not excess else abs(above - excess) < 1
    line = f"{name} {mesh}: {size:.0f} B received, by hand {wanted:.0f}"
    if excess:
        line += f", {excess} more: {why}" if good else f", listed {excess} more"
    return f"{'passed' if good else 'FAILED'}  {line}", good


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", default=",".join(MESHES), help="these meshes alone")
    p.add_argument("--json", help="writes (family, mesh) -> collectives")
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    names = a.only.split(",") if a.only else list(MAKERS)
    meshes = a.meshes.split(",")
    failed, table = 0, {}
    for name in names:
        family = MAKERS[name]()
        for mesh in meshes:
            layouts, axes, data, tensor = MESHES[mesh]
            out = pathlib.Path(a.output) / name / mesh.replace(" ", "")
            found = compile_family(a.llmc, family, layouts, axes, out)
            line, good = judge(name, mesh, found, formulas.received(family, data, tensor, layouts == "fsdp"))
            failed += not good
            print(line, flush=True)
            if not isinstance(found, str):
                table[f"{name} {mesh}"] = [dataclasses.astuple(each) for each in found]
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(table), encoding="utf-8")
    print(f"{len(names)} families, {len(names) * len(meshes)} plans, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
