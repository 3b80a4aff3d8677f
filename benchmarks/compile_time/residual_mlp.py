#!/usr/bin/env python3
# ===- residual_mlp.py - A long chain of residual MLP blocks ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes the loss of a chain of residual MLP blocks as StableHLO text.

A block is `x + relu(x w1 + b1) w2 + b2`, unrolled, so a model of n blocks has 4 n
parameters and 10 n ops. The text is that of `jax.jit(loss).lower(...)` with its
locations, but it is written directly: JAX would need minutes for the long models.
`--check` traces the same function by JAX and compares the two texts.

    python residual_mlp.py --blocks 4000 -o mlp.mlir
    python residual_mlp.py --blocks 3 --check
"""

import argparse
import difflib
import re
import subprocess
import sys

BATCH, WIDTH, HIDDEN = 8, 16, 32
PARAMETERS = {"b1": (HIDDEN,), "b2": (WIDTH,), "w1": (WIDTH, HIDDEN), "w2": (HIDDEN, WIDTH)}

# The locations of the ops, `&n` being the n-th of them; positions in a file matter to nobody.
LOCATIONS = 10 * ['loc("mlp.py":1:1 to :2)'] + """\
loc("jit")
loc("max")
loc("loss"(&0))
loc("<module>"(&1))
loc("loss"(&2))
loc("loss"(&3))
loc("loss"(&4))
loc("loss"(&5))
loc("loss"(&6))
loc("loss"(&7))
loc("loss"(&8))
loc("loss"(&9))
loc("jit:"(&10))
loc(callsite(&12 at &13))
loc(callsite(&14 at &13))
loc(callsite(&15 at &13))
loc(callsite(&16 at &13))
loc(callsite(&17 at &13))
loc(callsite(&18 at &13))
loc(callsite(&19 at &13))
loc(callsite(&20 at &13))
loc(callsite(&21 at &13))
loc("jit(loss)"(&13))
loc("jit(loss)/dot_general"(&23))
loc("jit(loss)/broadcast_in_dim"(&24))
loc("jit(loss)/add"(&24))
loc("jit(loss)/jit(relu)"(&25))
loc("jit(loss)/dot_general"(&26))
loc("jit(loss)/add"(&27))
loc("jit(loss)/broadcast_in_dim"(&28))
loc("jit(loss)/add"(&28))
loc("jit(loss)/sub"(&29))
loc("jit(loss)/integer_pow"(&30))
loc("jit(loss)/reduce_sum"(&31))
loc("jit(loss)/div"(&31))""".splitlines()


def tensor(*shape):
    return "tensor<" + "x".join([*map(str, shape), "f32"]) + ">"


X, H, LOSS = tensor(BATCH, WIDTH), tensor(BATCH, HIDDEN), tensor()


def matrix_product(x, w, of, to):
    return (f"stablehlo.dot_general {x}, {w}, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT]"
            f" : ({of}, {tensor(*PARAMETERS[to[0]])}) -> {to[1]}")


def broadcast(value, dims, of, to):
    return f"stablehlo.broadcast_in_dim {value}, dims = {dims} : ({of}) -> {to}"


def block(x, b1, b2, w1, w2, n):
    """The ops of one block, whose results are %n ... %n+9, each with its location."""
    r = [f"%{n + i}" for i in range(10)]
    row1, row2 = tensor(1, HIDDEN), tensor(1, WIDTH)
    return [
        (matrix_product(x, w1, X, ("w1", H)), 33),
        (broadcast(b1, [1], tensor(HIDDEN), row1), 34),
        (broadcast(r[1], [0, 1], row1, H), 35),
        (f"stablehlo.add {r[0]}, {r[2]} : {H}", 35),
        (f"call @relu({r[3]}) : ({H}) -> {H}", 36),
        (matrix_product(r[4], w2, H, ("w2", X)), 37),
        (f"stablehlo.add {x}, {r[5]} : {X}", 38),
        (broadcast(b2, [1], tensor(WIDTH), row2), 39),
        (broadcast(r[7], [0, 1], row2, X), 40),
        (f"stablehlo.add {r[6]}, {r[8]} : {X}", 40),
    ]


def text_of(blocks):
    """The text of the model with `blocks` blocks, as JAX prints it."""
    names = [(f"params['blocks'][{i}]['{p}']", s) for i in range(blocks) for p, s in PARAMETERS.items()]
    arguments = names + [("x", (BATCH, WIDTH)), ("y", (BATCH, WIDTH))]
    x, y = (f"%arg{len(names) + i}" for i in range(2))
    loc = lambda i: f"#loc{len(arguments) + 1 + i}"
    lines = ["#loc = loc(unknown)"]
    lines += [f'#loc{i} = loc("{name}")' for i, (name, _) in enumerate(arguments, 1)]
    lines.append("module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {")
    listed = ", ".join(f'%arg{i}: {tensor(*shape)} loc("{name}")' for i, (name, shape) in enumerate(arguments))
    result = f'({LOSS} {{jax.result_info = "result"}})'
    lines.append(f"  func.func public @main({listed}) -> {result} {{")
    op = lambda result, text, place: lines.append(f"    %{result} = {text} loc({loc(place)})")
    n = 10 * blocks
    for i in range(blocks):
        for k, (text, place) in enumerate(block(x, *(f"%arg{4 * i + j}" for j in range(4)), 10 * i)):
            op(10 * i + k, text, place)
        x = f"%{10 * i + 9}"
    op(n, f"stablehlo.subtract {x}, {y} : {X}", 41)
    op(n + 1, f"stablehlo.multiply %{n}, %{n} : {X}", 42)
    op("cst", f"stablehlo.constant dense<0.000000e+00> : {LOSS}", 43)
    op(n + 2, f"stablehlo.reduce(%{n + 1} init: %cst) applies stablehlo.add across dimensions = [0, 1]"
       f" : ({X}, {LOSS}) -> {LOSS}", 43)
    op("cst_0", f"stablehlo.constant dense<{BATCH * WIDTH:e}> : {LOSS}", 32)
    op(n + 3, f"stablehlo.divide %{n + 2}, %cst_0 : {LOSS}", 44)
    lines += [f"    return %{n + 3} : {LOSS} loc({loc(32)})", "  } loc(#loc)",
              f"  func.func private @relu(%arg0: {H} loc(unknown)) -> {H} {{"]
    lines += [f"    %cst = stablehlo.constant dense<0.000000e+00> : {LOSS} loc(#loc)",
              f"    %0 = {broadcast('%cst', [], LOSS, H)} loc({loc(11)})",
              f"    %1 = stablehlo.maximum %arg0, %0 : {H} loc({loc(11)})",
              f"    return %1 : {H} loc(#loc)", f"  }} loc({loc(22)})", "} loc(#loc)"]
    for i, location in enumerate(LOCATIONS):
        lines.append(f"{loc(i)} = " + re.sub(r"&(\d+)", lambda m: loc(int(m.group(1))), location))
    return "\n".join(lines) + "\n"


# The same model for JAX: its script, so that the call stacks are as short as a user's.
MODEL = """\
import jax
import jax.numpy as jnp
def loss(params, x, y):
    for p in params["blocks"]:
        x = x + jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    return jnp.mean((x - y) ** 2)
