# ===- write_trips.py - Loops of ONNX models with known trips ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes models with a Loop, a Scan or a recurrence whose trips the reader knows, as the folders that Debian's tests have.

    write_trips.py FOLDER LIST              the models below, with outputs by NumPy
    write_trips.py --layers FILE LENGTH     a model of two LSTMs, one in each direction, over LENGTH times, for `llmc compile`

Some have trips that are alike, and become loops; of the others the reader asks for the number of the trip, or what is carried
changes its shape.
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from write_cases import write_tensor
from write_loops import const, value

F, I = T.FLOAT, T.INT64
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((7, 2, 3)).astype(np.float32)
ROW = RANDOM.standard_normal((2, 3)).astype(np.float32)


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def scan(nodes, states, rows, outputs, inputs, results, **attributes):
    """A Scan of nodes from (states, rows) to outputs; each is a name, and all are [2, 3] but where a shape is given."""
    infos = [[value(*each) if isinstance(each, tuple) else value(each, F, 2, 3) for each in names] for names in (states + rows, outputs)]
    graph = h.make_graph(nodes, "body", *infos)
    return h.make_node("Scan", inputs.split(), results.split(), body=graph, num_scan_inputs=len(rows), **attributes)


def loop(nodes, carried, outputs, inputs, results):
    """A Loop of nodes from (i, go, carried) to (goes, outputs), of which the first ones are carried."""
    graph = h.make_graph(nodes, "body", [value("i", I), value("go", T.BOOL), *carried], [value("goes", T.BOOL), *outputs])
    return h.make_node("Loop", inputs.split(" "), results.split(), body=graph)


GO = node("Identity", "go", "goes")
DECAY = [node("Mul", "s half", "h"), node("Add", "h r", "t"), node("Tanh", "t", "y")]


def decay(rows):
    s, states, given = ROW, [], []
    for r in rows:
        s = s * np.float32(0.5) + r
        states.append(s)
        given.append(np.tanh(s))
    return s, np.stack(given)


def models():
    """Name -> nodes, inputs by name, outputs by name."""
    last, given = decay(X)
    backLast, backGiven = decay(X[::-1])
    power = [ROW * np.float32(1.5) ** (i + 1) for i in range(6)]
    grown = np.concatenate([ROW] + [ROW * np.float32(i) for i in range(5)])
    counted = [node("Cast", "i", "f", to=F), node("Mul", "c f", "p"), node("Add", "p r0", "d"), GO]
    chain = [ROW]
    for i in range(6):
        chain.append(chain[-1] * np.float32(i) + ROW)
    double = [node("Mul", "c factor", "d"), node("Identity", "d", "e"), GO]
    yield "scan_rows", ([scan(DECAY, ["s"], ["r"], ["t", "y"], "row x", "last given")], {"row": ROW, "x": X}, {"last": last, "given": given})
    yield "scan_from_the_end", (
        [scan(DECAY, ["s"], ["r"], ["t", "y"], "row x", "last given", scan_input_directions=[1], scan_output_directions=[1])],
        {"row": ROW, "x": X}, {"last": backLast, "given": backGiven[::-1]})
    yield "scan_of_columns", (
        [scan(DECAY, ["s"], ["r"], ["t", "y"], "row x", "last given", scan_input_axes=[2], scan_output_axes=[1])],
        {"row": ROW, "x": np.moveaxis(X, 0, 2)}, {"last": last, "given": np.moveaxis(given, 0, 1)})
    yield "loop_carries", ([loop(double, [value("c", F, 2, 3)], [value("d", F, 2, 3)], "six  row", "out")], {"row": ROW}, {"out": power[-1]})
    yield "loop_collects", (
        [loop(double, [value("c", F, 2, 3)], [value("d", F, 2, 3), value("e", F, 2, 3)], "six yes row", "out all")],
        {"row": ROW}, {"out": power[-1], "all": np.stack(power)})
    yield "loop_counts", (
        [node("Identity", "row", "r0"), loop(counted, [value("c", F, 2, 3)], [value("d", F, 2, 3)], "six  row", "out")],
        {"row": ROW}, {"out": chain[-1]})
    body = [node("Add", "i one0", "k"), node("Unsqueeze", "i zero1", "from"), node("Unsqueeze", "k zero1", "to"),
            node("Slice", "x from to zero1", "piece"), node("Squeeze", "piece zero1", "r"), node("Add", "c r", "d"), GO]
    yield "loop_slices_by_trip", (
        [loop(body, [value("c", F, 2, 3)], [value("d", F, 2, 3)], "six  row", "out")], {"row": ROW, "x": X}, {"out": ROW + X[:6].sum(0)})
    body = [node("Cast", "i", "f", to=F), node("Mul", "row f", "more"), node("Concat", "c more", "d", axis=0), GO]
    yield "loop_grows", ([loop(body, [value("c", F, None, 3)], [value("d", F, None, 3)], "five  row", "out")], {"row": ROW}, {"out": grown})
    body = [node("Add", "c one1", "d"), GO]
    yield "loop_computes_a_size", (
        [loop(body, [value("c", I, 1)], [value("d", I, 1)], "five  one1", "size"), node("Reshape", "row size", "out")],
        {"row": ROW}, {"out": ROW.reshape(6)})
    inner = loop(double, [value("c", F, 2, 3)], [value("d", F, 2, 3)], "six  h", "p")
    nested = [node("Mul", "s half", "h"), inner, node("Add", "p r", "t"), node("Tanh", "t", "y")]
    s, ys = ROW, []
    for r in X:
        s = s * np.float32(0.5) * np.float32(1.5) ** 6 + r
        ys.append(np.tanh(s))
    yield "loop_in_a_scan", ([scan(nested, ["s"], ["r"], ["t", "y"], "row x", "last given")], {"row": ROW, "x": X}, {"last": s, "given": np.stack(ys)})
    # Of two draws of different trips, or of different loops, no row is the other: the outputs count equal elements.
    draws = [node("RandomUniformLike", "r", "y"), node("Identity", "s", "t")]
    rows = [scan(draws, ["s"], ["r"], ["t", "y"], "row x", f"s{k} a{k}") for k in (0, 1)]
    ends = [node("Slice", "a0 one1 seven1 zero1", "later"), node("Slice", "a0 zero1 six1 zero1", "sooner")]
    count = [node(op, inputs, out, **kw) for x, y, k in (("later", "sooner", "trips"), ("a0", "a1", "loops"))
             for op, inputs, out, kw in (("Equal", f"{x} {y}", f"is{k}", {}), ("Cast", f"is{k}", f"f{k}", {"to": F}),
                                         ("ReduceSum", f"f{k}", k, {"keepdims": 0}))]
    yield "draws_of_trips", (rows + ends + count, {"row": ROW, "x": X}, {"trips": np.float32(0), "loops": np.float32(0)})


