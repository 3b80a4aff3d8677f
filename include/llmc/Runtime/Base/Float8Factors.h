//===- Float8Factors.h - Factors of eight bits on GPUs ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuBLASLt multiplies floats of eight bits where their tensor cores are, from
// compute capability 8.9 on, where what is added up is contiguous in both
// factors, and where sizes are multiples of 16 (MatmulPlan.h). The compiler
// decides here, from the descriptor alone, what a contraction of them becomes:
//
//   y[t, o] = x[t, i] * w[i, o]    b is read from a copy that lies as [o, i]
//   dx[t, i] = dy[t, o] * w[i, o]  as it is
//   dw[i, o] = x[t, i] * dy[t, o]  copies of both, [i, t] and [o, t]
//   e5m2 * e5m2, 10 columns, sm_80 both factors as bf16
//
// bf16 has every number of every format of eight bits, and a product of two of
// them is exact in f32. So all of these compute the same sums, which differ in
// the order of additions alone, as those of any two libraries.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_FLOAT8FACTORS_H
#define LLMC_RUNTIME_BASE_FLOAT8FACTORS_H

#include "llmc/Runtime/Base/ContractionShape.h"

#include <string>
#include <string_view>

namespace llmc::rt {

/// Whether a contraction may have factors of these types: of one type, or both
/// floats of eight bits.
bool multiplyTogether(DType a, DType b);

/// What a contraction of floats of eight bits becomes.
struct Float8Factors {
  /// Factors that are read from a copy whose dims are those of the batch, then
  /// of the result, then those that are added up, row-major.
  bool copiesA = false, copiesB = false;
  /// Both factors are widened to bf16 instead.
  bool isWidened = false;
  /// Why, where they are: "expected <what there is>, got <what this has>".
  std::string reason;
};

/// Whether tensor cores of `target`, as the command line has it
/// ("cuda:sm_90+cudnn"), multiply floats of eight bits. Those of sm_80 do not.
bool multipliesFloat8(std::string_view target);

/// The factors of `shape` on `target`. As they are where they are not both
/// floats of eight bits, and on processors, whose library takes them so.
Float8Factors chooseFloat8Factors(std::string_view target,
                                  const ContractionShape &shape);

/// `shape` as it is once factors have been copied so.
ContractionShape withCopiedFactors(const ContractionShape &shape, bool copiesA,
                                   bool copiesB);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_FLOAT8FACTORS_H
