//===- Import.h - Phase 0: a StableHLO text becomes a program ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a module as JAX prints it with debug information, inlines its private
// functions, and turns arguments into inputs and states by their names in
// locations:
//
//   func @main(%arg0: tensor<4x8xf32> loc("params['w']"),
//              %arg1: tensor<2x4xi32> loc("tokens")) -> tensor<f32>
//   ->
//   dist.state @w : tensor<4x8xf32> {role = parameter, source = ...}
//   func @loss(%w {dist.port = #dist.port<parameter @w>},
//              %tokens {dist.port = #dist.port<input "tokens">})
//       -> (tensor<f32> {dist.port = #dist.port<loss>})
//   dist.training @train forward(@loss) optimizer(@optimizer.adamw) ...
//
// The configuration is resolved here and nowhere else.
//
// Tests: test/Import/StableHLO
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_STABLEHLO_IMPORT_H
#define LLMC_IMPORT_STABLEHLO_IMPORT_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Config/Config.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc::import {

struct Options {
  rt::Config config;
  /// `--mesh` : axis name and size; axes that are absent have size 1.
  std::vector<std::pair<std::string, int64_t>> meshSizes;
  /// A safetensors file with initial values of parameters, or "".
  std::string weights;
  /// Refuse graphs without a loss or a parameter, which cannot be trained.
  bool mustTrain = false;
};

/// Reads and checks the text of `path` without importing it. Errors: 3
/// (malformed: nesting, encoding, syntax, verification), 5 (unknown ops, all of
/// them in one table).
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
readModule(mlir::MLIRContext &context, const std::string &path);

/// Reads `path` and makes it a program (the IR after phase 0). Errors: those of
/// `readModule`, and 1 or 2 for arguments that fit neither data nor states.
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
importStableHLO(mlir::MLIRContext &context, const std::string &path,
                const Options &options);

} // namespace llmc::import

#endif // LLMC_IMPORT_STABLEHLO_IMPORT_H
