#!/usr/bin/env python3
# ===- make_gpt_sharded.py - The GPT with JAX's shardings -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the GPT of make_gpt.py with shardings on its arguments: `gpt-sharded.mlir`.

The batch is split over the axis `data`; the projections over `tensor` as in
Megatron-LM: columns of qkv and in, rows of proj and out. All else is replicated.
JAX prints the shardings as `sdy.sharding` on the arguments, and the mesh as
`sdy.mesh`; `gpt-sharded.toml` runs the text without layouts of its own.

Usage (needs `pip install jax`):
    python make_gpt_sharded.py -o gpt-sharded.mlir
    python make_gpt_sharded.py --mesh data=4,tensor=1 --layers 6 -o -
"""

import argparse
import dataclasses
import sys

import jax
import jax.numpy as jnp
import make_gpt
from jax.sharding import AxisType, NamedSharding, PartitionSpec

# Last two dictionary keys of a parameter -> mesh axis of each dimension.
MEGATRON = {
    ("qkv", "w"): (None, "tensor"),
    ("qkv", "b"): ("tensor",),
    ("proj", "w"): ("tensor", None),
    ("in", "w"): (None, "tensor"),
    ("in", "b"): ("tensor",),
    ("out", "w"): ("tensor", None),
}


def parse_mesh(text):
    """`data=2,tensor=2` as a JAX mesh of as many CPU devices."""
    axes = [part.split("=") for part in text.split(",")]
    names, sizes = zip(*((name, int(size)) for name, size in axes))
    count = 1
    for size in sizes:
        count *= size
    jax.config.update("jax_num_cpu_devices", count)
    return jax.make_mesh(sizes, names, (AxisType.Auto,) * len(names))


def shard(tree, mesh, axes_of):
    """`tree` with a sharding on each leaf; `axes_of` gives the axes of a path."""

    def one(path, leaf):
        keys = tuple(str(getattr(key, "key", getattr(key, "idx", key))) for key in path)
        sharding = NamedSharding(mesh, PartitionSpec(*axes_of(keys)))
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

    return jax.tree_util.tree_map_with_path(one, tree)


def sharded_text(c, mesh):
    """The text of the loss with shardings on the arguments."""
    jax.config.update("jax_enable_x64", c.dtype == "f64")
    ids = jax.ShapeDtypeStruct((c.batch, c.seq), jnp.int32)
    ids = shard(ids, mesh, lambda path: ("data",))
    params = shard(make_gpt.parameter_shapes(c), mesh, lambda path: MEGATRON.get(path[-2:], ()))
    return make_gpt.text_of(make_gpt.loss_function(c), params, ids, ids)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for field in dataclasses.fields(make_gpt.Config):
        if field.name == "dtype":
            p.add_argument("--dtype", choices=["f32", "f64", "bf16"], default=field.default)
        else:
            p.add_argument(f"--{field.name}", type=int, default=field.default)
    p.add_argument("--mesh", default="data=2,tensor=2", help="axes and sizes, with data and tensor")
    p.add_argument("-o", "--output", default="-", help="file, or - for stdout")
    a = p.parse_args()
    c = make_gpt.Config(**{f.name: getattr(a, f.name) for f in dataclasses.fields(make_gpt.Config)})
    text = sharded_text(c, parse_mesh(a.mesh))
    if a.output == "-":
        sys.stdout.write(text)
    else:
        with open(a.output, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
