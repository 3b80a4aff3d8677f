#!/usr/bin/env python3
# ===- models.py - Small ONNX models, by name -----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes the models that tests of the ONNX import read: models.py FOLDER."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nph

MODELS = {}


def model(build):
    MODELS[build.__name__] = build
    return build


def f32(name, *dims):
    return h.make_tensor_value_info(name, T.FLOAT, dims)


def i64(name, *dims):
    return h.make_tensor_value_info(name, T.INT64, dims)


def const(name, value, dtype=np.float32):
    return nph.from_array(np.asarray(value, dtype), name)


def make(nodes, inputs, outputs, weights=(), version=18, functions=(), **kw):
    graph = h.make_graph(nodes, "g", inputs, outputs, weights, **kw)
    opsets = [h.make_opsetid("", version)] + [h.make_opsetid(f.domain, 1) for f in functions]
    return h.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)


@model
def shapes():
    """Arithmetic on shapes, as exporters write it, with a symbolic batch."""
    nodes = [
        h.make_node("Shape", ["x"], ["s"]),
        h.make_node("Gather", ["s", "zero"], ["b"], axis=0),
        h.make_node("Unsqueeze", ["b", "axes"], ["b1"]),
        h.make_node("Concat", ["b1", "rest"], ["shape"], axis=0),
        h.make_node("Reshape", ["x", "shape"], ["flat"], name="flatten"),
        h.make_node("Relu", ["flat"], ["y"]),
    ]
    weights = [const("zero", 0, np.int64), const("axes", [0], np.int64), const("rest", [-1], np.int64)]
    return make(nodes, [f32("x", "batch", 2, 3)], [f32("y", "batch", 6)], weights)


@model
def function():
    """A function with an attribute that has a default, called twice."""
    body = [h.make_node("Constant", [], ["k"]), h.make_node("Mul", ["a", "k"], ["r"])]
    attribute = onnx.AttributeProto(name="value_float", ref_attr_name="factor", type=onnx.AttributeProto.FLOAT)
    body[0].attribute.append(attribute)
    scale = h.make_function("ours", "Scale", ["a"], ["r"], body, [h.make_opsetid("", 18)], ["factor"])
    nodes = [h.make_node("Scale", ["x"], ["m"], domain="ours", factor=2.0),
             h.make_node("Scale", ["m"], ["y"], domain="ours", factor=4.0)]
    return make(nodes, [f32("x", 3)], [f32("y", 3)], functions=[scale])


@model
def control():
    """A loop of three trips whose body sees a name around it, and a branch."""
    body = h.make_graph(
        [h.make_node("Add", ["v", "x"], ["w"]), h.make_node("Identity", ["go"], ["goes"]),
         h.make_node("Identity", ["w"], ["seen"])],
        "body", [i64("i"), h.make_tensor_value_info("go", T.BOOL, []), f32("v", 2)],
        [h.make_tensor_value_info("goes", T.BOOL, []), f32("w", 2), f32("seen", 2)])
    one = h.make_graph([h.make_node("Neg", ["sum"], ["r"])], "one", [], [f32("r", 2)])
    other = h.make_graph([h.make_node("Exp", ["sum"], ["q"])], "other", [], [f32("q", 2)])
    nodes = [h.make_node("Loop", ["trips", "", "x"], ["sum", "all"], body=body),
             h.make_node("If", ["yes"], ["y"], then_branch=one, else_branch=other)]
    return make(nodes, [f32("x", 2)], [f32("y", 2), f32("all", 3, 2)], [const("trips", 3, np.int64), const("yes", True, bool)])


