//===- LocalIndexTest.cpp - Positions, elements and indices ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of a dimension whose factors are padded in any way, every position: whether
// it is an element and which index it has, counted digit by digit; and back.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"
#include "GraphContext.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using graph::LocalDim;

namespace {
using Factors = SmallVector<std::pair<int64_t, int64_t>, 2>;
using Numbers = std::vector<int64_t>;

LocalDim makeDim(Factors factors) {
  LocalDim dim;
  for (auto [size, extent] : factors) {
    dim.size *= size;
    dim.extent *= extent;
  }
  dim.local = dim.extent;
  dim.factors = std::move(factors);
  return dim;
}

/// The index at each position; -1 where there is no element.
Numbers countDigits(const LocalDim &dim) {
  Numbers indices;
  for (int64_t position = 0; position < dim.extent; ++position) {
    int64_t index = 0, rest = position, block = dim.extent;
    for (auto [size, extent] : dim.factors) {
      block /= extent;
      int64_t digit = rest / block;
      rest %= block;
      index = index < 0 || digit >= size ? -1 : index * size + digit;
    }
    indices.push_back(index);
  }
  return indices;
}

/// What `build` makes of the numbers 0 ... count - 1; none if it builds none.
template <typename Build>
std::optional<Numbers> run(int64_t count, Build build) {
  GraphContext context;
  OpBuilder b(context.get());
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, loc);
  b.setInsertionPointToStart(module->getBody());
  auto function = func::FuncOp::create(b, loc, "f", b.getFunctionType({}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  auto type = RankedTensorType::get({count}, b.getI32Type());
  Value result = build(b, loc, stablehlo::iota(b, loc, type, 0));
  if (!result)
    return std::nullopt;
  func::ReturnOp::create(b, loc, result);
  function.setType(b.getFunctionType({}, result.getType()));
  EXPECT_TRUE(succeeded(verify(*module))) << context.takeMessages();
  SmallVector<HostTensor> results;
  EXPECT_TRUE(succeeded(Interpreter().interpret(function, {}, results)));
  Numbers numbers;
  for (int64_t i = 0; i < results[0].getNumElements(); ++i)
    numbers.push_back(results[0].getInt(i));
  return numbers;
}

class LocalIndex : public testing::TestWithParam<Factors> {
protected:
  LocalDim dim = makeDim(GetParam());
  Numbers indices = countDigits(dim);
};

TEST_P(LocalIndex, TellsElementsFromPadding) {
  std::optional<Numbers> is =
      run(dim.extent, [&](OpBuilder &b, Location loc, Value positions) {
        return stablehlo::buildIsElement(b, loc, dim, positions);
      });
  EXPECT_EQ(is.has_value(), dim.isPadded()) << "all are elements";
  for (int64_t p = 0; is && p < dim.extent; ++p)
    EXPECT_EQ((*is)[p] != 0, indices[p] >= 0) << "position " << p;
}

TEST_P(LocalIndex, FindsTheIndexOfAPosition) {
  std::optional<Numbers> got =
      run(dim.extent, [&](OpBuilder &b, Location loc, Value positions) {
        return stablehlo::buildIndices(b, loc, dim, positions);
      });
  ASSERT_TRUE(got);
  for (int64_t p = 0; p < dim.extent; ++p)
    if (indices[p] >= 0)
      EXPECT_EQ((*got)[p], indices[p]) << "position " << p;
}

TEST_P(LocalIndex, FindsThePositionOfAnIndex) {
  std::optional<Numbers> got =
      run(dim.size, [&](OpBuilder &b, Location loc, Value wanted) {
        return stablehlo::buildPositionsOf(b, loc, dim, wanted);
      });
  ASSERT_TRUE(got);
  for (int64_t i = 0; i < dim.size; ++i)
    EXPECT_EQ(indices[(*got)[i]], i);
}

INSTANTIATE_TEST_SUITE_P(
    Factors, LocalIndex,
    testing::Values(Factors{{6, 6}}, Factors{{5, 6}}, Factors{{2, 2}, {3, 3}},
                    Factors{{3, 4}, {2, 2}}, Factors{{3, 3}, {2, 4}},
                    Factors{{3, 4}, {2, 4}},
                    // Of three, one, two or all are padded.
                    Factors{{2, 2}, {3, 3}, {2, 3}},
                    Factors{{2, 2}, {2, 3}, {3, 3}},
                    Factors{{2, 3}, {3, 3}, {2, 2}},
                    Factors{{2, 2}, {2, 3}, {3, 4}},
                    Factors{{2, 3}, {1, 2}, {3, 4}}));

// 2^31 - 1 is the largest position that an i32 can hold.
TEST(LocalPositions, AreWideWhereTheyMustBe) {
  GraphContext context;
  LocalDim dim;
  dim.extent = 2147483647;
  EXPECT_TRUE(
      stablehlo::getPositionType(context.get(), dim).isSignlessInteger(32));
  dim.extent += 1;
  EXPECT_TRUE(
      stablehlo::getPositionType(context.get(), dim).isSignlessInteger(64));
}

TEST(LocalPositions, BeginAtTheOffset) {
  LocalDim dim = makeDim({{12, 12}});
  dim.local = 4;
  for (bool isSplit : {false, true})
    EXPECT_EQ(run(1,
                  [&](OpBuilder &b, Location loc, Value) {
                    auto scalar = RankedTensorType::get({}, b.getI32Type());
                    Value offset =
                        isSplit ? stablehlo::constantSplat(b, loc, scalar, 8)
                                : Value();
                    return stablehlo::buildPositions(b, loc, dim, offset,
                                                     b.getI32Type());
                  }),
              isSplit ? Numbers({8, 9, 10, 11}) : Numbers({0, 1, 2, 3}));
}
} // namespace
