# ===- places.py - Places against live bytes -------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Reads the remarks of the pass that places buffers: each frame takes at most
1.05 times the bytes that live at once.

    llmc-opt ordered.mlir --llmc-phase-plan --remarks-filter=places ... 2>&1 | python places.py
"""

import re
import sys

BAR = 1.05


def main():
    worst, count = 0, 0
    for name, place, live in re.findall(r"([\w.@]+): (\d+) bytes for (\d+) that live at once", sys.stdin.read()):
        ratio, count = int(place) / int(live), count + 1
        worst = max(worst, ratio)
        print(f"{name}: {place} bytes, {live} live, {ratio:.3f}")
    print(f"{count} frames, the worst takes {worst:.3f} of its live bytes, bar {BAR}")
    sys.exit(0 if count and worst <= BAR else 1)


if __name__ == "__main__":
    main()
