//===- GroupedContractionTest.cpp - Products of groups on every device ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random sizes of groups, on every world of test/Runtime/Comm/Worlds.h, against
// sums in double, row by row.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace llmc::rt::test {
namespace {

using Kind = ContractionIndexKind;
const Origin groupedOrigin{"groups", "model.py:9"};

/// a [batch, rows, m, k] * b [groups, batch, k, n] -> c [batch, rows, m, n], or
/// a [batch, rows, m] * b [batch, rows, n] -> c [batch, groups, m, n].
struct Case {
  int64_t batch = 1, rows = 1, m = 1, n = 1, k = 1, groups = 1;
  bool isContracted = false;
  bool isTransposed = false; ///< b [groups, batch, n, k]
  DType side = DType::f64, result = DType::f64, accumulate = DType::f64;
  DType type = DType::i32; ///< Of sizes.
  int beta = 0;
  std::vector<int64_t> sizes; ///< Of one batch, or of each.
  std::vector<int64_t> first; ///< Of each batch, or none.
};

GroupedContractionShape shapeOf(const Case &c, bool hasOwnSizes) {
  GroupedContractionShape shape;
  ContractionShape &p = shape.product;
  p.a = p.b = c.side;
  p.c = c.result;
  p.accumulate = c.accumulate;
  p.beta = c.beta;
  int64_t lists = hasOwnSizes ? c.batch : 1;
  shape.numSizes = static_cast<int64_t>(c.sizes.size()) / lists;
  shape.groups = c.groups;
  shape.sizes = c.type;
  shape.rows = 1;
  shape.hasOwnSizes = hasOwnSizes;
  shape.hasFirst = !c.first.empty();
  int64_t inner = c.m * c.n;
  if (c.isContracted) {
    shape.stride = inner;
    p.indices = {
        {Kind::batch, c.batch, c.rows * c.m, c.rows * c.n, c.groups * inner},
        {Kind::k, c.rows, c.m, c.n, 0},
        {Kind::m, c.m, 1, 0, c.n},
        {Kind::n, c.n, 0, 1, 1}};
    return shape;
  }
  shape.stride = c.batch * c.k * c.n;
  p.indices = {
      {Kind::batch, c.batch, c.rows * c.m * c.k, c.k * c.n, c.rows * inner},
      {Kind::m, c.rows, c.m * c.k, 0, inner},
      {Kind::m, c.m, c.k, 0, c.n},
      {Kind::n, c.n, 0, c.isTransposed ? c.k : 1, 1},
      {Kind::k, c.k, 1, c.isTransposed ? 1 : c.n, 0}};
  return shape;
}

/// Small whole numbers, so that sums of every order are equal.
double wholeElement(int64_t i, int salt) {
  return static_cast<double>((i * 7 + salt * 5) % 5 - 2);
}

/// The group of a row, less the first one; -1 for none.
int64_t groupOf(const Case &c, bool hasOwnSizes, int64_t batch, int64_t row) {
  int64_t count =
      static_cast<int64_t>(c.sizes.size()) / (hasOwnSizes ? c.batch : 1);
  int64_t end = 0, line = hasOwnSizes ? batch * count : 0;
  for (int64_t group = 0; group < count; ++group) {
    end += c.sizes[line + group];
    if (row < end) {
      group -= c.first.empty() ? 0 : c.first[batch];
      return group < c.groups ? group : -1;
    }
  }
  return -1;
}

std::vector<double> reference(const Case &c, bool hasOwnSizes) {
  int64_t lines = c.isContracted ? c.groups : c.rows;
  std::vector<double> out(c.batch * lines * c.m * c.n);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = c.beta != 0 ? wholeElement(static_cast<int64_t>(i), 3) : 0.0;
  }
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t row = 0; row < c.rows; ++row) {
      int64_t group = groupOf(c, hasOwnSizes, b, row);
      for (int64_t at = 0; group >= 0 && at < c.m * c.n; ++at) {
        int64_t m = at / c.n, n = at % c.n;
        if (c.isContracted) {
          out[((b * c.groups + group) * c.m + m) * c.n + n] +=
              wholeElement((b * c.rows + row) * c.m + m, 1) *
              wholeElement((b * c.rows + row) * c.n + n, 2);
          continue;
        }
        for (int64_t k = 0; k < c.k; ++k) {
          int64_t inner = c.isTransposed ? n * c.k + k : k * c.n + n;
          out[((b * c.rows + row) * c.m + m) * c.n + n] +=
              wholeElement(((b * c.rows + row) * c.m + m) * c.k + k, 1) *
              wholeElement((group * c.batch + b) * c.k * c.n + inner, 2);
        }
      }
    }
  }
  return out;
}

