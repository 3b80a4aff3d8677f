# ===- probes.py - Where a mutant first differs -----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Finds out which tests can notice a mutant, beyond those that enter its function.

A test in which the changed expression is never evaluated, or always has the value
that it had before, passes as before (weak mutation; Howden, IEEE TSE 1982). A probe
stands in the unchanged code in place of the expression, has its value, and notes
the mutant's number where the two would differ: exactly for comparisons and
conditions, otherwise wherever the expression is evaluated.
"""

import re

from operators import COMPARISONS, operand

ALL_LOGIC = (" && ", "&& ", "&&\n", " || ", "|| ", "||\n")
OR = ALL_LOGIC[3:]
STATEMENT = re.compile(r"(?:break|continue|goto|if|for|while|switch|using|delete|throw)\b|.*[{}]", re.S)
DOES = re.compile(r"\b(?:failed|succeeded|insert|try_emplace|emplace|erase|add\w*|take\w*)\(|\.second\b|\+\+|--|LLMC_TRY|[^=!<>]=[^=]")
WORDS = re.compile(r"(?:return|co_return|else|do|case [\w:]+:)\b\s*|\s+")


def strip(source, start, end):
    """The span without blanks around it and without what begins a statement."""
    code = source.code
    while True:
        head = re.compile(r"(?:if|for|while|switch) (?=\()").match(code, start, end)
        found = WORDS.match(code, start, end)
        if head:
            start = source.closing(head.end()) + 1
        elif found:
            start = found.end()
        else:
            return start, start + len(code[start:end].rstrip())


def before(source, offset, stops):
    """The span of the operand that ends at `offset`."""
    start = operand(source.code, offset - 1, -1, tuple({s.strip() for s in stops}))
    start += 2 if source.code.startswith(("&&", "||"), start) else 1
    return strip(source, start, offset)


def after(source, offset, stops):
    """The span of the operand that begins at `offset`."""
    return strip(source, offset, operand(source.code, offset, 1, stops))


def around(source, start, end, stops):
    """The span of the operand that contains start … end."""
    return before(source, start, stops)[0] if source.code[:start].strip() else start, after(source, end, stops)[1]


def noted(number, text):
    return f"\n(::llmc_mutation::note({number}), {text})\n"


def noted_if(number, value, text):
    return f"\n::llmc_mutation::noteIf({number}, {value}, static_cast<bool>({text}))\n"


def compared(number, left, old, new, right):
    return (f"\n([](auto &&l, auto &&r) {{ if (::llmc_mutation::isTraced() && (l {old} r) != (l {new} r)) "
            f"::llmc_mutation::trace({number}); return l {old} r; }}({left}, {right}))\n")


def of_comparison(source, number, start, end, replacement):
    old = source.code[start:end]
    if old in ("==", "!=") or COMPARISONS[old][0] != replacement:
        return None  # where it is reversed the value always differs
    left, right = before(source, start, ALL_LOGIC), after(source, end, ALL_LOGIC)
    return left[0], right[1], compared(number, source.text[slice(*left)], old, replacement, source.text[slice(*right)])


def of_logic(source, number, start, end, replacement):
    """What was a && b can differ as a || b where it was false, the other way where it was true."""
    is_and = source.code[start:end] == "&&"
    first, last = around(source, start, end, OR if is_and else ())
    return first, last, noted_if(number, "false" if is_and else "true", source.text[first:last])


def of_dropped(source, number, start, end, replacement):
    """The side that is dropped decides where it is false (&&) or true (||)."""
    inside = source.code[start:end].rstrip()
    old = inside[:2] if inside[:2] in ("&&", "||") else inside[-2:]
    first, last = strip(source, *((start + 2, end) if inside.startswith(old) else (start, start + len(inside) - 2)))
    if source.code[first] == "&":
        return None  # of a chain: `a & c` is left of `a && b && c`
    return first, last, noted_if(number, "false" if old == "&&" else "true", source.text[first:last])


def of_condition(value):
    """A condition that does something is missed where it is not evaluated, whatever its value."""
    def of(source, number, start, end, replacement):
        text = source.text[start:end]
        return start, end, noted(number, text) if DOES.search(source.code[start:end]) else noted_if(number, value, text)
    return of


def of_statement(source, number, start, end, replacement):
    if STATEMENT.match(source.code[start:end]):
        return None
    return start, end, noted(number, source.text[start:end])


def of_loop(source, number, start, end, replacement):
    return start, start, f"\n::llmc_mutation::note({number});\n"


def of_swap(source, number, start, end, replacement):
    """The first of two arguments; between other operands the whole expression is noted."""
    comma = source.code[start:end].find(",")
    return (start, start + comma, noted(number, source.text[start:start + comma])) if comma > 0 else None


EXACT = {"comparison": of_comparison, "logic": of_logic, "drop condition": of_dropped, "never": of_condition("true"),
         "always": of_condition("false"), "drop statement": of_statement,
         "leave early": of_loop, "swap operands": of_swap}


def probe(source, number, operator, start, end, replacement):
    """(start, end, text) of what stands in the unchanged code, or None: nothing is known."""
    found = EXACT[operator](source, number, start, end, replacement) if operator in EXACT else None
    if found or operator == "drop statement":
        return found
    first, last = around(source, start, end, () if operator in ("logic", "drop condition") else ALL_LOGIC)
    if first > start or last < end or STATEMENT.match(source.code[first:last]):
        return None
    return first, last, noted(number, source.text[first:last])
