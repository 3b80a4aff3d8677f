# ===- family.py - What a family of models is ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A family: a loss in JAX, the shapes of its parameters and inputs, its rows.

From these the StableHLO text and the TOML of a mesh follow: draws for each
parameter by its shape, layouts by the axes that the mesh has. All inputs are
windows of a corpus of bytes; a family that wants pixels scales the bytes.
"""

import dataclasses
import fnmatch
import json
import pathlib
import sys
from typing import Callable, Optional

import jax
import jax.numpy as jnp
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "examples" / "gpt")]

import make_gpt  # noqa: E402

CORPUS = ROOT / "examples" / "gpt" / "corpus.bin"

# Meshes by name; "zero3" splits parameters, gradients and optimizer states over data,
# "fsdp" too, but says nothing of their use, as annotations of JAX do; "interleaved" has
# two chunks of the model on each stage; of "linked" the machine is known, whose latencies
# put the rounds of norms and losses together.
MESHES = {
    "one": "",
    "data2": "data=2",
    "tensor2": "tensor=2",
    "pipe2": "pipe=2",
    "cube": "pipe=2,data=2,tensor=2",
    "data3": "data=3",
    "zero3": "data=2",
    "fsdp": "data=2,tensor=2",
    "interleaved": "pipe=2",
    "linked": "data=2,tensor=2",
}


@dataclasses.dataclass(frozen=True)
class Family:
    name: str
    # loss(params, *inputs), or loss(params, carried, *inputs) -> (loss, carried).
    loss: Callable
    parameters: dict
    # Name -> (shape, offset in the corpus).
    inputs: dict
    # (pattern of names, axes of each dimension) over the axis "tensor".
    tensor: tuple = ()
    carried: Optional[dict] = None
    # The count of a microbatch where it is no constant: count(*inputs).
    count: Optional[Callable] = None
    microbatches: int = 2
    # Of a step; a batch norm is one of each microbatch.
    step_loss: str = "exact"
    optimizer: str = 'name = "adamw"\nlr = 3e-3\neps = 1e-6\nweight_decay = 0.01\n'
    # Of the losses against those of JAX.
    bar: float = 1e-5


def leaf(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def dense(n, m):
    return {"w": leaf(n, m), "b": leaf(m)}


def norm(n):
    return {"scale": leaf(n), "bias": leaf(n)}


def draw_of(name, shape):
    """Mean and deviation of a parameter: the fan-in decides, no draw is zero."""
    if name.endswith("scale"):
        return 1.0, 0.1
    if len(shape) < 2:
        return 0.0, 0.1
    return 0.0, 1.0 if "embed" in name else shape[-2] ** -0.5


def draw_weights(family, seed=0):
    """Name -> array, as float32."""
    g, result = np.random.default_rng(seed), {}
    for name, shape in make_gpt.state_names(family.parameters):
        mean, std = draw_of(name, shape.shape)
        result[name] = (mean + std * g.standard_normal(shape.shape)).astype(np.float32)
    return result


def unflatten(shapes, named):
    leaves = [jnp.asarray(named[name], x.dtype) for name, x in make_gpt.state_names(shapes)]
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


def text_of(family):
    """The StableHLO text of the loss, as jaxlib prints it."""
    inputs = [leaf(*shape, dtype=jnp.int32) for shape, _ in family.inputs.values()]
    states = [family.parameters] + ([family.carried] if family.carried else [])
    return make_gpt.text_of(family.loss, *states, *inputs)


def split_over_data(dims, shape, mesh):
    """The layout at rest: for "zero3" the first dim that may be split, for "fsdp" the first
    that is split evenly, as JAX demands."""
    rest = [list(each) for each in dims]
    ways = [2 ** (len(each) + 1) for each in dims]
    even = [size % n == 0 if mesh == "fsdp" else size > 1 for size, n in zip(shape, ways)]
    if mesh in ("zero3", "fsdp") and any(even):
        rest[even.index(True)].append("data")
    return rest


def rows_of(family, mesh):
    """The [[layout]] tables of one mesh."""
    rows = ['[[layout]]\ninput = "*"\ndims = [["data"]]\n']
    states = make_gpt.state_names(family.parameters)
    states += make_gpt.state_names(family.carried) if family.carried else []
    for name, x in states:
        dims = [[] for _ in x.shape]
        for pattern, axes in family.tensor:
            if fnmatch.fnmatch(name, pattern):
                dims[: len(axes)] = [list(each) for each in axes]
                break
        row = f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(split_over_data(dims, x.shape, mesh))}\n'
        if mesh == "zero3":
            row += f"use = {json.dumps(dims)}\n"
        if x.shape:
            rows.append(row)
    return "\n".join(rows)


def configuration(family, mesh):
    """The TOML of one mesh."""
    parts = ['[mesh]\naxes = ["pipe", "data", "tensor"]\npipeline = "pipe"\n']
    parts.append(f'[data]\nfile = {json.dumps(str(CORPUS))}\ndtype = "u8"\n')
    offsets = [f"{name} = {offset}\n" for name, (_, offset) in family.inputs.items()]
    parts.append("[data.inputs]\n" + "".join(offsets))
    for name, x in make_gpt.state_names(family.parameters):
        mean, std = draw_of(name, x.shape)
        parts.append(f'[[init]]\nmatch = "{name}"\ndraw = "normal"\nmean = {mean}\nstd = {std}\n')
    parts.append(rows_of(family, mesh))
    parts.append(f"[optimizer]\n{family.optimizer}")
    parts.append('[schedule]\nname = "cosine"\nwarmup_steps = 4\ndecay_steps = 100\nmin_lr = 1e-4\n')
    if mesh == "interleaved":
        schedule = "gpipe" if family.microbatches % 2 else "interleaved"
        parts.append(f'[pipeline]\nschedule = "{schedule}"\nchunks = 2\n')
    if mesh == "linked":
        parts.append('[[machine.link]]\nname = "memory"\nlatency = 1e-5\nbandwidth = 1e10\n')
    parts.append(f'[training]\nmicrobatches = {family.microbatches}\nloss = "{family.step_loss}"\n')
    parts.append("max_norm = 1.0\nseed = 1\n")
    return "\n".join(parts)
