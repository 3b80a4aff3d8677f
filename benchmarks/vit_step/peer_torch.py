#!/usr/bin/env python3
# ===- peer_torch.py - The ViT step in PyTorch ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in PyTorch: fused attention and AdamW, eager or compiled.

Prints one JSON line.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import model  # noqa: E402
import sizes  # noqa: E402
import torch_peer  # noqa: E402


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (
            y.view(b, t, self.heads, d // self.heads).transpose(1, 2)
            for y in self.qkv(self.ln1(x)).split(d, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Vit(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.stem = nn.Conv2d(3, s.d, s.patch, s.patch)
        self.first = nn.Parameter(torch.zeros(1, 1, s.d))
        self.positions = nn.Parameter(torch.zeros(s.tokens, s.d))
        self.blocks = nn.ModuleList(Block(s.d, s.heads) for _ in range(s.layers))
        self.ln, self.head = nn.LayerNorm(s.d), nn.Linear(s.d, s.classes)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, images, labels):
        patches = self.stem(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(images), 1, -1), patches], dim=1) + self.positions
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(self.ln(x[:, 0])), labels)


def main():
    p = sizes.peer_arguments(__doc__, model.Size)
    p.add_argument("--compile", action="store_true")
    a = p.parse_args()
    s = sizes.size_from(a, model.Size)
    torch_peer.set_up(a)
    vit = Vit(s)
    optimizer = torch.optim.AdamW(
        vit.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    torch_peer.run_peer(a, vit, optimizer, torch_peer.draw_pictures(s))


if __name__ == "__main__":
    main()