/// Groups of random sizes, some of them empty, that leave `rest` rows.
std::vector<int64_t> drawSizes(std::mt19937 &dice, int64_t rows, int64_t groups,
                               int64_t rest) {
  std::vector<int64_t> sizes(groups);
  for (int64_t row = 0; row < rows - rest; ++row) {
    sizes[dice() % groups / 2 * 2 % groups] += 1;
  }
  return sizes;
}

class GroupedContractionTest : public testing::TestWithParam<WorldKind> {
protected:
  /// The buffer's elements as they lie in memory.
  static std::vector<std::byte> fill(DType type, int64_t count, int salt) {
    std::vector<std::byte> bytes(count * sizeOf(type));
    for (int64_t i = 0; i < count; ++i) {
      store(type, bytes, i, wholeElement(i, salt));
    }
    return bytes;
  }
  static void store(DType type, std::vector<std::byte> &bytes, int64_t i,
                    double value) {
    isFloat(type)
        ? storeElement(type, bytes.data(), i, value)
        : storeInteger(type, bytes.data(), i, static_cast<int64_t>(value));
  }
  static std::vector<std::byte> list(DType type,
                                     const std::vector<int64_t> &values) {
    std::vector<std::byte> bytes(values.size() * sizeOf(type));
    for (size_t i = 0; i < values.size(); ++i) {
      storeInteger(type, bytes.data(), static_cast<int64_t>(i), values[i]);
    }
    return bytes;
  }

  static std::vector<std::vector<std::byte>> makeBuffers(const Case &c) {
    bool isFree = !c.isContracted;
    std::vector<std::vector<std::byte>> buffers;
    buffers.push_back(
        fill(c.side, c.batch * c.rows * c.m * (isFree ? c.k : 1), 1));
    buffers.push_back(
        fill(c.side, c.batch * c.n * (isFree ? c.groups * c.k : c.rows), 2));
    buffers.push_back(list(c.type, c.sizes));
    if (!c.first.empty()) {
      buffers.push_back(list(c.type, c.first));
    }
    int64_t lines = isFree ? c.rows : c.groups;
    buffers.push_back(fill(c.result, c.batch * lines * c.m * c.n, 3));
    return buffers;
  }

  /// What is left in c; or what the run says.
  static Status run(const GroupedContractionShape &shape,
                    std::vector<std::vector<std::byte>> &buffers, int threads) {
    std::unique_ptr<World> world = GetParam().make(1);
    Device &device = world->device(0);
    LibraryShape library{"test", shape, threads, 0};
    library.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(library);
    LLMC_TRY_ASSIGN(const LibraryOp *op, device.prepare(library));
    std::vector<uint64_t> places = {0};
    for (const auto &buffer : buffers) {
      places.push_back((places.back() + buffer.size() + 63) / 64 * 64);
    }
    Mirror mirror(*world, device, places.back() + library.workspaceBytes + 64);
    std::vector<void *> addresses;
    for (size_t i = 0; i < buffers.size(); ++i) {
      std::byte *at = mirror.host() + places[i];
      std::copy(buffers[i].begin(), buffers[i].end(), at);
      addresses.push_back(mirror.at(at));
    }
    std::byte *workspace = mirror.host() + places.back();
    std::memset(workspace, 0xff, library.workspaceBytes);
    LLMC_TRY(mirror.push());
    auto count = static_cast<uint32_t>(addresses.size());
    Stream &stream = **device.stream({"s", 0, 1, count});
    device.call(stream, *op, addresses.data(), count, mirror.at(workspace),
                groupedOrigin);
    LLMC_TRY(world->drain(std::chrono::seconds(20)));
    LLMC_TRY(mirror.pull());
    const std::byte *found = mirror.host() + places[buffers.size() - 1];
    std::copy_n(found, buffers.back().size(), buffers.back().begin());
    return Status::success();
  }

