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

    @property
    def products(self):
        """n, k, m of the largest."""
        return [(self.tokens, self.d, 4 * self.d), (self.tokens, 4 * self.d, self.d), (self.tokens, self.d, self.vocab)]
