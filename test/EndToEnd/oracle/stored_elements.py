# ===- stored_elements.py - Numbers that are stored in eight and four bits --=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses whose frozen weights, activations or gradients lie in floats of eight bits or integers
of four, against jax.value_and_grad: one step of plain descent in f64 within 1e-10, interpreted
and by kernels, on one device and on meshes that split, gather and send such elements.

    python stored_elements.py --llmc llmc -o out
"""

import json
import struct

import quick_xla

quick_xla.ask(quick_xla.EIGHT_BITS)

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, WIDTH, HIDDEN = 4, 8, 12
RUNS = [("train", ""), ("interpret", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("train", "data=4"),
        ("train", "", "training.recompute='all'")]
# Of a safetensors file; i4 has no name there and is read from bytes.
NAMES = {"float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
         "float8_e5m2fnuz": "F8_E5M2FNUZ", "int4": "I8", "uint4": "U8", "float64": "F64"}


def write_weights(path, arrays):
    header, data = {}, b""
    for name, a in arrays.items():
        raw = (a.astype(np.int8) if a.dtype.name in ("int4", "uint4") else a).tobytes()
        header[name] = {"dtype": NAMES[a.dtype.name], "shape": list(a.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def from_weights(p, x):
    """Frozen weights in few bits, a scale for each column that is trained."""
    h = jnp.tanh(x @ (p["q"].astype(np.float64) * p["scale"]))
    return jnp.mean(jnp.square(h @ p["out"]))


def by_activations(p, x):
    """What lies between forward and backward is stored in few bits, and the cotangents are as well."""
    h = (x @ p["in"]).astype(jnp.float8_e5m2)
    kept = jnp.tanh(h.astype(np.float64)).astype(jnp.float8_e5m2).astype(np.float64)
    return jnp.mean(jnp.square(kept @ p["out"]))


def rounded(p, x):
    """Values beside what they are in integers of four bits and in floats of eight, which pass no gradient."""
    h = x @ p["in"]
    few = jnp.clip(jnp.round(2 * h), -8, 7).astype(jnp.int4)
    bits = jax.lax.bitcast_convert_type(h.astype(jnp.float8_e4m3fn), jnp.uint8) % 16
    return jnp.mean(jnp.square((h + few.astype(np.float64) / 2 + bits.astype(np.float64) / 16) @ p["out"]))


def quantized(dtype):
    return {"q": ((WIDTH, HIDDEN), dtype), "scale": ((HIDDEN,), None), "out": ((HIDDEN, WIDTH), None)}


PLAIN = {"in": ((WIDTH, HIDDEN), None), "out": ((HIDDEN, WIDTH), None)}
CASES = {
    "weights-e4m3": (from_weights, quantized(ml_dtypes.float8_e4m3fn)),
    "weights-e5m2": (from_weights, quantized(ml_dtypes.float8_e5m2)),
    "weights-e4m3fnuz": (from_weights, quantized(ml_dtypes.float8_e4m3fnuz)),
    "weights-i4": (from_weights, quantized(ml_dtypes.int4)),
    "weights-ui4": (from_weights, quantized(ml_dtypes.uint4)),
    "activations-e5m2": (by_activations, PLAIN),
    "rounded": (rounded, PLAIN),
}
LAYOUTS = {"q": [["data"], ["tensor"]], "in": [[], ["tensor"]], "out": [["tensor"], []]}


class Case(one_step.Case):
    def __init__(self, a, name):
        self.function, kinds = CASES[name]
        trained = {n: s for n, (s, dtype) in kinds.items() if dtype is None}
        super().__init__(a, name, trained, (2 * ROWS, WIDTH), one_step.CONFIGURATION.replace("microbatches = 2", "microbatches = 1")
                         + ('frozen = ["*q"]\n' if "q" in kinds else "")
                         + "".join(f'[[layout]]\nmatch = "{n}"\nrest = {json.dumps(rest)}\n'
                                   for n, rest in LAYOUTS.items() if n in kinds))
        draw = np.random.default_rng(7)
        self.frozen = {}
        for n, (shape, dtype) in kinds.items():
            if dtype is not None:
                low = 0 if dtype is ml_dtypes.uint4 else -8
                values = draw.integers(low, low + 16, size=shape) if "int" in np.dtype(dtype).name else draw.normal(size=shape)
                self.frozen[n] = values.astype(dtype)
        write_weights(self.folder / "weights.safetensors", {**self.parameters, **self.frozen})
        types = {n: jax.ShapeDtypeStruct(s, dtype or np.float64) for n, (s, dtype) in kinds.items()}

        def train(params, x):
            return self.function(params, x)

        self.write_text(jax.jit(train).lower(types, jax.ShapeDtypeStruct(self.x.shape, np.float64)).as_text(debug_info=True))

    def expect(self):
        return jax.value_and_grad(lambda p: self.function({**p, **self.frozen}, self.x))(self.parameters)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, RUNS)
