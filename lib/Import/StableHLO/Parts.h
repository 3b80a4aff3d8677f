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
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Safetensors.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

/// Parses `text` (of `file`) under limits on nesting and encoding.
rt::Result<mlir::OwningOpRef<mlir::ModuleOp>>
parseText(mlir::MLIRContext &context, llvm::StringRef text,
          const std::string &file);

/// Inlines all calls below `main`; locations of inlined ops get the call's as
/// prefix. Other functions are erased.
rt::Status inlineCalls(mlir::ModuleOp module, mlir::func::FuncOp main);

/// The name of a value from its location or result info:
/// "params['blocks'][0]['w']" has root "params" and path "blocks.0.w"; "x" has
/// root "x" and no path.
struct ValueName {
  std::string root, path;
  /// The path, or the root of a name without one.
  const std::string &shortName() const { return path.empty() ? root : path; }
  std::string fullName() const {
    return path.empty() ? root : root + "." + path;
  }
};
std::optional<ValueName> parseName(llvm::StringRef text);
/// The name in the first NameLoc of `location`.
std::optional<ValueName> nameOf(mlir::Location location);

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
findRoles(mlir::func::FuncOp main, const Options &options,
          const rt::Safetensors *weights);

/// Marks arguments and results of `main` and creates its states.
rt::Status makeStates(mlir::ModuleOp module, mlir::func::FuncOp main,
                      const Options &options);

/// True when the first result is a float scalar and there is a parameter.
bool canTrain(mlir::func::FuncOp main);

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

/// Adds `dist.mesh`; `annotated` gives its axes where the configuration has
/// none.
rt::Result<dist::MeshOp> addMesh(mlir::ModuleOp module, const Options &options,
                                 sdy::MeshAttr annotated);

/// Writes the layouts of [[layout]] on states and inputs.
rt::Status addLayouts(mlir::ModuleOp module, mlir::func::FuncOp main,
                      dist::MeshOp mesh, const rt::Config &config);

/// Gives `state` a row of these layouts, each of which may be null; that of the
/// optimizer states waits on it.
void setRowLayouts(dist::StateOp state, dist::LayoutAttr rest,
                   dist::LayoutAttr use, dist::LayoutAttr gradient,
                   dist::LayoutAttr optimizer);

/// Writes the layouts of the annotations where no others stand, and makes those
/// on ops constraints.
rt::Status applyShardings(mlir::ModuleOp module, mlir::func::FuncOp main,
                          dist::MeshOp mesh, const Shardings &shardings);

/// Clones the configured optimizer function into the module, its constant
/// arguments replaced by the configuration's numbers, and returns its symbol.
rt::Result<std::string> addOptimizer(mlir::ModuleOp module,
                                     const rt::Config &config);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_STABLEHLO_PARTS_H
