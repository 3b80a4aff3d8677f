# ===- complex_steps.py - Optimizers of complex parameters ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Steps on complex parameters in f64, losses and parameters within 1e-10 of JAX:

    whole    a step written in JAX with optax's Adam, of which llmc does what the text says: |g|^2 of a complex gradient
    parts    llmc's own AdamW with clipping, against optax's on the real and the imaginary parts, as PyTorch has it
    gradients   the same beside a text of jax.value_and_grad

    python complex_steps.py --llmc llmc -o out
"""

import argparse
import json
import pathlib
import subprocess
import sys

import arrays
import jax
import jax.numpy as jnp
import numpy as np
import optax
from complex_models import parts_of

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

B, W, STEPS = 4, 6, 5
# Numbers that f32 has.
RATE, BETA1, BETA2, EPS, BOUND = 0.0625, 0.875, 0.96875, 2.0**-20, 0.25
CONFIGURATION = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[[layout]]
input = "x"
dims = [["data"]]
[[layout]]
match = "first"
rest = [[], ["tensor"]]
[training]
precision = "f64"
"""
RECIPE = f"""max_norm = {BOUND}
[optimizer]
name = "adamw"
lr = {RATE}
beta1 = {BETA1}
beta2 = {BETA2}
eps = {EPS}
"""
RUNS = [("train", ""), ("train", "data=2,tensor=2"), ("train", "pipe=2"), ("interpret", "")]


def loss(params, x):
    h = jnp.tanh(x @ params["first"]) @ params["second"]
    return jnp.mean(jnp.abs(h - jnp.conj(x)) ** 2)


ADAM = optax.adam(RATE, b1=BETA1, b2=BETA2, eps=EPS)


def step(params, state, x):
    value, gradient = jax.value_and_grad(loss)(params, x)
    # optax wants the direction in which the loss grows.
    updates, state = ADAM.update(jax.tree.map(jnp.conj, gradient), state, params)
    return optax.apply_updates(params, updates), state, value


def whole_step(params, x):
    """Losses, and the parameters after the last step."""
    state, losses = ADAM.init(params), []
    for t in range(STEPS):
        params, state, value = jax.jit(step)(params, state, x[t * B:(t + 1) * B])
        losses.append(float(value))
    return losses, params


def by_parts(params, x):
    """The same on real numbers alone, with clipping."""
    recipe = optax.chain(optax.clip_by_global_norm(BOUND), ADAM)
    update = jax.jit(recipe.update)
    parts = jax.tree.map(lambda w: {"real": w.real, "imag": w.imag}, params)

    def of_parts(parts, x):
        return loss({n: jax.lax.complex(w["real"], w["imag"]) for n, w in parts.items()}, x)

    state, losses, derive = recipe.init(parts), [], jax.jit(jax.value_and_grad(of_parts))
    for t in range(STEPS):
        value, gradient = derive(parts, x[t * B:(t + 1) * B])
        updates, state = update(gradient, state, parts)
        parts = optax.apply_updates(parts, updates)
        losses.append(float(value))
    return losses, {n: np.asarray(w["real"]) + 1j * np.asarray(w["imag"]) for n, w in parts.items()}


def shapes_of(tree):
    return jax.tree.map(lambda v: jax.ShapeDtypeStruct(np.shape(v), v.dtype), tree)


def texts(params, x):
    """Name: text, what is added to the configuration, what is expected."""
    given, data = shapes_of(params), jax.ShapeDtypeStruct((B, W), x.dtype)
    state = shapes_of(ADAM.init(params))
    jitted = jax.jit(step, donate_argnums=(0, 1))
    yield "whole", jitted.lower(given, state, data).as_text(debug_info=True), "", whole_step(params, x)
    expected = by_parts(params, x)
    yield "parts", jax.jit(loss).lower(given, data).as_text(debug_info=True), RECIPE, expected
    derived = jax.jit(lambda params, x: jax.value_and_grad(loss)(params, x)).lower(given, data)
    yield "gradients", derived.as_text(debug_info=True), RECIPE, expected


def run(a, folder, engine, mesh, names):
    dump, log = folder / "dump", folder / "log.jsonl"
    command = [a.llmc, engine, folder / "model.mlir", "--config", folder / "model.toml", "--steps", STEPS, "--log", log]
    command += ["--weights", folder / "weights.safetensors", "--fetch", ",".join(names), "--dump", dump]
    command += ["--mesh", mesh] if mesh else []
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    losses = [json.loads(line)["loss"] for line in log.read_text().splitlines() if '"loss"' in line]
    return losses, {n: np.load(dump / f"{n}.npy") for n in names}


def farthest(found, expected):
    apart = [abs(a - b) / abs(b) for a, b in zip(found[0], expected[0], strict=True)]
    for name, value in expected[1].items():
        apart.append(np.abs(found[1][name] - np.asarray(value)).max() / np.abs(value).max())
    return float(np.max(apart))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--in-turn", action="store_true", help="each in one of the runs, in turn")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    random = np.random.default_rng(7)

    def drawn(*shape):
        return random.normal(size=shape) * 0.4 + 0.4j * random.normal(size=shape)

    params, x = {"first": drawn(W, 2 * W), "second": drawn(2 * W, W)}, drawn(B * STEPS, W)
    count = failed = 0
    for number, (name, text, recipe, expected) in enumerate(texts(params, x)):
        folder = a.output / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(text, encoding="utf-8")
        (folder / "model.toml").write_text(CONFIGURATION + recipe, encoding="utf-8")
        np.save(folder / "x.npy", x)
        arrays.write_safetensors(folder / "weights.safetensors", parts_of(params))
        for engine, mesh in RUNS[number:number + 1] if a.in_turn else RUNS:
            found = run(a, folder, engine, mesh, list(params))
            apart = None if isinstance(found, str) else farthest(found, expected)
            bad = apart is None or not apart <= 1e-10
            count, failed = count + 1, failed + bad
            print(f"{'FAILED' if bad else 'passed'} {name} {engine} {mesh or 'one device'}: "
                  f"{found if apart is None else f'{apart:.1e}'}", flush=True)
    print(f"{count} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
