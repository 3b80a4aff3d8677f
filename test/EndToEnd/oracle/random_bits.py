# ===- random_bits.py - Bits of rng_bit_generator against JAX -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Bits of each algorithm, element type and shape, equal to those of JAX.

One text has all cases; states come in as an input, so that nothing is computed at
import. JAX has unsigned elements and states of two: signed elements and floats must
have the same bits, and a state of three whose high counter is the key is like one of
two. With a mesh each output is split over its axes.

    python random_bits.py --llmc llmc -o out --engine interpret
    python random_bits.py --llmc llmc -o out --engine run --some
    python random_bits.py --llmc llmc -o out --engine run --some --mesh data=2,tensor=2
"""

import argparse
import dataclasses
import itertools
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

SHAPES = [(), (1,), (2,), (7,), (64,), (5, 3), (4, 6), (33, 18), (9, 11), (3, 5, 7), (2, 3, 4), (1, 6, 1), (0, 3)]
TYPES = ["ui8", "ui16", "ui32", "ui64", "i8", "i32", "i64", "f16", "f32", "f64"]
# Algorithm and elements of its state.
ALGORITHMS = [("DEFAULT", 2), ("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)]
# Key and counter, as ui32: any; a counter that comes round; zeros.
STATES = np.array([[0x9ABCDEF1, 0x12345678, 77, 5], [7, 0, 0xFFFFFFFD, 0xFFFFFFFF], [0, 0, 0, 0]], np.uint32)
CONFIGURATION = """[mesh]
axes = ["data", "tensor"]
[data.states]
kind = "array"
file = "states.npy"
shuffle = false
"""


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    algorithm: str
    size: int
    element: str
    shape: tuple
    row: int

    @property
    def output(self):
        return f"tensor<{'x'.join([*map(str, self.shape), self.element])}>"

    @property
    def state(self):
        return f"tensor<{self.size}xui64>"


def make_cases(some):
    """All, or each algorithm with each shape and each type at least once."""
    cases = []
    for a, (algorithm, size) in enumerate(ALGORITHMS):
        for (s, shape), (t, element) in itertools.product(enumerate(SHAPES), enumerate(TYPES)):
            if not some or t == (s + 3 * a) % len(TYPES):
                name = f"c{len(cases)}"
                cases.append(Case(name, algorithm, size, element, shape, (a + s + t) % len(STATES)))
    return cases


def axes_of(case):
    """One axis for the first dimension and one for the last, or both for the only one,
    where there are elements enough."""
    dims = [[] for _ in case.shape]
    dims[0].append('"data"')
    dims[-1].append('"tensor"')
    fitting = [axes if size >= 2 ** len(axes) else [] for axes, size in zip(dims, case.shape)]
    return ", ".join("{" + ", ".join(axes) + "}" for axes in fitting)


def body_of(case, split):
    """The ops of one case, from row `case.row` of the states to its two results."""
    n, words = case.name, 2 * case.size
    yield f"%{n}a = stablehlo.slice %states [{case.row}:{case.row + 1}, 0:4] : (tensor<3x4xui32>) -> tensor<1x4xui32>"
    yield f"%{n}b = stablehlo.reshape %{n}a : (tensor<1x4xui32>) -> tensor<4xui32>"
    last = f"%{n}b"
    if case.size == 3:
        yield f"%{n}k = stablehlo.slice %{n}b [0:2] : (tensor<4xui32>) -> tensor<2xui32>"
        yield (f"%{n}c = stablehlo.concatenate %{n}b, %{n}k, dim = 0 : "
               "(tensor<4xui32>, tensor<2xui32>) -> tensor<6xui32>")
        last = f"%{n}c"
    yield f"%{n}d = stablehlo.reshape {last} : (tensor<{words}xui32>) -> tensor<{case.size}x2xui32>"
    yield f"%{n}e = stablehlo.bitcast_convert %{n}d : (tensor<{case.size}x2xui32>) -> {case.state}"
    yield (f"%{n}s, %{n}o = stablehlo.rng_bit_generator %{n}e, algorithm = {case.algorithm} : "
           f"({case.state}) -> ({case.state}, {case.output})")
    if split and case.shape:
        yield f"%{n}p = sdy.sharding_constraint %{n}o <@mesh, [{axes_of(case)}]> : {case.output}"


def text_of(cases, split):
    results, values, types, lines = [], [], [], []
    for case in cases:
        lines += body_of(case, split)
        bits = "p" if split and case.shape else "o"
        for what, value, of in (("state", "s", case.state), ("bits", bits, case.output)):
            results.append(f"{of} {{jax.result_info = \"result['{case.name}{what}']\"}}")
            values.append(f"%{case.name}{value}")
            types.append(of)
    mesh = 'sdy.mesh @mesh = <["data"=2, "tensor"=2]>\n' if split else ""
    head = f'{mesh}func.func public @main(%states: tensor<3x4xui32> loc("states")) -> ({", ".join(results)}) {{\n'
    end = f"return {', '.join(values)} : {', '.join(types)}\n}}\n"
    return head + "".join(f"  {line}\n" for line in lines) + "  " + end


def unsigned(element):
    return np.dtype(f"uint{element.lstrip('uif')}")


def expected_of(case):
    """State and bits by JAX."""
    key = np.ascontiguousarray(STATES[case.row]).view(np.uint64)
    algorithm = {"DEFAULT": "RNG_DEFAULT", "THREE_FRY": "RNG_THREE_FRY", "PHILOX": "RNG_PHILOX"}[case.algorithm]
    state, bits = jax.lax.rng_bit_generator(
        jnp.asarray(key), case.shape, dtype=unsigned(case.element), algorithm=getattr(jax.lax.RandomAlgorithm, algorithm)
    )
    state = np.asarray(state)
    if case.size == 3:
        # The high counter carries where the low one came round.
        state = np.append(state, key[0] + np.uint64(state[1] < key[1]))
    return state, np.asarray(bits)


def keep_expected(cases, file):
    """{name of a case: state and bits by JAX}, kept in `file` for other runs of the same cases."""
    if file and file.exists():
        with np.load(file) as kept:
            return {case.name: (kept[case.name + "s"], kept[case.name + "b"]) for case in cases}
    expected = {case.name: expected_of(case) for case in cases}
    if file:
        np.savez(file, **{name + what: array for name, both in expected.items() for what, array in zip("sb", both)})
    return expected


def compute(a, cases):
    a.output.mkdir(parents=True, exist_ok=True)
    (a.output / "model.mlir").write_text(text_of(cases, bool(a.mesh)), encoding="utf-8")
    (a.output / "model.toml").write_text(CONFIGURATION, encoding="utf-8")
    np.save(a.output / "states.npy", STATES + np.array([0, 0, a.off, 0], np.uint32))
    command = [a.llmc, "interpret" if a.engine == "interpret" else "train", a.output / "model.mlir"]
    command += ["--config", a.output / "model.toml", "--entry", "forward", "--dump", a.output / "dump"]
    if a.mesh:
        command += ["--mesh", a.mesh]
    if a.engine == "run":
        names = [case.name + what for case in cases for what in ("state", "bits")]
        command += ["--steps", 1, "--fetch", ",".join(names)]
    process = subprocess.run([*map(str, command)], text=True, capture_output=True)
    if process.returncode:
        sys.exit(f"FAILED {process.stderr[-3000:]}")
    return {case.name: [np.load(a.output / "dump" / f"{case.name}{what}.npy") for what in ("state", "bits")]
            for case in cases}


def check(case, found, expected):
    state, bits = expected
    same_state = np.array_equal(found[0], state)
    same_bits = found[1].shape == case.shape and np.array_equal(found[1].view(bits.dtype), bits)
    if not same_state or not same_bits:
        what = "state" if same_bits else "bits"
        print(f"FAILED {what} of {case.algorithm}, state of {case.size}, {case.output}, row {case.row}")
    return same_state and same_bits


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--engine", choices=("interpret", "run"), required=True)
    p.add_argument("--mesh", default="")
    p.add_argument("--some", action="store_true", help="each shape with one type for each algorithm")
    p.add_argument("--expected", type=pathlib.Path, help="an .npz file, written once, of what JAX gives for these cases")
    p.add_argument("--off", type=int, default=0, help="added to the counters that llmc gets: all cases fail")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    a = p.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    cases = make_cases(a.some)
    found, expected = compute(a, cases), keep_expected(cases, a.expected)
    failed = sum(not check(case, found[case.name], expected[case.name]) for case in cases)
    print(f"{len(cases)} cases, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
