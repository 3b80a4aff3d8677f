#!/usr/bin/env python3
# ===- faults.py - Which behaviour shows each seeded fault ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Runs behavioural tests under each seeded fault.

A fault is caught by the first test that fails, is refused or does not end. The
tests compare figures of the programs: losses, norms, values, bits, what the
loader says of a plan; none of them reads generated text. Without a fault all of
them must pass, which is tried first.

    python faults.py --build build/dev -o out [--only allReduceIgnoresKind,...] [--all] [--table docs/faults.md [--write]]
    python faults.py --list

--list prints the faults of SeededFaults.def, each of which must be made in lib.
--all runs every test under each fault. --table reads which test caught a fault
last time, to try that one first (else the quickest); --write puts the new table
there.
The last line is "N of 40 caught".
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = ROOT / "include/llmc/Runtime/Base/SeededFaults.def"
GPT = ROOT / "examples/gpt"
PYTHON = next((str(p) for p in [ROOT / ".venv/bin/python"] if p.exists()), "/usr/bin/python3")

# Cases of meshes.py: name -> (model, options, lines).
MESHES = {
    "flat": ("gpt-four", "--steps 3", ["data=2", "data=3", "tensor=2", "data=2,tensor=2 zero=1"]),
    "stages": ("gpt-four", "--steps 3", ["pipe=4 microbatches=2", "= pipe=4 microbatches=2 schedule=gpipe",
                                         "pipe=2,tensor=2 microbatches=2 zero=1"]),
    "kinds": ("kinds", "--steps 3", ["tensor=2", "tensor=4", "data=2", "data=2,tensor=2"]),
    "vocabulary": ("gpt-four", "--steps 3", ["tensor=3", "pipe=2,tensor=2"]),
}
SUITES = {
    # Random programs, all devices in lockstep, by mesh.
    "ops": ("OpCaseTest", {"LLMC_TEST_CASES": "6"}, ""),
    "grid": ("MeshCaseTest", {"LLMC_TEST_CASES": "60", "LLMC_TEST_MESH": '<"a"=2, "b"=3>'}, ""),
    "pair": ("MeshCaseTest", {"LLMC_TEST_CASES": "60", "LLMC_TEST_MESH": '<"a"=3>'}, ""),
    "staged": ("MeshCaseTest", {"LLMC_TEST_CASES": "60", "LLMC_TEST_MESH": '<"p"=2, "a"=2> pipeline "p"'},
               "*Whole*"),
}


def mesh_command(a, name, out):
    model, options, lines = MESHES[name]
    cases = out / f"{name}.txt"
    cases.write_text("\n".join(lines) + "\n")
    config, zero = GPT / "gpt.toml", GPT / "gpt-zero1.toml"
    own = HERE / f"Inputs/{model}.toml"
    if name == "vocabulary":
        config = zero = out / "vocabulary.toml"
        text = (GPT / "gpt.toml").read_text().replace("corpus.bin", str(GPT / "corpus.bin"))
        config.write_text(text + '\n[[layout]]\nmatch = "wte"\nrest = [["tensor"]]\n')
    elif own.exists():
        config = zero = own
    return [sys.executable, HERE / "meshes.py", "--llmc", a.build / "bin/llmc", "--model", HERE / f"Inputs/{model}.mlir",
            "--config", config, "--zero-config", zero, "-o", out / name, *shlex.split(options), cases], {}


def suite_command(a, name, out):
    program, environment, pattern = SUITES[name]
    command = [a.build / "test/Unit/tests" / program, "--gtest_fail_fast"]
    return command + ([f"--gtest_filter={pattern}"] if pattern else []), environment


def script(text):
    def make(a, out):
        words = {"bin": a.build / "bin", "in": HERE / "Inputs", "here": HERE, "gpt": GPT, "out": out, "py": PYTHON}
        return ["bash", "-ec", text.format(**words)], {}
    return make


# The executor against the interpreter, in f64, with microbatches.
INTERPRETER = """
f="{in}/gpt-tiny.mlir --config {gpt}/gpt.toml --steps 2 --set training.precision=f64 --set training.microbatches=2"
{bin}/llmc train $f --threads 2 --log {out}/train.jsonl
{bin}/llmc interpret $f --log {out}/interpret.jsonl
{py} {here}/oracle/compare.py losses {out}/train.jsonl {out}/interpret.jsonl --key loss,grad_norm,lr --bar 1e-12
"""
# Bits whatever the order of streams; a plan refused by its loader fails here too.
ORDER = """
{bin}/llmc compile {in}/gpt-four.mlir --config {gpt}/gpt.toml --mesh pipe=2,data=2 --set training.microbatches=2 --threads 2 -o {out}/plan
{bin}/llmc-plan-probe {out}/plan {gpt}/corpus.bin shuffle 10
"""
SCRIPTS = {"interpreter": INTERPRETER, "order": ORDER}


def tests(a):
    """Name -> function of a folder that gives a command and its environment."""
    made = {}
    for name in SUITES:
        made[f"programs {name}"] = lambda out, n=name: suite_command(a, n, out)
    for name in MESHES:
        made[f"meshes {name}"] = lambda out, n=name: mesh_command(a, n, out)
    for name, text in SCRIPTS.items():
        made[name] = lambda out, t=text: script(t)(a, out)
    return {n: m for n, m in made.items() if not a.tests or n in a.tests}


