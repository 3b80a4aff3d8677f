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
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import model  # noqa: E402
import sitting  # noqa: E402


def main():
    a = model.peer_arguments(__doc__.split("\n")[0]).parse_args()
    s = model.size_from(a)
    shapes = [(s.tokens, s.d, 4 * s.d), (s.tokens, 4 * s.d, s.d), (s.tokens, s.d, s.vocab)]
    print(json.dumps(sitting.measure_rates(a.threads, shapes)))


if __name__ == "__main__":
    main()
