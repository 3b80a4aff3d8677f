#!/usr/bin/env python3
# ===- processes.py - One plan in several processes ------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs plans in several processes over Gloo, and compares them with one process bit by bit:
losses, norms, what communicators count, and all states. Then jobs of which a process is
killed or stopped at a random moment: all others name it, end with 10, and nobody is left.

    python processes.py --bin build/dev/bin --model M --config C --data D -o out [--faults 10]
    python processes.py … --messages mpi     # a sample of the plans, started by mpirun
    python processes.py … --meshes cases.txt --zero-config Z
                                             # all cases of meshes.py, a process for each device
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

import meshes  # noqa: E402

# Mesh, options as in meshes.py, numbers of processes.
CASES = (
    ("data=2", {}, (2,)),
    ("data=4", {"microbatches": "2"}, (2, 4)),
    ("tensor=2", {"microbatches": "2"}, (2,)),
    ("data=2,tensor=2", {"microbatches": "2"}, (2, 4)),
    ("pipe=2", {"microbatches": "4"}, (2,)),
    ("pipe=2,data=2,tensor=2", {"microbatches": "4"}, (2, 8)),
)
MPI_CASES = (CASES[3], CASES[5])
JOINING = 10.0  # Seconds for all to come.
SILENCE = 1.0  # Seconds for which a stopped process may say nothing.


def words_of(mesh, options):
    return " ".join([mesh, *(f"{key}={value}" for key, value in options.items())])


def each_device(path):
    """The cases of a file of meshes, with as many processes as devices."""
    for words in meshes.read_cases(path):
        mesh, options = meshes.split_case(words)
        yield mesh, options, (math.prod(int(axis.split("=")[1]) for axis in mesh.split(",")),)


class Jobs:
    def __init__(self, a):
        self.bin, self.data, self.out = a.bin, a.data, a.out
        self.model, self.config, self.zero_config = a.model, a.config, a.zero_config
        self.messages = a.messages
        self.placed = 0  # Lost processes of whom others said where they waited.

    def plan(self, mesh, options):
        folder = self.out / re.sub(r"\W+", "-", words_of(mesh, options))
        config = self.zero_config if options.get("zero") == "1" else self.config
        command = [self.bin / "llmc", "compile", self.model, "--config", config, *meshes.flags(mesh, options)]
        command += ["--set=training.max_norm=1.0", "-o", folder]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return folder

    def command(self, plan, steps, processes, *flags):
        run = [self.bin / "llmc-run", plan, "--data", self.data, "--steps", steps, *flags]
        if processes > 1:
            run += ["--messages", self.messages]
        return list(map(str, [*self.launcher(processes), *run]))

    def launcher(self, processes):
        if processes == 1:
            return []
        if self.messages == "mpi":
            return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", processes]
        return [self.bin / "llmc-launch", "-n", processes, "--"]

    def observe(self, plan, processes):
        """All that a user sees of a run: (losses and norms, counts, states), or the error."""
        out = plan / f"processes-{processes}"
        flags = ["--log", f"{out}.jsonl", "--dump", out, "--fetch", "*", "--count"]
        done = subprocess.run(self.command(plan, 3, processes, *flags), capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr
        rows = [json.loads(line) for line in pathlib.Path(f"{out}.jsonl").read_text().splitlines()]
        counts = [line for line in done.stdout.splitlines() if line.startswith("counted")]
        states = {path.name: path.read_bytes() for path in sorted(out.iterdir())}
        return [(row["loss"], row["grad_norm"]) for row in rows], counts, states

    def compare(self, cases):
        failed = runs = 0
        for mesh, options, numbers in cases:
            plan = self.plan(mesh, options)
            one = self.observe(plan, 1)
            for processes in numbers:
                found = self.observe(plan, processes)
                equal = not isinstance(one, str) and found == one and len(one[2]) > 50
                runs += 1
                failed += not equal
                verdict = "equal bits" if equal else f"FAILED: {found if isinstance(found, str) else 'differs'}"
                print(f"{words_of(mesh, options)}, {processes} processes: {verdict}", flush=True)
        return runs, failed

    def lose(self, plan, size, number, moment, victim):
        """What is wrong with how a job of `size` ends when one of it gets the signal."""
        flags = ["--silence", SILENCE, "--joining", JOINING]
        job = subprocess.Popen(self.command(plan, 10**6, size, *flags), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        children = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children")
        while len(children.read_text().split()) < size:
            time.sleep(0.01)
        pids = list(map(int, children.read_text().split()))
        time.sleep(moment)
        begin = time.monotonic()
        os.kill(pids[victim], number)
        named, text = None, ""
        for line in job.stderr:
            text += line
            if named is None and re.search(rf"process {victim} (\(host|says nothing|of {size} did not come)", line):
                named = time.monotonic() - begin
        job.wait(timeout=60)
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        # Who is killed before all have met is named by the launcher alone; who is stopped has not come.
        met, came = "peer-lost" in text, "did not come" not in text
        code = 128 + number if number == signal.SIGKILL else 10 if came else 11
        bar = 1.0 + (0 if number == signal.SIGKILL else SILENCE if came else JOINING)
        self.placed += "waited at" in text
        if job.returncode != code or left or (met and (named is None or named > bar)):
            return f"code {job.returncode}, named after {named}, left {left}: {text[-600:]}"
        return None

    def faults(self, count, seed):
        draw = random.Random(seed)
        plan = self.plan("data=2,tensor=2", {"microbatches": "2"})
        failed = 0
        for i in range(count):
            number = signal.SIGSTOP if i % 5 == 4 else signal.SIGKILL
            size, moment = draw.choice((2, 4)), draw.uniform(0.0, 1.5)
            victim = draw.randrange(size)
            wrong = self.lose(plan, size, number, moment, victim)
            failed += wrong is not None
            if wrong:
                print(f"{number.name} of {victim} of {size} after {moment:.2f} s: FAILED: {wrong}")
        return count, failed, self.placed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("--model", type=pathlib.Path, required=True)
    p.add_argument("--config", type=pathlib.Path, required=True)
    p.add_argument("--zero-config", type=pathlib.Path, help="of cases with zero=1")
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("--meshes", type=pathlib.Path, help="a file of cases, each of which has a process for each device")
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    p.add_argument("--messages", choices=("gloo", "mpi"), default="gloo")
    p.add_argument("--faults", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    jobs = Jobs(a)
    cases = each_device(a.meshes) if a.meshes else MPI_CASES if a.messages == "mpi" else CASES
    runs, failed = jobs.compare(cases)
    print(f"{runs} runs, {failed} failed")
    lost, wrong, placed = jobs.faults(a.faults, a.seed)
    print(f"{lost} lost processes, {wrong} failed, {placed} waited for at a place that is named")
    sys.exit(1 if failed or wrong else 0)


if __name__ == "__main__":
    main()
