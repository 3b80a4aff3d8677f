//===- CopyDimsTest.cpp - Boxes of strided copies -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A box is compared with the places of the elements, one by one.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Executor/Binding/Binder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace llmc::rt::exec {
namespace {

using Places = std::vector<std::pair<int64_t, int64_t>>;

std::vector<int64_t> stridesOf(const plan::Operand &operand) {
  std::vector<int64_t> strides(operand.shape.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * operand.shape[i];
  }
  return operand.strides.empty() ? strides : operand.strides;
}

int64_t placeOf(const plan::Operand &operand, int64_t index) {
  std::vector<int64_t> strides = stridesOf(operand);
  int64_t place = 0;
  for (size_t i = strides.size(); i-- > 0;) {
    place += index % operand.shape[i] * strides[i];
    index /= operand.shape[i];
  }
  return place * 4;
}

/// The two places of each element, in the order of elements.
Places wantedOf(const plan::Operand &to, const plan::Operand &from,
                int64_t count) {
  Places places;
  for (int64_t i = 0; i < count; ++i) {
    places.push_back({to.present() ? placeOf(to, i) : 4 * i,
                      from.present() ? placeOf(from, i) : 4 * i});
  }
  return places;
}

Places placesOf(const CopyBox &box) {
  Places places = {{0, 0}};
  auto repeat = [&](uint64_t extent, int64_t to, int64_t from) {
    Places all;
    for (auto [x, y] : places) {
      for (uint64_t i = 0; i < extent; ++i) {
        all.push_back({x + static_cast<int64_t>(i) * to,
                       y + static_cast<int64_t>(i) * from});
      }
    }
    places = std::move(all);
  };
  for (const CopyDim &dim : box.dims) {
    repeat(dim.extent, dim.to, dim.from);
  }
  repeat(box.bytes / 4, 4, 4);
  return places;
}

plan::Operand operandOf(std::vector<int64_t> shape,
                        std::vector<int64_t> strides = {}) {
  plan::Operand operand;
  operand.buffer = 0;
  operand.dtype = DType::f32;
  operand.shape = std::move(shape);
  operand.strides = std::move(strides);
  return operand;
}

/// Any order of the dims, with gaps.
plan::Operand draw(std::vector<int64_t> shape, std::mt19937 &engine) {
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  if (engine() % 2) {
    std::shuffle(order.begin(), order.end(), engine);
  }
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1 + engine() % 2;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride = stride * shape[order[i]] + (engine() % 3 ? 0 : engine() % 4);
  }
  return operandOf(std::move(shape), std::move(strides));
}

TEST(CopyBoxes, AreThePlacesOfTheElements) {
  std::mt19937 engine(7);
  for (int i = 0; i < 500; ++i) {
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (size_t rank = engine() % 6; shape.size() < rank;) {
      shape.push_back(engine() % 4 + (engine() % 20 ? 1 : 0));
      count *= shape.back();
    }
    plan::Operand to = draw(shape, engine), from = draw(shape, engine);
    int kind = static_cast<int>(engine() % 4);
    if (kind == 0) {
      to = {};
    }
    if (kind == 1) {
      from = {};
    }
    if (kind == 2) {
      from = operandOf({count});
    }
    Result<CopyBox> box = copyBox(to, from);
    ASSERT_TRUE(box.ok());
    EXPECT_EQ(placesOf(*box), wantedOf(to, from, count));
  }
}

TEST(CopyBoxes, HaveAsFewDimsAsTheyCan) {
  plan::Operand rows = operandOf({4, 6}, {12, 1});
  Result<CopyBox> box = copyBox(operandOf({4, 6}), rows);
  ASSERT_EQ((*box).dims.size(), 1u);
  EXPECT_EQ((*box).bytes, 24u);
  box = copyBox(operandOf({2, 2, 6}), operandOf({4, 6}));
  EXPECT_TRUE((*box).dims.empty());
  EXPECT_EQ((*box).bytes, 96u);
  // No element beside another, however many.
  box = copyBox(operandOf({1000, 1000}, {1, 1000}), operandOf({1000, 1000}));
  EXPECT_EQ((*box).dims.size(), 2u);
}

TEST(CopyBoxes, DimsMustDivideEachOther) {
  plan::Operand to = operandOf({4, 6}, {12, 1}),
                from = operandOf({6, 4}, {8, 1});
  Result<CopyBox> box = copyBox(to, from);
  ASSERT_FALSE(box.ok());
  EXPECT_EQ(box.kind(), ErrorKind::unsupported);
  EXPECT_NE(box.message().find("divide each other"), std::string::npos);
}
} // namespace
} // namespace llmc::rt::exec
