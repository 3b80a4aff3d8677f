# ===- random_loops.py - Loops over random trips ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Random losses with one or two loops, against jax.grad.

A trip has a few random ops on its carried values, rows of stacked weights, a weight that all
trips share, values from before the loop and the trip's number; one of them may be a loop. It may stack a value, and add
one up. A loop is a scan, from the first or the last row on, or counts from any number and
reads rows by steps of 1 or 2, up or down. One step of plain descent in f64, in two microbatches: the loss and each gradient
within 1e-10 of JAX, by the interpreter and by kernels, on one device and on meshes.

    python random_loops.py --llmc llmc --count 10 -o out
    python random_loops.py --llmc llmc --count 10 --derived -o out
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, WIDTH, HIDDEN = 4, 6, 8
MESHES = ["", "data=2,tensor=2", "pipe=2", "pipe=3", "data=3", "tensor=2", "pipe=2,data=2,tensor=2"]


class Program:
    """What one loop does, drawn once."""

    def __init__(self, draw, trips, rows):
        self.trips = trips
        self.carries = int(draw.integers(1, 4))
        self.kinds = [str(draw.choice(["mlp", "mix", "mul", "add", "sin", "norm", "count", "around", "bias", "loop"]))
                      for _ in range(draw.integers(2, 7))]
        if not {"mlp", "mix"} & set(self.kinds):
            self.kinds.append("mlp")
        self.picks = draw.integers(0, 1 << 30, size=(len(self.kinds), 2))
        self.ends = draw.integers(0, 1 << 30, size=self.carries + 2)
        self.stacks, self.adds, self.reads_last = (bool(draw.integers(0, 2)) for _ in range(3))
        self.is_reverse = bool(draw.integers(0, 2))
        step = int(draw.choice([1, -1, 2, -2]))
        place = int(draw.integers(0, 3))
        walk = (int(draw.integers(0, 5)), place if step > 0 else rows - 1 - place, step)
        self.walk = walk if draw.integers(0, 2) else None

    def step(self, kind, a, b, row, mix, around, i):
        if kind == "mlp":
            return a + jnp.tanh(a @ row["up"]) @ row["down"]
        if kind == "mix":
            return jnp.tanh(b @ mix)
        if kind == "loop":
            numbers = jnp.arange(4 + len(self.kinds) % 3) * 0.1
            last, all = lax.scan(lambda c, k: (jnp.tanh(c @ mix + b) * (1 + k * i), c), a, numbers)
            return last + jnp.mean(all, axis=0)
        if kind == "norm":
            return a * lax.rsqrt(jnp.mean(jnp.square(a), -1, keepdims=True) + 0.1)
        if kind == "count":
            return a * jnp.cos(i)
        if kind == "bias":
            return b + row["bias"]
        return {"mul": lambda: a * b, "add": lambda: a + b, "sin": lambda: jnp.sin(a),
                "around": lambda: a - around}[kind]()

    def trip(self, p, state, row, around, i):
        """The state after a trip, and what it keeps."""
        values, total = list(state[0]), state[1]
        for kind, (a, b) in zip(self.kinds, self.picks):
            pool = len(values)
            values.append(self.step(kind, values[a % pool], values[b % pool], row, p["mix"], around, i))
        fresh = values[self.carries:]
        state = [jnp.tanh(fresh[e % len(fresh)] + 0.3 * values[n]) for n, e in enumerate(self.ends[2:])]
        total = total + jnp.mean(jnp.square(fresh[self.ends[1] % len(fresh)])) if self.adds else total
        return (tuple(state), total), fresh[self.ends[0] % len(fresh)]

    def __call__(self, p, starts, around):
        start = (tuple(starts[: self.carries]), 0.0)
        return self.scan(p, start, around) if self.walk is None else self.count(p, start, around)

    def scan(self, p, start, around):
        def body(state, q):
            state, kept = self.trip(p, state, q[1], around, q[0])
            return state, (kept if self.stacks else None)

        rows = {n: p[n][: self.trips] for n in ("up", "down", "bias")}
        numbers = jnp.arange(self.trips) * 1.0
        (last, total), stack = lax.scan(body, start, (numbers, rows), reverse=self.is_reverse)
        return last, total, stack

    def count(self, p, start, around):
        """A counter that begins anywhere; rows are read, and written in place, by steps of `walk`."""
        first, place, step = self.walk

        def body(i, state):
            state, stack = state
            at = place + step * (i - first)
            row = {n: p[n][at] for n in ("up", "down", "bias")}
            state, kept = self.trip(p, state, row, around, at * 1.0)
            return state, (stack.at[at].set(kept) if self.stacks else None)

        stack = jnp.broadcast_to(start[0][0], (len(p["up"]), *start[0][0].shape)) if self.stacks else None
        (last, total), stack = lax.fori_loop(first, first + self.trips, body, (start, stack))
        return last, total, stack


class Case(one_step.Case):
    def __init__(self, a, name):
        draw = np.random.default_rng(int(name))
        trips = int(draw.integers(4, 8))
        rows = 2 * trips + 1
        self.programs = [Program(draw, trips, rows) for _ in range(draw.integers(1, 3))]
        shapes = {"up": (rows, WIDTH, HIDDEN), "down": (rows, HIDDEN, WIDTH), "bias": (rows, WIDTH),
                  "mix": (WIDTH, WIDTH)}
        text = one_step.CONFIGURATION
        for weight, split in (("up", -1), ("down", -2)):
            rest = [[] for _ in shapes[weight]]
            rest[split] = ["tensor"]
            text += f'[[layout]]\nmatch = "{weight}"\nrest = {json.dumps(rest)}\n'
        super().__init__(a, name, shapes, (2 * ROWS, WIDTH), text)
        types = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in shapes.items()}
        sample = jax.ShapeDtypeStruct((ROWS, WIDTH), np.float64)

        def train(params, x):
            return self.loss(params, x)

        train = jax.value_and_grad(train) if a.derived else train
        self.write_text(jax.jit(train).lower(types, sample).as_text(debug_info=True))

    def loss(self, p, x):
        starts = [x @ p["mix"], 0.5 * x + p["bias"][-1], jnp.sin(x @ p["mix"])]
        around = jnp.tanh(x @ p["mix"] + p["bias"][0] + 0.1 * x @ p["up"][0] @ p["down"][0])
        result = jnp.mean(jnp.square(around))
        for program in self.programs:
            last, total, stack = program(p, starts, around)
            if program.reads_last or stack is None:
                result += sum(jnp.mean(jnp.square(v)) for v in last)
            if stack is not None:
                result += jnp.mean(jnp.square(stack[1:3])) + jnp.mean(stack[0] * stack[-1])
                starts = [stack[-2], *starts]
            result += total
        return result

    def expect(self):
        return one_step.by_jax(self.loss, self.parameters, self.x, 2)


def main():
    a = one_step.parse(__doc__, lambda p: (
        p.add_argument("--count", type=int, default=10, help="losses"),
        p.add_argument("--seed", type=int, default=0, help="of the first loss"),
        p.add_argument("--derived", action="store_true", help="texts that have the derivative themselves")))
    failed = done = 0
    for seed in range(a.seed, a.seed + a.count):
        case = Case(a, str(seed))
        meshes = ["", MESHES[1 + seed % (len(MESHES) - 1)]]
        recompute = ["training.recompute='all'"] if seed % 3 == 0 and not a.derived else []
        runs = [("interpret", ""), *[("train", mesh, *recompute) for mesh in meshes], ("interpret", meshes[1])]
        done, failed = one_step.check(case, runs, done, failed)
    print(f"{a.count} losses, {done} runs, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
