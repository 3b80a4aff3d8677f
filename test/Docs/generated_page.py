# ===- generated_page.py - Pages that tools write ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A page is what a script makes of a tool's output, word for word; LLMC_UPDATE_DOCS=1 writes it."""

import difflib
import os
import pathlib
import sys


def settle(path, text, again):
    """Compares the page with `text`, or writes it; `again` is the command that does."""
    page = pathlib.Path(path)
    if os.environ.get("LLMC_UPDATE_DOCS"):
        page.write_text(text, encoding="utf-8")
        print(f"{page}: written")
        return
    found = page.read_text(encoding="utf-8") if page.exists() else ""
    if found == text:
        print(f"{page.name} is what the tools say")
        return
    lines = difflib.unified_diff(found.splitlines(), text.splitlines(), str(page), "what the tools say", lineterm="")
    print("\n".join(list(lines)[:60]))
    sys.exit(f"{page.name} is not what the tools say: LLMC_UPDATE_DOCS=1 {again}")
