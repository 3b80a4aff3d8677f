# ===- memory.py - Plans that do not fit, and what would ----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""For families of models on meshes: with a `machine.memory` a byte below what the plan
needs, llmc refuses it with code 4 before anything is written, and each way that it says
fits is asked for and compiled: it must fit, in as many bytes as were said, and the
smallest limit that was named must be enough. With as many bytes as are needed the plan is
written.

    python memory.py --llmc llmc -o out
"""

import argparse
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402

CASES = [("llama", "cube", "pipe=2,data=2,tensor=2"), ("mlp", "data2", "data=2")]
CASES += [("gru", "one", "")]
NUMBER = r"([\d,]+) B"


class Compiler:
    def __init__(self, llmc, folder, case):
        self.llmc, self.folder = llmc, folder
        name, mesh, self.mesh = case
        made = MAKERS[name]()
        self.model, self.config = folder / f"{name}.mlir", folder / f"{name}.toml"
        self.model.write_text(families.text_of(made), encoding="utf-8")
        self.text = families.configuration(made, mesh)
        self.plan = folder / f"{name}.plan"

    def run(self, *flags):
        self.config.write_text(self.text, encoding="utf-8")
        subprocess.run(["rm", "-rf", self.plan], check=True)
        command = [self.llmc, "compile", self.model, "--config", self.config, f"--mesh={self.mesh}", "-o", self.plan]
        command += ["--threads=1", f"--kernel-cache={self.folder}/cache", *flags]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def needs(self, *flags):
        """Bytes of the largest arena, from the plan that is written."""
        result = self.run(*flags)
        assert result.returncode == 0, result.stderr
        shown = subprocess.run(
            [self.llmc, "inspect", self.plan, "--json"], capture_output=True, text=True, check=True
        ).stdout
        return max(int(n) for n in re.search(r'"arenas": \[([^\]]*)\]', shown)[1].split(","))


def number(text):
    return int(text.replace(",", ""))


def check(compiler):
    needed = compiler.needs()
    refused = compiler.run(f"--set=machine.memory={needed - 1}")
    lines = refused.stderr.splitlines()
    assert refused.returncode == 4 and not compiler.plan.exists(), refused
    assert lines[-1].startswith("llmc: error[infeasible]: expected a plan within 'machine.memory'"), lines[-1]
    said = re.search(rf"within 'machine.memory', {NUMBER} on each device, got {NUMBER}", lines[-1])
    assert [number(said[1]), number(said[2])] == [needed - 1, needed], lines[-1]
    # The kinds are those of a plan, and largest values are in order.
    sizes = [number(m[1]) for line in lines if (m := re.match(rf"  \S+: \d+ x {NUMBER}, ", line))]
    assert 0 < len(sizes) <= 10 and sizes == sorted(sizes, reverse=True), sizes
    fits = 0
    for line in lines:
        if match := re.match(rf"  (fits|over)   (--set \S+(?: --set \S+)*): {NUMBER}", line):
            found = compiler.needs(*match[2].split())
            assert found == number(match[3]), (found, line)
            assert (found < needed) and ((match[1] == "fits") == (found <= needed - 1)), line
            fits += match[1] == "fits"
    if least := re.search(rf"ways that were tried is {NUMBER}", lines[-1]):
        tried = [number(m) for line in lines for m in re.findall(rf"^  .*: {NUMBER} \(", line)]
        assert number(least[1]) == min(tried) < needed, lines[-1]
    assert compiler.run(f"--set=machine.memory={needed}").returncode == 0
    return fits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    fits = sum(check(Compiler(args.llmc, args.folder, case)) for case in CASES)
    print(f"{len(CASES)} families: each refused a byte below what it needs; {fits} ways asked for fit as said")


if __name__ == "__main__":
    main()
