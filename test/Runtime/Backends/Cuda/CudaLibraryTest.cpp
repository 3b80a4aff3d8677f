//===- CudaLibraryTest.cpp - Contractions by cuBLASLt ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions that cuBLASLt can express, on the stand-ins of driver and
// library, against plain sums in double.
//
//===----------------------------------------------------------------------===//

#include "../../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace llmc::rt::test {
namespace {

using Kind = ContractionIndexKind;
using Index = ContractionIndex;
const Origin contractionOrigin{"contraction", "model.py:88"};
constexpr uint64_t workspaceBytes = 1 << 20;

/// In [-1, 1], without a pattern that sums cancel.
double element(int64_t i, int salt) {
  return std::sin(1.7 * static_cast<double>(i) + salt);
}

double activate(Activation activation, double x) {
  if (activation == Activation::relu) {
    return std::max(x, 0.0);
  }
  if (activation == Activation::geluTanh) {
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) *
                          (x + 0.044715 * std::pow(x, 3))));
  }
  return x;
}

int64_t extentOf(const ContractionShape &shape, int64_t Index::*stride) {
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  return extent;
}

/// Visits all positions: of a, b, the bias and c.
template <typename Visit>
void forEach(const ContractionShape &shape, Visit visit) {
  std::vector<int64_t> at(shape.indices.size());
  bool goesOn = true;
  while (goesOn) {
    int64_t a = 0, b = 0, bias = 0, c = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      a += at[i] * shape.indices[i].strideA;
      b += at[i] * shape.indices[i].strideB;
      bias += at[i] * shape.indices[i].strideBias;
      c += at[i] * shape.indices[i].strideC;
    }
    visit(a, b, bias, c);
    goesOn = false;
    for (size_t i = at.size(); i-- > 0 && !goesOn;) {
      goesOn = ++at[i] < shape.indices[i].size;
      at[i] = goesOn ? at[i] : 0;
    }
  }
}

class CudaLibraryTest : public testing::TestWithParam<WorldKind> {
protected:
  /// The greatest difference from plain sums. `shift` elements lie before each
  /// operand, so that it begins at no multiple of 16 bytes.
  double greatestError(const ContractionShape &shape, int64_t shift = 0) {
    Result<const LibraryOp *> op =
        device.prepare({"product", shape, 1, workspaceBytes});
    if (!op.ok()) {
      ADD_FAILURE() << op.message();
      return INFINITY;
    }
    const DType types[] = {shape.a, shape.b, shape.bias, shape.c};
    const int64_t counts[] = {
        extentOf(shape, &Index::strideA), extentOf(shape, &Index::strideB),
        extentOf(shape, &Index::strideBias), extentOf(shape, &Index::strideC)};
    int64_t places[5] = {};
    for (int i = 0; i < 4; ++i) {
      places[i] += shift * sizeOf(types[i]);
      places[i + 1] =
          (places[i] + counts[i] * sizeOf(types[i]) + 255) / 256 * 256;
    }
    Mirror mirror(*world, device,
                  static_cast<uint64_t>(places[4]) + workspaceBytes);
    std::vector<void *> buffers;
    for (int i = 0; i < 4; ++i) {
      std::byte *here = mirror.host() + places[i];
      for (int64_t j = 0; j < counts[i]; ++j) {
        storeElement(types[i], here, j, element(j, i + 1));
      }
      if (i != 2 || shape.hasBias) {
        buffers.push_back(mirror.at(here));
      }
    }
    EXPECT_TRUE(mirror.push().ok());
    if (world->beginStep(steps++)) {
      device.call(stream, **op, buffers.data(),
                  static_cast<uint32_t>(buffers.size()),
                  mirror.at(mirror.host() + places[4]), contractionOrigin);
    }
    EXPECT_TRUE(world->submit().ok());
    Status status = world->drain(std::chrono::seconds(20));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(mirror.pull().ok());
    return compare(shape, mirror.host() + places[3]);
  }

