//===- CudnnConvolutionTest.cpp - Convolutions as cuDNN takes them --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is found computes what the shape says, on whole numbers, by the equation
// of cuDNN's documentation.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/CudnnConvolution.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

using namespace llmc::rt;

namespace {

using Kind = ContractionIndexKind;
using Numbers = std::vector<int64_t>;
constexpr size_t room = 12000; ///< Elements that any operand of these has.

/// Visits all positions of a box.
void forEach(const Numbers &sizes, const std::function<void(Numbers &)> &visit,
             Numbers at = {}) {
  if (at.size() == sizes.size()) {
    visit(at);
    return;
  }
  for (int64_t i = 0; i < sizes[at.size()]; ++i) {
    Numbers next = at;
    next.push_back(i);
    forEach(sizes, visit, next);
  }
}

/// a, b and c before, the same for each way to compute.
std::vector<Numbers> makeOperands() {
  std::vector<Numbers> operands(3, Numbers(room));
  std::mt19937 random(1);
  for (Numbers &operand : operands) {
    for (int64_t &value : operand) {
      value = static_cast<int64_t>(random() % 7) - 3;
    }
  }
  return operands;
}

/// c, as Library.h says.
Numbers computeShape(const ConvolutionShape &shape) {
  std::vector<Numbers> operands = makeOperands();
  Numbers sizes;
  for (const ContractionIndex &index : shape.indices) {
    sizes.push_back(index.size);
  }
  for (const ConvolutionWindow &v : shape.windows) {
    sizes.insert(sizes.end(), {v.sizeC, v.sizeB});
  }
  Numbers sums(room);
  std::vector<bool> isResult(room);
  forEach(sizes, [&](Numbers &at) {
    int64_t a = 0, b = 0, c = 0;
    for (size_t i = 0; i < shape.indices.size(); ++i) {
      a += at[i] * shape.indices[i].strideA;
      b += at[i] * shape.indices[i].strideB;
      c += at[i] * shape.indices[i].strideC;
    }
    bool meets = true;
    for (size_t i = 0; i < shape.windows.size(); ++i) {
      const ConvolutionWindow &v = shape.windows[i];
      int64_t place = at[shape.indices.size() + 2 * i],
              j = at[shape.indices.size() + 2 * i + 1];
      int64_t counted = v.isReversed ? v.sizeB - 1 - j : j;
      int64_t position = v.stepC * place + v.dilationB * counted - v.low;
      meets = meets && position >= 0 && position % v.dilationA == 0 &&
              position / v.dilationA < v.sizeA;
      a += position / v.dilationA * v.strideA;
      b += j * v.strideB;
      c += place * v.strideC;
    }
    isResult[c] = true;
    sums[c] += meets ? operands[0][a] * operands[1][b] : 0;
  });
  for (size_t i = 0; i < room; ++i) {
    int64_t before = isResult[i] && shape.beta == 0 ? 0 : operands[2][i];
    sums[i] += before;
  }
  return sums;
}

int64_t placeOf(const CudnnTensor &tensor, const Numbers &at) {
  int64_t place = tensor.offset;
  for (size_t i = 0; i < at.size(); ++i) {
    place += at[i] * tensor.strides[i];
  }
  return place;
}

/// c, as cuDNN's documentation says.
Numbers computeCudnn(const CudnnConvolution &made, double beta) {
  std::vector<Numbers> operands = makeOperands();
  const CudnnTensor &result = made.direction == CudnnDirection::forward ? made.y
                              : made.direction == CudnnDirection::data ? made.x
                                                                       : made.w;
  EXPECT_EQ(result.operand, 2U);
  if (beta == 0) {
    forEach(result.sizes,
            [&](Numbers &at) { operands[2][placeOf(result, at)] = 0; });
  }
  int64_t groups = made.x.sizes[1] / made.w.sizes[1];
  int64_t perGroup = made.w.sizes[0] / groups;
  Numbers sizes = made.y.sizes;
  sizes.insert(sizes.end(), made.w.sizes.begin() + 1, made.w.sizes.end());
  size_t dims = made.y.sizes.size();
  forEach(sizes, [&](Numbers &at) {
    Numbers y(at.begin(), at.begin() + dims);
    Numbers w = {y[1]};
    Numbers x = {y[0], y[1] / perGroup * made.w.sizes[1] + at[dims]};
    w.insert(w.end(), at.begin() + dims, at.end());
    for (size_t i = 2; i < dims; ++i) {
      int64_t position = made.strides[i - 2] * y[i] +
                         made.dilations[i - 2] * w[i] - made.padsBefore[i - 2];
      if (position < 0 || position >= made.x.sizes[i]) {
        return;
      }
      x.push_back(position);
      w[i] = made.isFlipped ? made.w.sizes[i] - 1 - w[i] : w[i];
    }
    int64_t places[] = {placeOf(made.x, x), placeOf(made.w, w),
                        placeOf(made.y, y)};
    const CudnnTensor *tensors[] = {&made.x, &made.w, &made.y};
    int64_t product = 1;
    for (int i = 0; i < 3; ++i) {
      product *= tensors[i] == &result
                     ? 1
                     : operands[tensors[i]->operand].at(places[i]);
    }
    operands[2].at(placeOf(result, &result == &made.x   ? x
                                   : &result == &made.w ? w
                                                        : y)) += product;
  });
  return operands[2];
}

/// What cuDNN asks of sizes: no pad is negative, and y is as long as it says.
void expectLegal(const CudnnConvolution &made) {
  EXPECT_EQ(made.x.sizes[0], made.y.sizes[0]);
  EXPECT_EQ(made.w.sizes[0], made.y.sizes[1]);
  EXPECT_EQ(made.x.sizes[1] % made.w.sizes[1], 0);
  for (size_t i = 0; i < made.strides.size(); ++i) {
    EXPECT_GE(made.padsBefore[i], 0);
    EXPECT_GE(made.padsAfter[i], 0);
    int64_t room = made.x.sizes[i + 2] + made.padsBefore[i] +
                   made.padsAfter[i] -
                   made.dilations[i] * (made.w.sizes[i + 2] - 1) - 1;
    ASSERT_GE(room, 0);
    EXPECT_EQ(room / made.strides[i] + 1, made.y.sizes[i + 2]);
  }
  for (const CudnnTensor *tensor : {&made.x, &made.w, &made.y}) {
    ASSERT_GE(tensor->sizes.size(), 4U);
    for (int64_t stride : tensor->strides) {
      EXPECT_GE(stride, 1);
    }
  }
}

/// Operands without gaps: samples, places, groups and features, or features
/// before places.
ConvolutionShape makeShape(std::mt19937 &random) {
  auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random() % bound);
  };
  ConvolutionShape shape;
  int64_t groups = 1 + below(2) * below(3), m = 1 + below(3), n = 1 + below(3),
          k = 1 + below(3);
  for (int64_t count = below(3); count >= 0; --count) {
    ConvolutionWindow v;
    v.sizeA = 1 + below(6);
    v.sizeB = 1 + below(4);
    v.sizeC = 1 + below(5);
    v.dilationA = 1 + below(2) * below(3);
    v.dilationB = 1 + below(3);
    v.stepC = 1 + below(2) * below(3);
    v.low = below(6) - 2;
    v.isReversed = below(3) == 0;
    shape.windows.push_back(v);
  }
  int64_t a = 1, b = 1, c = 1;
  auto layPlaces = [&] {
    for (size_t i = shape.windows.size(); i-- > 0;) {
      ConvolutionWindow &v = shape.windows[i];
      v.strideA = a;
      v.strideB = b;
      v.strideC = c;
      a *= v.sizeA;
      b *= v.sizeB;
      c *= v.sizeC;
    }
  };
  bool isInside = below(2) == 0;
  if (!isInside) {
    layPlaces();
  }
  // Features of a are k, those of c are n, and b has both.
  ContractionIndex ofK{Kind::k, k, a, b}, ofN{Kind::n, n, 0, b * k, c},
      batch{Kind::batch, groups, a * k, b * k * n, c * n};
  a *= k * groups;
  b *= k * n * groups;
  c *= n * groups;
  if (isInside) {
    layPlaces();
  }
  ContractionIndex ofM{Kind::m, m, a, 0, c};
  shape.indices = {batch, ofM, ofN, ofK};
  shape.beta = static_cast<double>(below(2));
  return shape;
}

