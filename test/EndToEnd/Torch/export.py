# ===- export.py - PyTorch's files and figures of small models ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes what the tests of this folder read; needs torch, onnx and transformers.

    python -m venv /tmp/torch && /tmp/torch/bin/pip install torch onnx onnxscript transformers
    /tmp/torch/bin/python export.py [-o Models] [case ...]

For each case of models.py, all with fixed seeds:
    <case>.onnx          what `torch.onnx.export(model.train(), batch, file)` writes
    <case>.plain.onnx    the same with optimize=False
    <case>.safetensors   the inputs of some batches; and what PyTorch computes in f32
                         from them: the logits, loss and gradients of the first step,
                         and the losses of 20 steps of AdamW
Each .onnx has its weights in a file beside it, as PyTorch writes them. Of the stack
trace of each node, the last frame is kept, without the folder of its file: the rest
is large and names the machine. Two texts of each node that repeat its scopes go too.
"""

import argparse
import json
import pathlib
import sys
import warnings

import onnx
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import arrays  # noqa: E402
import models  # noqa: E402

STEPS, BATCHES = 20, 3
OPTIMIZER = {"lr": 3e-3, "betas": (0.9, 0.95), "eps": 1e-6, "weight_decay": 0.01}


def shorten(trace):
    """Of a stack trace the last frame, without folders."""
    lines = trace.rstrip().splitlines()
    starts = [i for i, line in enumerate(lines) if line.lstrip().startswith("File ")]
    if not starts:
        return trace
    head, _, rest = lines[starts[-1]].lstrip().partition('"')
    path, _, tail = rest.partition('"')
    return "\n".join([f'{head}"{pathlib.Path(path).name}"{tail}', *lines[starts[-1] + 1 :]])


def shorten_metadata(path):
    """Names of the file's initializers."""
    model = onnx.load(path, load_external_data=False)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key not in ("namespace", "pkg.torch.onnx.class_hierarchy")]
        pairs = [(entry.key, shorten(entry.value) if entry.key.endswith("stack_trace") else entry.value) for entry in kept]
        del node.metadata_props[:]
        for key, value in pairs:
            node.metadata_props.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())
    return {tensor.name for tensor in model.graph.initializer}


def export(case, model, batch, path, optimize):
    """Names of the file's initializers."""
    options = dict(case.options)
    if case.dynamic:
        options["dynamic_shapes"] = {name: case.dynamic.get(name) for name in case.inputs}
    torch.onnx.export(model, batch, path, optimize=optimize, output_names=list(case.outputs), verbose=False, **options)
    return shorten_metadata(path)


def loss_of(case, model, batch, labels):
    """The loss, and what the model returns beside it."""
    result = model(*batch)
    if not case.loss:
        return result
    if case.loss == "next-token":
        return models.cross_entropy(result[:, :-1], batch[0][:, 1:]), result
    return F.cross_entropy(result, labels), result


def train(case, model, data, names):
    """What PyTorch computes, by name."""
    optimizer = torch.optim.AdamW(model.parameters(), **OPTIMIZER)
    found, losses = {}, []
    for step in range(STEPS):
        rows = slice(step % BATCHES * case.batch, (step % BATCHES + 1) * case.batch)
        batch = tuple(x[rows] for name, x in data.items() if name in case.inputs)
        loss, result = loss_of(case, model, batch, data["labels"][rows] if "labels" in data else None)
        optimizer.zero_grad()
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            found["result"] = result.detach().numpy()
            for name, p in model.named_parameters(remove_duplicate=False):
                if name in names and p.grad is not None:
                    found[f"grad.{name}"] = p.grad.numpy().copy()
        optimizer.step()
    return found | {"losses": torch.tensor(losses, dtype=torch.float32).numpy()}


def draw_data(case):
    """Input -> rows of all batches; labels too where llmc is to add the loss."""
    generator = torch.Generator().manual_seed(1)
    draws = dict(case.inputs)
    if case.loss == "classification":
        draws["labels"] = models.labels
    return {name: draw(generator, case.batch * BATCHES) for name, draw in draws.items()}


def write(name, out):
    case = models.CASES[name]
    torch.manual_seed(0)
    model = case.make().train()
    data = draw_data(case)
    batch = tuple(data[each][: case.batch] for each in case.inputs)
    export(case, model, batch, out / f"{name}.onnx", True)
    names = export(case, model, batch, out / f"{name}.plain.onnx", False)
    narrow = {each: x.to(torch.int32) if x.dtype == torch.int64 else x for each, x in data.items()}
    stored = {"input." + each: x.numpy() for each, x in narrow.items()}
    if not case.random:
        stored |= train(case, model, data, names)
    arrays.write_safetensors(out / f"{name}.safetensors", stored)
    size = sum(path.stat().st_size for path in out.glob(f"{name}.*"))
    print(f"{name}: {len(stored)} arrays, {size} bytes", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("-o", "--out", type=pathlib.Path, default=HERE / "Models")
    p.add_argument("cases", nargs="*")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    torch.use_deterministic_algorithms(True)
    for name in a.cases or models.CASES:
        write(name, a.out)
    # What the driver must know about the cases, without torch.
    keep = ("outputs", "loss", "dynamic", "random", "batch")
    table = {name: {key: getattr(case, key) for key in keep} for name, case in models.CASES.items()}
    (a.out / "cases.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
