#!/usr/bin/env python3
# ===- probe_plans.py - The plans of many meshes, probed ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Compiles the cases of a file (see meshes.py) and probes each plan.

The probes are those of llmc-plan-probe: each wait is needed, mutations are
refused or run inside their buffers, orders give the same bits, memory, devices
whose memory the host cannot see.

    python probe_plans.py --bin build/dev/bin --model gpt.mlir --config gpt.toml --data corpus.bin -o out cases.txt
"""

import argparse
import pathlib
import subprocess
import sys

from meshes import flags, read_cases, split_case


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    for name in ("bin", "model", "config", "data"):
        p.add_argument(f"--{name}", required=True)
    p.add_argument("--zero-config", help="the configuration of cases with zero=1")
    p.add_argument("--probes", default="waits;mutate 1000;shuffle 100;memory;opaque")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("cases")
    a = p.parse_args()
    failed, cases = 0, read_cases(a.cases)
    for number, words in enumerate(cases):
        mesh, options = split_case(words)
        plan = str(pathlib.Path(a.output) / str(number))
        config = a.zero_config if options.get("zero") == "1" else a.config
        commands = [[f"{a.bin}/llmc", "compile", a.model, "--config", config, "--threads", "1", "-o", plan]]
        commands[0] += flags(mesh, options)
        for probe in a.probes.split(";"):
            commands.append([f"{a.bin}/llmc-plan-probe", plan, a.data] + probe.split())
        print(" ".join(words), flush=True)
        for command in commands:
            process = subprocess.run(command, capture_output=True, text=True)
            for line in process.stdout.splitlines():
                if not line.startswith(plan):
                    print("    " + line, flush=True)
            if process.returncode:
                failed += 1
                print(f"FAILED  {' '.join(command)}: exit code {process.returncode}\n{process.stderr}", flush=True)
                break
    print(f"{len(cases)} plans, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
