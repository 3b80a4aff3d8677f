#!/usr/bin/env python3
# ===- optimizers.py - Optimizers against their formulas ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The shipped optimizers against their formulas, in Python's own doubles.

    optimizers.py --llmc llmc --out FOLDER

The loss is 3 * (sum q (w - a)^2 + sum r (u - b)^2), where 3 is the mean of a
corpus that holds nothing else, so the gradient is known. Losses, norms and
learning rates of each step and the parameters and moments after the last are
compared with the formulas of the papers to 1e-12 of their size: with and without
clipping, for each schedule of the learning rate and past its end, with constants
of the user's and the default ones, with several microbatches and split states.
"""

import argparse
import json
import math
import pathlib
import struct
import subprocess
import sys

STEPS, DATA = 8, 3.0
SHAPES = {"w": (6, 5), "u": (7,)}
TOLERANCE = 1e-12
DEFAULTS = {"beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.0, "momentum": 0.9}
MOMENTS = {"sgd": (), "momentum": ("v",), "adamw": ("m", "v")}

CASES = [
    {"name": "sgd", "lr": 0.2, "weight_decay": 0.1, "schedule": ("linear", 2, 6, 0.02), "clip": 1.5},
    {"name": "sgd", "lr": 0.1, "schedule": ("constant", 3, 0, 0.0), "clip": 0.0},
    {"name": "momentum", "lr": 0.05, "momentum": 0.7, "weight_decay": 0.03, "schedule": ("cosine", 2, 7, 0.01),
     "clip": 0.0, "microbatches": 2},
    {"name": "momentum", "lr": 0.05, "schedule": ("cosine", 0, 0, 0.0), "clip": 0.8, "mesh": "data=2"},
    {"name": "adamw", "lr": 0.04, "beta1": 0.8, "beta2": 0.97, "eps": 1e-3, "weight_decay": 0.2,
     "schedule": ("cosine", 1, 6, 0.004), "clip": 0.6},
    {"name": "adamw", "lr": 0.03, "schedule": ("linear", 0, 0, 0.0), "clip": 0.0},
    {"name": "adamw", "lr": 0.03, "weight_decay": 0.5, "schedule": ("constant", 0, 0, 0.0), "clip": 1e9,
     "mesh": "data=2", "microbatches": 2},
]


def values(name, what):
    count = math.prod(SHAPES[name])
    salt = len(name + what) + ord(what[0])
    return [math.sin(1.7 * i + salt) + (0.6 if what == "weight" else 0) for i in range(count)]


def weight(name):
    """Of each square: all positive, none equal."""
    return [0.02 + 0.01 * i for i in range(math.prod(SHAPES[name]))]


def literal(shape, numbers):
    if len(shape) == 1:
        return "[" + ", ".join(map(repr, numbers)) + "]"
    rows = [numbers[i:i + shape[1]] for i in range(0, len(numbers), shape[1])]
    return "[" + ", ".join(literal(shape[1:], row) for row in rows) + "]"


def text():
    lines = ["%zero = stablehlo.constant dense<0.0> : tensor<f64>",
             "%data = stablehlo.convert %x : (tensor<4x3xi32>) -> tensor<4x3xf64>",
             "%total = stablehlo.reduce(%data init: %zero) applies stablehlo.add across dimensions = [0, 1] : "
             "(tensor<4x3xf64>, tensor<f64>) -> tensor<f64>",
             "%count = stablehlo.constant dense<12.0> : tensor<f64>",
             "%mean = stablehlo.divide %total, %count : tensor<f64>"]
    for name, shape in SHAPES.items():
        kind = "tensor<" + "x".join(map(str, shape)) + "xf64>"
        dims = list(range(len(shape)))
        lines += [f"%a{name} = stablehlo.constant dense<{literal(shape, values(name, 'aim'))}> : {kind}",
                  f"%q{name} = stablehlo.constant dense<{literal(shape, weight(name))}> : {kind}",
                  f"%d{name} = stablehlo.subtract %{name}, %a{name} : {kind}",
                  f"%s{name} = stablehlo.multiply %d{name}, %d{name} : {kind}",
                  f"%p{name} = stablehlo.multiply %q{name}, %s{name} : {kind}",
                  f"%r{name} = stablehlo.reduce(%p{name} init: %zero) applies stablehlo.add across dimensions = {dims} : "
                  f"({kind}, tensor<f64>) -> tensor<f64>"]
    lines += ["%sum = stablehlo.add %rw, %ru : tensor<f64>", "%loss = stablehlo.multiply %mean, %sum : tensor<f64>"]
    arguments = ", ".join(f'%{name}: tensor<{"x".join(map(str, shape))}xf64> loc("{name}")'
                          for name, shape in SHAPES.items())
    return (f'module @loss {{\n  func.func public @main({arguments}, %x: tensor<4x3xi32> loc("x")) -> tensor<f64> {{\n    '
            + "\n    ".join(lines) + "\n    return %loss : tensor<f64>\n  }\n}\n")


def config(case):
    name, warmup, total, last = case["schedule"]
    constants = "".join(f"{key} = {case[key]!r}\n" for key in DEFAULTS if key in case)
    return f"""[mesh]
