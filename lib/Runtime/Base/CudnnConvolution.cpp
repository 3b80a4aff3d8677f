//===- CudnnConvolution.cpp - Convolutions as cuDNN takes them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Base/CudnnConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CudnnConvolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace llmc::rt {

using Index = ContractionIndex;
using Window = ConvolutionWindow;
using Kind = ContractionIndexKind;

static Status refuse(const std::string &text) {
  return makeError(ErrorKind::mismatch, text);
}

//===----------------------------------------------------------------------===//
// What all three have
//===----------------------------------------------------------------------===//

/// Of cuDNN's engines none multiplies narrow floats into a wider result.
static Status checkTypes(const ConvolutionShape &shape) {
  DType sums = shape.c == DType::f64 ? DType::f64 : DType::f32;
  bool isKnown = shape.c == DType::f64 || shape.c == DType::f32 ||
                 shape.c == DType::bf16 || shape.c == DType::f16;
  if (isKnown && shape.a == shape.c && shape.b == shape.c &&
      shape.accumulate == sums) {
    return Status::success();
  }
  return refuse(fmt::format("expected operands and a result of one type f64, "
                            "f32, bf16 or f16 with sums in f64 or f32, got {} "
                            "times {} into {} with sums in {}",
                            nameOf(shape.a), nameOf(shape.b), nameOf(shape.c),
                            nameOf(shape.accumulate)));
}

namespace {
/// The indices of a shape by their kind; those that it lacks have size 1.
struct Indices {
  Index batch, m, n, k;
};
} // namespace

static Result<Indices> getIndices(const ConvolutionShape &shape) {
  Indices found;
  Index *const places[] = {&found.batch, &found.m, &found.n, &found.k};
  bool isTaken[4] = {};
  for (const Index &index : shape.indices) {
    auto kind = static_cast<size_t>(index.kind);
    if (index.size == 1) {
      continue;
    }
    if (isTaken[kind]) {
      return refuse(fmt::format("expected one index {} beside the windows, got "
                                "several that lie apart",
                                nameOf(index.kind)));
    }
    isTaken[kind] = true;
    *places[kind] = index;
  }
  return found;
}

static Status checkValues(const ConvolutionShape &shape) {
  LLMC_TRY(checkTypes(shape));
  constexpr size_t mostWindows = 3;
  if (shape.windows.size() > mostWindows) {
    return refuse(fmt::format("expected at most 3 windows, got {}",
                              shape.windows.size()));
  }
  if (shape.hasBias) {
    return refuse("expected no bias, which kernels add, got one");
  }
  if (shape.beta != 0 && shape.beta != 1) {
    return refuse(fmt::format("expected a beta of 0 or 1, got {}", shape.beta));
  }
  bool isEmpty =
      std::any_of(shape.indices.begin(), shape.indices.end(),
                  [](const Index &index) { return index.size < 1; }) ||
      std::any_of(shape.windows.begin(), shape.windows.end(),
                  [](const Window &window) {
                    return window.sizeA < 1 || window.sizeB < 1 ||
                           window.sizeC < 1 || window.dilationA < 1 ||
                           window.dilationB < 1 || window.stepC < 1;
                  });
  return isEmpty ? refuse("expected sizes and steps of at least 1, got less")
                 : Status::success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// One place of x, w and y.
struct Place {
  int64_t sizeX, sizeW, sizeY, strideX, strideW, strideY;
  int64_t stride = 1, dilation = 1, before = 0, after = 0, offsetX = 0;
  bool isFlipped = false, isEither = false; ///< Either way is the same.
};
} // namespace

/// As the equation of `Library.h` is solved for the position of x. None where
/// the steps are not those of the direction.
static std::optional<Place> solve(const Window &window,
                                  CudnnDirection direction) {
  const Window &v = window;
  switch (direction) {
  case CudnnDirection::forward:
    // x = stepC y + dilationB w - low
    if (v.dilationA != 1) {
      return std::nullopt;
    }
    return Place{v.sizeA,   v.sizeB,      v.sizeC,     v.strideA, v.strideB,
                 v.strideC, v.stepC,      v.dilationB, v.low,     0,
                 0,         v.isReversed, v.sizeB == 1};
  case CudnnDirection::data:
    // x = dilationA y - dilationB w' + low: from the end of w to its beginning
    if (v.stepC != 1) {
      return std::nullopt;
    }
    return Place{v.sizeC,     v.sizeB,     v.sizeA,
                 v.strideC,   v.strideB,   v.strideA,
                 v.dilationA, v.dilationB, v.dilationB * (v.sizeB - 1) - v.low,
                 0,           0,           !v.isReversed,
                 v.sizeB == 1};
  case CudnnDirection::filter:
    // x = stepC w + dilationB y - low
    if (v.dilationA != 1 || (v.isReversed && v.sizeB > 1)) {
      return std::nullopt;
    }
    return Place{v.sizeA,   v.sizeC,     v.sizeB,     v.strideA, v.strideC,
                 v.strideB, v.dilationB, v.stepC,     v.low,     0,
                 0,         false,       v.sizeC == 1};
  }
  return std::nullopt;
}

