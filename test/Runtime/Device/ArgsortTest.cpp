//===- ArgsortTest.cpp - What every device computes of an argsort ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random keys of all types, most of them equal to another, on every world of
// test/Runtime/Comm/Worlds.h, against an insertion sort.
//
//===----------------------------------------------------------------------===//

#include "../Comm/Worlds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace llmc::rt::test {
namespace {

const Origin argsortOrigin{"argsort", "model.py:9"};

/// The elements of a key as they lie in memory.
using Bytes = std::vector<std::byte>;

/// Where a float stands: those of less bits keep their place as a double.
bool isLess(DType dtype, const Bytes &key, int64_t i, int64_t j) {
  if (!isFloat(dtype)) {
    int64_t x = loadInteger(dtype, key.data(), i),
            y = loadInteger(dtype, key.data(), j);
    return dtype == DType::u64
               ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y)
               : x < y;
  }
  auto placeOf = [&](int64_t at) {
    double x = loadElement(dtype, key.data(), at);
    double rank = std::isfinite(x) ? std::abs(x) : 0;
    int kind = std::isnan(x) ? 2 : std::isinf(x) ? 1 : 0;
    return std::signbit(x) ? std::tuple(-1, -kind, -rank)
                           : std::tuple(1, kind, rank);
  };
  return placeOf(i) < placeOf(j);
}

/// Numbers, infinities, NaN and zeros of both signs, the extremes of integers.
Bytes draw(std::mt19937 &dice, DType dtype, int64_t count) {
  Bytes key(count * sizeOf(dtype));
  const double special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 0.5};
  for (int64_t i = 0; i < count; ++i) {
    int64_t small = static_cast<int64_t>(dice() % 7) - 3;
    if (isFloat(dtype)) {
      storeElement(dtype, key.data(), i,
                   dice() % 2 == 0 ? static_cast<double>(small)
                                   : special[dice() % 7]);
    } else if (dtype == DType::i1) {
      storeInteger(dtype, key.data(), i, small & 1);
    } else {
      int64_t wide = dice() % 2 == 0 ? INT64_MIN : INT64_MAX;
      wide >>= 64 - 8 * sizeOf(dtype);
      storeInteger(dtype, key.data(), i, dice() % 4 == 0 ? wide : small);
    }
  }
  return key;
}

/// Row by row: each element goes after those that it does not stand before.
std::vector<int32_t> reference(const ArgsortShape &shape,
                               const std::vector<Bytes> &keys) {
  std::vector<int32_t> out(shape.outer * shape.count * shape.inner);
  for (int64_t row = 0; row < shape.outer * shape.inner; ++row) {
    int64_t outer = row / shape.inner, inner = row % shape.inner;
    auto at = [&](int64_t position) {
      return (outer * shape.size + position) * shape.inner + inner;
    };
    auto isBefore = [&](int64_t i, int64_t j) {
      for (size_t key = 0; key < keys.size(); ++key) {
        const auto &[dtype, isDescending] = shape.keys[key];
        if (isLess(dtype, keys[key], at(i), at(j))) {
          return !isDescending;
        }
        if (isLess(dtype, keys[key], at(j), at(i))) {
          return isDescending;
        }
      }
      return false;
    };
    std::vector<int32_t> order;
    for (int32_t i = 0; i < shape.size; ++i) {
      order.insert(std::upper_bound(order.begin(), order.end(), i, isBefore),
                   i);
    }
    for (int64_t i = 0; i < shape.count; ++i) {
      out[(outer * shape.count + i) * shape.inner + inner] = order[i];
    }
  }
  return out;
}

class ArgsortTest : public testing::TestWithParam<WorldKind> {
protected:
  /// What a device makes of a call; nothing where it has none.
  static std::vector<int32_t> run(const ArgsortShape &shape,
                                  const std::vector<Bytes> &keys, int threads) {
    std::unique_ptr<World> world = GetParam().make(1);
    Device &device = world->device(0);
    LibraryShape library{"test", shape, threads, 0};
    library.workspaceBytes = *(*findBackend("cpu"))->libraryWorkspace(library);
    Result<const LibraryOp *> op = device.prepare(library);
    if (!op.ok()) {
      ADD_FAILURE() << op.message();
      return {};
    }
    std::vector<int32_t> out(shape.outer * shape.count * shape.inner);
    std::vector<uint64_t> places = {0};
    for (const Bytes &key : keys) {
      places.push_back((places.back() + key.size() + 63) / 64 * 64);
    }
    // Behind the result there is room for all positions, which stays as it is.
    uint64_t room = shape.outer * shape.size * shape.inner * 4;
    places.push_back((places.back() + room + 63) / 64 * 64);
    Mirror mirror(*world, device, places.back() + library.workspaceBytes + 64);
    std::vector<void *> buffers;
    for (size_t i = 0; i <= keys.size(); ++i) {
      if (i < keys.size()) {
        std::copy(keys[i].begin(), keys[i].end(), mirror.host() + places[i]);
      }
      buffers.push_back(mirror.at(mirror.host() + places[i]));
    }
    std::memset(mirror.host() + places[keys.size()], 0x55, room);
    std::byte *workspace = mirror.host() + places.back();
    std::memset(workspace, 0xff, library.workspaceBytes);
    EXPECT_TRUE(mirror.push().ok());
    auto count = static_cast<uint32_t>(buffers.size());
    Stream &stream = **device.stream({"s", 0, 1, count});
    device.call(stream, **op, buffers.data(), count, mirror.at(workspace),
                argsortOrigin);
    EXPECT_TRUE(world->drain(std::chrono::seconds(20)).ok());
    EXPECT_TRUE(mirror.pull().ok());
    const std::byte *found = mirror.host() + places[keys.size()];
    if (!out.empty()) {
      std::memcpy(out.data(), found, out.size() * 4);
    }
    EXPECT_TRUE(std::all_of(found + out.size() * 4, found + room,
                            [](std::byte b) { return b == std::byte(0x55); }));
    return out;
  }

