# ===- model.py - Size and arithmetic of the benchmark's ViT --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The vision transformer of the benchmark: its size, its floating-point work, its traffic.

ViT-S/16 (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021; the small size is
that of Touvron et al., "Training data-efficient image transformers", 2021): patches by
a convolution of their size and stride, a class token, learned positions, blocks with the
norms in front, and a linear layer on the class token. One step is forward, backward and
AdamW over one batch, in f32. Counted work:
    2 flops for each multiply-add of a product, times 3 for forward plus the two products
    of the backward (of the patches without the gradient of the pictures), over all
    weights and over the two products of attention. Element-wise work is not counted.
Counted traffic is what no implementation can avoid outside caches: AdamW reads
parameter, gradient and two moments and writes parameter and two moments.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Size:
    batch: int = 8
    pixels: int = 224
    patch: int = 16
    layers: int = 12
    d: int = 384
    heads: int = 6
    classes: int = 1000

    @property
    def patches(self):
        return (self.pixels // self.patch) ** 2

    @property
    def tokens(self):
        """Of one picture: its patches and the class token."""
        return self.patches + 1

    @property
    def patch_weights(self):
        return 3 * self.patch**2 * self.d

    @property
    def parameters(self):
        block = 12 * self.d * self.d + 13 * self.d
        stem = self.patch_weights + self.d * (2 + self.tokens)
        return stem + self.layers * block + 2 * self.d + (self.d + 1) * self.classes

    @property
    def flops(self):
        """Of a step."""
        rows = self.batch * self.tokens
        blocks = self.layers * (rows * 12 * self.d**2 + 2 * rows * self.tokens * self.d)
        stem = self.batch * self.patches * self.patch_weights
        return 2 * (3 * (blocks + self.batch * self.d * self.classes) + 2 * stem)

    @property
    def optimizer_bytes(self):
        return 7 * 4 * self.parameters

    @property
    def products(self):
        """n, k, m of the largest."""
        rows = self.batch * self.tokens
        return [(rows, self.d, 4 * self.d), (rows, 4 * self.d, self.d), (rows, self.d, 3 * self.d)]
