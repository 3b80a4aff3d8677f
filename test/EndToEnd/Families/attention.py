# ===- attention.py - Families with attention ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Llama, ViT, an encoder with a decoder, CLIP, RetNet; tiny."""

import jax
import jax.numpy as jnp
import numpy as np

from dense import BATCH, CLASSES, PAIRS, WIDTH, apply_perceptron, cross_entropy, layer_norm
from dense import linear, patches, perceptron, pixels
from family import Family, dense, leaf, norm

HEADS = 4
ROWS = PAIRS + (
    ("*.qkv.w", [[], ["tensor"]]),
    ("*.qkv.b", [["tensor"]]),
    ("*.[qkv]", [[], ["tensor"]]),
    ("*.proj.w", [["tensor"]]),
    ("*.proj", [["tensor"]]),
)


def split_heads(x, heads):
    b, t, d = x.shape
    return x.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)


def join_heads(x):
    b, h, t, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, t, h * d)


def attend(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = jnp.where(mask, scores, -1e9)
    return jax.nn.softmax(scores, axis=-1) @ v


def self_attention(p, x, mask=None):
    """Q, K and V come from one weight."""
    q, k, v = (split_heads(y, HEADS) for y in jnp.split(linear(p["qkv"], x), 3, axis=-1))
    return linear(p["proj"], join_heads(attend(q, k, v, mask)))


def causal(t):
    return jnp.arange(t)[:, None] >= jnp.arange(t)[None, :]


def attention_block():
    return {
        "ln1": norm(WIDTH),
        "attn": {"qkv": dense(WIDTH, 3 * WIDTH), "proj": dense(WIDTH, WIDTH)},
        "ln2": norm(WIDTH),
        "mlp": perceptron(WIDTH, 32),
    }


def apply_block(p, x, mask=None):
    x = x + self_attention(p["attn"], layer_norm(p["ln1"], x), mask)
    return x + apply_perceptron(p["mlp"], layer_norm(p["ln2"], x), jax.nn.gelu)


# --- Llama -------------------------------------------------------------------


def rms_norm(scale, x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-6) * scale


def rotate(x):
    """Rotary positions on the halves of each head."""
    t, half = x.shape[-2], x.shape[-1] // 2
    angle = jnp.arange(t)[:, None] * 100.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def make_llama(size=4, hides_spaces=True):
    """RMS norm, rotary positions, two queries for each key and value, SwiGLU;
    spaces are seen by nobody and their successors are not counted."""
    heads, groups, seq = 4, 2, 8

    def grouped_attention(p, x, mask):
        b, t, _ = x.shape
        q = rotate(split_heads(x @ p["q"], heads)).reshape(b, groups, heads // groups, t, size)
        k = rotate(split_heads(x @ p["k"], groups))[:, :, None]
        v = split_heads(x @ p["v"], groups)[:, :, None]
        y = attend(q, k, v, mask[:, None, None])
        return join_heads(y.reshape(b, heads, t, size)) @ p["proj"]

    def llama_loss(params, tokens, targets):
        x = params["embed"][tokens]
        seen = tokens != 32
        mask = causal(seq)[None]
        if hides_spaces:
            mask = mask & (seen[:, None, :] | jnp.eye(seq, dtype=bool)[None])
        for p in params["blocks"]:
            x = x + grouped_attention(p["attn"], rms_norm(p["scale1"], x), mask)
            y = rms_norm(p["scale2"], x)
            x = x + (jax.nn.silu(y @ p["gate"]["in"]["w"]) * (y @ p["up"]["in"]["w"])) @ p["down"]
        logits = rms_norm(params["scale"], x) @ params["head"]
        return jnp.sum(cross_entropy(logits, targets) * seen) / jnp.sum(seen)

    block = lambda: {
        "scale1": leaf(WIDTH),
        "attn": {
            "q": leaf(WIDTH, heads * size),
            "k": leaf(WIDTH, groups * size),
            "v": leaf(WIDTH, groups * size),
            "proj": leaf(heads * size, WIDTH),
        },
        "scale2": leaf(WIDTH),
        "gate": {"in": {"w": leaf(WIDTH, 24)}},
        "up": {"in": {"w": leaf(WIDTH, 24)}},
        "down": leaf(24, WIDTH),
    }
    parameters = {
        "embed": leaf(256, WIDTH),
        "blocks": [block() for _ in range(3)],
        "scale": leaf(WIDTH),
        "head": leaf(WIDTH, 256),
    }
    rows = ROWS + (
        ("*.down", [["tensor"]]),
        ("embed", [["tensor"]]),
        ("head", [[], ["tensor"]]),
    )
    inputs = {"tokens": ((BATCH, seq), 0), "targets": ((BATCH, seq), 1)}
    count = lambda tokens, targets: jnp.sum(tokens != 32)
    return Family("llama", llama_loss, parameters, inputs, rows, count=count)


# --- ViT ---------------------------------------------------------------------


def make_vit():
    """Patches by reshape, a class token, learned positions."""

    def vit_loss(params, images, labels):
        x = linear(params["stem"], patches(pixels(images), 2))
        first = jnp.broadcast_to(params["cls"], (x.shape[0], 1, WIDTH))
        x = jnp.concatenate([first, x], axis=1) + params["positions"]
        for p in params["blocks"]:
            x = apply_block(p, x)
        logits = linear(params["head"], layer_norm(params["ln"], x[:, 0]))
        return jnp.mean(cross_entropy(logits, labels % CLASSES))

    parameters = {
        "stem": dense(12, WIDTH),
        "cls": leaf(1, 1, WIDTH),
        "positions": leaf(7, WIDTH),
        "blocks": [attention_block() for _ in range(3)],
        "ln": norm(WIDTH),
        "head": dense(WIDTH, CLASSES),
    }
    inputs = {"images": ((BATCH, 4, 6, 3), 0), "labels": ((BATCH,), 4 * 6 * 3)}
    return Family("vit", vit_loss, parameters, inputs, ROWS)


# --- Encoder and decoder -----------------------------------------------------


def make_encoder_decoder():
    """The decoder reads the last blocks of the encoder; the loss leaves out spaces."""

    def cross_attention(p, x, memory):
        q = split_heads(x @ p["q"], HEADS)
        k, v = split_heads(memory @ p["k"], HEADS), split_heads(memory @ p["v"], HEADS)
        return join_heads(attend(q, k, v)) @ p["proj"]

    def encoder_decoder_loss(params, source, tokens, targets):
        memory = params["embed"][source] + params["positions"]
        for p in params["encoder"]:
            memory = apply_block(p, memory)
        x = params["embed"][tokens] + params["positions"][:5]
        for p in params["decoder"]:
            x = x + self_attention(p["attn"], layer_norm(p["ln1"], x), causal(5))
            x = x + cross_attention(p["cross"], layer_norm(p["ln3"], x), memory)
            x = x + apply_perceptron(p["mlp"], layer_norm(p["ln2"], x), jax.nn.gelu)
        logits = layer_norm(params["ln"], x) @ params["embed"].T
        weight = (targets != 32).astype(jnp.float32)
        return jnp.sum(cross_entropy(logits * 0.25, targets) * weight) / jnp.sum(weight)

    cross = lambda: {name: leaf(WIDTH, WIDTH) for name in ("q", "k", "v", "proj")}
    decoder = lambda: {**attention_block(), "cross": cross(), "ln3": norm(WIDTH)}
    parameters = {
        "embed": leaf(256, WIDTH),
        "positions": leaf(7, WIDTH),
        "encoder": [attention_block() for _ in range(2)],
        "decoder": [decoder() for _ in range(2)],
        "ln": norm(WIDTH),
    }
    inputs = {"source": ((BATCH, 7), 0), "tokens": ((BATCH, 5), 7), "targets": ((BATCH, 5), 8)}
    count = lambda source, tokens, targets: jnp.sum(targets != 32)
    return Family("encoder_decoder", encoder_decoder_loss, parameters, inputs, ROWS, count=count)


# --- CLIP --------------------------------------------------------------------


def make_clip():
    """Pictures and texts of a batch against each other: no sum over samples."""

    def unit(x):
        return x / jnp.sqrt(jnp.sum(jnp.square(x), axis=-1, keepdims=True) + 1e-6)

    def clip_loss(params, images, tokens):
        x = linear(params["stem"], patches(pixels(images), 2)) + params["places"]
        for p in params["image"]:
            x = apply_block(p, x)
        y = params["embed"][tokens] + params["positions"]
        for p in params["text"]:
            y = apply_block(p, y, causal(5))
        x = unit(jnp.mean(x, axis=1) @ params["left"])
        y = unit(y[:, -1] @ params["right"])
        logits = x @ y.T * jnp.exp(params["temperature"])
        own = jnp.arange(x.shape[0])
        return (jnp.mean(cross_entropy(logits, own)) + jnp.mean(cross_entropy(logits.T, own))) / 2

    parameters = {
        "stem": dense(12, WIDTH),
        "places": leaf(6, WIDTH),
        "image": [attention_block() for _ in range(2)],
        "embed": leaf(256, WIDTH),
        "positions": leaf(5, WIDTH),
        "text": [attention_block() for _ in range(2)],
        "left": leaf(WIDTH, 12),
        "right": leaf(WIDTH, 12),
        "temperature": leaf(),
    }
    rows = ROWS + (("left", [[], ["tensor"]]), ("right", [[], ["tensor"]]))
    inputs = {"images": ((BATCH, 4, 6, 3), 0), "tokens": ((BATCH, 5), 4 * 6 * 3)}
    return Family("clip", clip_loss, parameters, inputs, rows, microbatches=1)


# --- RetNet ------------------------------------------------------------------


def make_retnet():
    """Retention by chunks: within a chunk a product with decays, between chunks
    a state that is carried on; the recurrence is unrolled."""
    size, chunk, chunks = WIDTH // HEADS, 3, 3
    gamma = 1.0 - 2.0 ** (-1.0 - np.arange(HEADS))
    place = np.arange(chunk)
    distance = place[:, None] - place[None, :]
    powers = gamma[:, None, None] ** np.maximum(distance, 0)
    decay = np.where(distance >= 0, powers, 0.0).astype(np.float32)
    inner = (gamma[:, None] ** (place + 1.0)).astype(np.float32)[..., None]
    outer = (gamma[:, None] ** (chunk - 1.0 - place)).astype(np.float32)[..., None]
    across = (gamma**chunk).astype(np.float32)[:, None, None]

    def retention(p, x):
        q, k, v = (split_heads(x @ p[name], HEADS) for name in "qkv")
        k, state, parts = k * size**-0.5, None, []
        for i in range(chunks):
            a, b, c = (y[:, :, i * chunk : (i + 1) * chunk] for y in (q, k, v))
            y = (a @ b.swapaxes(-1, -2) * decay) @ c
            new = (b * outer).swapaxes(-1, -2) @ c
            if state is not None:
                y, new = y + (a @ state) * inner, new + state * across
            state = new
            parts.append(y)
        y = jnp.concatenate(parts, axis=2)
        mean = jnp.mean(y, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(y - mean), axis=-1, keepdims=True)
        y = join_heads((y - mean) * jax.lax.rsqrt(variance + 1e-3)) * p["group_scale"]
        return (jax.nn.silu(x @ p["gate"]["in"]["w"]) * y) @ p["proj"]

    def retnet_loss(params, tokens, targets):
        x = params["embed"][tokens]
        for p in params["blocks"]:
            x = x + retention(p["ret"], layer_norm(p["ln1"], x))
            x = x + apply_perceptron(p["mlp"], layer_norm(p["ln2"], x), jax.nn.gelu)
        return jnp.mean(cross_entropy(x @ params["head"], targets))

    block = lambda: {
        "ln1": norm(WIDTH),
        "ret": {
            **{name: leaf(WIDTH, WIDTH) for name in ("q", "k", "v", "proj")},
            "gate": {"in": {"w": leaf(WIDTH, WIDTH)}},
            "group_scale": leaf(WIDTH),
        },
        "ln2": norm(WIDTH),
        "mlp": perceptron(WIDTH, 32),
    }
    parameters = {
        "embed": leaf(256, WIDTH),
        "blocks": [block() for _ in range(2)],
        "head": leaf(WIDTH, 256),
    }
    rows = ROWS + (("*.group_scale", [["tensor"]]),)
    inputs = {"tokens": ((BATCH, chunk * chunks), 0), "targets": ((BATCH, chunk * chunks), 1)}
    return Family("retnet", retnet_loss, parameters, inputs, rows)
