# ===- bad_input.py - Wrong models, configurations, weights and data -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs llmc on one bad input after the other, from the tables below.

Each case names what is wrong, the exit code, and what the error must say. Every
one must end with exactly one line on stderr, `llmc: error[<kind>]: ...`, nothing
on stdout (but for the steps before a NaN), and no file of output.

    python bad_input.py --llmc llmc -o out
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODEL = (HERE / "Inputs" / "gpt-tiny.mlir").read_text(encoding="utf-8")
CONFIG = (ROOT / "examples" / "gpt" / "gpt.toml").read_text(encoding="utf-8")
CORPUS = ROOT / "examples" / "gpt" / "corpus.bin"
CONFIG = CONFIG.replace('"corpus.bin"', json.dumps(str(CORPUS)))

KINDS = {1: "diagnosed", 2: "usage", 3: "malformed", 5: "unsupported", 13: "numeric"}


def nested(before, opening, closing, after):
    return before + opening * 10000 + "1" + closing * 10000 + after


def without_names(text):
    """The text as JAX prints it without debug_info."""
    text = re.sub(r" loc\((?:[^()]|\([^()]*\))*\)", "", text)
    return re.sub(r"(?m)^#loc.*\n", "", text)


def generic_tanh(name):
    """Every tanh in its generic form, called `name`."""
    pattern = r"stablehlo.tanh (%\w+) : (\S+) loc"
    return re.sub(pattern, rf'"{name}"(\1) : (\2) -> \2 loc', MODEL)


def jax_op(name, region):
    """A function whose one op is printed as JAX prints what it has no assembly for, without places."""
    return (
        f'module {{\n  func.func public @main(%a: tensor<4xf32> loc("a")) -> tensor<4xf32> {{\n'
        f'    %0 = "stablehlo.{name}"(%a) <{{dimension = 0 : i64}}> ({{\n    {region}\n'
        "    }) : (tensor<4xf32>) -> tensor<4xf32> loc(unknown)\n    return %0 : tensor<4xf32>\n  }\n}\n"
    )


COMPARE = """^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>"""


