#!/usr/bin/env python3
"""Holds the IR of a page against the IR that the compiler prints.

usage: llmc-opt ... | check_walkthrough.py PAGE.md LABEL

A block of the page that follows `<!-- LABEL -->` must be found in the input:
each of its lines, in order, within the text of the input. In the page
  - a name such as %dx or #row stands for one name of the input, the same all
    through the function, so that the page may have better names;
  - "…" stands for anything within a line, a line "…" for any lines;
  - text after // is a comment, and white space does not count.
The marks dist.block and dist.phase, which every op carries, are left out, and
dist.layouts in a block that does not show them.
"""
import re
import sys

MARKS = r"dist\.(block = \d+ : i64|phase = #dist\.phase<\w+>)(, )?"
LAYOUTS = r"dist\.layouts = \[[^\]]*\](, )?"
NAME = re.compile(r"%[A-Za-z_0-9.]+|#[a-z]\w*(?![\w.])")


def tidy(line, has_layouts=False):
    line = re.sub(r"\s*//.*", "", line)
    for pattern, to in ((MARKS, ""), ("" if has_layouts else LAYOUTS, ""), (r", ?\}", "}"), (r" ?\{\}", "")):
        line = re.sub(pattern, to, line)
    return " ".join(line.split())


def pattern_of(line, names):
    """A regular expression for `line`, with known names in place."""
    parts, seen, at = [], {}, 0
    for found in NAME.finditer(line):
        parts.append(literal(line[at:found.start()]))
        name = found.group(0)
        if name in names:
            parts.append(re.escape(names[name]) + r"(?![A-Za-z_0-9.])")
        elif name in seen:
            parts.append(f"(?P={seen[name]})" + r"(?![A-Za-z_0-9.])")
        else:
            seen[name] = f"n{len(seen)}"
            parts.append(f"(?P<{seen[name]}>{re.escape(name[0])}[A-Za-z_0-9.]+)")
        at = found.end()
    parts.append(literal(line[at:]))
    return re.compile("".join(parts)), seen


def literal(text):
    return ".*?".join(re.escape(piece) for piece in text.split("…"))


def match(want, have, i, j, names, best):
    """Finds want[i:] in have[j:]; returns whether all are there."""
    best[0] = max(best[0], i)
    if i == len(want):
        return True
    if "func.func" in want[i] or "dist.segment" in want[i]:  # values are named anew
        names = {name: to for name, to in names.items() if name[0] == "#"}
    pattern, seen = pattern_of(want[i], names)
    for k in range(j, len(have)):
        found = pattern.search(have[k])
        if not found:
            continue
        bound = {name: found.group(group) for name, group in seen.items()}
        if len(set(bound.values()) | set(names.values())) < len(bound) + len(names):
            continue  # two names of the page for one of the input
        if match(want, have, i + 1, k + 1, {**names, **bound}, best):
            return True
    return False


def main():
    page, label = sys.argv[1:]
    sys.setrecursionlimit(10000)
    text = open(page, encoding="utf-8").read()
    blocks = re.findall(rf"<!-- {re.escape(label)} -->\n```(?:mlir|text|toml)\n(.*?)```", text, re.S)
    if not blocks:
        sys.exit(f"{page}: no block '{label}'")
    lines = sys.stdin.read().splitlines()
    for block in blocks:
        has_layouts = "dist.layouts" in block
        have = [tidy(line, has_layouts) for line in lines]
        want = [tidy(line, has_layouts) for line in block.splitlines()]
        want = [line for line in want if line and line != "…"]
        best = [0]
        if not match(want, have, 0, 0, {}, best):
            sys.exit(f"{page}: block '{label}': the compiler does not print this line, or not here:\n  {want[best[0]]}")
    print(f"{label}: {len(blocks)} blocks agree")


main()
