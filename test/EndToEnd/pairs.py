#!/usr/bin/env python3
# ===- pairs.py - What composes with what ----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a small GPT with each pair of features and compares it with one device.

Features are rows of FEATURES: axes of the mesh, layouts, a schedule, flags of the step and forms of the model. A pair is trained
for three steps on the union of both meshes; losses and gradient norms must be those of one device with the same model and step,
within BARS. Pairs that mean nothing have a reason in REASONS instead. The table of docs/composition.md is written by `--update`
and compared otherwise. With `--sets` one training shows several pairs (pair_sets.py).

    python pairs.py --llmc llmc -o out ../../docs/composition.md [--update] [--sets] [--only zero3]
"""

import argparse
import dataclasses
import functools
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "examples" / "gpt"), str(HERE / "Strategies")]

import make_gpt  # noqa: E402
import models  # noqa: E402
import pair_sets  # noqa: E402
import pairs_onnx  # noqa: E402

LAYERS, WIDTH, HEADS, SEQ, BATCH, WORDS = 4, 16, 4, 8, 8, 64
EXPERTS = models.Sizes(experts=4, capacity=4)
CORPUS = ROOT / "examples" / "gpt" / "corpus.bin"
AXES = ["pipe", "replica", "data", "expert", "seq", "tensor"]
BARS = {"f32": 2e-5, "bf16": 2e-2, "bf16 contractions": 2e-2, "f16 contractions": 4e-3, "f64": 1e-12}
MORE_BARS = {"fp8 contractions": 5e-2}
# Which experts a token takes changes with the rounding: where all is bf16, norms of the third step moved by 2.2e-2 when a
# product's sides changed places, on one mesh, and nothing else.
EXPERTS_IN_BF16 = 4e-2


@dataclasses.dataclass(frozen=True)
class Feature:
    name: str
    # Only one feature of a kind at a time.
    kind: str
    axes: tuple = ()
    schedule: str = ""


FEATURES = (
    Feature("data", "states", ("data",)),
    Feature("ZeRO-1", "states", ("data",)),
    Feature("ZeRO-2", "states", ("data",)),
    Feature("ZeRO-3", "states", ("data",)),
    Feature("FSDP by annotations", "states", ("data",)),
    Feature("HSDP", "states", ("replica", "data")),
    Feature("tensor", "tensor", ("tensor",)),
    Feature("vocabulary", "vocabulary", ("tensor",)),
    Feature("sequence", "sequence", ("tensor",)),
    Feature("context", "context", ("seq",)),
    Feature("Ulysses", "context", ("seq",)),
    Feature("expert", "expert", ("expert",)),
    Feature("GPipe", "schedule", ("pipe",), "gpipe"),
    Feature("1F1B", "schedule", ("pipe",), "1f1b"),
    Feature("interleaved", "schedule", ("pipe",), "interleaved"),
    Feature("accumulation", "accumulation"),
    Feature("recomputation", "recomputation"),
    Feature("clipping", "clipping"),
    Feature("tied weights", "tied"),
    Feature("loop over layers", "loop"),
    Feature("bf16", "precision"),
    Feature("bf16 contractions", "precision"),
    Feature("f16 contractions", "precision"),
    Feature("f64", "precision"),
    Feature("ONNX input", "input"),
    Feature("processes", "processes", ("data",)),
)
# With `--only` alone: no row of the table.
MORE = (Feature("fp8 contractions", "precision"),)
# training.precision of these, in a model of f32.
CONTRACTIONS = ("bf16 contractions", "f16 contractions", "fp8 contractions")
REASONS = {
    "states": "each says how parameters, gradients and optimizer states lie: the later one contains the earlier",
    "context": "a sequence that is split by an axis changes to heads for attention, or does not",
    "schedule": "a step has one schedule",
    "precision": "a step has one precision",
}


# --- The model ---------------------------------------------------------------


def parameters_of(names):
    dtype = jnp.bfloat16 if "bf16" in names else jnp.float32
    leaf = lambda *shape: jax.ShapeDtypeStruct(shape, dtype)
    stack = (LAYERS,) if "loop over layers" in names else ()
    mlp = {"in": (WIDTH, 4 * WIDTH), "out": (4 * WIDTH, WIDTH)}
    if "expert" in names:
        n = EXPERTS.experts
        mlp = {"router": (WIDTH, n), "up": (n, WIDTH, 2 * WIDTH), "down": (n, 2 * WIDTH, WIDTH)}
    block = lambda: {
        "scale1": leaf(*stack, WIDTH),
        "qkv": leaf(*stack, WIDTH, 3 * WIDTH),
        "proj": leaf(*stack, WIDTH, WIDTH),
        "scale2": leaf(*stack, WIDTH),
        **({name: leaf(*stack, *shape) for name, shape in mlp.items()}),
    }
    result = {"embed": leaf(WORDS, WIDTH), "blocks": block() if stack else [block() for _ in range(LAYERS)]}
    return result if "tied weights" in names else {**result, "head": leaf(WIDTH, WORDS)}


def rms_norm(scale, x):
    wide = x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x
    return (wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def batch_axes(names):
    replica = ("replica",) if "HSDP" in names else ()
    return (*replica, "data", "expert") if "expert" in names else (*replica, "data")


def places_of(names):
    """Constraints on both sides of the all-to-alls of Ulysses and of experts."""
    batch, specs = batch_axes(names), {}
    tensor = ("tensor",) if names & {"tensor", "sequence"} else ()
    if "Ulysses" in names:
        specs["tokens"] = (batch, tensor or None, "seq", None)
        specs["heads"] = (batch, (*tensor, "seq"), None, None)
    if "expert" in names:
        specs["groups"] = (None, batch, None, None)
        specs["slots"] = ("expert", batch[:-1], None, None)
    return models.Places(**specs)


def apply_block(x, p, place):
    y = rms_norm(p["scale1"], x)
    split = lambda z: z.reshape(*z.shape[:2], HEADS, -1).swapaxes(1, 2)
    q, k, v = (place("heads", place("tokens", split(z))) for z in jnp.split(y @ p["qkv"], 3, axis=-1))
    scores = (q @ k.swapaxes(-1, -2)).astype(jnp.float32) * (WIDTH // HEADS) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((SEQ, SEQ), bool)), scores, -1e9)
    y = place("tokens", place("heads", jax.nn.softmax(scores, -1).astype(x.dtype) @ v))
    x = x + y.swapaxes(1, 2).reshape(x.shape) @ p["proj"]
    if "router" in p:
        return x + models.experts_mlp(EXPERTS, place, p, rms_norm(p["scale2"], x))
    return x + jax.nn.gelu(rms_norm(p["scale2"], x) @ p["in"]) @ p["out"]


@functools.cache
def text_of(names):
    """The loss, in the forms of the model that are named."""
    place = places_of(names)

    def pair_loss(params, tokens, targets):
        x = params["embed"][tokens % WORDS]
        if "loop over layers" in names:
            x, _ = jax.lax.scan(lambda x, p: (apply_block(x, p, place), None), x, params["blocks"])
        else:
            for p in params["blocks"]:
                x = apply_block(x, p, place)
        head = params["embed"].T if "tied weights" in names else params["head"]
        log_p = jax.nn.log_softmax((x @ head).astype(jnp.float32), -1)
        return -jnp.mean(jnp.take_along_axis(log_p, (targets % WORDS)[..., None], -1))

    ids = jax.ShapeDtypeStruct((BATCH, SEQ), jnp.int32)
    return make_gpt.text_of(pair_loss, parameters_of(names), ids, ids)


def write_model(names, path):
    if "ONNX input" not in names:
        forms = {"tied weights", "loop over layers", "bf16", "Ulysses", "expert"} & names
        places = {"HSDP", "tensor", "sequence"} & names if forms & {"Ulysses", "expert"} else set()
        path.write_text(text_of(frozenset(forms | places)), encoding="utf-8")
        return
    shapes = {name: x.shape for name, x in make_gpt.state_names(parameters_of(names))}
    sizes = {"layers": LAYERS, "width": WIDTH, "heads": HEADS, "seq": SEQ, "batch": BATCH, "words": WORDS}
    sizes |= {"experts": EXPERTS.experts, "capacity": EXPERTS.capacity, "devices": 2}
    # The dimension that both devices of the pair's one axis split.
    places = {"tokens": 2, "heads": 1} if "Ulysses" in names else {}
    places |= {"groups": 1, "slots": 0} if "expert" in names else {}
    pairs_onnx.write(path, shapes, sizes, "bf16" in names, "loop over layers" in names, places)


# --- The configuration -------------------------------------------------------


def used(name, shape, names):
    """The layout in use: pairs by columns and rows, the vocabulary."""
    dims = [[] for _ in shape]
    last = name.split(".")[-1]
    if names & {"tensor", "sequence"} and last in ("qkv", "in", "up"):
        dims[-1] = ["tensor"]
    if names & {"tensor", "sequence"} and last in ("proj", "out", "down"):
        dims[-2] = ["tensor"]
    if "expert" in names and last in ("up", "down"):
        dims[-3] = ["expert"]
    if "vocabulary" in names and last in ("embed", "head"):
        dims[0 if last == "embed" else -1] = ["tensor"]
    return dims


def split(dims, shape):
    """Over data too, in the last dim that is divided evenly: the first may be a stack of layers."""
    for d in reversed(range(len(shape))):
        if shape[d] % 2 ** (len(dims[d]) + 1) == 0:
            return [each + ["data"] if i == d else each for i, each in enumerate(dims)]
    return dims


def row_of(name, shape, names):
    dims = used(name, shape, names)
    spread = split(dims, shape)
    # Axes that split inputs too are gathered where no use is said.
    row = {"rest": dims, "use": dims} if "sequence" in names else {"rest": dims}
    if "ZeRO-1" in names:
        row["optimizer"] = spread
    elif "ZeRO-2" in names:
        row |= {"gradient": spread, "optimizer": spread}
    elif "ZeRO-3" in names or "HSDP" in names:
        row = {"rest": spread, "use": dims, "gradient": spread}
    elif "FSDP by annotations" in names:
        row["rest"] = spread
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in row.items())
    return f'[[layout]]\nmatch = "{name}"\n{lines}'


# The weights of an ONNX file lie in the file.
DRAWS = '[[init]]\nmatch = "*scale*"\ndraw = "ones"\n[[init]]\nmatch = "*"\ndraw = "normal"\nstd = 0.2\n'


def configuration(names, features):
    corpus = json.dumps(str(CORPUS))
    sequence = ["tensor"] if "sequence" in names else []
    sequence += ["seq"] if names & {"context", "Ulysses"} else []
    schedule = next((f.schedule for f in features if f.schedule), "1f1b")
    parts = [
        f'[mesh]\naxes = {json.dumps(AXES)}\npipeline = "pipe"\n[data]\nfile = {corpus}\ndtype = "u8"\n',
        "[data.inputs]\ntokens = 0\ntargets = 1\n",
        "" if "ONNX input" in names else DRAWS,
        f'[[layout]]\ninput = "*"\ndims = {json.dumps([batch_axes(names), sequence])}\n',
        *(row_of(name, x.shape, names) for name, x in make_gpt.state_names(parameters_of(names))),
        f'[pipeline]\nschedule = "{schedule}"\n' + ("chunks = 2\n" if schedule == "interleaved" else ""),
        f"[training]\nmicrobatches = {microbatches(features)}\nseed = 1\n",
    ]
    parts += [f'precision = "{name.split()[0]}"\n' for name in names & {"f64", *CONTRACTIONS}]
    parts += ['recompute = "all"\n'] if "recomputation" in names else []
    parts += ["max_norm = 0.3\n"] if "clipping" in names else []
    return "".join(parts) + '[optimizer]\nname = "adamw"\nlr = 1e-2\neps = 1e-4\n'


def microbatches(features):
    return 4 if any(f.schedule or f.kind == "accumulation" for f in features) else 1


# --- Training ----------------------------------------------------------------


def bar_of(names):
    if {"expert", "bf16"} <= names:
        return EXPERTS_IN_BF16
    return next((bar for name, bar in {**BARS, **MORE_BARS}.items() if name in names), BARS["f32"])


class Trainer:
    def __init__(self, llmc, out):
        self.llmc, self.out = llmc, out
        self.ones = {}

    def train(self, folder, names, features, mesh):
        """Rows of (loss, norm), or the error."""
        folder.mkdir(parents=True, exist_ok=True)
        model = folder / ("model.onnx" if "ONNX input" in names else "model.mlir")
        write_model(names, model)
        (folder / "config.toml").write_text(configuration(names, features), encoding="utf-8")
        given = [model, "--config", folder / "config.toml", *(["--mesh", mesh] if mesh else [])]
        steps = ["--threads", 1, "--steps", 3, "--log", folder / "log.jsonl"]
        commands = [[self.llmc, "train", *given, *steps]]
        if "processes" in names:
            # The weights of an ONNX file lie outside of the plan.
            run = [f"{self.llmc}-run", folder / "plan", "--data", CORPUS, "--trust-kernels", *steps]
            commands = [
                [self.llmc, "compile", *given, "-o", folder / "plan"],
                [self.llmc, "launch", "-n", 2, "--", *run],
            ]
        for command in commands:
            process = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            if process.returncode:
                return process.stderr.strip().splitlines()[-1]
        rows = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        return [(row["loss"], row["grad_norm"]) for row in rows if "loss" in row]

    def one(self, names, features):
        """One device with the same model and step."""
        forms = {"tied weights", "loop over layers", "expert", "bf16", "f64", "clipping", "ONNX input"}
        kept = (forms | set(CONTRACTIONS)) & names
        key = (tuple(sorted(kept)), microbatches(features))
        if key not in self.ones:
            some = (Feature("accumulation", "accumulation"),) if key[1] > 1 else ()
            folder = self.out / ("one-" + "-".join([*key[0], str(key[1])]).replace(" ", "_"))
            self.ones[key] = self.train(folder, kept, some, "")
        return self.ones[key]

    def judge(self, features):
        """The error, or None."""
        names = {f.name for f in features}
        axes = sorted({axis for f in features for axis in f.axes})
        folder = self.out / "+".join(f.name.replace(" ", "_") for f in features)
        found = self.train(folder, names, features, ",".join(f"{axis}=2" for axis in axes))
        wanted = self.one(names, features)
        if isinstance(found, str) or isinstance(wanted, str):
            return found if isinstance(found, str) else wanted
        bar = bar_of(names)
        apart = max(abs(x / y - 1) for a, b in zip(found, wanted) for x, y in zip(a, b))
        if len(found) != 3 or not apart <= bar or not all(math.isfinite(x) for row in found for x in row):
            return f"{apart:.1e} apart (bar {bar:.0e})"
        return None


def reason_of(pair):
    return REASONS[pair[0].kind] if pair[0].kind == pair[1].kind else None


# --- The table ---------------------------------------------------------------


def page(verdicts):
    """docs/composition.md of (name, name) -> None, a reason or an error."""
    reasons = list(dict.fromkeys(REASONS.values()))
    head = "| | " + " | ".join(str(i + 1) for i in range(len(FEATURES))) + " |"
    lines = [head, "|---" * (len(FEATURES) + 1) + "|"]
    for i, row in enumerate(FEATURES):
        cells = []
        for j, column in enumerate(FEATURES):
            verdict = verdicts.get((min(i, j), max(i, j)))
            cells.append("" if i == j else "✓" if verdict is None else "abcdef"[reasons.index(verdict)] if verdict in reasons else "✗")
        lines.append(f"| {i + 1} {row.name} | " + " | ".join(cells) + " |")
    trained = sum(verdict is None for verdict in verdicts.values())
    notes = "\n".join(f"- **{'abcdef'[i]}**: {reason}." for i, reason in enumerate(reasons))
    return (
        "# What composes with what\n\n"
        "Written by `test/EndToEnd/pairs.py --update`; do not edit. A small GPT (4 layers, 8 samples) is trained for three "
        "steps with each pair of features, on the union of their meshes with two devices on each axis (processes: two, each with half of the devices). ✓: losses and "
        f"gradient norms are those of one device ({', '.join(f'{name} {bar:.0e}' for name, bar in BARS.items())}; experts in bf16 {EXPERTS_IN_BF16:.0e}). {trained} of {len(verdicts)} pairs are trained; the others have a letter:\n\n"
        f"{notes}\n\n" + "\n".join(lines) + "\n"
    )


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    for flag, text in ("--update", "write the page"), ("--sets", "several pairs by one training"):
        p.add_argument(flag, action="store_true", help=text)
    p.add_argument("--every", type=int, default=1, help="of the trainings of sets each so many'th alone")
    p.add_argument("--only", help="pairs with this feature alone")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("page", type=pathlib.Path)
    a = p.parse_args()
    if a.update and a.every > 1:
        p.error("expected all trainings before the page is written, got --every")
    trainer = Trainer(os.path.abspath(shutil.which(a.llmc) or a.llmc), pathlib.Path(a.output))
    features = FEATURES + tuple(f for f in MORE if f.name == a.only)
    pairs = [
        (i, j)
        for i, j in itertools.combinations(range(len(features)), 2)
        if a.only in (None, features[i].name, features[j].name)
    ]
    verdicts = {(i, j): reason_of((features[i], features[j])) for i, j in pairs}
    to_train = [pair for pair, reason in verdicts.items() if not reason]
    if a.sets:
        numbers = {f.name: i for i, f in enumerate(features)}
        judge = lambda names: trainer.judge([f for f in features if f.name in names])
        found, trainings = pair_sets.judge_sets([(features[i].name, features[j].name) for i, j in to_train], judge, a.every)
        judged = {(numbers[x], numbers[y]): verdict for (x, y), verdict in found.items()}
        print(f"{trainings} trainings")
    else:
        judged = {(i, j): trainer.judge((features[i], features[j])) for i, j in to_train}
    verdicts |= judged
    bad = {pair: verdict for pair, verdict in verdicts.items() if verdict and verdict not in REASONS.values()}
    for (i, j), verdict in bad.items():
        print(f"FAILED  {features[i].name} + {features[j].name}: {verdict}")
    if a.update:
        a.page.write_text(page(verdicts), encoding="utf-8")
    elif not a.only and a.page.read_text(encoding="utf-8") != page(verdicts):
        sys.exit(f"error: expected {a.page} as pairs.py writes it, got another table: run it with --update")
    print(f"{len(pairs)} pairs, {sum(verdict is None for verdict in judged.values())} trained, {len(bad)} failed")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
