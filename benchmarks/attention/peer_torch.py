# ===- peer_torch.py - One attention in PyTorch ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What AttentionBenchmark.cpp does, by scaled_dot_product_attention: the same arguments,
values, lines read and lines printed."""

import json
import sys
import time

import torch


def main():
    batch, heads, length, depth, causal, threads = map(int, sys.argv[1:])
    torch.set_num_threads(threads)

    def waves(step, *shape):
        count = torch.Size(shape).numel()
        return torch.sin(step * torch.arange(count, dtype=torch.float64)).float().reshape(shape)

    qkv = waves(1.3, batch, length, 3, heads, depth).requires_grad_()
    q, k, v = (x.squeeze(2).transpose(1, 2).detach().requires_grad_() for x in qkv.split(1, dim=2))
    cotangent = waves(0.7, batch, length, heads, depth).transpose(1, 2)
    attend = torch.nn.functional.scaled_dot_product_attention
    for _ in sys.stdin:
        q.grad = k.grad = v.grad = None
        before = time.process_time()
        begin = time.perf_counter()
        out = attend(q, k, v, is_causal=bool(causal))
        middle = time.perf_counter()
        out.backward(cotangent)
        end = time.perf_counter()
        processor = 1e3 * (time.process_time() - before)
        checksum = sum(float(x.detach().double().abs().sum()) for x in (q.grad, k.grad, v.grad, out))
        times = {"forward": 1e3 * (middle - begin), "backward": 1e3 * (end - middle), "processor": processor}
        print(json.dumps({**times, "checksum": checksum}), flush=True)


if __name__ == "__main__":
    main()
