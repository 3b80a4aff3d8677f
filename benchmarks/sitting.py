# ===- sitting.py - Programs timed one after another ----------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What benchmarks of several programs share: pinned runs, rates, medians."""

import json
import os
import platform
import resource
import subprocess
import sys
import time


def program(text):
    """A program as a flag names it, whichever folder it is started in; links stay links."""
    return os.path.abspath(text) if os.sep in text else text


def on_cores(threads, command):
    """The command on the first `threads` cores that this process may use."""
    cores = sorted(os.sched_getaffinity(0))[:threads]
    if len(cores) < threads:
        sys.exit(f"error: expected {threads} cores, got {len(cores)}")
    return ["taskset", "-c", ",".join(map(str, cores)), *map(str, command)]


def pinned(threads, command, folder, extra=None):
    """Runs `command` on the first `threads` cores that this process may use."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), **(extra or {}))
    command = on_cores(threads, command)
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)


def peak_megabytes(command, folder, output):
    """Starts `command`, whose output goes to the file `output`; its exit code and the most
    memory that it had resident."""
    with open(output, "w", encoding="utf-8") as text:
        process = subprocess.Popen(list(map(str, command)), stdout=text, stderr=text, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss / 1024


def busy_seconds():
    """Of all programs on all cores, since the machine started."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, irq, softirq, steal = map(int, f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def others_during(call):
    """What `call` returns, and which share of the machine other programs took meanwhile."""
    begin, before = time.perf_counter(), busy_seconds() - own_seconds()
    result = call()
    others = busy_seconds() - own_seconds() - before
    return result, max(0.0, others / (time.perf_counter() - begin) / os.cpu_count())


def wait_for_idle(most=0.05):
    while others_during(lambda: time.sleep(1))[1] > most:
        time.sleep(2)


def last_json(process, what):
    """The last line, which is JSON; None, and why, where there is none."""
    lines = process.stdout.strip().splitlines()
    if process.returncode or not lines:
        tail = process.stderr.strip().splitlines()[-1:] or ["no output"]
        print(f"{what}: left out ({tail[0]})", flush=True)
        return None
    return json.loads(lines[-1])


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor()


def machine():
    """The processor, with what tells vector units apart that have one name."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = next((line.split() for line in f if line.startswith("flags")), [])
    kinds = [name for flag, name in (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("amx_tile", "AMX")) if flag in flags]
    return f"{processor()} ({', '.join(kinds)})" if kinds else processor()


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return 0.5 * (ordered[middle - 1] + ordered[middle])


def best(run, least=5, seconds=1.0):
    """Least time of `run` over at least `least` runs and `seconds` seconds."""
    times = []
    while len(times) < least or sum(times) < seconds:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def library(threads):
    """Name, a maker of n x m matrices of ones, and an array copy, of the library at hand."""
    try:
        import torch
    except ImportError:
        import numpy

        ones = lambda n, m: numpy.ones((n, m), numpy.float32)
        return "numpy", ones, lambda target, source: numpy.copyto(target, source)
    torch.set_num_threads(threads)
    return "PyTorch", torch.ones, lambda target, source: target.copy_(source)


def measure_rates(threads, shapes):
    """Rates of f32 products (n, k, m), each at its best, and of copies of memory: the
    highest rate of the products is the roof."""
    name, ones, copy = library(threads)
    rates = []
    for n, k, m in shapes:
        left, right = ones(n, k), ones(k, m)
        rates.append(2e-9 * n * k * m / best(lambda: left @ right))
    source, target = ones(1 << 13, 1 << 13), ones(1 << 13, 1 << 13)
    seconds = best(lambda: copy(target, source))
    return {
        "library": name,
        "threads": threads,
        "gflops": max(rates),
        "copy_gb_s": 2 * 4 * (1 << 26) / seconds / 1e9,
    }