/// Padding without negative numbers: what lies before and after all that is
/// read of x is left out of it. Of an x that is written nothing may be left
/// out.
static bool pad(Place &place, bool isWritten) {
  int64_t last = (place.sizeY - 1) * place.stride +
                 (place.sizeW - 1) * place.dilation - place.before;
  if (place.before < 0) {
    if (isWritten || -place.before >= place.sizeX) {
      return false;
    }
    place.offsetX = -place.before * place.strideX;
    place.sizeX += place.before;
    last += place.before;
    place.before = 0;
  }
  place.after = std::max<int64_t>(0, last + 1 - place.sizeX);
  // As many elements of x may follow the last one read as are no step of y.
  int64_t unread = place.sizeX - 1 - last;
  if (unread >= place.stride) {
    if (isWritten || last < 0) {
      return false;
    }
    place.sizeX = last + 1;
  }
  return true;
}

/// The places of all windows, or of none: all filters are flipped, or none.
static std::vector<Place> findPlaces(const ConvolutionShape &shape,
                                     CudnnDirection direction) {
  std::vector<Place> places;
  for (const Window &window : shape.windows) {
    std::optional<Place> place = solve(window, direction);
    if (!place || !pad(*place, direction == CudnnDirection::data)) {
      return {};
    }
    places.push_back(*place);
  }
  bool isFlipped =
      std::any_of(places.begin(), places.end(), [](const Place &place) {
        return place.isFlipped && !place.isEither;
      });
  for (Place &place : places) {
    place.isFlipped = place.isEither ? isFlipped : place.isFlipped;
    if (place.isFlipped != isFlipped) {
      return {};
    }
  }
  return places;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

namespace {
/// A dim of a tensor: groups are the major part where it has them.
struct Dim {
  int64_t size, stride;
};
} // namespace

static std::optional<Dim> join(const Index &groups, const Index &within,
                               int64_t Index::*stride) {
  if (groups.size == 1) {
    return Dim{within.size, within.*stride};
  }
  if (within.size == 1) {
    return Dim{groups.size, groups.*stride};
  }
  if (groups.*stride != within.size * (within.*stride)) {
    return std::nullopt;
  }
  return Dim{groups.size * within.size, within.*stride};
}

/// Sizes and strides of `tensor`. A dim of one element may have any stride:
/// it gets that of a tensor without gaps.
static bool layOut(CudnnTensor &tensor, unsigned operand,
                   std::optional<Dim> first, std::optional<Dim> second,
                   const std::vector<Dim> &places) {
  if (!first || !second) {
    return false;
  }
  std::vector<Dim> dims = {*first, *second};
  constexpr size_t fewestPlaces = 2;
  for (size_t i = places.size(); i < fewestPlaces; ++i) {
    dims.push_back({1, 0});
  }
  dims.insert(dims.end(), places.begin(), places.end());
  int64_t extent = 1;
  for (const Dim &dim : dims) {
    if (dim.size > 1 && dim.stride < 1) {
      return false;
    }
    extent = std::max(extent, dim.size > 1 ? dim.size * dim.stride : 1);
  }
  tensor.operand = operand;
  for (size_t i = dims.size(); i-- > 0;) {
    const Dim &dim = dims[i];
    // Of places: as far as the next one reaches.
    int64_t gapless = i < 2 || i + 1 == dims.size()
                          ? (i == 0 ? extent : 1)
                          : dims[i + 1].size * tensor.strides.front();
    tensor.sizes.insert(tensor.sizes.begin(), dim.size);
    tensor.strides.insert(tensor.strides.begin(),
                          dim.size > 1 ? dim.stride : gapless);
  }
  return true;
}

/// Puts the three tensors together; false where groups lie otherwise than
/// cuDNN has them, or an element lies at several positions.
static bool layOutAll(const Indices &indices, const std::vector<Place> &places,
                      CudnnConvolution &made) {
  const auto &[batch, m, n, k] = indices;
  auto dimOf = [](const Index &index, int64_t Index::*stride) {
    return std::optional<Dim>({index.size, index.*stride});
  };
  constexpr auto a = &Index::strideA, b = &Index::strideB, c = &Index::strideC;
  std::vector<Dim> ofX, ofW, ofY;
  for (const Place &place : places) {
    ofX.push_back({place.sizeX, place.strideX});
    ofW.push_back({place.sizeW, place.strideW});
    ofY.push_back({place.sizeY, place.strideY});
  }
  switch (made.direction) {
  case CudnnDirection::forward:
    return layOut(made.x, 0, dimOf(m, a), join(batch, k, a), ofX) &&
           layOut(made.w, 1, join(batch, n, b), dimOf(k, b), ofW) &&
           layOut(made.y, 2, dimOf(m, c), join(batch, n, c), ofY);
  case CudnnDirection::data:
    return layOut(made.y, 0, dimOf(m, a), join(batch, k, a), ofY) &&
           layOut(made.w, 1, join(batch, k, b), dimOf(n, b), ofW) &&
           layOut(made.x, 2, dimOf(m, c), join(batch, n, c), ofX);
  case CudnnDirection::filter:
    return layOut(made.x, 0, dimOf(k, a), join(batch, m, a), ofX) &&
           layOut(made.y, 1, dimOf(k, b), join(batch, n, b), ofY) &&
           layOut(made.w, 2, join(batch, n, c), dimOf(m, c), ofW);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

/// As cuDNN wants a filter.
static bool isGapless(const CudnnTensor &tensor) {
  int64_t count = 1, last = 0;
  for (size_t i = 0; i < tensor.sizes.size(); ++i) {
    count *= tensor.sizes[i];
    last += (tensor.sizes[i] - 1) * tensor.strides[i];
  }
  return last + 1 == count;
}

static std::optional<CudnnConvolution>
tryDirection(const ConvolutionShape &shape, const Indices &indices,
             CudnnDirection direction) {
  std::vector<Place> places = findPlaces(shape, direction);
  CudnnConvolution made;
  made.direction = direction;
  if (places.size() != shape.windows.size() ||
      !layOutAll(indices, places, made) || !isGapless(made.w)) {
    return std::nullopt;
  }
  // What windows lack of two places has one element.
  constexpr size_t fewestPlaces = 2;
  size_t lifted = fewestPlaces - std::min(fewestPlaces, places.size());
  for (auto *list : {&made.padsBefore, &made.padsAfter}) {
    list->assign(lifted, 0);
  }
  for (auto *list : {&made.strides, &made.dilations}) {
    list->assign(lifted, 1);
  }
  for (const Place &place : places) {
    made.padsBefore.push_back(place.before);
    made.padsAfter.push_back(place.after);
    made.strides.push_back(place.stride);
    made.dilations.push_back(place.dilation);
    made.isFlipped = place.isFlipped;
    made.x.offset += place.offsetX;
  }
  return made;
}

/// Several directions may compute one shape. A filter that is not flipped goes
/// first, as more of the engines have it; then the direction whose filter is
/// smaller than the response.
static std::vector<CudnnDirection> orderOf(const ConvolutionShape &shape) {
  double summed = 1, places = 1;
  bool isReversed = false;
  for (const Window &window : shape.windows) {
    summed *= static_cast<double>(window.sizeB);
    places *= static_cast<double>(window.sizeC);
    isReversed = isReversed || (window.isReversed && window.sizeB > 1);
  }
  using D = CudnnDirection;
  if (isReversed) {
    return {D::data, D::forward};
  }
  return summed > places ? std::vector<D>{D::filter, D::forward, D::data}
                         : std::vector<D>{D::forward, D::filter, D::data};
}

Result<CudnnConvolution> findCudnnConvolution(const ConvolutionShape &shape) {
  LLMC_TRY(checkValues(shape));
  LLMC_TRY_ASSIGN(Indices indices, getIndices(shape));
  bool hasPlaces = shape.windows.empty();
  for (CudnnDirection direction : orderOf(shape)) {
    hasPlaces = hasPlaces || !findPlaces(shape, direction).empty();
    if (auto made = tryDirection(shape, indices, direction)) {
      return *made;
    }
  }
  return refuse(
      hasPlaces
          ? "expected groups that are the major part of features, strides of "
            "at least 1, and a kernel without gaps, got others"
          : "expected the steps and the padding of a convolution or of one of "
            "its gradients, got others");
}

} // namespace llmc::rt
