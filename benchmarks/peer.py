# ===- peer.py - Times the steps of one program ---------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What the peers of all benchmarks share: a loop that times steps, and its result."""

import json
import resource
import time


def run_steps(name, a, step):
    """Times `step`, which takes the step's number from 1 on and returns the loss when
    all its work is done; prints one JSON line."""
    times = []
    for number in range(1, a.warmup + a.steps + 1):
        begin = time.perf_counter()
        loss = step(number)
        times.append(1e3 * (time.perf_counter() - begin))
    result = {
        "name": name,
        "threads": a.threads,
        "ms": times[a.warmup :],
        "loss": loss,
        "max_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result))
