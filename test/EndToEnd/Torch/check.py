# ===- check.py - Files of PyTorch against PyTorch's figures --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains the files that export.py wrote, and compares with what PyTorch computed.

A line of the table is `case: form mesh mesh ...`, where a form is `default` (as
PyTorch writes by itself) or `plain` (optimize=False). For each line

    on one device   the logits of the first batch (relative to their norm, bar 1e-5),
                    each gradient of the first step and the losses of 20 steps (relative,
                    bar 1e-4) against PyTorch's, in f32. A gradient g' must fulfil
                    |g - g'| <= 1e-5 max(|g|, 1e-3 |all gradients| / sqrt(their number))
    default, plain  the same parameters by name, and the same losses within 2e-6, also where
                    elements are dropped at random: the draws are numbered in order
    on each mesh    losses of each step within 2e-5 of one device, and gradients as above
                    with 2e-5; dropout too, whose draws no mesh changes

`case: form refused "words"` asks for an error with these words. Where elements are
dropped at random, nothing is compared with PyTorch, whose draws are others.

    python check.py --llmc llmc -o out                 the meshes of table.txt
    python check.py --llmc llmc -o out --all           every mesh for each file
"""

import argparse
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle")]

import arrays  # noqa: E402

MODELS = HERE / "Models"
CASES = json.loads((MODELS / "cases.json").read_text(encoding="utf-8"))
STEPS = 20
LOGITS_BAR, GRADIENT_BAR, LOSS_BAR, FORM_BAR, MESH_BAR = 1e-5, 1e-5, 1e-4, 2e-6, 2e-5

# Axes by name; "zero3" keeps parameters, gradients and optimizer states split over data.
MESHES = {
    "data2-tensor2": "data=2,tensor=2",
    "pipe2-data2": "pipe=2,data=2",
    "tensor4": "tensor=4",
    "data3": "data=3",
    "zero3": "data=2",
}
# Matrices whose outputs are split over "tensor"; those that follow them have split inputs.
COLUMNS = r"""(?x) qkv | c_attn | c_fc | [qkv]_proj | gate_proj | up_proj | \.up\. | fc1 | query | key | value | intermediate
    | in_proj | linear1 | embed | wte | head | \.[qkv]\."""
ROWS = r"proj|\.o\.|down|fc2|linear2|output\.dense"


class Failure(Exception):
    pass


@dataclasses.dataclass
class Result:
    """One run: losses of each step, gradients of the first."""

    losses: list
    gradients: dict


def states_of(text):
    """Name -> shape of the parameters in the text of phase import."""
    found = {}
    for line in text.splitlines():
        match = re.match(r'\s*dist\.state (?:public |private )?@("(?:[^"\\]|\\.)*"|[\w.$-]+) : tensor<([^>]*)>', line)
        if match and "role = parameter" in line:
            *dims, _ = match[2].split("x")
            found[match[1].strip('"')] = [int(d) for d in dims]
    return found


def axes_of(name, shape, form):
    """Which axes split the dimensions of a parameter on meshes with "tensor", of up to four devices."""
    axes = [[] for _ in shape]
    if len(shape) == 2:
        # Two heads of keys are too few for four devices.
        isRow = re.search(r"layers.*[qkv]_proj", name) or (re.search(ROWS, name) and not re.search(COLUMNS, name))
        # PyTorch keeps outputs x inputs; the file that it has optimized, the other way round.
        dim = int(bool(isRow) != (form == "default"))
        axes[dim if shape[dim] >= 4 else 1 - dim].append("tensor")
    return axes


def rows_of(states, mesh, form):
    """The [[layout]] tables of one mesh."""
    rows = ['[[layout]]\ninput = "*"\ndims = [["data"]]\n']
    for name, shape in states.items():
        axes = axes_of(name, shape, form)
        row = f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(axes)}\n'
        if mesh == "zero3" and shape:
            rest = [list(each) for each in axes]
            rest[int(np.argmax(shape))].append("data")
            row = f'[[layout]]\nmatch = "{name}"\nrest = {json.dumps(rest)}\nuse = {json.dumps(axes)}\n'
            row += f'gradient = {json.dumps(rest)}\n'
        if shape:
            rows.append(row)
    return "\n".join(rows)


class Checker:
    """All runs of one case in one form."""

    def __init__(self, a, name, form):
        self.a, self.name, self.form, self.case = a, name, form, CASES[name]
        self.out = pathlib.Path(a.out) / f"{name}-{form}"
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        self.model = MODELS / (f"{name}.onnx" if form == "default" else f"{name}.plain.onnx")
        self.data = MODELS / f"{name}.safetensors"
        self.reference = arrays.read_safetensors(self.data)
        self.results = {}
        self.states = {}

    def dims(self):
        sizes = {}
        for name, dims in (self.case["dynamic"] or {}).items():
            for dim, symbol in dims.items():
                shape = self.reference[f"input.{name}"].shape
                sizes[symbol] = self.case["batch"] if dim == "0" else shape[int(dim)]
        return [word for symbol, size in sizes.items() for word in ("--dim", f"{symbol}={size}")]

    def configuration(self, mesh, microbatches):
        parts = ['[mesh]\naxes = ["pipe", "data", "tensor"]\npipeline = "pipe"\n']
        for key in self.reference:
            if key.startswith("input."):
                parts.append(f'[data.{key[len("input."):]}]\nkind = "array"\nfile = {json.dumps(str(self.data))}\n'
                             f'tensor = "{key}"\nshuffle = false\n')
        parts.append(rows_of(self.states, mesh, self.form) if mesh else "")
        parts.append('[optimizer]\nname = "adamw"\nlr = 3e-3\nbeta1 = 0.9\nbeta2 = 0.95\neps = 1e-6\nweight_decay = 0.01\n')
        parts.append(f"[training]\nmicrobatches = {microbatches}\n")
        if self.case["loss"]:
            parts.append(self.attached_loss())
        return "\n".join(parts)

    def attached_loss(self):
        """What makes llmc add a loss to a result of the model."""
        return f'[loss]\nkind = "{self.case["loss"]}"\noutput = "{self.case["outputs"][0]}"\n'

    def call(self, words):
        process = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if process.returncode:
            lines = [line for line in process.stderr.splitlines() if "error" in line]
            raise Failure(lines[0] if lines else f"exit code {process.returncode} without a message")
        return process.stdout

    def read_states(self):
        config = self.out / "import.toml"
        config.write_text(self.configuration("", 1), encoding="utf-8")
        text = self.out / "import.mlir"
        words = [self.a.llmc, "compile", self.model, "--config", config, *self.dims()]
        self.call(words + ["--compile-to=import", "-o", text])
        self.states = states_of(text.read_text(encoding="utf-8"))

    def train(self, mesh, microbatches=1):
        """Runs are kept: a mesh compares with one device."""
        key = mesh, microbatches
        if key in self.results:
            return self.results[key]
        stem = self.out / f"{mesh or 'one'}-{microbatches}"
        config = stem.with_suffix(".toml")
        config.write_text(self.configuration(mesh, microbatches), encoding="utf-8")
        words = [self.a.llmc, "train", self.model, "--config", config, *self.dims(), "--threads", 1]
        words += ["--log", stem.with_suffix(".jsonl")] + (["--mesh", MESHES[mesh]] if mesh else [])
        self.call(words + ["--steps", STEPS, "--fetch", "grad.*", "--fetch-each-step", "--dump", stem])
        first = "step-0.grad."
        gradients = {f.name[len(first):-len(".npy")]: np.load(f).astype(np.float64) for f in stem.glob(f"{first}*.npy")}
        shutil.rmtree(stem)
        rows = [json.loads(line) for line in stem.with_suffix(".jsonl").read_text().splitlines()]
        rows = [row for row in rows if "loss" in row]
        # What is fetched is of a sum over what the loss is a mean of; the norm is that of the mean.
        scale = rows[0]["grad_norm"] / norm([norm(g) for g in gradients.values()])
        result = Result([row["loss"] for row in rows], {name: g * scale for name, g in gradients.items()})
        self.results[key] = result
        return result

    def forward(self):
        """The result that is no loss, of the first batch."""
        stem = self.out / "forward"
        name = self.case["outputs"][-1]
        words = [self.a.llmc, "train", self.model, "--config", self.out / "import.toml", *self.dims()]
        self.call(words + ["--entry", "forward", "--steps", 1, "--fetch", name, "--dump", stem])
        return np.load(stem / f"{name}.npy").astype(np.float64)


def farthest_loss(found, wanted):
    if len(found) != len(wanted):
        raise Failure(f"expected {len(wanted)} losses, got {len(found)}")
    return max(abs(x - y) / abs(y) if x is not None and np.isfinite(x) else np.inf for x, y in zip(found, wanted))


def norm(x):
    return float(np.sqrt(np.sum(np.square(np.asarray(x, np.float64)))))


def nearest(found, wanted):
    """The distance of arrays whose elements may be stored transposed, or with other dimensions of size 1."""
    if found.size != wanted.size:
        return np.inf
    distances = [norm(found.reshape(wanted.shape) - wanted)] if squeezed(found) == squeezed(wanted) else []
    if found.ndim == 2 and found.T.shape == wanted.shape:
        distances.append(norm(found.T - wanted))
    return min(distances, default=np.inf)


def squeezed(x):
    return [d for d in x.shape if d != 1]


def farthest_gradient(found, wanted):
    """The greatest distance as a part of what a gradient of its size may have, and where."""
    missing = sorted(set(found) ^ set(wanted))
    if missing:
        raise Failure(f"expected the same parameters, got {len(missing)} unmatched: {', '.join(missing[:4])}")
    floor = 1e-3 * norm([norm(g) for g in wanted.values()]) / np.sqrt(len(wanted))
    parts = {name: nearest(found[name], g) / max(norm(g), floor) for name, g in wanted.items()}
    worst = max(parts, key=parts.get)
    return parts[worst], worst


def used_rows(found, wanted):
    """Gradients of a table of which the file has the first rows alone: the rest of PyTorch's is zero."""
    cut = {}
    for name, g in wanted.items():
        rows = found[name].shape[0] if name in found and found[name].ndim else 0
        isCut = g.ndim == 2 and 0 < rows < g.shape[0] and found[name].shape[1:] == g.shape[1:]
        cut[name] = g[:rows] if isCut and not np.any(g[rows:]) else g
    return cut


