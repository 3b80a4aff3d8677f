# ===- stop_gradient.py - A node that stops a derivative -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains mean(x * w * stop_gradient(w)) of an ONNX file for a step: the gradient is w * mean(x), and not twice that.

    python stop_gradient.py --llmc llmc -o out
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

CONFIG = """[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[[layout]]
input = "*"
dims = [["data"]]
[optimizer]
name = "sgd"
"""


def write_model(path, w):
    nodes = [
        helper.make_node("stop_gradient", ["w"], ["fixed"], domain="llmc"),
        helper.make_node("Mul", ["w", "fixed"], ["square"]),
        helper.make_node("Mul", ["x", "square"], ["product"]),
        helper.make_node("ReduceMean", ["product"], ["loss"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3])],
        [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])],
        [helper.make_tensor("w", TensorProto.FLOAT, w.shape, w)])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("llmc", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    w, x = np.array([1, -2, 3], np.float32), np.arange(12, dtype=np.float32).reshape(4, 3)
    write_model(a.output / "m.onnx", w)
    np.save(a.output / "x.npy", x)
    (a.output / "m.toml").write_text(CONFIG)
    for mesh in ([], ["--mesh", "data=2"]):
        dump = a.output / f"dump{len(mesh)}"
        command = [a.llmc, "train", a.output / "m.onnx", "--config", a.output / "m.toml", "--steps", 1, *mesh]
        command += ["--fetch", "grad.w", "--dump", dump]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        # Of the sum of the loss, whose count is that of x.
        found, wanted = np.load(dump / "grad.w.npy"), w * x.sum(axis=0)
        apart = np.abs(found - wanted).max()
        print(f"{'ok' if apart < 1e-6 else 'FAILED'} {' '.join(mesh)}: {apart:.1e}")
        if apart >= 1e-6:
            sys.exit(f"expected {wanted}, got {found}")


if __name__ == "__main__":
    main()
