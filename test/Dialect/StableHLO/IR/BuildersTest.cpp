//===- BuildersTest.cpp - Graph-level ops from values ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each builder gives an op that verifies, of the type it promises; constants
// and neutral elements have the right bits for every element type.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/Builders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {

class Builders : public testing::Test {
protected:
  Builders() : b(&context), loc(b.getUnknownLoc()) {
    context.loadDialect<func::FuncDialect, StableHLODialect>();
    module = ModuleOp::create(loc);
    b.setInsertionPointToStart(module->getBody());
    auto f =
        func::FuncOp::create(b, loc, "f", b.getFunctionType({f32({4, 8})}, {}));
    x = f.addEntryBlock()->getArgument(0);
    b.setInsertionPointToStart(&f.front());
    func::ReturnOp::create(b, loc);
    b.setInsertionPointToStart(&f.front());
  }
  ~Builders() override { EXPECT_TRUE(succeeded(verify(*module))); }

  RankedTensorType f32(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, b.getF32Type());
  }
  Attribute splat(Value constant) {
    return cast<DenseElementsAttr>(
               constant.getDefiningOp<ConstantOp>().getValue())
        .getSplatValue<Attribute>();
  }

  MLIRContext context;
  OpBuilder b;
  Location loc;
  OwningOpRef<ModuleOp> module;
  Value x;
};

TEST_F(Builders, ElementWiseKeepsTypeWithoutEncoding) {
  auto encoded =
      RankedTensorType::get({4, 8}, b.getF32Type(), b.getStringAttr("layout"));
  Value y = TanhOp::create(b, loc, encoded, x);
  EXPECT_EQ(add(b, loc, y, x).getType(), f32({4, 8}));
  EXPECT_EQ(exp(b, loc, y).getType(), f32({4, 8}));
  EXPECT_EQ(constantLike(b, loc, y, 1.0).getType(), f32({4, 8}));
  EXPECT_EQ(compare(b, loc, ComparisonDirection::LT, y, x).getType(),
            RankedTensorType::get({4, 8}, b.getI1Type()));
}

TEST_F(Builders, CompareTypeFollowsElement) {
  auto typeOf = [&](Type element) {
    Value c = scalar(b, loc, element, 1);
    Value r = compare(b, loc, ComparisonDirection::EQ, c, c);
    return *r.getDefiningOp<CompareOp>().getCompareType();
  };
  EXPECT_EQ(typeOf(b.getF64Type()), ComparisonType::FLOAT);
  EXPECT_EQ(typeOf(b.getI32Type()), ComparisonType::SIGNED);
  EXPECT_EQ(typeOf(b.getI1Type()), ComparisonType::UNSIGNED);
  EXPECT_EQ(typeOf(b.getIntegerType(8, false)), ComparisonType::UNSIGNED);
}

TEST_F(Builders, ElementsRoundAndTruncate) {
  EXPECT_EQ(
      cast<FloatAttr>(elementOf(b.getBF16Type(), 1.001)).getValueAsDouble(),
      1.0);
  EXPECT_EQ(cast<IntegerAttr>(elementOf(b.getI32Type(), -2.7)).getInt(), -2);
  EXPECT_TRUE(
      cast<IntegerAttr>(elementOf(b.getI1Type(), 0.5)).getValue().isOne());
  EXPECT_EQ(
      cast<IntegerAttr>(elementOf(b.getIntegerType(8, false), 255)).getUInt(),
      255u);
}

TEST_F(Builders, NeutralElements) {
  auto neutral = [&](ReductionKind kind, Type element) {
    return splat(neutralScalar(b, loc, kind, element));
  };
  auto f = b.getF32Type();
  EXPECT_TRUE(cast<FloatAttr>(neutral(ReductionKind::max, f))
                  .getValue()
                  .isNegInfinity());
  EXPECT_TRUE(cast<FloatAttr>(neutral(ReductionKind::min, f))
                  .getValue()
                  .isPosInfinity());
  EXPECT_EQ(
      cast<FloatAttr>(neutral(ReductionKind::product, f)).getValueAsDouble(),
      1);
  auto i8 = b.getI8Type();
  EXPECT_EQ(cast<IntegerAttr>(neutral(ReductionKind::max, i8)).getInt(), -128);
  EXPECT_EQ(cast<IntegerAttr>(neutral(ReductionKind::min, i8)).getInt(), 127);
  EXPECT_EQ(cast<IntegerAttr>(neutral(ReductionKind::bitAnd, i8)).getInt(), -1);
  EXPECT_TRUE(cast<IntegerAttr>(neutral(ReductionKind::max, b.getI1Type()))
                  .getValue()
                  .isZero());
  // A float type without infinities starts from its largest value.
  auto e4m3 = Float8E4M3FNType::get(&context);
  EXPECT_EQ(
      cast<FloatAttr>(neutral(ReductionKind::max, e4m3)).getValueAsDouble(),
      -448);
}

