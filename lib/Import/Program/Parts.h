//===- Parts.h - The steps from a graph to a program ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MakeProgram.cpp calls these in order; each has a file of its name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_PROGRAM_PARTS_H
#define LLMC_LIB_IMPORT_PROGRAM_PARTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Import/Program/MakeProgram.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

std::string show(mlir::Type type);

/// What an argument of the model is (Roles.cpp).
struct Argument {
  enum class Kind { Input, Carried, Parameter };
  ValueName origin;
  /// Of the input or state, as the user knows it.
  std::string name;
  Kind kind = Kind::Parameter;
  /// What feeds an input.
  dist::DataAttr data;
  /// The result that replaces a carried state.
  std::optional<unsigned> result;
};
/// Errors: 1 or 2 where an argument could be several of these, or none.
rt::Result<llvm::SmallVector<Argument>>
findRoles(const Graph &graph, const Options &options,
          const rt::Safetensors *weights);

/// Marks arguments and results of the graph's function and creates its states.
rt::Status makeStates(const Graph &graph, const Options &options);

/// True when the first result is a float scalar and there is a parameter.
bool canTrain(mlir::func::FuncOp main);

/// Adds `dist.mesh`; `annotated` gives its axes where the configuration has
/// none.
rt::Result<dist::MeshOp> addMesh(mlir::ModuleOp module, const Options &options,
                                 const MeshAxes &annotated);

/// Writes the layouts of [[layout]] on states and inputs.
rt::Status addLayouts(mlir::ModuleOp module, mlir::func::FuncOp main,
                      dist::MeshOp mesh, const rt::Config &config);

/// Adds `dist.training`: optimizer, schedule, recomputation, precision.
rt::Status addRecipe(mlir::ModuleOp module, mlir::func::FuncOp main,
                     const rt::Config &config);

/// Clones the configured optimizer function into the module, its constant
/// arguments replaced by the configuration's numbers, and returns its symbol.
rt::Result<std::string> addOptimizer(mlir::ModuleOp module,
                                     const rt::Config &config);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_PROGRAM_PARTS_H
