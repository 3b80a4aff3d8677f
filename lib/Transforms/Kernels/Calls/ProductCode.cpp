//===- ProductCode.cpp - One sum of products, in code ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductCode.h.
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "ProductCode.h"
#include "../WriterFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmc::kernels {

Type getSumType(MLIRContext *context, rt::DType accumulate) {
  if (!rt::isFloat(accumulate))
    return IntegerType::get(context, 64);
  return accumulate == rt::DType::f64 ? Type(Float64Type::get(context))
                                      : Type(Float32Type::get(context));
}

ProductCode::ProductCode(GridCode &code, const Product &product)
    : code(code), product(product),
      sumType(kernels::getSumType(code.getBuilder().getContext(),
                                  product.accumulate)) {}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

ProductWalk ProductCode::walk(ArrayRef<ProductDim> dims, Value index) {
  Value none = code.constant(0);
  ProductWalk at{none, none, none, none, Values(product.windows.size(), none)};
  for (size_t d = dims.size(); d-- > 0;) {
    const ProductDim &dim = dims[d];
    Value position = d == 0 ? index : code.rem(index, dim.size);
    if (d > 0)
      index = code.div(index, dim.size);
    at.a = code.add(at.a, code.mul(position, dim.a));
    at.b = code.add(at.b, code.mul(position, dim.b));
    at.c = code.add(at.c, code.mul(position, dim.c));
    at.bias = code.add(at.bias, code.mul(position, dim.bias));
    if (dim.window >= 0)
      at.positions[dim.window] =
          code.add(at.positions[dim.window], code.mul(position, dim.step));
  }
  return at;
}

ProductWalk ProductCode::start() {
  Value none = code.constant(0);
  ProductWalk at{code.constant(product.startA), none, none, none, {}};
  for (const ProductWindow &window : product.windows)
    at.positions.push_back(code.constant(window.start));
  return at;
}

ProductWalk ProductCode::add(const ProductWalk &left,
                             const ProductWalk &right) {
  ProductWalk sum{code.add(left.a, right.a),
                  code.add(left.b, right.b),
                  code.add(left.c, right.c),
                  code.add(left.bias, right.bias),
                  {}};
  for (auto [l, r] : llvm::zip_equal(left.positions, right.positions))
    sum.positions.push_back(code.add(l, r));
  return sum;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value ProductCode::toSum(Value element, rt::DType type) {
  OpBuilder &builder = code.getBuilder();
  Location loc = code.getLoc();
  unsigned from = element.getType().getIntOrFloatBitWidth(),
           to = sumType.getIntOrFloatBitWidth();
  if (from == to)
    return element;
  if (isa<FloatType>(sumType))
    return from < to
               ? Value(arith::ExtFOp::create(builder, loc, sumType, element))
               : Value(arith::TruncFOp::create(builder, loc, sumType, element));
  return rt::isSignedInteger(type)
             ? Value(arith::ExtSIOp::create(builder, loc, sumType, element))
             : Value(arith::ExtUIOp::create(builder, loc, sumType, element));
}

Value ProductCode::fromSum(Value sum, Type type) {
  OpBuilder &builder = code.getBuilder();
  if (sum.getType() == type)
    return sum;
  if (isa<IntegerType>(type))
    return code.toWidth(sum, type);
  return type.getIntOrFloatBitWidth() < sumType.getIntOrFloatBitWidth()
             ? Value(arith::TruncFOp::create(builder, code.getLoc(), type, sum))
             : Value(arith::ExtFOp::create(builder, code.getLoc(), type, sum));
}

Value ProductCode::zero() { return code.constant(sumType, 0); }

Value ProductCode::loadTerm(Value memory, rt::DType type, Value at,
                            Value isIn) {
  Value place = code.select(isIn, at, code.constant(0));
  return code.select(isIn, toSum(code.load(memory, place), type), zero());
}

Value ProductCode::loadLeft(Value memory, const ProductWalk &at, Value isIn) {
  Value place = at.a;
  for (auto [window, position] :
       llvm::zip_equal(product.windows, at.positions)) {
    if (!isSeeded(WriterFault::windowHasNoEdge))
      isIn = code.both(
          isIn,
          code.isLess(position, code.constant(window.size * window.dilation)));
    if (window.dilation == 1)
      continue;
    if (!isSeeded(WriterFault::dilationHasNoGaps))
      isIn = code.both(isIn, code.isEqual(code.rem(position, window.dilation),
                                          code.constant(0)));
    place = code.add(
        place, code.mul(code.div(position, window.dilation), window.stride));
  }
  return loadTerm(memory, product.a, place, isIn);
}

Value ProductCode::multiplyAdd(Value left, Value right, Value sum) {
  OpBuilder &builder = code.getBuilder();
  if (isa<FloatType>(sumType))
    return math::FmaOp::create(builder, code.getLoc(), left, right, sum);
  return addSums(sum,
                 arith::MulIOp::create(builder, code.getLoc(), left, right));
}

Value ProductCode::addSums(Value left, Value right) {
  OpBuilder &builder = code.getBuilder();
  return isa<FloatType>(sumType)
             ? Value(arith::AddFOp::create(builder, code.getLoc(), left, right))
             : Value(
                   arith::AddIOp::create(builder, code.getLoc(), left, right));
}

void ProductCode::storeSum(Value sum, const ProductWalk &at, Value bias,
                           Value c) {
  Type type = cast<MemRefType>(c.getType()).getElementType();
  if (product.isAdded)
    sum = addSums(sum, toSum(code.load(c, at.c), product.c));
  if (bias)
    sum = addSums(sum, toSum(code.load(bias, at.bias), product.bias));
  code.store(fromSum(sum, type), c, at.c);
}

//===----------------------------------------------------------------------===//
// Sums of splits
//===----------------------------------------------------------------------===//

void writeSum(GridCode &code, const Product &product, int64_t splits) {
  int64_t m = countOf(product.m), n = countOf(product.n);
  int64_t sums = countOf(product.batch) * m * n;
  if (isSeeded(WriterFault::lastSplitIsForgotten))
    --splits;
  ProductCode sum(code, product);
  code.forRow(ProductTile::sumThreads, [&](Value row) {
    Value parts = code.getMemory(0);
    Value first = code.load(parts, row);
    Values all =
        code.loop(code.constant(1), code.constant(splits), 1, first,
                  [&](Value part, ValueRange carried) -> Values {
                    Value at = code.add(code.mul(part, sums), row);
                    return {sum.addSums(carried[0], code.load(parts, at))};
                  });
    ProductWalk at =
        sum.add(sum.walk(product.n, code.rem(row, n)),
                sum.add(sum.walk(product.m, code.rem(code.div(row, n), m)),
                        sum.walk(product.batch, code.div(row, n * m))));
    Value bias = product.hasBias ? code.getMemory(1) : Value();
    sum.storeSum(all[0], at, bias, code.getMemory(product.hasBias ? 2 : 1));
  });
}

} // namespace llmc::kernels
