# ===- model.py - Size and arithmetic of the benchmark's GPT -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The GPT of the benchmark: its size, its floating-point work and its traffic.

One step is forward, backward and AdamW over one batch, in f32. Counted work:
    2 flops for each multiply-add of a contraction, times 3 for forward plus the
    two products of the backward, over all weights (the tied embedding once, as
    the output projection) and over the two attention products, not halved for
    the causal mask. Element-wise work is not counted.
Counted traffic is what no implementation can avoid outside caches: AdamW reads
parameter, gradient and two moments and writes parameter and two moments.
"""

import argparse
import dataclasses


@dataclasses.dataclass(frozen=True)
class Size:
    layers: int = 6
    d: int = 384
    heads: int = 6
    seq: int = 256
    batch: int = 8
    vocab: int = 8192

    @property
    def tokens(self):
        return self.batch * self.seq

    @property
    def block_parameters(self):
        return 12 * self.d * self.d + 13 * self.d

    @property
    def parameters(self):
        embeddings = (self.vocab + self.seq) * self.d
        return embeddings + self.layers * self.block_parameters + 2 * self.d

    @property
    def flops(self):
        weights = self.layers * 12 * self.d * self.d + self.vocab * self.d
        attention = self.layers * 2 * self.batch * self.seq * self.seq * self.d
        return 3 * 2 * (self.tokens * weights + attention)

    @property
    def optimizer_bytes(self):
        return 7 * 4 * self.parameters


def add_size_arguments(parser):
    for field in dataclasses.fields(Size):
        parser.add_argument(f"--{field.name}", type=int, default=field.default)


def size_from(arguments):
    return Size(**{f.name: getattr(arguments, f.name) for f in dataclasses.fields(Size)})


def peer_arguments(description):
    p = argparse.ArgumentParser(description=description)
    add_size_arguments(p)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--steps", type=int, default=10, help="timed steps")
    p.add_argument("--warmup", type=int, default=2)
    return p
