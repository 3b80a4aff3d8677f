# ===- dense.py - Perceptrons, mixers, batch norm, bf16 ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Families without attention: what they share with others stands here too."""

import jax
import jax.numpy as jnp

from family import Family, dense, leaf, norm

BATCH, WIDTH, CLASSES = 8, 16, 10


def linear(p, x):
    return x @ p["w"] + p["b"]


def layer_norm(p, x):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def cross_entropy(logits, labels):
    """Of each element."""
    log_p = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]


def pixels(images):
    """Bytes as numbers between -1 and 1."""
    return images.astype(jnp.float32) / 127.5 - 1.0


def patches(images, size):
    """[B, H, W, C] -> [B, H W / size², size² C]."""
    b, h, w, c = images.shape
    x = images.reshape(b, h // size, size, w // size, size, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(b, (h // size) * (w // size), size * size * c)


def perceptron(n, hidden):
    return {"in": dense(n, hidden), "out": dense(hidden, n)}


def apply_perceptron(p, x, activation=jax.nn.relu):
    return linear(p["out"], activation(linear(p["in"], x)))


# Columns of the first weight of a pair, rows of the second.
PAIRS = (
    ("*.in.w", [[], ["tensor"]]),
    ("*.in.b", [["tensor"]]),
    ("*.out.w", [["tensor"]]),
)


def make_mlp():
    """Residual perceptrons on the embeddings of six bytes."""

    def mlp_loss(params, tokens, targets):
        x = params["embed"][tokens].reshape(tokens.shape[0], -1)
        x = linear(params["first"], x)
        for p in params["blocks"]:
            x = x + apply_perceptron(p, x)
        return jnp.mean(cross_entropy(linear(params["last"], x), targets[:, 0] % CLASSES))

    parameters = {
        "embed": leaf(256, 8),
        "first": dense(6 * 8, WIDTH),
        "blocks": [perceptron(WIDTH, 24) for _ in range(4)],
        "last": dense(WIDTH, CLASSES),
    }
    inputs = {"tokens": ((BATCH, 6), 0), "targets": ((BATCH, 1), 6)}
    return Family("mlp", mlp_loss, parameters, inputs, PAIRS)


def make_mixer():
    """Perceptrons over the patches of a picture, then over channels."""

    def mixer_loss(params, images, labels):
        x = linear(params["stem"], patches(pixels(images), 2))
        for p in params["blocks"]:
            y = layer_norm(p["ln1"], x).swapaxes(1, 2)
            x = x + apply_perceptron(p["tokens"], y, jax.nn.gelu).swapaxes(1, 2)
            x = x + apply_perceptron(p["channels"], layer_norm(p["ln2"], x), jax.nn.gelu)
        x = jnp.mean(layer_norm(params["ln"], x), axis=1)
        return jnp.mean(cross_entropy(linear(params["head"], x), labels % CLASSES))

    block = lambda: {
        "ln1": norm(WIDTH),
        "tokens": perceptron(12, 10),
        "ln2": norm(WIDTH),
        "channels": perceptron(WIDTH, 24),
    }
    parameters = {
        "stem": dense(12, WIDTH),
        "blocks": [block() for _ in range(3)],
        "ln": norm(WIDTH),
        "head": dense(WIDTH, CLASSES),
    }
    inputs = {"images": ((BATCH, 6, 8, 3), 0), "labels": ((BATCH,), 6 * 8 * 3)}
    optimizer = 'name = "momentum"\nlr = 0.02\nmomentum = 0.9\nweight_decay = 0.01\n'
    return Family("mixer", mixer_loss, parameters, inputs, PAIRS, optimizer=optimizer)


def make_batch_norm():
    """Residual perceptrons with batch norm; running statistics are carried."""

    def batch_norm(p, running, x):
        axes = tuple(range(x.ndim - 1))
        mean = jnp.mean(x, axis=axes)
        variance = jnp.mean(jnp.square(x - mean), axis=axes)
        mixed = {
            "mean": 0.9 * running["mean"] + 0.1 * jax.lax.stop_gradient(mean),
            "variance": 0.9 * running["variance"] + 0.1 * jax.lax.stop_gradient(variance),
        }
        return (x - mean) / jnp.sqrt(variance + 1e-3) * p["scale"] + p["bias"], mixed

    def batch_norm_loss(params, carried, images, labels):
        x, new = linear(params["stem"], patches(pixels(images), 2)), []
        for p, running in zip(params["blocks"], carried["running"]):
            y, mixed = batch_norm(p["hidden"], running, x @ p["in"]["w"])
            x = x + linear(p["out"], jax.nn.relu(y))
            new.append(mixed)
        logits = linear(params["head"], jnp.mean(x, axis=1))
        return jnp.mean(cross_entropy(logits, labels % CLASSES)), {"running": new}

    block = lambda: {"in": {"w": leaf(WIDTH, 24)}, "hidden": norm(24), "out": dense(24, WIDTH)}
    parameters = {
        "stem": dense(12, WIDTH),
        "blocks": [block() for _ in range(3)],
        "head": dense(WIDTH, CLASSES),
    }
    carried = {"running": [{"mean": leaf(24), "variance": leaf(24)} for _ in range(3)]}
    rows = PAIRS + (("*.hidden.*", [["tensor"]]), ("running.*", [["tensor"]]))
    inputs = {"images": ((BATCH, 4, 6, 3), 0), "labels": ((BATCH,), 4 * 6 * 3)}
    return Family("batch_norm", batch_norm_loss, parameters, inputs, rows, carried=carried,
                  step_loss="mean of microbatches")


def make_bf16():
    """A gated language model that computes in bf16; norms and loss are in f32."""

    def half(x):
        return x.astype(jnp.bfloat16)

    def bf16_loss(params, tokens, targets):
        x = half(params["embed"])[tokens]
        for p in params["blocks"]:
            # Each byte sees the mean of those up to it.
            y = half(layer_norm(p["ln"], x.astype(jnp.float32)))
            y = jnp.tril(jnp.ones((6, 6), jnp.bfloat16)) @ y * half(params["share"])[:, None]
            gate, up = y @ half(p["gate"]["in"]["w"]), y @ half(p["up"]["in"]["w"])
            x = x + (jax.nn.silu(gate) * up) @ half(p["out"]["w"])
        logits = (x @ half(params["embed"]).T).astype(jnp.float32)
        return jnp.mean(cross_entropy(logits * 0.25, targets))

    block = lambda: {
        "ln": norm(WIDTH),
        "gate": {"in": {"w": leaf(WIDTH, 24)}},
        "up": {"in": {"w": leaf(WIDTH, 24)}},
        "out": {"w": leaf(24, WIDTH)},
    }
    parameters = {
        "embed": leaf(256, WIDTH),
        "share": leaf(6),
        "blocks": [block() for _ in range(3)],
    }
    inputs = {"tokens": ((BATCH, 6), 0), "targets": ((BATCH, 6), 1)}
    return Family("bf16", bf16_loss, parameters, inputs, PAIRS, bar=2e-3)