TEST_F(Builders, MovementComputesShapes) {
  Value zero = scalar(b, loc, b.getF32Type(), 0);
  EXPECT_EQ(reshape(b, loc, x, {2, 16}).getType(), f32({2, 16}));
  EXPECT_EQ(reshape(b, loc, x, {4, 8}), x);
  EXPECT_EQ(transpose(b, loc, x, {1, 0}).getType(), f32({8, 4}));
  EXPECT_EQ(transpose(b, loc, x, {0, 1}), x);
  EXPECT_EQ(slice(b, loc, x, {0, 1}, {4, 8}).getType(), f32({4, 7}));
  EXPECT_EQ(slice(b, loc, x, {0, 1}, {4, 8}, {1, 3}).getType(), f32({4, 3}));
  EXPECT_EQ(pad(b, loc, x, zero, {1, 0}, {0, -2}).getType(), f32({5, 6}));
  EXPECT_EQ(pad(b, loc, x, zero, {0, 0}, {0, 0}, {0, 1}).getType(),
            f32({4, 15}));
  EXPECT_EQ(concatenate(b, loc, {x, x}, 1).getType(), f32({4, 16}));
  EXPECT_EQ(reverse(b, loc, x, {0}).getType(), f32({4, 8}));
  Value row = reduceAdd(b, loc, x, {0});
  EXPECT_EQ(row.getType(), f32({8}));
  EXPECT_EQ(broadcastAlong(b, loc, row, f32({4, 8}), {0}).getType(),
            f32({4, 8}));
  EXPECT_EQ(convertTo(b, loc, x, b.getF32Type()), x);
  EXPECT_EQ(convertTo(b, loc, x, b.getI32Type()).getType(),
            RankedTensorType::get({4, 8}, b.getI32Type()));
}

TEST_F(Builders, DotGeneralOrdersDims) {
  Value y = transpose(b, loc, x, {1, 0});
  auto dims = dotDims(&context, {}, {}, {1}, {0});
  EXPECT_EQ(dotGeneral(b, loc, x, y, dims).getType(), f32({4, 4}));
  EXPECT_EQ(dotGeneral(b, loc, x, y, dims, b.getF64Type()).getType(),
            RankedTensorType::get({4, 4}, b.getF64Type()));
  Value batched = dotGeneral(b, loc, x, x, dotDims(&context, {1}, {1}, {}, {}));
  EXPECT_EQ(batched.getType(), f32({8, 4, 4}));
}

TEST_F(Builders, ReduceKindIsReadBack) {
  for (ReductionKind kind : {ReductionKind::sum, ReductionKind::product,
                             ReductionKind::max, ReductionKind::min}) {
    auto op = reduce(b, loc, kind, x, {1}).getDefiningOp<ReduceOp>();
    EXPECT_EQ(reduceKindOf(op.getBody()), kind);
  }
  EXPECT_EQ(reduce(b, loc, ReductionKind::sum, x, {}), x);
  // A body that returns its argument is of no kind.
  auto op = reduceMax(b, loc, x, {1}).getDefiningOp<ReduceOp>();
  op.getBody().front().back().setOperand(0, op.getBody().getArgument(1));
  EXPECT_EQ(reduceKindOf(op.getBody()), std::nullopt);
}

TEST_F(Builders, GatherAndScatterAreInverse) {
  auto indices = iota(b, loc, RankedTensorType::get({3, 1}, b.getI32Type()), 0);
  auto gathered = gather(
      b, loc, f32({3, 8}), x, indices,
      GatherDimensionNumbersAttr::get(&context, {1}, {0}, {}, {}, {0}, 1),
      {1, 8});
  auto scattered = scatter(
      b, loc, ReductionKind::sum, x, indices, gathered,
      ScatterDimensionNumbersAttr::get(&context, {1}, {0}, {}, {}, {0}, 1));
  EXPECT_EQ(scattered.getType(), x.getType());
}

TEST_F(Builders, NeutralElementsOfUnsignedIntegers) {
  Type u8 = b.getIntegerType(8, false);
  for (auto [kind, value] : {std::pair(ReductionKind::max, 0u),
                             {ReductionKind::min, 255u},
                             {ReductionKind::sum, 0u},
                             {ReductionKind::product, 1u},
                             {ReductionKind::bitAnd, 255u}})
    EXPECT_EQ(cast<IntegerAttr>(splat(neutralScalar(b, loc, kind, u8)))
                  .getValue()
                  .getZExtValue(),
              value);
}

TEST_F(Builders, NeutralValuesAreSplats) {
  auto constant = [&](ArrayRef<float> values) -> Value {
    return ConstantOp::create(b, loc, DenseElementsAttr::get(f32({2}), values));
  };
  EXPECT_TRUE(isNeutral(constant({0, 0}), ReductionKind::sum));
  EXPECT_TRUE(isNeutral(constant({-0.f, -0.f}), ReductionKind::sum));
  EXPECT_FALSE(isNeutral(constant({0, 1}), ReductionKind::sum));
  EXPECT_FALSE(isNeutral(constant({0, 0}), ReductionKind::product));
  EXPECT_FALSE(isNeutral(constant({0, 0}), ReductionKind::bitOr));
  EXPECT_FALSE(isNeutral(x, ReductionKind::sum));
}

// Constants are made of elements of the result's shape and type only.
TEST_F(Builders, DialectMakesConstants) {
  auto *dialect = context.getLoadedDialect<StableHLODialect>();
  Attribute value = DenseElementsAttr::get(f32({2}), ArrayRef<float>{1, 2});
  Operation *made = dialect->materializeConstant(b, value, f32({2}), loc);
  ASSERT_TRUE(made);
  EXPECT_EQ(cast<ConstantOp>(made).getValue(), value);
  for (Type type :
       {Type(f32({1, 2})), Type(RankedTensorType::get({2}, b.getI32Type()))})
    EXPECT_FALSE(dialect->materializeConstant(b, value, type, loc));
  EXPECT_FALSE(
      dialect->materializeConstant(b, b.getF32FloatAttr(1), f32({}), loc));
}

} // namespace
