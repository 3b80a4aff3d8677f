# ===- numbered_models.py - Faults of ONNX files ------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Faults 1 to 5, 7 and 8 of docs/refusals.md: ONNX files, by the command line.

    python numbered_models.py BIN FOLDER [NUMBER ...]
"""

import os
import pathlib
import random
import re
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nph

from numbered import fault, run_all

HERE = pathlib.Path(__file__).resolve().parent
IMPORT = ["--set", "data.inputs.x=0", "--compile-to=import", "-o", "-"]


def f32(name, *dims):
    return h.make_tensor_value_info(name, T.FLOAT, dims)


def save(runs, name, nodes, weights=(), outputs=("y",), functions=(), version=18):
    graph = h.make_graph(nodes, "g", [f32("x", 2, 3)], [f32(y, 2, 3) for y in outputs], weights)
    opsets = [h.make_opsetid("", version)] + [h.make_opsetid(f.domain, 1) for f in functions]
    made = h.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)
    path = runs.out / f"{name}.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def weight(values=6, **more):
    return nph.from_array(np.ones((2, 3), np.float32)[: values // 3], "w")


ADD = [h.make_node("Add", ["x", "w"], ["y"], name="y")]


@fault(1)
def cut_onnx(runs):
    """ONNX files cut at 16 places, and with random bits turned."""
    whole = (HERE / "Torch/Models/gpt_fused.onnx").read_bytes()
    data = "gpt_fused.onnx.data"
    (runs.out / data).write_bytes((HERE / "Torch/Models" / data).read_bytes())
    compile_it = ["llmc", "compile", "m.onnx", "--config", HERE / "Torch/gpt.toml", "--compile-to=import", "-o", "-"]
    file = runs.out / "m.onnx"
    for i in range(16):
        file.write_bytes(whole[: len(whole) * i // 16])
        runs.ends(f"cut at {i}/16", compile_it, 3, r"m\.onnx: ")
    dice = random.Random(1)
    for i in range(48):
        bad = bytearray(whole)
        for _ in range(1 + i % 3):
            bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
        file.write_bytes(bad)
        runs.ends(f"turned bits {i}", compile_it, (0, 1, 2, 3, 5))


def external(runs, name, **entries):
    tensor = T()
    tensor.name, tensor.data_type, tensor.data_location = "w", T.FLOAT, T.EXTERNAL
    tensor.dims.extend([2, 3])
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    return save(runs, name, ADD, [tensor])


@fault(2)
def outside_data(runs):
    """External data that leaves the model's folder, by paths and links, or is no file."""
    inside = runs.out / "model"
    (inside / "sub").mkdir(parents=True)
    (runs.out / "secret").write_bytes(bytes(24))
    (inside / "link").symlink_to(runs.out / "secret")
    (inside / "up").symlink_to(runs.out)
    os.link(runs.out / "secret", inside / "hard")
    os.mkfifo(inside / "pipe")
    says = {
        "../secret": "within the model's folder", "sub/../../secret": "within the model's folder",
        str(runs.out / "secret"): "within the model's folder", "/dev/zero": "within the model's folder",
        "link": "no symbolic link", "up/secret": "", "hard": "a file with one name", "pipe": "regular file",
        "sub": "regular file", "none": "No such file",
    }
    for location, text in says.items():
        path = external(runs, "m", location=location)
        path.rename(inside / "m.onnx")
        runs.ends(location, ["llmc", "compile", "model/m.onnx", *IMPORT], 3, text)


@fault(3)
def places_of_data(runs):
    """Offsets and lengths of external data that are no numbers, wrap, or end beyond the file."""
    (runs.out / "data").write_bytes(bytes(24))
    good = {"location": "data", "offset": "0", "length": "24"}
    external(runs, "m", **good)
    runs.good("llmc", "compile", "m.onnx", *IMPORT)
    for key, value in (("offset", "-1"), ("offset", "x"), ("offset", "9223372036854775808"), ("offset", "18446744073709551600"),
                       ("offset", "4"), ("length", "-1"), ("length", "28"), ("length", "20"), ("length", "0x18"), ("length", "")):
        external(runs, "m", **{**good, key: value})
        runs.ends(f"{key} {value}", ["llmc", "compile", "m.onnx", *IMPORT], 3, r"m\.onnx: ")
    external(runs, "m", **good, verschluss="1")
    runs.ends("an unknown key", ["llmc", "compile", "m.onnx", *IMPORT], (0, 3))