leaf = lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32)
params = {"blocks": [{p: leaf(s) for p, s in PARAMETERS.items()} for _ in range(BLOCKS)]}
data = leaf(DATA)
print(jax.jit(loss, keep_unused=True).lower(params, data, data).as_text(debug_info=True), end="")
"""


def check(blocks):
    """Compares the text with JAX's in all but the positions in the source file."""
    values = f"BLOCKS, DATA, PARAMETERS = {blocks}, {(BATCH, WIDTH)}, {PARAMETERS}\n"
    jax = subprocess.run([sys.executable, "-c", values + MODEL], capture_output=True, text=True, check=True).stdout
    plain = lambda text: re.sub(r'loc\("[^"]*":[^)]*\)', "loc(position)", text).splitlines()
    differences = list(difflib.unified_diff(plain(jax), plain(text_of(blocks)), "jax", "written", "", "", 0))
    for line in differences:
        print(line[:300])
    print(f"{blocks} blocks: {'the texts differ' if differences else 'the text that JAX prints'}")
    return bool(differences)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--blocks", type=int, default=250)
    p.add_argument("--check", action="store_true", help="compare with what JAX prints (needs jax)")
    p.add_argument("-o", "--output", default="-", help="file, or - for stdout")
    a = p.parse_args()
    if a.check:
        sys.exit(check(a.blocks))
    if a.output == "-":
        sys.stdout.write(text_of(a.blocks))
    else:
        with open(a.output, "w") as file:
            file.write(text_of(a.blocks))


if __name__ == "__main__":
    main()
