#!/usr/bin/env python3
# ===- run.py - How fast a checkpoint is written, and beside what memory -----=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Trains one large matrix by AdamW and writes a checkpoint of its states, beside `dd` with sync.

    python run.py --bin build/release/bin -o out --gib 8 [--mesh data=2] [--rounds 3]

Prints for each round the bandwidth of dd (conv=fsync, blocks of 4 MiB), of a checkpoint in the foreground and of one in
the background, with the time for which the run stood still, and the resident memory over that of the run; then how
long it takes to resume. Bars: 80 % of dd, and 256 MiB in the foreground. `--judge` ends with 1 where one is missed.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

MIB = 1 << 20
ROWS = 64
MODEL = """func.func public @main(%w: tensor<{r}x{n}xf32> loc("p['w']"), %x: tensor<1x{r}xi32> loc("x")) -> (tensor<f32> {{jax.result_info = "result"}}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convert %x : (tensor<1x{r}xi32>) -> tensor<1x{r}xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<1x{r}xf32>, tensor<{r}x{n}xf32>) -> tensor<1x{n}xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x{n}xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}}
"""
CONFIG = """[mesh]
axes = ["data"]
[data.inputs]
x = 0
[[init]]
draw = "normal"
[[layout]]
match = "*"
rest = [[], ["data"]]
[optimizer]
lr = 1e-6
"""


def resident(pid):
    """Bytes, without pages of files."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return 1024 * sum(int(n) for n in re.findall(r"^(?:RssAnon|RssShmem):\s+(\d+)", text, re.M))


class Watch(threading.Thread):
    """The greatest resident memory before and after the checkpoint began."""

    def __init__(self, pid, folder):
        super().__init__(daemon=True)
        self.pid, self.folder, self.before, self.during = pid, folder, 0, 0

    def run(self):
        try:
            while True:
                isWriting = any(self.folder.glob(".writing-*"))
                now = resident(self.pid)
                if isWriting:
                    self.during = max(self.during, now)
                elif not self.during:
                    self.before = max(self.before, now)
                time.sleep(0.02)
        except (OSError, ValueError):
            pass  # The process has ended.


def train(a, plan, folder, *flags):
    """(bytes a second, seconds between steps, bytes over the run's, seconds of all)"""
    command = [a.bin / "llmc-run", plan, "--data", a.out / "data.bin", "--data-type", "u8", "--checkpoint", folder, *flags]
    begin = time.monotonic()
    running = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    watch = Watch(running.pid, folder)
    watch.start()
    said, _ = running.communicate()
    assert running.returncode == 0, said
    took = time.monotonic() - begin
    watch.join()
    line = re.search(r"checkpoint: \S+ +([\d.]+)(\w+) in ([\d.]+) s, ([\d.]+) s", said)
    if not line:
        return None, 0, 0, took
    size = float(line[1]) * {"GiB": 1 << 30, "MiB": MIB, "KiB": 1024}[line[2]]
    return size / float(line[3]), float(line[4]), watch.during - watch.before, took


def dd(a, mebi):
    file = a.out / "dd" / "file"  # In a new folder, as a checkpoint is: a file system may place both alike.
    file.parent.mkdir()
    begin = time.monotonic()
    subprocess.run(["dd", "if=/dev/zero", f"of={file}", "bs=4M", f"count={mebi // 4}", "conv=fsync"], check=True,
                   capture_output=True)
    rate = mebi * MIB / (time.monotonic() - begin)
    shutil.rmtree(file.parent)
    return rate


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("-o", dest="out", type=pathlib.Path, required=True)
    parser.add_argument("--gib", type=float, default=8)
    parser.add_argument("--mesh", default="data=1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--judge", action="store_true")
    a = parser.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    mebi = int(a.gib * 1024)
    columns = int(a.gib * (1 << 30) / 12 / ROWS) // 64 * 64
    (a.out / "model.mlir").write_text(MODEL.format(r=ROWS, n=columns))
    (a.out / "model.toml").write_text(CONFIG)
    (a.out / "data.bin").write_bytes(bytes(range(256)) * 4)
    plan, folder = a.out / "plan", a.out / "checkpoints"
    subprocess.run([str(a.bin / "llmc"), "compile", str(a.out / "model.mlir"), "--config", str(a.out / "model.toml"),
                    "--mesh", a.mesh, "-o", str(plan)], check=True, capture_output=True)
    shares, extras = [], []
    for number in range(a.rounds):
        shutil.rmtree(folder, ignore_errors=True)
        disk = dd(a, mebi)
        rate, _, extra, _ = train(a, plan, folder, "--steps", 1)
        _, _, _, back = train(a, plan, folder, "--steps", 1, "--resume")
        shutil.rmtree(folder)
        hidden, stall, more, _ = train(a, plan, folder, "--steps", 3, "--checkpoint-every", 1, "--checkpoint-keep", 1,
                                       "--checkpoint-background")
        shares.append(rate / disk)
        extras.append(extra)
        print(f"{a.gib:g} GiB on {a.mesh}: dd {disk / MIB:.0f} MiB/s, foreground {rate / MIB:.0f} MiB/s ({rate / disk:.0%}), "
              f"{extra / MIB:.0f} MiB more; background {hidden / MIB:.0f} MiB/s, {stall:.2f} s between steps, "
              f"{more / MIB:.0f} MiB more; resumed in {back:.1f} s", flush=True)
    shutil.rmtree(folder)
    good = max(shares) >= 0.8 and max(extras) <= 256 * MIB
    print(f"best share of dd {max(shares):.0%}, bar 80%; most memory {max(extras) / MIB:.0f} MiB, bar 256 MiB")
    return 1 if a.judge and not good else 0


if __name__ == "__main__":
    sys.exit(main())
