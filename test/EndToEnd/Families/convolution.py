# ===- convolution.py - Convolutional networks -----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Families with convolutions and pools, over pictures [batch, rows, columns, features]."""

import jax
import jax.numpy as jnp
from jax import lax

from dense import BATCH, CLASSES, WIDTH, cross_entropy, linear, pixels
from family import Family, dense, leaf, norm


def kernel(size, n, m):
    return {"w": leaf(size, size, n, m), "b": leaf(m)}


def convolve(p, x, stride=1, groups=1):
    """The draw counts the input features alone: the rest of the fan-in is divided by."""
    y = lax.conv_general_dilated(x, p["w"], (stride, stride), "SAME", feature_group_count=groups,
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y / p["w"].shape[0] + p["b"]


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9


# Output features of the first kernel of a pair, input features of the second.
PAIRS = (
    ("*in.w", [[], [], [], ["tensor"]]),
    ("*in.b", [["tensor"]]),
    ("*each.w", [[], [], [], ["tensor"]]),
    ("*each.b", [["tensor"]]),
    ("*normed.*", [["tensor"]]),
    ("*out.w", [[], [], ["tensor"]]),
)


def make_cnn():
    """Maxima and means of neighbours, a kernel for each feature, and no norms."""

    def cnn_loss(params, images, labels):
        x = max_pool(jax.nn.relu(convolve(params["in"], pixels(images))))
        x = jax.nn.relu(convolve(params["each"], x, groups=8))
        x = average_pool(jax.nn.relu(convolve(params["out"], x)))
        logits = linear(params["head"], x.reshape(x.shape[0], -1))
        return jnp.mean(cross_entropy(logits, labels % CLASSES))

    parameters = {
        "in": kernel(3, 3, 8),
        "each": kernel(3, 1, 8),
        "out": kernel(1, 8, WIDTH),
        "head": dense(4 * WIDTH, CLASSES),
    }
    inputs = {"images": ((BATCH, 8, 8, 3), 0), "labels": ((BATCH,), 8 * 8 * 3)}
    return Family("cnn", cnn_loss, parameters, inputs, PAIRS)


def make_resnet():
    """Residual blocks with group norm; the first and the last convolution take every
    other place."""

    def group_norm(p, x):
        groups = x.reshape(*x.shape[:-1], 4, -1)
        centred = groups - jnp.mean(groups, axis=(1, 2, 4), keepdims=True)
        variance = jnp.mean(jnp.square(centred), axis=(1, 2, 4), keepdims=True)
        return (centred * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * p["scale"] + p["bias"]

    def resnet_loss(params, images, labels):
        x = convolve(params["stem"], pixels(images), stride=2)
        for p in params["blocks"]:
            y = jax.nn.relu(group_norm(p["first"], x))
            y = jax.nn.relu(group_norm(p["normed"], convolve(p["in"], y)))
            x = x + convolve(p["out"], y)
        y = jax.nn.relu(group_norm(params["norm"], x))
        x = convolve(params["short"], x, stride=2) + convolve(params["last"], y, stride=2)
        return jnp.mean(cross_entropy(linear(params["head"], jnp.mean(x, axis=(1, 2))), labels % CLASSES))

    block = lambda: {"first": norm(8), "in": kernel(3, 8, WIDTH), "normed": norm(WIDTH), "out": kernel(3, WIDTH, 8)}
    parameters = {
        "stem": kernel(3, 3, 8),
        "blocks": [block() for _ in range(4)],
        "norm": norm(8),
        "short": kernel(1, 8, WIDTH),
        "last": kernel(3, 8, WIDTH),
        "head": dense(WIDTH, CLASSES),
    }
    inputs = {"images": ((BATCH, 8, 8, 3), 0), "labels": ((BATCH,), 8 * 8 * 3)}
    return Family("resnet", resnet_loss, parameters, inputs, PAIRS)


def make_unet():
    """A class for each pixel: places are halved, then doubled by a transposed convolution
    and joined with what was before; one kernel sees every other place."""

    def widen(p, x):
        y = lax.conv_transpose(x, p["w"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y / p["w"].shape[0] + p["b"]

    def see_far(p, x):
        y = lax.conv_general_dilated(x, p["w"], (1, 1), "SAME", rhs_dilation=(2, 2),
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y / p["w"].shape[0] + p["b"]

    def unet_loss(params, images, labels):
        fine = jax.nn.relu(convolve(params["first"]["in"], pixels(images)))
        x = jax.nn.relu(convolve(params["first"]["out"], fine, stride=2))
        x = jax.nn.relu(see_far(params["middle"]["in"], x))
        x = jax.nn.relu(widen(params["middle"]["out"], x))
        x = jnp.concatenate([fine, x], axis=-1)
        logits = convolve(params["head"], x)
        return jnp.mean(cross_entropy(logits, labels % CLASSES))

    parameters = {
        "first": {"in": kernel(3, 3, 8), "out": kernel(3, 8, WIDTH)},
        "middle": {"in": kernel(3, WIDTH, WIDTH), "out": kernel(4, WIDTH, 8)},
        "head": kernel(1, 16, CLASSES),
    }
    inputs = {"images": ((BATCH, 8, 8, 3), 0), "labels": ((BATCH, 8, 8), 8 * 8 * 3)}
    return Family("unet", unet_loss, parameters, inputs, PAIRS)
