//===- CallForm.h - Kernels in place of a library's call --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a target computes by kernels of its own where its libraries lack the
// kind of a call. A form is made from the call's descriptor alone:
//
//   dist.argsort %x …  ->  ArgsortShape  ->  %runs = launch sort(%x)
//                                            %order = launch merge(%x, %runs)
//
// Each launch reads and writes whole buffers: those of the call
// (rt::operandsOf), and temporaries that lie between launches.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLFORM_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLFORM_H

#include "../KernelTarget.h"
#include "GridCode.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Runtime/Base/Library.h"
#include <functional>

namespace llmc::kernels {

/// Memory of a call: its buffers in the order of `rt::operandsOf`, and then its
/// temporaries.
struct CallMemory {
  unsigned number = 0;
  dist::Access access = dist::Access::Read;
};

struct CallLaunch {
  /// The arguments of the kernel, in this order. Each buffer once.
  SmallVector<CallMemory> memory;
  int64_t rows = 1;
  /// Without `sharedBytes`, which the code says.
  CallShape shape;
  /// Whether indices need 64 bits.
  bool isWide = false;
  /// Of the call's floating-point operations the launch makes as large a part
  /// as this is of the sum over all launches: none where it only adds up.
  double share = 1;
  /// Writes what one thread does.
  std::function<void(GridCode &)> write;
};

struct CallPlan {
  SmallVector<RankedTensorType> temporaries;
  SmallVector<CallLaunch> launches;
  /// Of the call, as `rt::operationsOf` counts them.
  double operations = 0;
};

/// Indices of less than 2^31 fit into words of 32 bits.
inline bool needsWide(int64_t most) { return most >= int64_t(1) << 31; }

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_CALLFORM_H
