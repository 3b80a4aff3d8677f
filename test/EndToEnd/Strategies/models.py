# ===- models.py - A GPT, a Llama and experts with a capacity --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The losses that strategies are tried on, as JAX prints them.

    gpt      layer norms, biases, positions that are learned, tied embedding
    llama    RMS norms, rotary positions, grouped keys and values, SwiGLU, a head of its own
    experts  a GPT whose MLPs are experts with a capacity (Lepikhin et al. 2020, algorithm 1)

The texts of docs/systems.md are those of `write_systems`:

    python models.py ../Inputs
"""

import dataclasses
import pathlib
import sys
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "examples" / "gpt")]

import make_gpt  # noqa: E402

# Bytes of an element of all tensors.
ITEM = 4


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Of a model; `batch` is the microbatch of all devices together."""

    blocks: int = 2
    batch: int = 8
    seq: int = 16
    width: int = 32
    heads: int = 8
    groups: int = 8
    hidden: int = 64
    words: int = 2048
    experts: int = 0
    capacity: int = 0

    @property
    def activation(self):
        """Bytes of what a block hands to the next one."""
        return self.batch * self.seq * self.width * ITEM


@dataclasses.dataclass(frozen=True)
class Model:
    name: str
    sizes: Sizes
    # loss(params, tokens, targets)
    loss: Callable
    parameters: dict

    def shapes(self):
        """Name -> shape of each parameter."""
        return {name: x.shape for name, x in make_gpt.state_names(self.parameters)}

    def text(self):
        ids = jax.ShapeDtypeStruct((self.sizes.batch, self.sizes.seq), jnp.int32)
        return make_gpt.text_of(self.loss, self.parameters, ids, ids)

    def text_for(self, platform):
        ids = jax.ShapeDtypeStruct((self.sizes.batch, self.sizes.seq), jnp.int32)
        make_gpt.hide_source_folder()
        traced = jax.jit(self.loss).trace(self.parameters, ids, ids)
        return traced.lower(lowering_platforms=(platform,)).as_text(debug_info=True)


class Places:
    """`with_sharding_constraint` by name: queries, keys, values and what attention makes of
    them, [batch, heads, seq, width], are `tokens` outside attention and `heads` inside;
    `slots` is what experts read and make."""

    AXES = ("replica", "data", "expert", "seq", "tensor")

    def __init__(self, **specs):
        # Axes are matched by name: sizes are those of the compiler's mesh.
        mesh = jax.make_mesh((1,) * len(self.AXES), self.AXES, (AxisType.Auto,) * len(self.AXES))
        self.shardings = {name: NamedSharding(mesh, PartitionSpec(*spec)) for name, spec in specs.items()}

    def __call__(self, name, x):
        sharding = self.shardings.get(name)
        return jax.lax.with_sharding_constraint(x, sharding) if sharding else x


def leaf(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def cross_entropy(logits, targets):
    log_p = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.take_along_axis(log_p, targets[..., None], axis=-1))


def heads_of(x, number):
    return x.reshape(*x.shape[:2], number, -1).swapaxes(1, 2)


def attend(place, q, k, v):
    """Causal attention of [batch, heads, seq, width]."""
    n = q.shape[2]
    q, k, v = (place("heads", place("tokens", x)) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -jnp.inf)
    y = place("tokens", place("heads", jax.nn.softmax(scores, axis=-1) @ v))
    return y.swapaxes(1, 2).reshape(y.shape[0], n, -1)


# --- GPT -----------------------------------------------------------------------


def layer_norm(p, x):
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def linear(p, x):
    return x @ p["w"] + p["b"]


def gpt_block(s, place, p, x, mlp):
    y = linear(p["qkv"], layer_norm(p["ln1"], x))
    q, k, v = (heads_of(z, s.heads) for z in jnp.split(y, 3, axis=-1))
    x = x + linear(p["proj"], attend(place, q, k, v))
    return x + mlp(p, layer_norm(p["ln2"], x))


