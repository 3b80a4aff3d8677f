# ===- plain_plans.py - Plans of what is not raised, and of what is ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes small models of JAX, compiles them and prints what the forward and the backward
of a training plan do: their kernels, and each collective with its bytes.

    python plain_plans.py --llmc llmc -o out lookup --mesh tensor=2
"""

import argparse
import collections
import pathlib
import re
import subprocess

import jax
import jax.numpy as jnp

SAMPLES, TIMES, WIDTH, WORDS, EXPERTS = 4, 16, 8, 64, 4
WEIGHTS = {"w": (WIDTH, WIDTH)}
# Much larger than what is looked up in it: a smaller one would be gathered.
TABLE = WEIGHTS | {"table": (8 * WORDS, WIDTH)}
HEAD = WEIGHTS | {"table": (WIDTH, WORDS)}
ROUTED = WEIGHTS | {"router": (WIDTH, EXPERTS)}


def loss_of(p, h):
    return jnp.mean(jnp.tanh(h @ p["w"]) ** 2)


def lookup(p, x):
    return loss_of(p, p["table"][x])


def clipped(p, x):
    return loss_of(p, jnp.take(p["table"], x, axis=0, mode="clip"))


def filled(p, x):
    return loss_of(p, jnp.take(p["table"], x, axis=0, mode="fill"))


def log_sum_exp(p, x):
    return jnp.mean(jax.nn.logsumexp(jnp.tanh(x @ p["w"]) @ p["table"], axis=-1) ** 2)


def batch_norm(p, x):
    y = x @ p["w"]
    mean = y.mean((0, 1))
    return jnp.mean(jax.nn.relu((y - mean) * jax.lax.rsqrt(y.var((0, 1)) + 1e-3)) ** 2)


def rotary(p, x):
    angles = jnp.arange(float(TIMES))[:, None] / 10.0 ** jnp.arange(float(WIDTH // 2))
    c, s = (jnp.concatenate([f(angles)] * 2, axis=-1) for f in (jnp.cos, jnp.sin))
    y = x @ p["w"]
    a, b = jnp.split(y, 2, axis=-1)
    return loss_of(p, y * c + jnp.concatenate([-b, a], axis=-1) * s)


def cumulative(p, x):
    return jnp.mean(jnp.cumsum(jnp.tanh(x @ p["w"]), axis=1) ** 2)


def scanned(p, x):
    return jnp.mean(jax.lax.associative_scan(jnp.add, jnp.tanh(x @ p["w"]), axis=1) ** 2)


def top(p, x):
    share, _ = jax.lax.top_k(jax.nn.softmax(x @ p["router"]), 2)
    return loss_of(p, share.sum(-1, keepdims=True) * x)


def sorted_top(p, x):
    share = jax.nn.softmax(x @ p["router"])
    best = jnp.argsort(-share, axis=-1)[..., :2]
    return loss_of(p, jnp.take_along_axis(share, best, axis=-1).sum(-1, keepdims=True) * x)


# Name -> loss, shapes of its parameters; words are looked up, numbers are multiplied.
CASES = {
    "lookup": (lookup, TABLE),
    "clipped": (clipped, TABLE),
    "filled": (filled, TABLE),
    "log_sum_exp": (log_sum_exp, HEAD),
    "batch_norm": (batch_norm, WEIGHTS),
    "rotary": (rotary, WEIGHTS),
    "cumulative": (cumulative, WEIGHTS),
    "scanned": (scanned, WEIGHTS),
    "top": (top, ROUTED),
    "sorted_top": (sorted_top, ROUTED),
}
CONFIGURATION = """[mesh]
axes = ["data", "tensor"]
[data.x]
kind = "array"
file = "x.npy"
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "table"
rest = {rest}
[[init]]
match = "*"
draw = "normal"
[optimizer]
name = "sgd"
lr = 1.0
[training]
loss = "mean of microbatches"
"""


def compile_case(a):
    """The plan as `llmc inspect` prints it."""
    loss, shapes = CASES[a.case]
    isLookup = shapes is TABLE
    x = jax.ShapeDtypeStruct((SAMPLES, TIMES), jnp.int32) if isLookup else jax.ShapeDtypeStruct(
        (SAMPLES, TIMES, WIDTH), jnp.float32)

    def train(params, x):
        return loss(params, x)

    folder = a.output / a.case
    folder.mkdir(parents=True, exist_ok=True)
    shapes = {n: jax.ShapeDtypeStruct(s, jnp.float32) for n, s in shapes.items()}
    (folder / "model.mlir").write_text(jax.jit(train).lower(shapes, x).as_text(debug_info=True), encoding="utf-8")
    rest = '[["tensor"], []]' if isLookup else '[[], ["tensor"]]'
    configuration = CONFIGURATION.format(rest=rest)
    if "table" not in shapes:
        configuration = configuration.replace('[[layout]]\nmatch = "table"\nrest = ' + rest + "\n", "")
    (folder / "model.toml").write_text(configuration, encoding="utf-8")
    command = [a.llmc, "compile", folder / "model.mlir", "--config", folder / "model.toml", "--threads", 1]
    command += ["-o", folder / "plan", *(["--mesh", a.mesh] if a.mesh else []), *(f"--set={s}" for s in a.set)]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    return subprocess.run([a.llmc, "inspect", "plan", folder / "plan" / "plan.llmc"], check=True, capture_output=True,
                          text=True).stdout


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    p.add_argument("--mesh", default="")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("case", choices=CASES)
    a = p.parse_args()
    kernels, collectives, program = collections.Counter(), collections.defaultdict(list), ""
    for line in compile_case(a).splitlines():
        name = re.match(r"program (train\.c0\.[FB]) ", line)
        program = name[1] if name else "" if line.startswith("program") else program
        kernels[program] += " kernel " in line
        collective = re.search(r"collective (\w+) .*\((\d+) B\)", line)
        if collective:
            collectives[program].append(f"{collective[1]} {collective[2]} B")
    for program, name in (("train.c0.F", "forward"), ("train.c0.B", "backward")):
        print(f"{name}: kernels {kernels[program]}; {', '.join(collectives[program]) or 'no collective'}")


if __name__ == "__main__":
    main()
