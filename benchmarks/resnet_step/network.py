# ===- network.py - The benchmark's ResNet in JAX -------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Shapes of the parameters and the loss, for the peer and for llmc's text.

    python network.py -o resnet.mlir
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


def leaf(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def layer(c):
    """A convolution and its norm."""
    norm = {"scale": leaf(c.outputs), "bias": leaf(c.outputs)}
    return {"w": leaf(c.kernel, c.kernel, c.inputs, c.outputs), "norm": norm}


def parameter_shapes(s):
    names = ("first", "second", "short")
    block = lambda convolutions: {n: layer(c) for n, c in zip(names, convolutions)}
    return {
        "stem": layer(s.stem),
        "blocks": [block(convolutions) for stage in s.stages for convolutions in stage],
        "head": {"w": leaf(s.features, s.classes), "bias": leaf(s.classes)},
    }


def input_shapes(s):
    images = jax.ShapeDtypeStruct((s.batch, s.pixels, s.pixels, 3), jnp.float32)
    return [images, jax.ShapeDtypeStruct((s.batch,), jnp.int32)]


def convolve(p, x, stride=1):
    edge = p["w"].shape[0] // 2
    return lax.conv_general_dilated(
        x, p["w"], (stride, stride), [(edge, edge)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_norm(p, x):
    mean = jnp.mean(x, axis=(0, 1, 2))
    centred = x - mean
    variance = jnp.mean(jnp.square(centred), axis=(0, 1, 2))
    return centred * (lax.rsqrt(variance + 1e-5) * p["scale"]) + p["bias"]


def apply_layer(p, x, stride=1):
    return batch_norm(p["norm"], convolve(p, x, stride))


def apply_block(p, x, stride):
    y = jax.nn.relu(apply_layer(p["first"], x, stride))
    y = apply_layer(p["second"], y)
    return jax.nn.relu(y + (apply_layer(p["short"], x, stride) if "short" in p else x))


def loss_function(s):
    strides = [block[0].stride for stage in s.stages for block in stage]

    def loss(params, images, labels):
        x = jax.nn.relu(apply_layer(params["stem"], images))
        for p, stride in zip(params["blocks"], strides):
            x = apply_block(p, x, stride)
        logits = jnp.mean(x, axis=(1, 2)) @ params["head"]["w"] + params["head"]["bias"]
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
