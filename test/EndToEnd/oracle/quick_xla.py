# ===- quick_xla.py - Programs that XLA compiles for a few runs ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""What the oracles ask XLA for. Each of their programs runs a few times: what it computes
is wanted, not how fast, and compiling it is most of their time. Without emitters of
fusions and in one module a gradient is compiled in a third of the time. But only the
emitters convert floats of eight bits as their formats say (XLA of jaxlib 0.10).

    quick_xla.ask()                          before JAX is imported
    quick_xla.ask(quick_xla.EIGHT_BITS)      where floats of eight bits are rounded
"""

import os

FLAGS = (
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    " --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
EIGHT_BITS = "--xla_cpu_use_fusion_emitters=true"


def ask(*more):
    """These flags, where the environment has none, and `more` in any case."""
    os.environ["XLA_FLAGS"] = " ".join([os.environ.get("XLA_FLAGS", FLAGS), *more])