def run(make, fault, out, limit):
    """What went wrong first, or nothing; and the seconds that it took."""
    out.mkdir(parents=True, exist_ok=True)
    command, more = make(out)
    environment = dict(os.environ, **more)
    environment.pop("LLMC_FAULT", None)
    if fault:
        environment["LLMC_FAULT"] = fault
    begin, lines = time.time(), []
    process = subprocess.Popen([str(w) for w in command], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    ended = threading.Event()

    def stop():
        if not ended.wait(limit):
            lines.append(f"error: does not end in {limit} s")
            os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=stop, daemon=True).start()
    failed = False
    for line in process.stdout:
        lines.append(line)
        # One case that fails is enough.
        if line.startswith("FAILED"):
            failed = True
            os.killpg(process.pid, signal.SIGKILL)
            break
    failed = process.wait() != 0 or failed
    ended.set()
    seconds = time.time() - begin
    if not failed:
        return None, seconds
    lines = [line.strip() for line in lines if line.strip()] or [f"exit code {process.returncode}"]
    telling = [line for line in lines if re.search(r"FAILED  |error\[|error:|LLMC_TEST_ONE|, seed \d|differ|[1-9]\d* failed", line)]
    return (telling or lines[-1:])[0], seconds


def shorten(text, folder):
    text = text.replace(str(folder) + "/", "").replace(str(ROOT) + "/", "").replace("|", "/")
    return text if len(text) <= 160 else text[:157] + "..."


def last_time(table):
    if not table or not table.exists():
        return {}
    rows = (line.split("|") for line in table.read_text().splitlines() if line.startswith("| `"))
    return {row[1].strip(" `"): row[4].strip() for row in rows}


def read_table():
    """The faults of SeededFaults.def, in its order: {"name", "class", "breaks"}."""
    rows = re.findall(r'^LLMC_SEEDED_FAULT\(\s*(\w+),\s*(\w+),((?:\s*"[^"]*")+)\)$', TABLE.read_text(), re.M)
    return [{"name": name, "class": group, "breaks": "".join(re.findall(r'"([^"]*)"', text))} for name, group, text in rows]


def list_faults(faults):
    """Prints them; refuses a table and a tree that do not agree."""
    used = set()
    for path in (ROOT / "lib").rglob("*.cpp"):
        used.update(re.findall(r"\bisSeeded\(\s*Fault::(\w+)", path.read_text()))
    for fault in faults:
        print(f"{fault['name']}: {fault['breaks']} ({fault['class']})")
    unused = [f["name"] for f in faults if f["name"] not in used]
    if unused:
        sys.exit(f"error: expected each fault to be made somewhere in lib, got none for {', '.join(unused)}")
    print(f"{len(faults)} faults")


def choose(faults, only):
    names = [n.strip() for n in only.split(",") if n.strip()]
    unknown = [n for n in names if n not in {f["name"] for f in faults}]
    if unknown:
        sys.exit(f"error: expected names of SeededFaults.def, got {', '.join(unknown)}")
    return [f for f in faults if not names or f["name"] in names]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--build", type=pathlib.Path)
    p.add_argument("-o", "--output", type=pathlib.Path)
    p.add_argument("--list", action="store_true", help="print the faults and run nothing")
    p.add_argument("--only", default="", help="names of faults, with commas")
    p.add_argument("--tests", default="", help="names of tests, with commas")
    p.add_argument("--all", action="store_true")
    p.add_argument("--table", type=pathlib.Path)
    p.add_argument("--unchecked", action="store_true", help="do not run the tests without a fault first")
    p.add_argument("--write", action="store_true")
    p.add_argument("--limit", type=int, default=300, help="seconds for each test")
    a = p.parse_args()
    faults = read_table()
    if a.list:
        return list_faults(faults)
    if not a.build or not a.output:
        p.error("expected --build and -o")
    chosen = choose(faults, a.only)
    a.build, a.output = a.build.resolve(), a.output.resolve()
    switch = a.build / "include/llmc/Runtime/Base/FaultSwitch.h"
    if not switch.exists() or "LLMC_SEEDED_FAULTS 1" not in switch.read_text():
        sys.exit(f"error: expected a build with LLMC_SEEDED_FAULTS=ON, got {a.build}")
    a.tests = [t.strip() for t in a.tests.split(",") if t.strip()]
    known, before = tests(a), last_time(a.table)
    duration = dict.fromkeys(known, 0)
    for name, make in known.items() if not a.unchecked else ():
        why, seconds = run(make, None, a.output / "none" / name.replace(" ", "-"), a.limit)
        print(f"without a fault: {name}: {why or 'passes'} ({seconds:.0f} s)", flush=True)
        if why:
            sys.exit(f"error: expected '{name}' to pass without a fault")
        duration[name] = seconds
    rows, caught = [], 0
    for fault in chosen:
        fault_name, found = fault["name"], []
        order = sorted(known, key=lambda n: (n != before.get(fault_name), duration[n]))
        for name in order:
            folder = a.output / fault_name / name.replace(" ", "-")
            why, _ = run(known[name], fault_name, folder, a.limit)
            if why:
                found.append((name, shorten(why, folder)))
                if not a.all:
                    break
        caught += bool(found)
        by, how = found[0] if found else ("NOT CAUGHT", "")
        by = ", ".join(n for n, _ in found) or by
        rows.append(f"| `{fault_name}` | {fault['class']} | {fault['breaks']} | {by} | {how} |")
        print(rows[-1], flush=True)
    if a.table and a.write and len(chosen) == len(faults):
        write_table(a.table, rows, caught)
    print(f"{caught} of {len(chosen)} caught")
    sys.exit(0 if caught >= len(chosen) * 38 / 40 else 1)


def write_table(path, rows, caught):
    text = path.read_text() if path.exists() else ""
    head = text.split("| fault |")[0]
    title = "| fault | class | breaks | caught by | its first line |\n|---|---|---|---|---|\n"
    path.write_text(head + title + "\n".join(rows) + f"\n\n{caught} of {len(rows)} caught.\n")


if __name__ == "__main__":
    main()
