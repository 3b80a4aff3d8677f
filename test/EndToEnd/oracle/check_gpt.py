# ===- check_gpt.py - llmc against JAX, from weights to losses ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains the same GPT by llmc and by JAX and judges gradients and losses.

For 1 and 4 microbatches, clipping on and off: JAX draws the weights, `llmc train`
reads them and dumps what it fed (tokens, targets) and the gradients of the first
step, JAX repeats the run on the dumped batches, compare.py judges.

    python check_gpt.py --llmc llmc -o out                    the example itself
    python check_gpt.py --llmc llmc --tiny -o out             one small layer
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
EXAMPLE = ROOT / "examples" / "gpt"

EXAMPLE_SIZE = dict(layers=4, d=128, heads=4, seq=128, batch=8, vocab=256)
TINY_SIZE = dict(layers=1, d=16, heads=2, seq=8, batch=2, vocab=256)


def run(*command):
    """Runs a command, echoed; returns whether it succeeded, with its output shown."""
    command = list(map(str, command))
    print("+", " ".join(command), flush=True)
    process = subprocess.run(command, text=True, capture_output=True)
    if process.returncode:
        print(process.stdout[-4000:] + process.stderr[-4000:])
    return process


OPTIMIZERS = {
    "sgd": 'name = "sgd"\nlr = 0.5\nweight_decay = 0.01\n',
    "momentum": 'name = "momentum"\nlr = 0.1\nmomentum = 0.9\nweight_decay = 0.01\n',
}


def configuration(folder, microbatches, max_norm, optimizer):
    """The example's TOML with these keys replaced and the corpus by its full path."""
    text = (EXAMPLE / "gpt.toml").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^microbatches = \S+", f"microbatches = {microbatches}", text)
    text = re.sub(r"(?m)^max_norm = \S+", f"max_norm = {max_norm}", text)
    text = text.replace('"corpus.bin"', json.dumps(str(EXAMPLE / "corpus.bin")))
    if optimizer in OPTIMIZERS:
        section = r"(?ms)^\[optimizer\]\n.*?(?=^\[)"
        text = re.sub(section, f"[optimizer]\n{OPTIMIZERS[optimizer]}\n", text)
    path = folder / "gpt.toml"
    path.write_text(text, encoding="utf-8")
    return path


def train_by_llmc(a, config, weights, out):
    """Losses in out/llmc.jsonl; step-<t>.<input>.npy and step-0.grad.<name>.npy in out/dump."""
    model = HERE.parent / "Inputs" / "gpt-tiny.mlir" if a.tiny else EXAMPLE / "gpt.mlir"
    command = [a.llmc, "train", model, "--config", config, "--weights", weights]
    command += ["--steps", a.steps, "--log", out / "llmc.jsonl"]
    command += ["--fetch", "tokens,targets,grad.*", "--fetch-each-step"]
    command += ["--dump", out / "dump", *a.flags]
    return run(*command).returncode == 0


def sort_dump(out):
    """Moves the gradients of step 0 to out/gradients under the parameters' names."""
    (out / "gradients").mkdir(exist_ok=True)
    for file in (out / "dump").glob("step-*.grad.*.npy"):
        if file.name.startswith("step-0."):
            file.replace(out / "gradients" / file.name[len("step-0.grad.") :])
        else:
            file.unlink()


def check(a, microbatches, max_norm):
    size = TINY_SIZE if a.tiny else EXAMPLE_SIZE
    out = a.output / f"m{microbatches}-{'clip' if max_norm else 'free'}"
    out.mkdir(parents=True, exist_ok=True)
    config = configuration(out, microbatches, max_norm, a.optimizer)
    jax_gpt = [sys.executable, HERE / "jax_gpt.py", "--config", config]
    jax_gpt += [x for key, value in size.items() for x in (f"--{key}", value)]
    weights = a.output / "start" / "weights.safetensors"
    if not weights.exists():
        run(*jax_gpt, "--steps", 1, "-o", a.output / "start")
    if not train_by_llmc(a, config, weights, out):
        return False
    sort_dump(out)
    theirs = out / "jax"
    batches = ["--weights", weights, "--batches", out / "dump"]
    if run(*jax_gpt, *batches, "--steps", a.steps, "-o", theirs).returncode:
        return False
    compare = [sys.executable, HERE / "compare.py"]
    scale = 1.0 / (microbatches * size["batch"] * size["seq"])
    verdicts = [
        run(*compare, "gradients", out / "gradients", theirs / "gradients", "--scale", scale),
        run(*compare, "losses", out / "llmc.jsonl", theirs / "losses.jsonl", "--steps", a.steps),
        run(*compare, "losses", out / "llmc.jsonl", theirs / "losses.jsonl", "--key", "grad_norm"),
    ]
    for verdict in verdicts:
        print(*verdict.stdout.strip().splitlines()[-1:])
    return all(v.returncode == 0 for v in verdicts)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--tiny", action="store_true")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--optimizer", default="adamw", choices=["adamw", "sgd", "momentum"])
    p.add_argument("--microbatches", default="1,4")
    p.add_argument("--max-norms", default="1.0,0.0", help="0 switches clipping off")
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    p.add_argument("flags", nargs="*", help="more flags for llmc, after --")
    a = p.parse_args()
    results = {}
    for m in map(int, a.microbatches.split(",")):
        for max_norm in map(float, a.max_norms.split(",")):
            results[f"{m} microbatches, clip {max_norm}"] = check(a, m, max_norm)
    for name, passed in results.items():
        print(f"{'ok  ' if passed else 'FAIL'} {name}")
    sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