class Judge:
    def __init__(self):
        self.cases = self.failed = 0

    def note(self, name, measure):
        """`measure` gives (what, value, bar, place) of each figure."""
        try:
            found = measure()
            bad = any(not value <= bar for _, value, bar, _ in found)
            shown = [f"{what} {value:.1e} (bar {bar:.0e})" + (place and f" {place}") for what, value, bar, place in found]
            text = ", ".join(shown)
        except Failure as failure:
            bad, text = True, str(failure)
        self.cases += 1
        self.failed += bad
        print(f"{'FAILED' if bad else 'passed'}  {name}: {text}", flush=True)


def against_torch(checker):
    reference = checker.reference
    run = checker.train("")
    if checker.case["random"]:
        return [("last loss of the first", run.losses[-1] / run.losses[0], 1, "")]
    wanted = {key[len("grad."):]: value for key, value in reference.items() if key.startswith("grad.")}
    part, place = farthest_gradient(run.gradients, used_rows(run.gradients, wanted))
    result = np.asarray(reference["result"], np.float64)
    found = checker.forward()
    logits = norm(found - result) / norm(result) if found.shape == result.shape else np.inf
    return [("logits", logits, LOGITS_BAR, ""), ("gradients", part, GRADIENT_BAR, place),
            ("losses", farthest_loss(run.losses, reference["losses"].tolist()), LOSS_BAR, "")]


