//===- CudaConvolutionTest.cpp - Convolutions by cuDNN --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and their gradients on the stand-ins of driver and library,
// against plain sums in double. The stand-in offers engines that compute in
// less first, so a wrong choice is seen.
//
//===----------------------------------------------------------------------===//

#include "../../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace llmc::rt::test {
namespace {

using Kind = ContractionIndexKind;
const Origin convolutionOrigin{"convolution", "model.py:88"};

/// In [-1, 1], without a pattern that sums cancel.
double valueAt(int64_t i, int salt) {
  return std::sin(1.7 * static_cast<double>(i) + salt);
}

/// Positions in a, b and c, and their count in each.
struct Terms {
  struct Term {
    int64_t a, b, c;
    bool meets;
  };
  std::vector<Term> terms;
  int64_t counts[3] = {};
};

/// All positions of indices and windows: each meets or does not.
Terms walk(const ConvolutionShape &shape) {
  Terms made;
  std::function<void(size_t, Terms::Term)> visit = [&](size_t level,
                                                       Terms::Term at) {
    if (level < shape.indices.size()) {
      const ContractionIndex &index = shape.indices[level];
      for (int64_t i = 0; i < index.size; ++i) {
        visit(level + 1, {at.a + i * index.strideA, at.b + i * index.strideB,
                          at.c + i * index.strideC, at.meets});
      }
      return;
    }
    size_t number = level - shape.indices.size();
    if (number == shape.windows.size()) {
      made.terms.push_back(at);
      made.counts[0] = std::max(made.counts[0], at.meets ? at.a + 1 : 0);
      made.counts[1] = std::max(made.counts[1], at.b + 1);
      made.counts[2] = std::max(made.counts[2], at.c + 1);
      return;
    }
    const ConvolutionWindow &v = shape.windows[number];
    for (int64_t place = 0; place < v.sizeC; ++place) {
      for (int64_t j = 0; j < v.sizeB; ++j) {
        int64_t counted = v.isReversed ? v.sizeB - 1 - j : j;
        int64_t i = v.stepC * place + v.dilationB * counted - v.low;
        bool meets =
            i >= 0 && i % v.dilationA == 0 && i / v.dilationA < v.sizeA;
        visit(level + 1,
              {at.a + i / v.dilationA * v.strideA, at.b + j * v.strideB,
               at.c + place * v.strideC, at.meets && meets});
      }
    }
  };
  visit(0, {0, 0, 0, true});
  // Elements of a that nothing meets are there all the same.
  int64_t last = 0;
  for (const ContractionIndex &index : shape.indices) {
    last += (index.size - 1) * index.strideA;
  }
  for (const ConvolutionWindow &v : shape.windows) {
    last += (v.sizeA - 1) * v.strideA;
  }
  made.counts[0] = last + 1;
  return made;
}

class CudaConvolutionTest : public testing::TestWithParam<WorldKind> {
protected:
  Result<const LibraryOp *> prepare(const ConvolutionShape &shape) {
    return device.prepare({"conv", shape, 1, workspaceBytes});
  }

  /// The greatest difference from plain sums. `shift` elements lie before each
  /// operand, so that it begins at no multiple of 16 bytes.
  double greatestError(const ConvolutionShape &shape, int64_t shift) {
    Result<const LibraryOp *> op = prepare(shape);
    if (!op.ok()) {
      ADD_FAILURE() << op.message();
      return INFINITY;
    }
    Terms terms = walk(shape);
    uint64_t places[4] = {};
    for (int i = 0; i < 3; ++i) {
      uint64_t bytes = (terms.counts[i] + shift) * sizeOf(shape.c);
      places[i + 1] = (places[i] + bytes + 255) / 256 * 256;
    }
    Mirror mirror(*world, device, places[3] + workspaceBytes);
    std::vector<void *> buffers;
    for (int i = 0; i < 3; ++i) {
      std::byte *here = mirror.host() + places[i] + shift * sizeOf(shape.c);
      for (int64_t j = 0; j < terms.counts[i]; ++j) {
        storeElement(shape.c, here, j, valueAt(j, i + 1));
      }
      buffers.push_back(mirror.at(here));
    }
    EXPECT_TRUE(mirror.push().ok());
    if (world->beginStep(steps++)) {
      device.call(stream, **op, buffers.data(), 3,
                  mirror.at(mirror.host() + places[3]), convolutionOrigin);
    }
    EXPECT_TRUE(world->submit().ok());
    Status status = world->drain(std::chrono::seconds(20));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(mirror.pull().ok());
    return compare(shape, terms,
                   mirror.host() + places[2] + shift * sizeOf(shape.c));
  }

  static double compare(const ConvolutionShape &shape, const Terms &terms,
                        const void *found) {
    std::vector<double> sums(terms.counts[2]);
    std::vector<bool> isResult(terms.counts[2]);
    for (const Terms::Term &term : terms.terms) {
      sums[term.c] += term.meets ? valueAt(term.a, 1) * valueAt(term.b, 2) : 0;
      isResult[term.c] = true;
    }
    double worst = 0;
    for (int64_t i = 0; i < terms.counts[2]; ++i) {
      double before = valueAt(i, 3);
      double expected = isResult[i] ? sums[i] + shape.beta * before : before;
      worst =
          std::max(worst, std::abs(loadElement(shape.c, found, i) - expected));
    }
    return worst;
  }