@model
def weights():
    """A tied matrix, a scalar, a mask, integers, and what nobody reads."""
    nodes = [
        h.make_node("Gather", ["emb.weight", "tokens"], ["e"]),
        h.make_node("Mul", ["e", "scale"], ["s"]),
        h.make_node("Add", ["s", "mask"], ["m"]),
        h.make_node("Mul", ["m", "norm.weight"], ["n"]),
        h.make_node("Gather", ["n", "order"], ["o"], axis=1),
        h.make_node("Transpose", ["emb.weight"], ["t"], perm=[1, 0]),
        h.make_node("MatMul", ["o", "t"], ["logits"]),
    ]
    rng = np.random.default_rng(0)
    initial = [const("emb.weight", rng.normal(size=(5, 4))), const("scale", 0.5), const("mask", [[0, -np.inf], [0, 0]] * 2),
               const("norm.weight", [1, 1, 1, 1]), const("order", [1, 0], np.int64), const("unused", rng.normal(size=(3, 3)))]
    initial[2] = const("mask", np.tril(np.ones((2, 4), np.float32)))
    return make(nodes, [i64("tokens", 3, 2)], [f32("logits", 3, 2, 5)], initial)


@model
def batch_norm():
    """In training: statistics of the batch, and running ones as states."""
    nodes = [h.make_node("BatchNormalization", ["x", "scale", "bias", "mean", "var"], ["y", "m", "v"], training_mode=1),
             h.make_node("ReduceMean", ["y"], ["loss"], keepdims=0)]
    initial = [const("scale", [1, 2]), const("bias", [0, 1]), const("mean", [0, 0]), const("var", [1, 1])]
    return make(nodes, [f32("x", 4, 2)], [f32("loss")], initial)


@model
def dropout():
    nodes = [h.make_node("MatMul", ["x", "w"], ["a"]), h.make_node("Dropout", ["a", "ratio", "yes"], ["d"]),
             h.make_node("ReduceMean", ["d"], ["loss"], keepdims=0)]
    return make(nodes, [f32("x", 4, 2)], [f32("loss")],
                [const("w", [[1, 2], [3, 4.5]]), const("ratio", 0.5), const("yes", True, bool)])


@model
def linear():
    """Predicts without a loss."""
    return make([h.make_node("Gemm", ["x", "w", "b"], ["y"])], [f32("x", 4, 3)], [f32("y", 4, 2)],
                [const("w", np.linspace(-1, 1, 6).reshape(3, 2)), const("b", [0.25, 0.5])])


@model
def language():
    """Scores of tokens without a loss."""
    return make([h.make_node("Gather", ["w", "tokens"], ["logits"])], [i64("tokens", 2, 4)], [f32("logits", 2, 4, 3)],
                [const("w", np.linspace(-1, 1.5, 9).reshape(3, 3))])


@model
def merged():
    """One tensor of ones that two nodes read, as an optimizer merges the weights of norms."""
    nodes = [h.make_node("Mul", ["x", "ones"], ["a"], name="first"), h.make_node("Mul", ["a", "ones"], ["b"], name="second"),
             h.make_node("Add", ["b", "own"], ["c"], name="third"), h.make_node("Add", ["c", "own"], ["y"], name="fourth")]
    return make(nodes, [f32("x", 4, 3)], [f32("y", 4, 3)], [const("ones", [1, 1, 1]), const("own", [1, 2, 3])])


@model
def log_sum_exp():
    """As `torch.logsumexp` is exported."""
    return make([h.make_node("ReduceLogSumExp", ["x", "axes"], ["y"])], [f32("x", 4, 3)], [f32("y", 4, 1)],
                [const("axes", [-1], np.int64)])


@model
def torch_list():
    """`split` of a tensor without optimization: a list, and elements of it."""
    nodes = [h.make_node("SplitToSequence", ["x", "two"], ["parts"], axis=1), h.make_node("SequenceAt", ["parts", "one"], ["y"])]
    return make(nodes, [f32("x", 1, 4)], [f32("y", 1, 2)], [const("two", 2, np.int64), const("one", 1, np.int64)])


def broken(name, nodes, inputs=None, outputs=None, weights=(), **kw):
    MODELS[name] = lambda: make(nodes, inputs or [f32("x", 2, 3)], outputs or [f32("y", 2, 3)], weights, **kw)


