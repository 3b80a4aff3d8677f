//===- CudnnAttention.cpp - Attention as cuDNN takes it -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/CudnnAttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CudnnAttention.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace llmc::rt {

using AttentionStrideOf = int64_t AttentionIndex::*;

static Status lacks(const std::string &text) {
  return makeError(ErrorKind::mismatch, text);
}

//===----------------------------------------------------------------------===//
// What is computed
//===----------------------------------------------------------------------===//

static Status checkAttention(const AttentionShape &shape) {
  bool isNarrow = shape.dtype == DType::bf16 || shape.dtype == DType::f16;
  if (!isNarrow || shape.accumulate != DType::f32) {
    return lacks(fmt::format("expected an attention in bf16 or f16 with sums "
                             "in f32, got one in {} with sums in {}",
                             nameOf(shape.dtype), nameOf(shape.accumulate)));
  }
  if (shape.hasDropout()) {
    return lacks("expected no dropped weights, whose random bits cuDNN draws "
                 "otherwise, got some");
  }
  if (shape.hasBias) {
    return lacks("expected no bias, which may hide whole rows, got one");
  }
  if (shape.hasOffset) {
    return lacks("expected a diagonal that stands where the plan says, got "
                 "one with an offset of the device");
  }
  constexpr int64_t mostShift = int64_t(1) << 30;
  if (shape.isCausal && (shape.shift < 0 || shape.shift > mostShift)) {
    return lacks(fmt::format("expected rows that see a column each, a shift "
                             "of at least 0, got {}",
                             shape.shift));
  }
  return Status::success();
}

namespace {
/// The indices by kind: batch indices that k and v have, and those that share
/// a k and a v.
struct AttentionParts {
  std::vector<AttentionIndex> batches, groups;
  AttentionIndex row, column, depth, value;
};
} // namespace

static Result<AttentionParts> sortIndices(const AttentionShape &shape) {
  AttentionParts found;
  for (const AttentionIndex &index : shape.indices) {
    if (index.size < 1) {
      return lacks("expected sizes of at least 1, got less");
    }
    if (index.kind != AttentionIndexKind::batch) {
      (index.kind == AttentionIndexKind::row      ? found.row
       : index.kind == AttentionIndexKind::column ? found.column
       : index.kind == AttentionIndexKind::depth  ? found.depth
                                                  : found.value) = index;
      continue;
    }
    if (index.size == 1) {
      continue;
    }
    bool isShared = index.strideK == 0;
    bool isGradientShared = index.strideDk == 0;
    if (isShared != (index.strideV == 0) ||
        (shape.isGradient &&
         (isShared != isGradientShared || isShared != (index.strideDv == 0)))) {
      return lacks("expected k and v, and their gradients, to have the same "
                   "heads, got others");
    }
    (isShared ? found.groups : found.batches).push_back(index);
  }
  return found;
}

static Status checkSizes(const AttentionShape &shape,
                         const AttentionParts &indices) {
  constexpr int64_t mostFeatures = 128, step = 8, mostLines = int64_t(1) << 30;
  for (const AttentionIndex *index : {&indices.depth, &indices.value}) {
    if (index->size > mostFeatures || index->size % step != 0) {
      return lacks(fmt::format("expected heads of at most 128 features, a "
                               "multiple of 8, got {}",
                               index->size));
    }
  }
  if (indices.row.size > mostLines || indices.column.size > mostLines) {
    return lacks("expected at most 2^30 rows and columns, got more");
  }
  return shape.isGradient && indices.row.size == 1 && indices.column.size == 1
             ? lacks("expected more than one score in each head, got one")
             : Status::success();
}

//===----------------------------------------------------------------------===//
// Where tensors lie
//===----------------------------------------------------------------------===//

namespace {
struct AttentionDim {
  int64_t size = 1, stride = 0;
};

/// Which batch indices are samples: the first `samples`; the others are heads.
struct Split {
  std::vector<AttentionIndex> samples, heads, keyHeads;
};
} // namespace

/// AttentionParts, major to minor, as one dim; nothing where they lie
/// otherwise.
static std::optional<AttentionDim>
merge(const std::vector<AttentionIndex> &indices, AttentionStrideOf stride) {
  AttentionDim dim;
  for (auto index = indices.rbegin(); index != indices.rend(); ++index) {
    if (dim.size == 1) {
      dim.stride = (*index).*stride;
    } else if ((*index).*stride != dim.size * dim.stride) {
      return std::nullopt;
    }
    dim.size *= index->size;
  }
  return dim;
}

/// A tensor of samples, heads, lines and features. A dim of one element may
/// have any stride: it gets that of a tensor without gaps.
static std::optional<CudnnTensor>
layOutLines(const std::vector<AttentionIndex> &samples,
            const std::vector<AttentionIndex> &heads, AttentionDim lines,
            AttentionDim features, AttentionStrideOf stride) {
  std::optional<AttentionDim> first = merge(samples, stride),
                              second = merge(heads, stride);
  if (!first || !second) {
    return std::nullopt;
  }
  CudnnTensor tensor;
  int64_t gapless = 1;
  for (const AttentionDim &dim : {features, lines, *second, *first}) {
    int64_t own = dim.size > 1 ? dim.stride : gapless;
    if (own < 1) {
      return std::nullopt;
    }
    tensor.sizes.insert(tensor.sizes.begin(), dim.size);
    tensor.strides.insert(tensor.strides.begin(), own);
    gapless = std::max(gapless, dim.size * own);
  }
  return tensor;
}

