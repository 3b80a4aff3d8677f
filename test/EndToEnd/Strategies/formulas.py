# ===- formulas.py - Strategies: rows, volumes and memory, by hand ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What a strategy is in layouts, what a device receives by it, and what lies there.

A is the activation between blocks of a device's samples, whole in sequence and width; t, P
and e are the sizes of tensor, seq and expert; m the number of microbatches.

    tensor      4 all-reduces of A for each block and microbatch (Shoeybi et al. 2019)
    sequence    4 all-gathers and 4 reduce-scatters of A instead; what was gathered is kept for
                the backward. Gradients of what is used on parts of the sequence are summed
                over tensor once a step (Korthikanti et al. 2022)
    vocabulary  all-reduces of A: one of the looked up rows, one of the head's input gradient;
                of maximum and sum, two numbers for each token
    ulysses     8 all-to-alls for each block, of A / P each (Jacobs et al. 2023), forward of
                keys and values only what heads do not share
    expert      4 all-to-alls for each block, of all slots of a device's samples (Lepikhin
                et al. 2020)
    states      gradients are summed over all axes that split samples and not the parameter:
                once a step, in zero2 and zero3 scattered in each microbatch; parameters are
                gathered once a step (zero1, zero2), in each microbatch (zero3), or in each
                forward and again in each backward that reads them (fsdp)
    pipe        A for each boundary, direction and microbatch, and the tied embedding's gradient

An all-reduce of S bytes over n devices is counted as 2 S (n - 1) / n received bytes, a
gather to S or a scatter of S as S (n - 1) / n.
"""

import dataclasses
import math

from models import ITEM

AXES = ["pipe", "replica", "data", "expert", "seq", "tensor"]
# Of a memory: digits that are printed, and what each tensor may be rounded up to.
SLACK, ALIGNMENT = 0.01, 64
MOMENTS = 2


@dataclasses.dataclass(frozen=True)
class Strategy:
    name: str
    # The only axis, of a strategy that is no product.
    axis: str
    # "", "all-reduce" or "sequence"
    tensor: str = ""
    vocabulary: bool = False
    ulysses: bool = False
    # "", "zero1", "zero2", "zero3" or "fsdp"; with an axis "replica" over the others alone.
    states: str = ""
    # The only model that it is for.
    only: str = ""


def reduced(size, n):
    return 2 * size * (n - 1) / n


def moved(size, n):
    return size * (n - 1) / n


def ways(axes, mesh):
    return math.prod(mesh.get(axis, 1) for axis in axes)


# --- Layouts -------------------------------------------------------------------


def batch_axes(mesh):
    return [axis for axis in ("replica", "data", "expert") if axis in mesh]


def sequence_axes(strategy, mesh):
    return ["seq"] if strategy.ulysses else ["tensor"] if strategy.tensor == "sequence" else []


def used(strategy, mesh, name, shape):
    """The layout of a parameter in the model."""
    dims, last = [[] for _ in shape], [part for part in name.split(".") if part not in ("w", "b")][-1]
    is_bias = name.endswith(".b")
    if strategy.tensor and last in ("qkv", "q", "k", "v", "in", "gate", "up"):
        dims[-1] = ["tensor"]
    if strategy.tensor and last in ("proj", "o", "out", "down") and not is_bias:
        dims[-2] = ["tensor"]
    if strategy.vocabulary and last in ("embed", "head"):
        dims[0 if last == "embed" else -1] = ["tensor"]
    if "expert" in mesh and last in ("up", "down"):
        dims[0] = ["expert"]
    if last == "positions":
        dims[0] = sequence_axes(strategy, mesh)
    return dims


def scattered_axes(strategy, mesh, dims):
    """The axes over which states are split beside those of their use."""
    if not strategy.states:
        return []
    axes = [axis for axis in ("data", "seq") if axis in mesh]
    return [axis for axis in axes if not any(axis in each for each in dims)]


def row_of(strategy, mesh, name, shape):
    dims = used(strategy, mesh, name, shape)
    spread = [dims[0] + scattered_axes(strategy, mesh, dims), *dims[1:]]
    if strategy.states in ("zero3", "fsdp"):
        return {"rest": spread, "use": dims, "gradient": spread}
    row = {"rest": dims, "use": dims}
    if strategy.states:
        row["optimizer"] = spread
    if strategy.states == "zero2":
        row["gradient"] = spread
    return row


def places_of(strategy, mesh):
    """Constraints in the text (models.Places)."""
    batch, places = tuple(batch_axes(mesh)), {}
    if strategy.ulysses:
        places["tokens"] = (batch, None, "seq", None)
        places["heads"] = (batch, "seq", None, None)
    if "expert" in mesh:
        others = tuple(axis for axis in batch if axis != "expert")
        places["groups"] = (None, batch, None, None)
        places["slots"] = ("expert", others, None, None)
    return places


# --- Volumes -------------------------------------------------------------------


def of_states(model, strategy, mesh, m, name, shape):
    """Of the parameter's gradient, and of the parameter where it is gathered."""
    dims = used(strategy, mesh, name, shape)
    taken = [axis for each in dims for axis in each]
    size = math.prod(shape) * ITEM / ways(taken, mesh)
    scattered = scattered_axes(strategy, mesh, dims)
    axes = batch_axes(mesh) + sequence_axes(strategy, mesh)
    summed = [axis for axis in axes if axis not in taken and axis not in scattered]
    # The embedding that is also the head has gradients at the first stage and at the last.
    stages = 2 if is_tied(model, name) and "pipe" in mesh else 1
    summed += ["pipe"] if stages > 1 else []
    n, k = ways(scattered, mesh), ways(summed, mesh)
    times = {"": (1, 1), "zero1": (1, 1), "zero2": (m, 1), "zero3": (m, m)}.get(
        strategy.states, (m, m + m * is_read_backward(name)))
    return stages * (sum(times) * moved(size, n) + reduced(size / n, k))


