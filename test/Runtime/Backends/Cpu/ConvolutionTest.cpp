//===- ConvolutionTest.cpp - Convolutions on CPU against plain sums -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products/Convolution.h"
#include "ConvolutionCases.h"
#include "Products/ConvolutionPrimitive.h"
#include "Products/ConvolutionRoles.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace llmc::rt::test {
namespace {

using Window = ConvolutionWindow;
using Sizes = ConvolutionSizes;

bool isByLibrary(const ConvolutionShape &shape) {
  auto slice = cpu::makeLibraryConvolution(shape, "test");
  return slice.ok() && *slice != nullptr;
}

void expectRight(const ConvolutionShape &shape, int threads) {
  EXPECT_EQ(greatestError(shape, threads), 0)
      << describe(shape) << " on " << threads;
}

void expectRight(const ConvolutionShape &shape) {
  for (int threads : {1, 3}) {
    expectRight(shape, threads);
  }
}

/// Exact by oneDNN, also where it adds to the result.
void expectRightByLibrary(ConvolutionShape shape) {
  EXPECT_TRUE(isByLibrary(shape)) << describe(shape);
  expectRight(shape);
  shape.beta = 1;
  EXPECT_TRUE(isByLibrary(shape)) << describe(shape);
  expectRight(shape, 2);
}

/// Kernel, stride, edges, dilation.
const Window usualWindows[] = {
    makeWindow(8, 3, 1, 1, 1),       makeWindow(9, 3, 2, 1, 1),
    makeWindow(8, 3, 2, 0, 1),       makeWindow(8, 1, 2, 0, 0),
    makeWindow(9, 3, 1, 2, 2, 1, 2), makeWindow(8, 2, 2, 0, 0)};

std::vector<Sizes> usualSizes(const Window &window) {
  std::vector<Sizes> all;
  const Window line = makeWindow(3, 2, 1, 0, 0);
  for (size_t rank : {1, 2, 3}) {
    std::vector<Window> windows(rank, rank < 3 ? window : line);
    windows.front() = window;
    all.push_back({1, 4, 16, 8, false, windows});
    all.push_back({2, 8, 8, 16, false, windows});
  }
  all.push_back({1, 4, 3, 20, false, {window, window}});
  all.push_back({12, 4, 1, 1, false, {window, window}});
  return all;
}

// y = x * w, its bias, and the two cotangents, as the compiler asks for them.
TEST(Convolution, ForwardByLibrary) {
  for (const Window &window : usualWindows) {
    for (const Sizes &sizes : usualSizes(window)) {
      ConvolutionShape shape = makeShape(sizes);
      expectRightByLibrary(shape);
      setBias(shape);
      EXPECT_TRUE(isByLibrary(shape)) << describe(shape);
      expectRight(shape, 2);
    }
  }
}

/// Of the input: stride and dilation change places under a reversed kernel.
Window ofInput(const Window &window) {
  Window result = window;
  std::swap(result.sizeA, result.sizeC);
  std::swap(result.dilationA, result.stepC);
  result.low = window.dilationB * (window.sizeB - 1) - window.low;
  result.isReversed = !window.isReversed;
  return result;
}

/// Of the kernel: stride and dilation change places over the cotangent.
Window ofKernel(const Window &window) {
  Window result = window;
  std::swap(result.sizeB, result.sizeC);
  std::swap(result.dilationB, result.stepC);
  return result;
}

TEST(Convolution, CotangentOfTheInputByLibrary) {
  for (const Window &window : usualWindows) {
    for (Sizes sizes : usualSizes(ofInput(window))) {
      expectRightByLibrary(makeShape(sizes));
    }
  }
}

/// The features of the input are the samples here, and its samples features;
/// the kernel is a cotangent, the result a kernel.
std::vector<size_t> dataOrder(size_t rank, Operand operand) {
  switch (operand) {
  case inputOperand:
    return orderOf(rank, {1}, {0});
  case kernelOperand:
    return orderOf(rank, {0}, {1});
  case outputOperand:
    return orderOf(rank, {}, {0, 1});
  }
  return {};
}

TEST(Convolution, CotangentOfTheKernelByLibrary) {
  for (const Window &window : usualWindows) {
    for (Sizes sizes : usualSizes(ofKernel(window))) {
      sizes.groupsBatch = sizes.groups > 1;
      expectRightByLibrary(makeShape(sizes, dataOrder));
    }
  }
}

// Transposed convolutions take a kernel that is not reversed, and so do their
// cotangents.
TEST(Convolution, TransposedByLibrary) {
  for (Window window : usualWindows) {
    window.isReversed = true;
    for (const Sizes &sizes : usualSizes(ofInput(window))) {
      expectRightByLibrary(makeShape(sizes));
    }
    for (Sizes sizes : usualSizes(ofKernel(ofInput(window)))) {
      sizes.groupsBatch = sizes.groups > 1;
      expectRightByLibrary(makeShape(sizes, dataOrder));
    }
  }
}

// Edges are cropped where they are below 0.
TEST(Convolution, CropsByLibrary) {
  expectRightByLibrary(
      makeShape({1, 4, 8, 8, false, {makeWindow(9, 3, 2, -2, -3)}}));
  expectRightByLibrary(
      makeShape({1,
                 4,
                 8,
                 8,
                 false,
                 {makeWindow(9, 3, 1, -1, 2), makeWindow(9, 1, 1, 0, -4)}}));
}

// Narrow floats are copied: sums and what is added are in f32, rounded once.
TEST(Convolution, NarrowByLibrary) {
  ConvolutionShape shape =
      makeShape({1, 4, 8, 8, false, {usualWindows[0], usualWindows[1]}});
  for (DType narrow : {DType::bf16, DType::f16}) {
    shape.a = shape.b = narrow;
    shape.c = DType::f32;
    shape.beta = 0;
    expectRightByLibrary(shape);
    // Sums of 72 products of at most 9: bf16 has multiples of 4 there, f16
    // of 1.
    shape.c = narrow;
    EXPECT_TRUE(isByLibrary(shape)) << describe(shape);
    EXPECT_LE(greatestError(shape, 2), narrow == DType::bf16 ? 2 : 0);
    shape.beta = 1;
    EXPECT_LE(greatestError(shape, 2), narrow == DType::bf16 ? 2 : 0);
  }
}

// Factors of eight bits are of two kinds; where oneDNN does not have the
// windows, loops read them.
TEST(Convolution, EightBits) {
  ConvolutionShape shape =
      makeShape({1, 4, 8, 8, false, {usualWindows[0], usualWindows[1]}});
  shape.a = DType::f8E4M3FN;
  shape.b = DType::f8E5M2;
  expectRightByLibrary(shape);
  shape = makeShape({1, 2, 3, 4, false, {makeWindow(7, 3, 2, 1, 1, 2, 3)}});
  shape.a = DType::f8E5M2;
  shape.b = DType::f8E4M3FN;
  EXPECT_FALSE(isByLibrary(shape)) << describe(shape);
  expectRight(shape);
}

TEST(Convolution, OtherTypes) {
  ConvolutionShape shape =
      makeShape({2, 4, 3, 5, false, {usualWindows[1], usualWindows[4]}});
  for (DType type : {DType::i32, DType::i64}) {
    expectRight(in(shape, type));
    shape.beta = 1;
  }
  shape.beta = 0;
  ConvolutionShape wide = in(shape, DType::f32);
  setBias(wide);
  wide.c = DType::f64;
  expectRight(wide);
  wide.accumulate = DType::f64;
  expectRight(wide);
  wide.a = wide.b = DType::f64;
  wide.c = DType::f32;
  expectRight(wide);
}

// Nothing fits under the window, or there is nothing.
TEST(Convolution, Empty) {
  expectRight(makeShape({1, 2, 3, 4, false, {}}));
  ConvolutionShape shape =
      makeShape({1, 2, 3, 4, false, {makeWindow(4, 2, 1, -4, 6)}});
  expectRight(shape);
  shape.beta = 1;
  expectRight(shape);
}

class RandomConvolution : public testing::TestWithParam<int> {
protected:
  int64_t draw(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  }
  int64_t drawStep() { return std::max<int64_t>(1, draw(-2, 3)); }

