#!/usr/bin/env python3
# ===- hosts.py - A plan on two hosts, and what can happen to them ---------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Two hosts are two network namespaces with a link between them, each with a host name and a
launcher of its own. Runs plans on both and compares the losses with one process. Then jobs in
which, at a random moment, a process is killed or stopped, or the link is taken down: the other
side names who is lost, with its host, within the time that is allowed; both launchers end with
the right code; nobody is left.

    python hosts.py --bin build/dev/bin --model M --config C --data D -o out [--faults 10]
"""

import argparse
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

PLANS = (("data=2", 1), ("pipe=2", 4))
SILENCE, JOINING = 1.0, 10.0  # Seconds.
PORT = 29411
KINDS = ("killed", "stopped", "cut")


class Hosts:
    """Two namespaces, 10.77.0.1 and 10.77.0.2, also fd77::1 and fd77::2, which a link that goes down loses."""

    def __init__(self):
        self.names = [f"llmc{os.getpid()}{side}" for side in "ab"]

    def __enter__(self):
        a, b = self.names
        for name in self.names:
            self.ip("netns", "add", name)
        self.ip("link", "add", "veth0", "netns", a, "type", "veth", "peer", "name", "veth0", "netns", b)
        for number, name in enumerate(self.names):
            self.ip("-n", name, "address", "add", f"10.77.0.{number + 1}/24", "dev", "veth0")
            self.ip("-n", name, "address", "add", f"fd77::{number + 1}/64", "dev", "veth0", "nodad")
            self.ip("-n", name, "link", "set", "lo", "up")
        self.link("up")
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True)

    def link(self, state):
        for name in self.names:
            self.ip("-n", name, "link", "set", "veth0", state)

    def start(self, number, command):
        """A launcher on one host."""
        name = self.names[number]
        host = f"hostname host-{'ab'[number]} && exec \"$@\""
        return subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", host, "sh", *map(str, command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "LLMC_TOKEN": "of this test"})


class Jobs:
    def __init__(self, a, hosts):
        self.bin, self.data, self.out, self.hosts = a.bin.resolve(), a.data, a.out, hosts
        self.model, self.config = a.model, a.config

    def plan(self, mesh, microbatches):
        folder = self.out / re.sub(r"\W+", "-", mesh)
        command = [self.bin / "llmc", "compile", self.model, "--config", self.config, "--mesh", mesh]
        command += [f"--set=training.microbatches={microbatches}", "-o", folder]
        subprocess.run(list(map(str, command)), check=True, capture_output=True)
        return folder

    def start(self, plan, steps, *flags, address="10.77.0.1"):
        run = [self.bin / "llmc-run", plan, "--data", self.data, "--steps", steps, *flags]
        node = ["--nnodes", 2, "--master-addr", address, "--master-port", PORT]
        return [self.hosts.start(k, [self.bin / "llmc-launch", "-n", 1, "--stopped", 3, *node, "--node-rank", k, "--", *run])
                for k in (0, 1)]

    def compare(self):
        failed = 0
        for (mesh, microbatches), address in zip(PLANS, ("10.77.0.1", "fd77::1")):
            plan, log = self.plan(mesh, microbatches), self.out / "losses.jsonl"
            command = [self.bin / "llmc-run", plan, "--data", self.data, "--steps", "5", "--log", log]
            subprocess.run(list(map(str, command)), check=True, capture_output=True)
            losses = [[json.loads(line)["loss"] for line in log.read_text().splitlines()]]
            log.unlink()
            texts = [job.communicate(timeout=120)[1] for job in self.start(plan, 5, "--log", log, address=address)]
            if log.exists():
                losses.append([json.loads(line)["loss"] for line in log.read_text().splitlines()])
            equal = len(losses) == 2 and losses[0] == losses[1] and len(losses[0]) == 5
            failed += not equal
            print(f"{mesh} on two hosts: {'equal losses' if equal else f'FAILED: {texts}'}")
        return failed

    def lose(self, plan, kind, moment, victim):
        """What is wrong with how both hosts end."""
        jobs = self.start(plan, 10**6, "--silence", SILENCE, "--joining", JOINING)
        heard = [[], []]
        readers = [threading.Thread(target=self.listen, args=(jobs[k], heard[k]), daemon=True) for k in (0, 1)]
        for reader in readers:
            reader.start()
        pids = [self.child(job) for job in jobs]
        time.sleep(moment)
        begin = time.monotonic()
        if kind == "cut":
            self.hosts.link("down")
        else:
            os.kill(pids[victim], signal.SIGKILL if kind == "killed" else signal.SIGSTOP)
        for reader in readers:
            reader.join(timeout=60)
        hangs = any(job.poll() is None for job in jobs)
        for job in jobs:
            job.kill()
            job.wait()
        if kind == "cut":
            self.hosts.link("up")
        sides = (0, 1) if kind == "cut" else (1 - victim,)
        wrong = [self.judge(jobs[k].returncode, heard[k], k, begin, kind) for k in sides]
        left = [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
        wrong = [each for each in wrong if each]
        return f"{wrong}, hangs {hangs}, left {left}" if wrong or hangs or left else None

    @staticmethod
    def child(job):
        """The process that runs the plan; before it a shell has others."""
        while True:
            for pid in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split():
                try:
                    name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
                except OSError:
                    continue  # It has ended meanwhile.
                if name == "llmc-run":
                    return int(pid)
            time.sleep(0.01)

    @staticmethod
    def listen(job, lines):
        for line in job.stderr:
            lines.append((time.monotonic(), line))
        job.wait()

    def judge(self, code, lines, side, begin, kind):
        """The other process is named with its host, in time, and the launcher ends with 10; or it never came (11)."""
        text = "".join(line for _, line in lines)
        other = f"process {1 - side} (host host-{'ba'[side]}"
        named = next((at - begin for at, line in lines if other in line), None)
        bar = 1.0 if kind == "killed" else SILENCE + 1.0
        if named is not None and named <= bar and code == 10:
            return None
        met = "did not come" not in text and "no answer" not in text
        if not met and code == 11 and lines[-1][0] - begin <= JOINING + 1.0:
            return None
        return f"side {side}: code {code}, named after {named}: {text[-400:]}"

    def faults(self, count, seed):
        draw = random.Random(seed)
        plans = [self.plan(*each) for each in PLANS]
        failed = 0
        for i in range(count):
            kind, plan, victim = KINDS[i % 3], plans[i // 3 % 2], draw.randrange(2)
            moment = draw.uniform(0.0, 2.0)
            wrong = self.lose(plan, kind, moment, victim)
            failed += wrong is not None
            if wrong:
                print(f"{kind} on {plan.name}, {victim} after {moment:.2f} s: FAILED: {wrong}", flush=True)
        return failed


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--bin", type=pathlib.Path, required=True)
    p.add_argument("--model", type=pathlib.Path, required=True)
    p.add_argument("--config", type=pathlib.Path, required=True)
    p.add_argument("--data", type=pathlib.Path, required=True)
    p.add_argument("-o", "--out", type=pathlib.Path, required=True)
    p.add_argument("--faults", type=int, default=10)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    with Hosts() as hosts:
        jobs = Jobs(a, hosts)
        unequal = jobs.compare()
        print(f"{len(PLANS)} plans on two hosts, {unequal} failed")
        lost = jobs.faults(a.faults, a.seed)
        print(f"{a.faults} lost, {lost} failed")
    sys.exit(1 if unequal or lost else 0)


if __name__ == "__main__":
    main()