  /// Alone and added, from where buffers lie aligned and from elsewhere.
  void expectRight(ConvolutionShape shape, const char *what) {
    for (DType type : {DType::f32, DType::f64}) {
      shape.a = shape.b = shape.c = shape.accumulate = type;
      for (int64_t shift : {0, 1}) {
        shape.beta = static_cast<double>(shift);
        EXPECT_LE(greatestError(shape, shift),
                  type == DType::f32 ? 2e-5 : 1e-13)
            << what << " in " << nameOf(type) << " from " << shift;
      }
    }
  }

  std::unique_ptr<World> world = GetParam().make(1);
  Device &device = world->device(0);
  Stream &stream = **device.stream({"s", 0, 1, 4});
  uint64_t steps = 0;
  const uint64_t workspaceBytes = 1 << 16;
};

/// 2 samples of 9 places and 6 features under a kernel of 3, every other place,
/// features inside: c[2, 5, 4].
ConvolutionShape makeForward() {
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 2, 9 * 6, 0, 5 * 4},
                   {Kind::n, 4, 0, 1, 1},
                   {Kind::k, 6, 1, 4, 0}};
  shape.windows = {{9, 3, 5, 6, 6 * 4, 4, 1, 1, 2, 1}};
  return shape;
}

TEST_P(CudaConvolutionTest, Forward) {
  ConvolutionShape shape = makeForward();
  expectRight(shape, "one place");
  shape.windows[0].isReversed = true;
  expectRight(shape, "from its end");
  shape.windows[0].isReversed = false;
  shape.windows[0].low = -1;
  shape.windows[0].sizeC = 3;
  expectRight(shape, "without the first place");
  shape.windows = {{5, 3, 3, 6, 24, 4, 1, 2, 1, 1},
                   {4, 2, 4, 60, 72, 40, 1, 1, 1, 1}};
  expectRight(shape, "two places, dilated");
  shape.windows.push_back({3, 2, 2, 240, 144, 160});
  shape.indices[0].strideA = 720;
  shape.indices[0].strideC = 320;
  expectRight(shape, "three places");
}

TEST_P(CudaConvolutionTest, Gradients) {
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 2, 5 * 4, 0, 9 * 6},
                   {Kind::n, 6, 0, 4, 1},
                   {Kind::k, 4, 1, 1, 0}};
  shape.windows = {{5, 3, 9, 4, 6 * 4, 6, 2, 1, 1, 1, true}};
  expectRight(shape, "of the input");
  shape.indices = {{Kind::m, 6, 1, 0, 4},
                   {Kind::n, 4, 0, 1, 1},
                   {Kind::k, 2, 9 * 6, 5 * 4, 0}};
  shape.windows = {{9, 5, 3, 6, 4, 6 * 4, 1, 2, 1, 1}};
  expectRight(shape, "of the kernel");
}

TEST_P(CudaConvolutionTest, Groups) {
  ConvolutionShape shape = makeForward();
  shape.indices = {{Kind::batch, 2, 3, 2, 2},
                   {Kind::m, 2, 9 * 6, 0, 5 * 4},
                   {Kind::n, 2, 0, 1, 1},
                   {Kind::k, 3, 1, 4, 0}};
  shape.windows[0].strideB = 3 * 4;
  expectRight(shape, "of three features");
  shape.indices = {{Kind::batch, 6, 1, 1, 1}, {Kind::m, 2, 9 * 6, 0, 5 * 6}};
  shape.windows[0] = {9, 3, 5, 6, 6, 6, 1, 1, 2, 1};
  expectRight(shape, "of one feature");
}

// Operands and results are rounded to 8 or 11 bits, sums are in f32.
TEST_P(CudaConvolutionTest, NarrowTypes) {
  for (DType type : {DType::bf16, DType::f16}) {
    ConvolutionShape shape = makeForward();
    shape.a = shape.b = shape.c = type;
    double bar = (type == DType::bf16 ? 20.0 : 2.5) / 256;
    EXPECT_LE(greatestError(shape, 0), bar) << nameOf(type);
    EXPECT_LE(greatestError(shape, 1), bar) << nameOf(type);
  }
}

TEST_P(CudaConvolutionTest, WhatCudnnLacksIsRefused) {
  ConvolutionShape shape = makeForward();
  shape.hasBias = true;
  Status status = prepare(shape).status();
  EXPECT_EQ(exitCode(status.kind()), 15);
  EXPECT_EQ(status.message(), "cuDNN cannot compute convolution 'conv': "
                              "expected no bias, which kernels add, got one");
  setenv("LLMC_STANDIN_CUDNN_ENGINES", "0", 1);
  status = prepare(makeForward()).status();
  setenv("LLMC_STANDIN_CUDNN_ENGINES", "1", 1);
  if (status.ok()) {
    GTEST_SKIP() << "this machine's cuDNN is no stand-in";
  }
  EXPECT_EQ(exitCode(status.kind()), 15);
  EXPECT_NE(status.message().find(
                "that computes convolution 'conv' in one order, in its own "
                "type, with 65536 bytes of workspace, got none among 5"),
            std::string::npos)
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(Worlds, CudaConvolutionTest,
                         testing::ValuesIn(cudaWorlds({})),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
