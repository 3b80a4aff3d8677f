# ===- sizes.py - The sizes of a benchmark on the command line ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""A model's sizes are a frozen dataclass of integers with a default each."""

import argparse
import dataclasses


def add_size_arguments(parser, size):
    for field in dataclasses.fields(size):
        parser.add_argument(f"--{field.name}", type=int, default=field.default)


def size_from(arguments, size):
    return size(**{f.name: getattr(arguments, f.name) for f in dataclasses.fields(size)})


def size_flags(s):
    return [x for f in dataclasses.fields(s) for x in (f"--{f.name}", getattr(s, f.name))]


def peer_arguments(description, size):
    p = argparse.ArgumentParser(description=description.split("\n")[0])
    add_size_arguments(p, size)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--steps", type=int, default=5, help="timed steps")
    p.add_argument("--warmup", type=int, default=2)
    return p
