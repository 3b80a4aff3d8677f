# ===- formulas.py - What families must communicate, by hand ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What a device must receive in a step of one microbatch, written down by hand from the
mathematics of each family.

    data     each parameter's gradient is all-reduced once
    fsdp     each parameter is gathered once, each gradient reduce-scattered once
    tensor   of a pair of weights split by columns and by rows: what leaves the pair is
             all-reduced forward, what enters it backward (Shoeybi et al. 2019, section 3)
    both     the sum of the two, over the samples and the parameters that a device has

An all-reduce of S bytes over n devices is counted as 2 S (n - 1) / n received bytes, a
gather to S or a scatter of S as S (n - 1) / n.
"""

import fnmatch
import math

from attention import HEADS
from dense import BATCH, WIDTH
from family import make_gpt


def reduced(size, n):
    return 2 * size * (n - 1) / n


def moved(size, n):
    return size * (n - 1) / n


def pairs(number, places, width=WIDTH, item=4):
    """`number` pairs over `places` of each sample: one all-reduce forward and one backward."""
    return lambda b, t: 2 * number * reduced(b * places * width * item, t)


def llama(b, t):
    """Two pairs in each of three blocks; the rows of the embedding are split, so is the
    vocabulary of the head: each has one all-reduce; its cross-entropy two of a number a token."""
    return pairs(6, 8)(b, t) + 2 * reduced(b * 8 * WIDTH * 4, t) + 2 * reduced(b * 8 * 4, t)


def encoder_decoder(b, t):
    """The encoder's output enters both decoders' keys and values: one all-reduce for all."""
    return pairs(4, 7)(b, t) + pairs(6, 5)(b, t) + reduced(b * 7 * WIDTH * 4, t)


def clip(b, t):
    """Towers, and heads split by columns: a norm, a product of all pairs, the way back."""
    towers = pairs(4, 6)(b, t) + pairs(4, 5)(b, t)
    heads = 2 * reduced(b * WIDTH * 4, t) + 4 * reduced(b * 4, t) + reduced(BATCH * b * 4, t)
    return towers + heads


def unet(b, t):
    """Of the first pair nothing goes back; what the second makes of 4 x 4 places enters 8 x 8;
    the skipped features are gathered for the head."""
    inner = 2 * reduced(b * 16 * WIDTH * 4, t) + reduced(b * 64 * 8 * 4, t)
    return inner + moved(b * 64 * 8 * 4, t)


def recurrent(layers, steps):
    """States are split by their gates' columns: each is gathered for the next step and layer,
    and its gradient scattered; the inputs' gradients are summed up for the embedding; the
    gradient of the head, which is whole, is gathered."""

    def formula(b, t):
        state = b * WIDTH * 4
        states = (2 * layers * steps - 1) * moved(state, t) + steps * reduced(state, t)
        return states + moved(WIDTH * 256 * 4, t)

    return formula


def moe(b, t):
    """Sums over experts, their inputs' gradients, and the shares' gradients, a number for each
    token and expert; the router is whole."""
    return pairs(3, 5)(b, t) + 3 * moved(b * 5 * 4 * 4, t)


def mamba(b, t):
    """A pair in each block; steps, and what enters and leaves a state, are made of all features
    by weights that are whole: features are gathered, and the gradients of steps. The gradients of
    whole weights are made in the features' split and gathered once a step: to make them whole a
    device would multiply t times as much in each microbatch, for bytes that do not grow with the
    tokens. Where samples are split as well, the all-reduce of a part is less by as much."""
    narrow = 4 * 2 * reduced(b * 6 * 3 * 4, t)
    whole = 2 * (WIDTH * WIDTH + 2 * WIDTH + 3 * WIDTH * 3) * 4
    gathered = moved(whole, t) if b == BATCH else 0
    return pairs(2, 6)(b, t) + 4 * moved(b * 6 * WIDTH * 4, t) + narrow + gathered


def routed(b, t):
    """Tokens are whole on every device: what experts make of them is summed up, and so are
    their gradients and those of the shares."""
    return pairs(2, 6)(b, t) + 2 * reduced(b * 6 * 2 * 4, t)


TENSOR = {
    "mlp": pairs(4, 1),
    "mixer": pairs(6, 12),
    "batch_norm": pairs(3, 6),
    "bf16": pairs(3, 6, item=2),
    "llama": llama,
    "vit": pairs(6, 7),
    "encoder_decoder": encoder_decoder,
    "clip": clip,
    "retnet": pairs(4, 9),
    "scan": pairs(6, 6),
    "loops": pairs(7, 6),
    "gru": recurrent(2, 5),
    "lstm": recurrent(1, 5),
    "moe": moe,
    "cnn": lambda b, t: reduced(b * 16 * WIDTH * 4, t),
    "resnet": pairs(4, 16, width=8),
    "unet": unet,
    "mamba": mamba,
    "routed": routed,
    "diffusion": pairs(2, 4),
}



def statistics(d, stored):
    """Of each batch norm two sums over the batch forward; those of the backward are the
    gradients of its scale and shift. Where these are stored split, their scatter counts as half
    of a gradient's all-reduce, the other half being the gather of the parameter. But each
    device's samples, of all features, need both sums whole in the backward: none of the bytes
    that it has received tells it the part of a sum that was scattered to another device, since
    this depends on that device's cotangents, of which it has seen nothing. So they are gathered
    as well."""
    return reduced(3 * 2 * 24 * 4, d) + (moved(3 * 2 * 24 * 4, d) if stored else 0)


def contrast(d, stored):
    """All texts are gathered, and their gradients scattered; of each column of the products a
    maximum, a sum and the gradient of one."""
    return 2 * moved(BATCH * 12 * 4, d) + 3 * reduced(BATCH * 4, d)


def sorting(d, stored):
    """All tokens of a microbatch are sorted together: they are gathered, and what experts make
    of them is scattered, forward and backward."""
    return 2 * 4 * moved(BATCH * 6 * WIDTH * 4, d)


# What a batch that is split costs beside the parameters.
DATA = {"batch_norm": statistics, "clip": contrast, "routed": sorting}


def in_bf16(name, size):
    """Weights are read in bf16, so their gradients cross in it. The embedding has two: the lookup's
    is a sum in f32 that is rounded to bf16, as what was looked up is. Rounding is not linear, so
    devices add up theirs before it, and cannot wait for the head's, which is in bf16 from the start."""
    if name == "embed":
        return size + size // 2
    return size // 2 if name.endswith(".w") else size


# Bytes in which the gradient of a parameter crosses, where they are not its own.
CROSSING = {"bf16": in_bf16}


def held(family, tensor):
    """Bytes of the parameters' gradients on a device."""
    crossing, total = CROSSING.get(family.name, lambda name, size: size), 0
    for name, x in make_gpt.state_names(family.parameters):
        axes = next((axes for pattern, axes in family.tensor if fnmatch.fnmatch(name, pattern)), [])
        ways = tensor if any("tensor" in each for each in axes) else 1
        total += crossing(name, math.prod(x.shape) * x.dtype.itemsize) / ways
    return total


def received(family, data, tensor, stored=False):
    """Bytes that a device receives in a step of one microbatch; with `stored`, of parameters
    that are stored split over data."""
    total = reduced(held(family, tensor), data)
    if data > 1 and family.name in DATA:
        total += DATA[family.name](data, stored)
    return total + (TENSOR[family.name](BATCH / data, tensor) if tensor > 1 else 0)


# (family, mesh): bytes above the formula, and why. Whoever mends a cause lowers its number.
EXCESS = {}