axes = ["data"]
[data]
file = "corpus.bin"
dtype = "u8"
inputs.x = 0
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "w"
rest = [["data"]]
[optimizer]
name = "{case["name"]}"
lr = {case["lr"]!r}
{constants}[schedule]
name = "{name}"
warmup_steps = {warmup}
decay_steps = {total}
min_lr = {last!r}
[training]
precision = "f64"
steps = {STEPS}
max_norm = {case["clip"]!r}
microbatches = {case.get("microbatches", 1)}
"""


def rate(case, step):
    name, warmup, total, last = case["schedule"]
    if step < warmup:
        return case["lr"] * (step + 1) / warmup
    if name == "constant":
        return case["lr"]
    part = min(1.0, (step - warmup) / ((total or STEPS) - warmup))
    share = 1 - part if name == "linear" else (1 + math.cos(math.pi * part)) / 2
    return last + (case["lr"] - last) * share


def expect(case):
    """Rows of (loss, norm, rate), and all states after the last step."""
    # Constants have the optimizer's type, f32, whatever the model's.
    c = {key: struct.unpack("f", struct.pack("f", case.get(key, value)))[0] for key, value in DEFAULTS.items()}
    p = {name: values(name, "weight") for name in SHAPES}
    moments = {f"{name}.{moment}": [0.0] * len(p[name]) for name in SHAPES for moment in MOMENTS[case["name"]]}
    rows = []
    for step in range(STEPS):
        lr = rate(case, step)
        loss, gradients = 0.0, {}
        for name in SHAPES:
            difference = [a - b for a, b in zip(p[name], values(name, "aim"))]
            loss += DATA * math.fsum(q * d * d for q, d in zip(weight(name), difference))
            gradients[name] = [2 * DATA * q * d for q, d in zip(weight(name), difference)]
        norm = math.sqrt(math.fsum(g * g for gs in gradients.values() for g in gs))
        rows.append((loss, norm, lr))
        factor = min(1.0, case["clip"] / norm) if case["clip"] else 1.0
        for name in SHAPES:
            for i, g in enumerate(gradients[name]):
                g *= factor
                if case["name"] == "sgd":
                    change = g
                elif case["name"] == "momentum":
                    v = moments[name + ".v"]
                    v[i] = change = c["momentum"] * v[i] + g
                else:
                    m, v = moments[name + ".m"], moments[name + ".v"]
                    m[i] = c["beta1"] * m[i] + (1 - c["beta1"]) * g
                    v[i] = c["beta2"] * v[i] + (1 - c["beta2"]) * g * g
                    change = (m[i] / (1 - c["beta1"] ** (step + 1))) / (
                        math.sqrt(v[i] / (1 - c["beta2"] ** (step + 1))) + c["eps"])
                p[name][i] -= lr * (change + c["weight_decay"] * p[name][i])
    return rows, {**p, **moments}


def write_weights(path):
    header, data = {}, b""
    for name, shape in SHAPES.items():
        raw = struct.pack(f"<{math.prod(shape)}d", *values(name, "weight"))
        header[name] = {"dtype": "F64", "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)


def differs(what, expected, found):
    if len(expected) != len(found):
        return f"{what}: expected {len(expected)} numbers, got {len(found)}"
    for a, b in zip(expected, found):
        if not abs(a - b) <= TOLERANCE * max(1.0, abs(a)):
            return f"{what}: expected {a!r}, got {b!r}"
    return ""


def check(llmc, folder, case):
    (folder / "loss.toml").write_text(config(case))
    rows, states = expect(case)
    command = [llmc, "train", folder / "loss.mlir", "--config", folder / "loss.toml", "--weights",
               folder / "weights.safetensors", "--steps", str(STEPS), "--log", folder / "log.jsonl", "--fetch",
               ",".join(states), "--dump", folder / "dump"]
    command += ["--mesh", case["mesh"]] if "mesh" in case else []
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        return done.stderr.strip()
    found = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for i, name in enumerate(("loss", "grad_norm", "lr")):
        if error := differs(name, [row[i] for row in rows], [row[name] for row in found]):
            return error
    for name, numbers in states.items():
        raw = (folder / "dump" / f"{name}.npy").read_bytes()
        body = raw[10 + int.from_bytes(raw[8:10], "little"):]
        if error := differs(name, numbers, list(struct.unpack(f"<{len(body) // 8}d", body))):
            return error
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmc", default="llmc")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "corpus.bin").write_bytes(bytes([int(DATA)]) * 100)
    (folder / "loss.mlir").write_text(text())
    write_weights(folder / "weights.safetensors")
    failed = 0
    for case in CASES:
        if error := check(arguments.llmc, folder, case):
            failed += 1
            print(f"FAILED {case}: {error}")
    print(f"{len(CASES)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
