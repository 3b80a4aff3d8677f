#!/usr/bin/env python3
# ===- large.py - A model of 1.5 billion parameters -----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes GPT-2-XL as an ONNX file with external data, 6.2 GB that take no place on the
disk, and lists its ops and plans its training step. Bars are seconds of processor time
and the peak of memory: no weight is ever read.

    large.py --llmc llmc -o out
"""
import argparse
import pathlib
import resource
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h

LAYERS, D, HEADS, VOCABULARY, LENGTH = 48, 1600, 25, 50257, 1024
MOST_SECONDS, MOST_KB = 10, 1 << 20


class Writer:
    def __init__(self):
        self.nodes, self.initial, self.offset = [], [], 0

    def weight(self, name, *dims):
        self.offset = (self.offset + 63) // 64 * 64
        size = 4 * int(np.prod(dims))
        tensor = T(name=name, data_type=T.FLOAT, dims=dims, data_location=T.EXTERNAL)
        for key, value in (("location", "model.data"), ("offset", self.offset), ("length", size)):
            tensor.external_data.add(key=key, value=str(value))
        self.offset += size
        self.initial.append(tensor)
        return name

    def constant(self, name, value):
        self.initial.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(h.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def linear(self, x, name, rows, columns):
        product = self.node("MatMul", [x, self.weight(f"{name}.weight", rows, columns)], f"{name}.product")
        return self.node("Add", [product, self.weight(f"{name}.bias", columns)], f"{name}.sum")

    def norm(self, x, name):
        return self.node("LayerNormalization", [x, self.weight(f"{name}.weight", D), self.weight(f"{name}.bias", D)], name)

    def attention(self, x, p):
        qkv = self.linear(x, f"{p}.qkv", D, 3 * D)
        self.nodes.append(h.make_node("Split", [qkv, "thirds"], [f"{p}.{c}" for c in "qkv"], axis=2))
        q, k, v = (self.node("Transpose", [self.node("Reshape", [f"{p}.{c}", "split"], f"{p}.{c}.heads")], f"{p}.{c}.t",
                             perm=[0, 2, 3, 1] if c == "k" else [0, 2, 1, 3]) for c in "qkv")
        scores = self.node("Mul", [self.node("MatMul", [q, k], f"{p}.scores"), "scale"], f"{p}.scaled")
        seen = self.node("Softmax", [self.node("Where", ["mask", scores, "low"], f"{p}.masked")], f"{p}.weights")
        heads = self.node("Transpose", [self.node("MatMul", [seen, v], f"{p}.sums")], f"{p}.turned", perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", [heads, "join"], f"{p}.joined"), f"{p}.proj", D, D)

    def block(self, x, p):
        x = self.node("Add", [x, self.attention(self.norm(x, f"{p}.ln1"), p)], f"{p}.x1")
        wide = self.node("Gelu", [self.linear(self.norm(x, f"{p}.ln2"), f"{p}.fc", D, 4 * D)], f"{p}.gelu", approximate="tanh")
        return self.node("Add", [x, self.linear(wide, f"{p}.out", 4 * D, D)], f"{p}.x2")

    def write(self, folder):
        self.constant("thirds", [D] * 3)
        self.constant("split", [0, 0, HEADS, D // HEADS])
        self.constant("join", [0, 0, D])
        self.constant("scale", np.float32((D / HEADS) ** -0.5))
        self.constant("low", np.float32(-1e9))
        self.constant("mask", np.tril(np.ones((LENGTH, LENGTH), bool)))
        table = self.weight("wte.weight", VOCABULARY, D)
        place = self.node("Gather", [self.weight("wpe.weight", LENGTH, D), self.constant("places", np.arange(LENGTH))], "place")
        x = self.node("Add", [self.node("Gather", [table, "tokens"], "token"), place], "x")
        for i in range(LAYERS):
            x = self.block(x, f"h.{i}")
        self.node("MatMul", [self.norm(x, "ln_f"), self.node("Transpose", [table], "turned", perm=[1, 0])], "logits")
        graph = h.make_graph(self.nodes, "gpt2-xl", [h.make_tensor_value_info("tokens", T.INT64, ["batch", LENGTH])],
                             [h.make_tensor_value_info("logits", T.FLOAT, ["batch", LENGTH, VOCABULARY])], self.initial)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 20)], ir_version=10)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        with open(folder / "model.data", "wb") as file:
            file.truncate(self.offset)
        return self.offset // 4


def measure(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    parameters = Writer().write(a.output)
    model, failed = a.output / "model.onnx", 0
    loss = ["--set", "data.inputs.tokens=0", "--set", "loss.kind=next-token", "--dim", "batch=1"]
    for name, words in (("ops", ["ops", model]), ("plan", ["compile", model, *loss, "-o", a.output / "plan"])):
        seconds, memory = measure([a.llmc, *words])
        bad = seconds > MOST_SECONDS or memory > MOST_KB
        failed += bad
        print(f"{'FAILED' if bad else 'passed'}  {name}: {seconds:.1f} s (bar {MOST_SECONDS}), {memory >> 10} MiB (bar {MOST_KB >> 10})")
    print(f"{parameters:,} parameters, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
