//===- Kernels.h - Compiled kernels on a GPU ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel object is a shared object whose manifest has the images of its
// kernels as data: machine code or PTX, which the driver loads. An entry takes
//
//   (buffers..., scalars..., int64 rowBegin, int64 rowEnd, scratch)
//
// each of 8 bytes, as KernelAbi.h says. A launch is the whole row space: a
// block of threads for each `rowsPerBlock` rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_KERNELS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_KERNELS_H

#include "Driver.h"
#include "llmc/Runtime/Device/Device.h"

#include <map>
#include <string>
#include <vector>

namespace llmc::rt::cuda {

class CudaKernel final : public Kernel {
public:
  CudaKernel(CUfunction function, const KernelShape &shape, uint32_t blocks)
      : function(function), rows(shape.rows), blocks(blocks),
        threads(shape.threadsPerBlock), sharedBytes(shape.sharedBytes),
        hasScratch(shape.scratchBytes != 0) {}

  CUfunction function;
  int64_t rows;
  uint32_t blocks, threads, sharedBytes;
  bool hasScratch; ///< Else the entry is given null.
};

/// Blocks of a launch. Error (15) for more than a grid has.
Result<uint32_t> blocksOf(const KernelShape &shape);

/// The objects that a world has opened, once for all its devices.
class KernelObjects {
public:
  KernelObjects() = default;
  KernelObjects(const KernelObjects &) = delete;
  ~KernelObjects();

  /// The manifest of the object at `path`, or null. Error (15): it cannot be
  /// opened.
  Result<const void *> open(const std::string &path);

private:
  std::map<std::string, void *> handles;
};

/// The modules of one device, in its context, which is current in all calls.
class Modules {
public:
  Modules(const Driver &driver, CUdevice device, int capability)
      : driver(driver), device(device), capability(capability) {}
  Modules(const Modules &) = delete;
  ~Modules();

  /// Loads the image that suits the device best. Errors (15): there is none,
  /// the driver does not take it, it lacks the function, or the device has not
  /// the threads or shared memory that a launch wants.
  Result<CudaKernel> make(const KernelShape &shape);

private:
  Result<CUmodule> load(const KernelImageView &image, const std::string &name);
  Status fit(CUfunction function, const KernelShape &shape) const;

  const Driver &driver;
  CUdevice device;
  int capability;
  std::map<const char *, CUmodule> modules; ///< By the image's first byte.
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_KERNELS_H
