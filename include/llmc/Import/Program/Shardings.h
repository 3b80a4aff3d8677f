//===- Shardings.h - A file's own layouts -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frontend writes what its file says of layouts as Shardy's annotations: the
// attribute `sdy.sharding` of arguments and results, and constraints among the
// ops. They are taken off before the graph becomes a program, and become rows,
// layouts of ports and `dist.constraint` after it.
//
// Tests: test/Import/StableHLO/shardings.mlir, test/Import/Onnx/devices.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_SHARDINGS_H
#define LLMC_IMPORT_PROGRAM_SHARDINGS_H

#include "llmc/Dialect/Sdy/IR/Sdy.h"
#include "llmc/Import/Program/MakeProgram.h"

namespace llmc::import {

/// The attribute of arguments and results.
inline constexpr llvm::StringLiteral kSharding = "sdy.sharding";

/// What annotations on arguments and results say.
struct Shardings {
  /// The mesh with axes of all of them, or null.
  sdy::MeshAttr mesh;
  /// The parts of axes that they name, those on ops too.
  std::vector<NamedPart> parts;
  /// For each argument and result of the function; null where there is none.
  llvm::SmallVector<sdy::TensorShardingAttr> arguments, results;
};
/// Makes `sdy.sharding_group` and `sdy.propagation_barrier` constraints that
/// say no more than how axes spread there. Error 1: members of different
/// shapes; 5: a group or barrier in a manual region.
rt::Status markSpread(mlir::func::FuncOp main);

/// Takes it off the function, whose arguments and results are final, and
/// removes annotations that say nothing and the meshes. Error 5: two meshes.
rt::Result<Shardings> readShardings(mlir::func::FuncOp main);

/// An axis or a part of one in an annotation.
sdy::AxisRefAttr makeAxisRef(mlir::MLIRContext *context, const AxisPart &part);
/// The axes of a mesh, which may be null.
MeshAxes axesOf(sdy::MeshAttr mesh);

/// Writes the layouts of the annotations where no others stand, and makes those
/// on ops constraints. Error 2: axes that the program's mesh lacks; 5: partial
/// values.
rt::Status applyShardings(mlir::ModuleOp module, mlir::func::FuncOp main,
                          dist::MeshOp mesh, const Shardings &shardings);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_SHARDINGS_H
