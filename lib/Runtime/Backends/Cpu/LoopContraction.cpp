//===- LoopContraction.cpp - Contractions by plain loops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any types, any strides, zero included: what oneDNN does not express, and the
// reference that its results are compared with. k runs innermost and in order;
// c is added last where the contraction accumulates.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include <fmt/format.h>

namespace llmc::rt::cpu {

namespace {

template <typename T> struct Typed {
  static T load(DType, const void *base, int64_t i) {
    return static_cast<const T *>(base)[i];
  }
  static void store(DType, void *base, int64_t i, T value) {
    static_cast<T *>(base)[i] = value;
  }
};

/// Elements of any float type, computed in Acc.
template <typename Acc> struct AnyFloat {
  static Acc load(DType type, const void *base, int64_t i) {
    return static_cast<Acc>(loadElement(type, base, i));
  }
  static void store(DType type, void *base, int64_t i, Acc value) {
    storeElement(type, base, i, static_cast<double>(value));
  }
};

/// Elements of any integer type, computed modulo 2^64; booleans are added by
/// "or".
struct AnyInteger {
  static uint64_t load(DType type, const void *base, int64_t i) {
    return static_cast<uint64_t>(loadInteger(type, base, i));
  }
  static void store(DType type, void *base, int64_t i, uint64_t value) {
    storeInteger(type, base, i,
                 type == DType::i1 ? value != 0 : static_cast<int64_t>(value));
  }
};

template <typename Elements, typename Acc>
class LoopSlice final : public ContractionSlice {
public:
  explicit LoopSlice(const MatrixShape &shape) : shape(shape) {}

  uint64_t scratchBytes() const override { return 0; }

  void run(const void *a, const void *b, void *c, void *) override {
    int64_t batches = countOf(shape.batch);
    for (int64_t batch = 0; batch < batches; ++batch) {
      Place at = placeOf(shape.batch, batch);
      for (int64_t m = 0; m < shape.m.size; ++m) {
        for (int64_t n = 0; n < shape.n.size; ++n) {
          Place element{at.a + m * shape.m.strideA, at.b + n * shape.n.strideB,
                        at.c + m * shape.m.strideC + n * shape.n.strideC};
          runElement(a, b, c, element);
        }
      }
    }
  }

private:
  struct Place {
    int64_t a = 0, b = 0, c = 0;
  };

  static int64_t countOf(const std::vector<ContractionIndex> &indices) {
    int64_t count = 1;
    for (const ContractionIndex &index : indices) {
      count *= index.size;
    }
    return count;
  }

  /// Where the operands stand at position `rest` of a row-major walk.
  static Place placeOf(const std::vector<ContractionIndex> &indices,
                       int64_t rest) {
    Place place;
    for (size_t i = indices.size(); i-- > 0; rest /= indices[i].size) {
      int64_t at = rest % indices[i].size;
      place.a += at * indices[i].strideA;
      place.b += at * indices[i].strideB;
      place.c += at * indices[i].strideC;
    }
    return place;
  }

  void runElement(const void *a, const void *b, void *c, Place at) const {
    Acc sum = 0;
    int64_t outer = countOf(shape.outerK);
    for (int64_t o = 0; o < outer; ++o) {
      Place inner = placeOf(shape.outerK, o);
      for (int64_t k = 0; k < shape.k.size; ++k) {
        sum +=
            Elements::load(shape.a, a, at.a + inner.a + k * shape.k.strideA) *
            Elements::load(shape.b, b, at.b + inner.b + k * shape.k.strideB);
      }
    }
    if (shape.alpha != 1) {
      sum = static_cast<Acc>(static_cast<Acc>(shape.alpha) * sum);
    }
    if (shape.addToResult) {
      sum += Elements::load(shape.c, c, at.c);
    }
    Elements::store(shape.c, c, at.c, sum);
  }

  MatrixShape shape;
};

} // namespace

Result<std::unique_ptr<ContractionSlice>>
makeLoopSlice(const MatrixShape &shape) {
  using Slice = std::unique_ptr<ContractionSlice>;
  DType a = shape.a, b = shape.b, c = shape.c;
  bool floats = isFloat(a) && isFloat(b) && isFloat(c);
  if (!floats && (isFloat(a) || isFloat(b) || isFloat(c))) {
    return makeError(
        ErrorKind::unsupported,
        fmt::format("expected operands of contraction '{}' to be all float or "
                    "all integer, got {}, {}, {}",
                    shape.name, nameOf(a), nameOf(b), nameOf(c)));
  }
  if (!floats && shape.alpha != 1) {
    return makeError(ErrorKind::unsupported,
                     fmt::format("expected a factor of 1 in integer "
                                 "contraction '{}', got {}",
                                 shape.name, shape.alpha));
  }
  if (!floats) {
    return Slice(std::make_unique<LoopSlice<AnyInteger, uint64_t>>(shape));
  }
  bool wide = shape.accumulate == DType::f64;
  bool equal = a == b && b == c;
  if (equal && a == DType::f64) {
    return Slice(std::make_unique<LoopSlice<Typed<double>, double>>(shape));
  }
  if (equal && a == DType::f32 && !wide) {
    return Slice(std::make_unique<LoopSlice<Typed<float>, float>>(shape));
  }
  if (wide) {
    return Slice(std::make_unique<LoopSlice<AnyFloat<double>, double>>(shape));
  }
  return Slice(std::make_unique<LoopSlice<AnyFloat<float>, float>>(shape));
}

} // namespace llmc::rt::cpu
