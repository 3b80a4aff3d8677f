# ===- large_sorts.py - Long orders against JAX ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Sorts of a vocabulary, the best of it and an argsort of a million numbers, which pairs would
not get done: to the bit as JAX has them, in memory of a few rows. Prints the median time of a
step beside JAX's least one; neither is checked.

    python large_sorts.py --llmc llmc -o out
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

random = np.random.default_rng(5)
STEPS = 8

# Name -> function, shape of its operand, the most bytes of the plan for each element.
CASES = {
    "sort": (lambda x: jnp.sort(x, axis=-1), (4, 50_000), 20),
    "argsort": (lambda x: jnp.argsort(x, axis=-1), (1, 1_000_000), 21),
    "top": (lambda x: lax.top_k(x, 8)[1], (64, 50_000), 5),
    "columns": (lambda x: jnp.sort(x, axis=1), (2, 10_000, 4), 20),
}


def time_of(f, x):
    f = jax.jit(f)
    f(x).block_until_ready()
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        f(x).block_until_ready()
        seconds.append(time.perf_counter() - start)
    return 1e3 * min(seconds)


def run(a, name, f, shape):
    """What llmc computes, its median milliseconds, and the bytes of its memory."""
    folder = a.output / name
    folder.mkdir(parents=True, exist_ok=True)
    x = random.normal(size=shape).astype(np.float32)
    np.save(folder / "x.npy", x)
    text = jax.jit(lambda x: {"y": f(x)}).lower(jax.ShapeDtypeStruct(shape, jnp.float32)).as_text(debug_info=True)
    (folder / "model.mlir").write_text(text, encoding="utf-8")
    (folder / "model.toml").write_text(
        f'[mesh]\naxes = ["data"]\n[data.x]\nkind = "array"\nshuffle = false\nfile = "{folder}/x.npy"\n', encoding="utf-8")
    command = [a.llmc, "train", folder / "model.mlir", "--config", folder / "model.toml", "--entry", "forward"]
    command += ["--threads", 2, "--fetch", "y", "--dump", folder, "--log", folder / "log"]
    text = subprocess.run([*map(str, command), "--steps", str(STEPS)], check=True, capture_output=True, text=True)
    reserved = int(re.search(r"reserved ([\d,]+) B", text.stdout + text.stderr)[1].replace(",", ""))
    seconds = sorted(json.loads(line)["seconds"] for line in (folder / "log").read_text().splitlines())
    return x, np.load(folder / "y.npy"), 1e3 * seconds[STEPS // 2], reserved


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    failed = 0
    for name, (f, shape, most) in CASES.items():
        x, y, milliseconds, reserved = run(a, name, f, shape)
        same = np.array_equal(np.asarray(jax.jit(f)(x)), y)
        small = reserved <= most * x.size
        failed += not (same and small)
        print(f"{name}: {'as JAX' if same else 'FAILED'}, {reserved:,} B{'' if small else ' FAILED'}, "
              f"{milliseconds:.1f} ms, JAX {time_of(f, x):.1f} ms")
    print(f"{len(CASES)} large orders, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
