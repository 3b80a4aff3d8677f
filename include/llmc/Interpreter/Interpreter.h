//===- Interpreter.h - Evaluation of graph functions ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates a function of a global module op by op, through the ops' own
// evaluation answers (EvaluationOpInterface) and nothing else: it knows no op.
// Terminators hand over their operands, calls enter their callee, regions are
// run when an op asks its scope for them. A value is dropped at its last use.
// Of loops (`dist.enter`) all values of all trips are kept.
//
//   interpret(@f, [2.0, 3.0])   with   @f(%a, %b) { return add(%a, %b) }
//     -> [5.0]
//
// The oracle of phases 0 to 4, the engine of constant folding and of
// `llmc interpret`. It shares no code with the kernels.
//
// Test: test/Interpreter/InterpreterTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_INTERPRETER_H
#define LLMC_INTERPRETER_INTERPRETER_H

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/Evaluation.h"
#include "llmc/Interpreter/TripValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include <functional>
#include <memory>

namespace llmc {

/// What an evaluation may use before it ends in an error.
struct InterpreterLimits {
  /// Bytes of all values alive at one time.
  int64_t maxLiveBytes = int64_t(16) << 30;
  /// Executed ops, those inside regions included.
  int64_t maxOps = int64_t(1) << 40;
  /// Calls and regions inside each other.
  int maxDepth = 100;
};

class Interpreter : public graph::EvaluationScope {
public:
  /// Called after each evaluated op, those in regions and callees included.
  using Observer = std::function<void(Operation *, ArrayRef<HostTensor>)>;

  explicit Interpreter(InterpreterLimits limits = {}) : limits(limits) {}

  /// Evaluates `function` on `arguments` and appends its results. On failure an
  /// error has been emitted at the op concerned.
  LogicalResult interpret(mlir::func::FuncOp function,
                          ArrayRef<HostTensor> arguments,
                          SmallVectorImpl<HostTensor> &results);

  /// Evaluates one op whose regions use no values from outside.
  LogicalResult evaluateOp(Operation *op, ArrayRef<HostTensor> operands,
                           SmallVectorImpl<HostTensor> &results);

  void setObserver(Observer callback) { observer = std::move(callback); }
  /// The evaluating device's place on the mesh (absent axes: 0).
  void setCoordinate(StringRef axis, int64_t coordinate) {
    coordinates[axis] = coordinate;
  }
  int64_t getNumExecutedOps() const { return numOps; }
  int64_t getPeakLiveBytes() const { return peakBytes; }

  LogicalResult evaluateRegion(Region &region, ArrayRef<HostTensor> arguments,
                               SmallVectorImpl<HostTensor> &results) override;
  int64_t getCoordinate(StringRef axis) override {
    auto it = coordinates.find(axis);
    return it == coordinates.end() ? 0 : it->second;
  }

private:
  LogicalResult runBlock(Block &block, ArrayRef<HostTensor> arguments,
                         SmallVectorImpl<HostTensor> &results);
  LogicalResult runOps(Block &block);
  LogicalResult runOp(Operation *op);
  LogicalResult runTrip(const dist::LoopRuns &loops, int run, int64_t n);
  LogicalResult runTrips(const dist::LoopRuns &loops, int run);
  LogicalResult runConditional(const dist::LoopRuns &loops, int run);
  LogicalResult runOfTrip(Operation *op, dist::LoopAttr loop, int64_t n);
  LogicalResult leave(dist::LeaveOp op);
  LogicalResult leaveInTrip(dist::LeaveOp op, dist::LoopAttr loop);
  FailureOr<HostTensor> evaluateLeave(dist::LeaveOp op);
  LogicalResult keep(Operation *op, dist::LoopAttr loop,
                     llvm::MutableArrayRef<HostTensor> results);
  const HostTensor *find(Value value) const;
  LogicalResult executeOp(Operation *op, ArrayRef<HostTensor> operands,
                          SmallVectorImpl<HostTensor> &results);
  LogicalResult runCall(Operation *op, ArrayRef<HostTensor> operands,
                        SmallVectorImpl<HostTensor> &results);
  LogicalResult collectOperands(Operation *op,
                                SmallVectorImpl<HostTensor> &operands);
  LogicalResult checkResults(Operation *op, ArrayRef<HostTensor> results);
  LogicalResult checkLiveBytes(int64_t bytes, Operation *at);
  LogicalResult define(Value value, HostTensor tensor, Operation *at);
  void drop(Value value);
  void dropDead(Operation *op);

  InterpreterLimits limits;
  Observer observer;
  llvm::StringMap<int64_t> coordinates;
  std::unique_ptr<mlir::SymbolTableCollection> symbols;
  /// Values of all enclosing blocks of the current function.
  llvm::DenseMap<Value, HostTensor> values;
  /// Of values of loops, those of all trips; the trips that run.
  llvm::DenseMap<Value, TripValues<HostTensor>> ofTrips;
  TripNumbers trips;
  /// The last op of a value's own block that uses it, itself or inside.
  llvm::DenseMap<Operation *, SmallVector<Value, 2>> deadAfter;
  llvm::DenseMap<Block *, bool> prepared;
  /// Functions whose element types have been checked.
  llvm::DenseSet<Operation *> admitted;
  int64_t numOps = 0;
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
  int depth = 0;

  void prepare(Block &block);
  void forgetBlocks();
};

} // namespace llmc

#endif // LLMC_INTERPRETER_INTERPRETER_H
