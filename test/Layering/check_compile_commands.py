#!/usr/bin/env python3
"""Checks that the runtime house and the solvers are compiled without any sight of LLVM.

usage: check_compile_commands.py compile_commands.json SOURCE_ROOT

Reads the commands of the build: a file of lib/Runtime, lib/Solvers or tools/llmc-run, or a
unity batch of such files, may have no include folder, definition or forced include of LLVM or MLIR, and is
compiled without contraction of floating-point operations.
"""
import json
import pathlib
import re
import sys

FOREIGN = re.compile(r"\S*(?:llvm-\d+/include|/mlir\b|/llvm/|-D_?_?LLVM|MLIR)\S*|-include\S* \S*pch\S*", re.I)


HOUSE = [pathlib.PurePath(folder) for folder in ("lib/Runtime", "lib/Solvers", "tools/llmc-run")]


def place_in_house(file, roots):
    """The place of a file, or of a batch in the folder of its target, when it is of the house."""
    for root in roots:
        if file.is_relative_to(root) and any(folder in file.relative_to(root).parents for folder in HOUSE):
            return file.relative_to(root)
    return None


def main():
    commands, root = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    runtime = errors = 0
    for entry in json.loads(commands.read_text()):
        place = place_in_house(pathlib.Path(entry["file"]), (root, commands.parent))
        if not place:
            continue
        runtime += 1
        command = entry["command"].split(" ", 1)[1]  # the compiler itself may be clang
        found = FOREIGN.search(command)
        if found:
            errors += 1
            print(f"{place}: compiled with '{found.group(0)}'")
        if "lib" in place.parts and "-ffp-contract=off" not in command:
            errors += 1
            print(f"{place}: expected '-ffp-contract=off'")
    print(f"{runtime} files of the runtime house, {errors} faults")
    return 1 if errors or not runtime else 0


sys.exit(main())