  /// What follows a sum is there in f32 alone.
  void expectRight(ContractionShape shape, const char *what) {
    bool isPlain = !shape.hasBias && shape.activation == Activation::none;
    for (DType type : {DType::f32, DType::f64}) {
      if (type == DType::f64 && !isPlain) {
        continue;
      }
      shape.a = shape.b = shape.c = shape.bias = shape.accumulate = type;
      for (int64_t shift : {0, 1}) {
        EXPECT_LE(greatestError(shape, shift),
                  type == DType::f32 ? 2e-5 : 1e-13)
            << what << " in " << nameOf(type) << " from " << shift;
      }
    }
  }

  /// The same beside the sums of the factors as they are stored.
  double greatestErrorOfRounded(const ContractionShape &shape) {
    areFactorsRounded = true;
    double error = greatestError(shape);
    areFactorsRounded = false;
    return error;
  }

  double factor(DType type, int64_t i, int salt) const {
    double value = element(i, salt);
    unsigned char stored[8];
    storeElement(type, stored, 0, value);
    return areFactorsRounded ? loadElement(type, stored, 0) : value;
  }

  double compare(const ContractionShape &shape, const void *found) const {
    auto count = static_cast<size_t>(extentOf(shape, &Index::strideC));
    std::vector<double> sums(count), biases(count);
    std::vector<bool> isResult(count);
    forEach(shape, [&](int64_t a, int64_t b, int64_t bias, int64_t c) {
      sums[c] += factor(shape.a, a, 1) * factor(shape.b, b, 2);
      biases[c] = shape.hasBias ? element(bias, 3) : 0;
      isResult[c] = true;
    });
    double worst = 0;
    for (size_t i = 0; i < count; ++i) {
      auto at = static_cast<int64_t>(i);
      double before = element(at, 4);
      double expected =
          isResult[i]
              ? activate(shape.activation, shape.alpha * sums[i] +
                                               shape.beta * before + biases[i])
              : before;
      worst =
          std::max(worst, std::abs(loadElement(shape.c, found, at) - expected));
    }
    return worst;
  }

