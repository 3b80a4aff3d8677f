#!/usr/bin/env python3
# ===- checkpoint_faults.py - Runs that are ended from outside ---------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Ends runs that write checkpoints, and goes on from what they leave.

    python checkpoint_faults.py --bin build/dev/bin --model M --config C --data D -o out [--kills 10]

- a signal: the step ends, a checkpoint is written, the exit code is 128 + the signal; of one process and of a job
- a second one, and one while a model is compiled: the end at once, and no temporary folder stays
- kill -9 at random moments: the run goes on from the last checkpoint, and its figures are those of one that was left alone
- a job of which a process is killed starts again by itself, and where it was told so with fewer
- a full disk, a limit, a folder that cannot be written, two runs in one folder: one line each, and nothing is lost
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time


class Faults:
    def __init__(self, a):
        self.bin, self.out, self.data = a.bin, a.out, a.data
        self.model, self.config = a.model, a.config
        self.count = self.failed = 0
        self.random = random.Random(a.seed)
        self.plan = self.compile("plan", "data=2", 1)

    def compile(self, name, mesh, microbatches, model=None):
        folder = self.out / name
        command = [self.bin / "llmc", "compile", model or self.model, "--config", self.config, "--mesh", mesh]
        command += [f"--set=training.microbatches={microbatches}", "-o", folder]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return folder

    def judge(self, what, good, said):
        self.count += 1
        self.failed += not good
        print(f"{'ok    ' if good else 'FAILED'}  {what}: {said}", flush=True)

    def fresh(self, name):
        folder = self.out / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def run(self, *flags, plan=None, processes=1):
        launch = [self.bin / "llmc-launch", "-n", processes, "--"] if processes > 1 else []
        return list(map(str, [*launch, self.bin / "llmc-run", plan or self.plan, "--data", self.data, *flags]))

    def start(self, command):
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, command):
        return subprocess.run(command, capture_output=True, text=True, timeout=120)


def wait_for(process, text):
    """The line with `text`."""
    for line in process.stdout:
        if text in line:
            return line
    return ""


def last_step(folder):
    return max((int(path.name[5:]) for path in folder.glob("step-*")), default=0)


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".writing")]


def children(process):
    """Of a launcher, in the order of their start."""
    listed = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    return sorted(map(int, listed))


def signals(faults):
    """To the launcher, or to one process of its job: all end after one step, whoever heard of it."""
    cases = ((1, signal.SIGTERM, None), (1, signal.SIGINT, None), (2, signal.SIGTERM, None), (2, signal.SIGTERM, 1),
             (2, signal.SIGINT, 0))
    for processes, number, which in cases:
        folder = faults.fresh("signal")
        running = faults.start(faults.run("--steps", 10**6, "--checkpoint", folder, processes=processes))
        wait_for(running, "step: 3 ")
        if which is None:
            running.send_signal(number)
        else:
            os.kill(children(running)[which], number)
        said, errors = running.communicate(timeout=60)
        steps = [int(n) for n in re.findall(r"^step: (\d+)", said, re.M)]
        files = len(list(folder.glob("step-*/*.safetensors")))
        codes = (128 + number, 128 + signal.SIGTERM) if which is not None else (128 + number,)
        good = running.returncode in codes and last_step(folder) == steps[-1] + 1 and not hidden(folder)
        again = faults.finish(faults.run("--steps", steps[-1] + 3, "--checkpoint", folder, "--resume",
                                         processes=processes))
        good = good and again.returncode == 0 and last_step(folder) == steps[-1] + 3 and files == processes
        faults.judge(f"{signal.Signals(number).name} to {processes} process{'es' * (processes > 1)}"
                     f"{'' if which is None else f', number {which} alone'}", good,
                     f"code {running.returncode} after step {steps[-1]}, {files} files, then {again.returncode}")


def at_once(faults):
    """Steps of three seconds or more: the second signal does not wait for the first one's step."""
    long = faults.compile("long", "data=2", 4096, faults.model.with_name("gpt-four.mlir"))
    for processes in (1, 2):
        folder = faults.fresh("at-once")
        command = faults.run("--steps", 5, "--checkpoint", folder, plan=long, processes=processes)
        running = faults.start(command)
        wait_for(running, "memory of stage")
        time.sleep(0.5)
        begin = time.monotonic()
        for _ in range(2):
            running.send_signal(signal.SIGTERM)
            time.sleep(0.3)
        running.communicate(timeout=60)
        took = time.monotonic() - begin
        code = running.returncode if running.returncode > 0 else 128 - running.returncode
        faults.judge(f"a second signal to {processes}", code == 143 and took < 8 and last_step(folder) == 0,
                     f"code {code} in {'less' if took < 8 else 'more'} than 8 s")


