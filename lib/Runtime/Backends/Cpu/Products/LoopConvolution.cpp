//===- LoopConvolution.cpp - Convolutions by plain loops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any types, strides, dilations and groups: what oneDNN does not express, and
// the reference that its results are compared with. A run of results along the
// last index of n is summed at once, over the elements of b that meet an
// element of a, in order, and over k; then c where the convolution accumulates,
// and the bias.
//
//===----------------------------------------------------------------------===//

#include "../LoopElements.h"
#include "Convolution.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace llmc::rt::cpu {

namespace {

/// Offsets in elements.
struct Place {
  int64_t a = 0, b = 0, c = 0, bias = 0;

  void move(const ContractionIndex &index, int64_t by) {
    a += by * index.strideA;
    b += by * index.strideB;
    c += by * index.strideC;
    bias += by * index.strideBias;
  }
};

int64_t countOf(const std::vector<ContractionIndex> &indices) {
  int64_t count = 1;
  for (const ContractionIndex &index : indices) {
    count *= index.size;
  }
  return count;
}

/// Where the operands stand at position `rest` of a row-major walk.
Place placeAt(const std::vector<ContractionIndex> &indices, int64_t rest) {
  Place place;
  for (size_t i = indices.size(); i-- > 0; rest /= indices[i].size) {
    place.move(indices[i], rest % indices[i].size);
  }
  return place;
}

/// Takes the last index of `kind` out of `indices`; one of size 1 if there is
/// none.
ContractionIndex takeLast(std::vector<ContractionIndex> &indices,
                          ContractionIndexKind kind) {
  ContractionIndex last;
  for (size_t i = indices.size(); i-- > 0;) {
    if (indices[i].kind == kind) {
      last = indices[i];
      indices.erase(indices.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
  return last;
}

template <typename Elements, typename Acc>
class LoopConvolution final : public OpSlice {
public:
  explicit LoopConvolution(const ConvolutionShape &shape) : what(shape) {
    for (const ContractionIndex &index : shape.indices) {
      (index.kind == ContractionIndexKind::k ? outerTerms : outer)
          .push_back(index);
    }
    line = takeLast(outer, ContractionIndexKind::n);
    term = takeLast(outerTerms, ContractionIndexKind::k);
  }

  uint64_t workspaceBytes() const override { return 0; }

  void run(const SliceBuffers &buffers) override {
    int64_t count = countOf(outer);
    for (int64_t i = 0; i < count; ++i) {
      runPlaces(buffers, placeAt(outer, i), 0);
    }
  }

private:
  /// Results that are summed at once.
  static constexpr int64_t mostSums = 64;
  using Sums = std::array<Acc, mostSums>;
  using Windows = std::array<int64_t, 32>;

  void runPlaces(const SliceBuffers &buffers, Place at, size_t window) {
    if (window == what.windows.size()) {
      for (int64_t first = 0; first < line.size; first += mostSums) {
        Place begin = at;
        begin.move(line, first);
        runElements(buffers, begin, std::min(mostSums, line.size - first));
      }
      return;
    }
    const ConvolutionWindow &w = what.windows[window];
    for (places[window] = 0; places[window] < w.sizeC; ++places[window]) {
      runPlaces(buffers, at, window + 1);
      at.c += w.strideC;
    }
  }

  void runElements(const SliceBuffers &buffers, Place at, int64_t count) {
    Sums sums{};
    addWindows(buffers, at, 0, count, sums);
    for (int64_t n = 0; n < count; ++n, at.move(line, 1)) {
      Acc sum = sums[n];
      if (what.beta != 0) {
        sum += Elements::load(what.c, buffers.c, at.c);
      }
      if (what.hasBias) {
        sum += AnyBias::load(what.bias, buffers.bias, at.bias);
      }
      Elements::store(what.c, buffers.c, at.c, sum);
    }
  }

  /// Adds the terms of the elements of b that meet one of a in all windows from
  /// `window` on.
  void addWindows(const SliceBuffers &buffers, Place at, size_t window,
                  int64_t count, Sums &sums) const {
    if (window == what.windows.size()) {
      addProducts(buffers, at, count, sums);
      return;
    }
    const ConvolutionWindow &w = what.windows[window];
    for (int64_t j = 0; j < w.sizeB; ++j) {
      int64_t element = w.isReversed ? w.sizeB - 1 - j : j;
      int64_t dilated =
          w.stepC * places[window] + w.dilationB * element - w.low;
      if (dilated < 0 || dilated % w.dilationA != 0 ||
          dilated / w.dilationA >= w.sizeA) {
        continue;
      }
      Place there = at;
      there.a += dilated / w.dilationA * w.strideA;
      there.b += j * w.strideB;
      addWindows(buffers, there, window + 1, count, sums);
    }
  }

  void addProducts(const SliceBuffers &buffers, Place at, int64_t count,
                   Sums &sums) const {
    int64_t terms = countOf(outerTerms);
    for (int64_t o = 0; o < terms; ++o) {
      Place inner = placeAt(outerTerms, o);
      inner.a += at.a;
      inner.b += at.b;
      for (int64_t k = 0; k < term.size; ++k, inner.move(term, 1)) {
        Acc x = Elements::load(what.a, buffers.a, inner.a);
        addLine(buffers, x, inner.b, count, sums);
      }
    }
  }

  void addLine(const SliceBuffers &buffers, Acc x, int64_t b, int64_t count,
               Sums &sums) const {
    if (line.strideB == 1) { // Several at a time.
      for (int64_t n = 0; n < count; ++n) {
        sums[n] += x * Elements::load(what.b, buffers.b, b + n);
      }
      return;
    }
    for (int64_t n = 0; n < count; ++n) {
      sums[n] += x * Elements::load(what.b, buffers.b, b + n * line.strideB);
    }
  }

  using AnyBias =
      std::conditional_t<std::is_integral_v<Acc>, AnyInteger, AnyFloat<Acc>>;

  ConvolutionShape what;
  std::vector<ContractionIndex> outer, outerTerms;
  /// The index along which results are summed at once, and the innermost k.
  ContractionIndex line, term;
  /// Where the windows stand.
  Windows places{};
};

template <typename Elements, typename Acc>
std::unique_ptr<OpSlice> makeLoops(const ConvolutionShape &shape) {
  return std::make_unique<LoopConvolution<Elements, Acc>>(shape);
}

} // namespace

std::unique_ptr<OpSlice> makeLoopConvolution(const ConvolutionShape &shape) {
  if (!isFloat(shape.c)) {
    return makeLoops<AnyInteger, uint64_t>(shape);
  }
  bool wide = shape.accumulate == DType::f64;
  bool equal = shape.a == shape.b && shape.b == shape.c;
  if (equal && shape.a == DType::f64) {
    return makeLoops<Typed<double>, double>(shape);
  }
  if (equal && shape.a == DType::f32 && !wide) {
    return makeLoops<Typed<float>, float>(shape);
  }
  return wide ? makeLoops<AnyFloat<double>, double>(shape)
              : makeLoops<AnyFloat<float>, float>(shape);
}

} // namespace llmc::rt::cpu
