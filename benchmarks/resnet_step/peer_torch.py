#!/usr/bin/env python3
# ===- peer_torch.py - The ResNet step in PyTorch -------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in PyTorch, features outside or inside, eager or compiled.

Prints one JSON line.
"""

import json
import resource
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import model


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
    p = model.peer_arguments(__doc__.split("\n")[0])
    p.add_argument("--compile", action="store_true")
    p.add_argument("--features-inside", action="store_true", help="channels_last")
    a = p.parse_args()
    s = model.size_from(a)
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if a.features_inside else torch.contiguous_format
    net = ResNet(s).to(memory_format=layout)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, fused=True)
    loss_of = torch.compile(net) if a.compile else net
    images = torch.randn(s.batch, 3, s.pixels, s.pixels).to(memory_format=layout)
    labels = torch.randint(0, s.classes, (s.batch,))
    times = []
    for _ in range(a.warmup + a.steps):
        begin = time.perf_counter()
        loss = loss_of(images, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        times.append(1e3 * (time.perf_counter() - begin))
    kind = ("compiled" if a.compile else "eager") + (", channels last" if a.features_inside else "")
    result = {
        "name": f"PyTorch {torch.__version__.split('+')[0]} {kind}",
        "threads": a.threads,
        "ms": times[a.warmup :],
        "loss": loss.item(),
        "max_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