  static void expectRight(const Case &c, bool hasOwnSizes,
                          const std::string &what) {
    std::vector<double> expected = reference(c, hasOwnSizes);
    for (int threads : {1, 3}) {
      auto buffers = makeBuffers(c);
      Status status = run(shapeOf(c, hasOwnSizes), buffers, threads);
      ASSERT_TRUE(status.ok()) << status.message();
      std::vector<std::byte> wanted(buffers.back().size());
      for (size_t i = 0; i < expected.size(); ++i) {
        store(c.result, wanted, static_cast<int64_t>(i), expected[i]);
      }
      EXPECT_TRUE(wanted == buffers.back()) << what << " on " << threads;
    }
  }
};

/// Each in both modes, added to and not.
std::vector<Case> variantsOf(const Case &c) {
  std::vector<Case> all(4, c);
  all[1].isContracted = all[3].isContracted = true;
  all[2].beta = all[3].beta = 1;
  return all;
}

TEST_P(GroupedContractionTest, RandomSizes) {
  std::mt19937 dice(3);
  for (int round = 0; round < 24; ++round) {
    Case c;
    c.rows = dice() % 70;
    c.groups = 1 + dice() % 5;
    c.m = 1 + dice() % 3;
    c.n = 1 + dice() % 9;
    c.k = 1 + dice() % 9;
    c.batch = 1 + dice() % 2;
    c.isTransposed = dice() % 2 == 0;
    c.side = c.result = c.accumulate = round % 2 == 0 ? DType::f64 : DType::f32;
    c.sizes = drawSizes(dice, c.rows, c.groups, dice() % (c.rows + 1));
    for (const Case &each : variantsOf(c)) {
      expectRight(each, false, "round " + std::to_string(round));
    }
  }
}

// Whole numbers that all these types have, sums included.
TEST_P(GroupedContractionTest, AllTypes) {
  std::mt19937 dice(5);
  for (auto [side, result, sums] :
       {std::tuple(DType::f32, DType::f32, DType::f32),
        {DType::bf16, DType::bf16, DType::f32},
        {DType::bf16, DType::f32, DType::f32},
        {DType::f16, DType::f16, DType::f32},
        {DType::f8E5M2, DType::f32, DType::f32},
        {DType::f8E4M3FN, DType::bf16, DType::f32},
        {DType::f32, DType::f64, DType::f64},
        {DType::i8, DType::i32, DType::i32},
        {DType::u16, DType::u16, DType::u16}}) {
    Case c{1, 25, 1, 6, 4, 4, false, false, side, result, sums};
    for (DType type : {DType::i32, DType::i64, DType::u8}) {
      c.type = type;
      c.sizes = drawSizes(dice, c.rows, c.groups, 3);
      for (const Case &each : variantsOf(c)) {
        expectRight(each, false,
                    std::string(nameOf(side)) + " " +
                        std::string(nameOf(result)));
      }
    }
  }
}

// Sums are rounded once, though they are made in runs of 512 rows and less: of
// 600 rows 614 becomes 616, and 524 + 65.5 + 16.375 + 8.1875, each rounded,
// 612.
TEST_P(GroupedContractionTest, SumsAreRoundedOnce) {
  for (int64_t rows : {600, 1000}) {
    Case c{1,    rows,  1,           1,           1,         1,
           true, false, DType::bf16, DType::bf16, DType::f32};
    c.sizes = {rows};
    auto buffers = makeBuffers(c);
    for (size_t side : {0, 1}) {
      for (int64_t i = 0; i < rows; ++i) {
        storeElement(DType::bf16, buffers[side].data(), i,
                     side == 0 ? 1 : 1.0234375);
      }
    }
    Status status = run(shapeOf(c, false), buffers, 1);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<std::byte> wanted(2);
    storeElement(DType::bf16, wanted.data(), 0,
                 1.0234375 * static_cast<double>(rows));
    EXPECT_TRUE(wanted == buffers.back()) << rows;
  }
}

