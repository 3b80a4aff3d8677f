# ===- write_cases.py - Backend tests that only the package has ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes tests of the Python package onnx as the folders that Debian's data have.

    write_cases.py FOLDER LIST [PREFIX ...]

The package makes the tests of newer operators in memory. Those whose names begin
with a prefix are written to FOLDER/node, and LIST gets a line for each. Tests that
repeat another by the body of its op (`_expanded`) are left out, and so are those of
sequences.
"""

import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def write_tensor(path, value):
    tensor = value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))
    path.write_bytes(tensor.SerializeToString())


def main():
    folder, table, prefixes = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), tuple(sys.argv[3:])
    warnings.simplefilter("ignore")
    lines = []
    for case in collect_testcases(None):
        values = [value for group in case.data_sets[0] for value in group]
        isSkipped = "_expanded" in case.name or any(value is None or isinstance(value, (list, dict)) for value in values)
        if isSkipped or not case.name.startswith(prefixes):
            continue
        data = folder / "node" / case.name / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        (data.parent / "model.onnx").write_bytes(case.model.SerializeToString())
        inputs, outputs = case.data_sets[0]
        for kind, values in (("input", inputs), ("output", outputs)):
            for i, value in enumerate(values):
                write_tensor(data / f"{kind}_{i}.pb", value)
        ops = sorted({node.op_type for node in case.model.graph.node})
        lines.append(f"node/{case.name}\t{','.join(ops)}\n")
    table.write_text("".join(sorted(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
