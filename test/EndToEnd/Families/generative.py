# ===- generative.py - State spaces, routed experts, diffusion ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A selective state space by an associative scan, experts to which tokens are sorted, and
a diffusion transformer whose noise JAX's generator draws."""

import jax
import jax.numpy as jnp
import numpy as np
from dense import BATCH, WIDTH, cross_entropy, layer_norm
from family import Family, leaf, norm

SEQ, STATES, EXPERTS, HIDDEN = 6, 3, 4, 12
PAIRS = {"tokens": ((BATCH, SEQ), 0), "targets": ((BATCH, SEQ), 1)}


def make_mamba():
    """Steps, inputs and outputs of the states depend on the byte (Gu and Dao 2023, algorithm 2);
    all times at once by `associative_scan`."""

    def selective(p, u):
        step = jax.nn.softplus(u @ p["step"]["w"] + p["step"]["b"])
        decay = jnp.exp(step[..., None] * -jnp.exp(p["decay"]))
        entered = (step * u)[..., None] * (u @ p["enter"])[:, :, None, :]
        join = lambda left, right: (left[0] * right[0], right[0] * left[1] + right[1])
        _, state = jax.lax.associative_scan(join, (decay, entered), axis=1)
        return jnp.sum(state * (u @ p["leave"])[:, :, None, :], -1) + u * p["skip"]

    def mamba_loss(params, tokens, targets):
        x = params["embed"][tokens]
        for p in params["blocks"]:
            y = layer_norm(p["ln"], x)
            y = selective(p, jax.nn.silu(y @ p["in"])) * jax.nn.silu(y @ p["gate"])
            x = x + y @ p["out"]
        return jnp.mean(cross_entropy(x @ params["head"], targets))

    block = lambda: {
        "ln": norm(WIDTH),
        "in": leaf(WIDTH, WIDTH),
        "gate": leaf(WIDTH, WIDTH),
        "step": {"w": leaf(WIDTH, WIDTH), "b": leaf(WIDTH)},
        "decay": leaf(WIDTH, STATES),
        "enter": leaf(WIDTH, STATES),
        "leave": leaf(WIDTH, STATES),
        "skip": leaf(WIDTH),
        "out": leaf(WIDTH, WIDTH),
    }
    parameters = {"embed": leaf(256, WIDTH), "blocks": [block() for _ in range(2)], "head": leaf(WIDTH, 256)}
    rows = (("*.in", [[], ["tensor"]]), ("*.gate", [[], ["tensor"]]), ("*.out", [["tensor"]]))
    return Family("mamba", mamba_loss, parameters, PAIRS, rows)


def make_routed():
    """Each byte goes to the best two experts: pairs of byte and expert are sorted by the expert,
    put in its places, and come back. There is a place for all, so none is dropped."""

    def route(p, x):
        share, chosen = jax.lax.top_k(jax.nn.softmax(x @ p["router"]), 2)
        order = jnp.argsort(chosen.reshape(-1), stable=True)
        expert = chosen.reshape(-1)[order]
        place = jnp.arange(expert.size) - jnp.searchsorted(expert, jnp.arange(EXPERTS))[expert]
        sent = jnp.zeros((EXPERTS, len(x), WIDTH), x.dtype).at[expert, place].set(x[order // 2])
        h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", sent, p["up"]))
        back = jnp.einsum("ecf,efd->ecd", h, p["down"])[expert, place]
        return jnp.zeros_like(x).at[order // 2].add(back * share.reshape(-1)[order][:, None])

    def routed_loss(params, tokens, targets):
        x = params["embed"][tokens]
        for p in params["blocks"]:
            x = x + route(p, layer_norm(p["ln"], x).reshape(-1, WIDTH)).reshape(x.shape)
        return jnp.mean(cross_entropy(x @ params["head"], targets))

    block = lambda: {
        "ln": norm(WIDTH),
        "router": leaf(WIDTH, EXPERTS),
        "up": leaf(EXPERTS, WIDTH, HIDDEN),
        "down": leaf(EXPERTS, HIDDEN, WIDTH),
    }
    parameters = {"embed": leaf(256, WIDTH), "blocks": [block() for _ in range(2)], "head": leaf(WIDTH, 256)}
    rows = (("*.up", [["tensor"]]), ("*.down", [["tensor"]]))
    return Family("routed", routed_loss, parameters, PAIRS, rows, step_loss="mean of microbatches")


def make_diffusion():
    """The noise of pictures at random times is predicted (Ho et al. 2020, algorithm 1), by blocks
    whose norms the time shifts and scales (Peebles and Xie 2023)."""
    heads = 2

    def block(p, x, time):
        shift, scale, gate = jnp.split((jax.nn.silu(time) @ p["time"])[:, None, :], 3, axis=-1)
        y = layer_norm(p["ln"], x) * (1 + scale) + shift
        q, k, v = (t.reshape(*t.shape[:2], heads, -1).swapaxes(1, 2) for t in jnp.split(y @ p["qkv"], 3, axis=-1))
        share = jax.nn.softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), axis=-1)
        x = x + gate * ((share @ v).swapaxes(1, 2).reshape(x.shape) @ p["out"])
        return x + jax.nn.gelu(x @ p["up"]) @ p["down"]

    def diffusion_loss(params, pixels, clock):
        clean = pixels.astype(params["in"].dtype).reshape(BATCH, 4, 8) / 128 - 1
        noise = jax.random.normal(jax.random.key(3), clean.shape, clean.dtype)
        level = jnp.cos(clock[:, :1].astype(clean.dtype) / 256 * (jnp.pi / 2)) ** 2
        noisy = jnp.sqrt(level)[..., None] * clean + jnp.sqrt(1 - level)[..., None] * noise
        waves = level * jnp.exp(jnp.arange(WIDTH // 2, dtype=clean.dtype) * -0.5)
        time = jnp.concatenate([jnp.sin(10 * waves), jnp.cos(10 * waves)], -1)
        x = noisy @ params["in"] + params["places"]
        for p in params["blocks"]:
            x = block(p, x, time)
        return jnp.mean(jnp.square(x @ params["head"] - noise))

    layer = lambda: {
        "ln": norm(WIDTH),
        "time": leaf(WIDTH, 3 * WIDTH),
        "qkv": leaf(WIDTH, 3 * WIDTH),
        "out": leaf(WIDTH, WIDTH),
        "up": leaf(WIDTH, 2 * WIDTH),
        "down": leaf(2 * WIDTH, WIDTH),
    }
    parameters = {"in": leaf(8, WIDTH), "places": leaf(4, WIDTH), "blocks": [layer() for _ in range(2)], "head": leaf(WIDTH, 8)}
    rows = (("*.up", [[], ["tensor"]]), ("*.down", [["tensor"]]))
    inputs = {"pixels": ((BATCH, 32), 0), "clock": ((BATCH, 1), 40)}
    return Family("diffusion", diffusion_loss, parameters, inputs, rows)
