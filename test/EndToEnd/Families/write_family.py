# ===- write_family.py - The text and the configuration of a family --------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes model.mlir and model.toml of families on a mesh of family.py, each into a
folder of its own name, for tests that compile them for another target.

    python write_family.py -o out --mesh data2 cnn resnet
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "oracle")]

import family as families  # noqa: E402
from makers import MAKERS  # noqa: E402


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("-o", "--output", type=pathlib.Path, required=True)
    p.add_argument("--mesh", default="one", choices=families.MESHES)
    p.add_argument("names", nargs="+", choices=MAKERS)
    a = p.parse_args()
    for name in a.names:
        family, folder = MAKERS[name](), a.output / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.mlir").write_text(families.text_of(family), encoding="utf-8")
        (folder / "model.toml").write_text(families.configuration(family, a.mesh), encoding="utf-8")


if __name__ == "__main__":
    main()
