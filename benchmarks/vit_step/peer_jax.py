#!/usr/bin/env python3
# ===- peer_jax.py - The ViT step in JAX ----------------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Times the same step in JAX: jit of value_and_grad and AdamW, state donated.

The thread count is set by the caller (CPU affinity); prints one JSON line.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

import jax_peer  # noqa: E402
import model  # noqa: E402
import network  # noqa: E402
import sizes  # noqa: E402


def main():
    a = sizes.peer_arguments(__doc__, model.Size).parse_args()
    s = sizes.size_from(a, model.Size)
    params = jax_peer.draw_parameters(network.parameter_shapes(s), 0.02)
    jax_peer.run_peer(a, network.loss_function(s), params, jax_peer.draw_pictures(s), jax_peer.adamw())


if __name__ == "__main__":
    main()
