//===- LoopContraction.cpp - Contractions by plain loops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any types, any strides, zero included: what oneDNN does not express, and the
// reference that its results are compared with. k runs innermost and in order;
// then alpha, c where the contraction accumulates, the bias, the activation.
//
//===----------------------------------------------------------------------===//

#include "../LoopElements.h"
#include "Contraction.h"

#include <fmt/format.h>

#include <cmath>

namespace llmc::rt::cpu {

namespace {

/// Integers have no activation: checked when the slice is made.
uint64_t activate(Activation, uint64_t x) { return x; }

template <typename Acc> Acc activate(Activation activation, Acc x) {
  switch (activation) {
  case Activation::none:
    return x;
  case Activation::relu:
    return x > 0 ? x : Acc(0);
  case Activation::gelu:
    return x / 2 * (1 + std::erf(x * Acc(0.70710678118654752440)));
  case Activation::geluTanh:
    return x / 2 *
           (1 + std::tanh(Acc(0.79788456080286535588) *
                          (x + Acc(0.044715) * x * x * x)));
  case Activation::tanh:
    return std::tanh(x);
  case Activation::logistic:
    return 1 / (1 + std::exp(-x));
  }
  return x;
}

template <typename Elements, typename BiasElements, typename Acc>
class LoopSlice final : public OpSlice {
public:
  explicit LoopSlice(const MatrixShape &shape) : shape(shape) {}

  uint64_t workspaceBytes() const override { return 0; }

  void run(const SliceBuffers &buffers) override {
    int64_t batches = countOf(shape.batch);
    for (int64_t batch = 0; batch < batches; ++batch) {
      Place at = placeOf(shape.batch, batch);
      for (int64_t m = 0; m < shape.m.size; ++m) {
        for (int64_t n = 0; n < shape.n.size; ++n) {
          Place element{at.a + m * shape.m.strideA, at.b + n * shape.n.strideB,
                        at.c + m * shape.m.strideC + n * shape.n.strideC,
                        at.bias + m * shape.m.strideBias +
                            n * shape.n.strideBias};
          runElement(buffers, element);
        }
      }
    }
  }

private:
  struct Place {
    int64_t a = 0, b = 0, c = 0, bias = 0;
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
      place.bias += at * indices[i].strideBias;
    }
    return place;
  }

  void runElement(const SliceBuffers &buffers, Place at) const {
    const ContractionShape &what = shape.shape;
    Acc sum = 0;
    int64_t outer = countOf(shape.outerK);
    for (int64_t o = 0; o < outer; ++o) {
      Place inner = placeOf(shape.outerK, o);
      for (int64_t k = 0; k < shape.k.size; ++k) {
        sum += Elements::load(what.a, buffers.a,
                              at.a + inner.a + k * shape.k.strideA) *
               Elements::load(what.b, buffers.b,
                              at.b + inner.b + k * shape.k.strideB);
      }
    }
    if (what.alpha != 1) {
      sum = static_cast<Acc>(static_cast<Acc>(what.alpha) * sum);
    }
    if (what.beta != 0) {
      sum += Elements::load(what.c, buffers.c, at.c);
    }
    if (what.hasBias) {
      sum += BiasElements::load(what.bias, buffers.bias, at.bias);
    }
    Elements::store(what.c, buffers.c, at.c, activate(what.activation, sum));
  }

  MatrixShape shape;
};

template <typename Elements, typename BiasElements, typename Acc>
std::unique_ptr<OpSlice> makeSlice(const MatrixShape &shape) {
  return std::make_unique<LoopSlice<Elements, BiasElements, Acc>>(shape);
}

} // namespace

Result<std::unique_ptr<OpSlice>> makeLoopSlice(const MatrixShape &shape) {
  DType a = shape.shape.a, b = shape.shape.b, c = shape.shape.c;
  bool floats = isFloat(a) && isFloat(b) && isFloat(c);
  if (!floats && (isFloat(a) || isFloat(b) || isFloat(c))) {
    return makeError(
        ErrorKind::unsupported,
        fmt::format("expected operands of contraction '{}' to be all float or "
                    "all integer, got {}, {}, {}",
                    shape.name, nameOf(a), nameOf(b), nameOf(c)));
  }
  if (!floats && shape.shape.alpha != 1) {
    return makeError(ErrorKind::unsupported,
                     fmt::format("expected a factor of 1 in integer "
                                 "contraction '{}', got {}",
                                 shape.name, shape.shape.alpha));
  }
  using Single = AnyFloat<float>;
  using Double = AnyFloat<double>;
  if (!floats) {
    return makeSlice<AnyInteger, AnyInteger, uint64_t>(shape);
  }
  bool wide = shape.shape.accumulate == DType::f64;
  bool equal = a == b && b == c;
  if (equal && a == DType::f64) {
    return makeSlice<Typed<double>, Double, double>(shape);
  }
  if (equal && a == DType::f32 && !wide) {
    return makeSlice<Typed<float>, Single, float>(shape);
  }
  return wide ? makeSlice<Double, Double, double>(shape)
              : makeSlice<Single, Single, float>(shape);
}

} // namespace llmc::rt::cpu
