# ===- product_rate.py - The machine's product and copy rates -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Measures what a step is bound by: f32 products and memory copies.

The products (n x k times k x m) are the step's own largest, each at its best, run by
the library at hand (PyTorch's if it is installed, else numpy's); the highest rate is
the roof. Prints one JSON line.

    python product_rate.py --threads 2 2048,384,1536 2048,1536,384
"""

import argparse
import json

import sitting


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("products", nargs="+", help="n,k,m")
    a = p.parse_args()
    shapes = [tuple(map(int, product.split(","))) for product in a.products]
    print(json.dumps(sitting.measure_rates(a.threads, shapes)))


if __name__ == "__main__":
    main()