broken("unknown_op", [h.make_node("NonZero", ["x"], ["y"], name="nz")])
broken("fused_op", [h.make_node("GroupQueryAttention", ["x"], ["y"], domain="com.microsoft")])
broken("new_version", [h.make_node("Relu", ["x"], ["y"])], version=99)
broken("unordered", [h.make_node("Relu", ["a"], ["y"]), h.make_node("Relu", ["x"], ["a"])])
broken("twice", [h.make_node("Relu", ["x"], ["y"]), h.make_node("Exp", ["x"], ["y"])])
broken("no_output", [h.make_node("Relu", ["x"], ["z"])])
broken("same_output", [h.make_node("Relu", ["x"], ["y"])], outputs=[f32("y", 2, 3), f32("y", 2, 3)])
broken("wrong_output", [h.make_node("Relu", ["x"], ["y"])], outputs=[f32("y", 3, 2)])
broken("mixed_types", [h.make_node("Add", ["x", "i"], ["y"])], inputs=[f32("x", 2, 3), i64("i", 2, 3)])
broken("bad_shapes", [h.make_node("Add", ["x", "z"], ["y"])], inputs=[f32("x", 2, 3), f32("z", 2, 4)])
broken("bad_axis", [h.make_node("Softmax", ["x"], ["y"], axis=2)])
broken("data_shape", [h.make_node("Reshape", ["x", "s"], ["y"])], inputs=[f32("x", 2, 3), i64("s", 2)])
broken("operands", [h.make_node("Where", ["x"], ["y"])])
broken("symbolic", [h.make_node("Relu", ["x"], ["y"])], inputs=[f32("x", "batch", None)], outputs=[f32("y", "batch", None)])
broken("text", [h.make_node("Identity", ["x"], ["y"])], inputs=[h.make_tensor_value_info("x", T.STRING, [2])])
broken("branches", [h.make_node("If", ["c"], ["y"],
                                then_branch=h.make_graph([h.make_node("Identity", ["x"], ["r"])], "a", [], [f32("r", 2, 3)]),
                                else_branch=h.make_graph([h.make_node("Transpose", ["x"], ["q"])], "b", [], [f32("q", 3, 2)]))],
       inputs=[f32("x", 2, 3), h.make_tensor_value_info("c", T.BOOL, [])])


def with_step(binding):
    """The file with a step of which only a binding is given: field, key, value."""
    made = linear()
    getattr(made.training_info.add(), binding[0]).add(key=binding[1], value=binding[2])
    return made


@model
def two_steps():
    made = linear()
    made.training_info.add()
    made.training_info.add()
    return made


@model
def step_begins():
    return with_step(("initialization_binding", "w", "w0"))


@model
def step_of_none():
    return with_step(("update_binding", "nobody", "y"))


@model
def step_of_type():
    return with_step(("update_binding", "w", "y"))


@model
def sparse():
    made = linear()
    made.graph.sparse_initializer.add()
    return made


def put(node, configuration, *specs, stage=None):
    """Says on which devices the tensors of a node lie: (name, devices or groups, [(axis, shards) ...])."""
    made = node.device_configurations.add(configuration_id=configuration)
    if stage is not None:
        made.pipeline_stage = stage
    for name, devices, dims in specs:
        spec = made.sharding_spec.add(tensor_name=name)
        for i, device in enumerate(devices):
            spec.device.append(device if isinstance(device, int) else -1 - i)
            if not isinstance(device, int):
                spec.index_to_device_group_map.add(key=-1 - i, value=device)
        for axis, *shards in dims:
            dim = spec.sharded_dim.add(axis=axis)
            for part in shards:
                size, count = part if isinstance(part, tuple) else (None, part)
                dim.simple_sharding.add(num_shards=count, **({} if size is None else {"dim_value": size}))


