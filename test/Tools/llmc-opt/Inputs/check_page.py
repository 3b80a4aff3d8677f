# ===- check_page.py - Pages that show files ------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Checks that a page shows a file as it stands, without its banner.

check_page.py page file
"""

import pathlib
import re
import sys

page, file = (pathlib.Path(path) for path in sys.argv[1:])
text = re.sub(r"\A(//.*\n)+\n", "", file.read_text(encoding="utf-8"))
if f"\n{text}```" not in page.read_text(encoding="utf-8"):
    sys.exit(f"{page}: expected a block with the text of {file}")