  static void expectRight(const ArgsortShape &shape, const std::string &what) {
    std::mt19937 dice(11);
    std::vector<Bytes> keys;
    for (const ArgsortKey &key : shape.keys) {
      keys.push_back(
          draw(dice, key.dtype, shape.outer * shape.size * shape.inner));
    }
    std::vector<int32_t> expected = reference(shape, keys);
    for (int threads : {1, 3}) {
      EXPECT_TRUE(run(shape, keys, threads) == expected)
          << what << " on " << threads;
    }
  }
};

TEST_P(ArgsortTest, AllTypes) {
  for (int dtype = 0; dtype < numDTypes; ++dtype) {
    auto type = static_cast<DType>(dtype);
    // Not a number has the bits of a negative zero, which no order of bits
    // knows; the compiler orders these in f32.
    const SmallFloat *format = findSmallFloat(type);
    if (format && format->kind == SmallFloat::Kind::finiteUnsignedZero) {
      continue;
    }
    for (bool isDescending : {false, true}) {
      expectRight({{{type, isDescending}}, 4, 50, 1, 50},
                  std::string(nameOf(type)));
    }
  }
}

TEST_P(ArgsortTest, DimsAndCounts) {
  for (auto [outer, size, inner] : {std::tuple<int, int, int>(1, 33, 1),
                                    {2, 33, 3},
                                    {5, 1, 2},
                                    {2, 2, 1},
                                    {0, 4, 1},
                                    {3, 0, 2},
                                    {3, 4, 0}}) {
    for (int count : {0, 1, 4, 16, 33}) {
      if (count <= size) {
        expectRight({{{DType::f32, true}}, outer, size, inner, count},
                    std::to_string(size) + "/" + std::to_string(count));
      }
    }
  }
}

// Keys that fit in 32 bits, in 64, and others.
TEST_P(ArgsortTest, SeveralKeys) {
  using K = ArgsortKey;
  K byte{DType::u8, true}, half{DType::bf16, false}, word{DType::i32, true},
      number{DType::f32, false}, wide{DType::f64, true};
  std::vector<std::vector<K>> lists = {
      {byte, half},        {half, half, byte}, {word, number},
      {wide, byte},        {byte, wide, half}, {byte, byte, byte, byte, byte},
      {word, word, number}};
  for (const std::vector<K> &keys : lists) {
    for (int count : {3, 40}) {
      expectRight({keys, 3, 40, 2, count}, std::to_string(keys.size()));
    }
  }
}

// Rows on which all threads work, with as many equal elements as there are.
TEST_P(ArgsortTest, LongRows) {
  for (DType type : {DType::i16, DType::f64}) {
    for (int count : {3000, 9000, 20000}) {
      expectRight({{{type, false}}, 1, 20000, 1, count},
                  std::string(nameOf(type)) + " " + std::to_string(count));
    }
  }
  expectRight({{{DType::f32, true}}, 1, 17000, 2, 17000}, "two rows");
}

TEST_P(ArgsortTest, WhatIsUnsoundIsRefused) {
  auto prepare = [](const ArgsortShape &shape) {
    std::unique_ptr<World> world = GetParam().make(1);
    Status status =
        world->device(0).prepare({"test", shape, 2, 1 << 20}).status();
    EXPECT_TRUE(status.ok() || exitCode(status.kind()) == 15);
    return status.message();
  };
  ArgsortKey key;
  std::string refusal = "expected keys, a count of at most the size, and less "
                        "than 2^31 elements in a row and 2^60 bytes in argsort "
                        "'test'";
  EXPECT_EQ(prepare({{key}, 4, 8, 1, 8}), "");
  EXPECT_EQ(prepare({{}, 4, 8, 1, 8}), refusal);
  EXPECT_EQ(prepare({{key}, 4, 8, 1, 9}), refusal);
  EXPECT_EQ(prepare({{key}, 4, 8, 1, -1}), refusal);
  EXPECT_EQ(prepare({{key}, -1, 8, 1, 8}), refusal);
  EXPECT_EQ(prepare({{key}, 1, int64_t(1) << 31, 1, 8}), refusal);
  EXPECT_EQ(prepare({{key}, int64_t(1) << 40, 1 << 20, 1, 8}), refusal);
  EXPECT_EQ(prepare({{{static_cast<DType>(20), false}}, 4, 8, 1, 8}), refusal);
}

INSTANTIATE_TEST_SUITE_P(All, ArgsortTest, testing::ValuesIn(allWorlds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace llmc::rt::test
