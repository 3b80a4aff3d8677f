#!/usr/bin/env python3
# ===- peer_torch.py - The GPT step in PyTorch ---------------------------=== #
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
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(s.vocab, s.d), nn.Embedding(s.seq, s.d)
        self.blocks = nn.ModuleList(Block(s.d, s.heads) for _ in range(s.layers))
        self.ln_f = nn.LayerNorm(s.d)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.ln_f(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    p = sizes.peer_arguments(__doc__, model.Size)
    p.add_argument("--compile", action="store_true")
    a = p.parse_args()
    s = sizes.size_from(a, model.Size)
    torch_peer.set_up(a)
    gpt = Gpt(s)
    optimizer = torch.optim.AdamW(
        gpt.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True
    )
    ids = [torch.randint(0, s.vocab, (s.batch, s.seq)) for _ in range(2)]
    torch_peer.run_peer(a, gpt, optimizer, ids)


if __name__ == "__main__":
    main()
