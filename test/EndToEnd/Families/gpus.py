# ===- gpus.py - Families of models on stand-ins of CUDA's libraries --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains families of models by the backend of GPUs, on libraries that stand in for NVIDIA's.

    python gpus.py --bin build/dev/bin --stand-ins build/dev/test/Runtime/StandIn/lib -o out table.txt
    python gpus.py ... --only llama,gru --meshes tensor2
    python gpus.py ... --only cnn,unet --target cuda:fibers+cudnn
    python gpus.py ... --only llama,vit --target cuda:fibers+cudnn --precision bf16 --wide-heads --calls attention

Each family takes a few steps on one device and on two meshes (that of its row in
the table, and another one), thread by thread on the processor, streams in a random legal order:

    against processors   losses and norms of a plan for processors on the same mesh, relative: 2e-5
                         (bf16 and f16: 2e-3); FP8 with attention as products
    eager and captured   losses, norms and the parameters after all steps, bit by bit
"""

import argparse
import concurrent.futures
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import time

import attention
import train_families
from makers import MAKERS
from train_families import HERE, distance, families

# The module of the same name in the folder above.
spec = importlib.util.spec_from_file_location("gpt_on_gpus", HERE.parent / "gpus.py")
gpt = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpt)

BARS = {"bf16": 2e-3, "f16": 2e-3}


class Family(gpt.Runs):
    """All plans and runs of one family."""

    def __init__(self, a, name):
        super().__init__(a)
        self.family, self.out = MAKERS[name](), a.out / name
        self.out.mkdir(parents=True)
        self.model = self.out / "model.mlir"
        self.model.write_text(families.text_of(self.family), encoding="utf-8")

    def compile(self, case, target, folder):
        """The mesh `case` of family.py."""
        config = self.out / f"{case}.toml"
        config.write_text(families.configuration(self.family, case), encoding="utf-8")
        mesh = families.MESHES[case]
        precision = [f"--set=training.precision={self.a.precision}"] if self.a.precision else []
        precision += [f"--set=training.fp8_scaling={self.a.scaling}"] if self.a.scaling else []
        precision += ["--set=training.attention=products"] if self.a.precision == "fp8" else []
        gpt.run([self.a.bin / "llmc", "compile", self.model, "--config", config, "--target", target, "--threads", 1,
                 *precision, *(["--mesh", mesh] if mesh else []), "-o", folder])

    def count_calls(self, plan):
        """How many of the kind `--calls` the plan leaves to a library: one at least."""
        text = subprocess.run([self.a.bin / "llmc", "inspect", plan], capture_output=True, text=True, check=True).stdout
        count = text.count(f"library {self.a.calls}(")
        if count == 0:
            raise gpt.Failed(f"expected calls of {self.a.calls} in the plan, got none")
        return f", {count} calls"

    def check(self, number, case):
        """A line, and whether all is as it should be."""
        name, folder = self.family.name, self.out / case
        cuda = {**self.cuda, "LLMC_STANDIN_SEED": str(number + 1)}
        try:
            self.compile(case, self.a.target, folder / "cuda")
            calls = self.count_calls(folder / "cuda") if self.a.calls else ""
            ours, captured = self.train(folder / "cuda", "captured", environment=cuda)
            again, eager = self.train(folder / "cuda", "eager", environment={**cuda, "LLMC_CUDA_GRAPHS": "0"})
            self.compile(case, "cpu", folder / "cpu")
            theirs, _ = self.train(folder / "cpu", "cpu")
        except gpt.Failed as failed:
            return f"FAILED {name} {case}: {failed}", False
        apart = distance([row[:2] for row in ours], [row[:2] for row in theirs])
        good = apart <= BARS.get(self.a.precision or name, gpt.BAR) and captured == eager and ours == again
        text = f"{apart:.1e} from processors, captured and eager {'equal' if captured == eager else 'DIFFER'}{calls}"
        return f"{'passed' if good else 'FAILED'} {name} {case}: {text}", good


def meshes_of(row, *_):
    """One device, the row's first mesh, and another one."""
    other = "data2" if row != "data2" else "tensor2"
    return ["one", row, other]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("--stand-ins", type=pathlib.Path, required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--jobs", type=int, default=1, help="families at a time")
    p.add_argument("--target", default="cuda:fibers", help="what plans for GPUs are compiled for")
    p.add_argument("--precision", help="of products, in place of the model's: bf16, f16, fp8")
    p.add_argument("--scaling", help="of fp8: current, delayed")
    p.add_argument("--wide-heads", action="store_true", help="heads of attention have 8 features; llama hides no spaces")
    p.add_argument("--calls", help="a kind of call that each plan must leave to a library")
    p.add_argument("--only", help="these families alone")
    p.add_argument("--meshes", help="these meshes alone")
    p.add_argument("table")
    a = p.parse_args()
    a.data, start = families.CORPUS, time.time()
    if a.wide_heads:
        attention.HEADS = attention.WIDTH // 8
        MAKERS["llama"] = lambda: attention.make_llama(8, hides_spaces=False)
    every = [mesh for mesh in families.MESHES if mesh != "one"]
    table = train_families.read_table(a.table, every)
    names = a.only.split(",") if a.only else list(table)
    shutil.rmtree(a.out, ignore_errors=True)
    cases = failed = 0

    def work(name):
        family, found = Family(a, name), []
        for number, mesh in enumerate(a.meshes.split(",") if a.meshes else meshes_of(*table[name])):
            line, good = family.check(number, mesh)
            print(line, flush=True)
            found.append(good)
        return found

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for found in pool.map(work, names):
            cases += len(found)
            failed += found.count(False)
    print(f"{len(names)} families, {cases} cases, {failed} failed, {time.time() - start:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