  Window drawWindow() {
    for (;;) {
      Window window =
          makeWindow(draw(1, 7), draw(1, 4), drawStep(), draw(-1, 3),
                     draw(-1, 3), drawStep(), drawStep(), draw(0, 3) == 0);
      if (window.sizeC > 0) {
        return window;
      }
    }
  }

  std::vector<size_t> drawOrder(size_t rank, Operand operand) {
    std::vector<size_t> order = usualOrder(rank, operand);
    if (draw(0, 1) == 0) {
      std::shuffle(order.begin(), order.end(), generator);
    }
    return order;
  }

  ConvolutionShape drawShape() {
    Sizes sizes;
    sizes.groups = draw(0, 2) == 0 ? draw(2, 9) : 1;
    sizes.groupsBatch = draw(0, 1) == 0;
    sizes.samples = draw(1, 5);
    sizes.inputs = draw(1, 9);
    sizes.outputs = draw(1, 9);
    for (int64_t rank = draw(0, 3); rank > 0; --rank) {
      sizes.windows.push_back(drawWindow());
    }
    ConvolutionShape shape =
        makeShape(sizes, [&](size_t rank, Operand operand) {
          return drawOrder(rank, operand);
        });
    shape.beta = static_cast<double>(draw(0, 1));
    if (draw(0, 2) == 0) {
      setBias(shape);
    }
    return shape;
  }

