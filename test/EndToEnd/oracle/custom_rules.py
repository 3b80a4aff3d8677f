# ===- custom_rules.py - Functions whose own derivative is lost -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Texts of functions with a custom_jvp or custom_vjp: refused by name, or accepted.

    python custom_rules.py --llmc llmc -o out
"""

import argparse
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import jax.scipy.special as special

CONFIGURATION = '[[init]]\nmatch = "*"\ndraw = "ones"\n[training]\nsteps = 1\n'


@jax.custom_vjp
def doubled(x):
    return x * 2.0


doubled.defvjp(lambda x: (doubled(x), None), lambda _, g: (g * 7.0,))


@jax.custom_jvp
def shifted(x):
    return jnp.where(x > 1.0, x, x + 3.0)


shifted.defjvp(lambda p, t: (shifted(*p), t[0] * 5.0))


@jax.custom_jvp
def like_logit(x):
    return jnp.log(x / (1.0 - x))


like_logit.defjvp(lambda p, t: (like_logit(*p), t[0]))


@jax.custom_vjp
def bare(x):
    return x * x


bare.defvjp(lambda x: (bare(x), None), lambda _, g: (g,))


@jax.jit
def relu(x):
    return jnp.maximum(x, 0.0)


def block(x):
    return doubled(x) + 1.0


def deep(x, n=12):
    return shifted(x) if n == 0 else deep(x, n - 1)


SCALE = jnp.arange(4.0)

# The name that the refusal has, or none where the text is accepted.
CASES = {
    "vjp": (lambda w: doubled(w), "'doubled' with a custom_vjp"),
    "jvp": (lambda w: shifted(w), "'shifted' with a custom_jvp"),
    "vmapped": (lambda w: jax.vmap(doubled)(w), "'doubled' with a custom_vjp"),
    "nested": (lambda w: jax.jit(block)(w), "'doubled' with a custom_vjp"),
    "recomputed": (lambda w: jax.checkpoint(block)(w), "'doubled' with a custom_vjp"),
    "jitted": (lambda w: jax.jit(doubled)(w), "'doubled' with a custom_vjp"),
    "deep": (deep, "'shifted' with a custom_jvp"),
    "like_logit": (lambda w: like_logit(w / 2), "'like_logit' with a custom_jvp"),
    "unknown": (lambda w: special.dawsn(w), "one of JAX's with a custom_jvp"),
    "known": (lambda w: special.logit(w / 2) + special.xlogy(w, w + 1), None),
    # The parameter is not derived through the function.
    "inactive": (lambda w: doubled(SCALE) * w, None),
    # What leaves no trace is accepted, as docs/derivatives.md says.
    "bare": (lambda w: bare(w), None),
    "own_relu": (lambda w: relu(w), None),
}


def judge(a, name, function, refusal):
    text = jax.jit(lambda p: jnp.sum(function(p["w"]))).lower({"w": jnp.ones(4)})
    path = a.output / f"{name}.mlir"
    path.write_text(text.as_text(debug_info=True), encoding="utf-8")
    command = [a.llmc, "interpret", path, "--config", a.output / "config.toml"]
    process = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if refusal is None:
        return process.returncode == 0, process.stderr
    meant = subprocess.run(
        [*map(str, command), "--set", 'training.derivative="of the text"'],
        text=True, capture_output=True)
    right = process.returncode == 1 and refusal in process.stderr and meant.returncode == 0
    # One line, with a place in the user's program and what to do.
    lines = [line for line in process.stderr.splitlines() if "error[" in line]
    right &= len(lines) == 1 and ".py:" in lines[0] and "training.derivative" in lines[0]
    return right, process.stderr + meant.stderr


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    (a.output / "config.toml").write_text(CONFIGURATION, encoding="utf-8")
    failed = 0
    for name, (function, refusal) in CASES.items():
        right, shown = judge(a, name, function, refusal)
        failed += not right
        if not right:
            print(f"FAILED {name}: expected {refusal or 'no refusal'}, got {shown[-600:]}")
    print(f"{len(CASES)} texts, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
