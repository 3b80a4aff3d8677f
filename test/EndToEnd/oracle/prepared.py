# ===- prepared.py - What is alike in all microbatches moves once ----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses of which some values are made of parameters alone and moved between devices.

Loss and gradients of a step of four microbatches agree with jax.value_and_grad in f64 within
1e-10, by hand-written losses and by random ones, with pipelines, loops, recomputation and texts
that have their derivative. What devices receive in steps of one microbatch and of four is what
formulas written by hand say: what no sample changes counts once.

    python prepared.py --llmc llmc -o out
    python prepared.py --llmc llmc --random 40 -o out
"""

import json
import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

import one_step

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")

ROWS, WIDTH, HIDDEN, RANK, MICROBATCHES, ITEM = 4, 8, 12, 4, 4, 8
LAYERS = 4
ROWS_SPLIT, COLUMNS_SPLIT = [["tensor"], []], [[], ["tensor"]]


def mean_square(x):
    return jnp.mean(jnp.square(x))


# --- By hand -------------------------------------------------------------------


def low_rank(p, x):
    """A weight and a product of two, whose inner dim is split."""
    h = jnp.tanh(x @ (p["w"] + p["a"] @ p["b"]))
    return mean_square(h @ p["out"])


def weight_norm(p, x):
    """Columns of length one, whose rows are split."""
    w = p["v"] / jnp.sqrt(jnp.sum(jnp.square(p["v"]), axis=0)) * p["g"]
    return mean_square(jnp.tanh(x @ w) @ p["out"])


def twice(p, x):
    """A product of parameters that the first layer and the last one read."""
    w = jnp.tanh(p["left"] @ p["right"])
    return mean_square(jnp.tanh(x @ w) @ w.T)


def layers(p, x):
    """Weights of a scan that are made before it."""
    stack = jnp.tanh(jnp.einsum("lir,rj->lij", p["a"], p["b"]))
    shift = jnp.tanh(jnp.sum(p["a"], axis=(0, 2)))

    def layer(x, w):
        return jnp.tanh(x @ w) + shift, None

    return mean_square(jax.lax.scan(layer, x, stack)[0])


SQUARE = {"left": (WIDTH, RANK), "right": (RANK, WIDTH)}
STACK = {"a": (LAYERS, WIDTH, RANK), "b": (RANK, WIDTH)}
LOW_RANK = {"w": (WIDTH, HIDDEN), "a": (WIDTH, RANK), "b": (RANK, HIDDEN), "out": (HIDDEN, WIDTH)}
NORM = {"v": (WIDTH, HIDDEN), "g": (HIDDEN,), "out": (HIDDEN, WIDTH)}
INNER = {"a": COLUMNS_SPLIT, "b": ROWS_SPLIT}
# Name -> loss, shapes, rows.
LOSSES = {
    "low-rank": (low_rank, LOW_RANK, INNER),
    # The weight is gathered in each microbatch, as its row says.
    "low-rank-stored": (low_rank, LOW_RANK, {**INNER, "w": [["data"], []], "use w": []}),
    # So is what a product is made of, and all that follows from it.
    "factors-stored": (low_rank, LOW_RANK, {"a": [["data"], ["tensor"]], "b": ROWS_SPLIT}),
    "weight-norm": (weight_norm, NORM, {"v": ROWS_SPLIT}),
    "twice": (twice, SQUARE, {"left": COLUMNS_SPLIT, "right": ROWS_SPLIT}),
    "layers": (layers, STACK, {"a": [[], [], ["tensor"]], "b": ROWS_SPLIT}),
}


def elements(*names, of):
    return ITEM * sum(int(np.prod(of[name])) for name in names)


def of_low_rank(m, data=1):
    """The product is summed once, or its product with the samples in each microbatch. Over data
    gradients are summed once; of one microbatch those of the two factors follow from the weight's,
    of several the halves of both are added up."""
    late, early = m * ITEM * ROWS // data * HIDDEN, ITEM * WIDTH * HIDDEN
    factors = elements("a", "b", of=LOW_RANK) // 2 if m > 1 else 0
    return min(late, early) + (elements("w", "out", of=LOW_RANK) + factors if data > 1 else 0)


def of_stored(m):
    """Half of the weight is gathered in each microbatch, and its gradient scattered once."""
    return of_low_rank(m, 2) + (m - 1) * elements("w", of=LOW_RANK) // 2


def of_norm(m):
    """Sums over rows: of squares once, of what the gradient of the norm is made of in each
    microbatch, of the gradient of the factors once; and what the samples make."""
    return 2 * ITEM * HIDDEN + m * ITEM * (HIDDEN + ROWS * HIDDEN)


def of_stages(m):
    """The product is sent once, its cotangent and the samples up and down in each microbatch."""
    return ITEM * (WIDTH * WIDTH + m * (WIDTH * WIDTH + 2 * ROWS * WIDTH))


# (loss, mesh): bytes that a device of each stage receives in a step of m microbatches.
RECEIVED = {
    ("low-rank", "tensor=2"): of_low_rank,
    ("low-rank", "data=2,tensor=2"): lambda m: of_low_rank(m, 2),
    ("low-rank-stored", "data=2,tensor=2"): of_stored,
    ("weight-norm", "tensor=2"): of_norm,
    ("twice", "tensor=2"): lambda m: ITEM * WIDTH * WIDTH,
    ("twice", "pipe=2"): of_stages,
}
ROW = re.compile(r"  train: \d+ x (\w+) ([\w ]+), (\d+) -> (\d+) bytes a step")


def received(text):
    """Of plans whose axes have two devices; scalars left out."""
    total = 0
    for kind, _, before, after in ROW.findall(text):
        total += {"all_gather": int(after) // 2, "all_to_all": int(after) // 2, "send": 0}.get(kind, int(after))
    return total


# --- At random -------------------------------------------------------------------


def draw_weights(draw, parameters):
    """A few matrices made of parameters, each also of those before it."""
    made = list(parameters)
    for _ in range(draw.integers(3, 8)):
        a, b = (made[draw.integers(len(made))] for _ in range(2))
        made.append([
            lambda: a @ b * 0.3,
            lambda: a + b,
            lambda: a * b,
            lambda: jnp.tanh(a).T,
            lambda: a / jnp.sqrt(1 + jnp.sum(jnp.square(a), axis=draw.integers(2), keepdims=True)),
            lambda: jax.nn.softmax(a, axis=draw.integers(2)),
            lambda: jnp.tril(a) + b,
        ][draw.integers(7)]())
    return made


def random_loss(seed):
    def loss(p, x):
        draw = np.random.default_rng(seed)
        made = draw_weights(draw, list(p.values()))
        for _ in range(draw.integers(2, 5)):
            x = jnp.tanh(x @ made[draw.integers(len(made))] + x)
        return mean_square(x) + 0.1 * mean_square(made[-1] + sum(p.values()))

    return loss


def random_case(seed):
    draw = np.random.default_rng(seed + 1000)
    rows = [[[], []], ROWS_SPLIT, COLUMNS_SPLIT, [["data"], []], [["tensor"], ["data"]], [[], ["data", "tensor"]]]
    shapes = {f"p{i}": (WIDTH, WIDTH) for i in range(3)}
    return random_loss(seed), shapes, {n: rows[draw.integers(len(rows))] for n in shapes}


# --- Runs --------------------------------------------------------------------------


class Case(one_step.Case):
    def __init__(self, a, name):
        number, _, form = name.partition(".")
        self.function, shapes, rows = LOSSES.get(number) or random_case(int(number.removeprefix("random-")))
        configuration = one_step.CONFIGURATION.replace("microbatches = 2", f"microbatches = {MICROBATCHES}")
        for n, rest in rows.items():
            configuration += f'use = {rest}\n' if n.startswith("use ") else f'[[layout]]\nmatch = "{n}"\nrest = {json.dumps(rest)}\n'
        super().__init__(a, name, shapes, (ROWS * MICROBATCHES, WIDTH), configuration)
        types = {n: jax.ShapeDtypeStruct(s, np.float64) for n, s in shapes.items()}
        self.is_derived = form == "derived"
        derived = jax.value_and_grad(self.function) if self.is_derived else self.function

        def train(params, x):
            return derived(params, x)

        self.write_text(jax.jit(train).lower(types, jax.ShapeDtypeStruct((ROWS, WIDTH), np.float64)).as_text(debug_info=True))

    def takes(self, *settings):
        return not self.is_derived or not any("recompute" in s for s in settings)

    def expect(self):
        return one_step.by_jax(self.function, self.parameters, self.x)

    def count(self, mesh, microbatches):
        """Bytes received in a step."""
        command = [self.a.llmc, "compile", self.folder / self.model, "--config", self.folder / "model.toml", "--mesh", mesh]
        command += ["--weights", self.folder / "weights.safetensors", "--set", f"training.microbatches={microbatches}"]
        subprocess.run([*map(str, command), "-o", str(self.folder / "plan")], check=True, capture_output=True)
        command = [str(self.a.llmc), "inspect", "plan", str(self.folder / "plan" / "plan.llmc")]
        return received(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


RUNS = [("train", ""), ("train", "tensor=2"), ("train", "data=2,tensor=2"), ("train", "pipe=2"),
        ("interpret", "data=2,tensor=2"), ("train", "pipe=2,tensor=2", "training.recompute='all'"),
        ("train", "pipe=2,data=2", "pipeline.schedule='1f1b'"), ("train", "data=2,tensor=2", "training.recompute='all'")]
RANDOM = [[("train", "data=2,tensor=2")], [("train", "pipe=2,tensor=2")], [("train", "pipe=2,data=2,tensor=2")],
          [("train", "data=2,tensor=2", "training.recompute='all'")]]


def count_all(a):
    """How many counts there are, and how many are not what the formulas say."""
    done = failed = 0
    for (name, mesh), formula in RECEIVED.items():
        case = Case(a, name)
        # Of one microbatch the gradients of a stored weight's factors may also follow from its own.
        for m in (1, MICROBATCHES) if name != "low-rank-stored" else (MICROBATCHES,):
            found, wanted = case.count(mesh, m), formula(m)
            done, failed = done + 1, failed + (found != wanted)
            print(f"{'passed' if found == wanted else 'FAILED'} {name} {mesh}, {m} microbatches: {found} B received, by hand {wanted}")
    return done, failed


def main():
    a = one_step.parse(__doc__, lambda p: (
        p.add_argument("--random", type=int, default=6, help="so many losses at random"),
        p.add_argument("--runs", type=int, default=len(RUNS), help="the first so many of each loss by hand")))
    done = failed = 0
    for name in LOSSES:
        for form in "", ".derived":
            done, failed = one_step.check(Case(a, name + form), RUNS[:a.runs], done, failed)
    for seed in range(a.random):
        done, failed = one_step.check(Case(a, f"random-{seed}"), RANDOM[seed % len(RANDOM)], done, failed)
    counts, wrong = count_all(a)
    print(f"{2 * len(LOSSES) + a.random} losses, {done} runs, {failed} failed; {counts} counts, {wrong} wrong")
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