/// As hardware that copies boxes wants a tensor of 16 bits: features side by
/// side, all else at multiples of 16 bytes.
static bool isCopied(const CudnnTensor &tensor) {
  constexpr int64_t step = 8;
  return tensor.strides[3] == 1 &&
         std::all_of(tensor.strides.begin(), tensor.strides.begin() + 3,
                     [](int64_t stride) { return stride % step == 0; });
}

namespace {
/// A tensor of the graph, by the name of its buffer.
struct AttentionPlace {
  std::string_view name;
  CudnnTensor CudnnAttention::*tensor;
  AttentionStrideOf stride;
  bool ofKeys;
  AttentionIndex AttentionParts::*features; ///< Null of rows, which have none.
};
} // namespace

static std::vector<AttentionPlace> placesOf(const AttentionShape &shape) {
  using A = CudnnAttention;
  std::vector<AttentionPlace> places = {
      {"q", &A::q, &AttentionIndex::strideQ, false, &AttentionParts::depth},
      {"k", &A::k, &AttentionIndex::strideK, true, &AttentionParts::depth},
      {"v", &A::v, &AttentionIndex::strideV, true, &AttentionParts::value},
      {shape.isGradient ? "cotangent" : "out", &A::out,
       &AttentionIndex::strideOut, false, &AttentionParts::value},
      {"logsumexp", &A::rows, &AttentionIndex::strideRows, false, nullptr}};
  if (shape.isGradient) {
    places.insert(places.end(), {{"delta", &A::delta,
                                  &AttentionIndex::strideRows, false, nullptr},
                                 {"dq", &A::dq, &AttentionIndex::strideDq,
                                  false, &AttentionParts::depth},
                                 {"dk", &A::dk, &AttentionIndex::strideDk, true,
                                  &AttentionParts::depth},
                                 {"dv", &A::dv, &AttentionIndex::strideDv, true,
                                  &AttentionParts::value}});
  }
  return places;
}

/// Lays out all tensors; false where one lies otherwise than cuDNN has it.
static bool layOutAttention(const AttentionShape &shape,
                            const AttentionParts &indices, const Split &split,
                            CudnnAttention &made) {
  std::vector<LibraryOperand> operands = operandsOf(LibraryDescriptor(shape));
  for (const AttentionPlace &place : placesOf(shape)) {
    const AttentionIndex &line = place.ofKeys ? indices.column : indices.row;
    AttentionDim features;
    if (place.features) {
      const AttentionIndex &index = indices.*place.features;
      features = {index.size, index.*place.stride};
    }
    std::optional<CudnnTensor> tensor =
        layOutLines(split.samples, place.ofKeys ? split.keyHeads : split.heads,
                    {line.size, line.*place.stride}, features, place.stride);
    if (!tensor || (place.features && !isCopied(*tensor))) {
      return false;
    }
    auto operand = std::find_if(
        operands.begin(), operands.end(),
        [&](const LibraryOperand &each) { return each.name == place.name; });
    tensor->operand = static_cast<unsigned>(operand - operands.begin());
    made.*place.tensor = *std::move(tensor);
  }
  return true;
}

Result<CudnnAttention> findCudnnAttention(const AttentionShape &shape) {
  LLMC_TRY(checkAttention(shape));
  LLMC_TRY_ASSIGN(AttentionParts indices, sortIndices(shape));
  LLMC_TRY(checkSizes(shape, indices));
  CudnnAttention made;
  made.isGradient = shape.isGradient;
  made.dtype = shape.dtype;
  made.scale = shape.scale;
  made.isCausal = shape.isCausal && shape.shift < indices.column.size - 1;
  made.shift = made.isCausal ? shape.shift : 0;
  // The last index is that of the heads, as far as indices lie so.
  auto count = static_cast<int64_t>(indices.batches.size());
  for (int64_t step = 0; step <= count; ++step) {
    int64_t samples = step == 0   ? std::max<int64_t>(0, count - 1)
                      : step == 1 ? count
                                  : count - step;
    Split split;
    auto middle = indices.batches.begin() + samples;
    split.samples.assign(indices.batches.begin(), middle);
    split.keyHeads.assign(middle, indices.batches.end());
    split.heads = split.keyHeads;
    split.heads.insert(split.heads.end(), indices.groups.begin(),
                       indices.groups.end());
    if (layOutAttention(shape, indices, split, made)) {
      return made;
    }
  }
  return lacks("expected samples and heads of one stride each, features side "
               "by side and strides that are multiples of 8, got others");
}

} // namespace llmc::rt