  std::mt19937 generator;
};

TEST_P(RandomConvolution, IsExact) {
  generator.seed(static_cast<unsigned>(GetParam()));
  int byLibrary = 0, all = 40;
  for (int i = 0; i < all; ++i) {
    ConvolutionShape shape = drawShape();
    byLibrary += isByLibrary(shape);
    int threads = static_cast<int>(draw(1, 3));
    EXPECT_EQ(greatestError(shape, threads), 0)
        << describe(shape) << " on " << threads;
    EXPECT_EQ(greatestError(in(shape, DType::f64), threads), 0)
        << describe(shape) << " on " << threads;
    for (DType narrow : {DType::bf16, DType::f16}) {
      shape.a = shape.b = narrow;
      EXPECT_EQ(greatestError(shape, threads), 0)
          << nameOf(narrow) << " " << describe(shape) << " on " << threads;
    }
  }
  EXPECT_GE(byLibrary, all / 4);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomConvolution, testing::Range(0, 10));

TEST(Convolution, WhatADeviceLacksIsRefused) {
  auto prepare = [](auto change) {
    ConvolutionShape shape = makeShape({1, 4, 3, 5, false, {usualWindows[0]}});
    change(shape);
    auto world = makeCpuWorld({});
    Status status =
        world->device(0).prepare({"test", shape, 1, 1 << 20}).status();
    EXPECT_TRUE(status.ok() || status.kind() == ErrorKind::mismatch);
    return status.message();
  };
  using S = ConvolutionShape;
  EXPECT_EQ(prepare([](S &) {}), "");
  EXPECT_EQ(prepare([](S &s) { s.beta = 0.5; }),
            "expected a beta of 0 or 1 in convolution 'test', got 0.5");
  EXPECT_EQ(prepare([](S &s) { s.indices[0].strideA = -1; }),
            "expected sizes and strides of at least 0 in convolution 'test'");
  EXPECT_EQ(prepare([](S &s) { s.b = DType::i32; }),
            "expected operands of convolution 'test' to be all float or all "
            "integer, got f32, i32, f32");
  std::string window = "expected at most 32 windows of less than 2^62 "
                       "positions in convolution 'test'";
  EXPECT_EQ(prepare([](S &s) { s.windows[0].stepC = 0; }), window);
  EXPECT_EQ(prepare([](S &s) { s.windows[0].low = INT64_MIN; }), window);
  EXPECT_EQ(prepare([](S &s) { s.windows[0].dilationB = INT64_MAX; }), window);
  EXPECT_EQ(prepare([](S &s) { s.windows.assign(33, s.windows[0]); }), window);
}

TEST(Convolution, RolesAreThoseWithTheNearestWeights) {
  using cpu::operandA, cpu::operandB, cpu::operandC;
  using Roles = std::vector<cpu::ConvolutionOperand>;
  auto rolesOf = [](const Window &window) {
    auto found = cpu::findRoles(makeShape({1, 4, 3, 5, false, {window}}));
    return found ? Roles{found->roles.source, found->roles.weights,
                         found->roles.destination}
                 : Roles{};
  };
  Window window = makeWindow(9, 3, 2, 1, 1);
  EXPECT_EQ(rolesOf(window), (Roles{operandA, operandB, operandC}));
  EXPECT_EQ(rolesOf(ofInput(window)), (Roles{operandC, operandB, operandA}));
  EXPECT_EQ(rolesOf(ofKernel(window)), (Roles{operandA, operandC, operandB}));
  Window transposed = window;
  transposed.isReversed = true;
  EXPECT_EQ(rolesOf(ofKernel(ofInput(transposed))),
            (Roles{operandB, operandC, operandA}));
  EXPECT_EQ(rolesOf(makeWindow(9, 3, 2, 1, 1, 2, 3)), Roles{});
  // Patches side by side: the result has fewer places than the kernel, but they
  // are far from each other.
  window = makeWindow(224, 16, 16, 0, 0);
  EXPECT_EQ(rolesOf(window), (Roles{operandA, operandB, operandC}));
  EXPECT_EQ(rolesOf(ofKernel(window)), (Roles{operandA, operandC, operandB}));
}

// With AVX-512 features that lie side by side are read so, in all three kinds;
// of parts of features, only these are copied. Rows of few places are too short
// for weights beyond the cache.
TEST(Convolution, FeaturesThatLieSideBySideAreNotCopied) {
  if (dnnl::get_effective_cpu_isa() < dnnl::cpu_isa::avx512_core) {
    GTEST_SKIP() << "expected AVX-512";
  }
  Window window = makeWindow(8, 3, 1, 1, 1);
  Sizes sizes{1, 2, 64, 96, false, {window, window}};
  for (Window turned : {window, ofInput(window), ofKernel(window)}) {
    bool isKernel = turned.sizeC == 3;
    sizes.windows = {turned, turned};
    ConvolutionShape shape =
        isKernel ? makeShape(sizes, dataOrder) : makeShape(sizes);
    auto question = cpu::makeQuestion(shape);
    ASSERT_TRUE(question);
    cpu::ConvolutionPrimitive answer = cpu::makePrimitive(*question);
    EXPECT_EQ(answer.source, question->source.plain()) << describe(shape);
    EXPECT_EQ(answer.destination, question->destination.plain())
        << describe(shape);
    question->destination.strides[2] *= 2;
    question->destination.strides[3] *= 2;
    question->destination.strides[0] *= 2;
    answer = cpu::makePrimitive(*question);
    EXPECT_EQ(answer.source, question->source.plain()) << describe(shape);
    EXPECT_EQ(answer.destination, question->destination.inside())
        << describe(shape);
  }
  for (auto [places, features] : {std::pair(4, 512), {4, 128}, {7, 512}}) {
    window = makeWindow(places, 3, 1, 1, 1);
    auto question = cpu::makeQuestion(
        makeShape({1, 1, features, features, false, {window, window}}));
    ASSERT_TRUE(question);
    EXPECT_EQ(cpu::makePrimitive(*question).source == question->source.plain(),
              places * features != 4 * 512)
        << places << " " << features;
  }
}

} // namespace
} // namespace llmc::rt::test
