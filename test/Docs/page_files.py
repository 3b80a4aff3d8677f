# ===- page_files.py - Writes the files that a page shows -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes each block after `<!-- file: NAME -->` as that file.

    page_files.py PAGE FOLDER
"""
import pathlib
import re
import sys

page, folder = (pathlib.Path(path) for path in sys.argv[1:])
found = re.findall(r"(?ms)^<!-- file: ([\w.-]+) -->\n```[\w+]*\n(.*?)^```$", page.read_text(encoding="utf-8"))
for name, text in found:
    (folder / name).write_text(text, encoding="utf-8")
if not found:
    sys.exit(f"{page}: expected blocks of files, got none")
print(f"{len(found)} files")