def while_compiling(faults):
    """The temporary folder of llmc train goes, whenever the signal comes."""
    temporary = faults.fresh("tmp")
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "LLMC_KERNEL_CACHE": ""}
    command = [faults.bin / "llmc", "train", faults.model, "--config", faults.config, "--steps", "1000000"]
    codes, made = [], 0
    for turn in range(4):
        running = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment)
        end = time.monotonic() + 30
        while not list(temporary.iterdir()) and time.monotonic() < end:
            time.sleep(0.002)
        made += len(list(temporary.iterdir()))
        time.sleep(0.02 + 0.4 * faults.random.random() * turn)
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        codes.append(running.returncode if running.returncode > 0 else 128 - running.returncode)
    left = [path.name for path in temporary.iterdir()]
    faults.judge("SIGTERM to llmc train", codes == [143] * 4 and made == 4 and not left,
                 f"codes {codes}, {made} temporary folders made, {len(left)} left")


def kills(faults, number):
    """A checkpoint after each step, so that most moments are those of writing."""
    folder, log, alone = faults.fresh("kills"), faults.out / "kills.jsonl", faults.out / "alone.jsonl"
    log.unlink(missing_ok=True)
    passed, lost, killed = 0, 0, 0
    command = faults.run("--log", log, "--checkpoint", folder, "--checkpoint-every", 1)
    while killed < number and not lost:
        running = faults.start([*command, "--steps", "1000000"] + (["--resume"] if last_step(folder) else []))
        line = wait_for(running, "checkpoint: ")
        time.sleep(faults.random.random() * 0.1)
        running.kill()
        killed += 1
        errors = running.communicate(timeout=120)[1]
        passed += errors.count("passed over")
        lost += "error" in errors or not line or last_step(folder) < int(line.split("step-")[1].split()[0])
        if lost:
            print(errors, file=sys.stderr)
    steps = last_step(folder) + 5
    lost += faults.finish([*command, "--steps", str(steps), "--resume"]).returncode != 0
    assert faults.finish(faults.run("--steps", steps, "--log", alone)).returncode == 0
    rows = {row["step"]: row for row in map(json.loads, log.read_text().splitlines())}
    expected = [json.loads(line) for line in alone.read_text().splitlines()]
    equal = [(r["loss"], r["grad_norm"]) for r in expected] == [
        (rows[r["step"]]["loss"], rows[r["step"]]["grad_norm"]) for r in expected if r["step"] in rows]
    faults.judge(f"{number} times kill -9", equal and not lost and not hidden(folder) and killed == number,
                 f"{killed} killed, {lost} without a checkpoint, {passed} passed over, figures "
                 f"{'equal' if equal else 'differ'}")


def restarts(faults):
    """A process of a job is killed after a checkpoint; the launcher starts all again."""
    folder = faults.fresh("restart")
    command = faults.run("--steps", 80, "--checkpoint", folder, "--checkpoint-every", 10, processes=2)
    command = command[:1] + ["--max-restarts", "2"] + command[1:]
    running = faults.start(command)
    wait_for(running, "step-00000020")
    os.kill(children(running)[1], signal.SIGKILL)
    said, errors = running.communicate(timeout=120)
    steps = [int(n) for n in re.findall(r"^step: (\d+)", said, re.M)]
    again = next((b for a, b in zip(steps, steps[1:]) if b <= a), None)
    faults.judge("a job with --max-restarts", running.returncode == 0 and "restart 1 of 2" in errors
                 and last_step(folder) == 80 and (again is None or again >= 20) and "restart 2" not in errors,
                 f"code {running.returncode}, {errors.count('restart ')} restart")


def elastic(faults):
    """Of two processes one is killed: the other goes on alone, by a plan that is compiled for it, and ends where two do."""
    plans, rows = faults.out / "elastic-plan", {}
    compiled = f"{faults.bin}/llmc compile {faults.model} --config {faults.config} --mesh data={{n}} -o {plans}-{{n}} > /dev/null"
    for name in ("alone", "killed"):
        folder, log = faults.fresh(f"elastic-{name}"), faults.out / f"elastic-{name}.jsonl"
        run = faults.run("--steps", 40, "--log", log, "--checkpoint", folder, "--checkpoint-every", 10, plan=f"{plans}-{{n}}",
                         processes=2)
        running = faults.start(run[:3] + ["--max-restarts", "2", "--elastic", "1", "--prepare", compiled] + run[3:])
        if name == "killed":
            wait_for(running, "step-00000020")
            os.kill(children(running)[1], signal.SIGKILL)
        _, errors = running.communicate(timeout=120)
        rows[name] = {row["step"]: row["loss"] for row in map(json.loads, log.read_text().splitlines())}
    apart = max((abs(rows["killed"].get(step, 0) / loss - 1) for step, loss in rows["alone"].items()),
                key=lambda far: (far != far, far))
    faults.judge("an elastic job", running.returncode == 0 and "restart 1 of 2 with 1 process" in errors
                 and last_step(folder) == 40 and apart <= 2e-5, f"code {running.returncode}, losses {apart:.1e} apart")