def against_one(checker, mesh):
    # A batch norm is one of each microbatch.
    microbatches = 2 if "pipe" in mesh and checker.name != "resnet" else 1
    one, run = checker.train("", microbatches), checker.train(mesh, microbatches)
    part, place = farthest_gradient(run.gradients, one.gradients)
    return [("losses", farthest_loss(run.losses, one.losses), MESH_BAR, ""), ("gradients", part, MESH_BAR, place)]


def against_plain(checker, plain):
    found, wanted = checker.train(""), plain.train("")
    missing = sorted(set(checker.states) ^ set(plain.states))
    if missing:
        raise Failure(f"expected the same parameters, got {len(missing)} unmatched: {', '.join(missing[:4])}")
    return [(f"{len(plain.states)} parameters, losses", farthest_loss(found.losses, wanted.losses), FORM_BAR, "")]


def check_refused(checker, words):
    try:
        checker.read_states()
    except Failure as failure:
        if words in str(failure):
            return [("refused", 0, 0, "")]
        raise
    raise Failure(f"expected an error with '{words}', got a program")


def check(a, judge, name, forms):
    """`forms`: form -> its meshes, or the words of a refusal."""
    checkers = {form: Checker(a, name, form) for form in forms}
    trained = {}
    for form, meshes in forms.items():
        checker, label = checkers[form], f"{name} {form}"
        if isinstance(meshes, str):
            judge.note(label, lambda: check_refused(checker, meshes))
            continue
        try:
            checker.read_states()
        except Failure as failure:
            judge.note(label, lambda: (_ for _ in ()).throw(failure))
            continue
        trained[form] = checker
        judge.note(f"{label} one device", lambda: against_torch(checker))
        for mesh in meshes:
            judge.note(f"{label} {mesh}", lambda: against_one(checker, mesh))
    if len(trained) == 2:
        judge.note(f"{name} default = plain", lambda: against_plain(trained["default"], trained["plain"]))


def read_table(path):
    """Case -> form -> meshes or a refusal."""
    table = {}
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        name, _, rest = line.split("#")[0].partition(":")
        words = rest.split()
        if not words:
            continue
        refused = re.match(r'\s*\w+ refused "(.*)"', rest)
        table.setdefault(name.strip(), {})[words[0]] = refused[1] if refused else words[1:]
    if sorted(table) != sorted(CASES):
        sys.exit(f"error: expected the cases {', '.join(sorted(CASES))}, got {', '.join(sorted(table))}")
    return table


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True)
    p.add_argument("--all", action="store_true", help="every mesh for each line that is not refused")
    p.add_argument("--only", help="these cases alone")
    p.add_argument("--jobs", type=int, default=1, help="cases at a time")
    p.add_argument("-o", "--out", required=True)
    p.add_argument("table", nargs="?", default=HERE / "table.txt")
    a = p.parse_args()
    table, judge, start = read_table(a.table), Judge(), time.time()
    names = a.only.split(",") if a.only else list(table)
    if a.all:
        table = {name: {form: meshes if isinstance(meshes, str) else list(MESHES) for form, meshes in forms.items()}
                 for name, forms in table.items()}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(lambda name: check(a, judge, name, table[name]), names))
    print(f"{len(names)} models, {judge.cases} cases, {judge.failed} failed, {time.time() - start:.0f} s")
    sys.exit(1 if judge.failed else 0)


if __name__ == "__main__":
    main()
