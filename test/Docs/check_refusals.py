# ===- check_refusals.py - Faults of the page and of the tests ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compares the numbers in bold of docs/refusals.md with the faults that the numbered tests ran.

    check_refusals.py PAGE OUTPUT
"""

import pathlib
import re
import sys

page, output = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:])
listed = [int(number) for number in re.findall(r"(?m)^\| \*\*(\d+)\*\* \|", page)]
ran = {int(number): int(cases) for number, cases in re.findall(r"(?m)^fault (\d+): .*: (\d+) cases, 0 failed$", output)}
if sorted(listed) != sorted(ran) or 0 in ran.values():
    sys.exit(f"expected the faults {listed} of the page, got {ran}")
print(f"{len(ran)} faults have their cases")
