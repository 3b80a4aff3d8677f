# ===- board_events.py - What TensorBoard reads of a run ------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Reads a folder of event files by TensorBoard's own reader, and compares it with the log of the run.

    board_events.py FOLDER LOG
"""
import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing import event_accumulator

folder, log = map(pathlib.Path, sys.argv[1:])
rows = {row["step"]: row for row in map(json.loads, log.read_text(encoding="utf-8").splitlines())}
found = {}
files = sorted(folder.iterdir())
for file in files:
    reader = event_accumulator.EventAccumulator(str(file), size_guidance={event_accumulator.SCALARS: 0}).Reload()
    for tag in reader.Tags()["scalars"]:
        for event in reader.Scalars(tag):
            found.setdefault(tag, {})[event.step] = (event.value, event.wall_time)
rounded = lambda value: struct.unpack("f", struct.pack("f", value))[0]
for tag, events in found.items():
    if sorted(events) != sorted(rows):
        sys.exit(f"FAILED: {tag}: expected steps {sorted(rows)}, got {sorted(events)}")
    for step, (value, time) in events.items():
        key = {"step_seconds": "seconds"}.get(tag, tag)
        users = {name: number for name, number in rows[step].get("metrics", {}).items()}
        expected = rows[step].get(key) if not tag.startswith("metrics/") else next(iter(users.values()))
        if expected is None or rounded(expected) != value:
            sys.exit(f"FAILED: {tag} at step {step}: expected {expected}, got {value}")
        if abs(time - rows[step]["time_us"] / 1e6) > 1:
            sys.exit(f"FAILED: {tag} at step {step}: expected the time {rows[step]['time_us']} us, got {time}")
print(f"{len(files)} files, {len(rows)} steps: {', '.join(sorted(found))}")