@fault(4)
def sizes_of_weights(runs):
    """Initializers whose bytes, dimensions or fields contradict each other."""
    def changed(change):
        tensor = weight()
        change(tensor)
        save(runs, "m", ADD, [tensor])

    def cut(tensor):
        tensor.raw_data = tensor.raw_data[:-1]

    def longer(tensor):
        tensor.raw_data += b"x"

    def negative(tensor):
        tensor.dims[0] = -2

    def huge(tensor):
        tensor.dims[0] = tensor.dims[1] = 2**62

    def two(tensor):
        tensor.float_data.extend([1.0] * 6)

    for change in (cut, longer, negative, huge, two):
        changed(change)
        runs.ends(change.__name__, ["llmc", "compile", "m.onnx", *IMPORT], (3, 5), "'?w'?")


@fault(5)
def nested_graphs(runs):
    """Graphs inside of each other beyond the limit, and functions that call themselves."""
    deep = b""
    for _ in range(120):
        inner = b"\x32" + varint(len(deep)) + deep if deep else b""
        attribute = b"\x0a\x0bthen_branch" + inner
        node = b"\x22\x02If\x2a" + varint(len(attribute)) + attribute
        deep = b"\x0a" + varint(len(node)) + node
    (runs.out / "deep.onnx").write_bytes(b"\x3a" + varint(len(deep)) + deep)
    runs.ends("graphs in graphs", ["llmc", "compile", "deep.onnx", *IMPORT], 3, "inside each other")
    runs.ends("listed", ["llmc", "ops", "deep.onnx"], 3, "inside each other")
    loop = h.make_function("f", "again", ["x"], ["y"], [h.make_node("again", ["x"], ["y"], domain="f")], [h.make_opsetid("f", 1)])
    save(runs, "loop", [h.make_node("again", ["x"], ["y"], domain="f")], functions=[loop])
    runs.ends("a function that calls itself", ["llmc", "compile", "loop.onnx", *IMPORT], (1, 3, 5), "again|nest|inside")


def varint(number):
    text = b""
    while number > 127:
        text, number = text + bytes([number & 127 | 128]), number >> 7
    return text + bytes([number])


@fault(7)
def unknown_ops(runs):
    """Unknown ops, domains and versions: one list of all of them."""
    nodes = [h.make_node("Nope", ["x"], ["a"], name="first"), h.make_node("Nope", ["a"], ["b"]),
             h.make_node("Relu", ["b"], ["c"]), h.make_node("Gelu", ["c"], ["y"], domain="org.other", name="other")]
    save(runs, "m", nodes)
    runs.ends("compiled", ["llmc", "compile", "m.onnx", *IMPORT], 5, "Nope")
    runs.ends("listed", ["llmc", "ops", "m.onnx"], 5, "got 2 kinds")
    text = runs.finish("llmc", "ops", "m.onnx").stdout.decode()
    if not re.search(r"Nope +2 +first at 'first' +missing: not known\norg.other.Gelu +1 +first at 'other' +missing", text):
        runs.fail("the list", text)
    save(runs, "new", [h.make_node("Relu", ["x"], ["y"])], version=99)
    runs.ends("a newer set", ["llmc", "compile", "new.onnx", *IMPORT], 5, "version 28 of the operator set at most, got 99")


@fault(8)
def wrong_graphs(runs):
    """Cycles, names twice, names of nothing, nodes out of order, outputs of nobody."""
    relu = lambda x, y: h.make_node("Relu", [x], [y], name=f"n{y}")
    for name, nodes, outputs, text in (
        ("a cycle", [relu("b", "a"), relu("a", "b"), relu("b", "y")], ["y"], "'b' to be computed before it is read"),
        ("out of order", [relu("a", "y"), relu("x", "a")], ["y"], "'a' to be computed before it is read"),
        ("no such name", [relu("nobody", "y")], ["y"], "'nobody'"),
        ("a name twice", [relu("x", "y"), relu("x", "y")], ["y"], "each name once in a graph, got 'y' again"),
        ("no such output", [relu("x", "a")], ["y"], "output 'y'"),
    ):
        save(runs, "m", nodes, outputs=outputs)
        runs.ends(name, ["llmc", "compile", "m.onnx", *IMPORT], (1, 3), text)


if __name__ == "__main__":
    run_all(sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]] or None)
