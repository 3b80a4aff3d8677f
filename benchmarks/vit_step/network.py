# ===- network.py - The benchmark's ViT in JAX ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Shapes of the parameters and the loss, for the peer and for llmc's text.

    python network.py -o vit.mlir
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "examples" / "gpt")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import make_gpt  # noqa: E402
import model  # noqa: E402
import sizes  # noqa: E402
from make_gpt import layer_norm, linear  # noqa: E402


def leaf(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def parameter_shapes(s):
    dense = lambda n, m: {"w": leaf(n, m), "b": leaf(m)}
    norm = lambda: {"scale": leaf(s.d), "bias": leaf(s.d)}
    block = lambda: {
        "ln1": norm(),
        "attn": {"qkv": dense(s.d, 3 * s.d), "proj": dense(s.d, s.d)},
        "ln2": norm(),
        "mlp": {"in": dense(s.d, 4 * s.d), "out": dense(4 * s.d, s.d)},
    }
    return {
        "stem": {"w": leaf(s.patch, s.patch, 3, s.d), "b": leaf(s.d)},
        "first": leaf(1, 1, s.d),
        "positions": leaf(s.tokens, s.d),
        "blocks": [block() for _ in range(s.layers)],
        "ln": norm(),
        "head": dense(s.d, s.classes),
    }


def input_shapes(s):
    images = jax.ShapeDtypeStruct((s.batch, s.pixels, s.pixels, 3), jnp.float32)
    return [images, jax.ShapeDtypeStruct((s.batch,), jnp.int32)]


def embed(params, images, s):
    """The class token and the patches of each picture, with their positions."""
    patches = lax.conv_general_dilated(
        images, params["stem"]["w"], (s.patch, s.patch), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    patches = patches.reshape(images.shape[0], s.patches, s.d) + params["stem"]["b"]
    first = jnp.broadcast_to(params["first"], (images.shape[0], 1, s.d))
    return jnp.concatenate([first, patches], axis=1) + params["positions"]


def attention(p, x, heads):
    b, t, d = x.shape
    q, k, v = jnp.split(linear(p["qkv"], x), 3, axis=-1)
    q, k, v = (y.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3) for y in (q, k, v))
    scores = (q @ k.transpose(0, 1, 3, 2)) * (d // heads) ** -0.5
    y = jax.nn.softmax(scores, axis=-1) @ v
    return linear(p["proj"], y.transpose(0, 2, 1, 3).reshape(b, t, d))


def perceptron(p, x):
    return linear(p["out"], jax.nn.gelu(linear(p["in"], x), approximate=False))


def loss_function(s):
    def loss(params, images, labels):
        x = embed(params, images, s)
        for p in params["blocks"]:
            x = x + attention(p["attn"], layer_norm(p["ln1"], x), s.heads)
            x = x + perceptron(p["mlp"], layer_norm(p["ln2"], x))
        logits = linear(params["head"], layer_norm(params["ln"], x[:, 0]))
        log_p = jax.nn.log_softmax(logits)
        return -jnp.mean(jnp.take_along_axis(log_p, labels[:, None], axis=-1))

    return loss


def text_of(s):
    """As jaxlib prints it."""
    return make_gpt.text_of(loss_function(s), parameter_shapes(s), *input_shapes(s))


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    sizes.add_size_arguments(p, model.Size)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    a.output.write_text(text_of(sizes.size_from(a, model.Size)), encoding="utf-8")


if __name__ == "__main__":
    main()
