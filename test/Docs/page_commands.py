# ===- page_commands.py - Runs what a page shows ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs the blocks `sh` and `python` of a page in a folder, in their order; the first that fails ends it.

    page_commands.py PAGE FOLDER PYTHON
"""
import pathlib
import re
import subprocess
import sys

page, folder, python = sys.argv[1:]
blocks = re.findall(r"(?ms)^```(sh|python)\n(.*?)^```$", pathlib.Path(page).read_text(encoding="utf-8"))
for language, text in blocks:
    command = ["bash", "-e", "-c", text] if language == "sh" else [python, "-c", text]
    print(f"--- {language}\n{text}", flush=True)
    if subprocess.run(command, cwd=folder).returncode:
        sys.exit(f"failed: {text}")
print(f"{len(blocks)} blocks")
