//===- Import.h - Phase 0: a StableHLO text becomes a program ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a module as JAX prints it with debug information, inlines its private
// functions, and takes the names of arguments from their locations:
//
//   func @main(%arg0: tensor<4x8xf32> loc("params['w']"),
//              %arg1: tensor<2x4xi32> loc("tokens")) -> tensor<f32>
//
// What the configuration makes of them says Import/Program/MakeProgram.h.
//
// Tests: test/Import/StableHLO
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_STABLEHLO_IMPORT_H
#define LLMC_IMPORT_STABLEHLO_IMPORT_H

#include "llmc/Import/Program/MakeProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc::import {

/// Reads `path` and makes it a program (the IR after phase 0). Errors: those of
/// `readModule` and `makeProgram`, and 1 for arguments without a name.
/// `description` as of `makeProgram`.
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
importStableHLO(mlir::MLIRContext &context, const std::string &path,
                const Options &options, std::string *description = nullptr);

/// What becomes of an op of a text.
enum class OpUse {
  /// It stands in the program's graph, or is replaced by ops that do.
  Graph,
  /// The import reads and removes it: functions, calls, annotations, ends of
  /// regions.
  Read,
  /// An error.
  Refused,
};
OpUse getUse(mlir::RegisteredOperationName op);

/// A target of `stablehlo.custom_call` that is known.
struct CallTarget {
  llvm::StringRef name;
  /// What the import makes of the call, in a few words.
  llvm::StringRef becomes;
};
llvm::ArrayRef<CallTarget> getCallTargets();

} // namespace llmc::import

#endif // LLMC_IMPORT_STABLEHLO_IMPORT_H
