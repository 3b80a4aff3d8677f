# ===- manual_ops.py - Ops in manual regions --------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Each op on operands that vary along no axis, along one, along others, against JAX.

A region has what each device computes stacked, so that every device's value is compared:
integers to the bit, floats (f64) within 1e-12. One text has all cases: it is interpreted,
as a whole and by the devices of meshes. Another has some of them, which kernels run.

    python manual_ops.py --llmc llmc -o out
    python manual_ops.py --llmc llmc -o out --kernels 1
"""

import argparse
import pathlib
import sys

import quick_xla

quick_xla.ask("--xla_force_host_platform_device_count=8")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, shard_map
from jax.sharding import PartitionSpec as P
from semantics import run

jax.config.update("jax_enable_x64", True)
random = np.random.default_rng(7)
BAR = 1e-12
MESHES = ["", "data=2,tensor=4", "data=4,tensor=2", "tensor=3"]
MESH = jax.make_mesh((2, 4), ("data", "tensor"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

# What a device has: one of each kind of variation.
SPECS = {"d": P("data"), "t": P("tensor"), "b": P(("data", "tensor")), "n": P()}
COPIES = {"d": 2, "t": 4, "b": 8, "n": 1}


def floats(*shape):
    return random.normal(size=shape)


def integers(*shape, low=-3, high=7):
    return random.integers(low, high, shape).astype(np.int32)


def pairs(name, f, x, y, kinds=("dd", "dn", "nd", "dt", "db", "bt")):
    """The function of two operands, which vary as the letters say; `x` and `y` make what one device has."""
    for kind in kinds:
        yield f"{name}_{kind}", f, [(kind[0], x), (kind[1], y)]


def singles(name, f, x, kinds="db"):
    for kind in kinds:
        yield f"{name}_{kind}", f, [(kind, x)]


def shape_cases():
    m = lambda n: floats(n, 3, 4)
    yield from singles("reshape", lambda x: x.reshape(2, 6), m)
    yield from singles("transpose", lambda x: x.T, m)
    yield from singles("reverse", lambda x: x[::-1, :], m)
    yield from singles("slice", lambda x: x[1:, ::3], m)
    yield from singles("pad", lambda x: lax.pad(x, 0.5, ((1, -1, 0), (-1, 2, 1))), m)
    yield from singles("broadcast", lambda x: jnp.broadcast_to(x[:, None, :1], (3, 2, 5)), m)
    yield from singles("bitcast", lambda x: lax.bitcast_convert_type(x, np.uint32), m)
    yield from singles("convert", lambda x: (x * 3).astype(np.int8), m)
    yield from singles("reduce", lambda x: x.sum(0) + x.max(1)[:1], m)
    yield from singles("argmax", lambda x: jnp.argmax(x, 1), m)
    yield from singles("cumulative", lambda x: jnp.cumsum(x, 0) * jnp.cumprod(x, 1), m)
    yield from singles("sort", lambda x: jnp.sort(x, 0) + jnp.argsort(x, 1), m)
    yield from singles("top", lambda x: lax.top_k(x, 2)[0], m)
    yield from singles("barrier", lambda x: lax.optimization_barrier((x, jnp.ones(2)))[0], m)
    yield from pairs("concatenate", lambda x, y: jnp.concatenate([x, y[:, :2], jnp.zeros((3, 1))], 1), m, m)
    yield from pairs("pointwise", lambda x, y: jnp.tanh(x) * y + 2.0, m, m)
    yield from pairs("select", lambda x, y: jnp.where(y > 0, x, y), m, m)
    scalar = lambda n: floats(n)
    yield from pairs("choose", lambda x, y: lax.select(y[()] > 0, x, -x), m, scalar)
    yield from pairs("clamp", lambda x, y: lax.clamp(-jnp.abs(y), x, jnp.abs(y)), m, scalar)


def contraction_cases():
    m, k = lambda n: floats(n, 3, 4), lambda n: floats(n, 4, 5)
    yield from pairs("product", lambda x, y: x @ y, m, k)
    yield from pairs("swapped", lambda x, y: jnp.einsum("ij,jk->ki", x, y), m, k)
    b, c = lambda n: floats(n, 2, 3, 4), lambda n: floats(n, 4, 2, 5)
    yield from pairs("batched", lambda x, y: jnp.einsum("bij,jbk->bik", x, y), b, c)
    yield from pairs("outer", lambda x, y: jnp.einsum("ij,kl->ikjl", x, y), m, k)
    square = lambda n: floats(n, 3, 3)
    solve = lambda x, y: lax.linalg.triangular_solve(x + 4 * jnp.eye(3), y, left_side=True, lower=True)
    yield from pairs("solve", solve, square, m)
    yield from singles("factor", lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(3)), square)
    yield from singles("pivots", lambda x: lax.linalg.lu(x - 2 * jnp.eye(3)[::-1])[0], square)
    image, kernel = lambda n: floats(n, 2, 5, 5, 3), lambda n: floats(n, 3, 3, 3, 2)
    convolve = lambda x, y: lax.conv_general_dilated(
        x, y, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    yield from pairs("convolution", convolve, image, kernel, ("dn", "nd", "dd", "dt"))


def index_cases():
    table, rows = lambda n: floats(n, 5, 3), lambda n: integers(n, 4)
    yield from pairs("rows", lambda x, i: x[i], table, rows)
    yield from pairs("limited", lambda x, i: x.at[i].get(mode="clip"), table, rows)
    yield from pairs("along", lambda x, i: jnp.take_along_axis(x, i % 5, 0), table, lambda n: integers(n, 2, 3))
    points = lambda n: integers(n, 4, 2)
    box = lambda x, i: lax.gather(
        x,
        i,
        lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(1, 0)),
        (2, 2),
        mode="clip",
    )
    yield from pairs("boxes", box, table, points)
    yield from pairs("add", lambda x, i: x.at[i].add(jnp.arange(12.0).reshape(4, 3)), table, rows)
    yield from pairs("most", lambda x, i: x.at[i].max(jnp.ones((4, 3)), mode="drop"), table, rows)
    unique = lambda n: np.stack([random.permutation(5)[:4] for _ in range(n)]).astype(np.int32)
    yield from pairs("set", lambda x, i: x.at[i].set(x[:1] * 2), table, unique)
    yield from pairs("written", lambda x, u: x.at[jnp.array([3, 1])].add(u), table, lambda n: floats(n, 2, 3))
    start = lambda n: integers(n)
    yield from pairs("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, 0 * i), (2, 3)), table, start)
    yield from pairs("dynamic_row", lambda x, i: lax.dynamic_slice(x, (2 * i, i), (1, 2)), table, start)
    fixed = lambda x, y: lax.dynamic_update_slice(x, y, (jnp.int32(1), jnp.int32(1)))
    yield from pairs("update", fixed, table, lambda n: floats(n, 2, 2))
    yield from pairs("update_at", lambda x, i: lax.dynamic_update_slice(x, -x[:2, :2], (i, 3 - i)), table, start)
    yield from pairs("update_unsigned", lambda x, i: lax.dynamic_update_slice(x, x[:1] + 1, (i.astype(jnp.uint64), jnp.uint64(0))), table, start)
    yield from pairs("hot", lambda x, i: x.T @ jax.nn.one_hot(i, 5).T, table, rows)


def collective_cases():
    m = lambda n: floats(n, 8, 4)
    k = lambda n: integers(n, 8, 4)
    both = ("data", "tensor")
    for kind, make in (("f", m), ("i", k)):
        for v in "dtbn":
            one = lambda name, f: (f"{name}_{kind}{v}", f, [(v, make)])
            yield one("psum", lambda x: lax.psum(x, "tensor") + lax.psum(x, both))
            yield one("pmax", lambda x: lax.pmax(x, "data") - lax.pmin(x, both))
            yield one("gather", lambda x: lax.all_gather(x, "tensor", axis=1, tiled=True))
            yield one("gather_both", lambda x: lax.all_gather(x, ("tensor", "data"), axis=1))
            yield one("scatter", lambda x: lax.psum_scatter(x, "tensor", scatter_dimension=1, tiled=True))
            yield one("scatter_both", lambda x: lax.psum_scatter(x, ("tensor", "data"), scatter_dimension=0))
            yield one("exchange", lambda x: lax.all_to_all(x, "tensor", 1, 0, tiled=True))
            yield one("exchange_both", lambda x: lax.all_to_all(x, ("tensor", "data"), 0, 1, tiled=True))
            yield one("exchange_same", lambda x: lax.all_to_all(x, "data", 0, 0, tiled=True))
            yield one("rotate", lambda x: lax.ppermute(x, "tensor", [(i, (i + 3) % 4) for i in range(4)]))
            yield one("shift", lambda x: lax.ppermute(x, "tensor", [(i + 1, i) for i in range(3)]))
            yield one("cross", lambda x: lax.ppermute(x, ("tensor", "data"), [(i, (i + 1) % 8) for i in range(8)]))
            yield one("some", lambda x: lax.ppermute(x, both, [(0, 5), (5, 2), (7, 0)]))
    flags = lambda n: random.integers(0, 2, (n, 4)).astype(bool)
    yield from singles("flags", lambda x: lax.all_gather(x, "tensor") ^ lax.ppermute(x, "data", [(0, 1)]), flags)
    small = lambda n: floats(n, 4).astype(np.float32)
    yield from singles("small", lambda x: lax.pmax(x, "tensor") * lax.psum(2.0, "data"), small)


def number_cases():
    m = lambda n: floats(n, 4, 4)
    i, j = lambda: lax.axis_index("data"), lambda: lax.axis_index("tensor")
    yield from singles("index", lambda x: x * i() + j(), m)
    yield from singles("both", lambda x: x + lax.axis_index(("tensor", "data")), m)
    yield from singles("masked", lambda x: jnp.where(jnp.arange(4) < j(), x, (i() - j()) % 3), m)
    yield from singles("own", lambda x: lax.dynamic_slice_in_dim(x, (j() + 1) % 4, 1, 0), m)
    yield from singles("constant", lambda x: jnp.arange(10.0)[(3 * j() + 5 * i()) % 7] * x, m)
    yield from singles("unsigned", lambda x: x * (jnp.uint8(250) + j().astype(jnp.uint8) * jnp.uint8(3)), m)

    yield from singles("branch", lambda x: lax.cond(j() == i(), jnp.sin, lambda y: 2 * y, x), m)
    steps = [lambda y: y, lambda y: -y, jnp.tanh]
    yield from singles("switch", lambda x: lax.switch(j(), steps, x), m)

    def noise(x):
        key = jax.random.fold_in(jax.random.key(5), j())
        return x + jax.random.uniform(key, x.shape)

    yield from singles("noise", noise, m)
    yield from singles("loop", lambda x: lax.fori_loop(0, 3, lambda n, y: jnp.sin(y) + n * lax.pmean(y, "data"), x), m)


def cases():
    for group in (shape_cases, contraction_cases, index_cases, collective_cases, number_cases):
        for name, f, operands in group():
            values = [make(COPIES[kind]) for kind, make in operands]
            yield name, f, [kind for kind, _ in operands], values


def region(f, kinds):
    """What every device makes of its parts, as rows."""

    def body(*parts):
        return f(*(part[0] for part in parts))[None]

    specs = tuple(SPECS[kind] for kind in kinds)
    return shard_map(body, mesh=MESH, in_specs=specs, out_specs=P(("data", "tensor")), check_vma=False)


def write(folder, table):
    """A text of all cases; what JAX makes of it."""
    folder.mkdir(parents=True, exist_ok=True)

    def everything():
        hidden = lax.optimization_barrier([values for *_, values in table])
        return {name: region(f, kinds)(*values) for (name, f, kinds, _), values in zip(table, hidden)}

    (folder / "model.mlir").write_text(jax.jit(everything).lower().as_text(debug_info=True), encoding="utf-8")
    (folder / "model.toml").write_text('[mesh]\naxes = ["data", "tensor"]\n', encoding="utf-8")
    return jax.jit(everything)()


def is_same(actual, value):
    if actual.shape != value.shape or actual.dtype != value.dtype:
        return False
    if value.dtype.kind != "f":
        return actual.tobytes() == value.tobytes()
    return bool(np.all(np.abs(actual - value) <= BAR * max(1.0, np.abs(value).max())))


def check(llmc, folder, expected, engine, mesh):
    """The number of cases that failed."""
    dump = folder / f"{engine}-{mesh or 'one'}"
    command = [llmc, engine, folder / "model.mlir", "--config", folder / "model.toml", "--entry", "forward"]
    command += ["--fetch", "*", "--dump", dump, "--steps", 1] + (["--mesh", mesh] if mesh else [])
    run(*command)
    failed = 0
    for name, value in expected.items():
        value, actual = np.asarray(value), np.load(dump / f"{name}.npy")
        if not is_same(actual, value):
            failed += 1
            print(f"FAILED {dump.name} {name}:\n{actual}\nJAX:\n{value}")
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("--only", default="", help="cases whose names begin so")
    p.add_argument("--kernels", type=int, default=8, help="one case of so many is run by kernels")
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    table = [case for case in cases() if case[0].startswith(a.only)]
    some = table[:: a.kernels]
    expected = write(a.output / "all", table)
    failed = sum(check(a.llmc, a.output / "all", expected, "interpret", mesh) for mesh in MESHES)
    expected = write(a.output / "some", some)
    failed += sum(check(a.llmc, a.output / "some", expected, "train", mesh) for mesh in MESHES[:2])
    print(f"{len(table)} cases by the interpreter, {len(some)} by kernels, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
