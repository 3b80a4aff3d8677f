#!/usr/bin/env python3
"""Checks the form of the sources: what a reader relies on and no compiler sees.

usage: check_style.py SOURCE_ROOT

- the first line of a C++ or TableGen file is a banner of 80 columns that names
  the file, followed by the licence
- lengths: .cpp 600, .h 300, .td 700, tests 500 lines
- no file or folder is a drawer (utils, helpers, ...), and no note says that
  something is left to do
- a test that a banner names is there
- a pass has one name in four spellings (FooBarPass, llmc-foo-bar, FooBar.cpp,
  test foo-bar.mlir), a summary and a description
- clang-format changes nothing
"""
import pathlib
import re
import shutil
import subprocess
import sys

LIMITS = {".cpp": 600, ".h": 300, ".td": 700, ".def": 300, ".py": 400, ".mlir": 500, ".test": 500}
BANNER = re.compile(r"(//|/\*)===-+ (\S+) - \S.* ?-*(-\*- (C|C\+\+|tablegen) -\*-)?-*===(//|\*\\)$")
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
DRAWERS = {"utils", "util", "utilities", "common", "helper", "helpers", "misc"}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|place" r"holder|for n" r"ow)\b")
FOLDERS = ("include", "lib", "tools", "test", "benchmarks", "scripts", "examples", "docs")
DATA = {"Inputs", "examples"}  # texts that other programs wrote: no length limit


def path_root(path, name):
    """The root of the source tree in which `path` is called `name`."""
    return path.parents[len(name.parts) - 1]


def check_banner(name, path, lines):
    if path.suffix not in (".cpp", ".h", ".td", ".def"):
        return
    found = BANNER.match(lines[0]) if lines else None
    if not found or len(lines[0]) != 80:
        yield 1, "expected a banner of one line of 80 columns: //===- Name - Title ---===//"
    elif found.group(2) != path.name:
        yield 1, f"expected the banner to name '{path.name}', got '{found.group(2)}'"
    if not any(LICENCE in line for line in lines[:6]):
        yield 1, f"expected '{LICENCE}' within the first lines"
    for number, line in enumerate(lines[:60], 1):
        for test in re.findall(r"\bTests?: (test/[\w/*-]+(?:\.(?:cpp|mlir|test))?)", line):
            if not [*path_root(path, name).glob(test)]:
                yield number, f"expected the test '{test}' to be there"


def check_file(root, path):
    name = path.relative_to(root)
    for part in (*name.parts[:-1], path.stem):
        if part.lower() in DRAWERS:
            yield 1, f"'{part}' names no concept"
    lines = path.read_text().splitlines()
    yield from check_banner(name, path, lines)
    limit = LIMITS.get(path.suffix)
    if limit and name.parts[0] == "test":
        limit = min(limit, 500)
    if limit and len(lines) > limit and not DATA & set(name.parts):
        yield 1, f"expected at most {limit} lines, got {len(lines)}"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, f"unfinished: '{UNFINISHED.search(line).group(0)}'"


def check_passes(root, path):
    """The passes of a group's Passes.td: yields (line, fault)."""
    group, text = path.parent.name, path.read_text()
    found = list(re.finditer(r'^def (\w+)Pass : Pass<"llmc-([\w-]+)"', text, re.M))
    ends = [m.start() for m in found[1:]] + [len(text)]
    for match, end in zip(found, ends):
        name, flag = match.groups()
        line, body = text.count("\n", 0, match.start()) + 1, text[match.start():end]
        if name != "".join(word.capitalize() for word in flag.split("-")):
            yield line, f"expected the flag of {name}Pass to spell its name, got 'llmc-{flag}'"
        if "let summary" not in body or "let description" not in body:
            yield line, f"expected a summary and a description of {name}Pass"
        if not [*(root / f"lib/Transforms/{group}").rglob(f"{name}.cpp")]:
            yield line, f"expected {name}.cpp in lib/Transforms/{group}"
        page = root / "docs/architecture.md"
        if page.exists() and f"`llmc-{flag}`" not in page.read_text():
            yield line, f"expected llmc-{flag} among the phases of docs/architecture.md"
        tests = root / f"test/Transforms/{group}"
        if not [*tests.glob(f"{flag}.mlir"), *tests.glob(f"{flag}-*.mlir")]:
            yield line, f"expected test/Transforms/{group}/{flag}.mlir"


def check_format(files):
    tool = shutil.which("clang-format-22")
    sources = [str(f) for f in files if f.suffix in (".cpp", ".h")]
    if not tool or not sources:
        return 0
    done = subprocess.run([tool, "--dry-run", *sources], capture_output=True, text=True)
    bad = sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning: code should be", done.stderr, re.M)))
    for file in bad:
        print(f"{file}: clang-format-22 would change it")
    return len(bad)


def main():
    root = pathlib.Path(sys.argv[-1])
    files = sorted(f for folder in FOLDERS for f in (root / folder).rglob("*")
                   if f.is_file() and f.suffix in LIMITS)
    errors = 0
    for path in files:
        for number, why in check_file(root, path):
            errors += 1
            print(f"{path.relative_to(root)}:{number}: {why}")
    for path in sorted((root / "include/llmc/Transforms").glob("*/Passes.td")):
        for number, why in check_passes(root, path):
            errors += 1
            print(f"{path.relative_to(root)}:{number}: {why}")
    errors += check_format(files)
    print(f"{len(files)} files, {errors} faults of style")
    return 1 if errors or not files else 0


sys.exit(main())