def gpt_parameters(s, mlp):
    norm = lambda: {"scale": leaf(s.width), "bias": leaf(s.width)}
    block = lambda: {
        "ln1": norm(),
        "qkv": dense(s.width, 3 * s.width),
        "proj": dense(s.width, s.width),
        "ln2": norm(),
        **mlp(),
    }
    blocks = [block() for _ in range(s.blocks)]
    return {"embed": leaf(s.words, s.width), "positions": leaf(s.seq, s.width), "blocks": blocks, "ln": norm()}


def dense(n, m):
    return {"w": leaf(n, m), "b": leaf(m)}


def make_gpt_model(s=Sizes(), place=Places()):
    mlp = lambda p, x: linear(p["out"], jax.nn.gelu(linear(p["in"], x)))

    def gpt_loss(params, tokens, targets):
        x = params["embed"][tokens] + params["positions"]
        for p in params["blocks"]:
            x = gpt_block(s, place, p, x, mlp)
        return cross_entropy(layer_norm(params["ln"], x) @ params["embed"].T, targets)

    shapes = lambda: {"in": dense(s.width, s.hidden), "out": dense(s.hidden, s.width)}
    return Model("gpt", s, gpt_loss, gpt_parameters(s, shapes))


# --- Llama ---------------------------------------------------------------------


def rms_norm(scale, x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + 1e-5) * scale


