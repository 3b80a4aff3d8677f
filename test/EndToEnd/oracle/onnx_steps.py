# ===- onnx_steps.py - Training steps that ONNX files have themselves -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""ONNX files with `training_info`: the graph and the algorithm of a step, in which Gradient and
an optimizer of ai.onnx.preview.training stand.

The derivative is compared with JAX, and the updates with the formulas of the operators'
specification: the loss of each step and all states after the last, in f64 within 1e-10, on
several meshes and with several microbatches.

    python onnx_steps.py --llmc llmc -o out
"""

import json
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nph

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

STEPS, ROWS, WIDTH, HIDDEN, CLASSES = 4, 8, 6, 8, 4
RATE = 0.1
RUNS = [("train", ""), ("interpret", ""), ("train", "data=2"), ("train", "data=2,tensor=2"), ("train", "pipe=2"),
        ("train", "", "training.microbatches=2"), ("train", "data=2,tensor=2", "training.microbatches=2"),
        ("train", "pipe=2,data=2", "training.microbatches=2")]
SHAPES = {"w1": (WIDTH, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, CLASSES), "b2": (CLASSES,)}


def momentum(x, g, states, t, nesterov=False, alpha=0.9, beta=0.5, norm=0.01):
    g = norm * x + g
    v = alpha * states[0] + (beta if t > 0 else 1.0) * g
    return x - RATE * (g + alpha * v if nesterov else v), [v]


def adagrad(x, g, states, t, decay=0.1, epsilon=1e-5, norm=0.01):
    g = norm * x + g
    squares = states[0] + g * g
    return x - RATE / (1 + t * decay) * g / (np.sqrt(squares) + epsilon), [squares]


def adam(x, g, states, t, alpha=0.9, beta=0.99, epsilon=1e-3, norm=0.01, after=0.02):
    g = norm * x + g
    v, s = alpha * states[0] + (1 - alpha) * g, beta * states[1] + (1 - beta) * g * g
    rate = RATE * np.sqrt(1 - beta**t) / (1 - alpha**t) if t > 0 else RATE
    return (1 - after) * (x - rate * v / (np.sqrt(s) + epsilon)), [v, s]


def descend(x, g, states, t):
    return x - RATE * g, []


# Name -> formula, op, number of states, attributes.
OPTIMIZERS = {
    "descent": (descend, None, 0, {}),
    "momentum": (momentum, "Momentum", 1, {"alpha": 0.9, "beta": 0.5, "norm_coefficient": 0.01, "mode": "standard"}),
    "nesterov": (lambda *a: momentum(*a, nesterov=True), "Momentum", 1,
                 {"alpha": 0.9, "beta": 0.5, "norm_coefficient": 0.01, "mode": "nesterov"}),
    "adagrad": (adagrad, "Adagrad", 1, {"decay_factor": 0.1, "epsilon": 1e-5, "norm_coefficient": 0.01}),
    "adam": (adam, "Adam", 2, {"alpha": 0.9, "beta": 0.99, "epsilon": 1e-3, "norm_coefficient": 0.01,
                               "norm_coefficient_post": 0.02}),
}


def rounded(attributes):
    """Numbers of attributes are f32."""
    return {n: float(np.float32(v)) if isinstance(v, float) else v for n, v in attributes.items()}


def loss_of(p, x, y):
    logits = jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1)
    return -jnp.mean(chosen)


def algorithm(kind, op, count, attributes):
    """The nodes of the step, and its bindings (initializer -> value)."""
    names = list(SHAPES)
    nodes = [h.make_node("SoftmaxCrossEntropyLoss", ["logits", "y"], ["loss"]),
             h.make_node("Gradient", [*names, "x"], [f"g_{n}" for n in names], domain="ai.onnx.preview.training",
                         xs=names, zs=["x"], y="loss")]
    bindings = {n: f"{n}_new" for n in names}
    if op is None:
        for n in names:
            nodes += [h.make_node("Mul", ["rate", f"g_{n}"], [f"d_{n}"]), h.make_node("Sub", [n, f"d_{n}"], [f"{n}_new"])]
        return nodes, bindings
    states = [f"{n}_{k}" for k in range(count) for n in names]
    bindings.update({s: f"{s}_new" for s in states}, count="count_new")
    nodes.append(h.make_node(op, ["rate", "count", *names, *[f"g_{n}" for n in names], *states],
                             [f"{n}_new" for n in [*names, *states]], domain="ai.onnx.preview.training", **attributes))
    nodes.append(h.make_node("Add", ["count", "one"], ["count_new"]))
    return nodes, bindings


def value(name, kind, *dims):
    return h.make_tensor_value_info(name, kind, dims)


def build(kind, parameters):
    formula, op, count, attributes = OPTIMIZERS[kind]
    forward = [h.make_node("MatMul", ["x", "w1"], ["a"]), h.make_node("Add", ["a", "b1"], ["h"]),
               h.make_node("Tanh", ["h"], ["t"]), h.make_node("MatMul", ["t", "w2"], ["c"]),
               h.make_node("Add", ["c", "b2"], ["logits"])]
    graph = h.make_graph(forward, kind, [value("x", T.DOUBLE, ROWS, WIDTH)], [value("logits", T.DOUBLE, ROWS, CLASSES)],
                         [nph.from_array(parameters[n], n) for n in SHAPES])
    nodes, bindings = algorithm(kind, op, count, attributes)
    states = [nph.from_array(np.zeros(SHAPES[n]), f"{n}_{k}") for k in range(count) for n in SHAPES]
    numbers = [nph.from_array(np.array(RATE), "rate"), h.make_tensor("count", T.INT64, [], [0]),
               h.make_tensor("one", T.INT64, [], [1])]
    shapes = {**SHAPES, **{f"{n}_{k}": SHAPES[n] for k in range(count) for n in SHAPES}}
    outputs = [value("loss", T.DOUBLE)] + [
        value(b, T.INT64) if n == "count" else value(b, T.DOUBLE, *shapes[n]) for n, b in bindings.items()]
    step = h.make_graph(nodes, "step", [value("y", T.INT64, ROWS)], outputs, [*states, *(numbers if op else numbers[:1])])
    model = h.make_model(graph, ir_version=9, opset_imports=[
        h.make_opsetid("", 17), h.make_opsetid("ai.onnx.preview.training", 1)])
    info = model.training_info.add()
    info.algorithm.CopyFrom(step)
    for n, b in bindings.items():
        info.update_binding.add(key=n, value=b)
    return model


class Case:
    def __init__(self, a, kind):
        self.a, self.kind, self.folder = a, kind, pathlib.Path(a.output) / kind
        self.folder.mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(len(kind))
        self.parameters = {n: draw.normal(size=s) / np.sqrt(s[0]) for n, s in SHAPES.items()}
        self.x = draw.normal(size=(STEPS * ROWS, WIDTH))
        self.y = draw.integers(0, CLASSES, size=STEPS * ROWS)
        (self.folder / "model.onnx").write_bytes(build(kind, self.parameters).SerializeToString())
        np.save(self.folder / "x.npy", self.x)
        np.save(self.folder / "y.npy", self.y)
        (self.folder / "model.toml").write_text("""\
