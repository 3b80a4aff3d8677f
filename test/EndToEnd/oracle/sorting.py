# ===- sorting.py - Orders against JAX -----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Sorts, argsorts, sorts by several keys and top_k against JAX, to the bit.

Operands have ties, NaN, infinities and zeros of both signs. One text has all cases,
interpreted, by kernels on one device and on a mesh whose axes split the operands.

    python sorting.py --llmc llmc -o out
"""

import argparse
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from semantics import as_stored, run

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(3)
MESHES = ["", "data=2", "data=2,tensor=2", "data=3"]


def ties(shape, dtype):
    """Few different numbers, so that most are equal to another, and the extremes of integers."""
    x = random.integers(-3, 4, shape).astype(dtype)
    if np.issubdtype(dtype, np.integer):
        extreme = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)[random.integers(0, 2, shape)]
        x = np.where(random.integers(0, 4, shape) == 0, extreme, x)
    if np.issubdtype(dtype, np.floating):
        special = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5], shape)
        x = np.where(random.integers(0, 3, shape) == 0, special, x).astype(dtype)
    return jnp.asarray(x)


def cases():
    """(name, function of one operand, operand)"""
    for dtype in (np.float32, np.float64, np.int32, np.uint8, jnp.bfloat16):
        x = ties((6, 8), np.float32 if dtype == jnp.bfloat16 else dtype).astype(dtype)
        name = np.dtype(dtype).name
        yield f"sort_{name}", lambda x: jnp.sort(x, axis=-1), x
        yield f"sort_first_{name}", lambda x: jnp.sort(x, axis=0), x
        yield f"falling_{name}", lambda x: jnp.sort(x, axis=-1, descending=True), x
        yield f"argsort_{name}", lambda x: jnp.argsort(x, axis=-1), x
        yield f"top_{name}", lambda x: lax.top_k(x, 3)[0], x
        yield f"top_places_{name}", lambda x: lax.top_k(x, 8)[1], x
    for dtype in (np.float16, np.int8, np.int16, np.int64, np.uint16, np.uint32, np.uint64, np.bool_):
        x, name = ties((6, 8), dtype), np.dtype(dtype).name
        yield f"sort_{name}", lambda x: jnp.sort(x, axis=0), x
        yield f"argsort_falling_{name}", lambda x: jnp.argsort(x, axis=-1, descending=True), x
        yield f"top_places_{name}", lambda x: lax.top_k(x, 5)[1], x
    x = ties((4, 33), np.float32)
    y = ties((4, 33), np.int32)
    yield "two_keys", lambda x: lax.sort((x, y, lax.iota(jnp.int32, 33)[None].repeat(4, 0)), num_keys=2)[2], x
    z = jnp.asarray(random.permutation(4 * 33).reshape(4, 33))
    yield "three_keys", lambda x: lax.sort((y, x, x.astype(jnp.float64), z), num_keys=3)[3], x
    yield "lexsort", lambda x: jnp.lexsort((z % 5, x, y), axis=0), x
    yield "unstable", lambda x: lax.sort(x, is_stable=False), z
    yield "best_of_many", lambda x: lax.top_k(x, 3)[1], jnp.asarray(random.integers(0, 50, (5, 400)))
    apart = jnp.asarray(random.permutation(120).reshape(5, 24).astype(np.float32))
    yield "approximate_most", lambda x: lax.approx_max_k(x, 3)[1], apart
    yield "approximate_least", lambda x: lax.approx_min_k(x, 2, reduction_dimension=0)[0], apart
    yield "long", lambda x: jnp.argsort(x), ties((20000,), np.float32)
    yield "long_columns", lambda x: jnp.sort(x, axis=0), ties((5000, 3), np.float64)
    yield "payload", lambda x: lax.sort((y, x), num_keys=1)[1], x
    yield "vector", jnp.sort, ties((100,), np.float32)
    yield "one", jnp.sort, ties((1,), np.float32)
    yield "empty", lambda x: jnp.sort(x, axis=-1), ties((3, 0), np.float32)
    yield "top_none", lambda x: lax.top_k(x, 0)[0], ties((3, 4), np.float32)
    yield "three_dims", lambda x: jnp.sort(x, axis=1), ties((2, 9, 4), np.float64)
    yield "median", lambda x: jnp.median(x, axis=-1), jnp.asarray(random.normal(size=(4, 7)))
    yield "search", lambda x: jnp.sum(jnp.sort(x) < 0.5, dtype=jnp.int32)[None], ties((50,), np.float32)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    table = list(cases())

    def everything():
        hidden = lax.optimization_barrier([x for _, _, x in table])
        return {name: f(x) for (name, f, _), x in zip(table, hidden)}

    expected = jax.jit(everything)()
    (a.output / "model.mlir").write_text(jax.jit(everything).lower().as_text(debug_info=True), encoding="utf-8")
    (a.output / "model.toml").write_text('[mesh]\naxes = ["data", "tensor"]\n', encoding="utf-8")
    source = [a.output / "model.mlir", "--config", a.output / "model.toml", "--entry", "forward"]
    run(a.llmc, "interpret", *source, "--dump", a.output / "interpreted")
    for mesh in MESHES:
        flags = ["--mesh", mesh] if mesh else []
        run(a.llmc, "train", *source, *flags, "--steps", 1, "--fetch", "*", "--dump", a.output / (mesh or "one"))
    failed = 0
    for engine in ["interpreted", *[mesh or "one" for mesh in MESHES]]:
        for name, value in expected.items():
            value = np.asarray(value)
            actual = np.load(a.output / engine / f"{name}.npy")
            if value.dtype.name == "bfloat16":
                actual = as_stored(actual, "bf16")
            same = actual.shape == value.shape and actual.tobytes() == value.tobytes()
            if not same and value.dtype.kind == "f":
                both = (actual == value) & (np.signbit(actual) == np.signbit(value)) | np.isnan(actual) & np.isnan(value)
                same = bool(both.all())
            failed += not same
            if not same:
                print(f"FAILED {engine} {name}:\n{actual}\nJAX:\n{value}")
    print(f"{len(table)} cases by {1 + len(MESHES)} ways, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
