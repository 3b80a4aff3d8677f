//===- InstructionTimes.h - How long instructions take ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the machine's numbers: a computation takes as long as its operations, or
// as its operands need to cross the memory; a collective as a ring (the sizes
// stand in CollectiveKind.h). Where the machine does not say what a device can
// do, the numbers of a processor's core stand in, since times are compared
// with each other.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_INSTRUCTIONTIMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_INSTRUCTIONTIMES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Solvers/Reshard/MachineModel.h"
#include "llmc/Support/LLVM.h"

namespace llmc::ordering {

class InstructionTimes {
public:
  /// Reports numbers that no machine has.
  static FailureOr<InstructionTimes> read(dist::MeshOp mesh);

  /// Seconds that a device computes or copies for it; 0 of communication.
  double getCompute(plan::InstructionInterface op) const;
  /// Seconds of a collective or message; nothing of all else.
  std::optional<double> getCommunication(plan::InstructionInterface op) const;
  /// What of it does not depend on bytes.
  double getStartup(plan::CollectiveOp op) const;
  /// Bytes at which a bucket of such collectives is full.
  int64_t getFullBucket(plan::CollectiveOp op) const;
  /// Whether the collective is one of a stage alone.
  bool staysInStage(plan::CollectiveOp op) const;

private:
  explicit InstructionTimes(dist::MeshOp mesh) : mesh(mesh) {}

  std::vector<int32_t> getAxes(ArrayAttr names) const;
  int64_t countMembers(plan::CollectiveOp op) const;

  dist::MeshOp mesh;
  MachineModel machine;
};

/// Bytes of the elements of all operands.
int64_t getBytes(ArrayAttr operands);
/// Those of the whole value: what a gather makes, or a scatter gets.
int64_t getWholeBytes(plan::CollectiveOp op);
/// Each buffer that a member passes in has one element.
bool hasScalars(plan::CollectiveOp op);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_INSTRUCTIONTIMES_H