  std::unique_ptr<World> world = GetParam().make(1);
  Device &device = world->device(0);
  Stream &stream = **device.stream({"s", 0, 1, 4});
  uint64_t steps = 0;
  bool areFactorsRounded = false;
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

TEST_P(CudaLibraryTest, BatchesAndFactors) {
  ContractionShape shape = makeShape();
  expectRight(shape, "as it is");
  shape.alpha = 0.5;
  expectRight(shape, "with a factor");
  shape.beta = 1;
  expectRight(shape, "with a factor, added");
}

TEST_P(CudaLibraryTest, TransposedOperands) {
  for (int ways = 0; ways < 8; ++ways) {
    bool ofA = ways & 1, ofB = ways & 2, ofC = ways & 4;
    ContractionShape shape;
    shape.indices = {{Kind::m, 9, ofA ? 1 : 16, 0, ofC ? 1 : 20},
                     {Kind::n, 20, 0, ofB ? 16 : 1, ofC ? 9 : 1},
                     {Kind::k, 16, ofA ? 9 : 1, ofB ? 1 : 20, 0}};
    expectRight(shape, std::to_string(ways).c_str());
  }
}

TEST_P(CudaLibraryTest, BiasesAndActivations) {
  for (Activation activation :
       {Activation::none, Activation::relu, Activation::geluTanh}) {
    ContractionShape shape = makeShape();
    shape.activation = activation;
    expectRight(shape, nameOf(activation).data());
    shape.hasBias = true;
    expectRight(shape, "with a bias");
    shape.beta = 1;
    expectRight(shape, "with a bias, added");
    shape.indices[0].strideBias = 20;
    expectRight(shape, "with a bias of each batch");
  }
}

// Batches that operands lack, a split n, and a sum of two indices apart.
TEST_P(CudaLibraryTest, IndicesThatLieApart) {
  ContractionShape shape;
  shape.indices = {{Kind::batch, 2, 0, 80, 160}, {Kind::batch, 3, 96, 0, 320},
                   {Kind::m, 4, 24, 0, 30},      {Kind::n, 2, 0, 5, 15},
                   {Kind::n, 5, 0, 1, 1},        {Kind::k, 2, 10, 160, 0},
                   {Kind::k, 6, 1, 12, 0}};
  expectRight(shape, "without bias");
  shape.beta = 1;
  shape.hasBias = true;
  shape.indices[4].strideBias = 1;
  shape.activation = Activation::relu;
  expectRight(shape, "with all that follows the sum");
}

// Sums are in f32, the operands in bf16 or f16.
TEST_P(CudaLibraryTest, NarrowOperands) {
  for (DType type : {DType::bf16, DType::f16}) {
    ContractionShape shape = makeShape();
    shape.a = shape.b = type;
    // Operands are rounded to 8 or 11 bits, each of 16 products by 2^-8 at
    // most.
    EXPECT_LE(greatestError(shape), 16.0 / 256);
    EXPECT_LE(greatestError(shape, 1), 16.0 / 256);
    shape.c = shape.bias = type;
    shape.hasBias = true;
    shape.activation = Activation::relu;
    EXPECT_LE(greatestError(shape), 20.0 / 256);
  }
}

// Each of 32 products of factors that are rounded to 4 bits, or 3, is 2^-4 or
// 2^-3 and 2^-4 from its own at most; on average far less. Beside the sums of
// the rounded factors a GPU's are some 14 bits wide within an instruction, as
// users have found; those of the stand-in are of f32.
TEST_P(CudaLibraryTest, FactorsOfEightBits) {
  ContractionShape shape;
  shape.indices = {{Kind::batch, 2, 16 * 32, 48 * 32, 16 * 48},
                   {Kind::m, 16, 32, 0, 48},
                   {Kind::n, 48, 0, 32, 1},
                   {Kind::k, 32, 1, 1, 0}};
  for (auto [a, b] : {std::pair(DType::f8E4M3FN, DType::f8E4M3FN),
                      std::pair(DType::f8E4M3FN, DType::f8E5M2),
                      std::pair(DType::f8E5M2, DType::f8E4M3FN)}) {
    shape.a = a;
    shape.b = b;
    for (double beta : {0.0, 1.0}) {
      shape.beta = beta;
      EXPECT_LE(greatestError(shape), 0.6) << nameOf(a) << " " << nameOf(b);
      EXPECT_LE(greatestErrorOfRounded(shape), 2e-3)
          << nameOf(a) << " " << nameOf(b);
    }
  }
}

// No algorithm takes them from another place.
TEST_P(CudaLibraryTest, FactorsOfEightBitsAreAligned) {
  ContractionShape shape;
  shape.a = shape.b = DType::f8E4M3FN;
  shape.indices = {{Kind::m, 16, 32, 0, 16},
                   {Kind::n, 16, 0, 32, 1},
                   {Kind::k, 32, 1, 1, 0}};
  Result<const LibraryOp *> op =
      device.prepare({"product", shape, 1, workspaceBytes});
  ASSERT_TRUE(op.ok()) << op.message();
  Mirror mirror(*world, device, 4096 + workspaceBytes);
  std::vector<void *> buffers = {mirror.at(mirror.host() + 1),
                                 mirror.at(mirror.host() + 1024),
                                 mirror.at(mirror.host() + 2048)};
  if (world->beginStep(steps++)) {
    device.call(stream, **op, buffers.data(), 3,
                mirror.at(mirror.host() + 4096), contractionOrigin);
  }
  (void)world->submit();
  Status status = world->drain(std::chrono::seconds(20));
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  EXPECT_NE(status.message().find("expected buffers at multiples of 16 bytes "
                                  "for a product of f8E4M3FN, got others"),
            std::string::npos)
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(Worlds, CudaLibraryTest,
                         testing::ValuesIn(cudaWorlds({})),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