def rotate(x):
    """Rotary positions of [batch, heads, seq, width] (Su et al. 2021)."""
    n, half = x.shape[2], x.shape[3] // 2
    angles = np.outer(np.arange(n), 10000.0 ** (-np.arange(half) / half)).astype(np.float32)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def llama_block(s, place, p, x):
    y = rms_norm(p["norm1"], x)
    q, k, v = heads_of(y @ p["q"], s.heads), heads_of(y @ p["k"], s.groups), heads_of(y @ p["v"], s.groups)
    k, v = (jnp.repeat(z, s.heads // s.groups, axis=1) for z in (rotate(k), v))
    x = x + attend(place, rotate(q), k, v) @ p["o"]
    y = rms_norm(p["norm2"], x)
    return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]


def make_llama(s=Sizes(groups=4), place=Places()):
    def llama_loss(params, tokens, targets):
        x = params["embed"][tokens]
        for p in params["blocks"]:
            x = llama_block(s, place, p, x)
        return cross_entropy(rms_norm(params["norm"], x) @ params["head"], targets)

    narrow = s.width * s.groups // s.heads
    block = lambda: {
        "norm1": leaf(s.width),
        "q": leaf(s.width, s.width),
        "k": leaf(s.width, narrow),
        "v": leaf(s.width, narrow),
        "o": leaf(s.width, s.width),
        "norm2": leaf(s.width),
        "gate": leaf(s.width, s.hidden),
        "up": leaf(s.width, s.hidden),
        "down": leaf(s.hidden, s.width),
    }
    blocks = [block() for _ in range(s.blocks)]
    parameters = {"embed": leaf(s.words, s.width), "blocks": blocks, "norm": leaf(s.width), "head": leaf(s.width, s.words)}
    return Model("llama", s, llama_loss, parameters)


# --- Experts -------------------------------------------------------------------


def route(s, p, x):
    """Weights of [tokens, experts, slots] in each group of tokens: the best two experts of a
    token, each with `capacity` slots that are filled in the order of tokens (first choices
    first); what finds no slot is dropped."""
    shares = jax.nn.softmax((x @ p["router"]).astype(jnp.float32), axis=-1)
    first = jax.nn.one_hot(jnp.argmax(shares, -1), s.experts)
    second = jax.nn.one_hot(jnp.argmax(jnp.where(first > 0, -1.0, shares), -1), s.experts)
    weights, filled = 0.0, 0.0
    for chosen in (first, second):
        place = (jnp.cumsum(chosen, axis=1) - 1.0 + filled) * chosen
        slots = jax.nn.one_hot(jnp.sum(place, -1).astype(jnp.int32), s.capacity)
        taken = jnp.where(chosen > 0, place < s.capacity, False)
        weights = weights + jnp.einsum("gte,gts->gtes", shares * chosen * taken, slots)
        filled = filled + jnp.sum(chosen, axis=1, keepdims=True)
    return weights


def experts_mlp(s, place, p, x):
    """Samples are the groups. Slots are made for all experts, by einsum with one-hot weights,
    and change from groups to experts and back."""
    weights = route(s, p, x)
    sent = (jax.lax.stop_gradient(weights) > 0).astype(x.dtype)
    slots = place("slots", place("groups", jnp.einsum("gtes,gtd->egsd", sent, x)))
    made = jnp.einsum("egsf,efd->egsd", jax.nn.gelu(jnp.einsum("egsd,edf->egsf", slots, p["up"])), p["down"])
    return jnp.einsum("gtes,egsd->gtd", weights.astype(x.dtype), place("groups", place("slots", made)))


def dropless_mlp(s, p, x):
    """The best two experts of each token, with as many rows as tokens chose them."""
    tokens = x.reshape(-1, x.shape[-1])
    weights, chosen = jax.lax.top_k(jax.nn.softmax((tokens @ p["router"]).astype(jnp.float32), axis=-1), 2)
    order = jnp.argsort(chosen.reshape(-1))
    sizes = jnp.sum(chosen.reshape(-1, 1) == jnp.arange(s.experts), 0).astype(jnp.int32)
    hidden = jax.nn.gelu(jax.lax.ragged_dot(tokens[order // 2], p["up"], sizes))
    made = jax.lax.ragged_dot(hidden, p["down"], sizes)[jnp.argsort(order)].reshape(-1, 2, x.shape[-1])
    return jnp.sum(weights[..., None].astype(x.dtype) * made, 1).reshape(x.shape)


def make_experts(s=Sizes(experts=8, capacity=4), place=Places()):
    """Experts with slots; without where their capacity is 0."""
    mlp = lambda p, x: experts_mlp(s, place, p, x) if s.capacity else dropless_mlp(s, p, x)

    def experts_loss(params, tokens, targets):
        x = params["embed"][tokens] + params["positions"]
        for p in params["blocks"]:
            x = gpt_block(s, place, p, x, mlp)
        return cross_entropy(layer_norm(params["ln"], x) @ params["embed"].T, targets)

    shapes = lambda: {
        "router": leaf(s.width, s.experts),
        "up": leaf(s.experts, s.width, s.hidden),
        "down": leaf(s.experts, s.hidden, s.width),
    }
    return Model("experts", s, experts_loss, gpt_parameters(s, shapes))


# --- Texts of docs/systems.md -----------------------------------------------------

SMALL = Sizes(batch=8, seq=8, heads=4, groups=4, words=256)


def write_systems(folder):
    """A GPT with both sides of Ulysses' all-to-alls, and those with experts: with slots, and without."""
    folder.mkdir(parents=True, exist_ok=True)
    ulysses = Places(tokens=("data", None, "seq", None), heads=("data", "seq", None, None))
    experts = Places(groups=(None, "expert", None, None), slots=("expert", None, None, None))
    routed = dataclasses.replace(SMALL, experts=4, capacity=4)
    (folder / "gpt-ulysses.mlir").write_text(make_gpt_model(SMALL, ulysses).text(), encoding="utf-8")
    (folder / "gpt-experts.mlir").write_text(make_experts(routed, experts).text(), encoding="utf-8")
    # Of processors JAX prints a ragged product as masks.
    dropless = make_experts(dataclasses.replace(routed, capacity=0))
    (folder / "gpt-dropless.mlir").write_text(dropless.text_for("cuda"), encoding="utf-8")


if __name__ == "__main__":
    write_systems(pathlib.Path(sys.argv[1]))
