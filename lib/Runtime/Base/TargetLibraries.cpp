//===- TargetLibraries.cpp - What a target's libraries have ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/TargetLibrariesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/TargetLibraries.h"
#include "llmc/Runtime/Base/CudnnAttention.h"
#include "llmc/Runtime/Base/MatmulPlan.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt {

namespace {
/// A target, and a kind that its libraries have.
struct Entry {
  std::string_view target, kind;
};
} // namespace

/// Of each target that lacks a kind, all that it has.
static constexpr Entry entries[] = {
    {"cuda", "contraction"}, // cuBLASLt.
    {"cuda+cudnn", "contraction"},
    {"cuda+cudnn", "convolution"},
    {"cuda+cudnn", "attention"},
};

/// Kinds that the compiler writes kernels of where no library of a target has
/// them, or cannot express a call of them.
static constexpr Entry kernels[] = {
    {"cuda", "contraction"},         {"cuda", "convolution"},
    {"cuda", "attention"},           {"cuda", "argsort"},
    {"cuda", "grouped_contraction"},
};

static bool isGpu(std::string_view target) {
  return target.substr(0, target.find('+')) == "cuda";
}

bool hasLibrary(std::string_view target, std::string_view kind) {
  bool isNamed = false;
  for (const Entry &entry : entries) {
    isNamed = isNamed || entry.target == target;
    if (entry.target == target && entry.kind == kind) {
      return true;
    }
  }
  return !isNamed;
}

bool isComputed(std::string_view target, std::string_view kind) {
  std::string_view device = target.substr(0, target.find('+'));
  bool hasKernels = std::any_of(
      std::begin(kernels), std::end(kernels), [&](const Entry &entry) {
        return entry.target == device && entry.kind == kind;
      });
  return hasKernels || hasLibrary(target, kind);
}

Status checkLibrary(std::string_view target,
                    const LibraryDescriptor &descriptor) {
  if (!hasLibrary(target, nameOf(descriptor))) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a library of target '{}' for {}, "
                                 "got none",
                                 target, phraseOf(descriptor)));
  }
  const auto *contraction = std::get_if<ContractionShape>(&descriptor);
  if (contraction && isGpu(target)) {
    return cuda::planMatmul(*contraction, "contraction").status();
  }
  if (target != "cuda+cudnn") {
    return Status::success();
  }
  if (const auto *attention = std::get_if<AttentionShape>(&descriptor)) {
    return findCudnnAttention(*attention).status();
  }
  const auto *convolution = std::get_if<ConvolutionShape>(&descriptor);
  return convolution ? findCudnnConvolution(*convolution).status()
                     : Status::success();
}

bool takesBias(std::string_view target, const LibraryDescriptor &descriptor) {
  const auto *contraction = std::get_if<ContractionShape>(&descriptor);
  if (isGpu(target) && contraction && findSmallFloat(contraction->a)) {
    return false; // Beside a result of f32 it would be one of bf16.
  }
  LibraryDescriptor biased = descriptor;
  if (auto *convolution = std::get_if<ConvolutionShape>(&biased)) {
    convolution->hasBias = true;
    convolution->bias = convolution->c;
  }
  return !checkLibrary(target, descriptor).ok() ||
         checkLibrary(target, biased).ok();
}

} // namespace llmc::rt
