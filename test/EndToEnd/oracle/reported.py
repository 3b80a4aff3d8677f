# ===- reported.py - What users report against partitioners ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses whose collectives users have reported as wrong or as too many elsewhere (issues of
openxla/xla and of its back ends), each with what a step must communicate, by hand.

Each is written in JAX with its annotations. `llmc train` runs three steps in f64 on one
device and on the mesh: losses within 1e-12 of each other, and the collectives as listed.

    python reported.py --llmc llmc -o out
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Callable

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

BAR = 1e-12


def mesh_of(**axes):
    devices = np.array(jax.devices()[: int(np.prod(list(axes.values())))])
    return jax.sharding.Mesh(devices.reshape(list(axes.values())), list(axes))


@dataclasses.dataclass(frozen=True)
class Case:
    mesh: jax.sharding.Mesh
    # loss(parameters, x)
    loss: Callable
    # Name -> (shape, axes of its dims).
    parameters: dict
    # Shape, axes and type of the input.
    shape: tuple
    axes: tuple
    # "count kind over axes, bytes": bytes of the results on a device in f64.
    wanted: tuple
    dtype: type = jnp.float32

    def annotated(self, shape, axes, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(self.mesh, P(*axes)))

    def text(self):
        parameters = {name: self.annotated(*each) for name, each in self.parameters.items()}
        x = self.annotated(self.shape, self.axes, self.dtype)
        return jax.jit(self.loss).lower(parameters, x).as_text(debug_info=True)


def grouped_convolution():
    """openxla/xla 47945: the batch is gathered and every device convolves all of it. By hand:
    samples stay, the gradient of the kernels is summed up."""

    def loss(p, x):
        numbers = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, p["w"], (1, 1), "SAME", feature_group_count=4, dimension_numbers=numbers)
        return jnp.mean(jnp.square(y))

    wanted = ("1 all_reduce over data, 1152",)
    return Case(mesh_of(data=4), loss, {"w": ((3, 3, 2, 8), ())}, (8, 6, 6, 8), ("data",), wanted)


def embedding():
    """openxla/xla 42481: the all-reduce of a scatter-add in a backward stands in the wrong place
    under two splits. By hand: products over features that are split are summed up once, and the
    gradients of both tables over the samples."""

    def loss(p, x):
        return jnp.mean(jnp.square(p["e"][x] @ p["w"]))

    parameters = {"e": ((64, 16), (None, "tensor")), "w": ((16, 8), ("tensor",))}
    wanted = ("2 all_reduce over data, 4608", "1 all_reduce over tensor, 1280")
    return Case(mesh_of(data=2, tensor=2), loss, parameters, (8, 5), ("data",), wanted, jnp.int32)


def product():
    """tenstorrent/tt-xla 3047: both operands of a product are gathered, of which a part is read that
    is not cut as it is. By hand: the two vectors are, of which the operands are made, as they are
    an eighth of the product."""

    def loss(p, x):
        return jnp.mean(jnp.tanh(((x * p["a"]) * (x * p["b"]))[:, 5:]))

    parameters = {"a": ((16,), ("tensor",)), "b": ((16,), ("tensor",))}
    wanted = ("2 all_gather over tensor, 256",)
    return Case(mesh_of(tensor=2), loss, parameters, (8, 16), (), wanted)


def accumulation():
    """openxla/xla 13306, 19166: a batch that is split is cut into parts for a scan that adds up,
    and moves in each trip. By hand: samples are gathered once, which is less than the gradients."""

    def loss(p, x):
        trip = lambda sum, part: (sum + jnp.mean(jnp.square(jnp.tanh(part @ p["w"]) @ p["v"])), None)
        return jax.lax.scan(trip, jnp.zeros((), x.dtype), x.reshape(4, 4, 16))[0] / 4

    parameters = {"w": ((16, 16), ()), "v": ((16, 16), ())}
    wanted = ("1 all_gather over data, 2048",)
    return Case(mesh_of(data=2), loss, parameters, (16, 16), ("data",), wanted)


