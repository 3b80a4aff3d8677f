//===- UpdateCode.h - What an Update says of one element --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_UPDATECODE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_UPDATECODE_H

#include "LoopEmission.h"

namespace llmc::kernels {

/// The op's code at the current place of the kernel's loop nest. On failure an
/// error has been emitted.
class UpdateCode {
public:
  explicit UpdateCode(KernelBody &kernel)
      : kernel(kernel),
        op(cast<graph::KernelOpInterface>(kernel.spec.aligned.front())) {}

  graph::KernelOpInterface getOp() const { return op; }
  RankedTensorType getType() const {
    return cast<RankedTensorType>(op->getResult(0).getType());
  }
  /// Where the update at `indices` goes.
  FailureOr<graph::UpdateTarget> getTarget(ValueRange indices);
  /// `old` with the update at `indices`.
  FailureOr<Value> combine(Value old, ValueRange indices);
  /// The update at `indices`, where it goes, if it goes anywhere.
  LogicalResult emitOne(ValueRange indices);

private:
  Value getSource(unsigned operand, ValueRange at);
  LogicalResult emitWrite(const graph::UpdateTarget &target,
                          ValueRange indices);

  KernelBody &kernel;
  graph::KernelOpInterface op;
  bool sourceFailed = false;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_UPDATECODE_H
