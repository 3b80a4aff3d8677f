#!/usr/bin/env python3
# ===- xla_collectives.py - What XLA communicates in a GPT step -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles the example's training step by XLA (Shardy) for virtual devices and
counts the collectives of the optimised module.

The step is loss, gradient and SGD, with the annotations of the sharded example:
batch over "data"; columns of QKV and of the first MLP weight over "tensor", rows
of both projections. Prints one JSON object: mesh axes -> list of
{kind, axes, count, bytes}, where bytes are those of the results on a device.

    python xla_collectives.py --mesh data=4,tensor=2 --layers 6 --d 384
"""

import argparse
import collections
import json
import pathlib
import re
import sys

KINDS = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
BYTES = {"f64": 8, "s64": 8, "u64": 8, "f32": 4, "s32": 4, "u32": 4, "bf16": 2, "f16": 2, "pred": 1, "s8": 1, "u8": 1}


def result_bytes(text):
    """Bytes of all arrays in an HLO type such as `(f32[8,4]{1,0}, f32[2]{0})`."""
    total = 0
    for element, dims in re.findall(r"\b([a-z]+[0-9]*)\[([0-9,]*)\]", text):
        size = BYTES[element]
        for d in filter(None, dims.split(",")):
            size *= int(d)
        total += size
    return total


def axes_of(groups, mesh):
    """The mesh axes along which the members of the first group differ."""
    sizes = list(mesh.values())

    def coordinates(device):
        result = []
        for size in reversed(sizes):
            result.append(device % size)
            device //= size
        return result[::-1]

    members = [coordinates(device) for device in groups]
    return [name for i, name in enumerate(mesh) if len({m[i] for m in members}) > 1]


def first_group(line, num_devices):
    """The devices of the first group (or the first pair) of a collective."""
    pair = re.search(r"source_target_pairs=\{(.*?)\}\}", line)
    if pair:
        pairs = [tuple(map(int, p.split(","))) for p in re.findall(r"\{(\d+,\d+)", pair.group(0))]
        return next((list(p) for p in pairs if p[0] != p[1]), [0])
    iota = re.search(r"replica_groups=\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?", line)
    if iota:
        import numpy as np

        shape, dims, order = ([int(x) for x in g.split(",")] if g else None for g in iota.groups())
        devices = np.arange(num_devices).reshape(dims)
        if order:
            devices = devices.transpose(order)
        return devices.reshape(shape)[0].tolist()
    named = re.search(r"replica_groups=mesh\[(.*?)\] \{(.*?)\}", line)
    if named:
        import numpy as np

        sizes = {name: int(size) for name, size in re.findall(r"'(\w+)'=(\d+)", named.group(1))}
        along = re.findall(r"'(\w+)'", named.group(2))
        order = [n for n in sizes if n not in along] + along
        devices = np.arange(num_devices).reshape(list(sizes.values()))
        devices = devices.transpose([list(sizes).index(n) for n in order])
        members = int(np.prod([sizes[n] for n in along]))
        return devices.reshape(-1, members)[0].tolist()
    listed = re.search(r"replica_groups=\{\{([0-9,]+)\}", line)
    return [int(x) for x in listed.group(1).split(",")] if listed else list(range(num_devices))


def runs_of(text):
    """Computation -> how often a step runs it: the trips of the loops around it."""
    inside, callers, current = {}, collections.defaultdict(list), None
    for line in text.splitlines():
        if head := re.match(r"(?:ENTRY )?%(\S+) \(.*\{$", line):
            current = head.group(1)
            inside[current] = line.startswith("ENTRY")
        trips = re.search(r'"known_trip_count":\{"n":"(\d+)"', line)
        for role, callee in re.findall(r"(body|condition|to_apply|calls)=%([^\s,)]+)", line):
            callers[callee].append((current, int(trips.group(1)) if trips and role == "body" else 1))

    def runs(name):
        return 1 if inside[name] else sum(times * runs(caller) for caller, times in callers[name])

    return {name: runs(name) for name in inside}


def count(text, mesh):
    num_devices = 1
    for size in mesh.values():
        num_devices *= size
    total = collections.Counter()
    number = collections.Counter()
    runs, times = runs_of(text), 1
    for line in text.splitlines():
        if head := re.match(r"(?:ENTRY )?%(\S+) \(.*\{$", line):
            times = runs[head.group(1)]
        found = re.match(r"\s*(?:ROOT )?%?\S+ = (.*?) (" + "|".join(KINDS) + r")(?:-start)?\(", line)
        if not found:
            continue
        key = (found.group(2), "+".join(axes_of(first_group(line, num_devices), mesh)))
        number[key] += times
        total[key] += times * result_bytes(found.group(1))
    return [
        {"kind": kind, "axes": axes, "count": number[kind, axes], "bytes": total[kind, axes]}
        for kind, axes in sorted(number)
    ]


def compiled_step(c, mesh_text):
    """The HLO text of the optimised step: loss, gradient and SGD."""
    import jax
    import jax.numpy as jnp
    import make_gpt
    import make_gpt_sharded as sharded

    mesh = sharded.parse_mesh(mesh_text)
    loss = make_gpt.loss_function(c)

    def step(params, tokens, targets):
        value, grads = jax.value_and_grad(loss)(params, tokens, targets)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, params, grads)

    params = sharded.shard(make_gpt.parameter_shapes(c), mesh, lambda path: sharded.MEGATRON.get(path[-2:], ()))
    ids = sharded.shard(jax.ShapeDtypeStruct((c.batch, c.seq), jnp.int32), mesh, lambda path: ("data",))
    weights = jax.tree.map(lambda leaf: leaf.sharding, params)
    out = (jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()), weights)
    lowered = jax.jit(step, out_shardings=out).lower(params, ids, ids)
    return jax.__version__, lowered.compile().as_text()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--mesh", required=True, help="data=4,tensor=2")
    for name, default in (("layers", 4), ("d", 128), ("heads", 4), ("seq", 128), ("batch", 8), ("vocab", 256)):
        p.add_argument(f"--{name}", type=int, default=default)
    a = p.parse_args()
    mesh = {name: int(size) for name, size in (axis.split("=") for axis in a.mesh.split(","))}
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "gpt"))
    import make_gpt

    version, text = compiled_step(make_gpt.Config(a.layers, a.d, a.heads, a.seq, a.batch, a.vocab), a.mesh)
    print(json.dumps({"mesh": mesh, "jax": version, "collectives": count(text, mesh)}))


if __name__ == "__main__":
    main()
