//===- ContractionTest.cpp - Contractions on CPU against plain sums -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products/Contraction.h"
#include "llmc/Runtime/Backends/Cpu/CpuWorld.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace llmc::rt {
namespace {

using Kind = ContractionIndexKind;
const Origin origin{"contraction", ""};

int64_t extentOf(const ContractionShape &shape,
                 int64_t ContractionIndex::*stride) {
  int64_t extent = 1;
  for (const ContractionIndex &index : shape.indices) {
    extent += (index.size - 1) * (index.*stride);
  }
  return extent;
}

/// Small integers, so that every order of summation gives the same sum.
double element(int64_t i, int salt) {
  return static_cast<double>((i * 37 + salt * 11) % 19 - 9);
}

void reference(const ContractionShape &shape, size_t level, int64_t a,
               int64_t b, int64_t c, std::vector<double> &out) {
  if (level == shape.indices.size()) {
    out[c] += shape.alpha * element(a, 1) * element(b, 2);
    return;
  }
  const ContractionIndex &index = shape.indices[level];
  for (int64_t i = 0; i < index.size; ++i) {
    reference(shape, level + 1, a + i * index.strideA, b + i * index.strideB,
              c + i * index.strideC, out);
  }
}

/// "test" on `threads`, with the workspace that it needs.
LibraryShape onThreads(const ContractionShape &shape, int threads,
                       uint32_t form = 0) {
  LibraryShape library{"test", shape, threads, 0, form};
  library.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(library);
  return library;
}

/// Runs `shape` with `threads` in one form and returns the greatest error.
double errorOfForm(const ContractionShape &shape, int threads, uint32_t form) {
  WorldOptions options;
  options.threads = options.threadsPerDevice = threads;
  auto world = makeCpuWorld(options);
  Device &device = world->device(0);
  LibraryShape library = onThreads(shape, threads, form);
  auto contraction = device.prepare(library);
  if (!contraction.ok()) {
    ADD_FAILURE() << contraction.message();
    return INFINITY;
  }
  auto buffer = [&](DType type, int64_t extent) {
    return (*device.reserve(extent * sizeOf(type), MemoryKind::device)).base;
  };
  int64_t sizes[] = {extentOf(shape, &ContractionIndex::strideA),
                     extentOf(shape, &ContractionIndex::strideB),
                     extentOf(shape, &ContractionIndex::strideC)};
  void *a = buffer(shape.a, sizes[0]), *b = buffer(shape.b, sizes[1]);
  void *c = buffer(shape.c, sizes[2]);
  void *workspace = buffer(DType::u8, library.workspaceBytes);
  std::vector<double> expected(sizes[2]);
  for (int64_t i = 0; i < sizes[0]; ++i) {
    storeElement(shape.a, a, i, element(i, 1));
  }
  for (int64_t i = 0; i < sizes[1]; ++i) {
    storeElement(shape.b, b, i, element(i, 2));
  }
  for (int64_t i = 0; i < sizes[2]; ++i) {
    expected[i] = 5 * shape.beta;
    storeElement(shape.c, c, i, 5 * shape.beta);
  }
  Stream &stream = **device.stream({"s", 0, 1, 3});
  void *buffers[] = {a, b, c};
  device.call(stream, **contraction, buffers, 3, workspace, origin);
  EXPECT_TRUE(world->drain(std::chrono::seconds(20)).ok());
  reference(shape, 0, 0, 0, 0, expected);
  double worst = 0;
  for (int64_t i = 0; i < sizes[2]; ++i) {
    worst = std::max(worst, std::abs(loadElement(shape.c, c, i) - expected[i]));
  }
  return worst;
}

/// In all forms that it has.
double greatestError(const ContractionShape &shape, int threads) {
  double worst = 0;
  for (const LibraryForm &form :
       (*findBackend("cpu"))->libraryForms({"test", shape, threads, 0})) {
    worst = std::max(worst, errorOfForm(shape, threads, form.number));
  }
  return worst;
}

/// c[b, m, n] from a[b, m, k] and b[b, k, n], b transposed where asked.
ContractionShape matmul(int64_t batch, int64_t m, int64_t n, int64_t k,
                        bool transposed = false) {
  ContractionShape shape;
  shape.indices = {{Kind::batch, batch, m * k, k * n, m * n},
                   {Kind::m, m, k, 0, n},
                   {Kind::n, n, 0, transposed ? k : 1, 1},
                   {Kind::k, k, 1, transposed ? 1 : n, 0}};
  return shape;
}

class ContractionTest : public testing::TestWithParam<int> {};

TEST_P(ContractionTest, Plain) {
  EXPECT_EQ(greatestError(matmul(1, 33, 17, 65), GetParam()), 0);
  EXPECT_EQ(greatestError(matmul(1, 1, 17, 5), GetParam()), 0);
  EXPECT_EQ(greatestError(matmul(1, 17, 1, 1), GetParam()), 0);
}
TEST_P(ContractionTest, Transposed) {
  EXPECT_EQ(greatestError(matmul(1, 33, 17, 65, true), GetParam()), 0);
}
// Strips of a transposed left side are of 16 rows here, and the last of less.
TEST_P(ContractionTest, TransposedLeft) {
  ContractionShape shape;
  shape.indices = {
      {Kind::m, 37, 1, 0, 9}, {Kind::n, 9, 0, 1, 1}, {Kind::k, 9000, 37, 9, 0}};
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
  shape.beta = 1;
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}
TEST_P(ContractionTest, Forms) {
  auto formsOf = [](const ContractionShape &shape) {
    std::vector<std::string> names;
    for (const LibraryForm &form :
         (*findBackend("cpu"))->libraryForms({"test", shape, GetParam(), 0})) {
      names.push_back(form.name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  bool isAlone = GetParam() == 1;
  EXPECT_EQ(formsOf(matmul(1, 33, 17, 65)),
            isAlone
                ? Names({"as it lies", "packed"})
                : Names({"as it lies", "packed", "columns", "packed columns"}));
  EXPECT_EQ(formsOf(matmul(7, 33, 17, 65)),
            isAlone ? Names({"as it lies"}) : Names({"as it lies", "columns"}));
  ContractionShape integers = matmul(1, 33, 1, 65);
  integers.a = integers.b = integers.c = integers.accumulate = DType::i32;
  EXPECT_EQ(formsOf(integers), Names({"as it lies"}));
}
TEST(ContractionFormTest, RefusesWhatItHasNot) {
  auto message = [](const ContractionShape &shape, uint32_t form) {
    return (*findBackend("cpu"))
        ->libraryWorkspace({"test", shape, 2, 0, form})
        .message();
  };
  EXPECT_EQ(message(matmul(7, 9, 8, 16), 1),
            "expected a form that contraction 'test' has on this machine, got "
            "'packed'");
  EXPECT_EQ(message(matmul(1, 9, 8, 16), 4),
            "expected a form of contraction 'test' below 4, got 4");
}
TEST_P(ContractionTest, Batched) {
  EXPECT_EQ(greatestError(matmul(7, 9, 8, 16), GetParam()), 0);
}
TEST_P(ContractionTest, AddsToTheResult) {
  ContractionShape shape = matmul(3, 9, 8, 16, true);
  shape.beta = 1;
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}
TEST_P(ContractionTest, ScalesByAlpha) {
  ContractionShape shape = matmul(1, 9, 8, 16);
  shape.alpha = 0.125;
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
  shape.beta = 1;
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}
// A column slice of a wider matrix, as of a fused projection.
TEST_P(ContractionTest, SlicedOperands) {
  ContractionShape shape;
  shape.indices = {{Kind::m, 12, 40, 0, 30},
                   {Kind::n, 10, 0, 1, 1},
                   {Kind::k, 20, 1, 50, 0}};
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}
// [heads, rows] of m, with a hole between them: one index becomes a batch.
TEST_P(ContractionTest, SeveralIndicesOfAKind) {
  ContractionShape shape;
  shape.indices = {{Kind::m, 3, 100, 0, 50},
                   {Kind::m, 4, 10, 0, 12},
                   {Kind::n, 2, 0, 30, 6},
                   {Kind::n, 5, 0, 6, 1},
                   {Kind::k, 6, 1, 1, 0}};
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
  // Two k that are no single walk: plain loops.
  shape.indices.push_back({Kind::k, 2, 400, 200, 0});
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}
TEST_P(ContractionTest, OtherTypes) {
  for (DType type : {DType::f64, DType::i32, DType::i64, DType::i16}) {
    ContractionShape shape = matmul(2, 5, 6, 7);
    shape.a = shape.b = shape.c = type;
    shape.accumulate = type;
    EXPECT_EQ(greatestError(shape, GetParam()), 0) << nameOf(type);
  }
  ContractionShape shape = matmul(2, 5, 6, 7);
  shape.a = shape.b = DType::bf16;
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
  shape.c = DType::bf16; // Results below 1024 are rounded to multiples of 4.
  EXPECT_LE(greatestError(shape, GetParam()), 2);
}
// Unlike types, and sums in double precision.
TEST_P(ContractionTest, TypesOfEachOperand) {
  struct Row {
    DType a, b, c, accumulate;
  };
  constexpr DType f32 = DType::f32, f64 = DType::f64, bf16 = DType::bf16;
  for (const Row &row : {Row{f32, f32, f64, f64}, Row{f64, f32, f32, f32},
                         Row{f32, f64, f32, f32}, Row{f32, f32, f32, f64},
                         Row{bf16, f32, f32, f32}, Row{f32, bf16, f32, f32},
                         Row{bf16, bf16, f64, f32}, Row{f64, f64, f32, f64},
                         Row{f32, f32, f64, f32}}) {
    ContractionShape shape = matmul(2, 5, 6, 7);
    shape.a = row.a;
    shape.b = row.b;
    shape.c = row.c;
    shape.accumulate = row.accumulate;
    EXPECT_EQ(greatestError(shape, GetParam()), 0);
  }
}
// What oneDNN lacks is multiplied in f32: with a side that is repeated, with
// holes between rows, transposed, and added to.
TEST_P(ContractionTest, HalfSides) {
  constexpr DType f32 = DType::f32, bf16 = DType::bf16, f16 = DType::f16,
                  e4m3 = DType::f8E4M3FN;
  ContractionShape repeated = matmul(3, 5, 6, 7), spread, adding;
  repeated.indices[0].strideB = 0;
  spread.indices = {{Kind::batch, 2, 100, 200, 400},
                    {Kind::m, 5, 1, 0, 11},
                    {Kind::n, 6, 0, 9, 1},
                    {Kind::k, 7, 8, 1, 0}};
  adding = spread;
  adding.beta = 1;
  for (const auto &[a, b, c] :
       {std::array{f16, f16, f32}, std::array{f16, f16, f16},
        std::array{f16, bf16, f32}, std::array{f32, f16, bf16},
        std::array{e4m3, e4m3, f32}, std::array{f16, e4m3, f32}}) {
    for (ContractionShape shape : {repeated, spread, adding}) {
      shape.a = a;
      shape.b = b;
      shape.c = c;
      EXPECT_LE(greatestError(shape, GetParam()), c == f32 ? 0 : 2);
      auto slice = cpu::makeWidenedSlice(cpu::toMatrix(shape, "test"));
      ASSERT_TRUE(slice.ok()) << slice.status().message();
      EXPECT_EQ(*slice != nullptr, c == f32 || shape.beta == 0);
    }
  }
}
// Slices of one batch each, of which the library's cache takes the second for
// the first: both want the same workspace.
TEST(ContractionCacheTest, SlicesOfOneBatch) {
  ContractionShape plain = matmul(2, 5, 6, 7), repeated = matmul(3, 5, 6, 7);
  repeated.indices[0].strideB = 0;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(greatestError(plain, 2), 0);
    EXPECT_EQ(greatestError(repeated, 3), 0);
  }
  auto bytes = [](const ContractionShape &shape, int threads) {
    return onThreads(shape, threads, 0).workspaceBytes;
  };
  EXPECT_EQ(3 * bytes(plain, 2), 2 * bytes(repeated, 3));
}
// More batches than the library takes.
TEST_P(ContractionTest, ManyBatches) {
  for (int batches : {4, 5}) {
    ContractionShape shape;
    int64_t a = 30, b = 20, c = 24;
    for (int i = 0; i < batches; ++i) {
      shape.indices.push_back({Kind::batch, 2, a, b, c});
      a *= 3, b *= 3, c *= 3; // Holes: no two of them are one.
    }
    shape.indices.insert(
        shape.indices.end(),
        {{Kind::m, 6, 5, 0, 4}, {Kind::n, 4, 0, 1, 1}, {Kind::k, 5, 1, 4, 0}});
    EXPECT_EQ(greatestError(shape, GetParam()), 0);
  }
}
// Where any index has no values there is nothing to do.
TEST_P(ContractionTest, NoValues) {
  for (Kind kind : {Kind::batch, Kind::m, Kind::n}) {
    ContractionShape shape = matmul(2, 3, 4, 5);
    shape.beta = 1;
    for (ContractionIndex &index : shape.indices) {
      if (index.kind == kind) {
        index = {kind, 0, 0, 0, 0};
      }
    }
    EXPECT_EQ(greatestError(shape, GetParam()), 0);
  }
}
TEST_P(ContractionTest, EmptySumIsZero) {
  ContractionShape shape = matmul(1, 4, 4, 0);
  EXPECT_EQ(greatestError(shape, GetParam()), 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, ContractionTest, testing::Values(1, 2, 3));

// Too little workspace in the plan is refused before anything runs.
TEST(ContractionWorkspaceTest, ShortWorkspaceIsRefused) {
  LibraryShape library = onThreads(matmul(1, 512, 512, 512, true), 1);
  if (library.workspaceBytes == 0) {
    GTEST_SKIP() << "the library needs no workspace here";
  }
  --library.workspaceBytes;
  auto world = makeCpuWorld({});
  auto contraction = world->device(0).prepare(library);
  ASSERT_FALSE(contraction.ok());
  EXPECT_EQ(contraction.kind(), ErrorKind::mismatch);
}

/// What the device says of the contraction after `change`.
template <typename Change>
std::string prepareChanged(Change change, int threads = 1) {
  ContractionShape shape = matmul(1, 2, 2, 2);
  change(shape);
  LibraryShape library{"test", shape, threads, 1 << 20};
  return makeCpuWorld({})->device(0).prepare(library).message();
}

TEST(ContractionShapeTest, WhatIsNoContractionIsRefused) {
  using S = ContractionShape;
  EXPECT_EQ(prepareChanged([](S &) {}), "");
  EXPECT_EQ(prepareChanged([](S &) {}, 0),
            "expected at least 1 thread in contraction 'test', got 0");
  auto negative =
      "expected sizes and strides of at least 0 in contraction 'test'";
  using I = ContractionIndex;
  for (auto member :
       {&I::size, &I::strideA, &I::strideB, &I::strideC, &I::strideBias})
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(prepareChanged([&](S &s) { s.indices[i].*member = -1; }),
                negative);
  auto integers = [](S &s) { s.a = s.b = s.c = s.accumulate = DType::i32; };
  EXPECT_EQ(prepareChanged(integers), "");
  EXPECT_EQ(prepareChanged([&](S &s) {
              integers(s);
              s.alpha = 2;
            }),
            "expected a factor of 1 in integer contraction 'test', got 2");
  for (DType S::*operand : {&S::a, &S::b, &S::c})
    EXPECT_EQ(prepareChanged([&](S &s) {
                s.a = s.b = s.c = DType::f32;
                s.*operand = DType::i32;
              })
                  .find("expected operands of contraction 'test' to be all "
                        "float or all integer, got "),
              0u);
}

// All floats or all integers, whichever operand it is; integers have no factor.
TEST(ContractionTypesTest, MixedTypesAreRefused) {
  auto world = makeCpuWorld({});
  auto messageOf = [&](DType a, DType b, DType c, double alpha = 1) {
    ContractionShape shape = matmul(1, 2, 2, 2);
    shape.a = a;
    shape.b = b;
    shape.c = c;
    shape.alpha = alpha;
    auto made = world->device(0).prepare({"test", shape, 1, 0});
    EXPECT_TRUE(made.ok() || made.kind() == ErrorKind::unsupported);
    return made.ok() ? "" : made.message();
  };
  constexpr DType i32 = DType::i32, f64 = DType::f64;
  std::string text = "expected operands of contraction 'test' to be all float "
                     "or all integer, got ";
  EXPECT_EQ(messageOf(i32, i32, i32), "");
  EXPECT_EQ(messageOf(f64, f64, f64, 2), "");
  EXPECT_EQ(messageOf(f64, i32, i32), text + "f64, i32, i32");
  EXPECT_EQ(messageOf(i32, f64, i32), text + "i32, f64, i32");
  EXPECT_EQ(messageOf(f64, i32, f64), text + "f64, i32, f64");
  EXPECT_EQ(messageOf(i32, i32, f64), text + "i32, i32, f64");
  EXPECT_EQ(messageOf(i32, i32, i32, 2),
            "expected a factor of 1 in integer contraction 'test', got 2");
}

// One row, one column and one term are oneDNN's; what is empty is not.
TEST(ContractionSliceTest, TheLibraryHasAllSizesButZero) {
  for (int empty = -1; empty < 3; ++empty) {
    for (int single = 0; single < 3; ++single) {
      int64_t m = 4, n = 5, k = 6, *sizes[] = {&m, &n, &k};
      *sizes[single] = 1;
      if (empty >= 0) {
        *sizes[empty] = 0;
      }
      ContractionShape shape;
      shape.indices = {
          {Kind::m, m, k, 0, n}, {Kind::n, n, 0, 1, 1}, {Kind::k, k, 1, n, 0}};
      auto slice = cpu::makeLibrarySlice(cpu::toMatrix(shape, "test"));
      ASSERT_TRUE(slice.ok()) << slice.status().message();
      EXPECT_EQ(*slice != nullptr, empty < 0) << single << " " << empty;
    }
  }
}

} // namespace
} // namespace llmc::rt
