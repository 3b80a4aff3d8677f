# ===- contributing_pass.py - The pass of CONTRIBUTING.md, as files ------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------=== #
"""Writes the blocks of "A pass" as Passes.td and Offload.cpp.

The pass is used once, by a function of ours, so that all of it is compiled.

    python contributing_pass.py CONTRIBUTING.md folder
"""

import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
folder = pathlib.Path(sys.argv[2])


def block(language):
    found = re.findall(rf"(?ms)^```{re.escape(language)}\n(.*?)^```$", text)
    if len(found) != 1:
        sys.exit(f"expected one block of {language} in {sys.argv[1]}, got {len(found)}")
    return found[0]


(folder / "Passes.td").write_text('include "mlir/Pass/PassBase.td"\n' + block("tablegen"), encoding="utf-8")
use = "\nstd::unique_ptr<mlir::Pass> make() { return std::make_unique<OffloadPass>(); }\n"
(folder / "Offload.cpp").write_text(block("c++") + use, encoding="utf-8")
