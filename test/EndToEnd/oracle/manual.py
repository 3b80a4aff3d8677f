# ===- manual.py - Programs by shard_map ------------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Losses with manual regions and their collectives, against jax.grad on 8 devices.

One step of plain descent with rate 1 in f64: the loss, and each parameter's gradient
(what the step takes off), within 1e-10 of JAX; by the interpreter, by kernels on one
device and on the mesh for which the program is written, and by the devices of others.

    python manual.py --llmc llmc -o out
    python manual.py --llmc llmc -o out --only ring,experts,'*.derived','*.halves'
"""

# First: it says how many devices there are, before JAX is read.
import manual_losses
from manual_losses import EXPORTED, MESH, ROWS

import contextlib

import jax
import jax.export
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jax._src.lib.mlir.dialects import hlo

import manual_loops
import one_step
import printed_ops

CASES = {**manual_losses.CASES, **manual_loops.CASES}
# The suite takes the first two.
RUNS = [("interpret", ""), ("train", "data=2,tensor=4"), ("interpret", "data=4,tensor=2")]
RUNS += [("train", ""), ("interpret", "tensor=3"), ("train", "data=2"), ("train", "data=2,tensor=2")]
RUNS += [("interpret", "pipe=2"), ("train", "pipe=2,data=2"), ("train", "pipe=2,data=2,tensor=2")]
RUNS += [("train", "data=2,tensor=2", "training.recompute=all")]
CONFIGURATION = """[mesh]
axes = ["pipe", "data", "tensor"]
pipeline = "pipe"
[data.x]
kind = "array"
file = "x.npy"
shuffle = false
[optimizer]
name = "sgd"
lr = 1.0
[training]
precision = "f64"
parameters = ["params*"]
"""


# Ends the name of a loss that is printed with its derivative, by jax.value_and_grad.
DERIVED = ".derived"
# Ends the name of a loss whose text is the one that JAX stores for receivers without Shardy.
STORED = ".stored"
# Ends the name of a loss whose text calls what jax.export has made of it.
CALLED = ".called"
# Ends the name of a loss of a step of two microbatches: those that do not mix samples.
HALVES = ".halves"
SAMPLED = ["megatron", "mean_loss", "numbers", "recomputed", "gathered_weights", "experts", "layers", "recomputed_layers",
           "gathered_layers", "turns", "times", "routed", "nested_loops", "inside"]


def store(text):
    """`text` as it is read again where jax.export has stored it without the dialect of Shardy."""
    stored = _jax.mlir.serialize_portable_artifact(text, hlo.get_current_version(), False)
    with mlir.make_ir_context():
        return _jax.mlir.deserialize_portable_artifact(stored).operation.get_asm(enable_debug_info=True)


class Case(one_step.Case):
    def __init__(self, a, name):
        printed = name.removesuffix(STORED).removesuffix(CALLED).removesuffix(HALVES)
        plain = printed.removesuffix(DERIVED)
        self.loss, shapes, width = CASES[plain]
        # A derivative that is not of the text's whole function cannot be told from new states.
        derived = getattr(self.loss, "derived", None)
        kind = 'module = "gradients"\n' if derived else ""
        self.parts = 2 if HALVES in name else 1
        kind += f"microbatches = {self.parts}\n"
        super().__init__(a, name, shapes, (self.parts * ROWS, width), CONFIGURATION + kind)

        def train(params, x):
            return (derived or self.loss)(params, x)

        self.is_derived = printed != plain or plain in manual_loops.DERIVED
        train = jax.jit(jax.value_and_grad(train) if self.is_derived and not derived else train)
        # What JAX cannot derive it executes in another form, which it can.
        with printed_ops.executing() if printed != plain else contextlib.nullcontext():
            given = self.parameters, self.x[:ROWS]
            if name.endswith(CALLED):
                exported = jax.export.export(train)(*given)
                train = jax.jit(lambda params, x: exported.call(params, x))
                # It is called where as many devices are as it was exported for.
                whole = jax.sharding.NamedSharding(MESH, jax.sharding.PartitionSpec())
                given = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=whole), given)
            if printed in EXPORTED and not name.endswith(CALLED):
                text = jax.export.export(train)(*given).mlir_module()
            else:
                text = train.lower(*given).as_text(debug_info=True)
        self.write_text(store(text) if name.endswith(STORED) else text)

    def takes(self, *settings):
        """What is recomputed is part of a text that has the derivative."""
        return not self.is_derived or not any("recompute" in s for s in settings)

    def expect(self):
        """The loss and the gradients by JAX."""
        with printed_ops.executing():
            return one_step.by_jax(self.loss, self.parameters, self.x, self.parts)


if __name__ == "__main__":
    derived = [name + DERIVED for name in manual_loops.CASES if name not in manual_loops.DERIVED]
    halves = [name + HALVES for name in [*CASES, *derived] if name.removesuffix(DERIVED) in SAMPLED]
    exported = [name + end for name in CASES for end in (STORED, CALLED)]
    one_step.main(__doc__, CASES, Case, RUNS, more=[*derived, *halves, *exported])
