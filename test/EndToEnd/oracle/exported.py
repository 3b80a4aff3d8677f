#!/usr/bin/env python3
# ===- exported.py - Exported weights in JAX and numpy -----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains a small GPT on four devices, exports it, and computes its logits from the file in JAX.

    python exported.py --llmc build/dev/bin/llmc --examples examples -o out

- the logits of JAX with the exported weights, and of llmc with the checkpoint as --weights, on one device and on a
  mesh: at most 1e-5 apart
- the loss of the next step of the resumed run, and of JAX: the same bar
- a file of another model's names loads by [[weights]], bit by bit; what is missing, extra and of another shape is
  listed in one line
- where the safetensors package is installed it loads the file too, and where PyTorch is, a model in PyTorch gives the same
  logits: the same bar
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys

import jax
import numpy as np

BAR = 1e-5
CONFIG = dict(layers=2, d=32, heads=2, seq=16, batch=4, vocab=256)
TYPES = {"F32": np.float32, "F64": np.float64, "I32": np.int32}


def read(path):
    """The tensors of a safetensors file, by the published format."""
    data = path.read_bytes()
    size = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:size])
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    return {name: np.frombuffer(data[size + e["data_offsets"][0] : size + e["data_offsets"][1]],
                                TYPES[e["dtype"]]).reshape(e["shape"]) for name, e in entries.items()}


