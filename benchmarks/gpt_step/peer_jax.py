#!/usr/bin/env python3
# ===- peer_jax.py - The GPT step in JAX ----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in JAX: jit of value_and_grad and AdamW, state donated.

The thread count is set by the caller (CPU affinity); prints one JSON line.
"""

import pathlib
import sys

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS.parent / "examples" / "gpt")]

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import jax_peer  # noqa: E402
import make_gpt  # noqa: E402
import model  # noqa: E402
import sizes  # noqa: E402


def main():
    a = sizes.peer_arguments(__doc__, model.Size).parse_args()
    s = sizes.size_from(a, model.Size)
    c = make_gpt.Config(s.layers, s.d, s.heads, s.seq, s.batch, s.vocab)
    params = jax_peer.draw_parameters(make_gpt.parameter_shapes(c), 0.02)
    g = np.random.default_rng(1)
    ids = [jnp.asarray(g.integers(0, s.vocab, (s.batch, s.seq)), jnp.int32) for _ in range(2)]
    jax_peer.run_peer(a, make_gpt.loss_function(c), params, ids, jax_peer.adamw())


if __name__ == "__main__":
    main()
