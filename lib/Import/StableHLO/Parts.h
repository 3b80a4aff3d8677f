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
#include "llmc/Import/Program/ExpandOps.h"
#include "llmc/Import/Program/Shardings.h"
#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

/// Shardy's annotations that are strings become attributes and ops of sdy.
/// Error 3: a string that is none of Shardy's; 5: a call with boundaries of a
/// manual region on some of its values only.
rt::Status readShardyTexts(mlir::ModuleOp module);

/// The call becomes all that a manual region of these operands, types of
/// results and shardings computes.
sdy::ManualComputationOp putIntoRegion(
    mlir::func::CallOp call, mlir::ValueRange operands, mlir::TypeRange results,
    llvm::ArrayRef<sdy::TensorShardingAttr> in,
    llvm::ArrayRef<sdy::TensorShardingAttr> out, sdy::ManualAxesAttr manual);

/// Composites and custom calls of `kStopGradientName` become identities without
/// a derivative, in all functions. Error 1 for one that is no identity.
rt::Status readStopGradients(mlir::ModuleOp module);

/// Replaces each op that names a function and is written with other ops by
/// these, while the function is there: a composite becomes the op that has its
/// name, or a call of its decomposition.
rt::Status expandCallers(mlir::ModuleOp module);

/// Inlines all calls below `main`; locations of inlined ops get the call's as
/// prefix. Other functions are erased.
rt::Status inlineCalls(mlir::ModuleOp module, mlir::func::FuncOp main);

/// Takes tuples apart: those whose elements are read, and those that `main`
/// returns. Calls are inlined.
rt::Status flattenTuples(mlir::func::FuncOp main);

/// The result on which a donated argument may lie.
inline constexpr llvm::StringLiteral kAliasing = "tf.aliasing_output";

/// Of an argument or result that is a part of a complex one: the end of its
/// name (ComplexNames.h).
inline constexpr llvm::StringLiteral kPart = "llmc.part";

/// Splits each complex value into its real and its imaginary part, by what the
/// ops say of themselves (ComplexParts.h). An argument or result of `main`
/// becomes two, of which each has all that was said of it, and its part. Calls
/// are inlined. Error 5: an op that says nothing.
rt::Status splitComplexNumbers(mlir::func::FuncOp main);

/// Puts the elements of constants that stand beside the text, in resources,
/// into the constants.
rt::Status readResources(mlir::func::FuncOp main);

/// What each result has to do with derivatives that the text has itself, as the
/// locations say. Calls are inlined, and nothing is expanded.
llvm::SmallVector<Derivation> readDerivations(mlir::func::FuncOp main);

/// Puts the ops of manual regions in their place, between ops that say where a
/// value is that of one device. Refuses what looks at other devices outside.
rt::Status inlineManualRegions(mlir::func::FuncOp main);

/// Makes the ops of one device those of all devices, which have a leading
/// dimension for each axis along which a value varies.
rt::Status batchDevices(mlir::func::FuncOp main);

/// Names as JAX prints them, of arguments in their locations and of results as
/// `jax.result_info`, which is taken off; and which arguments are donated.
/// Error 1: an argument without a name.
rt::Result<Graph> readNames(mlir::func::FuncOp main);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_PARTS_H
