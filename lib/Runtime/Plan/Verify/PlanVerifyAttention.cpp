//===- PlanVerifyAttention.cpp - Attention in a library -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor has the indices that the sums need, strides only where an
// operand has the index, and flags that agree; every element that it reaches
// lies in the operands, and each element of a result is written once.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyAttentionTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

namespace {
using Kind = AttentionIndexKind;
using Index = AttentionIndex;

/// An operand of the call and how it is walked.
struct Walk {
  const Operand &operand;
  LibraryOperand named;
  const AttentionStride &stride;
};
} // namespace

static const AttentionStride &strideNamed(std::string_view name) {
  bool isRow = name == "logsumexp" || name == "delta";
  std::string_view wanted = isRow ? "rows" : name == "cotangent" ? "out" : name;
  return *std::find_if(
      attentionStrides.begin(), attentionStrides.end(),
      [&](const AttentionStride &each) { return each.name == wanted; });
}

static Status checkTypes(const AttentionShape &shape) {
  bool isSummed =
      shape.accumulate == DType::f32 || shape.accumulate == DType::f64;
  if (!isFloat(shape.dtype) || !isFloat(shape.bias) || !isSummed) {
    return mismatch(fmt::format(
        "expected an attention of floats, summed in f32 or f64, "
        "got one of {} with a bias of {}, summed in {}",
        nameOf(shape.dtype), nameOf(shape.bias), nameOf(shape.accumulate)));
  }
  return Status::success();
}

static Status checkFlags(const AttentionShape &shape) {
  if (!shape.isCausal && (shape.shift != 0 || shape.hasOffset)) {
    return mismatch(fmt::format(
        "expected no shift and no offset of an attention that is not causal, "
        "got shift {}{}",
        shape.shift, shape.hasOffset ? " and an offset" : ""));
  }
  for (size_t kind = 1; kind < attentionIndexNames.size(); ++kind) {
    auto count = std::count_if(shape.indices.begin(), shape.indices.end(),
                               [&](const Index &index) {
                                 return static_cast<size_t>(index.kind) == kind;
                               });
    if (count != 1) {
      return mismatch(
          fmt::format("expected one index of kind {} of an attention, got {}",
                      attentionIndexNames[kind], count));
    }
  }
  return Status::success();
}

/// A stride of an operand that is not there, or along what it lacks.
static Status checkStrides(const AttentionShape &shape) {
  for (const AttentionStride &each : attentionStrides) {
    bool isThere = each.name == "bias" ? shape.hasBias
                   : each.name == "bits"
                       ? shape.hasDropout()
                       : each.name[0] != 'd' || shape.isGradient;
    for (const Index &index : shape.indices) {
      bool isAlong = each.along[static_cast<size_t>(index.kind)];
      if (index.*each.stride != 0 && !(isThere && isAlong)) {
        return mismatch(fmt::format(
            "expected stride 0 of {} along an index that it lacks, got {}",
            each.name, index.*each.stride));
      }
    }
  }
  return Status::success();
}

/// The index makes more elements of the operand: of dk and dv a batch index
/// without a stride is summed over.
static bool makesElements(const Walk &walk, const Index &index) {
  bool isSummed = index.kind == Kind::batch &&
                  (walk.named.name == "dk" || walk.named.name == "dv") &&
                  index.*walk.stride.stride == 0;
  return walk.stride.along[static_cast<size_t>(index.kind)] && !isSummed;
}

/// The elements that the indices reach, against the operand.
static Status checkReach(const AttentionShape &shape, const Walk &walk) {
  Checked last = 0;
  bool isEmpty = false;
  for (const Index &index : shape.indices) {
    isEmpty |= index.size == 0 && makesElements(walk, index);
    last = last + Checked(index.size - 1) * (index.*walk.stride.stride);
  }
  Checked bytes = (last + 1) * sizeOf(walk.operand.dtype);
  int64_t span = *spanOf(walk.operand);
  if (!isEmpty && !bytes.within(0, span)) {
    return mismatch(fmt::format(
        "expected the indices of an attention to reach at most {} bytes of "
        "operand {}, got {}",
        span, walk.named.name, bytes.valid() ? bytes.value() : -1));
  }
  return Status::success();
}

