# ===- numbered_files.py - Faults of plans, checkpoints and data --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Faults 24, 28, 30, 32, 33 and 34 of docs/refusals.md, by the command line.

    python numbered_files.py BIN FOLDER [NUMBER ...]
"""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

import numpy as np

from numbered import fault, run_all

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TINY, GPT, CORPUS = HERE / "Inputs" / "gpt-tiny.mlir", ROOT / "examples/gpt/gpt.toml", ROOT / "examples/gpt/corpus.bin"
MLP = HERE / "Inputs" / "mlp.mlir"
ARRAYS = ('[data.x]\nkind = "array"\nfile = "x.npy"\n[data.y]\nkind = "array"\nfile = "y.npy"\n'
          '[[init]]\nmatch = "*"\ndraw = "normal"\n')


@fault(24)
def broken_plans(runs):
    """Plans that are cut, changed in any region, or of another version."""
    runs.good("llmc", "compile", TINY, "--config", GPT, "-o", "plan")
    file = runs.out / "plan/plan.llmc"
    whole = file.read_bytes()
    read = ["llmc-run", "plan", "--inspect"]
    for name, bad in (("empty", b""), ("another magic", b"X" + whole[1:]), ("a text", b"plan\n" * 100)):
        file.write_bytes(bad)
        runs.ends(name, read, 3, "malformed plan")
    for i in range(16):
        file.write_bytes(whole[: len(whole) * i // 16])
        runs.ends(f"cut at {i}/16", read, 3)
    dice = random.Random(2)
    for i in range(32):
        bad = bytearray(whole)
        bad[len(whole) * i // 32 + dice.randrange(len(whole) // 32)] ^= 1 << dice.randrange(8)
        file.write_bytes(bad)
        runs.ends(f"a bit of part {i}", read, (3, 15))
    for offset in (4, 8):
        if (version := struct.unpack_from("<I", whole, offset)[0]) < 100:
            file.write_bytes(whole[:offset] + struct.pack("<I", version + 1) + whole[offset + 4:])
            runs.ends("a newer version", read, (3, 15), rf"{version + 1}|checksum")


def stored(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@fault(28)
def broken_safetensors(runs):
    """Headers of safetensors that are too long, no JSON, contradict the data or each other."""
    f32 = lambda begin, end, shape=(2,): {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    cases = {
        "less than 8 bytes": b"1234", "a length of 2^64 - 1": b"\xff" * 8 + b"{}", "a length of 100 MB": struct.pack("<Q", 10**8 + 1) + b"{}",
        "beyond the file": struct.pack("<Q", 50) + b"{}", "no object": stored(b"[1]"), "no UTF-8": stored(b'{"\xff": 1}'),
        "no JSON": stored(b'{"a": }'), "deep": stored(b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}"),
        "a key twice": stored(b'{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}, "a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}}', bytes(8)),
        "a float offset": stored({"a": f32(0.5, 8)}, bytes(8)), "a negative one": stored({"a": f32(-8, 0)}, bytes(8)),
        "1e400": stored(b'{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,1e400]}}', bytes(8)), "turned": stored({"a": f32(8, 0)}, bytes(8)),
        "an overlap": stored({"a": f32(0, 8), "b": f32(4, 12)}, bytes(12)), "a hole": stored({"a": f32(0, 8), "b": f32(12, 20)}, bytes(20)),
        "bytes at the end": stored({"a": f32(0, 8)}, bytes(9)), "another span": stored({"a": f32(0, 4)}, bytes(4)),
        "an overflow": stored({"a": f32(0, 8, (2**62, 4))}, bytes(8)), "an unknown type": stored({"a": {**f32(0, 8), "dtype": "F9"}}, bytes(8)),
        "metadata of no text": stored({"__metadata__": {"a": 1}, "a": f32(0, 8)}, bytes(8)),
        "many entries on one span": stored({f"a{i}": f32(0, 8) for i in range(20_000)}, bytes(8)),
    }
    for name, data in cases.items():
        (runs.out / "w.safetensors").write_bytes(data)
        runs.ends(name, ["llmc", "train", TINY, "--config", GPT, "--steps", "1", "--weights", "w.safetensors"], 3, r"w\.safetensors: ")


@fault(30)
def damaged_checkpoints(runs):
    """Checkpoints of which a file is missing, cut, changed or of another step."""
    base = runs.out / "base"
    train = ["llmc", "train", TINY, "--config", GPT, "--threads", "1"]
    runs.good(*train, "--steps", "4", "--checkpoint", "base", "--checkpoint-every", "2")
    first, last = sorted(base.glob("step-*"))
    tensors = next(last.glob("*.safetensors")).name
    manifest = next(path.name for path in last.iterdir() if path.name.endswith(".json"))

    def missing(folder):
        (folder / tensors).unlink()

    def cut(folder):
        path = folder / tensors
        path.write_bytes(path.read_bytes()[:-100])

    def turned(folder):
        path = folder / tensors
        data = bytearray(path.read_bytes())
        data[-5] ^= 4
        path.write_bytes(data)

    def other_step(folder):
        shutil.copy(folder.parent / first.name / tensors, folder / tensors)

    def no_manifest(folder):
        (folder / manifest).unlink()

    def changed_manifest(folder):
        path = folder / manifest
        path.write_bytes(path.read_bytes().replace(b'"', b"'", 1))

    for damage in (missing, cut, turned, other_step, no_manifest, changed_manifest):
        place = runs.out / damage.__name__
        shutil.copytree(base, place)
        damage(place / last.name)
        runs.count += 1
        done = runs.finish(*train, "--steps", "5", "--checkpoint", place.name, "--resume")
        # The one before it is whole.
        if done.returncode or f"resumed: {place.name}/{first.name}".encode() not in done.stdout:
            runs.fail(damage.__name__, done.stdout[-300:] + done.stderr[-300:])
        both = runs.out / f"{damage.__name__}-both"
        shutil.copytree(base, both)
        for step in (first.name, last.name):
            if not (damage is other_step and step == first.name):
                damage(both / step)
        if damage is not other_step:
            runs.ends(f"{damage.__name__}, both", [*train, "--steps", "5", "--checkpoint", both.name, "--resume"], 14)


@fault(32)
def many_resumes(runs):
    """Three resumes in one epoch: figures, samples and states of a run that was left alone."""
    g = np.random.default_rng(0)
    for name, size in (("x", 6), ("y", 3)):
        np.save(runs.out / f"{name}.npy", g.standard_normal((40, size)).astype(np.float32))
    (runs.out / "c.toml").write_text(ARRAYS, encoding="utf-8")
    train = ["llmc", "train", MLP, "--config", "c.toml", "--threads", "1", "--fetch", "x,layers.*"]
    runs.good(*train, "--steps", "9", "--dump", "alone", "--log", "alone.jsonl")
    for steps in (2, 4, 7, 9):
        runs.good(*train, "--steps", steps, "--checkpoint", "out", "--dump", "resumed", "--log", "resumed.jsonl",
                  *(["--resume"] if steps > 2 else []))
    read = lambda name: [json.loads(line) for line in (runs.out / name).read_text(encoding="utf-8").splitlines()]
    figures = lambda name: [(row["step"], row["loss"], row["grad_norm"]) for row in read(name) if "loss" in row]
    if figures("alone.jsonl") != figures("resumed.jsonl"):
        runs.fail("losses and norms", (figures("alone.jsonl"), figures("resumed.jsonl")))
    for file in sorted((runs.out / "alone").iterdir()):
        if file.read_bytes() != (runs.out / "resumed" / file.name).read_bytes():
            runs.fail("values after the last step", file.name)
    # The input, and four parameters with two states each.
    if len(list((runs.out / "alone").iterdir())) != 13:
        runs.fail("values", os.listdir(runs.out / "alone"))


@fault(33)
def two_runs(runs):
    """Two runs in one folder: the second says who holds it."""
    train = ["llmc", "train", TINY, "--config", GPT, "--threads", "1", "--checkpoint", "out"]
    command = runs.command([*train, "--steps", "1000000"])
    first = subprocess.Popen(command, cwd=runs.out, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    for line in first.stdout:
        if line.startswith("step: 2 "):
            break
    runs.ends("the second", [*train, "--steps", "3"], (2, 14), rf"process {first.pid}|--resume")
    runs.ends("the second, resumed", [*train, "--steps", "3", "--resume"], 14, rf"process {first.pid}")
    first.kill()
    first.communicate()


@fault(34)
def bad_data(runs):
    """Tokens and arrays that are cut, too large, empty, lie about themselves, or shrink."""
    corpus = CORPUS.read_bytes()
    (runs.out / "odd.bin").write_bytes(corpus[:1001])
    (runs.out / "wide.bin").write_bytes(b"\xff\xff" * 600)
    (runs.out / "empty.bin").touch()
    header = lambda text, length=None: b"\x93NUMPY\x01\0" + struct.pack("<H", length or len(text)) + text.encode() + bytes(64)
    npy = {
        "objects": header("{'descr': '|O', 'fortran_order': False, 'shape': (8,), }\n"),
        "long": header("{'descr': '<i4', 'fortran_order': False, 'shape': (8,), }\n", 65535),
        "more": header("{'descr': '<i4', 'fortran_order': False, 'shape': (100,), }\n"),
        "huge": header("{'descr': '<i4', 'fortran_order': False, 'shape': (4611686018427387904, 8), }\n"),
        "negative": header("{'descr': '<i4', 'fortran_order': False, 'shape': (-8,), }\n"),
    }
    train = ["llmc", "train", TINY, "--config", GPT, "--steps", "2"]
    runs.ends("an odd number of bytes", [*train, "--data", "odd.bin", "--data-type", "u16"], 3, "a multiple of 2 bytes")
    runs.ends("beyond the vocabulary", [*train, "--data", "wide.bin", "--data-type", "u16"], 3, r"numbers below \d+ at token \d+, got 65535")
    runs.ends("empty", [*train, "--data", "empty.bin"], 3, "got an empty file")
    for name, data in npy.items():
        (runs.out / f"{name}.npy").write_bytes(data)
        runs.ends(name, [*train, "--data", f"{name}.npy"], 3, rf"{name}\.npy: ")
    (runs.out / "shrinks.bin").write_bytes(corpus)
    command = runs.command([*train[:-1], "100000", "--data", "shrinks.bin"])
    process = subprocess.Popen(command, cwd=runs.out, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("step: 2 "):
            break
    os.truncate(runs.out / "shrinks.bin", 5)
    _, said = process.communicate(timeout=60)
    runs.count += 1
    if process.returncode != 3 or "shrinks.bin" not in said:
        runs.fail("a file that shrinks", (process.returncode, said[-300:]))


if __name__ == "__main__":
    run_all(sys.argv[1], sys.argv[2], [int(word) for word in sys.argv[3:]] or None)
