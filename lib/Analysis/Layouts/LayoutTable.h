//===- LayoutTable.h - Decided layouts of a program -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `dist.layout` and `dist.layouts` of all program functions, read once and
// written once. Order of everything: functions of microbatches and entries,
// then updates; in each function the ops in order.
//
// Test: test/Transforms/Sharding/place-reductions.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_LAYOUTTABLE_H
#define LLMC_LIB_ANALYSIS_LAYOUTTABLE_H

#include "llmc/Analysis/Layouts/OpLayouts.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <unordered_set>

namespace llmc {

/// A result of a function: what it returns, and the argument of `@update` that
/// takes the sum of all microbatches, if one does.
struct ProgramExit {
  mlir::func::FuncOp function;
  unsigned result;
  mlir::BlockArgument taker;
  /// What the row says of the gradient; null when it says nothing.
  dist::LayoutAttr rowLayout;
};

/// An op, its rule and how it runs; both are those of many ops.
struct ProgramOp {
  Operation *op;
  const graph::ShardingRule *rule;
  const OpLayouts *runs;
};

/// Functions, their ops and layouts.
class LayoutTable {
public:
  LayoutTable(ModuleOp module, dist::MeshAxesAttr mesh)
      : module(module), mesh(mesh), symbols(module) {}

  void read();
  /// Asks how each op runs whose layouts have changed since.
  void refresh();
  void write();

  dist::LayoutAttr layoutOf(Value value) const { return layouts.lookup(value); }
  /// Of what the exit's function returns.
  dist::LayoutAttr layoutOf(const ProgramExit &exit) const {
    return results.lookup({exit.function, exit.result});
  }
  Value valueOf(const ProgramExit &exit) const {
    mlir::func::FuncOp function = exit.function;
    return function.getBody().front().getTerminator()->getOperand(exit.result);
  }
  bool isUpdate(mlir::func::FuncOp function) const {
    return updates.contains(function);
  }
  bool isOfUpdate(Value value) const {
    return updates.contains(value.getParentRegion()->getParentOp());
  }
  /// How often a step makes the value, and moves it.
  int64_t timesOf(Value value) const {
    if (prepared.contains(value))
      return 1;
    Region *region = value.getParentRegion();
    auto trips = tripsOf.find(value.getDefiningOp());
    return times.lookup(region->getParentOp()) *
           (trips == tripsOf.end() ? 1 : trips->second);
  }

  /// What becomes of the value from now on.
  void set(Value value, dist::LayoutAttr layout);
  void set(const ProgramExit &exit, dist::LayoutAttr layout) {
    results[{exit.function, exit.result}] = layout;
  }

  /// The operand is read in this layout, by a constraint before its op.
  void constrain(mlir::OpOperand &operand, dist::LayoutAttr layout);

  std::vector<ProgramOp> items;
  SmallVector<ProgramExit> exits;
  /// In `items`, where those of the updates begin.
  size_t firstUpdate = 0;

private:
  void collect();
  void readFunction(mlir::func::FuncOp function, FunctionKind kind);
  void addExits(mlir::func::FuncOp function);
  void findPrepared(mlir::func::FuncOp function);
  void connect(dist::StepOp step);
  dist::LayoutAttr rowOf(StringRef state);
  void writeFunction(mlir::func::FuncOp function);

  ModuleOp module;
  dist::MeshAxesAttr mesh;
  mlir::SymbolTable symbols;
  std::unordered_set<graph::ShardingRule, graph::ShardingRuleHash> rules;
  std::unordered_set<OpLayouts, OpLayoutsHash> runs;
  /// Of arguments: what ops see of them (StateUse.h).
  llvm::DenseMap<Value, dist::LayoutAttr> layouts;
  /// Ops whose layouts have changed since they were asked how they run.
  llvm::DenseSet<Operation *> stale;
  /// Arguments and ops that must be written.
  llvm::DenseSet<mlir::BlockArgument> arguments;
  llvm::SetVector<Operation *> changed;
  llvm::DenseMap<std::pair<Operation *, unsigned>, dist::LayoutAttr> results;
  llvm::MapVector<Operation *, FunctionKind> functions;
  llvm::SetVector<Operation *> updates;
  /// Values of microbatches that are alike in all of them, and move once.
  llvm::DenseSet<Value> prepared;
  /// Of ops in loops.
  llvm::DenseMap<Operation *, int64_t> tripsOf;
  llvm::DenseMap<Operation *, int64_t> times;
};

} // namespace llmc

#endif // LLMC_LIB_ANALYSIS_LAYOUTTABLE_H