CONSTANTS = [const("half", np.float32(0.5)), const("factor", np.float32(1.5)), const("five", np.int64(5)), const("six", np.int64(6)),
             const("yes", True), const("zero1", np.array([0])), const("one0", np.int64(1)), const("one1", np.array([1])), const("six1", np.array([6])),
             const("seven1", np.array([7]))]


def write(folder, name, nodes, inputs, outputs):
    given = [[value(n, F, *np.shape(a)) for n, a in each.items()] for each in (inputs, outputs)]
    model = h.make_model(h.make_graph(nodes, name, *given, CONSTANTS), opset_imports=[h.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    data = folder / "node" / name / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    (data.parent / "model.onnx").write_bytes(model.SerializeToString())
    for kind, values in (("input", inputs.values()), ("output", outputs.values())):
        for i, each in enumerate(values):
            write_tensor(data / f"{kind}_{i}.pb", np.asarray(each, np.float32))


def writeLayers(path, length, width=8, batch=4):
    """x [batch, length, width] -> loss, the mean square of the distance to y."""
    weights = [const(f"{k}{d}", RANDOM.standard_normal((1, 4 * width, width)).astype(np.float32) / 3) for d in "01" for k in "wr"]
    nodes = [node("Transpose", "x", "rows", perm=[1, 0, 2]),
             node("LSTM", "rows w0 r0", "a", hidden_size=width), node("Squeeze", "a one1", "b"),
             node("LSTM", "b w1 r1", "c", hidden_size=width, direction="reverse"), node("Squeeze", "c one1", "d"),
             node("Transpose", "d", "z", perm=[1, 0, 2]), node("Sub", "z y", "e"), node("Mul", "e e", "q"),
             node("ReduceMean", "q", "loss", keepdims=0)]
    shape = (batch, length, width)
    graph = h.make_graph(nodes, "layers", [value("x", F, *shape), value("y", F, *shape)], [value("loss", F)], CONSTANTS + weights)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    pathlib.Path(path).write_bytes(model.SerializeToString())


def main():
    if sys.argv[1] == "--layers":
        writeLayers(sys.argv[2], int(sys.argv[3]))
        return
    folder, table = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = [name for name, case in models() if not write(folder, name, *case)]
    table.write_text("".join(f"node/{name}\tLoop\n" for name in sorted(names)), encoding="utf-8")


if __name__ == "__main__":
    main()