def is_read_backward(name):
    """Whether the backward of a block reads the parameter. A tied embedding, which several
    blocks read, is kept from its lookup on."""
    return not name.endswith((".b", ".bias")) and name not in ("embed", "positions")


def is_tied(model, name):
    return name == "embed" and "head" not in model.shapes()


def of_tokens(model, strategy, mesh):
    """Of a microbatch."""
    s, t = model.sizes, mesh.get("tensor", 1)
    samples = ways(batch_axes(mesh), mesh)
    a = s.activation / samples
    total = 0
    if strategy.tensor:
        total += s.blocks * 4 * reduced(a, t)
    if strategy.vocabulary:
        total += 2 * reduced(a, t) + 2 * reduced(s.batch * s.seq * ITEM / samples, t)
    if strategy.ulysses:
        n = mesh["seq"]
        # Keys and values that several heads share are exchanged before they are repeated.
        shared = s.groups / s.heads if s.groups % n == 0 else 1
        total += s.blocks * (moved(2 * (1 + shared) * a / n, n) + moved(4 * a / n, n))
    if "expert" in mesh:
        slots = s.experts * s.capacity * s.batch * s.width * ITEM / samples
        total += s.blocks * 4 * moved(slots, mesh["expert"])
    return total


def volume(model, strategy, mesh, m):
    """Bytes that one device of each stage receives in a step, together; bytes that all send."""
    total = m * of_tokens(model, strategy, mesh)
    for name, shape in model.shapes().items():
        total += of_states(model, strategy, mesh, m, name, shape)
    # The last stage has the head alone: without a sum over tensor there is nothing to scatter
    # before a cotangent is sent, and each device of tensor sends all of it.
    backward = mesh.get("tensor", 1) if strategy.tensor == "all-reduce" else 1
    return total, (1 + backward) * m * (mesh.get("pipe", 1) - 1) * model.sizes.activation


# --- Memory --------------------------------------------------------------------


def memory(model, strategy, mesh):
    """Bytes of parameters and moments, and of gradients, on one device of each stage."""
    states = gradients = 0
    for name, shape in model.shapes().items():
        row = row_of(strategy, mesh, name, shape)
        size = math.prod(shape) * ITEM
        size *= 2 if is_tied(model, name) and "pipe" in mesh else 1
        part = lambda dims: size / ways([axis for each in dims for axis in each], mesh)
        states += part(row["rest"]) + MOMENTS * part(row.get("optimizer", row["rest"]))
        gradients += part(row.get("gradient", row["use"]))
    return states, gradients


# (strategy, model, mesh, microbatches): bytes above the formula, and why.
SUMMED = (
    "of what experts of the first block made and its cotangent both could be sums over tensor: the "
    "earlier one is summed before its all-to-all; the router's gradient is summed over tensor too"
)
NUMBERS = (
    "numbers for each token: inputs, whose sequence is split, and the cotangent of the loss are gathered, "
    "and the maximum is found both in parts and whole"
)
EXCESS = {
    ("sequence x vocabulary", "gpt", "data=2,tensor=4", 2): (1248, NUMBERS),
    ("data x expert x tensor", "experts", "data=2,expert=2,tensor=2", 2): (4352, SUMMED),
    ("expert x tensor x pipe", "experts", "pipe=2,expert=4,tensor=2", 2): (2304, SUMMED),
}
