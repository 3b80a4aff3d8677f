//===- ExplainValue.h - The layouts of a value, and why ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc explain --value <glob or line>`: of each value that matches its layouts
// at rest, in use, of gradient and optimizer states; for each axis the way back
// to the row, the input or the annotation that gave it, with the line of the
// configuration; and what another layout of it would cost, each compiled.
//
// Test: test/Tools/llmc/explain-value.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_EXPLAINVALUE_H
#define LLMC_TOOLS_LLMC_EXPLAINVALUE_H

#include "../Driver/Remarks.h"
#include "../Options/Options.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc::driver {

/// Of a module after phase `plan`. Error 2 where no value matches.
rt::Result<std::string> explainValues(mlir::ModuleOp module,
                                      const Remarks &remarks,
                                      const Options &options,
                                      const rt::Config &config);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_EXPLAINVALUE_H
