//===- SharedLibraries.h - Libraries of a GPU that a machine may have -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_DOCTOR_SHAREDLIBRARIES_H
#define LLMC_LIB_RUNTIME_DOCTOR_SHAREDLIBRARIES_H

#include "llmc/Runtime/Doctor/Doctor.h"

namespace llmc::rt::doctor {

/// CUDA's driver with its devices, cuBLASLt, cuDNN, NCCL, nvJitLink: loaded,
/// and asked for their versions by their own functions.
void examineLibraries(std::vector<Finding> &findings);

} // namespace llmc::rt::doctor

#endif // LLMC_LIB_RUNTIME_DOCTOR_SHAREDLIBRARIES_H
