//===- KernelManifest.cpp - What a kernel object says of its kernels ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read from what the kernels say of themselves:
//
//   dist.kernel @k_3f2a(read tensor<24xf32>, write tensor<24xf32>) for "cpu"
//       rows(24) by @k_3f2a_cpu
//
// Test: test/Codegen/KernelObjectTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Processor.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Support/StoredElements.h"
#include <numeric>

using namespace mlir;

namespace llmc::codegen {

static rt::plan::Access getAccess(dist::Access access) {
  switch (access) {
  case dist::Access::Read:
    return rt::plan::Access::read;
  case dist::Access::Write:
    return rt::plan::Access::write;
  case dist::Access::ReadWrite:
  case dist::Access::Scalar:
    break;
  }
  return rt::plan::Access::readWrite;
}

/// The type as the graph has it: unsigned and i1 differ from memory's.
static FailureOr<rt::plan::KernelArgument>
describe(dist::KernelOp kernel, dist::ArgumentAttr argument) {
  auto memory = cast<RankedTensorType>(argument.getType());
  std::optional<rt::DType> dtype = getRuntimeDType(memory.getElementType());
  if (!dtype)
    return emitRefusal(kernel, rt::ErrorKind::unsupported)
           << "expected elements of a type of the plan, got "
           << memory.getElementType();
  rt::plan::KernelArgument described;
  described.dtype = *dtype;
  described.access = getAccess(argument.getAccess());
  described.extentBytes = memory.getNumElements() * rt::sizeOf(*dtype);
  return described;
}

static FailureOr<rt::plan::KernelInfo> describe(dist::KernelOp kernel) {
  rt::plan::KernelInfo info;
  info.name = kernel.getSymName().str();
  info.target = kernel.getTarget().str();
  info.rows = kernel.getRows();
  info.scratchBytes = kernel.getScratch();
  uint32_t alignment = 1;
  if (dist::LaunchShapeAttr shape = kernel.getShapeAttr()) {
    info.rowsPerBlock = shape.getRows();
    info.threadsPerBlock = shape.getThreads();
    info.sharedBytes = shape.getShared();
    alignment = shape.getAlign();
  }
  for (dist::ArgumentAttr argument : kernel.getArgumentRange()) {
    if (argument.isScalar()) {
      info.scalars.push_back({0, argument.getBound() - 1});
      continue;
    }
    FailureOr<rt::plan::KernelArgument> described = describe(kernel, argument);
    if (failed(described))
      return failure();
    // What a loop reads by rows begins at a multiple of its size.
    described->alignment = std::max<uint32_t>(
        std::gcd(alignment, static_cast<uint32_t>(described->extentBytes)),
        static_cast<uint32_t>(rt::sizeOf(described->dtype)));
    info.arguments.push_back(*described);
  }
  return info;
}

FailureOr<rt::plan::Manifest> getManifest(ModuleOp kernels) {
  rt::plan::Manifest manifest;
  manifest.features = getCpuinfoFeatures();
  for (auto kernel : kernels.getOps<dist::KernelOp>()) {
    FailureOr<rt::plan::KernelInfo> info = describe(kernel);
    if (failed(info))
      return failure();
    manifest.kernels.push_back(std::move(*info));
  }
  manifest.setObjectCode();
  return manifest;
}

} // namespace llmc::codegen
