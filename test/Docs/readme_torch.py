#!/usr/bin/env python3
# ===- readme_torch.py - PyTorch's file of the README, as its reader runs it -=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs the commands of "Your own PyTorch model" of the README, in its folder.

    readme_torch.py README.md
"""

import pathlib
import re
import subprocess
import sys


def main():
    page = pathlib.Path(sys.argv[1])
    section = page.read_text(encoding="utf-8").split("\n## Your own PyTorch model\n")[1].split("\n## ")[0]
    commands = re.search(r"(?ms)^```sh\n(.*?)^```$", section)[1].splitlines()
    losses = []
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=page.parent, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{command}\n{done.stdout[-500:]}{done.stderr[-2000:]}")
        losses += [float(x) for x in re.findall(r"(?m)^step: \d+  loss: (\S+)", done.stdout)]
    print(f"{len(commands)} commands, {len(losses)} steps")
    print(f"losses {'fall' if losses[-1] < 0.1 * losses[0] else 'do not fall'}")


main()
