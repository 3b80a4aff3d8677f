#!/usr/bin/env python3
# ===- product_rate.py - The machine's product and copy rates -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Measures what the step is bound by: f32 products and memory copies.

The products are those of the step's convolutions as matrices, places by kernel
elements times inputs by outputs, run by the library at hand (PyTorch's if it is
installed, else numpy's). Prints one JSON line.
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
    plain = {c for c in s.convolutions if c.kernel == 3 and c.stride == 1 and c.inputs > 3}
    shapes = [(s.batch * c.places, 9 * c.inputs, c.outputs) for c in plain]
    print(json.dumps(sitting.measure_rates(a.threads, shapes)))


if __name__ == "__main__":
    main()