/// Elements of a result as the indices count them; they must be those of its
/// shape, and no two the same.
static Status checkResult(const AttentionShape &shape, const Walk &walk) {
  Checked elements = 1;
  const Index *repeated = nullptr;
  for (const Index &index : shape.indices) {
    if (makesElements(walk, index)) {
      elements = elements * index.size;
      bool isRepeated = index.size > 1 && index.*walk.stride.stride == 0;
      repeated = isRepeated ? &index : repeated;
    }
  }
  int64_t expected = elementsOf(walk.operand);
  if (!elements.within(expected, expected)) {
    return mismatch(fmt::format(
        "expected the indices of an attention to make {} elements of operand "
        "{}, got {}",
        expected, walk.named.name, elements.valid() ? elements.value() : -1));
  }
  if (repeated && expected != 0) {
    return mismatch(fmt::format(
        "expected a stride of operand {} of an attention along {}, got 0",
        walk.named.name, nameOf(repeated->kind)));
  }
  return Status::success();
}

/// What counters the weights' bits have is a number of half the range at most.
static Status checkCounters(const AttentionShape &shape) {
  Checked last = 0;
  for (const Index &index : shape.indices) {
    last =
        last + Checked(std::max<int64_t>(index.size, 1) - 1) * index.strideBits;
  }
  if (!last.within(0, int64_t(1) << 62)) {
    return mismatch("expected the random bits of an attention to count to at "
                    "most 2^62");
  }
  return Status::success();
}

/// dk and dv are sums over the same batch indices, where both have elements.
static Status checkGroups(const AttentionShape &shape) {
  bool isEmpty = std::any_of(
      shape.indices.begin(), shape.indices.end(), [](const Index &index) {
        return index.size == 0 && index.kind != Kind::batch &&
               index.kind != Kind::row;
      });
  for (const Index &index : shape.indices) {
    if (shape.isGradient && !isEmpty && index.kind == Kind::batch &&
        index.size != 1 && (index.strideDk == 0) != (index.strideDv == 0)) {
      return mismatch(fmt::format(
          "expected dk and dv of an attention to be sums over the same batch "
          "indices, got strides {} and {}",
          index.strideDk, index.strideDv));
    }
  }
  return Status::success();
}

/// Of the offset and the state, which no index walks; else 0.
static int64_t elementsOfScalar(std::string_view name) {
  return name == "offset" ? 1 : name == "state" ? 2 : 0;
}

Status checkAttention(const AttentionShape &shape,
                      const std::vector<Operand> &operands) {
  LLMC_TRY(checkTypes(shape));
  LLMC_TRY(checkFlags(shape));
  LLMC_TRY(checkStrides(shape));
  LLMC_TRY(checkGroups(shape));
  LLMC_TRY(checkCounters(shape));
  std::vector<LibraryOperand> named = operandsOf(LibraryDescriptor(shape));
  for (size_t i = 0; i < named.size(); ++i) {
    if (int64_t count = elementsOfScalar(named[i].name)) {
      if (elementsOf(operands[i]) != count) {
        return mismatch(fmt::format("expected the {} of an attention to have "
                                    "{}, got {}",
                                    named[i].name,
                                    count == 1 ? "one element" : "two elements",
                                    elementsOf(operands[i])));
      }
      continue;
    }
    Walk walk{operands[i], named[i], strideNamed(named[i].name)};
    LLMC_TRY(checkReach(shape, walk));
    if (named[i].isWritten) {
      LLMC_TRY(checkResult(shape, walk));
    }
  }
  return Status::success();
}

} // namespace llmc::rt::plan
