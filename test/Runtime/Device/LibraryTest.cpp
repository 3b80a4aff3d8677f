//===- LibraryTest.cpp - What every device computes of a descriptor -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions and convolutions with each part of their descriptor, on every
// world of test/Runtime/Comm/Worlds.h, against plain sums in double.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace llmc::rt::test {
namespace {

using Kind = ContractionIndexKind;
using Index = ContractionIndex;
const Origin contractionOrigin{"contraction", "model.py:88"};

/// In [-1, 1], without a pattern that sums cancel.
double element(int64_t i, int salt) {
  return std::sin(1.7 * static_cast<double>(i) + salt);
}

double activate(Activation activation, double x) {
  switch (activation) {
  case Activation::none:
    return x;
  case Activation::relu:
    return std::max(x, 0.0);
  case Activation::gelu:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case Activation::geluTanh:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                          (x + 0.044715 * std::pow(x, 3))));
  case Activation::tanh:
    return std::tanh(x);
  case Activation::logistic:
    return 1 / (1 + std::exp(-x));
  }
  return NAN;
}

int64_t extentOf(const ContractionShape &shape, int64_t Index::*stride) {
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  return extent;
}

/// Positions in a, b, the bias and c.
struct Place {
  int64_t a = 0, b = 0, bias = 0, c = 0;

  Place moved(const Index &index, int64_t i) const {
    return {a + i * index.strideA, b + i * index.strideB,
            bias + i * index.strideBias, c + i * index.strideC};
  }
};

template <typename Shape, typename Visit>
void forEach(const Shape &shape, bool isSum, size_t level, Place at,
             Visit visit) {
  if (level == shape.indices.size()) {
    visit(at);
    return;
  }
  const Index &index = shape.indices[level];
  bool isHere = (index.kind == Kind::k) == isSum;
  for (int64_t i = 0; i < (isHere ? index.size : 1); ++i) {
    forEach(shape, isSum, level + 1, at.moved(index, i), visit);
  }
}

/// c before a call, by position.
double before(int64_t i) { return element(i, 4); }

std::vector<double> reference(const ContractionShape &shape) {
  std::vector<double> out(extentOf(shape, &Index::strideC));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = before(static_cast<int64_t>(i));
  }
  forEach(shape, false, 0, {}, [&](Place at) {
    double sum = 0;
    forEach(shape, true, 0, at,
            [&](Place k) { sum += element(k.a, 1) * element(k.b, 2); });
    sum *= shape.alpha;
    sum += shape.beta * before(at.c);
    sum += shape.hasBias ? element(at.bias, 3) : 0;
    out[at.c] = activate(shape.activation, sum);
  });
  return out;
}

using Window = ConvolutionWindow;

/// With the windows' elements in a, b or c.
int64_t extentOf(const ConvolutionShape &shape, int64_t Index::*stride) {
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  for (const Window &w : shape.windows) {
    extent += stride == &Index::strideA   ? (w.sizeA - 1) * w.strideA
              : stride == &Index::strideB ? (w.sizeB - 1) * w.strideB
              : stride == &Index::strideC ? (w.sizeC - 1) * w.strideC
                                          : 0;
  }
  return extent;
}

/// Visits the places of c, and for each the elements of a and b that meet there
/// (`isSum`).
template <typename Visit>
void forEachWindow(const ConvolutionShape &shape, bool isSum, size_t level,
                   std::vector<int64_t> &places, Place at, Visit visit) {
  if (level == shape.windows.size()) {
    visit(at);
    return;
  }
  const Window &w = shape.windows[level];
  if (!isSum) {
    for (places[level] = 0; places[level] < w.sizeC; ++places[level]) {
      Place there = at;
      there.c += places[level] * w.strideC;
      forEachWindow(shape, isSum, level + 1, places, there, visit);
    }
    return;
  }
  for (int64_t i = 0; i < w.sizeA; ++i) {
    for (int64_t j = 0; j < w.sizeB; ++j) {
      int64_t counted = w.isReversed ? w.sizeB - 1 - j : j;
      if (w.dilationA * i ==
          w.stepC * places[level] + w.dilationB * counted - w.low) {
        Place there = at;
        there.a += i * w.strideA;
        there.b += j * w.strideB;
        forEachWindow(shape, isSum, level + 1, places, there, visit);
      }
    }
  }
}

