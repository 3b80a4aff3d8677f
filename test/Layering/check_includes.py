#!/usr/bin/env python3
"""Checks that files include strictly downward over the floors of the two houses.

usage: check_includes.py SOURCE_ROOT

A slot may include itself and slots on lower floors of its own house. Slots on
one floor are strangers. The runtime house knows nothing of LLVM, MLIR or the
compiler. The bridges from the compiler to the runtime are listed below.
"""
import pathlib
import re
import sys

# slot prefix (folder below include/llmc or lib) -> floor. A precompiled header (Pch) is included by the build alone,
# and so may know more than the files below it, which name what they include.
COMPILER = {
    "Solvers/*": 0.5, "Support": 1,
    "Dialect/Graph/IR": 1.5, "Dialect/*/IR": 2, "Pch": 2.5, "Dialect/*/Models": 3,
    "Analysis/*": 4, "Analysis/Layouts": 4.5, "Interpreter": 4,
    "Transforms/Phases": 7, "Transforms/*": 5, "Import/Text": 4, "Import/Program": 5, "Import/*": 6, "Codegen": 5,
    "Target": 6,
}
RUNTIME = {
    "Runtime/Base": 0, "Runtime/Layout": 1, "Runtime/Config": 1, "Runtime/TensorBoard": 1,
    "Runtime/Device": 2, "Runtime/Plan/Format": 2, "Runtime/Plan/*": 2.5, "Runtime/Pch": 2.5, "Runtime/Comm": 3, "Runtime/Job": 3.5, "Runtime/Checkpoint": 3.5, "Runtime/Report": 3,
    "Runtime/Backends/*": 4, "Runtime/Transports/*": 4, "Runtime/Doctor": 4, "Runtime/Forms": 4, "Runtime/Executor": 5,
}
# compiler slot -> runtime slots that it may include beside Base and Layout
BRIDGES = {
    "Import": {"Runtime/Config"}, "Codegen": {"Runtime/Plan/Format"},
    "Target": {"Runtime/Plan/Format", "Runtime/Plan/Print", "Runtime/Plan/Verify"},
}
# dialects whose IR builds on another dialect's IR of the same floor
DIALECT_BASE = {("Dialect/Chlo/IR", "Dialect/StableHLO/IR")}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def match(table, path):
    """The longest entry of `table` that is a prefix of `path`: (slot, floor)."""
    parts = path.split("/")
    best = None
    for pattern, floor in table.items():
        want = pattern.split("/")
        if len(parts) > len(want) and all(w in ("*", p) for w, p in zip(want, parts)):
            if best is None or len(want) > len(best[0].split("/")) or "*" not in pattern:
                best = ("/".join(parts[: len(want)]), floor)
    return best


def slot_of(path):
    found = match(RUNTIME, path)
    return ("runtime", *found) if found else ("compiler", *match(COMPILER, path)) if match(COMPILER, path) else None


def refusal(path, target):
    """Why `path` may not include `target`, or None."""
    here = slot_of(path)
    if here is None:
        return "lies in no slot: name its floor in check_includes.py"
    house, slot, floor = here
    if re.match(r"(mlir|llvm|clang)(-c)?/", target):
        if house == "runtime":
            return "the runtime house includes no LLVM"
        return "a solver works on plain data" if slot.startswith("Solvers/") else None
    if not target.startswith("llmc/"):
        return None
    there = slot_of(target[len("llmc/"):])
    if there is None:
        return f"includes {target}, which lies in no slot"
    other_house, other, other_floor = there
    if slot == other:
        return None
    if house == other_house:
        if other_floor < floor or (slot, other) in DIALECT_BASE:
            return None
        return f"floor {floor} ({slot}) includes floor {other_floor} ({other})"
    if house == "runtime":
        return f"the runtime house includes the compiler's {other}"
    allowed = {"Runtime/Base", "Runtime/Layout"} | BRIDGES.get(slot.split("/")[0], set())
    return None if other in allowed else f"no bridge from {slot} to {other}"


def main():
    root = pathlib.Path(sys.argv[1])
    errors = files = 0
    for base in (root / "include/llmc", root / "lib"):
        for path in sorted(base.rglob("*")):
            if path.suffix not in (".h", ".cpp", ".td", ".def", ".c"):
                continue
            files += 1
            name = path.relative_to(base).as_posix()
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                why = refusal(name, found.group(1)) if found else None
                if why:
                    errors += 1
                    print(f"{path.relative_to(root)}:{number}: {why}")
    print(f"{files} files, {errors} upward or sideways includes")
    return 1 if errors or files == 0 else 0


sys.exit(main())
