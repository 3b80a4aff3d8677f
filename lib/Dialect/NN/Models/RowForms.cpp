//===- RowForms.cpp - Ops that combine the elements of a row --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RowForms.h.
//
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

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

RowBuilder::RowBuilder(OpBuilder &b, Location loc, RankedTensorType full,
                       ArrayRef<int64_t> dims)
    : b(b), loc(loc), dims(dims) {
  Type element = full.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = b.getF32Type();
  type = RankedTensorType::get(full.getShape(), element);
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

//===----------------------------------------------------------------------===//
// RowParts
//===----------------------------------------------------------------------===//

static RowBuilder makePart(OpBuilder &b, Location loc, RankedTensorType full,
                           ArrayRef<int64_t> dims, ArrayRef<int64_t> parts) {
  SmallVector<int64_t> shape, inside;
  for (auto [dim, size] : llvm::enumerate(full.getShape())) {
    if (parts[dim] > 1)
      shape.push_back(parts[dim]);
    if (llvm::is_contained(dims, static_cast<int64_t>(dim)))
      inside.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(size / parts[dim]);
  }
  return RowBuilder(b, loc, RankedTensorType::get(shape, full.getElementType()),
                    inside);
}

RowParts::RowParts(OpBuilder &b, Location loc, Value full,
                   ArrayRef<int64_t> dims, ArrayRef<int64_t> parts)
    : part(makePart(b, loc, getRankedType(full), dims, parts)) {
  int64_t rank = 0;
  for (auto [dim, count] : llvm::enumerate(parts)) {
    if (count > 1)
      numbers.push_back(rank++);
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
      others.push_back(rank++);
  }
}

Value RowParts::cut(Value full) {
  return hlo::reshape(part.b, part.loc, part.widen(full), part.type.getShape());
}

Value RowParts::number(Value reduced) {
  SmallVector<int64_t> order(numbers), shape = {1};
  llvm::append_range(order, others);
  ArrayRef<int64_t> sizes = getRankedType(reduced).getShape();
  for (int64_t dim : numbers)
    shape.front() *= sizes[dim];
  for (int64_t dim : others)
    shape.push_back(sizes[dim]);
  Value turned = hlo::transpose(part.b, part.loc, reduced, order);
  return hlo::reshape(part.b, part.loc, turned, shape);
}

/// More than these would be long code for a kernel that runs for few elements.
static constexpr int64_t kMostWritten = 16;

SmallVector<Value> RowParts::each(Value term) const {
  OpBuilder &b = part.b;
  ArrayRef<int64_t> shape = getRankedType(term).getShape();
  if (shape.front() > kMostWritten)
    return {term};
  SmallVector<Value> all;
  for (int64_t i = 0; i < shape.front(); ++i) {
    SmallVector<int64_t> starts(shape.size(), 0), limits(shape);
    starts.front() = i;
    limits.front() = i + 1;
    Value one = hlo::slice(b, part.loc, term, starts, limits);
    all.push_back(hlo::reshape(b, part.loc, one, shape.drop_front()));
  }
  return all;
}

Value RowParts::beside(Value one, Value rows) const {
  if (getRankedType(one).getRank() == getRankedType(rows).getRank())
    return rows;
  return hlo::broadcastAlong(part.b, part.loc, rows, getRankedType(one), {0});
}

Value RowParts::combine(ReductionKind kind, ArrayRef<Value> each) const {
  OpBuilder &b = part.b;
  if (each.size() == 1)
    return hlo::reduce(b, part.loc, kind, each.front(), {0});
  Value all = each.front();
  for (Value one : each.drop_front())
    all = kind == ReductionKind::sum ? hlo::add(b, part.loc, all, one)
                                     : hlo::max(b, part.loc, all, one);
  return all;
}

void RowParts::buildMoments(Value full, SmallVectorImpl<Value> &terms) {
  Value x = cut(full), sum = part.sum(x);
  Value mean = part.div(sum, part.constant(sum, part.size()));
  Value centred = part.sub(x, part.spread(mean));
  Value squares = part.sum(part.mul(centred, centred));
  terms.append({number(sum), number(squares)});
}

std::pair<Value, Value> RowParts::joinMoments(ValueRange terms) {
  SmallVector<Value> sums = each(terms[0]), squares = each(terms[1]);
  auto divide = [&](Value value, double by) {
    return part.div(value, part.constant(value, by));
  };
  double count = part.size();
  double size =
      count * static_cast<double>(getRankedType(terms[0]).getDimSize(0));
  Value mean = divide(combine(ReductionKind::sum, sums), size);
  for (auto [sum, square] : llvm::zip(sums, squares)) {
    Value apart = part.sub(divide(sum, count), beside(sum, mean));
    Value between = part.mul(apart, apart);
    square = part.add(square, part.mul(between, part.constant(between, count)));
  }
  return {mean, divide(combine(ReductionKind::sum, squares), size)};
}

void RowParts::buildExponentials(Value full, SmallVectorImpl<Value> &terms) {
  // A part may be all -inf where the row is not.
  Value x = cut(full), max = part.max(x),
        from = buildFiniteOrZero(part.b, part.loc, max);
  Value sum = part.sum(part.exp(part.sub(x, part.spread(from))));
  terms.append({number(max), number(sum)});
}

Value RowParts::joinExponentials(ValueRange terms, Value max) {
  SmallVector<Value> sums = each(terms[1]);
  for (auto [most, sum] : llvm::zip(each(terms[0]), sums)) {
    Value factor = part.exp(part.sub(most, beside(most, max)));
    sum = part.mul(sum, factor);
  }
  return combine(ReductionKind::sum, sums);
}

Value nn::buildFiniteOrZero(OpBuilder &b, Location loc, Value value) {
  Value isFinite = hlo::IsFiniteOp::create(
      b, loc, getRankedType(value).clone(b.getI1Type()), value);
  return hlo::select(b, loc, isFinite, value,
                     hlo::constantLike(b, loc, value, 0));
}
