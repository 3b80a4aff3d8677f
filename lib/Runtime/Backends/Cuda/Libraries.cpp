//===- Libraries.cpp - What a GPU's libraries compute ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/MatmulPlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include "ConvolutionOp.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

static Status checkForm(const LibraryShape &shape, uint32_t forms) {
  if (shape.form < forms) {
    return Status::success();
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected form 0 to {} of {} '{}' on a GPU, got "
                               "{}",
                               forms - 1, nameOf(shape.descriptor), shape.name,
                               shape.form));
}

static Result<LibraryPlan> planConvolution(const LibraryShape &shape,
                                           const ConvolutionShape &descriptor) {
  LLMC_TRY(checkForm(shape, 1));
  Result<CudnnConvolution> made = findCudnnConvolution(descriptor);
  if (made.ok()) {
    return LibraryPlan(*std::move(made));
  }
  return makeError(made.status().kind(),
                   fmt::format("cuDNN cannot compute convolution '{}': {}",
                               shape.name, made.status().message()));
}

Result<LibraryPlan> planLibrary(const LibraryShape &shape) {
  if (const auto *contraction =
          std::get_if<ContractionShape>(&shape.descriptor)) {
    LLMC_TRY(checkForm(shape, mostAlgorithms));
    LLMC_TRY_ASSIGN(MatmulPlan plan, planMatmul(*contraction, shape.name));
    return LibraryPlan(std::move(plan));
  }
  if (const auto *convolution =
          std::get_if<ConvolutionShape>(&shape.descriptor)) {
    return planConvolution(shape, *convolution);
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected a contraction or a convolution from "
                               "the libraries of the target cuda, got {} '{}'",
                               phraseOf(shape.descriptor), shape.name))
      .withHint("this version has no library for it on GPUs");
}

uint64_t workspaceOf(const LibraryShape &shape) {
  const auto *convolution = std::get_if<ConvolutionShape>(&shape.descriptor);
  return convolution ? convolutionWorkspace(*convolution)
                     : matmulWorkspaceBytes;
}

} // namespace llmc::rt::cuda
