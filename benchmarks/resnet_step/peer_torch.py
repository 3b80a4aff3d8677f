#!/usr/bin/env python3
# ===- peer_torch.py - The ResNet step in PyTorch -------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in PyTorch, features outside or inside, eager or compiled.

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


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.convolution = nn.Conv2d(c.inputs, c.outputs, c.kernel, c.stride, c.kernel // 2, bias=False)
        self.norm = nn.BatchNorm2d(c.outputs, track_running_stats=False)

    def forward(self, x):
        return self.norm(self.convolution(x))


class Block(nn.Module):
    def __init__(self, convolutions):
        super().__init__()
        self.layers = nn.ModuleList(map(Layer, convolutions))

    def forward(self, x):
        first, second, *short = self.layers
        y = second(F.relu(first(x), inplace=True))
        return F.relu(y + (short[0](x) if short else x), inplace=True)


class ResNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.stem = Layer(s.stem)
        self.blocks = nn.ModuleList(Block(block) for stage in s.stages for block in stage)
        self.head = nn.Linear(s.features, s.classes)

    def forward(self, images, labels):
        x = F.relu(self.stem(images), inplace=True)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(self.head(x.mean((2, 3))), labels)


def main():
    p = sizes.peer_arguments(__doc__, model.Size)
    p.add_argument("--compile", action="store_true")
    p.add_argument("--features-inside", action="store_true", help="channels_last")
    a = p.parse_args()
    s = sizes.size_from(a, model.Size)
    torch_peer.set_up(a)
    layout = torch.channels_last if a.features_inside else torch.contiguous_format
    net = ResNet(s).to(memory_format=layout)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, fused=True)
    images, labels = torch_peer.draw_pictures(s)
    inputs = images.to(memory_format=layout), labels
    torch_peer.run_peer(a, net, optimizer, inputs, ", channels last" if a.features_inside else "")


if __name__ == "__main__":
    main()