// Batches with lists of their own, and matrices of some of the groups.
TEST_P(GroupedContractionTest, ListsOfBatches) {
  std::mt19937 dice(7);
  for (int round = 0; round < 12; ++round) {
    Case c{3, 20, 2, 5, 3, 2, false, false};
    bool hasOwnSizes = round % 2 == 0;
    for (int64_t list = 0; list < (hasOwnSizes ? c.batch : 1); ++list) {
      for (int64_t size : drawSizes(dice, c.rows, 6, dice() % 4)) {
        c.sizes.push_back(size);
      }
    }
    if (round % 3 != 0) {
      c.first = {0, 2, static_cast<int64_t>(dice() % 9)};
    }
    for (const Case &each : variantsOf(c)) {
      expectRight(each, hasOwnSizes, "round " + std::to_string(round));
    }
  }
  Case far{1, 4, 1, 2, 2, 2, true};
  far.type = DType::i64;
  far.sizes = {2, 2};
  for (int64_t first : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
    far.first = {first};
    for (const Case &each : variantsOf(far)) {
      Case none = each;
      none.sizes = {0, 0};
      std::vector<double> expected = reference(none, false);
      auto buffers = makeBuffers(each);
      ASSERT_TRUE(run(shapeOf(each, false), buffers, 1).ok());
      EXPECT_EQ(loadElement(DType::f64, buffers.back().data(), 0), expected[0]);
    }
  }
}

TEST_P(GroupedContractionTest, SizesThatDoNotFitEndTheRun) {
  auto with = [](std::vector<int64_t> sizes, bool hasOwnSizes) {
    Case c{hasOwnSizes ? 2 : 1, 6, 1, 2, 2, 2};
    c.sizes = std::move(sizes);
    auto buffers = makeBuffers(c);
    Status status = run(shapeOf(c, hasOwnSizes), buffers, 2);
    EXPECT_TRUE(status.ok() || exitCode(status.kind()) == 15);
    return status.message();
  };
  EXPECT_EQ(with({2, 4}, false), "");
  EXPECT_EQ(with({0, 0}, false), "");
  EXPECT_THAT(with({2, -1}, false),
              testing::HasSubstr("expected groups of at least 0 rows and at "
                                 "most 6 together, got -1 of group 1 behind 2 "
                                 "in 'groups' of device 0"));
  EXPECT_THAT(with({4, 3}, false),
              testing::HasSubstr("got 3 of group 1 behind 4"));
  EXPECT_THAT(with({INT32_MAX, INT32_MAX}, false),
              testing::HasSubstr("got 2147483647 of group 0 behind 0"));
  EXPECT_EQ(with({6, 0, 0, 6}, true), "");
  EXPECT_THAT(with({6, 0, 0, 7}, true),
              testing::HasSubstr("got 7 of group 1 behind 0"));
}

TEST_P(GroupedContractionTest, WhatIsUnsoundIsRefused) {
  auto after = [](void (*edit)(GroupedContractionShape &shape)) {
    Case c{1, 6, 1, 2, 2, 2};
    c.sizes = {2, 4};
    GroupedContractionShape shape = shapeOf(c, false);
    edit(shape);
    std::unique_ptr<World> world = GetParam().make(1);
    Status status =
        world->device(0).prepare({"test", shape, 2, 1 << 20}).status();
    EXPECT_TRUE(status.ok() || exitCode(status.kind()) == 15);
    return status.message();
  };
  using S = GroupedContractionShape;
  EXPECT_EQ(after([](S &) {}), "");
  for (auto edit :
       {+[](S &s) { s.rows = -1; }, +[](S &s) { s.rows = 5; },
        +[](S &s) { s.rows = 0; }, +[](S &s) { s.rows = 3; },
        +[](S &s) { s.product.alpha = 2; }, +[](S &s) { s.sizes = DType::f32; },
        +[](S &s) { s.product.hasBias = true; },
        +[](S &s) { s.product.activation = Activation::relu; },
        +[](S &s) { s.stride = -1; }, +[](S &s) { s.groups = -1; },
        +[](S &s) { s.numSizes = -1; },
        +[](S &s) { s.product.indices[3].size = int64_t(1) << 58; }}) {
    EXPECT_THAT(after(edit),
                testing::StartsWith("expected rows m or k, integer sizes"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, GroupedContractionTest,
                         testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