/// The gradient of a filter has its sums over samples.
void turnIntoFilter(ConvolutionShape &shape) {
  std::swap(shape.indices[1].kind, shape.indices[3].kind);
  // What was m of a and c is k of a and b; what was k is m.
  ContractionIndex &samples = shape.indices[1], &features = shape.indices[3];
  int64_t far = 2400;
  samples.strideB = far;
  features.strideC = samples.strideC;
  samples.strideC = features.strideB = 0;
}

TEST(CudnnConvolution, WhatIsFoundComputesTheShape) {
  std::mt19937 random(7);
  int64_t found[3] = {}, flipped = 0, cropped = 0, groups = 0, refused = 0;
  for (int i = 0; i < 400; ++i) {
    ConvolutionShape shape = makeShape(random);
    if (i % 3 == 0) {
      turnIntoFilter(shape);
    }
    Result<CudnnConvolution> made = findCudnnConvolution(shape);
    if (!made.ok()) {
      EXPECT_EQ(exitCode(made.status().kind()), 15);
      ++refused;
      continue;
    }
    ++found[static_cast<int>(made->direction)];
    flipped += made->isFlipped;
    cropped += made->x.offset > 0;
    groups += shape.indices[0].size > 1;
    expectLegal(*made);
    ASSERT_EQ(computeCudnn(*made, shape.beta), computeShape(shape))
        << "shape " << i;
  }
  for (int64_t count : found) {
    EXPECT_GT(count, 12);
  }
  EXPECT_GT(flipped, 10);
  EXPECT_GT(cropped, 20);
  EXPECT_GT(groups, 20);
  EXPECT_GT(refused, 20);
}

