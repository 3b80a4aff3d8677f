# ===- pairs_onnx.py - The model of pairs.py as an ONNX file ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The GPT of pairs.py, of the same names and shapes, as a graph of ONNX's ops.

Its weights are drawn here, since those of an ONNX file lie in the file. Layers that are a
loop are a `Scan` over stacks of their weights.
"""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Writer:
    """Nodes of one graph; values are their names."""

    def __init__(self, sizes, is_narrow, prefix=""):
        self.sizes, self.is_narrow, self.prefix = sizes, is_narrow, prefix
        self.nodes = []

    def op(self, kind, *inputs, number=1, **attributes):
        names = [f"{self.prefix}{kind}_{len(self.nodes)}_{i}" for i in range(number)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if number == 1 else names

    def constant(self, value, dtype=np.float32):
        return self.op("Constant", value=numpy_helper.from_array(np.array(value, dtype)))

    def wide(self, x):
        return self.op("Cast", x, to=TensorProto.FLOAT) if self.is_narrow else x

    def narrow(self, x):
        return self.op("Cast", x, to=TensorProto.BFLOAT16) if self.is_narrow else x

    def words(self, x):
        return self.op("Mod", x, self.constant(self.sizes["words"], np.int32))

    def norm(self, scale, x):
        x = self.wide(x)
        mean = self.op("ReduceMean", self.op("Mul", x, x), self.constant([-1], np.int64), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(1e-5)))
        return self.op("Mul", self.narrow(self.op("Div", x, root)), scale)

    def attend(self, p, x):
        s = self.sizes
        shape = self.constant([s["batch"], s["seq"], s["heads"], s["width"] // s["heads"]], np.int64)
        parts = self.op("Split", self.op("MatMul", x, p["qkv"]), number=3, axis=-1, num_outputs=3)
        q, k, v = (self.op("Transpose", self.op("Reshape", z, shape), perm=[0, 2, 1, 3]) for z in parts)
        scores = self.wide(self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2])))
        scores = self.op("Mul", scores, self.constant((s["width"] // s["heads"]) ** -0.5))
        mask = self.constant(np.tril(np.ones((s["seq"], s["seq"]))), bool)
        scores = self.op("Where", mask, scores, self.constant(-1e9))
        y = self.op("MatMul", self.narrow(self.op("Softmax", scores, axis=-1)), v)
        flat = self.constant([s["batch"], s["seq"], s["width"]], np.int64)
        y = self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), flat)
        return self.op("MatMul", y, p["proj"])

    def block(self, p, x):
        x = self.op("Add", x, self.attend(p, self.norm(p["scale1"], x)))
        hidden = self.op("Gelu", self.op("MatMul", self.norm(p["scale2"], x), p["in"]), approximate="tanh")
        return self.op("Add", x, self.op("MatMul", hidden, p["out"]))


def scan_layers(w, stacks, layer, x):
    """All layers as one Scan; `layer` has the shapes of a layer's weights by name."""
    kind = TensorProto.BFLOAT16 if w.is_narrow else TensorProto.FLOAT
    s, body = w.sizes, Writer(w.sizes, w.is_narrow, "layer_")
    made = body.block({name: f"layer_{name}" for name in layer}, "layer_x")
    inputs = [helper.make_tensor_value_info("layer_x", kind, [s["batch"], s["seq"], s["width"]])]
    inputs += [helper.make_tensor_value_info(f"layer_{name}", kind, shape) for name, shape in layer.items()]
    outputs = [helper.make_tensor_value_info(made, kind, [s["batch"], s["seq"], s["width"]])]
    graph = helper.make_graph(body.nodes, "layer", inputs, outputs)
    return w.op("Scan", x, *(stacks[name] for name in layer), body=graph, num_scan_inputs=len(layer))


def write(path, shapes, sizes, is_narrow, is_loop):
    """`shapes`: name -> shape of each parameter; a loop's are stacks `blocks.qkv`."""
    w, g = Writer(sizes, is_narrow), np.random.default_rng(0)
    x = w.op("Gather", "embed", w.words("tokens"))
    if is_loop:
        layer = {name.split(".")[-1]: shape[1:] for name, shape in shapes.items() if name.startswith("blocks.")}
        x = scan_layers(w, {name: f"blocks.{name}" for name in layer}, layer, x)
    else:
        for i in range(sizes["layers"]):
            prefix = f"blocks.{i}."
            x = w.block({n[len(prefix) :]: n for n in shapes if n.startswith(prefix)}, x)
    head = "head" if "head" in shapes else w.op("Transpose", "embed", perm=[1, 0])
    logits = w.op("Transpose", w.wide(w.op("MatMul", x, head)), perm=[0, 2, 1])
    w.nodes.append(helper.make_node("SoftmaxCrossEntropyLoss", [logits, w.words("targets")], ["loss"], reduction="mean"))
    draw = lambda name, shape: np.ones(shape) if "scale" in name else 0.2 * g.standard_normal(shape)
    dtype = ml_dtypes.bfloat16 if is_narrow else np.float32
    weights = [numpy_helper.from_array(draw(n, shape).astype(dtype), n) for n, shape in shapes.items()]
    ids = [sizes["batch"], sizes["seq"]]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ids) for name in ("tokens", "targets")]
    outputs = [helper.make_tensor_value_info("loss", TensorProto.FLOAT, [])]
    graph = helper.make_graph(w.nodes, "gpt", inputs, outputs, weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10), path)
