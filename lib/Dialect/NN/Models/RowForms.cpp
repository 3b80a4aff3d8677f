//===- RowForms.cpp - Ops that combine the elements of a row --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RowForms.h.
//
//===----------------------------------------------------------------------===//

#include "RowForms.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

ShardingRule nn::buildRowRule(Operation *op, ArrayRef<int64_t> dims) {
  ShardingRule rule = ShardingRule::forOp(op);
  RankedTensorType type = getRankedType(op->getOperand(0));
  SmallVector<int> all, ofRows;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isInRow = llvm::is_contained(dims, dim);
    int factor = rule.addFactor(type.getDimSize(dim),
                                isInRow ? FactorKind::Whole : FactorKind::Pass);
    all.push_back(factor);
    if (isInRow)
      rule.distributed.push_back(factor);
    else
      ofRows.push_back(factor);
  }
  for (auto *tensors : {&rule.operands, &rule.results})
    for (TensorFactors &tensor : *tensors)
      for (auto [list, factor] :
           llvm::zip_equal(tensor, tensor.size() == all.size() ? all : ofRows))
        list = {factor};
  return rule;
}

OpCost nn::buildRowCost(Operation *op, int64_t flops, int64_t transcendentals) {
  OpCost cost = getTrafficCost(op);
  int64_t elements = getRankedType(op->getOperand(0)).getNumElements();
  cost.flops = flops * elements;
  cost.transcendentals = transcendentals * elements;
  return cost;
}

std::vector<int64_t> nn::numberRows(RankedTensorType type,
                                    ArrayRef<int64_t> dims) {
  SmallVector<int64_t> steps(type.getRank(), 0);
  int64_t rows = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (llvm::is_contained(dims, dim))
      continue;
    steps[dim] = rows;
    rows *= type.getDimSize(dim);
  }
  std::vector<int64_t> numbers(type.getNumElements(), 0);
  int64_t stride = type.getNumElements();
  for (int64_t dim = 0; dim < type.getRank() && stride > 0; ++dim) {
    int64_t size = type.getDimSize(dim);
    stride /= size;
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] += static_cast<int64_t>(i) / stride % size * steps[dim];
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// RowBuilder
//===----------------------------------------------------------------------===//

RowBuilder::RowBuilder(OpBuilder &b, Location loc, Value full,
                       ArrayRef<int64_t> dims)
    : b(b), loc(loc), dims(dims) {
  RankedTensorType given = getRankedType(full);
  Type element = given.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = b.getF32Type();
  type = RankedTensorType::get(given.getShape(), element);
}

double RowBuilder::size() {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= type.getDimSize(dim);
  return static_cast<double>(count);
}

Value RowBuilder::widen(Value value) {
  return hlo::convertTo(b, loc, value, type.getElementType());
}
Value RowBuilder::narrow(Value value, Value like) {
  return hlo::convertTo(b, loc, value, getRankedType(like).getElementType());
}
Value RowBuilder::spread(Value rows) {
  return hlo::broadcastAlong(
      b, loc, rows, type.clone(getRankedType(rows).getElementType()), dims);
}
Value RowBuilder::sum(Value full) { return hlo::reduceAdd(b, loc, full, dims); }
Value RowBuilder::max(Value full) { return hlo::reduceMax(b, loc, full, dims); }
Value RowBuilder::mean(Value full) {
  Value total = sum(full);
  return div(total, constant(total, size()));
}

Value RowBuilder::constant(Value like, double number) {
  return hlo::constantLike(b, loc, like, number);
}
Value RowBuilder::add(Value x, Value y) { return hlo::add(b, loc, x, y); }
Value RowBuilder::sub(Value x, Value y) { return hlo::sub(b, loc, x, y); }
Value RowBuilder::mul(Value x, Value y) { return hlo::mul(b, loc, x, y); }
Value RowBuilder::div(Value x, Value y) { return hlo::div(b, loc, x, y); }
Value RowBuilder::exp(Value x) { return hlo::exp(b, loc, x); }
Value RowBuilder::log(Value x) { return hlo::log(b, loc, x); }
