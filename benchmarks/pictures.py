# ===- pictures.py - Pictures and labels for llmc -------------------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Random pictures with a label each, and the tables of TOML that name them."""

import numpy as np

CONFIG = """\
[data.images]
kind = "array"
file = "images.npy"
[data.labels]
kind = "array"
file = "labels.npy"
"""
DATA = ["images=images.npy", "labels=labels.npy"]


def write_pictures(folder, s, batches=8):
    g, count = np.random.default_rng(0), batches * s.batch
    images = g.standard_normal((count, s.pixels, s.pixels, 3)).astype(np.float32)
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", g.integers(0, s.classes, count).astype(np.int32))
