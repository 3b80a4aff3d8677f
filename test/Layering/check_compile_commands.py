#!/usr/bin/env python3
"""Checks that the runtime house and the solvers are compiled without any sight of LLVM.

usage: check_compile_commands.py compile_commands.json SOURCE_ROOT

Reads the commands of the build: a file of lib/Runtime, lib/Solvers or tools/llmc-run may
have no include folder, definition or forced include of LLVM or MLIR, and is
compiled without contraction of floating-point operations.
"""
import json
import pathlib
import re
import sys

FOREIGN = re.compile(r"\S*(?:llvm-\d+/include|/mlir\b|/llvm/|-D_?_?LLVM|MLIR)\S*|-include\S* \S*pch\S*", re.I)


def main():
    root = pathlib.Path(sys.argv[2]).resolve()
    runtime = errors = 0
    for entry in json.loads(pathlib.Path(sys.argv[1]).read_text()):
        path = pathlib.Path(entry["file"])
        if not any(folder in path.parents for folder in (root / "lib/Runtime", root / "lib/Solvers", root / "tools/llmc-run")):
            continue
        runtime += 1
        command = entry["command"].split(" ", 1)[1]  # the compiler itself may be clang
        found = FOREIGN.search(command)
        if found:
            errors += 1
            print(f"{path.relative_to(root)}: compiled with '{found.group(0)}'")
        if "lib" in path.relative_to(root).parts and "-ffp-contract=off" not in command:
            errors += 1
            print(f"{path.relative_to(root)}: expected '-ffp-contract=off'")
    print(f"{runtime} files of the runtime house, {errors} faults")
    return 1 if errors or not runtime else 0


sys.exit(main())
