#!/usr/bin/env python3
# ===- check_pages.py - What pages and comments refer to --------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Checks that what the pages refer to is there.

    check_pages.py SOURCE_ROOT

- a link of a page leads to a file, and its anchor to a heading
- a path in back quotes is one of the tree
- a header that a comment names (`Solvers/Streams/StreamOrder.h`) is one of the tree
- `docs/<page>.md, section <n>` in a comment names a page and one of its sections
- a test in back quotes (`Suite.Name`) is one that some file defines
- the checklists of CONTRIBUTING.md name the files that know what is there already
- each folder of lib has a README of at most 30 lines, or a row in that of the one above
- the messages E1 ... E9 of docs/layout-algebra.md are those that LayoutCheckTest
  expects
"""
import pathlib
import re
import sys

FOLDERS = ("include", "lib", "tools", "test", "benchmarks", "scripts", "examples", "docs")
SOURCES = {".cpp", ".h", ".td", ".def", ".py", ".mlir", ".test", ".sh", ".txt", ".md", ".toml", ".fbs"}
PATH = re.compile(rf"(?:(?:{'|'.join(FOLDERS)})/[\w./*-]*|[A-Z]\w+\.md)")
TEST = re.compile(r"[A-Z]\w+\.[A-Z]\w+")
DEFINED = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)")
# A checklist of CONTRIBUTING.md -> what every file contains that knows the one there is.
CHECKLISTS = {
    "A library op": r"ContractionIndex|Plan_Contraction|\[Contraction\]|contraction\(uint32_t|checkDescriptor",
    "A schedule": r"\bgpipe|GPipe",
    "A collective": r"AllToAll|all_to_all|allToAll",
    "A frontend": r"importStableHLO|llmc/Import/StableHLO|ImportStableHLO",
    "A backend or communicator": r"Backends/Cpu|CpuWorld|RuntimeCpu",
}
HEADER = re.compile(r"(?<![\w/])((?:Solvers|Analysis|Interpreter|Runtime|Dialect|Import|Transforms|Codegen|Target|Support)"
                    r"/[\w/]+\.(?:h|td|def))\b")
CITED = re.compile(r"\bdocs/([\w-]+\.md)(?:,? section (\d+))?")


def anchor_of(heading):
    """The anchor that a heading gets when it is shown as HTML."""
    heading = re.sub(r"[`*]|\]\([^)]*\)|\[", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def headings_of(path):
    text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
    return re.findall(r"(?m)^#+ (.*)$", text)


def check_links(path, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        other = path.parent / file if file else path
        if not other.exists():
            yield f"link to '{target}', which is not there"
        elif anchor and anchor not in map(anchor_of, headings_of(other)):
            yield f"link to '{target}', which has no such heading"


def check_quotes(root, path, text, tests):
    for quote in re.findall(r"`([^`\n]+)`", text):
        if PATH.fullmatch(quote):
            places = {root, path.parent}
            if not any([*p.glob(quote.rstrip("/"))] for p in places):
                yield f"path `{quote}`, which is not there"
        elif TEST.fullmatch(quote) and quote.split(".")[1] not in ("cpp", "h", "md") and quote not in tests:
            yield f"test `{quote}`, which no file defines"


def check_room(root, path, text):
    """The README of a folder of lib: its length, and the files of the folder that it names."""
    if len(text.splitlines()) > 30:
        yield f"expected at most 30 lines, got {len(text.splitlines())}"
    room = path.parent.relative_to(root / "lib")
    places = (path.parent, root / "include/llmc" / room)
    for quote in re.findall(r"`([\w/*.]+\.(?:cpp|h|td|def|fbs|mlir))`", text):
        if not any(True for place in places for _ in place.rglob(quote)):
            if not any(True for top in ("lib", "include") for _ in (root / top).rglob(quote)):
                yield f"file `{quote}`, which is not there"


def check_rooms(root):
    """Each folder of lib that makes a library has a README, or a row in that of the folder above."""
    for made in sorted((root / "lib").rglob("CMakeLists.txt")):
        folder = made.parent
        if not re.search(r"llmc_\w*library\(", made.read_text(encoding="utf-8")) or folder.name == "Pch":
            continue
        rows = [folder.parent / "README.md", folder.parent.parent / "README.md"]
        named = rf"`(?:{folder.name}|{folder.parent.name}|{folder.parent.name}/{folder.name})`"
        if not (folder / "README.md").exists() and not any(
                r.exists() and re.search(named, r.read_text(encoding="utf-8")) for r in rows):
            yield f"expected a README of {folder.relative_to(root)}, or a row in that of the folder above"


def check_paths(root, text):
    """The paths of docs/newcomer.md: each README names what comes next."""
    rows = re.findall(r"(?m)^\| \d+\. .*? \| (.*) \|$", text)
    for row in rows:
        steps = re.findall(r"`([^`]+)`", row)
        for here, there in zip(steps, steps[1:]):
            name = pathlib.Path(there)
            name = name.parent.name if name.name == "README.md" else name.name
            if not (root / there).exists() or name not in (root / here).read_text(encoding="utf-8"):
                yield f"step from {here} to {there}, which is not named there"
    if len(rows) != 10:
        yield f"expected 10 questions with a path, got {len(rows)}"


def check_citations(root, text):
    joined = re.sub(r"\n[ \t]*(?://+|#)?[ \t]*", " ", text)
    for page, section in CITED.findall(joined):
        file = root / "docs" / page
        if not file.exists():
            yield f"'docs/{page}', which is not there"
        elif section and not any(h.startswith(section + ". ") for h in headings_of(file)):
            yield f"section {section} of docs/{page}, which is not there"


def check_messages(root):
    page = (root / "docs/layout-algebra.md").read_text(encoding="utf-8")
    test = next((root / "test").rglob("LayoutCheckTest.cpp")).read_text(encoding="utf-8")
    expected = re.sub(r'"\s*\n\s*"', "", test).replace('\\"', '"')
    rows = re.findall(r"(?m)^\| (E\d) \|.*\| ([^|]*) \|$", page)
    for error, cell in rows:
        for message in re.findall(r"`([^`]+)`", cell):
            if f'"{message}"' not in expected:
                yield f"message of {error} that LayoutCheckTest does not expect: {message}"
    if [error for error, _ in rows] != [f"E{i}" for i in range(1, 10)]:
        yield "expected one row for each of E1 to E9"


def check_checklists(root, text, texts):
    """Each file of include, lib and tools outside the folder of the one that is there."""
    lists = dict(re.findall(r"(?ms)^\*\*([^*]+)\.\*\* (.*?)(?=^\*\*|^#)", text))
    for title, pattern in CHECKLISTS.items():
        named = set(re.findall(r"`([\w./-]+)`", lists.get(title, "")))
        folders = [name for name in named if not (root / name).is_file()]
        for path, source in texts.items():
            name = path.relative_to(root).as_posix()
            if path.suffix == ".md" or name.split("/")[0] not in ("include", "lib", "tools"):
                continue
            if not re.search(pattern, source):
                continue
            inside = name.replace("include/llmc/", "lib/", 1)
            if name not in named and not any(inside.startswith(folder + "/") for folder in folders):
                yield f"checklist '{title}' without {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*"))
             if f.is_file() and f.suffix in SOURCES and "Inputs" not in f.parts]
    files += sorted(root.glob("*.md"))
    texts = {f: f.read_text(encoding="utf-8") for f in files}
    tests = {".".join(m) for f, t in texts.items() if f.suffix == ".cpp" for m in DEFINED.findall(t)}
    pages = faults = 0
    for path, text in texts.items():
        found = list(check_citations(root, text))
        if path.suffix in (".cpp", ".h", ".td", ".def"):
            found += [f"header {name}, which is not there" for name in set(HEADER.findall(text))
                      if not any((root / top / name).exists() for top in ("include/llmc", "lib", "test"))]
        if path.suffix == ".md":
            pages += 1
            prose = re.sub(r"(?ms)^```.*?^```", "", text)
            found += [*check_links(path, prose), *check_quotes(root, path, prose, tests)]
        if path == root / "README.md" and len(text.splitlines()) > 180:
            found.append(f"expected at most 180 lines, got {len(text.splitlines())}")
        if path.name == "README.md" and path.is_relative_to(root / "lib"):
            found += check_room(root, path, text)
        if path.name == "CONTRIBUTING.md":
            found += check_rooms(root)
            found += check_checklists(root, text, texts)
        if path.name == "newcomer.md":
            found += check_paths(root, text)
        if path.name == "layout-algebra.md":
            found += check_messages(root)
        faults += len(found)
        for why in found:
            print(f"{path.relative_to(root)}: {why}")
    print(f"{pages} pages, {faults} faults")
    sys.exit(1 if faults or pages < 10 else 0)


if __name__ == "__main__":
    main()
