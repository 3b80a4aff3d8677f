#!/usr/bin/env python3
# ===- readers.py - libFuzzer on all readers of files ---------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs the libFuzzer programs of a build, each for some seconds, from files of the tree.

What an input reached is kept in the output folder, so that a run goes on where the
one before ended. An input that fails is printed and lies there too.

    python readers.py --build build/fuzz --compiler build/dev/bin/llmc -o out --seconds 300

The last line is "N inputs to 5 readers, F faults".
"""

import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS = SOURCE / "test/EndToEnd/Inputs"
SMALL = 40_000  # bytes: a larger seed is slow to vary


def arrays():
    """Headers of .npy and safetensors files."""
    for version, length in ((1, "<H"), (2, "<I")):
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n"
        yield b"\x93NUMPY" + bytes([version, 0]) + struct.pack(length, len(text)) + text + bytes(48)
    text = b'{"__metadata__": {"a": "b"}, "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}'
    yield struct.pack("<Q", len(text)) + text + bytes(24)


def manifest():
    """Of a checkpoint; its checksum comes last and is another's."""
    yield (b'{"format": "llmc-checkpoint", "format_version": 1, "llmc": "0.1.0", "step": 2, "entry": "train", '
           b'"data_position": {"step": 2, "seed": 1}, "mesh": "data=2", "plan": "87236c520e10e561", '
           b'"metrics": {"loss": 5.25}, "files": [{"name": "process-00000.safetensors", "bytes": 96, '
           b'"xxh3": "8199bad53acc2ff7"}], "tensors": [{"name": "w.m", "dtype": "f32", "shape": [2, 3], '
           b'"role": "optimizer", "of": "w"}], "checksum": "0000000000000000"}')


def onnx_models():
    """Files of PyTorch, and some of the public tests of backends, where they are installed."""
    tests = pathlib.Path("/usr/share/libonnx-testdata/data")
    for path in sorted([*(SOURCE / "test/EndToEnd").rglob("*.onnx"), *tests.glob("*/*/model.onnx")]):
        if path.stat().st_size < SMALL:
            yield path.read_bytes()


def plans(a):
    for name, mesh in (("one", ""), ("four", "pipe=2,data=2")):
        folder = a.output / "compiled" / name
        subprocess.run([a.compiler, "compile", INPUTS / "walkthrough.mlir", "--config", INPUTS / "walkthrough.toml",
                        "--threads", "1", *(("--mesh", mesh) if mesh else ()), "-o", folder],
                       check=True, stdout=subprocess.DEVNULL)
        yield (folder / "plan.llmc").read_bytes()


def texts(pattern):
    for path in sorted([*INPUTS.glob(pattern), *(SOURCE / "examples").rglob(pattern)]):
        if path.stat().st_size < SMALL:
            yield path.read_bytes()


def pieces():
    """The texts that tests of the import and of annotations put together in files."""
    for folder in ("test/Import/StableHLO", "test/Dialect/Sdy"):
        for path in sorted((SOURCE / folder).glob("*.mlir")):
            for text in re.split(r"^//(?:---| -----).*$", path.read_text(), flags=re.MULTILINE):
                if "func.func" in text and len(text) < SMALL:
                    yield text.encode()


def run(a, name, seeds, inputs=0):
    """(inputs tried, faults) of one reader; with `inputs` it stops after so many, and not by time."""
    folder, given = a.output / name, a.output / f"{name}.seeds"
    folder.mkdir(parents=True, exist_ok=True)
    given.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds):
        (given / str(i)).write_bytes(seed)
    command = [a.build / "bin" / f"llmc-fuzz-{name}", f"-max_total_time={0 if inputs else a.seconds}",
               f"-runs={inputs or -1}", f"-timeout={a.limit}",
               f"-rss_limit_mb={a.memory}", "-malloc_limit_mb=1024", "-print_final_stats=1", "-verbosity=0",
               f"-seed={a.seed}", f"-artifact_prefix={a.output}/{name}-", folder, given]
    process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace")
    tried = re.search(r"number_of_executed_units: *(\d+)", process.stdout)
    if process.returncode:
        print(process.stdout[-4000:])
    print(f"{name}: {tried.group(1) if tried else '?'} inputs, exit status {process.returncode}", flush=True)
    return int(tried.group(1)) if tried else 0, int(process.returncode != 0)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=pathlib.Path, required=True)
    p.add_argument("--compiler", type=pathlib.Path, required=True)
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    p.add_argument("--seconds", type=int, default=60, help="of each reader")
    p.add_argument("--models", type=int, default=0, help="so many models of each kind, however long that takes")
    p.add_argument("--only", type=lambda text: text.split(","), help="these readers")
    p.add_argument("--limit", type=int, default=20, help="seconds of one input, under sanitizers on a busy machine")
    p.add_argument("--memory", type=int, default=3000, help="MB of a process")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    readers = {"text": lambda: [*texts("*.mlir"), *pieces()], "config": lambda: texts("*.toml"), "plan": lambda: plans(a),
               "arrays": lambda: [*arrays(), *manifest()], "onnx": onnx_models}
    done = [run(a, name, seeds(), a.models if name in ("text", "onnx") else 0)
            for name, seeds in readers.items() if name in (a.only or readers)]
    faults = sum(f for _, f in done)
    print(f"{sum(n for n, _ in done)} inputs to {len(done)} readers, {faults} faults")
    sys.exit(faults > 0)


main()
