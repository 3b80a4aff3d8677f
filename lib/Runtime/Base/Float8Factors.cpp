//===- Float8Factors.cpp - Factors of eight bits on GPUs ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/Float8FactorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/Float8Factors.h"
#include "llmc/Runtime/Base/MatmulPlan.h"

#include <array>

namespace llmc::rt {

using Index = ContractionIndex;
using Kind = ContractionIndexKind;

bool multiplyTogether(DType a, DType b) {
  return a == b || (findSmallFloat(a) && findSmallFloat(b));
}

bool multipliesFloat8(std::string_view target) {
  return target.substr(0, target.find('+')) != "cuda:sm_80";
}

/// Row-major along `stride`: the batch, the kind that the factor has of the
/// result, and k.
static void layOutFactor(std::vector<Index> &indices, Kind own,
                         int64_t Index::*stride) {
  int64_t step = 1;
  for (Kind kind : {Kind::k, own, Kind::batch}) {
    for (size_t i = indices.size(); i-- > 0;) {
      if (indices[i].kind == kind) {
        indices[i].*stride = step;
        step *= indices[i].size;
      }
    }
  }
}

ContractionShape withCopiedFactors(const ContractionShape &shape, bool copiesA,
                                   bool copiesB) {
  ContractionShape copied = shape;
  if (copiesA) {
    layOutFactor(copied.indices, Kind::m, &Index::strideA);
  }
  if (copiesB) {
    layOutFactor(copied.indices, Kind::n, &Index::strideB);
  }
  return copied;
}

/// Elements of the smaller factor are copied rather than those of the other.
static bool isSmallerA(const ContractionShape &shape) {
  int64_t m = 1, n = 1;
  for (const Index &index : shape.indices) {
    m *= index.kind == Kind::m ? index.size : 1;
    n *= index.kind == Kind::n ? index.size : 1;
  }
  return m <= n;
}

Float8Factors chooseFloat8Factors(std::string_view target,
                                  const ContractionShape &shape) {
  Float8Factors factors;
  bool isGpu = target.substr(0, 4) == "cuda";
  if (!isGpu || !findSmallFloat(shape.a) || !findSmallFloat(shape.b)) {
    return factors;
  }
  factors.isWidened = true;
  if (!multipliesFloat8(target)) {
    factors.reason = "expected tensor cores for floats of 8 bits, got sm_80";
    return factors;
  }
  bool first = isSmallerA(shape);
  const std::array<std::array<bool, 2>, 4> ways = {
      {{false, false}, {first, !first}, {!first, first}, {true, true}}};
  for (auto [copiesA, copiesB] : ways) {
    Result<cuda::MatmulPlan> plan = cuda::planMatmul(
        withCopiedFactors(shape, copiesA, copiesB), "contraction");
    if (plan.ok()) {
      return {copiesA, copiesB, false, ""};
    }
    factors.reason = plan.message();
  }
  return factors;
}

} // namespace llmc::rt