def cut(percent):
    return MODEL[: len(MODEL) * percent // 100]


AT = MODEL.index("stablehlo")

# Where a type may stand: the text of a program for `T`.
PLACES = {
    "argument": 'func.func public @main(%a: tensor<4xT> loc("x")) -> tensor<4xT> { return %a : tensor<4xT> }',
    "result": """func.func public @main(%a: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %0 = "stablehlo.convert"(%a) : (tensor<4xf32>) -> tensor<4xT>
  %1 = "stablehlo.convert"(%0) : (tensor<4xT>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}""",
    "contraction": """func.func public @main(%a: tensor<4xT> loc("x")) -> tensor<f32> {
  %0 = "stablehlo.dot_general"(%a, %a) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<4xT>, tensor<4xT>) -> tensor<f32>
  return %0 : tensor<f32>
}""",
    "body": """func.func public @main(%a: tensor<4xf32> loc("x")) -> tensor<f32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<f32>, %e: tensor<f32>) {
    %1 = "stablehlo.convert"(%e) : (tensor<f32>) -> tensor<T>
    %2 = "stablehlo.convert"(%1) : (tensor<T>) -> tensor<f32>
    %3 = stablehlo.add %p, %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0 : tensor<f32>
}""",
    "signature": """func.func public @main(%a: tensor<4xf32> loc("x")) -> tensor<4xf32> { return %a : tensor<4xf32> }
func.func private @g(tensor<4xT>)""",
}
ELEMENTS = ["f8E4M3", "f8E3M4", "f6E3M2FN", "f4E2M1FN", "i2", "ui2", "i24", "f128", "tf32", "complex<f16>", "!q.uniform<i8>"]


def typed(place, element):
    return PLACES[place].replace("xT>", f"x{element}>").replace("<T>", f"<{element}>")

# What is wrong -> text or bytes of the model, exit code, what the error says.
MODELS = {
    "cut at 1 %": (cut(1), 3, r"m\.mlir:\d+:\d+: "),
    "cut at 20 %": (cut(20), 3, r"m\.mlir:\d+:\d+: "),
    "cut at 50 %": (cut(50), 3, r"m\.mlir:\d+:\d+: "),
    "cut at 80 %": (cut(80), 3, r"m\.mlir:\d+:\d+: "),
    "cut at 99 %": (cut(99), 3, r"m\.mlir:\d+:\d+: "),
    "empty": ("", 1, "expected a public function with a body, got none"),
    "nested attributes": (nested("module attributes {a = ", "[", "]", "} {}"), 3, "nesting of at most 200"),
    "nested dictionaries": (nested("module attributes {a = ", "{b = ", "}", "} {}"), 3, "nesting of at most 200"),
    "nested modules": ("module {" * 10000 + "}" * 10000, 3, "nesting of at most 200"),
    "nested types": (nested("func.func private @f(", "tuple<", ">", ")"), 3, "nesting of at most 200"),
    "nested locations": (nested("module {} loc(", "fused[", "]", ")"), 3, "nesting of at most 200"),
    "NUL byte": (MODEL[:AT] + "\0" + MODEL[AT:], 3, r"m\.mlir:\d+:\d+: expected text, got a NUL byte"),
    "not UTF-8": (MODEL[:AT].encode() + b"\xff" + MODEL[AT:].encode(), 3, "expected UTF-8 text"),
    "bytecode": (b"ML\xefR\x0d\x01", 3, "expected MLIR text, got .* bytecode"),
    "unknown op, pretty": (MODEL.replace("stablehlo.tanh", "stablehlo.tann"), 5, r"m\.mlir:\d+:\d+: .*'stablehlo.tann'"),
    "unknown dialect, pretty": (MODEL.replace("stablehlo.tanh", "mhlo.tanh"), 5, r"m\.mlir:\d+:\d+: .*'mhlo.tanh'"),
    "unknown op, generic": (generic_tanh("stablehlo.tann"), 5, r"got 1 that it does not: stablehlo.tann x 1, first at m\.mlir:\d+:\d+ \('llmc ops .*' lists all ops of the text\)$"),
    "unknown dialect, generic": (generic_tanh("mhlo.tanh"), 5, r"got 1 that it does not: mhlo.tanh x 1, first at m\.mlir:\d+:\d+ \('llmc ops .*' lists all ops of the text\)$"),
    "an unknown op with a region": (jax_op("novel", COMPARE), 5, r"m\.mlir: expected ops that llmc has, got 1 that it does not: stablehlo.novel x 1, first at m\.mlir:3:10 \('llmc ops .*' lists all ops of the text\)$"),
    "a float that nothing feeds": (MODEL.replace("@main(", '@main(%mask: tensor<4xf32> loc("mask"), ', 1), 1, r"whether float arguments are inputs or parameters, got neither for mask, params\.\* \(\d+\) \(name inputs in \[data.inputs\], parameters in training.parameters"),
    "no name and no place": ("func.func public @main(%a: tensor<4xf32> loc(unknown)) { return } loc(unknown)", 1, r"error\[diagnosed\]: argument 0 expected"),
    "types that disagree": (MODEL.replace("-> tensor<2x8xi1> loc", "-> tensor<2x9xi1> loc", 1), 3, r"m\.mlir:\d+:\d+: .*'tensor<2x8xi1>' vs 'tensor<2x9xi1>'"),
    "a size that overflows": ("func.func public @main(%a: tensor<4611686018427387904x4xf32>) -> tensor<4611686018427387904x4xf32> { return %a : tensor<4611686018427387904x4xf32> }", 1, "static shape below 2.63 bytes"),
    "two blocks": ("func.func @main() {\n  return\n^after:\n  return\n}", 5, r"m\.mlir:1:1: expected a function with one block, got 2$"),
    "a scalar that is no tensor": ('func.func @main(%x: f32 loc("x")) -> f32 { return %x : f32 }', 5, "expected tensors of numbers without encodings in a function, got f32$"),
    "a tensor of indices": ('func.func @main(%x: tensor<4xindex> loc("x")) { return }', 5, "got tensor<4xindex>$"),
    "a tensor with an encoding": ('func.func @main(%x: tensor<4xf32, 1 : i32> loc("x")) { return }', 5, "got tensor<4xf32, 1 : i32>$"),
    "a module in a module": ("module {\n  module {\n  }\n  func.func @main() { return }\n}", 5, r"m\.mlir:2:3: expected functions and meshes of shardings in a module, got 'builtin.module'$"),
    "an op of arith": ("func.func @main() {\n  %0 = arith.constant dense<1.0> : tensor<f32>\n  return\n}", 5, r"m\.mlir:2:8: expected ops of stablehlo, chlo, nn and sdy in a function, got 'arith.constant'$"),
    "no names": (without_names(MODEL), 1, r"argument 0 .*name in its location, got none .*debug_info=True"),
}

for number, element in enumerate(ELEMENTS):
    for place in list(PLACES)[number % 2 :: 2]:
        MODELS[f"{element} in a {place}"] = (typed(place, element), 5, rf"(?s)expected .* of f64, f32, .* got '.*tensor<(4x)?{re.escape(element)}>.*', which is not supported")

# What is wrong -> old text, new text of the configuration, exit code, error.
CONFIGS = {
    "unknown key": ("max_norm", "max_nrm", 2, r"c\.toml:\d+:\d+: unknown key 'training.max_nrm', did you mean 'training.max_norm'"),
    "unknown table": ("[training]", "[trainin]", 2, r"c\.toml:\d+:\d+: unknown key 'trainin', did you mean 'training'"),
    "a table in place of an array": ("[mesh]", "[machine.link]\n[mesh]", 2, r"c\.toml:\d+:\d+: expected 'machine.link' to be an array of tables, \[\[machine.link\]\], got table"),
    "a value in place of a table": ("[mesh]", "machine = 1\n[mesh]", 2, r"c\.toml:\d+:\d+: expected 'machine' to be a table, \[machine\], got integer"),
    "a key of other programs": ("lr = 1e-3", "learning_rate = 1e-3", 2, "unknown key 'optimizer.learning_rate', did you mean 'optimizer.lr'"),
    "another such key": ("max_norm", "gradient_clipping", 2, "unknown key 'training.gradient_clipping', did you mean 'training.max_norm'"),
    "wrong type": ("microbatches = 1", 'microbatches = "x"', 2, r"c\.toml:\d+:\d+: .*'training.microbatches' to be integer, got string"),
    "out of range": ("microbatches = 1", "microbatches = -1", 2, "at least 1, got -1"),
    "not finite": ("lr = 1e-3", "lr = nan", 2, "finite, got nan"),
    "unknown choice": ('"adamw"', '"adamx"', 2, 'got "adamx", did you mean "adamw"'),
    "a key twice": ("seed = 1", "seed = 1\nseed = 2", 2, r"c\.toml:\d+:\d+: .*'seed'"),
    "not TOML": ("[data]", "[data", 2, r"c\.toml:\d+:\d+: "),
    "unknown input": ("\ntokens = 0", "\ntokns = 0", 1, "'tokens'.* did you mean input 'tokns'"),
    "a pattern of no argument": ("[training]", '[training]\nparameters = ["parms.*"]', 2, r"c\.toml:\d+:\d+: expected 'training.parameters' to match arguments, got .parms.\*., which matches none \(there are params"),
    "an input that is a parameter": ("[training]", '[training]\nparameters = ["tok*", "params*"]', 2, "expected 'tokens' of .data.inputs. to be no parameter"),
    "no data file": ('/corpus.bin"', '/corpse.bin"', 3, r"corpse\.bin: cannot open: No such file"),
    "no initial values": ('match = "*"\n', 'match = "q"\n', 2, r"expected an \[\[init\]\] pattern for parameter '.*', got none that matches"),
}

# What a run says after the lines of its plan.
LATE = {"unknown entry", "unknown value", "short corpus", "no folder for the log", "tokens beyond the vocabulary",
        "fewer samples than a batch", "a file of many that is short", "nothing to evaluate"}

# What is wrong -> flags, exit code, error.
FLAGS = {
    "no configuration": (["--config", "nope.toml"], 3, "nope.toml: cannot open: No such file"),
    "unknown key by --set": (["--set", "training.microbatchs=2"], 2, "unknown key .* did you mean 'training.microbatches'"),
    "wrong type by --set": (["--set", "training.microbatches=two"], 2, "to be integer, got string"),
    "no corpus": (["--data", "nope.bin"], 3, "nope.bin: cannot open: No such file"),
    "a folder as corpus": (["--data", "."], 3, "expected a regular file"),
    "short corpus": (["--data", "short.bin"], 3, r"short.bin: expected at least 9 tokens for one sample, got 5"),
    "empty corpus": (["--data", "empty.bin"], 3, "empty.bin: expected tokens, got an empty file"),
    "odd corpus": (["--data", "odd.bin", "--data-type", "u16"], 3, "odd.bin: expected a multiple of 2 bytes of u16 tokens, got 1001"),
    "tokens beyond the vocabulary": (["--data", "wide.bin", "--data-type", "u16"], 3, r"wide.bin: input 'tokens': expected numbers below [0-9]+ at token \d+, got \d+ at byte \d+"),
    "fewer samples than a batch": (["--data", "nine.bin"], 3, r"nine.bin: expected at least 2 samples of 9 tokens for a batch, got 1"),
    "a glob of nothing": (["--data", "no*.bin"], 3, r"no\*.bin: expected files that the glob matches, got none"),
    "a file of many that is short": (["--data", "wide.bin,short.bin"], 3, "short.bin: expected at least 9 tokens for one sample, got 5"),
    "a pipe as text": (["--data", "pipe", "--set", "data.kind=text", "--set", "data.dtype=u8"], 2, "expected 'data.dtype' with kind = .tokens. alone"),
    "a pipe as corpus": (["--data", "pipe"], 3, "pipe: expected a regular file"),
    "objects as tokens": (["--data", "objects.npy"], 3, "objects.npy: expected an .npy header with a plain little-endian type"),
    "a header beyond the file": (["--data", "header.npy"], 3, "header.npy: expected an .npy header of at most 65536 bytes within the file, got 65535 at byte 8"),
    "a weight for no file": (["--set", "data.weights=[1, 2]"], 2, "expected 'data.weights' to have a number for each of 1 files and globs, got 2"),
    "all held out": (["--set", "data.held_out=1"], 2, r"expected a share in \[0, 1\) that is held out"),
    "nothing to evaluate": (["--set", "training.evaluate_every=1"], 2, "expected data that training leaves out for input 'tokens', got none .data.held_out"),
    "unknown type of data": (["--data-type", "f31"], 2, "expected u8, u16, u32, i32 or i64, got .f31."),
    "pipeline of no axis": (["--set", "mesh.pipeline=stages"], 2, "'mesh.pipeline' to be one of the axes .*, got .stages"),
    "far too many microbatches": (["--set", "training.microbatches=100000000000"], 2, "at most 65536, got 100000000000"),
    "unknown axis": (["--mesh", "dat=2"], 2, r"an axis of 'mesh.axes' \(pipe, data, tensor\), got 'dat', did you mean 'data'"),
    "floats as tokens": (["--data-type", "f32"], 2, r"expected a type of tokens \(u8, u16, u32, i8, i16, i32, i64\), got f32 \(.*kind = .array"),
    "an axis of none": (["--mesh", "data=0"], 2, "size of at least 1, got 'data=0'"),
    "unknown entry": (["--entry", "trian"], 2, "no entry 'trian', only train, evaluate, forward"),
    "unknown value": (["--fetch", "nope"], 2, "got 'nope'"),
    "unknown flag": (["--nope"], 2, "Unknown command line argument '--nope'"),
    "steps that are no number": (["--steps", "x"], 2, "--steps: expected a whole number, got 'x'"),
    "negative steps": (["--steps", "-3"], 2, "--steps: expected at least 0, got -3"),
    "no folder for the log": (["--log", "no/such/log"], 2, "no/such/log: cannot open the log"),
    "no weights": (["--weights", "nope.safetensors"], 3, "nope.safetensors: cannot open"),
}

# Legal, but beyond what the compiler does; shrinks as it learns.
UNSUPPORTED = {}


def parameters(text):
    """Names and shapes of the arguments of @main, but for the data."""
    header = text[text.index("@main(") :].split(" -> ")[0]
    found = {}
    for shape, path in re.findall(r'%arg\d+: tensor<([^>]*)> loc\("params([^"]*)"\)', header):
        name = ".".join(re.findall(r"\w+", path))
        found[name] = [int(dim) for dim in shape.split("x")[:-1]]
    return found


def safetensors(tensors):
    """name -> (shape, list of floats), as a file."""
    header, at = {}, 0
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + 4 * len(values)]}
        at += 4 * len(values)
    text = json.dumps(header).encode()
    data = b"".join(struct.pack(f"<{len(v)}f", *v) for _, v in tensors.values())
    return struct.pack("<Q", len(text)) + text + data


