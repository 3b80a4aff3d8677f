#!/usr/bin/env python3
# ===- run.py - Factors of matrices and triangular equations ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times factors and equations of one matrix, and writes RESULTS.md: llmc, JAX, SciPy.

A step of llmc is a training step of a loss whose matrix is a sample (forward) or a
parameter (with its gradient). JAX computes the value and the same gradients, and
SciPy, which calls OpenBLAS, the factor or the solution alone. All run in turn in
one sitting, on the first one or two cores.

    python run.py --bin ../../build/dev/bin [--before /folder/of/other/llmc]
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(ROOT / "test/EndToEnd/oracle"))
import arrays  # noqa: E402
import sitting  # noqa: E402

KINDS = ["cholesky", "equation", "lu", "solve"]
TYPES = {"f32": np.float32, "f64": np.float64}
CONFIGURATION = """[mesh]
axes = ["data"]
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[optimizer]
name = "sgd"
lr = 1e-30
"""
FLOPS = {"cholesky": 1 / 3, "equation": 1, "lu": 2 / 3, "solve": 8 / 3}  # of n cubed, without a gradient


def make_loss(kind, gradient):
    """A loss of p (a scale, of a gradient also the matrix) and one sample, the matrix."""
    import jax.numpy as jnp
    from jax import lax

    def loss(p, x):
        a = p["a"] if gradient else x[0]
        weights = x[0] + 1 if gradient else jnp.ones_like(a)
        if kind == "cholesky":
            y = lax.linalg.cholesky(a, symmetrize_input=False)
        elif kind == "equation":
            y = lax.linalg.triangular_solve(a, a, left_side=True, lower=True)
        elif kind == "lu":
            y = lax.linalg.lu(a)[0]
        else:
            y = jnp.linalg.solve(a, x[0])
        return p["scale"] * jnp.mean(y * weights)

    return loss


def make_matrix(kind, n, dtype):
    draw = np.random.default_rng(n)
    x = draw.normal(size=(n, n)) / np.sqrt(n)
    if kind in ("cholesky", "equation"):
        x = x @ x.T + 2 * np.eye(n)
    return x.astype(dtype)


def peer(a):
    """Prints the median seconds of JAX and of SciPy."""
    import time

    import jax
    import scipy.linalg as of

    jax.config.update("jax_enable_x64", True)
    x = make_matrix(a.kind, a.n, TYPES[a.dtype])
    p = {"scale": np.ones((), x.dtype), **({"a": x} if a.gradient else {})}
    p, sample = jax.device_put((p, x[None]))
    step = jax.jit(jax.value_and_grad(make_loss(a.kind, a.gradient)))
    scipy = {"cholesky": lambda: of.cholesky(x, lower=True), "lu": lambda: of.lu_factor(x),
             "equation": lambda: of.solve_triangular(x, x, lower=True), "solve": lambda: of.solve(x, x)}[a.kind]

    def middle(call):
        times = []
        for _ in range(a.steps + 3):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return sitting.median(times[3:])

    print(json.dumps({"jax": middle(lambda: jax.block_until_ready(step(p, sample))), "scipy": middle(scipy)}))


def write_model(kind, n, dtype, gradient, folder):
    import jax

    jax.config.update("jax_enable_x64", True)
    x = make_matrix(kind, n, TYPES[dtype])
    p = {"scale": np.ones((), x.dtype), **({"a": x} if gradient else {})}
    np.save(folder / "x.npy", x[None])
    arrays.write_safetensors(folder / "weights.safetensors", p)
    (folder / "model.toml").write_text(CONFIGURATION)
    text = jax.jit(make_loss(kind, gradient)).lower(p, x[None]).as_text(debug_info=True)
    (folder / "model.mlir").write_text(text)