std::vector<double> reference(const ConvolutionShape &shape) {
  std::vector<double> out(extentOf(shape, &Index::strideC));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = before(static_cast<int64_t>(i));
  }
  std::vector<int64_t> places(shape.windows.size());
  forEach(shape, false, 0, {}, [&](Place result) {
    forEachWindow(shape, false, 0, places, result, [&](Place at) {
      double sum = shape.beta * before(at.c);
      sum += shape.hasBias ? element(at.bias, 3) : 0;
      forEach(shape, true, 0, at, [&](Place k) {
        forEachWindow(shape, true, 0, places, k, [&](Place term) {
          sum += element(term.a, 1) * element(term.b, 2);
        });
      });
      out[at.c] = sum;
    });
  });
  return out;
}

class LibraryTest : public testing::TestWithParam<WorldKind> {
protected:
  /// The greatest difference from plain sums.
  template <typename Shape>
  double greatestError(const Shape &descriptor, int threads) {
    std::unique_ptr<World> world = GetParam().make(1);
    Device &device = world->device(0);
    LibraryShape shape{"test", descriptor, threads, 0};
    shape.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(shape);
    Result<const LibraryOp *> op = device.prepare(shape);
    if (!op.ok()) {
      ADD_FAILURE() << op.message();
      return INFINITY;
    }
    int64_t counts[] = {extentOf(descriptor, &Index::strideA),
                        extentOf(descriptor, &Index::strideB),
                        extentOf(descriptor, &Index::strideBias),
                        extentOf(descriptor, &Index::strideC)};
    DType types[] = {descriptor.a, descriptor.b, descriptor.bias, descriptor.c};
    uint64_t places[5] = {};
    for (int i = 0; i < 4; ++i) {
      uint64_t bytes = counts[i] * sizeOf(types[i]);
      places[i + 1] = (places[i] + bytes + 63) / 64 * 64;
    }
    Mirror mirror(*world, device, places[4] + shape.workspaceBytes);
    for (int i = 0; i < 4; ++i) {
      for (int64_t j = 0; j < counts[i]; ++j) {
        storeElement(types[i], mirror.host() + places[i], j, element(j, i + 1));
      }
    }
    EXPECT_TRUE(mirror.push().ok());
    std::vector<void *> buffers;
    for (int i = 0; i < 4; ++i) {
      if (i != 2 || descriptor.hasBias) {
        buffers.push_back(mirror.at(mirror.host() + places[i]));
      }
    }
    Stream &stream =
        **device.stream({"s", 0, 1, static_cast<uint32_t>(buffers.size())});
    device.call(stream, **op, buffers.data(),
                static_cast<uint32_t>(buffers.size()),
                mirror.at(mirror.host() + places[4]), contractionOrigin);
    EXPECT_TRUE(world->drain(std::chrono::seconds(20)).ok());
    EXPECT_TRUE(mirror.pull().ok());
    std::vector<double> expected = reference(descriptor);
    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      double found = loadElement(descriptor.c, mirror.host() + places[3],
                                 static_cast<int64_t>(i));
      worst = std::max(worst, std::abs(found - expected[i]));
    }
    return worst;
  }

  /// In f32 within 2e-5, in f64 within 1e-13, on one thread and on three; the
  /// sums have up to 48 terms of at most 1.
  template <typename Shape> void expectRight(Shape shape, const char *what) {
    for (DType type : {DType::f32, DType::f64}) {
      shape.a = shape.b = shape.c = shape.bias = shape.accumulate = type;
      for (int threads : {1, 3}) {
        EXPECT_LE(greatestError(shape, threads),
                  type == DType::f32 ? 2e-5 : 1e-13)
            << what << " in " << nameOf(type) << " on " << threads;
      }
    }
  }
};

