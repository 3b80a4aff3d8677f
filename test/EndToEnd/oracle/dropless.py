# ===- dropless.py - Experts without capacity --------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Two layers of experts of which no token is dropped, trained for three steps in f64.

Two forms: `manual`, tokens go to the devices of their experts by ragged_all_to_all in a
jax.shard_map, and `annotated`, jax.lax.ragged_dot on sorted tokens with shardings. Losses
and parameters within 1e-12 of JAX, which computes every expert for every token. For the
manual form the bytes between devices are those of the tokens that change their device; for
the annotated form a device receives no more than the formula of docs/systems.md.

    python dropless.py --llmc llmc -o out
    python dropless.py --llmc llmc -o out --only manual --mesh data=2,expert=2
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import quick_xla

quick_xla.ask("--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import arrays

jax.config.update("jax_enable_x64", True)
BAR = 1e-12
STEPS, TOKENS, WIDTH, INNER, EXPERTS, TOP, RATE = 3, 32, 6, 10, 8, 2, 0.5
LAYERS = 2
# The mesh of the text, and what it is run on: with fewer devices each is several of the text.
MESHES = {"expert=2": ["expert=2", ""], "expert=4": ["expert=4", "expert=2", ""], "data=2,expert=2": ["data=2,expert=2", ""]}
BOTH = ("data", "expert")
CONFIGURATION = f"""[mesh]
axes = ["data", "expert"]
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[optimizer]
name = "sgd"
lr = {RATE}
[training]
precision = "f64"
parameters = ["params*"]
"""


def draw_parameters(random):
    sizes = {"embed": (5, WIDTH)}
    for i in range(LAYERS):
        sizes[f"router{i}"] = (WIDTH, EXPERTS)
        sizes[f"up{i}"] = (EXPERTS, WIDTH, INNER)
        sizes[f"down{i}"] = (EXPERTS, INNER, WIDTH)
    return {name: random.normal(size=size) * 0.7 for name, size in sizes.items()}


def route(router, x):
    """Of each token its experts and their weights."""
    weights, chosen = lax.top_k(jax.nn.softmax(x @ router), TOP)
    return weights / weights.sum(-1, keepdims=True), chosen


def sort_tokens(x, chosen):
    """Tokens by expert, once for each that they have; their order; how many each expert has."""
    flat = chosen.reshape(-1)
    order = jnp.argsort(flat)
    sizes = (flat[:, None] == jnp.arange(EXPERTS)).sum(0).astype(jnp.int32)
    return x[order // TOP], order, sizes


def combine(rows, order, weights):
    back = rows[jnp.argsort(order)].reshape(*weights.shape, -1)
    return (weights[..., None] * back).sum(1)


def compute(up, down, rows, sizes):
    return lax.ragged_dot(jnp.tanh(lax.ragged_dot(rows, up, sizes)), down, sizes)


def before(sizes, axis):
    return jnp.cumsum(sizes, axis) - sizes


# ===----------------------------------------------------------------------=== #
# The forms of a layer
# ===----------------------------------------------------------------------=== #


def reference(mesh, router, up, down, x):
    """Each expert for each token."""
    weights, chosen = route(router, x)
    all_of_them = jnp.einsum("xti,xiw->txw", jnp.tanh(jnp.einsum("tw,xwi->xti", x, up)), down)
    return (weights[..., None] * jnp.take_along_axis(all_of_them, chosen[..., None], 1)).sum(1)


def annotated(mesh, router, up, down, x):
    split = lambda value: lax.with_sharding_constraint(value, jax.NamedSharding(mesh, P(BOTH)))
    weights, chosen = route(router, split(x))
    rows, order, sizes = sort_tokens(x, chosen)
    return split(combine(compute(up, down, rows, sizes), order, weights))


def exchange(up, down, rows, sizes, members):
    """What the experts of all devices make of one device's rows, which are sorted by expert."""
    own = EXPERTS // members
    here = lax.axis_index("expert") * own
    mine = lambda values: lax.dynamic_slice_in_dim(values, here, own, -1)
    every = lax.all_gather(sizes, "expert")
    # Where an expert's rows begin on its device, of each sender; and where they lie at the sender.
    total = every.sum(0).reshape(members, own)
    there = before(total, 1).reshape(-1) + before(every, 0)
    starts = before(every, 1)
    got = lax.ragged_all_to_all(
        rows, jnp.zeros((members * rows.shape[0], WIDTH)), before(sizes, 0), sizes,
        there[lax.axis_index("expert")], mine(every).reshape(-1), axis_name="expert")
    done = compute(up, down, got, mine(every.sum(0)))
    return lax.ragged_all_to_all(
        done, jnp.zeros_like(rows), mine(there).reshape(-1), mine(every).reshape(-1),
        mine(starts).reshape(-1), sizes, axis_name="expert")


def manual(mesh, router, up, down, x):
    def layer(router, up, down, x):
        weights, chosen = route(router, x)
        rows, order, sizes = sort_tokens(x, chosen)
        return combine(exchange(up, down, rows, sizes, mesh.shape["expert"]), order, weights)

    specs = (P(), P("expert"), P("expert"), P(BOTH))
    return jax.shard_map(layer, mesh=mesh, in_specs=specs, out_specs=P(BOTH), check_vma=False)(router, up, down, x)


FORMS = {"manual": manual, "annotated": annotated}


def make_loss(layer, mesh):
    def loss(params, x):
        h = x @ params["embed"]
        for i in range(LAYERS):
            h = h + layer(mesh, params[f"router{i}"], params[f"up{i}"], params[f"down{i}"], h)
        return (h**2).mean()

    return loss


# ===----------------------------------------------------------------------=== #
# Runs
# ===----------------------------------------------------------------------=== #


def count_moved(params, x, members):
    """Tokens, once for each expert, whose expert is on another device of the axis, in all layers."""
    h, moved = x @ params["embed"], 0
    device = np.arange(len(x)) // (len(x) // members)
    for i in range(LAYERS):
        layer = [params[f"{name}{i}"] for name in ("router", "up", "down")]
        chosen = np.asarray(route(layer[0], h)[1])
        moved += int((chosen // (EXPERTS // members) != device[:, None]).sum())
        h = h + reference(None, *layer, h)
    return moved


def expect(params, x, sizes):
    """Losses and parameters after each step by JAX, and rows that change their device."""
    step = jax.jit(jax.value_and_grad(make_loss(reference, None)))
    losses, moved = [], 0
    for part in x.reshape(STEPS, TOKENS, -1):
        for of_group in np.split(part, sizes.get("data", 1)):
            moved += count_moved(params, of_group, sizes["expert"])
        loss, slopes = step(params, part)
        losses.append(float(loss))
        params = {name: params[name] - RATE * slopes[name] for name in params}
    return losses, params, moved


def write(folder, form, sizes, is_derived, params, x):
    folder.mkdir(parents=True, exist_ok=True)
    mesh = jax.make_mesh((sizes.get("data", 1), sizes["expert"]), BOTH, axis_types=(jax.sharding.AxisType.Auto,) * 2)
    loss = make_loss(FORMS[form], mesh)

    def train(params, x):
        return jax.value_and_grad(loss)(params, x) if is_derived else loss(params, x)

    split = lambda name: jax.NamedSharding(mesh, P("expert") if name[:2] in ("up", "do") else P())
    shapes = {n: jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=split(n)) for n, v in params.items()}
    part = jax.ShapeDtypeStruct((TOKENS, x.shape[-1]), x.dtype, sharding=jax.NamedSharding(mesh, P(BOTH)))
    # Of processors JAX prints a ragged product as masks.
    text = jax.jit(train).trace(shapes, part).lower(lowering_platforms=("cuda",)).as_text(debug_info=True)
    (folder / "model.mlir").write_text(text, encoding="utf-8")
    (folder / "model.toml").write_text(CONFIGURATION, encoding="utf-8")
    np.save(folder / "x.npy", x)
    arrays.write_safetensors(folder / "weights.safetensors", params)


def run(a, folder, mesh, names):
    """(losses, parameters, what it printed), or what was said of a run that ended badly."""
    log, dump = folder / "log.jsonl", folder / "dump"
    command = [a.llmc, "train", folder / "model.mlir", "--config", folder / "model.toml", "--log", log]
    command += ["--weights", folder / "weights.safetensors", "--steps", STEPS, "--count", "--dump", dump]
    command += ["--fetch", ",".join(names)] + (["--mesh", mesh] if mesh else [])
    command += ["--device", a.device] if a.device else []
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    found = {n: np.load(dump / f"{n}.npy") for n in names}
    return [row["loss"] for row in rows if "loss" in row], found, done.stdout


RECEIVED = {"all_gather": lambda n: n - 1, "all_reduce": lambda n: 2 * (n - 1) / n, "reduce_scatter": lambda n: (n - 1) / n}
COUNTED = re.compile(r"counted on stage 0: (\d+) (scalar )?(\w+) over ([\w ]+), (\d+) B")


def received(printed, sizes):
    """Bytes that a device received in a step; scalars are left out."""
    total = 0
    for _, scalar, kind, axes, size in COUNTED.findall(printed):
        members = int(np.prod([sizes[axis] for axis in axes.split()]))
        total += 0 if scalar else RECEIVED[kind](members) * int(size) / STEPS
    return total


def formula(sizes):
    """What a device receives in a step of the annotated form: of each layer the tokens and their
    cotangents gathered, the sums of rows and the tokens' gradients scattered; for each row the
    number of its expert, its weight and the gradient of that. Gradients of routers and embedding."""
    members, groups = sizes["expert"], sizes.get("data", 1)
    moved = lambda size, n: size * (n - 1) / n
    tokens, rows = TOKENS * WIDTH * 8, TOKENS * TOP
    gathered = 2 * tokens + rows * (4 + 8)
    # All tokens are sorted together: a group of devices gathers those of the others too, and what
    # it needs of its own for the weights' gradients; its sums are of its own tokens.
    layer = moved(gathered, members * groups) + moved(2 * tokens + rows * 8, members) / groups
    layer += moved(tokens + rows * 8, members) / groups if groups > 1 else 0
    states = LAYERS * WIDTH * EXPERTS + 5 * WIDTH
    return LAYERS * layer + 2 * moved(states * 8, members * groups)


def compare(got, wanted, exchanges, sizes):
    """(how far it is, what is wrong); `exchanges` are expected between devices, if any, else bytes
    of other collectives on the axes of `sizes`, if it has any."""
    losses, params, moved = wanted
    if isinstance(got, str):
        return 0, got
    apart = float(np.max([abs(a - b) / abs(b) for a, b in zip(got[0], losses, strict=True)]))
    for name, value in params.items():
        apart = float(np.maximum(apart, np.abs(got[1][name] - value).max() / np.abs(value).max()))
    if not apart <= BAR:
        return apart, f"{apart:.1e} from JAX"
    if not exchanges and sizes and received(got[2], sizes) > formula(sizes) + 1:
        return apart, f"expected {formula(sizes):.0f} B received in a step, got {received(got[2], sizes):.0f}"
    counted = re.search(r"counted on all devices: (\d+) ragged_all_to_all, (\d+) B", got[2])
    counted = (int(counted[1]), int(counted[2])) if counted else (0, 0)
    # To the experts and back, forward and backward.
    expected = (exchanges, 4 * moved * WIDTH * 8 if exchanges else 0)
    wrong = f"expected {expected[0]} exchanges of {expected[1]} B, got {counted[0]} of {counted[1]} B"
    return apart, "" if counted == expected else wrong


def sizes_of(mesh):
    return {name: int(size) for name, size in (axis.split("=") for axis in mesh.split(","))}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--llmc", required=True, type=pathlib.Path)
    p.add_argument("--only", default=",".join(FORMS))
    p.add_argument("--device", default="", help="on which kind of device, instead of the processor")
    p.add_argument("--mesh", choices=MESHES, help="the mesh of the text, instead of all")
    p.add_argument("-o", "--output", required=True, type=pathlib.Path)
    a = p.parse_args()
    random = np.random.default_rng(5)
    params, x = draw_parameters(random), random.normal(size=(STEPS * TOKENS, 5))
    done = failed = 0
    for mesh in [a.mesh] if a.mesh else MESHES:
        for form in a.only.split(","):
            for is_derived in (False, True):
                name = f"{form}.{mesh}{'.derived' if is_derived else ''}"
                write(a.output / name, form, sizes_of(mesh), is_derived, params, x)
                for on in MESHES[mesh]:
                    sizes = sizes_of(on or mesh)
                    exchanges = 4 * LAYERS * STEPS * sizes.get("data", 1) if form == "manual" and on else 0
                    wanted = expect(params, x, sizes)
                    got = run(a, a.output / name, on, params)
                    apart, wrong = compare(got, wanted, exchanges, sizes if on else None)
                    done += 1
                    failed += bool(wrong)
                    print(f"{'FAILED' if wrong else 'passed'} {name} on {on or 'one device'}: {wrong or f'{apart:.1e}'}", flush=True)
    print(f"{done} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
