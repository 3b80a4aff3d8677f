//===- Libraries.cpp - What a GPU's libraries compute ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/MatmulPlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

#include "llmc/Runtime/Base/TargetLibraries.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

Result<MatmulPlan> planLibrary(const LibraryShape &shape) {
  const auto *contraction = std::get_if<ContractionShape>(&shape.descriptor);
  if (!contraction || !hasLibrary("cuda", nameOf(shape.descriptor))) {
    return makeError(
               ErrorKind::mismatch,
               fmt::format("expected a contraction from the libraries of the "
                           "target cuda, got {} '{}'",
                           phraseOf(shape.descriptor), shape.name))
        .withHint("this version has no library for it on GPUs");
  }
  if (shape.form >= mostAlgorithms) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected form 0 to {} of contraction '{}' on "
                                 "a GPU, got {}",
                                 mostAlgorithms - 1, shape.name, shape.form));
  }
  return planMatmul(*contraction, shape.name);
}

} // namespace llmc::rt::cuda