def time_llmc(binary, threads, folder, steps):
    """The median seconds of a step, those of compilation, and the bytes of the device."""
    log = folder / "log.jsonl"
    command = [f"{binary}/llmc", "train", folder / "model.mlir", "--config", folder / "model.toml", "--log", log,
               "--weights", folder / "weights.safetensors", "--steps", steps + 3, "--threads", threads]
    done = sitting.pinned(threads, command, folder)
    if done.returncode:
        sys.exit(done.stderr)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    seconds = [row["seconds"] for row in rows if "seconds" in row]
    said = done.stdout + done.stderr
    built = float(said.split("compiled in ")[1].split(" s")[0])
    memory = said.split("memory of stage 0: ")[1].split(" ")[0] if "memory of stage 0: " in said else "?"
    return sitting.median(seconds[3:]), built, memory


def measure(a, kind, n, dtype, gradient, threads, folder):
    write_model(kind, n, dtype, gradient, folder)
    row = {}
    flags = [__file__, "--peer", "--kind", kind, "--n", n, "--dtype", dtype, "--steps", a.steps]
    done = sitting.pinned(threads, [sys.executable, *flags, *(["--gradient"] if gradient else [])], folder,
                          {"OPENBLAS_NUM_THREADS": str(threads), "JAX_PLATFORMS": "cpu"})
    row.update(json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.stderr))
    row["llmc"], row["built"], row["memory"] = time_llmc(a.bin, threads, folder, a.steps)
    if a.before:
        row["before"], _, row["memory_before"] = time_llmc(a.before, threads, folder, max(a.steps // 10, 2))
    return row


HEAD = """# Factors and equations

Written by `run.py`; every number was measured in one sitting, median of STEPS steps. `before` is another llmc, whose kernels are
loops over scalars. GFLOP/s count a third of n cubed for a Cholesky factor, all of it for an equation with n right sides, two thirds for
a factor with pivots, eight thirds for a solution. SciPy has no gradients: its time is that of the factor or solution alone.
Machine: MACHINE.

| what | n | type | threads | llmc ms | GFLOP/s | before ms | JAX ms | SciPy ms | before / llmc | llmc / JAX | compiled s | bytes, before |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def show_row(case, r):
    kind, n, dtype, gradient, threads = case
    rate = "" if gradient else f"{FLOPS[kind] * n**3 / r['llmc'] / 1e9:.1f}"
    before = f"{r['before'] * 1e3:.2f}" if "before" in r else ""
    gain = f"{r['before'] / r['llmc']:.1f}" if "before" in r else ""
    cells = [kind + (" and gradient" if gradient else ""), n, dtype, threads, f"{r['llmc'] * 1e3:.2f}", rate, before]
    cells += [f"{r['jax'] * 1e3:.2f}", f"{r['scipy'] * 1e3:.2f}", gain, f"{r['llmc'] / r['jax']:.2f}", f"{r['built']:.1f}"]
    cells += [", ".join(filter(None, [r["memory"], r.get("memory_before")]))]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def show(a, rows):
    return HEAD.replace("STEPS", str(a.steps)).replace("MACHINE", sitting.machine()) + "".join(show_row(*row) for row in rows)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", default=str(ROOT / "build/dev/bin"))
    p.add_argument("--before", help="the folder of another llmc")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--sizes", default="64,200,512,1024")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--types", default="f32,f64")
    p.add_argument("--threads", default="1,2")
    p.add_argument("-o", "--output", default=str(HERE / "RESULTS.md"))
    for name in ("kind", "dtype"):
        p.add_argument("--" + name, help=argparse.SUPPRESS)
    p.add_argument("--n", type=int, help=argparse.SUPPRESS)
    for name in ("peer", "gradient"):
        p.add_argument("--" + name, action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.peer:
        return peer(a)
    rows = []
    for kind in a.kinds.split(","):
        for n in map(int, a.sizes.split(",")):
            for dtype in a.types.split(","):
                for gradient in (False, True):
                    for threads in map(int, a.threads.split(",")):
                        with tempfile.TemporaryDirectory() as folder:
                            case = (kind, n, dtype, gradient, threads)
                            rows.append((case, measure(a, *case, pathlib.Path(folder))))
                            print(show_row(*rows[-1]), end="", flush=True)
                            pathlib.Path(a.output).write_text(show(a, rows), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
