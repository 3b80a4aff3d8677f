# ===- write_loops.py - Loops of ONNX models that the run ends --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes models with a Loop whose trips no reader knows, as the folders that Debian's tests have.

    write_loops.py FOLDER LIST

The outputs are those of the reference evaluator of the Python package onnx, which asks for a
condition where a loop has none.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nph
from onnx.reference import ReferenceEvaluator
from write_cases import write_tensor


def value(name, kind, *dims):
    return h.make_tensor_value_info(name, kind, dims)


def const(name, array):
    return nph.from_array(np.asarray(array), name)


def loop(body, carried, outputs, trips="", go="go0"):
    """A Loop node whose body is a list of nodes from (i, go, carried ...) to (goes, carried ...)."""
    graph = h.make_graph(body, "body", [value("i", T.INT64), value("go", T.BOOL), *[v for v, _ in carried]],
                         [value("goes", T.BOOL), *[w for _, w in carried]])
    return h.make_node("Loop", [trips, go, *outputs[0]], outputs[1], body=graph)


def halving(trips="", go="go0"):
    """y is halved, and shifted by the number of the trip, as long as its greatest element is above 1."""
    body = [h.make_node("Mul", ["y", "half"], ["h"]), h.make_node("Cast", ["i"], ["f"], to=T.FLOAT),
            h.make_node("Mul", ["f", "step"], ["s"]), h.make_node("Sub", ["h", "s"], ["z"]),
            h.make_node("ReduceMax", ["z"], ["m"], keepdims=0), h.make_node("Greater", ["m", "one"], ["goes"])]
    return loop(body, [(value("y", T.FLOAT, 2, 3), value("z", T.FLOAT, 2, 3))], (["x"], ["out"]), trips, go)


def power():
    """The greatest singular value, by a product with a weight from around the loop; two values are carried."""
    body = [h.make_node("MatMul", ["v", "w"], ["u"]), h.make_node("ReduceL2", ["u"], ["n"], keepdims=0),
            h.make_node("Div", ["u", "n"], ["t"]), h.make_node("Sub", ["n", "old"], ["d"]), h.make_node("Abs", ["d"], ["e"]),
            h.make_node("Greater", ["e", "tolerance"], ["goes"])]
    return loop(body, [(value("v", T.FLOAT, 1, 4), value("t", T.FLOAT, 1, 4)), (value("old", T.FLOAT), value("n", T.FLOAT))],
                (["x", "zero"], ["out", "size"]), go="yes")


CONSTANTS = [const("half", np.float32(0.5)), const("step", np.float32(0.01)), const("one", np.float32(1)),
             const("zero", np.float32(0)), const("tolerance", np.float32(0.1)), const("bound", np.int64(3)),
             const("yes", True)]
ASKED = [h.make_node("ReduceMax", ["x"], ["m0"], keepdims=0), h.make_node("Greater", ["m0", "one"], ["go0"])]
SMALL, LARGE = np.linspace(-1, 0.5, 6, dtype=np.float32).reshape(2, 3), np.linspace(-9, 99, 6, dtype=np.float32).reshape(2, 3)
WEIGHT = (np.arange(16, dtype=np.float32).reshape(4, 4) % 5 - 1) @ np.diag(np.array([1, 2, 3, 4], np.float32))
WEIGHT = (WEIGHT @ WEIGHT.T + np.eye(4, dtype=np.float32)).astype(np.float32)

# Name -> nodes, inputs by name, shapes of outputs.
MODELS = {
    "loop_until": (ASKED + [halving()], {"x": LARGE}, {"out": (2, 3)}),
    "loop_no_trip": (ASKED + [halving()], {"x": SMALL}, {"out": (2, 3)}),
    "loop_bounded": (ASKED + [halving("bound")], {"x": LARGE}, {"out": (2, 3)}),
    "loop_as_often_as_given": ([halving("n", "")], {"x": LARGE, "n": np.int64(4)}, {"out": (2, 3)}),
    "loop_given_too_often": (ASKED + [halving("n")], {"x": LARGE, "n": np.int64(400)}, {"out": (2, 3)}),
    "loop_never_given": ([halving("n", "")], {"x": LARGE, "n": np.int64(0)}, {"out": (2, 3)}),
    "loop_power": ([power()], {"x": np.ones((1, 4), np.float32) / 2, "w": WEIGHT}, {"out": (1, 4), "size": ()}),
}


def with_condition(model):
    """A loop without a condition has one that holds, of a body that says so."""
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    for node in copy.graph.node:
        if node.op_type == "Loop" and not node.input[1]:
            node.input[1] = "yes"
            for inner in node.attribute[0].g.node:
                inner.output[:] = ["ignored" if name == "goes" else name for name in inner.output]
            node.attribute[0].g.node.append(h.make_node("Identity", ["go"], ["goes"]))
    return copy


def main():
    folder, table = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for name, (nodes, inputs, outputs) in MODELS.items():
        kinds = {np.dtype(np.float32): T.FLOAT, np.dtype(np.int64): T.INT64}
        given = [value(n, kinds[np.asarray(a).dtype], *np.shape(a)) for n, a in inputs.items()]
        graph = h.make_graph(nodes, name, given, [value(n, T.FLOAT, *s) for n, s in outputs.items()], CONSTANTS)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(model)
        data = folder / "node" / name / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        (data.parent / "model.onnx").write_bytes(model.SerializeToString())
        results = ReferenceEvaluator(with_condition(model)).run(None, inputs)
        for kind, values in (("input", inputs.values()), ("output", results)):
            for i, each in enumerate(values):
                write_tensor(data / f"{kind}_{i}.pb", each)
    table.write_text("".join(f"node/{name}\tLoop\n" for name in sorted(MODELS)), encoding="utf-8")


if __name__ == "__main__":
    main()
