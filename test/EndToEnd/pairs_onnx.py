# ===- pairs_onnx.py - The model of pairs.py as an ONNX file ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The GPT of pairs.py, of the same names and shapes, as a graph of ONNX's ops.

Its weights are drawn here, since those of an ONNX file lie in the file. Layers that are a
loop are a `Scan` over stacks of their weights. What a model in JAX says by constraints, the
file says by the devices of its tensors (IR version 11), of which an `Identity` stands between
two that differ.
"""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20


class Writer:
    """Nodes of one graph; values are their names."""

    def __init__(self, sizes, is_narrow, places=None, prefix=""):
        self.sizes, self.is_narrow, self.prefix = sizes, is_narrow, prefix
        self.places = places or {}
        self.nodes = []

    def op(self, kind, *inputs, number=1, **attributes):
        names = [f"{self.prefix}{kind}_{len(self.nodes)}_{i}" for i in range(number)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if number == 1 else names

    def place(self, name, x):
        """`x`, whose dimension `places[name]` is split over all devices."""
        if name not in self.places:
            return x
        x = self.op("Identity", x)
        config = self.nodes[-1].device_configurations.add(configuration_id="all")
        spec = config.sharding_spec.add(tensor_name=x, device=range(self.sizes["devices"]))
        spec.sharded_dim.add(axis=self.places[name]).simple_sharding.add(num_shards=self.sizes["devices"])
        return x

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
        turn = lambda z: self.op("Transpose", self.op("Reshape", z, shape), perm=[0, 2, 1, 3])
        q, k, v = (self.place("heads", self.place("tokens", turn(z))) for z in parts)
        scores = self.wide(self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2])))
        scores = self.op("Mul", scores, self.constant((s["width"] // s["heads"]) ** -0.5))
        mask = self.constant(np.tril(np.ones((s["seq"], s["seq"]))), bool)
        scores = self.op("Where", mask, scores, self.constant(-1e9))
        y = self.op("MatMul", self.narrow(self.op("Softmax", scores, axis=-1)), v)
        y = self.place("tokens", self.place("heads", y))
        flat = self.constant([s["batch"], s["seq"], s["width"]], np.int64)
        y = self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), flat)
        return self.op("MatMul", y, p["proj"])

    def one_hot(self, indices, depth):
        return self.op("OneHot", indices, self.constant(depth, np.int64), self.constant([0, 1]), axis=-1)

    def route(self, p, x):
        """As `route` of Strategies/models.py: weights of [samples, tokens, experts, slots]."""
        s, last = self.sizes, self.constant([-1], np.int64)
        shares = self.op("Softmax", self.op("MatMul", x, p["router"]), axis=-1)
        best = lambda y: self.one_hot(self.op("ArgMax", y, axis=-1, keepdims=0), s["experts"])
        first = best(shares)
        is_first = self.op("Greater", first, self.constant(0))
        second = best(self.op("Where", is_first, self.constant(-1), shares))
        weights, filled = None, self.constant(0)
        for chosen in (first, second):
            before = self.op("Sub", self.op("CumSum", chosen, self.constant(1, np.int64)), self.constant(1))
            slot = self.op("Mul", self.op("Add", before, filled), chosen)
            number = self.op("Cast", self.op("ReduceSum", slot, last, keepdims=0), to=TensorProto.INT64)
            taken = self.op("Cast", self.op("Less", slot, self.constant(s["capacity"])), to=TensorProto.FLOAT)
            share = self.op("Mul", self.op("Mul", shares, chosen), taken)
            made = self.op("Einsum", share, self.one_hot(number, s["capacity"]), equation="gte,gts->gtes")
            weights = self.op("Add", weights, made) if weights else made
            filled = self.op("Add", filled, self.op("ReduceSum", chosen, self.constant([1], np.int64), keepdims=1))
        return weights

    def experts(self, p, x):
        weights = self.route(p, x)
        sent = self.op("Cast", self.op("Greater", weights, self.constant(0)), to=TensorProto.FLOAT)
        slots = self.op("Einsum", sent, x, equation="gtes,gtd->egsd")
        slots = self.place("slots", self.place("groups", slots))
        hidden = self.op("Gelu", self.op("Einsum", slots, p["up"], equation="egsd,edf->egsf"), approximate="tanh")
        made = self.op("Einsum", hidden, p["down"], equation="egsf,efd->egsd")
        made = self.place("groups", self.place("slots", made))
        return self.op("Einsum", weights, made, equation="gtes,egsd->gtd")

    def block(self, p, x):
        x = self.op("Add", x, self.attend(p, self.norm(p["scale1"], x)))
        if "router" in p:
            return self.op("Add", x, self.experts(p, self.norm(p["scale2"], x)))
        hidden = self.op("Gelu", self.op("MatMul", self.norm(p["scale2"], x), p["in"]), approximate="tanh")
        return self.op("Add", x, self.op("MatMul", hidden, p["out"]))


def scan_layers(w, stacks, layer, x):
    """All layers as one Scan; `layer` has the shapes of a layer's weights by name."""
    kind = TensorProto.BFLOAT16 if w.is_narrow else TensorProto.FLOAT
    s, body = w.sizes, Writer(w.sizes, w.is_narrow, prefix="layer_")
    made = body.block({name: f"layer_{name}" for name in layer}, "layer_x")
    inputs = [helper.make_tensor_value_info("layer_x", kind, [s["batch"], s["seq"], s["width"]])]
    inputs += [helper.make_tensor_value_info(f"layer_{name}", kind, shape) for name, shape in layer.items()]
    outputs = [helper.make_tensor_value_info(made, kind, [s["batch"], s["seq"], s["width"]])]
    graph = helper.make_graph(body.nodes, "layer", inputs, outputs)
    return w.op("Scan", x, *(stacks[name] for name in layer), body=graph, num_scan_inputs=len(layer))


def write(path, shapes, sizes, is_narrow, is_loop, places):
    """`shapes`: name -> shape of each parameter; a loop's are stacks `blocks.qkv`. `places`: name ->
    the dimension that is split."""
    w, g = Writer(sizes, is_narrow, places), np.random.default_rng(0)
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
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=11 if places else 10)
    if places:
        model.configuration.add(name="all", num_devices=sizes["devices"])
    onnx.save(model, path)