def write(path, tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


class Oracle:
    def __init__(self, a):
        self.llmc, self.out, self.failed = a.llmc, a.out, 0
        sys.path.insert(0, str(a.examples / "gpt"))
        import make_gpt

        self.gpt, self.size = make_gpt, make_gpt.Config(**CONFIG)
        self.shapes = make_gpt.parameter_shapes(self.size)
        self.config = a.out / "gpt.toml"
        corpus = json.dumps(str((a.examples / "gpt/corpus.bin").resolve()))
        self.config.write_text((a.examples / "gpt/gpt.toml").read_text().replace('"corpus.bin"', corpus))
        tokens = jax.ShapeDtypeStruct((self.size.batch, self.size.seq), "int32")
        self.model, self.logits = a.out / "gpt.mlir", a.out / "logits.mlir"
        forward = lambda params, tokens: {"logits": make_gpt.forward(params, tokens, self.size.heads)}
        loss = make_gpt.loss_function(self.size)
        self.model.write_text(jax.jit(loss).lower(self.shapes, tokens, tokens).as_text(debug_info=True))
        self.logits.write_text(jax.jit(forward).lower(self.shapes, tokens).as_text(debug_info=True))

    def run(self, *command, code=0):
        done = subprocess.run([str(self.llmc), *map(str, command)], capture_output=True, text=True)
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def train(self, model, *flags, code=0):
        config = self.config
        if model == self.logits:  # It has no targets.
            config = self.out / "logits.toml"
            config.write_text(self.config.read_text().replace("targets = 1", ""))
        return self.run("train", model, "--config", config, *flags, code=code)

    def judge(self, what, good, said):
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'}  {what}: {said}")

    def tree(self, tensors):
        """The parameters as the model of JAX wants them."""
        names = [name for name, _ in self.gpt.state_names(self.shapes)]
        assert sorted(names) == sorted(tensors), sorted(set(names) ^ set(tensors))
        structure = jax.tree_util.tree_structure(self.shapes)
        return jax.tree_util.tree_unflatten(structure, [tensors[name] for name in names])


def compare(oracle, folder, file):
    tensors = read(file)
    params = oracle.tree(tensors)
    for mesh in ("data=1", "data=2,tensor=2"):
        dump = oracle.out / "logits"
        oracle.train(oracle.logits, "--entry", "forward", "--mesh", mesh, "--weights", folder, "--steps", 1, "--fetch",
                     "tokens,logits", "--dump", dump)
        tokens = np.load(dump / "tokens.npy" if (dump / "tokens.npy").exists() else dump / "tokens.0.npy")
        ours = np.load(next(dump.glob("logits*.npy")))
        theirs = np.asarray(oracle.gpt.forward(params, tokens, oracle.size.heads))
        far = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        oracle.judge(f"logits on {mesh}", far <= BAR and np.abs(theirs).max() > 0.1, f"distance {far:.1e}, bar {BAR:.0e}")
    dump = oracle.out / "next"
    done = oracle.train(oracle.model, "--checkpoint", folder, "--resume", "--steps", 13, "--log", oracle.out / "log",
                        "--fetch", "tokens,targets", "--dump", dump)
    loss = json.loads((oracle.out / "log").read_text())["loss"]
    batch = [np.load(next(dump.glob(name + "*.npy"))) for name in ("tokens", "targets")]
    theirs = float(oracle.gpt.loss(params, *batch, oracle.size.heads))
    far = abs(loss - theirs) / theirs
    oracle.judge("loss of the next step", far <= BAR, f"distance {far:.1e}, bar {BAR:.0e}")
    return tensors


def rename(name):
    return name.replace("blocks.", "h.").replace(".attn.qkv.w", ".attn.c_attn.weight")


def map_names(oracle, tensors):
    """Another model's names, and a file in which something is wrong."""
    other = oracle.out / "other.safetensors"
    write(other, {rename(name): value for name, value in tensors.items()})
    with oracle.config.open("a") as file:
        file.write('\n[[weights]]\nmatch = "blocks.*.attn.qkv.w"\nname = "h.*.attn.c_attn.weight"\n'
                   '[[weights]]\nmatch = "blocks.*"\nname = "h.*"\n')
    dump = oracle.out / "mapped"
    oracle.train(oracle.model, "--weights", other, "--steps", 0, "--fetch", ",".join(tensors), "--dump", dump, "--mesh", "tensor=2")
    equal = all(np.array_equal(np.load(dump / f"{name}.npy"), value) for name, value in tensors.items())
    oracle.judge("another model's names", equal, f"{len(tensors)} tensors")
    wrong = {rename(name): value for name, value in tensors.items()}
    del wrong["wte"]
    wrong["h.1.ln1.scale"] = np.zeros((3, 4), np.float32)
    wrong["rotary"] = np.zeros(2, np.float32)
    write(other, wrong)
    line = oracle.train(oracle.model, "--weights", other, code=3).stderr.strip()
    parts = ("expected a tensor 'wte', got none of that name", "expected 'h.1.ln1.scale' to have the shape of "
             "tensor<32xf32>, got [3, 4]", "no state takes 'rotary'")
    oracle.judge("what does not fit", all(part in line for part in parts) and "\n" not in line, line.replace(str(oracle.out), "out"))


def load_elsewhere(oracle, file, tensors):
    if importlib.util.find_spec("safetensors") is None:
        print("no safetensors package: left out")
        return
    from safetensors.numpy import load_file

    theirs = load_file(file)
    same = theirs.keys() == tensors.keys() and all(np.array_equal(theirs[n], tensors[n]) for n in tensors)
    oracle.judge("the safetensors package", same, f"{len(theirs)} tensors")
    if importlib.util.find_spec("torch") is None:
        print("no PyTorch: left out")
        return
    dump = oracle.out / "logits"
    tokens, ours = (np.load(next(dump.glob(name + "*.npy"))) for name in ("tokens", "logits"))
    theirs = torch_logits(file, tokens, oracle.size)
    far = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    oracle.judge("logits in PyTorch", far <= BAR, f"distance {far:.1e}, bar {BAR:.0e}")


def torch_logits(file, tokens, size):
    """The model by PyTorch's own functions; its linear layers keep the transposes of JAX's weights."""
    import torch
    from safetensors.torch import load_file
    from torch.nn import functional

    p = load_file(file)
    linear = lambda name, x: functional.linear(x, p[name + ".w"].T, p[name + ".b"])
    norm = lambda name, x: functional.layer_norm(x, (size.d,), p[name + ".scale"], p[name + ".bias"], 1e-5)
    split = lambda x: x.unflatten(-1, (size.heads, -1)).transpose(1, 2)
    x = p["wte"][torch.from_numpy(tokens).long()] + p["wpe"]
    for i in range(size.layers):
        q, k, v = (split(y) for y in linear(f"blocks.{i}.attn.qkv", norm(f"blocks.{i}.ln1", x)).chunk(3, -1))
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + linear(f"blocks.{i}.attn.proj", heads)
        inner = functional.gelu(linear(f"blocks.{i}.mlp.in", norm(f"blocks.{i}.ln2", x)), approximate="tanh")
        x = x + linear(f"blocks.{i}.mlp.out", inner)
    return (norm("ln_f", x) @ p["wte"].T).numpy()


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--llmc", "--examples"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    oracle = Oracle(a)
    folder, file = a.out / "checkpoints", a.out / "weights.safetensors"
    oracle.train(oracle.model, "--steps", 12, "--checkpoint", folder, "--mesh", "data=2,tensor=2")
    oracle.run("export", folder, "-o", file)
    tensors = compare(oracle, folder, file)
    load_elsewhere(oracle, file, tensors)
    map_names(oracle, tensors)
    return 1 if oracle.failed else 0


if __name__ == "__main__":
    sys.exit(main())