def product(shape):
    size = 1
    for dim in shape:
        size *= dim
    return size


def make_weights():
    dice = random.Random(1)
    found = {name: (s, [dice.gauss(0, 0.02) for _ in range(product(s))]) for name, s in parameters(MODEL).items()}
    good = safetensors(found)
    shape, values = found["wte"]
    nan = safetensors({**found, "wte": (shape, [float("nan")] * len(values))})
    missing = safetensors({name: each for name, each in found.items() if name != "wte"})
    turned = safetensors({**found, "wte": (shape[::-1], values)})
    huge = struct.pack("<Q", 1 << 60) + good[8:]
    # What is wrong -> bytes of the file, exit code, error.
    return {
        "sound weights": (good, 0, ""),
        "weights of NaN": (nan, 13, "w.safetensors: expected finite values of state .wte., got NaN"),
        "weights without a tensor": (missing, 3, "w.safetensors: .*'wte'"),
        "weights of another shape": (turned, 3, "w.safetensors: .*'wte'"),
        "weights cut in half": (good[: len(good) // 2], 3, "w.safetensors: "),
        "weights cut in their header": (good[:20], 3, "w.safetensors: "),
        "weights with a huge header": (huge, 3, "w.safetensors: "),
        "empty weights": (b"", 3, "w.safetensors: "),
    }


class Judge:
    def __init__(self, llmc, out):
        self.llmc, self.out, self.failed, self.count = llmc, out, 0, 0

    def fail(self, case, why):
        self.failed += 1
        print(f"FAILED: {case}: {why}")

    def run(self, case, arguments, code, pattern, quiet=True):
        """Runs in the folder; judges code, stderr, stdout and what was left."""
        self.count += 1
        before = set(self.out.iterdir())
        command = [self.llmc, *map(str, arguments)]
        process = subprocess.run(command, cwd=self.out, capture_output=True, timeout=120, check=False)
        lines = process.stderr.decode("utf-8", "replace").splitlines()
        if process.returncode != code:
            return self.fail(case, f"expected exit code {code}, got {process.returncode}: {lines}")
        if code == 0:
            return None
        if len(lines) != 1:
            return self.fail(case, f"expected one line on stderr, got {lines}")
        if not lines[0].startswith(f"llmc: error[{KINDS[code]}]: "):
            return self.fail(case, f"expected 'llmc: error[{KINDS[code]}]: ...', got {lines[0]}")
        if not re.search(pattern, lines[0]):
            return self.fail(case, f"expected '{pattern}', got {lines[0]}")
        if quiet and process.stdout:
            return self.fail(case, f"expected nothing on stdout, got {process.stdout[:200]}")
        if left := set(self.out.iterdir()) - before:
            return self.fail(case, f"expected no output, got {sorted(map(str, left))}")
        return print(f"{code:2d}  {case}: {lines[0][:160]}")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    a = p.parse_args()
    shutil.rmtree(a.out, ignore_errors=True)
    a.out.mkdir(parents=True)
    out = a.out.resolve()
    judge = Judge(shutil.which(a.llmc) or a.llmc, out)
    (out / "good.mlir").write_text(MODEL, encoding="utf-8")
    (out / "good.toml").write_text(CONFIG, encoding="utf-8")
    corpus = CORPUS.read_bytes()
    for name, size in {"short": 5, "empty": 0, "odd": 1001}.items():
        (out / f"{name}.bin").write_bytes(corpus[:size])
    (out / "nine.bin").write_bytes(corpus[:9])
    (out / "wide.bin").write_bytes(bytes(range(256)) * 40)
    for name, word, length in (("objects", "|O", None), ("header", "<i4", 65535)):
        text = f"{{'descr': '{word}', 'fortran_order': False, 'shape': (8,), }}\n".encode()
        (out / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", length or len(text)) + text + bytes(64))
    os.mkfifo(out / "pipe")
    train = ["train", "good.mlir", "--steps", "2", "--config"]
    for name in ("m.mlir", "c.toml", "w.safetensors"):
        (out / name).touch()
    for case, (text, code, error) in MODELS.items():
        (out / "m.mlir").write_bytes(text if isinstance(text, bytes) else text.encode())
        judge.run(case, ["compile", "m.mlir", "--config", "good.toml", "-o", "plan"], code, error)
        if "in a result" in case:
            judge.run(case + ", interpreted", ["interpret", "m.mlir", "--config", "good.toml"], code, error)
            judge.run(case + ", trained", ["train", "m.mlir", "--config", "good.toml"], code, error)
    judge.run("no model", ["compile", "nope.mlir", "-o", "plan"], 3, "nope.mlir: cannot open: No such file")
    judge.run("a folder as model", ["compile", ".", "-o", "plan"], 3, "expected a regular file")
    judge.run("unknown phase", ["compile", "good.mlir", "--compile-to=memry", "-o", "plan"], 2, "got 'memry'; did you mean 'memory'")
    judge.run("a file for the plan", ["compile", "good.mlir", "--config", "good.toml", "-o", "odd.bin"], 3, "odd.bin: ")
    judge.run("unknown command", ["trian", "good.mlir"], 2, "Unknown subcommand 'trian'")
    judge.run("a model for a plan", ["run", "good.mlir"], 3, "good.mlir: malformed plan")
    for case, (old, new, code, error) in CONFIGS.items():
        (out / "c.toml").write_text(CONFIG.replace(old, new, 1), encoding="utf-8")
        judge.run(case, [*train, "c.toml"], code, error)
    for case, (flags, code, error) in {**FLAGS, **UNSUPPORTED}.items():
        config = [] if "--config" in flags else ["--config", "good.toml"]
        steps = [] if "--steps" in flags else ["--steps", "2"]
        late = case in LATE
        judge.run(case, ["train", "good.mlir", *steps, *config, *flags], code, error, quiet=not late)
    for case, (data, code, error) in make_weights().items():
        (out / "w.safetensors").write_bytes(data)
        judge.run(case, [*train, "good.toml", "--weights", "w.safetensors"], code, error, quiet=code != 13)
    print(f"{judge.count} cases, {judge.failed} failed")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
