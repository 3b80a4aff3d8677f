//===- Product.h - A product in plain loops -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_BLASLT_PRODUCT_H
#define LLMC_TEST_RUNTIME_STANDIN_BLASLT_PRODUCT_H

#include "BlasLt/Descriptors.h"

namespace llmc::standin {

/// Where the stand-in finds all that a product reads and writes.
struct Operands {
  const char *a, *b, *c;
  char *d;
  char *bias, *aux;
  const float *scaleA, *scaleB, *scaleC, *scaleD;
  float *amaxD;
  const void *alpha, *beta; // of the scale type
};

/// D = epilogue(alpha * op(A) * op(B) + beta * C), for the whole batch. Sums go
/// from the first k on, in `partialSums` parts, in the type of computation. C
/// is not read where beta is 0.
void multiply(const Problem &problem, const Operands &operands,
              unsigned partialSums);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_BLASLT_PRODUCT_H