[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[data.y]
kind = "array"
file = "y.npy"
shuffle = false
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "w1"
rest = [[], ["tensor"]]
[[layout]]
match = "w2"
rest = [["tensor"], []]
[[layout]]
match = "b1"
optimizer = [["data"]]
""", encoding="utf-8")

    def expect(self):
        """Losses and states after all steps; microbatches are parts of a step's rows."""
        formula, op, count, attributes = OPTIMIZERS[self.kind]
        given = rounded({n: v for n, v in attributes.items()})
        keys = {"decay_factor": "decay", "norm_coefficient": "norm", "norm_coefficient_post": "after"}
        given = {keys.get(n, n): v for n, v in given.items() if n != "mode"}
        p, losses = dict(self.parameters), []
        states = {n: [np.zeros(s)] * count for n, s in SHAPES.items()}
        for t in range(STEPS):
            part = slice(t * ROWS, (t + 1) * ROWS)
            loss, g = jax.value_and_grad(loss_of)(p, self.x[part], self.y[part])
            losses.append(float(loss))
            for n in SHAPES:
                p[n], states[n] = formula(p[n], np.asarray(g[n]), states[n], t, **given) if self.kind != "nesterov" else \
                    momentum(p[n], np.asarray(g[n]), states[n], t, True, **given)
        return losses, {**p, **{f"{n}_{k}": s for n in SHAPES for k, s in enumerate(states[n])}}

    def run(self, engine, mesh, *settings):
        dump, log = self.folder / "dump", self.folder / "log.jsonl"
        losses, states = self.expect()
        command = [self.a.llmc, engine, self.folder / "model.onnx", "--config", self.folder / "model.toml", "--steps", STEPS,
                   "--log", log, "--fetch", ",".join(states), "--dump", dump, *(["--mesh", mesh] if mesh else [])]
        for setting in settings:
            command += ["--set", setting]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True)
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        found = [row["loss"] for row in map(json.loads, log.read_text().splitlines()) if "loss" in row]
        apart = [abs(a - b) / abs(b) for a, b in zip(found, losses, strict=True)]
        for n, wanted in states.items():
            apart.append(np.abs(np.load(dump / f"{n}.npy") - wanted).max() / np.abs(wanted).max())
        return float(np.max(apart))


def main():
    a = one_step.parse(__doc__, lambda p: (
        p.add_argument("--only", help="these optimizers alone"),
        p.add_argument("--runs", type=int, default=len(RUNS), help="the first so many of each")))
    done = failed = 0
    for kind in a.only.split(",") if a.only else OPTIMIZERS:
        case = Case(a, kind)
        for engine, mesh, *settings in RUNS[: a.runs]:
            apart = case.run(engine, mesh, *settings)
            bad = isinstance(apart, str) or not apart <= 1e-10
            done, failed = done + 1, failed + bad
            shown = apart if isinstance(apart, str) else f"{apart:.1e}"
            print(f"{'FAILED' if bad else 'passed'} {kind} {' '.join([engine, mesh or 'one device', *settings])}: {shown}")
    print(f"{done} runs, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
