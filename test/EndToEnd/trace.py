#!/usr/bin/env python3
# ===- trace.py - What --trace writes --------------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs plans with `--trace` and checks the events that Perfetto would show: each lane has
a name, the events of a lane do not overlap, each step has each instruction of the plan
once, with its name, source and bytes; buckets of gradients begin before the backward ends.

    python trace.py --bin build/dev/bin --model M --example examples/gpt -o out
"""

import argparse
import collections
import json
import pathlib
import subprocess

STEPS = 3
CLOCK = 0.002  # Microseconds by which printed times may round.


def fail(text):
    raise SystemExit(f"FAILED: {text}")


def read_lanes(path):
    """The complete events by (device, stream's name), in the order of their begin."""
    events = json.loads(path.read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    devices = {e["pid"] for e in events if e["name"] == "process_name"}
    if devices != {pid for pid, _ in names} or not devices:
        fail(f"expected a name of each device, got {devices}")
    lanes = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            lanes[event["pid"], names[event["pid"], event["tid"]]].append(event)
    for lane, list_ in lanes.items():
        list_.sort(key=lambda e: e["ts"])
        for one, next_ in zip(list_, list_[1:]):
            if one["ts"] < 0 or one["dur"] < 0 or next_["ts"] + CLOCK < one["ts"] + one["dur"]:
                fail(f"lane {lane}: {one} and {next_} overlap")
    return lanes


def is_of(event, what, program=""):
    return f"{program}: {what}" in event["name"] if program else what in event["name"]


def check_counts(lanes):
    """Each instruction of a program once for each step, whatever the device."""
    for lane, events in lanes.items():
        for name, count in collections.Counter(e["name"] for e in events).items():
            if count % STEPS:
                fail(f"lane {lane}: expected '{name}' once for each of {STEPS} steps, got {count}")
    if not any(e["args"]["source"] for events in lanes.values() for e in events):
        fail("expected events with the place in the source")
    if not all(e["args"]["bytes"] > 0 for events in lanes.values() for e in events):
        fail("expected events with their bytes")


def count_early(lanes):
    """Buckets of gradients on all devices, and those that begin before the backward ends."""
    early = all_ = 0
    for (device, stream), events in lanes.items():
        if stream != "X.data":
            continue
        buckets = [e for e in events if is_of(e, "all_reduce", "train.c0.B")]
        work = [e for e in lanes[device, "C"] if e["name"].startswith("train.c0.B: ")]
        for step in range(STEPS):
            last = work[(step + 1) * len(work) // STEPS - 1]
            end = last["ts"] + last["dur"]
            mine = buckets[step * len(buckets) // STEPS : (step + 1) * len(buckets) // STEPS]
            early += sum(e["ts"] < end for e in mine)
            all_ += len(mine)
    return early, all_


def list_times(plan, lanes, device, program):
    """For each step the instructions of a program, each with its begin and end. A lane has
    those of its stream in the program's order."""
    streams = [stream["name"] for stream in plan["streams"]]
    found = next(each for each in plan["programs"] if each["name"] == program)
    moving = [each for each in found["instructions"] if each["action"]["kind"] not in ("signal", "wait")]
    steps = []
    for step in range(STEPS):
        times = {}
        for number, stream in enumerate(streams):
            mine = [i for i, each in enumerate(moving) if each["stream"] == number]
            events = [e for e in lanes.get((device, stream), []) if e["name"].startswith(program + ": ")]
            events = events[step * len(mine) : (step + 1) * len(mine)]
            if len(events) != len(mine):
                fail(f"lane {device}, {stream}: expected {len(mine)} events in step {step}, got {len(events)}")
            times.update({i: (e["ts"], e["ts"] + e["dur"]) for i, e in zip(mine, events)})
        steps.append([(each["action"], *times[i]) for i, each in enumerate(moving)])
    return steps


def operands_of(action, *names):
    return {operand["buffer"] for name in names for operand in action.get(name, [])}


def count_ahead(plan, lanes):
    """Gathers of parameters in the forward, and those that begin before the last use of
    what the gather before them has made ends."""
    ahead = all_ = 0
    for device in sorted({device for device, _ in lanes}):
        for step in list_times(plan, lanes, device, "train.c0.F"):
            gathers = [each for each in step if each[0]["kind"] == "all_gather"]
            for (one, _, _), (_, begin, _) in zip(gathers, gathers[1:]):
                made = operands_of(one, "outputs")
                ends = [end for action, _, end in step if made & operands_of(action, "operands")]
                ahead += begin < max(ends)
                all_ += 1
    return ahead, all_


class Runs:
    def __init__(self, a):
        self.a = a

    def plan(self, name, *flags, layouts=""):
        folder = self.a.out / name
        folder.mkdir(parents=True)
        text = (self.a.example / "gpt.toml").read_text(encoding="utf-8")
        text = text.replace("corpus.bin", str(self.a.example / "corpus.bin"))
        (folder / "c.toml").write_text(text.replace("[[layout]]", layouts + "[[layout]]", 1), encoding="utf-8")
        command = [self.a.bin / "llmc", "compile", self.a.model, "--config", folder / "c.toml"]
        command += [*flags, "--set=machine.bucket=20000", "-o", folder]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return folder

    def trace(self, plan, processes=1):
        file = plan / "trace.json"
        command = [self.a.bin / "llmc-launch", "-n", processes, "--"] if processes > 1 else []
        command += [self.a.bin / "llmc-run", plan, "--data", self.a.example / "corpus.bin"]
        command += ["--steps", STEPS, "--trace", file]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        files = [file, *(plan / f"trace.json.{i}" for i in range(1, processes))]
        lanes = {}
        for each in files:
            lanes.update(read_lanes(each))
        check_counts(lanes)
        return lanes


def describe(name, lanes):
    return f"{name}: {sum(map(len, lanes.values()))} events in {len(lanes)} lanes"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for flag in ("--bin", "--model", "--example"):
        p.add_argument(flag, type=lambda text: pathlib.Path(text).absolute(), required=True)
    p.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    runs = Runs(p.parse_args())
    data = runs.plan("data", "--mesh", "data=2")
    lanes = runs.trace(data)
    early, all_ = count_early(lanes)
    print(f"{describe('data=2', lanes)}; {early} of {all_} buckets of gradients begin before the backward ends")
    # On a machine that has other work threads wait for a processor: half of them is no accident, as without overlap none is.
    if all_ < 2 * 2 * STEPS or early < all_ / 2:
        fail("expected buckets of gradients to begin before the backward ends")
    zero = runs.plan("zero", "--mesh", "data=2", layouts='[[layout]]\nmatch = "*"\nrest = [["data"]]\n')
    lanes = runs.trace(zero)
    show = [runs.a.bin / "llmc-run", zero, "--inspect", "--json"]
    plan = json.loads(subprocess.run(show, check=True, capture_output=True, text=True).stdout)
    ahead, all_ = count_ahead(plan, lanes)
    print(f"{describe('ZeRO-3', lanes)}; {ahead} of {all_} gathers begin before the use of the one before them ends")
    if all_ < 2 * 3 * STEPS or ahead < all_ / 2:
        fail("expected gathers ahead of their use")
    pipe = runs.plan("pipe", "--mesh", "pipe=2", "--set=training.microbatches=4")
    lanes = runs.trace(pipe)
    messages = [e for events in lanes.values() for e in events if is_of(e, ": send ") or is_of(e, ": receive ")]
    if len(messages) < 4 * 4 * STEPS:
        fail(f"expected messages of four microbatches in both directions, got {len(messages)} events")
    print(describe("pipe=2", lanes))
    print(describe("two processes", runs.trace(data, processes=2)))


if __name__ == "__main__":
    main()
