//===- Faults.h - What is wrong with an op that was built -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an op is built of what a text gives, its verifier judges the text, and
// what it says belongs to a refusal.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_FAULTS_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_FAULTS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <string>

namespace llmc::stablehlo {

/// What the op's verifier says; nothing if it is valid.
std::optional<std::string> findFault(mlir::Operation *op);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_FAULTS_H
