//===- StochasticRounding.cpp - States that are rounded by chance ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StochasticRounding.h.
//
// Tests: test/Transforms/Training/stochastic-rounding.mlir,
// test/EndToEnd/stochastic-rounding.test
//===----------------------------------------------------------------------===//

#include "StochasticRounding.h"
#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace llmc;
namespace hlo = llmc::stablehlo;
using hlo::BitArithmetic;

bool training::canRoundStochastically(Type element) { return element.isBF16(); }

/// The number of each element in row-major order.
static Value buildPlaces(BitArithmetic &a, ArrayRef<int64_t> shape) {
  Type element = IntegerType::get(a.b.getContext(), 64, IntegerType::Unsigned);
  Value place;
  uint64_t stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    Value index = a.indices(shape, dim);
    if (stride != 1)
      index = a.apply<hlo::MulOp>(index, stride);
    place = place ? a.apply<hlo::AddOp>(place, index) : index;
    stride *= static_cast<uint64_t>(shape[dim]);
  }
  return place ? place : a.constant(RankedTensorType::get(shape, element), 0);
}

Value training::roundStochastically(OpBuilder &builder, Location loc, Value x,
                                    Type to, StringRef name, Value seed,
                                    Value step) {
  BitArithmetic a(builder, loc);
  auto type = cast<RankedTensorType>(x.getType());
  Type single = builder.getF32Type();
  Type bits = IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned);
  auto hash = static_cast<uint32_t>(llvm::xxh3_64bits(name));
  Value key = a.join(a.apply<hlo::XorOp>(a.convert(seed, 32), hash),
                     a.convert(step, 32));
  Value drawn =
      a.drawBits(rt::RandomBits::jax32, key, buildPlaces(a, type.getShape()));
  Value wide = hlo::convertTo(builder, loc, x, single);
  Value raised = a.apply<hlo::AddOp>(
      hlo::BitcastConvertOp::create(builder, loc, type.clone(bits), wide),
      a.apply<hlo::AndOp>(drawn, 0xffff));
  Value cut =
      hlo::BitcastConvertOp::create(builder, loc, type.clone(single),
                                    a.apply<hlo::AndOp>(raised, 0xffff0000));
  auto isFinite = hlo::IsFiniteOp::create(
      builder, loc, type.clone(builder.getI1Type()), wide);
  return hlo::select(builder, loc, isFinite,
                     hlo::convertTo(builder, loc, cut, to),
                     hlo::convertTo(builder, loc, wide, to));
}
