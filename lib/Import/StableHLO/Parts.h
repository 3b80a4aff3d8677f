//===- Parts.h - The steps of an import -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import.cpp calls these in order; each has a file of its name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_STABLEHLO_PARTS_H
#define LLMC_LIB_IMPORT_STABLEHLO_PARTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

/// Inlines all calls below `main`; locations of inlined ops get the call's as
/// prefix. Other functions are erased.
rt::Status inlineCalls(mlir::ModuleOp module, mlir::func::FuncOp main);

/// Names as JAX prints them, of arguments in their locations and of results as
/// `jax.result_info`, which is taken off. Error 1: an argument without a name.
rt::Result<Graph> readNames(mlir::func::FuncOp main);

/// What the text's annotations on arguments and results say.
struct Shardings {
  /// The mesh with axes of all of them, or null.
  sdy::MeshAttr mesh;
  /// For each argument and result of the function; null where there is none.
  llvm::SmallVector<sdy::TensorShardingAttr> arguments, results;
};
/// Takes it off the function before arguments lose their attributes, and
/// removes annotations that say nothing and the meshes.
rt::Result<Shardings> readShardings(mlir::func::FuncOp main);

/// Writes the layouts of the annotations where no others stand, and makes those
/// on ops constraints.
rt::Status applyShardings(mlir::ModuleOp module, mlir::func::FuncOp main,
                          dist::MeshOp mesh, const Shardings &shardings);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_PARTS_H