def refused(faults):
    def expect(what, command, code, words, folder=None, step=0):
        done = faults.finish(command)
        lines = [line for line in done.stderr.splitlines() if "error[" in line]
        whole = folder is None or (last_step(folder) == step and not hidden(folder))
        good = done.returncode == code and len(lines) == 1 and all(word in lines[0] for word in words) and whole
        faults.judge(what, good, lines[0].replace(str(faults.out), "out") if good else done.stderr)

    folder = faults.fresh("refused")
    run = faults.run("--steps", 10, "--checkpoint", folder)
    assert faults.finish(run).returncode == 0
    expect("a folder of another run", run, 2, ["step-00000010", "--resume"], folder, 10)
    first = faults.start(faults.run("--steps", 10**6, "--checkpoint", folder, "--resume"))
    wait_for(first, "step: 12 ")
    more = faults.run("--steps", 20, "--checkpoint", folder, "--resume")
    expect("two runs in one folder", more, 14, [f"process {first.pid}", "wait for its end"], folder, 10)
    first.kill()
    first.communicate()
    # The lock of a run that was killed is free.
    limited = ["bash", "-c", 'ulimit -f 16; exec "$@"', "-", *more]
    expect("a limit of file sizes", limited, 14, ["File too large", "make room"], folder, 10)
    assert faults.finish(more).returncode == 0
    file = faults.out / "file"
    file.write_text("")
    expect("a file in place of the folder", faults.run("--checkpoint", file), 14, ["folder"])
    unknown = faults.run("--fetch", "wte,nothing,grad.*", "--steps", 3)
    expect("unknown values", unknown, 2, ["'nothing', 'grad.*'"])
    expect("an unknown metric", faults.run("--checkpoint", faults.fresh("none"), "--checkpoint-best", "x"), 2, ["loss"])
    expect("no checkpoint", faults.run("--resume", "--checkpoint", faults.fresh("none")), 14, ["got none"])
    damaged = faults.fresh("damaged")
    shutil.copytree(folder, damaged)
    for path in damaged.glob("step-*/*.safetensors"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    expect("damaged checkpoints", faults.run("--resume", "--checkpoint", damaged), 14, ["damaged ones only"])
    mounts(faults, expect)


def mounts(faults, expect):
    """A disk of 256 KiB, and one that is only read; where the system lets nobody mount, they are left out."""
    script = 'set -e; mkdir -p "$0"; mount -t tmpfs -o "$1" tmpfs "$0"; shift; exec "$@"'

    def within(options, *command):
        return ["unshare", "-m", "bash", "-c", script, str(faults.out / "disk"), options, *command]

    if faults.finish(within("size=256k", "true")).returncode:
        print("no tmpfs may be mounted here: left out")
        return
    flags = ["--steps", 9, "--checkpoint", faults.out / "disk/x", "--checkpoint-every", 2, "--checkpoint-keep", 0]
    expect("a full disk", within("size=256k", *faults.run(*flags)), 14, ["No space left", "make room"])
    expect("values on a read-only disk", within("ro", *faults.run("--dump", faults.out / "disk")), 2, ["Read-only"])
    expect("a log on a read-only disk", within("ro", *faults.run("--log", faults.out / "disk/log")), 2, ["the log"])
    expect("a read-only disk", within("ro", *faults.run(*flags)), 14, ["Read-only file system", "may write"])


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--bin", "--model", "--config", "--data"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    a.out = a.out.resolve()
    a.out.mkdir(parents=True, exist_ok=True)
    faults = Faults(a)
    signals(faults)
    at_once(faults)
    while_compiling(faults)
    restarts(faults)
    elastic(faults)
    refused(faults)
    kills(faults, a.kills)
    print(f"{faults.count} ends, {faults.failed} failed")
    return 1 if faults.failed else 0


if __name__ == "__main__":
    sys.exit(main())
