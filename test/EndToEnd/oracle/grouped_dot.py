# ===- grouped_dot.py - Products of groups of rows --------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with products of groups, by jax.grad: free and contracted rows, with rows of
no group, groups without rows, one group, and random sizes; by the interpreter, on one device
and on meshes that split groups, rows and both dims of the matrices, within 1e-10 in f64.

    python grouped_dot.py --llmc llmc -o out
"""

import json

import jax
import jax.numpy as jnp
import numpy as np

import one_step
import printed_ops

jax.config.update("jax_enable_x64", True)
ROWS, WIDTH = 12, 6
MEANS = 'loss = "mean of microbatches"\n'
RUNS = [
    ("interpret", ""),
    ("train", ""),
    ("train", "tensor=2"),
    ("train", "tensor=4"),
    ("train", "data=2"),
    ("train", "data=2,tensor=2"),
    ("train", "pipe=2,tensor=2"),
]


def group_rows(x, groups, rest):
    """The rows in the order of their groups, and how many each has; the last `rest` kinds have none."""
    x = jnp.asarray(x)
    owner = jnp.argmax(x[:, : groups + rest], axis=1)
    sizes = (owner[:, None] == jnp.arange(groups)).sum(0).astype(jnp.int32)
    return x[jnp.argsort(owner)], sizes


def free(groups, rest=0, empty=False):
    """Two products with an activation between them, as in a layer of experts."""
    multiply = printed_ops.ragged_dot((1,), (1,), 0, group=(0,))

    def loss(p, x):
        x = jnp.asarray(x) - 100.0 * jnp.eye(x.shape[1])[0] if empty else x
        rows, sizes = group_rows(x, groups, rest)
        hidden = multiply(rows @ p["into"], p["up"], sizes)
        return jnp.square(multiply(jnp.tanh(hidden) * hidden, p["down"], sizes) - 0.3).mean()

    return loss, {"into": (WIDTH, 5), "up": (groups, 5, 8), "down": (groups, 8, 4)}


def contracted(groups, rest=0):
    """The matrices of groups, with which the same rows are multiplied again."""
    sum_up = printed_ops.ragged_dot((0,), (0,), 0)
    multiply = printed_ops.ragged_dot((1,), (1,), 0, group=(0,))

    def loss(p, x):
        rows, sizes = group_rows(x, groups, rest)
        left, right = rows @ p["up"], jnp.tanh(rows @ p["down"])
        return jnp.square(multiply(left, sum_up(left, right, sizes), sizes) - right).mean()

    return loss, {"up": (WIDTH, 8), "down": (WIDTH, 4)}


def batched(groups, rest=0):
    """Two batches of the same groups."""
    multiply = printed_ops.ragged_dot((2,), (2,), 1, ((0,), (1,)), (0,))

    def loss(p, x):
        rows, sizes = group_rows(x, groups, rest)
        pair = jnp.stack([rows, rows * rows])
        made = jnp.tanh(multiply(pair, p["up"], sizes))
        return jnp.square(jnp.einsum("bmk,bkn->bmn", made, p["down"]) - 0.3).mean()

    return loss, {"up": (groups, 2, WIDTH, 8), "down": (2, 8, 4)}


def split(name, dim):
    return f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(dim)}\n'


def place(shapes, dims):
    """The tensor axis on one dim of each named parameter."""
    return "".join(split(n, [["tensor"] if d == dims[n] else [] for d in range(len(s))]) for n, s in shapes.items() if n in dims)


CASES = {
    "groups": (free(4), {"up": 0, "down": 0}),
    "groups_and_rest": (free(4, rest=2), {"up": 0, "down": 0}),
    "empty": (free(4, empty=True), {"up": 0, "down": 0}),
    "one": (free(1), {"up": 2, "down": 1}),
    "columns": (free(3, rest=1), {"up": 2, "down": 1}),
    "depth": (free(3), {"into": 1, "down": 1}),
    "mixed": (free(4), {"up": 0, "down": 2}),
    "contracted": (contracted(3), {"up": 1}),
    "contracted_rest": (contracted(2, rest=2), {"up": 1, "down": 1}),
    "batched": (batched(4, rest=1), {"up": 0}),
    "batched_columns": (batched(3), {"up": 3, "down": 1}),
}
for seed in range(4):
    draw = np.random.default_rng(seed)
    CASES[f"random{seed}"] = (
        free(int(draw.integers(2, 5)), rest=int(draw.integers(0, 3))),
        {n: int(draw.integers(0, 3)) for n in ("up", "down")},
    )


class Case(one_step.Case):
    def __init__(self, a, name):
        (self.loss, shapes), dims = CASES[name]
        super().__init__(a, name, shapes, (2 * ROWS, WIDTH), one_step.CONFIGURATION + MEANS + place(shapes, dims))
        shapes = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in self.shapes.items()}
        x = jax.ShapeDtypeStruct((ROWS, WIDTH), np.float64)

        def train(params, x):
            return self.loss(params, x)

        self.write_text(jax.jit(train).lower(shapes, x).as_text(debug_info=True))

    def expect(self):
        with printed_ops.executing():
            return one_step.by_jax(self.loss, self.parameters, self.x, 2)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, RUNS)
