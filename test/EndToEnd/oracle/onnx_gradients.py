# ===- onnx_gradients.py - Derivatives of recurrences of ONNX files ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of ONNX files with recurrent cells, Scan, Loop, LinearAttention, CausalConvWithState and weights that are
stored as integers: one step of plain descent against jax.grad of the formulas of the operators' specification, in f64
within 1e-10, in two microbatches, on several meshes, by kernels and interpreted.

    python onnx_gradients.py --llmc llmc -o out [--only lstm] [--runs 6]
"""

import jax
import jax.numpy as jnp
import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nph

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, S, W = 4, 6, 8  # samples, times, width
RUNS = [("train", ""), ("interpret", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "data=2"),
        ("train", "", "training.recompute=all"), ("train", "data=2", "training.unroll=true")]
D = T.DOUBLE


def node(op, inputs, outputs, **attributes):
    return h.make_node(op, inputs.split(), outputs.split(), **attributes)


def value(name, *dims, kind=D):
    return h.make_tensor_value_info(name, kind, dims)


def const(name, array, dtype=np.float64):
    return nph.from_array(np.asarray(array, dtype), name)


def body(nodes, inputs, outputs):
    return h.make_graph(nodes, "body", inputs, outputs)


# Each recurrence takes z [B, S, W] to y [B, S, any], by nodes and by JAX.

SWAP = [node("Transpose", "z", "rows", perm=[1, 0, 2])]


def lstm():
    shapes = {"w": (2, 4 * W, W), "r": (2, 4 * W, W), "b": (2, 8 * W)}
    nodes = SWAP + [node("LSTM", "rows w r b", "all", hidden_size=W, direction="bidirectional"),
                    node("Transpose", "all", "sides", perm=[2, 0, 1, 3]), node("Reshape", "sides wide", "y")]

    def cell(p, k, rows):
        def step(carry, row):
            hidden, c = carry
            i, o, f, g = jnp.split(row @ p["w"][k].T + hidden @ p["r"][k].T + p["b"][k, : 4 * W] + p["b"][k, 4 * W :], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            hidden = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (hidden, c), hidden
        zero = jnp.zeros((rows.shape[1], W))
        return jax.lax.scan(step, (zero, zero), rows, reverse=k == 1)[1]

    def f(p, z):
        rows = z.swapaxes(0, 1)
        return jnp.concatenate([cell(p, 0, rows), cell(p, 1, rows)], -1).swapaxes(0, 1)

    return shapes, nodes, f


def gru():
    shapes = {"w": (1, 3 * W, W), "r": (1, 3 * W, W), "b": (1, 6 * W)}
    nodes = SWAP + [node("GRU", "rows w r b", "all", hidden_size=W, linear_before_reset=1, direction="reverse"),
                    node("Squeeze", "all one", "times"), node("Transpose", "times", "y", perm=[1, 0, 2])]

    def f(p, z):
        def step(hidden, row):
            zx, rx, hx = jnp.split(row @ p["w"][0].T + p["b"][0, : 3 * W], 3, -1)
            zh, rh, hh = jnp.split(hidden @ p["r"][0].T + p["b"][0, 3 * W :], 3, -1)
            update, reset = jax.nn.sigmoid(zx + zh), jax.nn.sigmoid(rx + rh)
            hidden = (1 - update) * jnp.tanh(hx + reset * hh) + update * hidden
            return hidden, hidden
        return jax.lax.scan(step, jnp.zeros((z.shape[0], W)), z.swapaxes(0, 1), reverse=True)[1].swapaxes(0, 1)

    return shapes, nodes, f


def scan():
    """Rows of weights and of samples; the states are collected along dimension 1."""
    shapes = {"w": (S, W, W), "s0": (W,)}
    inner = [node("MatMul", "s u", "m"), node("Add", "m r", "a"), node("Tanh", "a", "t"), node("Identity", "t", "c")]
    graph = body(inner, [value("s", None, W), value("u", W, W), value("r", None, W)], [value("t", None, W), value("c", None, W)])
    nodes = [node("Slice", "z zero one one", "first"), node("Squeeze", "first one", "flat"), node("Mul", "flat none", "nothing"),
             node("Add", "nothing s0", "start"),
             node("Scan", "start w z", "last y", body=graph, num_scan_inputs=2, scan_input_axes=[0, 1], scan_output_axes=[1],
                  scan_input_directions=[1, 0])]

    def f(p, z):
        def step(s, rows):
            s = jnp.tanh(s @ rows[0] + rows[1])
            return s, s
        start = jnp.broadcast_to(p["s0"], z[:, 0].shape)
        return jax.lax.scan(step, start, (p["w"][::-1], z.swapaxes(0, 1)))[1].swapaxes(0, 1)

    return shapes, nodes, f


def loop():
    """A weight that all trips share, and the number of the trip."""
    shapes = {"w": (W, W)}
    inner = [node("MatMul", "c w", "m"), node("Cast", "i", "n", to=D), node("Mul", "n small", "k"), node("Add", "m k", "a"),
             node("Tanh", "a", "d"), node("Identity", "go", "goes")]
    graph = body(inner, [value("i", kind=T.INT64), value("go", kind=T.BOOL), value("c", None, S, W)],
                 [value("goes", kind=T.BOOL), value("d", None, S, W)])

    def f(p, z):
        for i in range(7):
            z = jnp.tanh(z @ p["w"] + 0.01 * i)
        return z

    return shapes, [node("Loop", "seven yes z", "y", body=graph)], f


def attention(rule, perKey):
    heads, queries, size = 2, 4, 4
    widths = {"q": queries * size, "k": heads * size, "v": heads * size, "g": heads * (size if perKey else 1), "e": heads}
    used = ["q", "k", "v", *(["g"] if "gated" in rule else []), *(["e"] if "delta" in rule else [])]
    shapes = {f"w_{n}": (W, widths[n]) for n in used}
    nodes = [node("MatMul", f"z w_{n}", n) for n in used]
    nodes.append(node("Mul", "k third", "keys"))
    nodes += [node("Sigmoid", "g", "gate"), node("Neg", "gate", "decay")] if "g" in used else []
    nodes += [node("Sigmoid", "e", "beta")] if "e" in used else []
    inputs = ["q", "keys", "v", "", "decay" if "g" in used else "", "beta" if "e" in used else ""]
    while not inputs[-1]:
        inputs.pop()
    nodes.append(h.make_node("LinearAttention", inputs, ["y"], q_num_heads=queries, kv_num_heads=heads, update_rule=rule))

    def f(p, z):
        got = {n: z @ p[f"w_{n}"] for n in used}
        parts = lambda a, n: a.reshape(*z.shape[:2], n, -1).swapaxes(0, 1)  # noqa: E731
        rows = {"q": parts(got["q"], queries), "k": parts(got["k"], heads) / 3, "v": parts(got["v"], heads)}
        rows["g"] = parts(-jax.nn.sigmoid(got["g"]), heads) if "g" in used else jnp.zeros((S, 1, heads, 1))
        rows["e"] = parts(jax.nn.sigmoid(got["e"]), heads) if "e" in used else jnp.ones((S, 1, heads, 1))

        def step(state, row):
            state = state * jnp.exp(row["g"])[..., None]
            v = row["v"] - jnp.einsum("bhkv,bhk->bhv", state, row["k"]) if "delta" in rule else row["v"]
            state = state + jnp.einsum("bhk,bhv->bhkv", row["k"], row["e"] * v)
            return state, jnp.einsum("bhkv,bhk->bhv", jnp.repeat(state, queries // heads, 1), row["q"]) / np.sqrt(size)
        out = jax.lax.scan(step, jnp.zeros((z.shape[0], heads, size, size)), rows)[1]
        return out.swapaxes(0, 1).reshape(*z.shape[:2], -1)

    return shapes, nodes, f


def convolution():
    shapes = {"w": (W, 1, 3), "b": (W,)}
    nodes = [node("Transpose", "z", "channels", perm=[0, 2, 1]), node("CausalConvWithState", "channels w b", "conv state", activation="silu"),
             node("Transpose", "conv", "y", perm=[0, 2, 1])]

    def f(p, z):
        padded = jnp.pad(z, ((0, 0), (2, 0), (0, 0)))
        return jax.nn.silu(sum(padded[:, k : k + S] * p["w"][:, 0, k] for k in range(3)) + p["b"])

    return shapes, nodes, f


# Of each time another one, so that their order counts.
WEIGHTS = 1 + np.arange(S).reshape(S, 1) / 2
BYTES = np.random.default_rng(3).integers(-90, 90, (W, W)).astype(np.int8)


def stored():
    """Weights in bytes, with a scale of each column that is trained."""
    shapes = {"scale": (W,), "w": (W, W)}
    nodes = [node("Mul", "scale hundredth", "steps"), node("DequantizeLinear", "bytes steps", "u", axis=1), node("MatMul", "z u", "m"),
             node("Tanh", "m", "t"), node("MatMul", "t w", "y")]

    def f(p, z):
        return jnp.tanh(z @ (BYTES * (p["scale"] / 100))) @ p["w"]

    return shapes, nodes, f


CASES = {"lstm": lstm, "gru": gru, "scan": scan, "loop": loop, "convolution": convolution, "stored": stored,
         **{f"attention-{r}": lambda r=r, k=k: attention(r, k)
            for r, k in (("linear", False), ("gated", True), ("delta", False), ("gated_delta", False))}}
CONSTANTS = [const("zero", [0], np.int64), const("one", [1], np.int64), const("wide", [0, 0, 2 * W], np.int64), const("none", 0),
             const("small", 0.01), const("weights", WEIGHTS), const("third", 1 / 3), const("hundredth", 0.01), const("seven", 7, np.int64),
             const("yes", True, bool), nph.from_array(BYTES, "bytes")]


class Case(one_step.Case):
    model = "model.onnx"

    def __init__(self, a, name):
        shapes, nodes, self.f = CASES[name]()
        shapes = {"inside": (W, W), **shapes}
        super().__init__(a, name, shapes, (B, S, W), one_step.CONFIGURATION)
        nodes = [node("MatMul", "x inside", "before"), node("Tanh", "before", "z"), *nodes, node("Mul", "y weights", "weighted"),
                 node("Mul", "weighted y", "square"), node("ReduceMean", "square", "loss", keepdims=0)]
        read = {name for each in nodes for name in each.input}
        for each in nodes:
            read |= {name for at in each.attribute if at.type == at.GRAPH for inner in at.g.node for name in inner.input}
        weights = [const(n, w) for n, w in self.parameters.items()]
        graph = h.make_graph(nodes, name, [value("x", B, S, W)], [value("loss")],
                             weights + [c for c in CONSTANTS if c.name in read])
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 27)], ir_version=10)
        (self.folder / "model.onnx").write_bytes(model.SerializeToString())

    def expect(self):
        def loss(p):
            return jnp.mean(WEIGHTS * self.f(p, jnp.tanh(self.x @ p["inside"])) ** 2)
        return jax.jit(jax.value_and_grad(loss))(self.parameters)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, RUNS, usual=4)