/// c[2, 9, 20] = a[2, 9, 16] b[2, 16, 20] with a bias of 20 along n.
ContractionShape makeShape() {
  ContractionShape shape;
  shape.indices = {{Kind::batch, 2, 9 * 16, 16 * 20, 9 * 20},
                   {Kind::m, 9, 16, 0, 20},
                   {Kind::n, 20, 0, 1, 1, 1},
                   {Kind::k, 16, 1, 20, 0}};
  return shape;
}

TEST_P(LibraryTest, Activations) {
  for (size_t i = 0; i < activationNames.size(); ++i) {
    ContractionShape shape = makeShape();
    shape.activation = static_cast<Activation>(i);
    expectRight(shape, activationNames[i].data());
    shape.hasBias = true;
    shape.beta = 1;
    expectRight(shape, activationNames[i].data());
  }
}

TEST_P(LibraryTest, Biases) {
  ContractionShape shape = makeShape();
  shape.hasBias = true;
  expectRight(shape, "a row");
  shape.alpha = 0.5; // Scales the sum, not the bias.
  expectRight(shape, "a row beside a factor");
  shape.beta = 1;
  expectRight(shape, "a row beside a factor and an accumulator");
  shape = makeShape();
  shape.hasBias = true;
  shape.indices[2].strideBias = 3;
  expectRight(shape, "every third element of a row");
  shape.indices[2].strideBias = 1;
  shape.indices[0].strideBias = 20;
  expectRight(shape, "a row of each batch");
  shape.indices[1].strideBias = 40;
  expectRight(shape, "a value of each element");
  shape.indices[0].strideBias = 0;
  expectRight(shape, "a matrix for all batches");
  shape.indices[2].strideBias = 0;
  expectRight(shape, "a column");
  shape.indices[1].strideBias = 0;
  expectRight(shape, "one value");
  // Two batches of three are one walk of six in all operands but the bias.
  shape.indices[0] = {Kind::batch, 3, 9 * 16, 16 * 20, 9 * 20, 20};
  shape.indices[2].strideBias = 1;
  shape.indices.insert(shape.indices.begin(),
                       {Kind::batch, 2, 27 * 16, 48 * 20, 27 * 20});
  expectRight(shape, "a row of each of three batches, twice");
}

// Several batch indices, of which operands lack one each, and a split n.
TEST_P(LibraryTest, OuterIndices) {
  ContractionShape shape;
  shape.indices = {{Kind::batch, 2, 0, 80, 160}, {Kind::batch, 3, 48, 0, 320},
                   {Kind::m, 4, 12, 0, 30, 0},   {Kind::n, 2, 0, 5, 15, 7},
                   {Kind::n, 5, 0, 1, 1, 1},     {Kind::k, 6, 2, 12, 0}};
  expectRight(shape, "no bias");
  shape.hasBias = true;
  shape.activation = Activation::geluTanh;
  expectRight(shape, "bias over two n");
}

// Sums and activation are in f32, the operands and the result in bf16.
TEST_P(LibraryTest, Precision) {
  ContractionShape shape = makeShape();
  shape.a = shape.b = DType::bf16;
  shape.activation = Activation::tanh;
  shape.hasBias = true;
  // Operands are rounded to 8 bits, each of 16 products by 2^-8 at most.
  EXPECT_LE(greatestError(shape, 1), 16.0 / 256);
  shape.c = shape.bias = DType::bf16;
  EXPECT_LE(greatestError(shape, 2), 18.0 / 256);
}

/// 8 samples of 9 places and 16 features under a kernel of 3, every other
/// place, features inside: c[8, 5, 20].
ConvolutionShape makeConvolution() {
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 8, 9 * 16, 0, 5 * 20},
                   {Kind::n, 20, 0, 1, 1, 1},
                   {Kind::k, 16, 1, 20, 0}};
  shape.windows = {{9, 3, 5, 16, 16 * 20, 20, 1, 1, 2, 1}};
  return shape;
}

TEST_P(LibraryTest, Convolutions) {
  ConvolutionShape shape = makeConvolution();
  expectRight(shape, "forward");
  shape.hasBias = true;
  expectRight(shape, "with a bias");
  shape.indices[1].strideBias = 0;
  expectRight(shape, "with one value as bias");
  shape.beta = 1;
  expectRight(shape, "with a bias and an accumulator");
  shape.hasBias = false;
  expectRight(shape, "with an accumulator");
  shape.windows[0].isReversed = true;
  expectRight(shape, "from its end");
  shape.windows.push_back({4, 2, 3, 10000, 10000, 10000});
  expectRight(shape, "in two dims");
}

