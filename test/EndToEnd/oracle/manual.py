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
    python manual.py --llmc llmc -o out --only ring,experts
"""

# First: it says how many devices there are, before JAX is read.
from manual_losses import CASES, EXPORTED, ROWS

import jax
import jax.export

import one_step

# The suite takes the first two.
RUNS = [("interpret", ""), ("train", "data=2,tensor=4"), ("interpret", "data=4,tensor=2")]
RUNS += [("train", ""), ("interpret", "tensor=3")]
CONFIGURATION = """[mesh]
axes = ["data", "tensor"]
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


class Case(one_step.Case):
    def __init__(self, a, name):
        self.loss, shapes, width = CASES[name]
        super().__init__(a, name, shapes, (ROWS, width), CONFIGURATION)

        def train(params, x):
            return self.loss(params, x)

        if name in EXPORTED:
            text = jax.export.export(jax.jit(train))(self.parameters, self.x).mlir_module()
        else:
            text = jax.jit(train).lower(self.parameters, self.x).as_text(debug_info=True)
        self.write_text(text)

    def expect(self):
        """The loss and the gradients by JAX."""
        return jax.jit(jax.value_and_grad(self.loss))(self.parameters, self.x)


if __name__ == "__main__":
    one_step.main(__doc__, CASES, Case, RUNS)
