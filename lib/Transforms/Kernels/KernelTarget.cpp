//===- KernelTarget.cpp - What kernels are written for --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets that there are.
//
// Test: test/Transforms/Kernels/target-invalid.mlir
//
//===----------------------------------------------------------------------===//

#include "KernelTarget.h"
#include "Calls/CallForm.h"
#include "CpuTarget.h"
#include "GpuTarget.h"

using namespace mlir;

namespace llmc::kernels {

KernelWriter::~KernelWriter() = default;

StageWriter::~StageWriter() = default;

KernelTarget::~KernelTarget() = default;

std::optional<CallPlan>
KernelTarget::planCall(const rt::LibraryDescriptor &,
                       ArrayRef<RankedTensorType>) const {
  return {};
}

static ArrayRef<const KernelTarget *> getKernelTargets() {
  static const KernelTarget *const targets[] = {&getCpuTarget(),
                                                &getGpuTarget()};
  return targets;
}

const KernelTarget *findKernelTarget(StringRef name) {
  for (const KernelTarget *target : getKernelTargets())
    if (target->getName() == name)
      return target;
  return nullptr;
}

SmallVector<StringRef> getKernelTargetNames() {
  SmallVector<StringRef> names;
  for (const KernelTarget *target : getKernelTargets())
    names.push_back(target->getName());
  llvm::sort(names);
  return names;
}

} // namespace llmc::kernels
