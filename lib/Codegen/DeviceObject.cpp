//===- DeviceObject.cpp - Kernels of a GPU in a manifest ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each kernel's PTX is an image of the manifest. Code for lanes is one shared
// object of all kernels, which stands for the machine code of a device: a real
// driver refuses it.
//
//   kernels.so: llmc_kernel_manifest = [kernels] [images: PTX of k_1, of k_2]
//
// Test: test/Codegen/LaneTest.cpp
//
//===----------------------------------------------------------------------===//

#include "MachineCode.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace llmc::codegen {

rt::Result<CodeTarget> CodeTarget::parse(StringRef text) {
  if (text == "cpu")
    return CodeTarget();
  for (StringRef architecture : {"sm_80", "sm_90", "fibers"})
    for (StringRef libraries : {"", "+cudnn"})
      if (text == ("cuda:" + architecture + libraries).str())
        return CodeTarget{"cuda", architecture.str()};
  return rt::makeError(
      rt::ErrorKind::usage,
      "expected a target (cpu, cuda:sm_80, cuda:sm_90, and of GPUs +cudnn), "
      "got '" +
          text.str() + "'");
}

/// The bytes of a shared object of all `objects`.
static FailureOr<std::string> linkLanes(ModuleOp kernels,
                                        ArrayRef<std::string> objects) {
  SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("lanes", "so", path))
    return emitRefusal(kernels, rt::ErrorKind::usage)
           << "expected to write a temporary file, got: " << code.message();
  llvm::scope_exit remove([&] { llvm::sys::fs::remove(path); });
  if (failed(linkKernels(kernels, objects, path)))
    return failure();
  auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return emitRefusal(kernels, rt::ErrorKind::usage)
           << "expected to read '" << path
           << "', got: " << bytes.getError().message();
  return (*bytes)->getBuffer().str();
}

FailureOr<KernelObjects> compileDeviceKernels(ModuleOp kernels,
                                              const CodeTarget &target,
                                              rt::plan::Manifest &manifest,
                                              const KernelBuild &build) {
  FailureOr<KernelObjects> codes = compileCodes(kernels, target, build);
  if (failed(codes))
    return failure();
  manifest.features.clear();
  manifest.images.clear();
  if (target.isOnLanes()) {
    FailureOr<std::string> lanes = linkLanes(kernels, *codes);
    if (failed(lanes))
      return failure();
    manifest.images.push_back(
        {rt::KernelFormat::cubin, "sm_90", std::move(*lanes)});
  }
  for (auto [number, kernel] : llvm::enumerate(manifest.kernels)) {
    uint32_t image = 0;
    if (!target.isOnLanes()) {
      image = manifest.images.size();
      manifest.images.push_back({rt::KernelFormat::ptx, target.architecture,
                                 std::move((*codes)[number])});
    }
    kernel.codes = {{image, kernel.name}};
  }
  FailureOr<std::string> object = makeManifestObject(kernels, manifest);
  if (failed(object))
    return failure();
  return KernelObjects{std::move(*object)};
}

} // namespace llmc::codegen
