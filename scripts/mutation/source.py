# ===- source.py - What a source file looks like to mutations -------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A source file with its comments and strings blanked out, the slots of the
tree, and the class of a line.

Mutations look at the blanked text and change the original at the same offsets.
"""

import bisect
import re

BLANKS = re.compile(r"""//[^\n]*|/\*.*?\*/|R"\w*\(.*?\)\w*"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
                    r"|^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
OPENING, CLOSING = "([{", ")]}"


def blank(match):
    text = match.group(0)
    keep = text[0] if text[0] in "\"'" else " "
    return keep + "".join(c if c == "\n" else " " for c in text[1:-1]) + (keep if len(text) > 1 else "")


class Source:
    """One file: its text, the blanked text, and lines."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.code = re.sub(r"//[^\n]*", blank, text) if name.endswith(".mlir") else BLANKS.sub(blank, text)
        self.starts = [0] + [i + 1 for i, c in enumerate(text) if c == "\n"]
        self.lines = text.split("\n")

    def line_of(self, offset):
        """Counted from 1."""
        return bisect.bisect_right(self.starts, offset)

    def closing(self, opening):
        """The offset of the bracket that closes the one at `opening`, or -1."""
        depth = 0
        for i in range(opening, len(self.code)):
            if self.code[i] in OPENING:
                depth += 1
            elif self.code[i] in CLOSING:
                depth -= 1
                if depth == 0:
                    return i
        return -1


# --- Slots ---------------------------------------------------------------------

def slot_of(name):
    """The slot that a file of lib, include/llmc or tools belongs to, or None."""
    parts = name.split("/")
    if parts[0] == "include":
        parts = parts[1:]
    if parts[0] == "tools" and len(parts) > 2:
        return "/".join(parts[:2])
    if parts[0] not in ("lib", "llmc") or len(parts) < 3 or parts[1] == "Pch":
        return None
    if not name.endswith((".cpp", ".h")) and "Optimizers" not in parts:
        return None
    return "/".join(parts[1:-1])


# --- Classes -------------------------------------------------------------------

CLASSES = ("checks and bounds", "decisions of speed", "elsewhere")
ERROR = re.compile(r"\b(makeError|emitError|emitOpError|failure\(\)|refuse\w*|malformed\w*|mismatch\w*|"
                   r"unsupported\w*|invalid\w*|error\(|fail\w*\(|report_fatal_error|LLMC_TRY)")
CHECK_FUNCTION = re.compile(r"\b(verify|check|require|expect|validate|refuse|scan|parse|read)\w*\s*\($", re.I)
CHECK_FILE = re.compile(r"Verif|Check|Structure\.cpp|Safetensors|PlanRead|ActionRead|ReadModule|Npy\.cpp|CheckedMath")
SPEED_FILE = re.compile(r"KernelFormation|KernelClusters|MachineModel|MachineOfMesh|Stream(Reduction|Order|Walk)|"
                        r"ReshardPlanner|ReductionPlacement|ChunkAssignment|AssignChunks|CloneCones|SourceClones|"
                        r"Recompute|TrimActivations|PruneWaits|LoopWidening|OpOrder|ScheduleProblem|MergeParts|"
                        r"PartPacker|FetchedParts|LibraryContraction|Pool\.cpp|GroupSums|SplitContractions")
SPEED_WORD = re.compile(r"\b\w*(cost|cheap|dear|flops|bandwidth|vector|lanes|width|threads|benefit|score)\w*", re.I)


def enclosing_function(source, offset):
    """The head of the function around `offset`: the text before its body."""
    depth = 0
    for i in range(offset - 1, -1, -1):
        c = source.code[i]
        if c == "}":
            depth += 1
        elif c == "{":
            if depth:
                depth -= 1
                continue
            head = re.search(r"[^;{}]*$", source.code[:i]).group(0)
            if not re.match(r"\s*(if|for|while|switch|else|do|\[|return|try)\b", head) and "(" in head:
                return head
    return ""


def guarded(source, offset):
    """What follows the condition around `offset`: the statement that it guards."""
    depth = 0
    for i in range(offset - 1, max(-1, offset - 2000), -1):
        c = source.code[i]
        if c == ")":
            depth += 1
        elif c == "(":
            if depth:
                depth -= 1
            elif re.search(r"\bif\s*$", source.code[:i]):
                end = source.closing(i)
                return source.code[end + 1:end + 161].split(";")[0] if end > 0 else ""
        elif c in ";{}" and depth == 0:
            return ""
    return ""


def class_of(source, offset, end):
    """A check, when what is changed decides whether an error is reported: it says
    one, guards one, or lies in a function or file whose name says that it checks.
    A decision of speed, when its file is one that decides so or it compares costs."""
    span = source.code[offset:end]
    line = source.code[source.starts[source.line_of(offset) - 1]:end] + span
    if ERROR.search(line) or ERROR.search(guarded(source, offset)):
        return CLASSES[0]
    head = re.match(r"[^(]*\(", enclosing_function(source, offset).lstrip())
    if CHECK_FILE.search(source.name) or (head and CHECK_FUNCTION.search(head.group(0))):
        return CLASSES[0]
    if SPEED_FILE.search(source.name) or SPEED_WORD.search(line):
        return CLASSES[1]
    return CLASSES[2]