/// 8 samples of 9 places and 16 features under a kernel of 3.
ConvolutionShape makeForward() {
  ConvolutionShape shape;
  shape.indices = {{Kind::m, 8, 9 * 16, 0, 5 * 20},
                   {Kind::n, 20, 0, 1, 1, 1},
                   {Kind::k, 16, 1, 20, 0}};
  shape.windows = {{9, 3, 5, 16, 16 * 20, 20, 1, 1, 2, 1}};
  return shape;
}

TEST(CudnnConvolution, OnePlaceIsLifted) {
  Result<CudnnConvolution> made = findCudnnConvolution(makeForward());
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->x.sizes, (Numbers{8, 16, 1, 9}));
  EXPECT_EQ(made->x.strides, (Numbers{144, 1, 144, 16}));
  EXPECT_EQ(made->w.sizes, (Numbers{20, 16, 1, 3}));
  EXPECT_EQ(made->w.strides, (Numbers{1, 20, 960, 320}));
  EXPECT_EQ(made->y.strides, (Numbers{100, 1, 100, 20}));
  EXPECT_EQ(made->padsBefore, (Numbers{0, 1}));
  EXPECT_EQ(made->padsAfter, (Numbers{0, 1}));
  EXPECT_EQ(made->strides, (Numbers{1, 2}));
}

TEST(CudnnConvolution, WhatIsLackingIsSaid) {
  auto reason = [](auto change) {
    ConvolutionShape shape = makeForward();
    change(shape);
    return findCudnnConvolution(shape).status().message();
  };
  using S = ConvolutionShape;
  EXPECT_EQ(reason([](S &) {}), "");
  EXPECT_EQ(reason([](S &s) { s.a = s.b = DType::bf16; }),
            "expected operands and a result of one type f64, f32, bf16 or f16 "
            "with sums in f64 or f32, got bf16 times bf16 into f32 with sums "
            "in f32");
  EXPECT_EQ(reason([](S &s) { s.a = s.b = s.c = DType::bf16; }), "");
  EXPECT_EQ(reason([](S &s) { s.hasBias = true; }),
            "expected no bias, which kernels add, got one");
  EXPECT_EQ(reason([](S &s) { s.beta = 0.5; }),
            "expected a beta of 0 or 1, got 0.5");
  EXPECT_EQ(reason([](S &s) { s.windows.resize(4, s.windows[0]); }),
            "expected at most 3 windows, got 4");
  EXPECT_EQ(reason([](S &s) { s.indices[0].size = 0; }),
            "expected sizes and steps of at least 1, got less");
  EXPECT_EQ(reason([](S &s) { s.indices.push_back({Kind::k, 2, 2000, 4000}); }),
            "expected one index k beside the windows, got several that lie "
            "apart");
  const char *steps = "expected the steps and the padding of a convolution or "
                      "of one of its gradients, got others";
  EXPECT_EQ(reason([](S &s) { s.windows[0].dilationA = 2; }), steps);
  // A gradient of the input whose first elements are cut off.
  EXPECT_EQ(reason([](S &s) {
              s.windows[0] = {5, 3, 9, 16, 16 * 20, 20, 2, 1, 1, 4, true};
            }),
            steps);
  const char *features =
      "expected groups that are the major part of features, strides of at "
      "least 1, and a kernel without gaps, got others";
  EXPECT_EQ(
      reason([](S &s) { s.indices.push_back({Kind::batch, 2, 7, 1000, 20}); }),
      features);
  EXPECT_EQ(reason([](S &s) { s.indices[2].strideA = 0; }), features);
  // A kernel with gaps is read as if it were a response, where it can be.
  auto spread = [](S &s) { s.indices[2].strideB = 40; };
  EXPECT_EQ(reason(spread), "");
  EXPECT_EQ(reason([&](S &s) {
              spread(s);
              s.windows[0].isReversed = true;
            }),
            features);
}

} // namespace
