//===- Objects.h - The plan's kernel objects ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is data and untrusted; kernel code is trusted code. An object is
// loaded only from the plan's own folder, when it has the hash that the plan
// names, and the user owns it and nobody else may write it (`--trust-kernels`
// lifts the last).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_OBJECTS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_OBJECTS_H

#include "llmc/Runtime/Device/Device.h"
#include "llmc/Runtime/Plan/Format/Manifest.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <string>
#include <vector>

namespace llmc::rt::exec {

/// Checks and loads all objects on `device`; one manifest of all. `features`
/// are those that the backend has.
Result<plan::Manifest> loadObjects(const plan::Plan &plan,
                                   const std::string &folder, bool trust,
                                   const std::vector<std::string> &features,
                                   Device &device);

/// What a device is told of a kernel; views of the manifest.
KernelShape shapeOf(const plan::Manifest &manifest,
                    const plan::KernelInfo &kernel);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_OBJECTS_H
