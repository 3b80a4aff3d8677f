#!/usr/bin/env python3
# ===- gemm_rate.py - The machine's contraction and copy rates -----------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Measures what the step is bound by: f32 contractions and memory copies.

The contractions are the step's own largest shapes, each at its best, run by the
library at hand (PyTorch's if it is installed, else numpy's); the highest rate
is the roof. Prints one JSON line.
"""

import json
import time

import model


def best(run, least=5, seconds=1.0):
    """Least time of `run` over at least `least` runs and `seconds` seconds."""
    times = []
    while len(times) < least or sum(times) < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def library(threads):
    """Name, a maker of n x m matrices of ones, and an array copy, of the library at hand."""
    try:
        import torch
    except ImportError:
        import numpy

        ones = lambda n, m: numpy.ones((n, m), numpy.float32)
        return "numpy", ones, lambda target, source: numpy.copyto(target, source)
    torch.set_num_threads(threads)
    return "PyTorch", torch.ones, lambda target, source: target.copy_(source)


def main():
    a = model.peer_arguments(__doc__.split("\n")[0]).parse_args()
    s = model.size_from(a)
    name, ones, copy = library(a.threads)
    shapes = [(s.tokens, s.d, 4 * s.d), (s.tokens, 4 * s.d, s.d), (s.tokens, s.d, s.vocab)]
    rates = []
    for n, k, m in shapes:
        left, right = ones(n, k), ones(k, m)
        rates.append(2e-9 * n * k * m / best(lambda: left @ right))
    source, target = ones(1 << 13, 1 << 13), ones(1 << 13, 1 << 13)
    result = {
        "library": name,
        "threads": a.threads,
        "gflops": max(rates),
        "copy_gb_s": 2 * 4 * (1 << 26) / best(lambda: copy(target, source)) / 1e9,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
