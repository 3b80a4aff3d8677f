//===- Driver.h - The CUDA driver API, as far as it is used ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of what the backend calls of the driver. Names are written as
// cuda.h declares them; its macros put the version to them, here and where they
// are called.
//
// https://docs.nvidia.com/cuda/cuda-driver-api
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_DRIVER_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_DRIVER_H

#include "SymbolTable.h"

#include <cuda.h>

#include <string_view>

namespace llmc::rt::cuda {

#define LLMC_CUDA_DRIVER(X)                                                    \
  X(cuInit)                                                                    \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)                                                          \
  X(cuDriverGetVersion)                                                        \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDeviceTotalMem)                                                          \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuDevicePrimaryCtxRelease)                                                 \
  X(cuCtxSetCurrent)                                                           \
  X(cuCtxGetStreamPriorityRange)                                               \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemHostAlloc)                                                            \
  X(cuMemFreeHost)                                                             \
  X(cuMemHostGetDevicePointer)                                                 \
  X(cuMemcpyAsync)                                                             \
  X(cuMemcpy2DAsync)                                                           \
  X(cuMemsetD8Async)                                                           \
  X(cuMemsetD16Async)                                                          \
  X(cuMemsetD32Async)                                                          \
  X(cuMemsetD2D8Async)                                                         \
  X(cuMemsetD2D16Async)                                                        \
  X(cuMemsetD2D32Async)                                                        \
  X(cuStreamCreateWithPriority)                                                \
  X(cuStreamDestroy)                                                           \
  X(cuStreamQuery)                                                             \
  X(cuStreamSynchronize)                                                       \
  X(cuStreamWaitEvent)                                                         \
  X(cuStreamBeginCapture)                                                      \
  X(cuStreamEndCapture)                                                        \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy)                                                            \
  X(cuEventRecord)                                                             \
  X(cuEventQuery)                                                              \
  X(cuEventElapsedTime)                                                        \
  X(cuGraphInstantiate)                                                        \
  X(cuGraphLaunch)                                                             \
  X(cuGraphDestroy)                                                            \
  X(cuGraphExecDestroy)                                                        \
  X(cuModuleLoadData)                                                          \
  X(cuModuleLoadDataEx)                                                        \
  X(cuModuleGetFunction)                                                       \
  X(cuModuleUnload)                                                            \
  X(cuFuncGetAttribute)                                                        \
  X(cuFuncSetAttribute)                                                        \
  X(cuLaunchKernel)

struct Driver {
  LLMC_CUDA_DRIVER(LLMC_CUDA_MEMBER)

  /// Loads libcuda.so.1 and initializes it, once for the process; later calls
  /// return the same. Error (15): it is not there, lacks a symbol, or has no
  /// device.
  static Result<const Driver *> get();

  /// `what` failed: "<what>: <name> (<text>)". The kind is 12 where memory is
  /// missing, 15 where an image or a library does not suit the device, 16
  /// where the hardware reports an error that no program makes, else 70.
  Status check(CUresult result, std::string_view what) const;
};

/// The compute capability of a GPU as one number: 90 for 9.0.
Result<int> capabilityOf(const Driver &driver, int ordinal);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_DRIVER_H
