# ===- progress.py - What a terminal shows of a run ------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs a command on terminals of several widths and says what they show in the end.

    progress.py COMMAND...

The terminal understands what the run may send: carriage return, cursor up, erase to the end
of the screen, colour; all else fails. Lines that are too long are broken, as windows do.
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios

TOKEN = re.compile(r"\x1b\[(\d*)([AJm])|([\r\n])|([^\x1b\r\n])", re.S)


class Screen:
    """Rows of text as a window of some width shows them."""

    def __init__(self, columns):
        self.columns, self.rows, self.row, self.column, self.colours = columns, [""], 0, 0, 0

    def feed(self, text):
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if not token:
                raise SystemExit(f"FAILED: expected text that a terminal knows, got {text[at : at + 20]!r}")
            at = token.end()
            number, code, control, letter = token.groups()
            if code == "A":
                self.row -= int(number or 1)
            elif code == "J":
                self.rows = self.rows[: self.row + 1]
                self.rows[self.row] = self.rows[self.row][: self.column]
            elif code == "m":
                self.colours += 1
            elif control == "\r":
                self.column = 0
            elif control == "\n":
                self.next_row()
            else:
                self.put(letter)

    def next_row(self):
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append("")

    def put(self, letter):
        if self.column == self.columns:
            self.next_row()
        row = self.rows[self.row]
        self.rows[self.row] = row[: self.column] + letter + row[self.column + 1 :]
        self.column += 1

    def narrow(self, columns):
        """As windows do: the last row is broken into rows of the new width."""
        self.columns, last = columns, self.rows.pop()
        pieces = [last[i : i + columns] for i in range(0, len(last), columns)] or [""]
        self.rows += pieces
        self.row, self.column = len(self.rows) - 1, len(pieces[-1])


def run(columns, narrow=None, **environment):
    """The screen after the command, in a window that becomes `narrow` after its first line."""
    master, slave = pty.openpty()
    size = lambda width: fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    size(columns)
    settings = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE")}
    settings.update({"TERM": "xterm", "LANG": "C.UTF-8", **environment})
    process = subprocess.Popen(sys.argv[1:], stdout=slave, env=settings)
    screen, text = Screen(columns), b""
    while process.poll() is None or select.select([master], [], [], 0)[0]:
        if select.select([master], [], [], 0.05)[0]:
            text += os.read(master, 65536)
        whole = text.decode(errors="ignore")
        if "\x1b[" not in whole or not narrow:
            continue
        screen.feed(whole)
        screen.narrow(narrow)
        size(narrow)
        text, narrow = b"", None
    screen.feed(text.decode())
    if process.returncode:
        raise SystemExit(f"FAILED: exit code {process.returncode}")
    return screen


def steps_of(screen):
    return [row for row in screen.rows if re.search(r"step \d+/\d+|step: \d+  loss", row)]


def only(found, what):
    if len(found) != 1:
        raise SystemExit(f"FAILED: expected one {what}, got {found}")
    return found[0]


def main():
    for columns in (120, 40, 18):
        screen = run(columns)
        print(f"{columns} columns: {only(steps_of(screen), 'line of a step')}")
        if not screen.colours:
            raise SystemExit("FAILED: expected colours")
    only(steps_of(run(120, narrow=50)), "line of a step in a window that became narrow")
    print("narrower while it runs: no line is left over")
    if run(120, NO_COLOR="1").colours:
        raise SystemExit("FAILED: expected no colour with NO_COLOR")
    print("NO_COLOR: no colour")
    print(f"TERM=dumb: {len(steps_of(run(300, TERM='dumb')))} lines")
    done = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout
    if "\x1b" in done or "\r" in done:
        raise SystemExit("FAILED: expected plain lines in a pipe")
    print(f"a pipe: {len(re.findall('(?m)^step: ', done))} lines")


main()