def layers(devices=4):
    """Two layers with their mean as loss."""
    nodes = [h.make_node("MatMul", ["x", "up"], ["h"]), h.make_node("Relu", ["h"], ["r"]),
             h.make_node("MatMul", ["r", "down"], ["y"]), h.make_node("ReduceMean", ["y"], ["loss"], keepdims=0)]
    rng = np.random.default_rng(1)
    made = make(nodes, [f32("x", 8, 4)], [f32("loss")],
                [const("up", rng.normal(size=(4, 8))), const("down", rng.normal(size=(8, 4)))])
    made.ir_version = 11
    made.configuration.add(name="all", num_devices=devices)
    return made


@model
def devices():
    """Samples on two halves of four devices, and within each half a hidden layer on two."""
    made = layers()
    put(made.graph.node[0], "all", ("x", [[0, 1], [2, 3]], [(0, 2)]), ("up", [[0, 2], [1, 3]], [(-1, 2)]),
        ("h", [0, 1, 2, 3], [(0, 2), (1, (4, 2), (2, 1))]))
    put(made.graph.node[2], "all", ("down", [[0, 2], [1, 3]], [(0, 2)]), ("r", [0, 1, 2, 3], [(0, 2), (1, 2)]))
    return made


# What no mesh says of the input's four parts: devices in another order, parts of parts, one device twice, too few devices,
# an axis that is not there, too few parts.
for name, spec in {"other": ([0, 3, 1, 2], [(0, 4)]), "parts": ([0, 1, 2, 3], [(0, (4, 2), (2, 2))]),
                   "twice": ([0, 1, 1, 2], [(0, 4)]), "fewer": ([0, 1], [(0, 2)]),
                   "axis": ([0, 1, 2, 3], [(2, 4)]), "shards": ([0, 1], [(0, 4)])}.items():
    def misplaced(spec=spec):
        made = layers()
        put(made.graph.node[0], "all", ("x", *spec))
        return made
    MODELS[f"devices_{name}"] = misplaced


@model
def devices_crossed():
    """Twelve devices, cut once by two and four and once by three: no axes fit both."""
    made = layers(12)
    put(made.graph.node[0], "all", ("x", [list(range(0, 4)), list(range(4, 8)), list(range(8, 12))], [(0, 3)]))
    put(made.graph.node[2], "all", ("y", [list(range(i, 12, 2)) for i in range(2)], [(0, 2)]), stage=1)
    put(made.graph.node[1], "all", ("r", [[d for d in range(12) if d // 3 % 2 == i] for i in range(2)], [(0, 2)]))
    return made


@model
def devices_again():
    """Two shardings of one tensor."""
    made = layers()
    put(made.graph.node[0], "all", ("h", [0, 1, 2, 3], [(0, 4)]))
    put(made.graph.node[1], "all", ("h", [0, 1, 2, 3], [(1, 4)]))
    return made


@model
def devices_between():
    """A tensor of which an Identity changes the sharding."""
    made = layers()
    made.graph.node.insert(1, h.make_node("Identity", ["h"], ["g"]))
    made.graph.node[2].input[0] = "g"
    put(made.graph.node[1], "all", ("h", [0, 1, 2, 3], [(0, 4)]), ("g", [0, 1, 2, 3], [(1, 4)]))
    return made


@model
def devices_none():
    return layers(0)


@model
def float_list():
    """Elements of a weight that lie in pieces all over the file."""
    made = linear()
    tensor = made.graph.initializer[0]
    values = nph.to_array(tensor).astype(np.float16).view(np.uint16).ravel()
    tensor.ClearField("raw_data")
    tensor.data_type = T.FLOAT16
    tensor.int32_data.extend(int(v) for v in values)
    return made


@model
def short_data():
    made = linear()
    made.graph.initializer[0].raw_data = made.graph.initializer[0].raw_data[:-4]
    return made


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in MODELS.items():
        (folder / f"{name}.onnx").write_bytes(build().SerializeToString())
    made = MODELS["linear"]()
    onnx.save(made, folder / "external.onnx", save_as_external_data=True, location="external.data", size_threshold=0)


if __name__ == "__main__":
    main()
