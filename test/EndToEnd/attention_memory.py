# ===- attention_memory.py - What a plan stores of scores and logits --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Prints the largest value that the programs of a plan read or write, and in how many
places values of a size stand:

    llmc inspect plan plan.llmc | python attention_memory.py --elements 2048
"""

import argparse
import math
import re
import sys

BYTES = {"f64": 8, "f32": 4, "i32": 4, "i64": 8, "bf16": 2, "f16": 2, "ui64": 8, "ui32": 4, "i1": 1}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--elements", type=int, required=True)
    a = p.parse_args()
    sizes = {}
    for buffer, shape, element in re.findall(r"([\w.]+):((?:\d+x)*)(f64|f32|bf16|f16|ui64|ui32|i64|i32|i1)\b", sys.stdin.read()):
        elements = math.prod(int(size) for size in shape.split("x") if size)
        sizes[buffer] = max(sizes.get(buffer, (0, 0)), (elements * BYTES[element], elements))
    named = [buffer for buffer, (_, elements) in sizes.items() if elements == a.elements]
    print(f"largest: {max(size for size, _ in sizes.values())} B")
    print(f"of {a.elements} elements: {len(named)}")


if __name__ == "__main__":
    main()
