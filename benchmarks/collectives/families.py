#!/usr/bin/env python3
# ===- families.py - Collectives of twenty families, llmc and XLA ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles the families of test/EndToEnd/Families by llmc and by XLA, with the same
annotations, and writes a table of what a device receives in a step: docs/families.md.

XLA's step is loss, gradient and plain SGD, by Shardy on CPU devices; llmc's has the
family's optimizer and clipping. Scalars (loss, norm) are left out. XLA's collectives in
loops are counted once for each trip.

    python families.py --llmc ../../build/dev/bin/llmc
"""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
sys.path[:0] = [str(HERE), str(ROOT / "test" / "EndToEnd" / "Families")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import collectives  # noqa: E402
import family as families  # noqa: E402
import formulas  # noqa: E402
import xla_collectives  # noqa: E402
from makers import MAKERS  # noqa: E402


class Annotated:
    """A family's step with the layouts of a mesh."""

    def __init__(self, family, layouts, sizes):
        self.family, self.layouts, self.sizes = family, layouts, sizes
        devices = np.array(jax.devices()[: int(np.prod(list(sizes.values())))])
        self.mesh = jax.sharding.Mesh(devices.reshape(list(sizes.values())), list(sizes))

    def sharding(self, dims):
        kept = [tuple(axis for axis in each if axis in self.sizes) or None for each in dims]
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec(*kept))

    def annotate(self, tree):
        """The tree's leaves with the layouts that llmc's configuration gives them."""

        def leaf(name, x):
            dims = [[] for _ in x.shape]
            for pattern, axes in self.family.tensor:
                if fnmatch.fnmatch(name, pattern):
                    dims[: len(axes)] = [list(each) for each in axes]
                    break
            dims = families.split_over_data(dims, x.shape, self.layouts)
            return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=self.sharding(dims))

        leaves = [leaf(name, x) for name, x in families.make_gpt.state_names(tree)]
        return jax.tree.unflatten(jax.tree.structure(tree), leaves)

    def compile(self):
        """The optimised module."""
        family = self.family
        states = [self.annotate(tree) for tree in (family.parameters, family.carried) if tree]
        inputs = [
            jax.ShapeDtypeStruct(shape, jnp.int32, sharding=self.sharding([["data"]]))
            for shape, _ in family.inputs.values()
        ]

        def step(params, *rest):
            value, grads = jax.value_and_grad(family.loss, has_aux=bool(family.carried))(params, *rest)
            return value, jax.tree.map(lambda w, g: w - 0.01 * g, params, grads)

        kept = [jax.tree.map(lambda x: x.sharding, tree) for tree in states]
        value = (self.sharding([]), kept[1]) if family.carried else self.sharding([])
        lowered = jax.jit(step, out_shardings=(value, kept[0])).lower(*states, *inputs)
        return lowered.compile().as_text()


def of_xla(family, layouts, mesh):
    sizes = collectives.parse_mesh(mesh)
    rows = xla_collectives.count(Annotated(family, layouts, sizes).compile(), sizes)
    kinds = {"collective-permute": "permute"}
    return [
        collectives.Collective(
            kinds.get(row["kind"], row["kind"].replace("-", "_")), tuple(row["axes"].split("+")), row["count"], row["bytes"]
        )
        for row in rows
        if row["axes"]
    ]


def show(rows):
    """Counts by kind."""
    total = {}
    for row in rows:
        total[row.kind] = total.get(row.kind, 0) + row.count
    short = {"all_reduce": "AR", "all_gather": "AG", "reduce_scatter": "RS", "all_to_all": "A2A", "permute": "P"}
    return ", ".join(f"{count} {short[kind]}" for kind, count in sorted(total.items()))


def row_of(a, folder, name, mesh):
    family = MAKERS[name]()
    layouts, axes, data, tensor = collectives.MESHES[mesh]
    ours = collectives.compile_family(a.llmc, family, layouts, axes, pathlib.Path(folder) / name / mesh.replace(" ", ""))
    theirs = of_xla(family, layouts, axes)
    by_hand = formulas.received(family, data, tensor, layouts == "fsdp")
    sizes = [collectives.received(rows, axes) for rows in (ours, theirs)]
    print(name, mesh, by_hand, sizes, flush=True)
    cells = f"{by_hand:,.0f} | {sizes[0]:,.0f} | {show(ours)} | {sizes[1]:,.0f} | {show(theirs)}"
    ratio = f"{sizes[1] / sizes[0]:.2f}" if sizes[0] else "–"
    return f"| {name} | {mesh} | {cells} | {ratio} |", sizes[0] <= sizes[1]


TEXT = """# What twenty families communicate

Written by `benchmarks/collectives/families.py`; do not edit. The families of `test/EndToEnd/Families` (tiny, batch 8), the same annotations for both compilers: batch over `data`, pairs of weights over `tensor` by columns and rows; of `fsdp` each parameter is stored split over `data` too, in its first dim that is divided, and nothing is said of its use. Bytes are what a device receives in a step of one microbatch: of an all-reduce of S bytes over n devices 2 S (n − 1) / n, of a gather to S bytes or a scatter of S bytes S (n − 1) / n. "By hand" is the formula of `test/EndToEnd/Families/formulas.py`, which also lists each excess over it with its cause; below it lies what crosses later or earlier than in the formula, where it is smaller. XLA: jax {version} with Shardy on CPU devices, which has no reduce-scatter there: it all-reduces and slices. Scalars are left out. No link has a latency here, so each collective stays alone; with one (`[machine]`), those of one kind and group that are ready together are one, as XLA's are ([systems.md](systems.md#small-states-stay-whole)).

{good} of {all} plans receive no more than XLA's.

| family | mesh | by hand | llmc | collectives | XLA | collectives | XLA / llmc |
|---|---|---|---|---|---|---|---|
{rows}
"""


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", default=ROOT / "docs" / "families.md")
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = [(name, mesh) for name in MAKERS for mesh in collectives.MESHES]
        rows = list(pool.map(lambda case: row_of(a, folder, *case), cases))
    text = TEXT.format(
        version=jax.__version__, good=sum(good for _, good in rows), all=len(rows), rows="\n".join(row for row, _ in rows)
    )
    pathlib.Path(a.output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
