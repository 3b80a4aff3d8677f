//===- ImageChoice.h - Which code of a kernel suits a GPU -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cubin is the machine code of one architecture: it runs on GPUs of the same
// major version whose minor version is not smaller. PTX of an architecture is
// compiled by the driver for any that is not older.
//
//   compute capability 9.0:  cubin sm_90, else ptx sm_90, else ptx sm_80
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_IMAGECHOICE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_IMAGECHOICE_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Device/Device.h"

namespace llmc::rt::cuda {

/// A compute capability as one number: 90 for 9.0. "sm_90a" is code for 9.0
/// alone.
struct Architecture {
  int number = 0;
  bool isExact = false;
};

/// "sm_90", "sm_90a"; error (15) for anything else.
Result<Architecture> parseArchitecture(const std::string &text);

/// The best of the shape's images for a GPU of `capability`. Error (15) where
/// none suits, with what there is.
Result<const KernelImageView *> chooseImage(const KernelShape &shape,
                                            int capability);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_IMAGECHOICE_H
