//===- LockstepInterpreter.h - All devices of a mesh at once ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function on local shapes (after localize, with or without segments) on
// every device of the mesh in lockstep: op by op, each op on all devices before
// the next. Graph ops are evaluated for each device alone, at its coordinates;
// collectives and transfers exchange what the devices hold, in the order of
// member numbers, so that all members get the same bits.
//
//   %p = dot ...                         each device its own
//   %x = all_reduce %p over ["x"] sum    device 0 and 1: p0 + p1
//
// An op runs at the stages of its segment, of its mark `dist.at`, or of the
// chunk of its mark `dist.block`; elsewhere its results do not live, and
// reading what does not live is an error. An op without any of these runs where
// all its operands live. Of a `dist.join` each device takes the operand that
// lives there.
//
// Test: test/Interpreter/LockstepTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_LOCKSTEPINTERPRETER_H
#define LLMC_INTERPRETER_LOCKSTEPINTERPRETER_H

#include "llmc/Interpreter/DeviceTensors.h"
#include "llmc/Interpreter/Interpreter.h"

namespace llmc {

struct TripStep;
struct TripSteps;

class LockstepInterpreter {
public:
  /// Called after each op, those inside segments included.
  using Observer = std::function<void(Operation *, ArrayRef<DeviceTensors>)>;

  explicit LockstepInterpreter(dist::MeshOp mesh,
                               InterpreterLimits limits = {});

  /// Evaluates `function` and appends its results. `chunks`: the chunk of each
  /// block, for ops outside segments. On failure an error has been emitted at
  /// the op concerned.
  LogicalResult run(mlir::func::FuncOp function,
                    ArrayRef<DeviceTensors> arguments,
                    SmallVectorImpl<DeviceTensors> &results,
                    ArrayRef<int64_t> chunks = {});

  const rt::Mesh &getMesh() const { return mesh; }
  void setObserver(Observer callback) { observer = std::move(callback); }
  /// How often each op ran, by name; collectives and transfers included.
  const llvm::StringMap<int64_t> &getOpCounts() const { return counts; }

private:
  /// Bit s: stage s. Nothing: where the operands live.
  using Stages = std::optional<llvm::SmallVector<int64_t>>;

  LogicalResult runBlock(Block &block, Stages stages);
  LogicalResult runSteps(Block &block, ArrayRef<TripStep> steps);
  LogicalResult runOp(Operation *op, Stages stages);
  LogicalResult runSegment(dist::SegmentOp segment);
  LogicalResult runLoop(const TripSteps &loop);
  LogicalResult runTrip(const TripSteps &loop, int64_t n);
  LogicalResult runConditional(const TripSteps &loop);
  LogicalResult runOfTrip(Operation *op, dist::LoopAttr loop, int64_t n,
                          const Stages &stages);
  LogicalResult runEnter(dist::EnterOp enter, dist::LoopAttr loop, int64_t n,
                         SmallVectorImpl<DeviceTensors> &out);
  FailureOr<DeviceTensors> evaluateLeave(dist::LeaveOp leave);
  LogicalResult runLeave(dist::LeaveOp leave);
  LogicalResult runAlone(Operation *op, const Stages &around,
                         SmallVectorImpl<DeviceTensors> &results);
  LogicalResult runPlain(Operation *op, const Stages &stages,
                         SmallVectorImpl<DeviceTensors> &results);
  LogicalResult runExchange(Operation *op, const Stages &stages,
                            SmallVectorImpl<DeviceTensors> &results);
  LogicalResult runJoin(dist::JoinOp join, SmallVectorImpl<DeviceTensors> &out);
  LogicalResult runTransfer(dist::TransferOp transfer,
                            SmallVectorImpl<DeviceTensors> &out);
  LogicalResult checkResults(Operation *op, ArrayRef<DeviceTensors> results);
  Stages stagesOf(Operation *op, const Stages &around) const;
  Stages stagesOf(dist::SegmentOp segment) const;
  bool runsAt(const Stages &stages, int64_t device) const;
  const DeviceTensors *lookup(Operation *op, unsigned operand);
  void release(Operation *op);
  InFlightDiagnostic reportAbsent(Operation *op, unsigned operand,
                                  int64_t device);

  rt::Mesh mesh;
  std::vector<std::unique_ptr<Interpreter>> evaluators;
  Observer observer;
  llvm::StringMap<int64_t> counts;
  llvm::DenseMap<Value, DeviceTensors> values;
  /// Of values of loops, those of all trips; the trips that run.
  llvm::DenseMap<Value, TripValues<DeviceTensors>> ofTrips;
  TripNumbers trips;
  /// What closes the carried value with a number, of a loop that runs.
  llvm::DenseMap<std::pair<Attribute, int64_t>, dist::NextOp> nexts;
  /// Uses of a value that have not run yet.
  llvm::DenseMap<Value, int64_t> usesLeft;
  ArrayRef<int64_t> chunks;
};

} // namespace llmc

#endif // LLMC_INTERPRETER_LOCKSTEPINTERPRETER_H
