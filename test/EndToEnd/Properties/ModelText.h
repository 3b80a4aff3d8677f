//===- ModelText.h - Random models with a training recipe -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of small models as they leave import: states, a loss and an optimizer,
// a recipe. Blocks are perceptrons, gated ones with a fused projection, norms,
// attention with heads and cells that share their parameters, as an unrolled
// recurrence does; the embedding may be tied with the head. Blocks may read a
// counter of microbatches, and a weight that is rounded in some of them.
//
// An exact model computes with integers and halves alone, so that its step
// gives the same bits in any order of additions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_MODELTEXT_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_MODELTEXT_H

#include "ModelNames.h"

#include <cstdint>
#include <string>

namespace llmc::test {

struct ModelOptions {
  uint64_t seed = 1;
  bool exact = false;
  /// After `dist.mesh @mesh = `.
  std::string mesh = R"(<"a"=1>)";
};

std::string makeModel(const ModelOptions &options);

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_MODELTEXT_H
