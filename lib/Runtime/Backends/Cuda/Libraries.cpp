//===- Libraries.cpp - What a GPU's libraries compute ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/MatmulPlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include "AttentionOp.h"
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

/// What was found for the call, or why nothing.
template <typename Found>
static Result<LibraryPlan> planByCudnn(const LibraryShape &shape,
                                       Result<Found> found) {
  LLMC_TRY(checkForm(shape, 1));
  if (found.ok()) {
    return LibraryPlan(*std::move(found));
  }
  return makeError(found.status().kind(),
                   fmt::format("cuDNN cannot compute {} '{}': {}",
                               nameOf(shape.descriptor), shape.name,
                               found.status().message()));
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
    return planByCudnn(shape, findCudnnConvolution(*convolution));
  }
  if (const auto *attention = std::get_if<AttentionShape>(&shape.descriptor)) {
    return planByCudnn(shape, findCudnnAttention(*attention));
  }
  return makeError(ErrorKind::mismatch,
                   fmt::format("expected a contraction, a convolution or an "
                               "attention from the libraries of the target "
                               "cuda, got {} '{}'",
                               phraseOf(shape.descriptor), shape.name))
      .withHint("this version has no library for it on GPUs");
}

uint64_t workspaceOf(const LibraryShape &shape) {
  if (const auto *attention = std::get_if<AttentionShape>(&shape.descriptor)) {
    Result<CudnnAttention> found = findCudnnAttention(*attention);
    return found.ok() ? attentionWorkspace(*found) : 0;
  }
  const auto *convolution = std::get_if<ConvolutionShape>(&shape.descriptor);
  return convolution ? convolutionWorkspace(*convolution)
                     : matmulWorkspaceBytes;
}

} // namespace llmc::rt::cuda
