# ===- switches.py - Many mutants in one build ----------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Puts many mutants into one build, each with a switch of its own.

A mutant inside the body of a function becomes a second body, which a number
chosen at run time selects (mutant schemata; Untch, Offutt and Harrold, ISSTA
1993): nothing is compiled or linked for each mutant. The same switches, and the
probes in the unchanged code (probes.py), say which tests can notice a mutant, so
that only these are run on it.

A member's default value becomes a conditional expression likewise. What else lies
outside of such a body (constexpr functions, lists of initializers, an optimizer's
text) is left to an ordinary build.
"""

import collections
import re

from probes import probe

CONTAINER = re.compile(r"(?:\s|public:|private:|protected:|inline\b|template\s*<[^{]*>\s*)*"
                       r"(?:namespace|class|struct|union|enum|extern)\b")
STATEMENT = re.compile(r"\s*(?:if|for|while|switch|else|do|try|catch)\b")

# Read by every process once: the number that is on, or -1 while reach is traced.
# No allocation: tests count those.
HEADER = r"""#pragma once
#pragma clang diagnostic ignored "-Weverything"
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace llmc_mutation {

inline long readChoice() {
  char text[32] = {};
  int file = ::open("%(folder)s/choice", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t count = ::read(file, text, sizeof(text) - 1);
  ::close(file);
  return count > 0 ? std::atol(text) : 0;
}

inline void trace(int number) {
  static std::atomic<bool> seen[%(count)d];
  if (seen[number].exchange(true))
    return;
  char text[12];
  int length = 0;
  text[sizeof(text) - 1] = '\n';
  for (; number; number /= 10)
    text[sizeof(text) - 2 - length++] = char('0' + number %% 10);
  int file = ::open("%(folder)s/reached", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  if (::write(file, text + sizeof(text) - 1 - length, length + 1) < 0)
    std::abort();
  ::close(file);
}

inline long choice() {
  static const long chosen = readChoice();
  return chosen;
}

inline bool isTraced() { return choice() < 0; }

inline void note(int number) {
  if (isTraced())
    trace(number);
}

inline bool noteIf(int number, bool value, bool is) {
  if (is == value)
    note(number);
  return is;
}

// Of a mutant with a probe, and of one without.
inline bool isChosen(int number) { return choice() == number; }
inline bool isOn(int number) {
  note(number);
  return isChosen(number);
}

} // namespace llmc_mutation
"""


def braces_around(source, offset):
    """(head, offset of the brace) of each pair of braces around `offset`, the outermost first."""
    stack = []
    for i in range(offset):
        c = source.code[i]
        if c == "{":
            stack.append(i)
        elif c == "}" and stack:
            stack.pop()
    for opening in stack:
        yield re.search(r"[^;{}]*$", source.code[:opening]).group(0), opening


def body_around(source, start, end):
    """(offset after the opening brace, offset of the closing one) of the outermost
    function body that contains the span, or None."""
    for head, opening in braces_around(source, start):
        if CONTAINER.match(head) or "(" not in head:
            continue
        close = source.closing(opening)
        if close < end or STATEMENT.match(head) or re.search(r"\b(constexpr|consteval)\b", head):
            return None
        return opening + 1, close
    return None


def is_default_value(source, start, end):
    """Whether the span is a constant that a member or variable is given, with nothing beside it."""
    line = source.code[source.starts[source.line_of(start) - 1]:start]
    return (re.search(r"\w (=) -?$", line) and re.match(r"[;,]", source.code[end:])
            and not re.search(r"constexpr|virtual|\(", line) and re.fullmatch(r"\w+|\d[\w.+-]*", source.text[start:end]))


class Switches:
    """The mutants of one build, numbered from 1.

    `mutants`: (key, source, operator, start, end, replacement) each; those that cannot be
    switched have no number."""

    def __init__(self, mutants):
        self.numbers = {}
        # source -> span -> [(number, what stands there when it is on)]
        self.spans = collections.defaultdict(lambda: collections.defaultdict(list))
        self.expressions = set()
        self.probes = {}  # number -> (start, end, text)
        for key, source, operator, start, end, replacement in mutants:
            body = None if source.name.endswith(".mlir") else body_around(source, start, end)
            span = body or ((start, end) if is_default_value(source, start, end) else None)
            if not span:
                continue
            number = self.numbers[key] = len(self.numbers) + 1
            found = probe(source, number, operator, start, end, replacement) if body else None
            if not body:
                self.expressions.add(number)
            elif found and span[0] <= found[0] and found[1] <= span[1]:
                self.probes[number] = found
            self.spans[source][span].append((number, source.text[span[0]:start] + replacement + source.text[end:span[1]]))

    def header(self, folder):
        return HEADER % {"folder": folder, "count": len(self.numbers) + 1}

    def switched(self, source, span, changed):
        """The text of a span with its switches, and in the unchanged code its probes."""
        text, begin = source.text[span[0]:span[1]], len(source.text)
        probed = set()
        for first, last, shown, number in sorted((*self.probes[n], n) for n, _ in changed if n in self.probes)[::-1]:
            if last > begin:
                continue  # two in one another: the first alone
            text = text[:first - span[0]] + shown + text[last - span[0]:]
            begin = first
            probed.add(number)
        for number, mutant in changed:
            if number in self.expressions:
                text = f"(::llmc_mutation::isOn({number}) ? {mutant} : {text})"
            else:
                asked = "isChosen" if number in probed else "isOn"
                text = f"\nif (::llmc_mutation::{asked}({number})) {{{mutant}\n}} else {{{text}}}\n"
        return text

    def texts(self, folder, without=()):
        """{file: its text with every switch in it, but for the numbers `without`}"""
        found = {}
        for source, spans in self.spans.items():
            text = source.text
            for (start, end), changed in sorted(spans.items(), reverse=True):
                changed = [(number, body) for number, body in changed if number not in without]
                text = text[:start] + self.switched(source, (start, end), changed) + text[end:]
            found[source.name] = f'#include "{folder}/switches.h"\n{text}' if text != source.text else text
        return found

    def of_file(self, name):
        return [number for source, spans in self.spans.items() if source.name == name
                for changed in spans.values() for number, _ in changed]

    def drop_probes(self, name):
        """Takes the probes out of a file; False when there is none."""
        dropped = [number for number in self.of_file(name) if self.probes.pop(number, None)]
        return bool(dropped)
