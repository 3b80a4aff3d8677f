//===- PreparedOp.h - A call of a library made ready ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device keeps of each call of its plan, whichever library computes it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_PREPAREDOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_PREPAREDOP_H

#include "llmc/Runtime/Device/Device.h"

#include <cuda.h>

namespace llmc::rt::cuda {

class PreparedOp : public LibraryOp {
public:
  /// Enqueues the call, also while the stream is captured. `buffers` are device
  /// addresses in the order of `operandsOf`. By the device's thread alone.
  virtual Status enqueue(CUstream stream, const uint64_t *buffers,
                         void *workspace) const = 0;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_PREPAREDOP_H