TEST_P(LibraryTest, CotangentsOfConvolutions) {
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 8, 5 * 20, 0, 9 * 16},
                   {Kind::n, 16, 0, 20, 1, 1},
                   {Kind::k, 20, 1, 1, 0}};
  shape.windows = {{5, 3, 9, 20, 16 * 20, 16, 2, 1, 1, 1, true}};
  expectRight(shape, "of the input");
  shape.windows[0].isReversed = false;
  expectRight(shape, "of the input, from its end");
  shape.beta = 1;
  expectRight(shape, "of the input, added");
  shape.indices = {{Kind::m, 16, 1, 0, 20},
                   {Kind::n, 20, 0, 1, 1, 1},
                   {Kind::k, 8, 9 * 16, 5 * 20, 0}};
  shape.windows = {{9, 5, 3, 16, 20, 16 * 20, 1, 2, 1, 1}};
  expectRight(shape, "of the kernel, added");
  shape.beta = 0;
  expectRight(shape, "of the kernel");
}

// Groups, and steps of all three, which no library has.
TEST_P(LibraryTest, OtherConvolutions) {
  ConvolutionShape shape = makeConvolution();
  shape.indices = {{Kind::batch, 4, 4, 5, 5, 5},
                   {Kind::m, 8, 9 * 16, 0, 6 * 20},
                   {Kind::n, 5, 0, 1, 1, 1},
                   {Kind::k, 4, 1, 20, 0}};
  shape.windows = {{9, 3, 6, 16, 4 * 20, 20, 1, 1, 1, -1}};
  expectRight(shape, "in groups");
  shape.hasBias = true;
  expectRight(shape, "in groups with a bias");
  shape.windows = {{9, 3, 6, 16, 4 * 20, 20, 2, 3, 2, -1}};
  expectRight(shape, "with steps");
}

TEST_P(LibraryTest, PrecisionOfConvolutions) {
  ConvolutionShape shape = makeConvolution();
  shape.a = shape.b = DType::bf16;
  EXPECT_LE(greatestError(shape, 1), 48.0 / 256);
  shape.c = DType::bf16;
  EXPECT_LE(greatestError(shape, 2), 52.0 / 256);
}

TEST_P(LibraryTest, WhatADeviceLacksIsRefused) {
  auto prepare = [](auto change) {
    LibraryShape shape{"test", makeShape(), 1, 1 << 20};
    change(std::get<ContractionShape>(shape.descriptor));
    std::unique_ptr<World> world = GetParam().make(1);
    Status status = world->device(0).prepare(shape).status();
    if (!status.ok()) {
      EXPECT_EQ(status.kind(), ErrorKind::mismatch);
      EXPECT_EQ(exitCode(status.kind()), 15);
    }
    return status.message();
  };
  using S = ContractionShape;
  auto integers = [](S &s) {
    s.a = s.b = s.c = s.bias = s.accumulate = DType::i32;
    s.hasBias = true;
  };
  EXPECT_EQ(prepare([](S &) {}), "");
  EXPECT_EQ(prepare(integers), "");
  EXPECT_EQ(prepare([&](S &s) {
              integers(s);
              s.activation = Activation::relu;
            }),
            "expected no activation of integers in contraction 'test', got "
            "relu");
  EXPECT_EQ(prepare([&](S &s) {
              integers(s);
              s.bias = DType::f32;
            }),
            "expected a bias of contraction 'test' to be float where its "
            "result is, got f32 and i32");
  EXPECT_EQ(prepare([](S &s) { s.activation = static_cast<Activation>(6); }),
            "expected an activation that a processor has in contraction "
            "'test', got number 6");
  EXPECT_EQ(prepare([](S &s) { s.beta = 0.5; }),
            "expected a beta of 0 or 1 in contraction 'test', got 0.5");
}

INSTANTIATE_TEST_SUITE_P(All, LibraryTest, testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
