//===- PlanNames.h - Symbols of a plan --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of frames, buffers and programs, none twice in the module; types as
// operands.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PLANNAMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PLANNAMES_H

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"

namespace llmc::ordering {

/// Bytes of places and sizes are multiples of it, as in the runtime.
inline constexpr int64_t kAlignment = 64;

inline int64_t alignUp(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Bytes of a tensor of static shape, or an error at `loc` for a type that the
/// runtime does not store.
FailureOr<int64_t> getBytes(Location loc, Type type);

/// The whole of `buffer` as a tensor of this type.
plan::OperandAttr getOperand(mlir::FlatSymbolRefAttr buffer,
                             RankedTensorType type);

class PlanNames {
public:
  /// All symbols of the module are taken, but for those of `replaced`, which
  /// go away.
  PlanNames(ModuleOp module, ArrayRef<Operation *> replaced);

  /// `wanted`, or that with a number added.
  std::string take(StringRef wanted);

private:
  llvm::StringSet<> taken;
};

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PLANNAMES_H
