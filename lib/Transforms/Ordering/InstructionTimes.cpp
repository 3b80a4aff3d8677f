//===- InstructionTimes.cpp - How long instructions take ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/bucket-collectives.mlir
//===----------------------------------------------------------------------===//

#include "InstructionTimes.h"
#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Dialect/Dist/IR/LaunchMarks.h"
#include "llmc/Runtime/Base/LibraryCost.h"

using namespace mlir;

namespace llmc::ordering {

/// Of a core, where nothing is known of the machine.
static constexpr double kMemoryBandwidth = 2e10;

static int64_t getBytes(plan::OperandAttr operand) {
  return operand.getSpan().value_or(0);
}

int64_t getBytes(ArrayAttr operands) {
  int64_t bytes = 0;
  for (auto operand : operands.getAsRange<plan::OperandAttr>())
    bytes += getBytes(operand);
  return bytes;
}

int64_t getWholeBytes(plan::CollectiveOp op) {
  return std::max(getBytes(op.getInputs()), getBytes(op.getOutputs()));
}

bool hasScalars(plan::CollectiveOp op) {
  return llvm::all_of(op.getInputs().getAsRange<plan::OperandAttr>(),
                      [](plan::OperandAttr operand) {
                        return llvm::all_of(
                            operand.getShape().asArrayRef(),
                            [](int64_t size) { return size == 1; });
                      });
}

FailureOr<InstructionTimes> InstructionTimes::read(dist::MeshOp mesh) {
  FailureOr<MachineModel> machine = readTimedMachine(mesh);
  if (failed(machine))
    return failure();
  InstructionTimes times(mesh);
  times.machine = *machine;
  auto given = mesh.getMachine();
  if (!given || !given->getLinks())
    times.machine.bucket = std::max(times.machine.bucket, 0.0);
  if (times.machine.memoryBandwidth == 0)
    times.machine.memoryBandwidth = kMemoryBandwidth;
  return times;
}

double InstructionTimes::getCompute(plan::InstructionInterface op) const {
  if (isa<plan::CollectiveOp, plan::SendOp, plan::ReceiveOp, plan::ExchangeOp>(
          op.getOperation()))
    return 0;
  double operations = dist::getOperations(op), bytes = 0, rate = machine.flops;
  for (const plan::OperandUse &use : op.getUses())
    bytes += double(getBytes(use.operand)) *
             (use.access == plan::Access::ReadWrite ? 2 : 1);
  if (auto library = dyn_cast<plan::LibraryOp>(op.getOperation())) {
    rt::LibraryDescriptor descriptor = library.getRuntimeDescriptor();
    operations = rt::operationsOf(descriptor);
    rate = machine.rateOf(rt::rateNameOf(descriptor));
  }
  return std::max(operations / rate, bytes / machine.memoryBandwidth);
}

std::vector<int32_t> InstructionTimes::getAxes(ArrayAttr names) const {
  std::vector<int32_t> axes;
  dist::MeshOp op = mesh;
  auto known = op.getAxes().getNames();
  for (auto name : names.getAsRange<StringAttr>())
    axes.push_back(
        static_cast<int32_t>(llvm::find(known, name) - known.begin()));
  return axes;
}

int64_t InstructionTimes::countMembers(plan::CollectiveOp op) const {
  dist::MeshOp self = mesh;
  int64_t members = 1;
  for (auto axis : op.getAxes().getAsRange<StringAttr>())
    members *= self.getAxes().getSize(axis.getValue());
  return members;
}

/// A ring has a message to each other member, an all-reduce two.
double InstructionTimes::getStartup(plan::CollectiveOp op) const {
  bool goesTwice = op.getKind() == CollectiveKind::allReduce;
  return double((countMembers(op) - 1) * (goesTwice ? 2 : 1)) *
         machine.linkOf(getAxes(op.getAxes())).latency;
}

std::optional<double>
InstructionTimes::getCommunication(plan::InstructionInterface op) const {
  if (auto collective = dyn_cast<plan::CollectiveOp>(op.getOperation()))
    return getStartup(collective) +
           double(bytesReceived(collective.getKind(),
                                getBytes(collective.getInputs()),
                                countMembers(collective))) /
               machine.linkOf(getAxes(collective.getAxes())).bandwidth;
  if (!isa<plan::SendOp, plan::ReceiveOp, plan::ExchangeOp>(op.getOperation()))
    return std::nullopt;
  dist::MeshOp self = mesh;
  const MachineModel::Link &link = machine.linkOf(getAxes(ArrayAttr::get(
      op.getContext(), StringAttr::get(op.getContext(), *self.getPipeline()))));
  double bytes = 0;
  for (const plan::OperandUse &use : op.getUses())
    bytes += double(getBytes(use.operand));
  return link.latency + bytes / link.bandwidth;
}

int64_t InstructionTimes::getFullBucket(plan::CollectiveOp op) const {
  return machine.bucketBytes(getAxes(op.getAxes()), countMembers(op));
}

bool InstructionTimes::staysInStage(plan::CollectiveOp op) const {
  dist::MeshOp self = mesh;
  return !self.getPipeline() ||
         !llvm::is_contained(
             op.getAxes(),
             StringAttr::get(op.getContext(), *self.getPipeline()));
}

} // namespace llmc::ordering
