# ===- flops.py - What plans of families compute, on each target ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Families whose products a plan for GPUs makes by kernels in place of a library: the
plan has the flops of the model of a plan for processors, and its calls and kernels have
the operations of all of that plan's calls, so that predicted times are of the same work.

    python flops.py --llmc llmc -o out
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

# Attention of f32 and under a mask of the data, convolutions, and products of bf16 alone.
CASES = [("llama", "tensor2"), ("encoder_decoder", "one"), ("cnn", "data2"), ("unet", "one"), ("bf16", "one")]


def run(*command):
    result = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def count(a, name, mesh, target):
    """(flops of the model, operations of a step on a device, kernels that stand in place of a library)."""
    folder = a.out / name
    folder.mkdir(parents=True, exist_ok=True)
    model, config, ordered = folder / "model.mlir", folder / "model.toml", folder / f"{target[:4]}.mlir"
    if not model.exists():
        model.write_text(families.text_of(MAKERS[name]()), encoding="utf-8")
        config.write_text(families.configuration(MAKERS[name](), mesh), encoding="utf-8")
    flags = ["--config", config, "--target", target]
    flags += ["--mesh", families.MESHES[mesh]] if families.MESHES[mesh] else []
    run(a.llmc, "compile", model, *flags, "--compile-to=ordered", "-o", ordered)
    text = ordered.read_text(encoding="utf-8")
    flops = re.findall(r"dist\.model_flops = (\S+) : f64", text)
    report = run(a.llmc, "explain", model, *flags)
    operations = re.search(r"(\S+) operations of products a step on a device$", report, re.MULTILINE).group(1)
    return flops, operations, len(re.findall(r"plan\.kernel .*dist\.operations = ", text))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", default="llmc")
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    a = p.parse_args()
    failed = 0
    for name, mesh in CASES:
        cpu, gpu = count(a, name, mesh, "cpu"), count(a, name, mesh, "cuda:sm_90")
        good = cpu[:2] == gpu[:2] and cpu[0] and cpu[2] == 0 and (gpu[2] > 0 or name == "bf16")
        failed += not good
        print(f"{'passed' if good else 'FAILED'} {name} {mesh}: {cpu[0]} and {gpu[0]} flops of the model, {cpu[1]} and "
              f"{gpu[1]} operations on a device, {gpu[2]} kernels in place of a library")
    print(f"{len(CASES)} families, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
