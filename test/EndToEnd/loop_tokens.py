# ===- loop_tokens.py - Labels that a loop reads ------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Language models whose blocks are a scan and whose loss is computed piece by piece of the
labels, in a scan over rows, in a loop with slices, and in a scan that carries them: a label
beyond the vocabulary is refused before the first step, and those below it are taken.

    python loop_tokens.py --llmc llmc -o out
"""

import argparse
import pathlib
import subprocess

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, ROWS, SEQUENCE, PIECES = 64, 16, 8, 8, 4
CONFIG = """[data.tokens]
kind = "array"
file = "tokens.npy"
[data.targets]
kind = "array"
file = "targets.npy"
[[init]]
std = 0.1
[training]
steps = 1
"""


def losses(h, head, targets):
    return -jnp.sum(jnp.take_along_axis(jax.nn.log_softmax(h @ head), targets[..., None], axis=-1))


def by_rows(x, head, targets):
    pieces = (x.reshape(PIECES, -1, WIDTH), targets.reshape(PIECES, -1))
    return jax.lax.scan(lambda total, e: (total + losses(e[0], head, e[1]), None), 0.0, pieces)[0]


def by_slices(x, head, targets):
    size = ROWS // PIECES
    part = lambda value, i: jax.lax.dynamic_slice_in_dim(value, size * i, size)
    return jax.lax.fori_loop(0, PIECES, lambda i, total: total + losses(part(x, i), head, part(targets, i)), 0.0)


def carried(x, head, targets):
    def piece(carry, part):
        total, labels = carry
        size = ROWS // PIECES
        return (total + losses(part, head, labels[:size]), jnp.roll(labels, -size, axis=0)), None

    return jax.lax.scan(piece, (0.0, targets), x.reshape(PIECES, ROWS // PIECES, SEQUENCE, WIDTH))[0][0]


def text_of(summed):
    def loss(params, tokens, targets):
        block = lambda x, w: (x + jnp.tanh(x @ w), None)
        x, _ = jax.lax.scan(block, params["embed"][tokens], params["blocks"])
        return summed(x, params["head"], targets) / (ROWS * SEQUENCE)

    leaf = lambda *dims: jax.ShapeDtypeStruct(dims, "float32")
    params = {"embed": leaf(VOCABULARY, WIDTH), "blocks": leaf(4, WIDTH, WIDTH), "head": leaf(WIDTH, VOCABULARY)}
    tokens = jax.ShapeDtypeStruct((ROWS, SEQUENCE), "int32")
    return jax.jit(loss).lower(params, tokens, tokens).as_text(debug_info=True)


def train(llmc, folder, name):
    command = [llmc, "train", f"{name}.mlir", "--config", "train.toml"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", required=True)
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    (args.folder / "train.toml").write_text(CONFIG, encoding="utf-8")
    tokens = np.random.default_rng(0).integers(0, VOCABULARY, (ROWS, SEQUENCE)).astype(np.int32)
    tokens[0, 0] = VOCABULARY - 1
    np.save(args.folder / "tokens.npy", tokens)
    models = (by_rows, by_slices, carried)
    for summed in models:
        name = summed.__name__
        (args.folder / f"{name}.mlir").write_text(text_of(summed), encoding="utf-8")
        np.save(args.folder / "targets.npy", tokens)
        good = train(args.llmc, args.folder, name)
        assert good.returncode == 0, (name, good.stderr)
        wrong = tokens.copy()
        wrong[5, 3] = VOCABULARY
        np.save(args.folder / "targets.npy", wrong)
        bad = train(args.llmc, args.folder, name)
        assert bad.returncode == 3, (name, bad)
        assert f"input 'targets': expected numbers below {VOCABULARY}" in bad.stderr, (name, bad.stderr)
    print(f"{len(models)} models: a wrong label is refused by each")


if __name__ == "__main__":
    main()
