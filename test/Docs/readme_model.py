#!/usr/bin/env python3
# ===- readme_model.py - The model of the README, as its reader runs it -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs "Your own JAX model" of the README: files and commands as they stand there.

    readme_model.py README.md FOLDER PYTHON

The commands run in FOLDER, with PYTHON for `.venv/bin/python`. Each one that trains
must print the same losses, within 2e-4, and they must fall.
"""

import pathlib
import re
import subprocess
import sys


def main():
    page, folder, python = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    text = page.read_text(encoding="utf-8")
    section = text.split("\n## Your own JAX model\n")[1].split("\n## ")[0]
    blocks = dict(re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", section))
    (folder / page.name).write_text(text, encoding="utf-8")
    (folder / "model.py").write_text(blocks["python"], encoding="utf-8")
    (folder / "model.toml").write_text(blocks["toml"], encoding="utf-8")
    runs = []
    for command in blocks["sh"].replace(".venv/bin/python", python).splitlines():
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{command}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
        losses = [float(x) for x in re.findall(r"(?m)^step: \d+  loss: (\S+)", done.stdout)]
        runs += [losses] if losses else []
    worst = max((abs(x - y) / y for run in runs for x, y in zip(runs[0], run)), key=lambda far: (far != far, far))
    print(f"{len(runs)} runs of {sorted({len(run) for run in runs})} steps")
    print(f"losses {'agree' if worst <= 2e-4 else f'differ by {worst}'}")
    print(f"losses {'fall' if runs[0][-1] < 0.6 * runs[0][0] else 'do not fall'}")


main()
