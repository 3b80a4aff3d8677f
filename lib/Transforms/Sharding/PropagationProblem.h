//===- PropagationProblem.h - A module's variables and rules ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One side table over all functions. A state has one variable for `rest`,
// shared by all that read and write it, and one for another `use`, which ops of
// microbatches and entries see; a gradient has one, and another one that ops of
// the update see; every other tensor its own. Rows, layouts of inputs and
// constraints are what is given.
//
// A row that says nothing of `use` keeps in use what it has at rest, but for
// axes that split inputs: a device has other samples than its neighbours along
// them, so all of a parameter is gathered there (fully sharded data parallel),
// unless nothing else wants the axis where the parameter is used (experts).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_PROPAGATIONPROBLEM_H
#define LLMC_LIB_TRANSFORMS_SHARDING_PROPAGATIONPROBLEM_H

#include "StateRows.h"
#include "llmc/Analysis/Layouts/LayoutPropagation.h"
#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include "llmc/Analysis/Program/Program.h"

namespace llmc {

class PropagationProblem {
public:
  PropagationProblem(dist::MeshOp mesh, const StateRows &rows)
      : mesh(mesh), rows(rows), engine(mesh.getAxes().getSizes()) {}

  /// Reports what is given and cannot be.
  LogicalResult build(ArrayRef<ProgramFunction> functions);
  /// Reports layouts that cannot be stored. False where hints stood in the way,
  /// which are gone now: the problem is to be built again without them.
  FailureOr<bool> solve();

  /// The solved layout without pins; null for what is no tensor.
  dist::LayoutAttr getLayout(mlir::Value value);
  /// That of an argument: of a state what rests, though ops see its use, of a
  /// sum what the microbatch returns, though ops see what states want of it.
  dist::LayoutAttr getArgumentLayout(mlir::BlockArgument argument);
  dist::LayoutAttr getResultLayout(mlir::func::FuncOp function,
                                   unsigned result);
  /// Rows get what was solved for what they gave, with extents.
  void writeRows();
  /// What was not taken, and where two lists met.
  void emitRemarks();
  /// Of each value that a user can name its layouts, and for each axis the way
  /// that it came, as remarks of category `origins`.
  void emitOrigins(ArrayRef<ProgramFunction> functions);

private:
  int addVariable(mlir::RankedTensorType type, dist::LayoutAttr given,
                  Seed seed, mlir::Location loc, std::string name,
                  Operation *op = nullptr);
  LogicalResult checkGiven(dist::LayoutAttr given, mlir::RankedTensorType type,
                           mlir::Location loc, StringRef name);
  int variableOf(mlir::Value value) { return values.lookup(value) - 1; }
  void findInputAxes(ArrayRef<ProgramFunction> functions);
  dist::LayoutAttr dropInputAxes(dist::LayoutAttr rest) const;
  uint64_t findForeignAxes(dist::LayoutAttr rest);
  LogicalResult addStates();
  LogicalResult addRow(dist::StateOp state);
  LogicalResult addArguments(const ProgramFunction &program);
  LogicalResult addArgument(const ProgramFunction &program,
                            mlir::BlockArgument argument);
  LogicalResult addOp(Operation &op, uint8_t phase);
  void joinGroup(Operation &op);
  bool addBarrier(Operation &op, uint8_t phase);
  void addResults(const ProgramFunction &program);
  void addIdentity(int from, int to, uint8_t phase, bool onlyTies,
                   Operation *op);
  void addRelation(LayoutRelation relation, Operation *op);
  dist::LayoutAttr layoutOf(int variable);
  std::string describe(int relation);
  std::string describeGiver(int variable, ArrayRef<int8_t> list) const;
  int64_t priceAt(int relation, LayoutReshards &reshards);
  void emitConflicts();
  std::string describeWay(int variable, int8_t axis);
  std::string describeWays(llvm::StringRef kind, int variable);
  void emitStateOrigins();
  void emitResultOrigins(mlir::func::FuncOp function);
  std::string describeState(dist::StateOp state,
                            ArrayRef<dist::StateOp> optimizers);
  void emitOrigin(llvm::StringRef name, mlir::Location loc,
                  llvm::function_ref<std::string()> text);
  bool dropHints(const LayoutPropagation::Fault &fault);
  std::string show(ArrayRef<int8_t> list);

  dist::MeshOp mesh;
  const StateRows &rows;
  LayoutPropagation engine;
  /// Names of axes that split inputs.
  llvm::DenseSet<mlir::StringAttr> inputAxes;
  /// Numbers from 1.
  llvm::DenseMap<mlir::Value, int> values;
  llvm::DenseMap<mlir::StringAttr, int> rests, uses, gradientRows;
  /// Of states, what microbatches return as their gradient.
  llvm::DenseMap<mlir::StringAttr, int> gradients;
  /// A member of each group, by function and number.
  llvm::DenseMap<std::pair<Operation *, int64_t>, mlir::Value> groups;
  /// By function and result; of arguments of the update by owner and state.
  llvm::DenseMap<std::pair<Operation *, unsigned>, int> results;
  /// What microbatches return, by owner and slot.
  llvm::DenseMap<std::pair<Operation *, Attribute>, int> sums;
  /// Of arguments of the update that are sums: what the microbatch returns.
  llvm::DenseMap<mlir::Value, int> sumsTaken;
  /// For messages: of variables, of relations.
  struct Name {
    mlir::Location loc;
    std::string text;
    Operation *op = nullptr;
  };
  std::string nameOf(int variable) const;
  std::vector<Name> names;
  std::vector<Operation *> ops;
  std::vector<dist::LayoutAttr> solved;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_PROPAGATIONPROBLEM_H
