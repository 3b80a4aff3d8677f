# ===- complex_files.py - A model of complex numbers with its files ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes a complex perceptron and arrays of complex64 to this folder; `same A B` and `near A B` compare two arrays,
`scores A` one with what the model makes of the data, and `batch A` writes the data's first rows."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
import arrays

CONFIGURATION = """[mesh]
axes = ["data", "tensor"]
[[init]]
match = "*"
draw = "normal"
std = 0.3
[[layout]]
input = "x"
dims = [["data"]]
[[layout]]
match = "first"
rest = [[], ["tensor"]]
[optimizer]
lr = 0.05
[training]
max_norm = 0.5
"""
DATA = """[data.x]
kind = "array"
file = "x.npy"
"""


def score(params, x):
    import jax.numpy as jnp
    y = jnp.tanh(x @ params["first"]) @ params["second"]
    return jnp.mean(jnp.abs(y - jnp.conj(x)) ** 2), {"y": y}


def loss(params, x):
    return score(params, x)[0]


def write():
    import jax
    random = np.random.default_rng(3)

    def draw(*shape):
        return (random.normal(size=shape) * 0.4 + 0.4j * random.normal(size=shape)).astype("complex64")

    params, x = {"first": draw(6, 12), "second": draw(12, 6)}, draw(16, 6)
    given = {n: jax.ShapeDtypeStruct(w.shape, w.dtype) for n, w in params.items()}
    for file, function in ("model.mlir", loss), ("scored.mlir", score):
        text = jax.jit(function).lower(given, jax.ShapeDtypeStruct((4, 6), x.dtype)).as_text(debug_info=True)
        pathlib.Path(file).write_text(text, encoding="utf-8")
    pathlib.Path("model.toml").write_text(DATA + CONFIGURATION, encoding="utf-8")
    pathlib.Path("bare.toml").write_text(CONFIGURATION, encoding="utf-8")
    np.save("x.npy", x)
    np.save("real.npy", x.real)
    np.save("first.npy", params["first"])
    np.save("second.imag.npy", params["second"].imag)
    second = params["second"]
    weights = {"first": params["first"], "second.real": second.real, "second.imag": second.imag}
    arrays.write_safetensors("weights.safetensors", weights)
    arrays.write_safetensors("wrong.safetensors", {**weights, "second.real": second})


def compare(how, one, other):
    a, b = np.load(one), np.load(other)
    if a.dtype != b.dtype or a.shape != b.shape:
        sys.exit(f"expected {b.dtype}{b.shape}, got {a.dtype}{a.shape}")
    apart = np.abs(a - b).max() / np.abs(b).max()
    if not apart <= {"same": 0, "near": 1e-5}[how]:
        sys.exit(f"expected equal arrays, got a distance of {apart:.1e}")


def check_scores(found):
    """Of the rows that the configuration draws first: each is one of the model's."""
    weights = arrays.read_safetensors("weights.safetensors")
    second = weights["second.real"] + 1j * weights["second.imag"]
    wanted = np.tanh(np.load("x.npy") @ weights["first"]) @ second
    for row in np.load(found):
        if np.abs(wanted - row).max(axis=1).min() > 1e-5:
            sys.exit(f"expected scores of a row of x.npy, got {row}")


if len(sys.argv) == 1:
    write()
elif sys.argv[1] == "batch":
    np.save(sys.argv[2], np.load("x.npy")[:4])
elif sys.argv[1] == "scores":
    check_scores(sys.argv[2])
else:
    compare(*sys.argv[1:])
