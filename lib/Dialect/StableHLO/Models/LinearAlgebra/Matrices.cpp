//===- Matrices.cpp - What the ops of matrices share ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Dialect/StableHLO/Models/LinearAlgebraTest.cpp
//===----------------------------------------------------------------------===//

#include "Matrices.h"
#include "../Movement.h"
#include "../Products/Contraction.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/GraphTensor.h"
#include "llmc/Support/HostElements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Graph ops
//===----------------------------------------------------------------------===//

Value stablehlo::transposeMatrices(OpBuilder &b, Location loc, Value x) {
  int64_t rank = typeOf(x).getRank();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(dims[rank - 1], dims[rank - 2]);
  return transpose(b, loc, x, dims);
}

Value stablehlo::multiplyMatrices(OpBuilder &b, Location loc, Value x, Value y,
                                  Summed summed) {
  int64_t rank = typeOf(x).getRank();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  int64_t dim = summed == Summed::Columns ? rank - 1 : rank - 2;
  return multiplyAsWide(b, loc, x, y,
                        dotDims(b.getContext(), batch, batch, dim, dim));
}

int64_t stablehlo::halve(int64_t size, int64_t block) {
  int64_t half = block;
  while (half * 2 < size)
    half *= 2;
  return half;
}

Value stablehlo::takePart(OpBuilder &b, Location loc, Value x,
                          MatrixPart part) {
  SmallVector<int64_t> limits(typeOf(x).getShape());
  SmallVector<int64_t> starts(limits.size(), 0);
  starts.end()[-2] = part.row, starts.back() = part.column;
  limits.end()[-2] = part.row + part.rows;
  limits.back() = part.column + part.columns;
  return slice(b, loc, x, starts, limits);
}

Value stablehlo::joinRows(OpBuilder &b, Location loc, ValueRange xs) {
  return concatenate(b, loc, xs, typeOf(xs[0]).getRank() - 2);
}

Value stablehlo::joinColumns(OpBuilder &b, Location loc, ValueRange xs) {
  return concatenate(b, loc, xs, typeOf(xs[0]).getRank() - 1);
}

Value stablehlo::makeTriangle(OpBuilder &b, Location loc, Value x, bool lower,
                              bool strict) {
  RankedTensorType type =
      withoutEncoding(x.getType()).clone(Type(b.getI32Type()));
  Value row = iota(b, loc, type, type.getRank() - 2);
  Value column = iota(b, loc, type, type.getRank() - 1);
  if (!lower)
    std::swap(row, column);
  return compare(b, loc,
                 strict ? ComparisonDirection::GT : ComparisonDirection::GE,
                 row, column);
}

Value stablehlo::keepTriangle(OpBuilder &b, Location loc, Value x, bool lower,
                              bool strict) {
  Value isKept = makeTriangle(b, loc, x, lower, strict);
  return select(b, loc, isKept, x, constantLike(b, loc, x, 0));
}

Type stablehlo::getWideElement(Type element) {
  return isNarrowFloat(element) ? Float32Type::get(element.getContext())
                                : element;
}

//===----------------------------------------------------------------------===//
// Rule and evaluation
//===----------------------------------------------------------------------===//

void stablehlo::addMatrixNumbers(ShardingRule &rule, RankedTensorType type) {
  for (int64_t dim = 0; dim < type.getRank() - 2; ++dim) {
    int factor = rule.addFactor(type.getDimSize(dim));
    for (TensorFactors &operand : rule.operands)
      operand[dim] = {factor};
    for (TensorFactors &result : rule.results)
      result[dim] = {factor};
  }
}

std::vector<double> stablehlo::loadElements(const HostTensor &tensor) {
  std::vector<double> elements(tensor.getNumElements());
  loadFloats(tensor, 0, elements);
  return elements;
}

HostTensor stablehlo::storeElements(RankedTensorType type,
                                    ArrayRef<double> elements) {
  HostTensor result(type);
  storeFloats(result, 0, elements);
  return result;
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

Value UpdateMath::index(int64_t value) const {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value UpdateMath::add(Value x, Value y) const {
  return arith::AddIOp::create(b, loc, x, y);
}
Value UpdateMath::sub(Value x, Value y) const {
  return arith::SubIOp::create(b, loc, x, y);
}
Value UpdateMath::isLess(Value x, Value y) const {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, y);
}
Value UpdateMath::isEqual(Value x, Value y) const {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
}
Value UpdateMath::either(Value x, Value y) const {
  return arith::OrIOp::create(b, loc, x, y);
}
Value UpdateMath::both(Value x, Value y) const {
  return arith::AndIOp::create(b, loc, x, y);
}
Value UpdateMath::choose(Value condition, Value yes, Value no) const {
  return arith::SelectOp::create(b, loc, condition, yes, no);
}
Value UpdateMath::number(Type element, double value) const {
  return arith::ConstantOp::create(b, loc, elementOf(element, value));
}

SmallVector<Value> stablehlo::replaceLast(ValueRange indices, size_t count,
                                          ValueRange more) {
  SmallVector<Value> result(indices.drop_back(count));
  llvm::append_range(result, more);
  return result;
}

void stablehlo::registerLinearAlgebraModels(DialectRegistry &registry) {
  registerCholeskyModel(registry);
  registerLuModels(registry);
  registerTriangularSolveModel(registry);
}
