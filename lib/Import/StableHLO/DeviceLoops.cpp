//===- DeviceLoops.cpp - Along which axes varies what a loop carries ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A carried value has one shape in all trips, so it has a leading dim for each
// axis along which it varies in any of them:
//
//   %s = dist.enter carry %zeros      the same on all devices, at first
//   %t = add %s, %x                   %x varies along "data"
//   dist.next %s, %t                  so %s does, from the second trip on
//
// These axes are found in rounds, each of which tries a trip with what is known
// by then: an op is built on stand-ins, and all that is wanted of what it built
// are its axes.
//
// Test: test/Import/StableHLO/manual-loops.mlir
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using graph::DeviceAxes;
using graph::DeviceValue;

namespace {
/// An op that is built beside the program, on stand-ins of its operands.
class TrialForm : public OpForm {
public:
  TrialForm(OpBuilder &builder, Operation *op, ArrayRef<int64_t> mesh,
            SmallVectorImpl<DeviceValue> &results, DeviceProgram &program)
      : OpForm(builder, op, mesh, results, program), program(program) {}

  DeviceValue getValue(Value value) override {
    DeviceAxes axes = program.getTriedAxes(value);
    return {builder.getInsertionBlock()->addArgument(
                getType(value.getType(), axes), loc),
            axes};
  }
  void setKnown(ArrayRef<int64_t>) override {}

private:
  DeviceProgram &program;
};
} // namespace

ArrayRef<unsigned> DeviceProgram::getCarriedAxes(Operation *op) const {
  auto known = carried.find(op);
  return known == carried.end() ? ArrayRef<unsigned>()
                                : ArrayRef<unsigned>(known->second);
}

DeviceAxes DeviceProgram::getTriedAxes(Value value) const {
  if (auto known = tried.find(value); known != tried.end())
    return known->second;
  if (auto known = values.find(value); known != values.end())
    return known->second.axes;
  return scalars.isKnown(value) ? scalars.getAxes(value) : DeviceAxes();
}

LogicalResult DeviceProgram::tryOp(Operation *op) {
  bool isOfAll =
      !isa<sdy::ToLocalOp, sdy::ToGlobalOp, graph::DeviceOpInterface>(op) &&
      llvm::all_of(op->getOperands(),
                   [&](Value value) { return getTriedAxes(value).empty(); });
  if (isOfAll)
    return success();
  if (failed(checkSizes(op)))
    return failure();
  Block beside;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&beside);
  SmallVector<DeviceValue> results;
  TrialForm form(builder, op, sizes, results, *this);
  if (failed(build(op, form)))
    return failure();
  for (auto [result, value] : llvm::zip(op->getResults(), results))
    tried[result] = value.axes;
  return success();
}

/// The axes of all values of a trip, by those of what is carried into it.
LogicalResult DeviceProgram::tryTrip(const dist::LoopRun &run) {
  tried.clear();
  for (Operation *op : run.ops) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    auto next = dyn_cast<dist::NextOp>(op);
    if (enter && enter.isCarry())
      tried[enter] = carried[enter];
    else if (next)
      tried[next] = carried[next.getEnter()];
    else if (failed(tryOp(op)))
      return failure();
  }
  return success();
}

/// Adds the axes of what a trip leaves to those of what it finds; whether they
/// were others. Where devices decide for themselves whether there is another
/// trip, all that is carried varies as this does.
bool DeviceProgram::grow(const dist::LoopRun &run) {
  DeviceAxes ofCondition;
  for (Operation *op : run.ops)
    if (auto enter = dyn_cast<dist::EnterOp>(op); enter && enter.isCondition())
      ofCondition = carried[enter];
  bool isGrown = false;
  for (Operation *op : run.ops)
    if (auto next = dyn_cast<dist::NextOp>(op)) {
      DeviceAxes &known = carried[next.getEnter()];
      DeviceAxes both = graph::uniteAxes(
          ofCondition, graph::uniteAxes(known, getTriedAxes(next.getValue())));
      isGrown |= both != known;
      known = both;
    }
  return isGrown;
}

LogicalResult DeviceProgram::findCarriedAxes(const dist::LoopRun &run) {
  for (Operation *op : run.ops)
    if (auto enter = dyn_cast<dist::EnterOp>(op); enter && enter.isCarry())
      carried[enter] = getTriedAxes(enter.getInput());
  do {
    if (failed(tryTrip(run)))
      return failure();
  } while (grow(run));
  tried.clear();
  return success();
}
