# ===- operators.py - The one-line slips that are tried -------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""The standard mutation operators, on the text of a file.

Each is a generator of (operator, start, end, replacement) over a whole source.
What clang-format guarantees is used: a binary operator has blanks around it, a
template bracket, a pointer and a reference have not.
"""

import re

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
               "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
WORDS = {"true": "false", "false": "true", "continue": "break", "break": "continue",
         "std::max": "std::min", "std::min": "std::max", "any_of": "all_of", "all_of": "any_of", "none_of": "any_of",
         "success()": "failure()", "failure()": "success()", ".front()": ".back()", ".back()": ".front()",
         ".size()": ".size() - 1"}
WORD = re.compile(r"(?<![\w])(?:" + "|".join(re.escape(w) for w in WORDS if w[0] != ".") + r")(?![\w:])"
                  + "|" + "|".join(re.escape(w) for w in WORDS if w[0] == "."))
SIMPLE = r"[\w.\]\[]+(?:->[\w.]+)*(?:\([\w.]*\))?"
KEYWORDS = re.compile(r"(return|using|typedef|template|struct|class|enum|namespace|case|default|goto|static_assert|"
                      r"friend|else|if|for|while|do|switch|extern|static|const|constexpr|public|private|delete)\b")


def comparisons(source):
    for m in re.finditer(r"(?<=\s)(<=|>=|==|!=|<|>)(?=\s)", source.code):
        for other in COMPARISONS[m.group(1)]:
            yield "comparison", m.start(), m.end(), other


def arithmetic(source):
    for m in re.finditer(r"(?<=\s)([-+*/%]=?)(?=\s)", source.code):
        beside = source.code[:m.start()].rstrip()[-1:] + source.code[m.end():].lstrip()[:1]
        if m.group(1) in ARITHMETIC and '"' not in beside:
            yield "arithmetic", m.start(), m.end(), ARITHMETIC[m.group(1)]


def operand(code, start, step, stops):
    """How far the operand reaches from `start` to the left or right."""
    opening, closing = ("([{", ")]}") if step > 0 else (")]}", "([{")
    depth, i = 0, start
    while 0 <= i < len(code):
        c = code[i]
        if c in opening:
            depth += 1
        elif c in closing:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (c in ",;?" or any(code.startswith(s, i) for s in stops)
                             or (c == ":" and code[i - 1:i + 2].count(":") == 1)
                             or (c == "=" and code[i - 1] == " " and code[i + 1] in " \n")):
            break
        i += step
    return i


def logic(source):
    """&& and || exchanged, and each side of them dropped."""
    code = source.code
    for m in re.finditer(r"(?<=\s)(&&|\|\|)(?=\s)", code):
        yield "logic", m.start(), m.end(), "||" if m.group(1) == "&&" else "&&"
        stops = (" || ", "|| ", "||\n") + ((" && ", "&& ", "&&\n") if m.group(1) == "&&" else ())
        right = operand(code, m.end() + 1, 1, stops)
        yield "drop condition", m.start(), len(code[:right].rstrip()), ""
        left = operand(code, m.start() - 2, -1, ("|",) + (("&&",) if m.group(1) == "&&" else ())) + 1
        left += len(code[left:]) - len(code[left:].lstrip())
        if code.startswith("return ", left):
            left += 7
        if code.startswith(("&& ", "|| "), left):
            left += 3
        if left < m.start():
            yield "drop condition", left, m.end() + 1, ""


def conditions(source):
    """A condition that never holds, always holds, or holds when it should not."""
    for m in re.finditer(r"\bif \(", source.code):
        end = source.closing(m.end() - 1)
        start = m.end()
        text = source.code[start:end]
        if ";" in text:
            start += text.rfind(";") + 2
            text = source.code[start:end]
        if end < 0 or re.search(r"[^=!<>]=[^=]", text):
            continue
        yield "never", start, end, "false"
        yield "always", start, end, "true"
        yield "negate", start, end, "!(" + source.text[start:end] + ")"
    for m in re.finditer(r"(?<=[\s(])!(?=[\w(])", source.code):
        yield "negate", m.start(), m.end(), ""


def statements(source):
    """Expression statements that are left out; loops left after one round."""
    depth = begin = 0
    for i, c in enumerate(source.code):
        if c in "([":
            depth += 1
        elif c in ")]":
            depth -= 1
        elif c in "{}":
            begin, depth = i + 1, 0
        elif c == ";" and depth == 0:
            raw = source.code[begin:i]
            text = raw.strip()
            start = begin + len(raw) - len(raw.lstrip())
            begin = i + 1
            if not text or (KEYWORDS.match(text) and text not in ("break", "continue")) or text.endswith(":"):
                continue
            head = re.split(r"\(| [-+*/|&^]?=|<<", text, maxsplit=1)[0].strip()
            if re.search(r"\s", head) or head == text and not re.match(r"(\+\+|--)|break|continue", text):
                continue
            yield "drop statement", start, i, ""
    for m in re.finditer(r"\b(for|while) \(", source.code):
        end = source.closing(m.end() - 1)
        if end > 0 and source.code[end + 1:end + 3] == " {":
            close = source.closing(end + 2)
            # Said of the line of the loop; done where its body ends.
            yield "leave early", close, close, "break; "


def operands(source):
    """a - b as b - a, f(a, b) as f(b, a)."""
    for m in re.finditer(rf"(?<![\w.>\])] [-+*/%] )(?<![\w.>])({SIMPLE}) ([-/%<]) ({SIMPLE})(?![\w(\[])", source.code):
        a, b = (source.text[slice(*m.span(i))] for i in (1, 3))
        if a != b:
            yield "swap operands", m.start(), m.end(), f"{b} {m.group(2)} {a}"
    for m in re.finditer(r"(?<=\w)\(([^(),;{}]+), ([^(),;{}]+)\)", source.code):
        a, b = (source.text[slice(*m.span(i))] for i in (1, 2))
        if a != b and not re.search(r"\w [&*]?\w", a + " ; " + b) and "..." not in a + b:
            yield "swap operands", m.start(1), m.end(2), f"{b}, {a}"


def constants(source):
    for m in re.finditer(r"(?<![\w.])(\d+)(u?)(?![\w.'])", source.code):
        if source.code[m.end():m.end() + 1] == ">" or source.code[:m.start()].endswith("case "):
            continue
        value = int(m.group(1))
        yield "off by one", m.start(), m.end(), f"{value + 1}{m.group(2)}"
        if value > 1:
            yield "off by one", m.start(), m.end(), f"{value - 1}{m.group(2)}"
            yield "constant", m.start(), m.end(), f"0{m.group(2)}"
        if value == 1:
            yield "off by one", m.start(), m.end(), f"0{m.group(2)}"
    for m in re.finditer(r"(?<![\w.])\d+\.\d*(?:e[-+]?\d+)?(f?)(?![\w.])", source.code):
        value = float(m.group(0).rstrip("f"))
        yield "constant", m.start(), m.end(), f"{value * 2 if value else 1.0!r}{m.group(1)}"
    for m in WORD.finditer(source.code):
        yield "constant", m.start(), m.end(), WORDS[m.group(0)]


GRAPH_OPS = {"add": "subtract", "subtract": "add", "multiply": "divide", "divide": "multiply", "power": "multiply",
             "sqrt": "rsqrt"}


def graph_text(source):
    """An optimizer's text: another op, operands swapped, another constant."""
    for m in re.finditer(r"stablehlo\.(\w+) (%\w+)(?:, (%\w+))?", source.code):
        if m.group(1) in GRAPH_OPS:
            yield "another op", m.start(1), m.end(1), GRAPH_OPS[m.group(1)]
        if m.group(3) and m.group(1) not in ("add", "multiply"):
            yield "swap operands", m.start(2), m.end(3), f"{m.group(3)}, {m.group(2)}"
    for m in re.finditer(r"(?<=dense<)\d+\.\d+|(?<=dist\.default = )[\d.e-]+", source.code):
        yield "constant", m.start(), m.end(), f"{(float(m.group(0)) or 0.5) * 2!r}"


CODE = (comparisons, arithmetic, logic, conditions, statements, operands, constants)


def mutations(source):
    """{line: [(operator, start, end, replacement)]}, in a fixed order."""
    found = {}
    for operator in (graph_text,) if source.name.endswith(".mlir") else CODE:
        for name, start, end, text in operator(source):
            line = source.line_of(start)
            if name == "leave early":
                line = source.line_of(source.code.rfind("\n", 0, matching_loop(source, start)) + 1)
            shown = source.lines[line - 1]
            if "static_assert" in shown or "unreachable" in shown or "isSeeded" in shown:
                continue
            found.setdefault(line, []).append((name, start, end, text))
    return found


def matching_loop(source, close):
    """Where the head of the loop begins whose body closes at `close`."""
    depth = 0
    for i in range(close, -1, -1):
        if source.code[i] == "}":
            depth += 1
        elif source.code[i] == "{":
            depth -= 1
            if depth == 0:
                return max(source.code.rfind("for (", 0, i), source.code.rfind("while (", 0, i))
    return close
