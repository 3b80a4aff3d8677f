//===- Parts.h - The steps from a graph to a program ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MakeProgram.cpp calls these in order; each has a file of its name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_IMPORT_PROGRAM_PARTS_H
#define LLMC_LIB_IMPORT_PROGRAM_PARTS_H

#include "WeightFile.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Import/Program/MakeProgram.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/FirstError.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

std::string show(mlir::Type type);

/// What a module computes.
enum class ModuleKind {
  /// A loss, which phase 1 derives.
  Loss,
  /// A loss and its gradients; the update is ours.
  Gradients,
  /// New states: a whole step.
  Step,
};

/// What an argument of the model is (Roles.cpp).
struct Argument {
  enum class Kind { Input, Hyper, Carried, Parameter, Optimizer, Constant };
  ValueName origin;
  /// Of the input or state, as the user knows it; of a hyper value, ours.
  std::string name;
  Kind kind = Kind::Parameter;
  /// What feeds an input.
  dist::DataAttr data;
  /// The result that replaces a state, or is the gradient of a parameter.
  std::optional<unsigned> result;
  /// The initial values that the file gives a state, or null.
  mlir::Attribute source;
  /// The argument that is the parameter of an optimizer state.
  std::optional<unsigned> parameter;

  bool isState() const { return kind != Kind::Input && kind != Kind::Hyper; }
};

struct Roles {
  ModuleKind kind = ModuleKind::Loss;
  /// Why it is no loss, for the user.
  std::string reason;
  llvm::SmallVector<Argument> arguments;
  /// The result that is the loss; nothing where there is none.
  std::optional<unsigned> loss;
  /// Results that no training needs: what is returned unchanged.
  llvm::SmallVector<bool> isUnused;
};
/// Errors: 1 or 2 where an argument could be several of these, or none.
rt::Result<Roles> findRoles(const Graph &graph, const Options &options,
                            const WeightFile *weights);

/// What results and arguments have to do with each other (Pairs.cpp).
struct Pairs {
  /// For each result the argument that it replaces, or whose gradient it is.
  llvm::SmallVector<std::optional<unsigned>> arguments;
  /// The loss, where the configuration names it.
  std::optional<unsigned> loss;
};
/// With `hasNewStates` results may be new values of their arguments. Error 1
/// where a result may belong to several, 2 for what the configuration says.
rt::Result<Pairs> pairResults(const Graph &graph, const rt::Config &config,
                              llvm::ArrayRef<bool> isInput, bool hasNewStates);

/// The roles of a module that has its derivative itself, of which the inputs
/// are known (StepRoles.cpp). False where it turns out to be a loss: nothing is
/// changed then.
rt::Result<bool> findStepRoles(const Graph &graph, const Options &options,
                               const WeightFile *weights, Roles &roles);

/// True for a scalar of numbers; with `mustBeFloat`, of floats.
bool isScalar(mlir::Type type, bool mustBeFloat);
/// True where `name` matches one of the globs.
bool matchesAny(const std::vector<std::string> &patterns,
                const std::string &name);

/// Marks arguments and results of the graph's function and creates its states.
rt::Result<Roles> makeStates(const Graph &graph, const Options &options);

/// Lines for the user on a module that has its derivative; "" of a loss.
std::string describeRoles(const Roles &roles, mlir::ModuleOp module);

/// True when there are a loss and a parameter.
bool canTrain(mlir::func::FuncOp main);

/// Adds `dist.mesh`; `fileMesh` gives its axes where the configuration has
/// none. Axes are cut where layouts name their parts.
rt::Result<dist::MeshOp> addMesh(mlir::ModuleOp module, const Options &options,
                                 const FileMesh &fileMesh);

/// The parts of axes that [[layout]] names.
std::vector<NamedPart> getParts(const rt::Config &config);

/// The kinds of layout that a table may give.
using Lists = std::optional<rt::AxisLists> rt::LayoutConfig::*;

/// The first table of [[layout]] that gives what has this name a layout of the
/// kind.
std::optional<size_t> findTable(const rt::Config &config, bool isInput,
                                llvm::StringRef name, int64_t rank, Lists kind);
/// True for a pattern that is more than a name.
bool isGlob(const std::string &pattern);

/// Writes the layouts of [[layout]] on states and inputs.
rt::Status addLayouts(mlir::ModuleOp module, mlir::func::FuncOp main,
                      dist::MeshOp mesh, const rt::Config &config);

/// Adds `dist.training`: optimizer, schedule, recomputation, precision. Error 2
/// for keys that the module leaves no choice of, 5 for what such a module
/// cannot have yet.
rt::Status addRecipe(mlir::ModuleOp module, mlir::func::FuncOp main,
                     ModuleKind kind, const rt::Config &config);

/// The float type of a configuration's word, or null.
mlir::Type getFloatType(mlir::MLIRContext *context, llvm::StringRef name);
/// Marks the parameters that [[precision]] matches; error 2 for a table that
/// matches none.
rt::Status addPrecisions(mlir::ModuleOp module, const rt::Config &config);

/// The hyper values of this name that we know: lr, t (the step from 1), step,
/// seed. Adds those that arguments of `func` have as ports; error 1 for any
/// other.
bool isHyperName(llvm::StringRef name);
rt::Status addHypers(mlir::ModuleOp module, mlir::func::FuncOp func,
                     const rt::Config &config);
/// Unless the module has it; false for a name that we do not know.
bool addHyper(mlir::OpBuilder &builder, mlir::ModuleOp module,
              llvm::StringRef name, mlir::RankedTensorType type,
              const rt::Config &config);

/// Gives each parameter its optimizer function, by [optimizer] and [[group]],
/// and returns the symbol of that of the first one, which is the recipe's; the
/// parameters that have another are marked so. Errors: those of
/// `OptimizerFile`, 2 for a group without parameters.
rt::Result<mlir::FlatSymbolRefAttr> addOptimizers(mlir::ModuleOp module,
                                                  const rt::Config &config);

} // namespace llmc::import

#endif // LLMC_LIB_IMPORT_PROGRAM_PARTS_H