def transposed():
    """openxla/xla 4062: for a transposed product of two operands that are split in both dims, both
    are gathered whole. By hand: each along the contracted dim, the result and its gradient change
    places, the gradient of the weight is scattered."""
    mesh = mesh_of(x=2, y=2)

    def loss(p, x):
        y = jnp.einsum("ij,jk->ki", x, p["w"])
        return jnp.mean(jnp.square(jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P("x", "y")))))

    wanted = (
        "1 all_gather over x, 4096",
        "1 all_gather over y, 4096",
        "1 permute over x y, 2048",
        "1 permute over y x, 2048",
        "1 reduce_scatter over y, 2048",
    )
    return Case(mesh, loss, {"w": ((32, 32), ("x", "y"))}, (32, 32), ("x", "y"), wanted)


def permuted():
    """openxla/xla 20808: a permute in a manual region becomes a gather and a permute. By hand: a
    permute forward, one backward, and the gradient's sum."""
    mesh = mesh_of(data=4)

    def loss(p, x):
        ring = [(i, (i + 1) % 4) for i in range(4)]
        turn = jax.shard_map(lambda v: jax.lax.ppermute(v, "data", ring), mesh=mesh, in_specs=P("data"), out_specs=P("data"))
        return jnp.mean(jnp.square(turn(jnp.tanh(x @ p["w"]))))

    wanted = ("1 all_reduce over data, 2048", "2 permute over data, 512")
    return Case(mesh, loss, {"w": ((16, 16), ())}, (8, 16), ("data",), wanted)


CASES = {make.__name__: make for make in (grouped_convolution, embedding, product, accumulation, transposed, permuted)}
CONFIG = """[data]
file = "x.npy"
kind = "array"

[data.inputs]
x = 0

[[init]]
match = "*"
draw = "normal"
std = 0.3

[optimizer]
name = "sgd"
lr = 0.1

[training]
microbatches = 1
precision = "f64"
"""
ROW = re.compile(r"  train: (\d+) x (\w+) ([\w ]+), \d+ -> (\d+) bytes a step")


def run(command, folder):
    process = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    if process.returncode:
        raise RuntimeError(process.stderr.strip().splitlines()[0])
    return process.stdout


def losses(llmc, folder, mesh):
    log = folder / "log.jsonl"
    run([llmc, "train", "model.mlir", "--config", "config.toml", "--mesh", mesh, "--steps", 3, "--log", "log.jsonl"], folder)
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return np.array([row["loss"] for row in rows if "loss" in row])


def collectives(llmc, folder, mesh):
    run([llmc, "compile", "model.mlir", "--config", "config.toml", "--mesh", mesh, "-o", "plan"], folder)
    text = run([llmc, "inspect", "plan", "plan/plan.llmc"], folder)
    rows = [match.groups() for match in map(ROW.match, text.splitlines()) if match]
    return tuple(sorted(f"{count} {kind} over {axes}, {size}" for count, kind, axes, size in rows))


def check(llmc, folder, case):
    """What is wrong, or None; and the distance of the losses."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    shape = (64, *case.shape[1:])
    rows = random.integers(0, 60, shape) if case.dtype == jnp.int32 else random.standard_normal(shape)
    np.save(folder / "x.npy", rows.astype(case.dtype))
    (folder / "model.mlir").write_text(case.text(), encoding="utf-8")
    (folder / "config.toml").write_text(CONFIG, encoding="utf-8")
    sizes = dict(case.mesh.shape)
    one, mesh = (",".join(f"{name}={n}" for name, n in axes.items()) for axes in (dict.fromkeys(sizes, 1), sizes))
    try:
        wanted = losses(llmc, folder, one)
        apart = float(np.max(np.abs(losses(llmc, folder, mesh) / wanted - 1)))
        found = collectives(llmc, folder, mesh)
    except RuntimeError as error:
        return str(error), 0.0
    if found != tuple(sorted(case.wanted)):
        return f"expected {case.wanted}, got {found}", apart
    return (None if apart <= BAR else f"losses are {apart:.1e} apart"), apart


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--output", required=True)
    a = p.parse_args()
    llmc = os.path.abspath(shutil.which(a.llmc) or a.llmc)
    failed = 0
    for name, make in CASES.items():
        wrong, apart = check(llmc, pathlib.Path(a.output) / name, make())
        failed += bool(wrong)
        print(f"FAILED  {name}: {wrong}" if wrong else f"passed  {name}: losses {apart:.1e} apart", flush=True)
    print(f"{len(CASES)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
