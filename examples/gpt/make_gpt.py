#!/usr/bin/env python3
# ===- make_gpt.py - A decoder-only GPT, printed by JAX ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the loss of a decoder-only GPT as StableHLO text: `gpt.mlir`.

The text is exactly what `jax.jit(loss).lower(...).as_text(debug_info=True)`
gives: private functions, locations with call stacks, and argument names such as
`params['blocks'][0]['attn']['qkv']['w']`, which `llmc` shortens to
`blocks.0.attn.qkv.w`. Only the forward pass and the loss are written here; the
compiler derives the gradients and adds the optimizer.

    loss(params, tokens : i32[B, T], targets : i32[B, T]) -> f32[]

Usage (needs `pip install jax`):
    python make_gpt.py -o gpt.mlir
    python make_gpt.py --layers 6 --d 384 --heads 6 --seq 256 --vocab 8192 -o -
"""

import argparse
import collections
import dataclasses
import functools
import re
import sys

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes of the model; `batch` is the microbatch over all data ranks."""

    layers: int = 4
    d: int = 128
    heads: int = 4
    seq: int = 128
    batch: int = 8
    vocab: int = 256
    dtype: str = "f32"

    @property
    def jax_dtype(self):
        return {"f32": jnp.float32, "f64": jnp.float64, "bf16": jnp.bfloat16}[self.dtype]


# --- The model ---------------------------------------------------------------


def layer_norm(p, x):
    """Layer normalisation over the last dimension, from plain primitives."""
    mean = jnp.mean(x, axis=-1, keepdims=True)
    centred = x - mean
    variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def linear(p, x):
    return x @ p["w"] + p["b"]


@functools.partial(jax.jit, static_argnums=2)
def causal_attention(p, x, heads):
    """Multi-head attention; Q, K and V come from one weight and are split."""
    b, t, d = x.shape
    q, k, v = jnp.split(linear(p["qkv"], x), 3, axis=-1)
    q, k, v = (y.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3) for y in (q, k, v))
    scores = (q @ k.transpose(0, 1, 3, 2)) * (d // heads) ** -0.5
    position = jnp.arange(t)
    mask = position[:, None] >= position[None, :]
    scores = jnp.where(mask, scores, -jnp.inf)
    y = jax.nn.softmax(scores, axis=-1) @ v
    return linear(p["proj"], y.transpose(0, 2, 1, 3).reshape(b, t, d))


@jax.jit
def mlp(p, x):
    return linear(p["out"], jax.nn.gelu(linear(p["in"], x), approximate=True))


def forward(params, tokens, heads):
    """Logits [B, T, V]; the output projection is the token embedding (tied)."""
    x = params["wte"][tokens] + params["wpe"]
    for p in params["blocks"]:
        x = x + causal_attention(p["attn"], layer_norm(p["ln1"], x), heads)
        x = x + mlp(p["mlp"], layer_norm(p["ln2"], x))
    return layer_norm(params["ln_f"], x) @ params["wte"].T


def loss(params, tokens, targets, heads):
    """Mean cross-entropy over all tokens."""
    log_p = jax.nn.log_softmax(forward(params, tokens, heads), axis=-1)
    picked = jnp.take_along_axis(log_p, targets[..., None], axis=-1)
    return -jnp.mean(picked)


# --- Shapes, lowering, command line ------------------------------------------


def parameter_shapes(c):
    """The nested dictionary of parameters, as shapes with a dtype."""

    def leaf(*shape):
        return jax.ShapeDtypeStruct(shape, c.jax_dtype)

    def norm():
        return {"scale": leaf(c.d), "bias": leaf(c.d)}

    def dense(n, m):
        return {"w": leaf(n, m), "b": leaf(m)}

    block = lambda: {
        "ln1": norm(),
        "attn": {"qkv": dense(c.d, 3 * c.d), "proj": dense(c.d, c.d)},
        "ln2": norm(),
        "mlp": {"in": dense(c.d, 4 * c.d), "out": dense(4 * c.d, c.d)},
    }
    return {
        "wte": leaf(c.vocab, c.d),
        "wpe": leaf(c.seq, c.d),
        "blocks": [block() for _ in range(c.layers)],
        "ln_f": norm(),
    }


def state_names(tree):
    """Leaves of `tree` with the names that llmc gives them: `blocks.0.ln1.scale`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    part = lambda key: str(getattr(key, "key", getattr(key, "idx", key)))
    return [(".".join(part(k) for k in path), leaf) for path, leaf in leaves]


def loss_function(c):
    """loss(params, tokens, targets) with the number of heads bound."""

    def gpt_loss(params, tokens, targets):
        return loss(params, tokens, targets, c.heads)

    return gpt_loss


def forward_function(c):
    """forward(params, tokens) with the number of heads bound."""

    def gpt_forward(params, tokens):
        return forward(params, tokens, c.heads)

    return gpt_forward


def hide_source_folder():
    """Makes file names in locations relative to the folder of the script."""
    jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/")


def text_of(function, *arguments):
    """The StableHLO text of `function`, with locations and all arguments."""
    hide_source_folder()
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    return lowered.as_text(debug_info=True)


def gpt_text(c, entry="loss"):
    """The text of one GPT; `entry` is `loss` or `forward` (logits)."""
    jax.config.update("jax_enable_x64", c.dtype == "f64")
    ids = jax.ShapeDtypeStruct((c.batch, c.seq), jnp.int32)
    if entry == "forward":
        return text_of(forward_function(c), parameter_shapes(c), ids)
    return text_of(loss_function(c), parameter_shapes(c), ids, ids)


def count_ops(text):
    """Op name -> number of occurrences, most frequent first."""
    names = re.findall(r"\b(?:stablehlo|chlo|func|sdy)\.[a-z_0-9]+\b", text)
    return collections.Counter(names).most_common()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for field in dataclasses.fields(Config):
        if field.name == "dtype":
            p.add_argument("--dtype", choices=["f32", "f64", "bf16"], default=field.default)
        else:
            p.add_argument(f"--{field.name}", type=int, default=field.default)
    p.add_argument("--entry", choices=["loss", "forward"], default="loss")
    p.add_argument("--ops", action="store_true", help="list the ops used on stderr")
    p.add_argument("-o", "--output", default="-", help="file, or - for stdout")
    a = p.parse_args()
    c = Config(**{f.name: getattr(a, f.name) for f in dataclasses.fields(Config)})
    if c.d % c.heads:
        p.error(f"expected --d divisible by --heads, got {c.d} and {c.heads}")
    text = gpt_text(c, a.entry)
    if a.ops:
        for name, n in count_ops(text):
            print(f"{n:5d} {name}", file=sys.stderr)
    if a.output == "-":
        sys.stdout.write(text)
    else:
        with open(a.output, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
