//===- Rotary.cpp - Answers of rotary -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With (a, b) one pair of x and c, s the numbers of the tables at a and at b:
//
//   y  = (a c - b s,  b c + a s)       = x c + turn(x) s,  turn(x) = (-b, a)
//   dx = (g c + h s', h c - g s')      for the cotangents (g, h) of the pair
//
// where s' are the sines of a pair exchanged, which tables of one number for
// each pair do not see: the rotation by the angle's opposite. The tables' own
// cotangents are those of the products, summed along what is repeated.
//
// A pair is one dim of size 2 of the reshaped operand, so that its exchange is
// a `reverse`, which reads whole rows, and one kernel makes the result. The
// last dim is needed whole, all others pass.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/RotaryTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Support/HostElements.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// Tensors with the last dim cut into pairs, in the type that is computed in.
struct Pairs {
  OpBuilder &b;
  Location loc;
  RankedTensorType type; // of the operand with pairs
  int64_t dim;           // of the two of a pair
  Type element;          // of the operand

  Pairs(RotaryOp op, OpBuilder &b, Location loc) : b(b), loc(loc) {
    RankedTensorType given = getRankedType(op.getOperand());
    element = given.getElementType();
    dim = given.getRank() - 1;
    bool isNarrow = element.getIntOrFloatBitWidth() < 32;
    type = RankedTensorType::get(cut(given.getShape(), 2),
                                 isNarrow ? Type(b.getF32Type()) : element);
  }

  /// The shape with its last dim as `size` numbers of each pair.
  SmallVector<int64_t> cut(ArrayRef<int64_t> shape, int64_t size) const {
    SmallVector<int64_t> result(shape);
    result.back() /= size;
    result.insert(result.begin() + dim, size);
    return result;
  }
  /// Of the operand's last dim.
  int64_t getSize() const {
    return type.getShape().back() * type.getDimSize(type.getRank() - 2);
  }
  Value enter(Value x) const {
    return hlo::convertTo(b, loc, hlo::reshape(b, loc, x, type.getShape()),
                          type.getElementType());
  }
  Value leave(Value pairs, ArrayRef<int64_t> shape) const {
    return hlo::convertTo(b, loc, hlo::reshape(b, loc, pairs, shape), element);
  }
  /// A table at all elements.
  Value spread(Value table) const {
    ArrayRef<int64_t> shape = getRankedType(table).getShape();
    bool isOfPairs = shape.back() != getSize();
    Value pairs = hlo::reshape(b, loc, table, cut(shape, isOfPairs ? 1 : 2));
    pairs = hlo::convertTo(b, loc, pairs, type.getElementType());
    SmallVector<int64_t> dims =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return getRankedType(pairs).getShape() == type.getShape()
               ? pairs
               : hlo::broadcastInDim(b, loc, pairs, type, dims);
  }
  /// -1 at the first of a pair, 1 at the second.
  Value signs() const {
    Value number = hlo::iota(b, loc, type, dim);
    number = hlo::mul(b, loc, number, hlo::constantLike(b, loc, number, 2));
    return hlo::sub(b, loc, number, hlo::constantLike(b, loc, number, 1));
  }
};

/// Sums of what is computed at all elements, for each number of a table.
Value sumToTable(const Pairs &pairs, Value full, RankedTensorType table) {
  SmallVector<int64_t> summed;
  for (int64_t dim = 0; dim + 1 < table.getRank(); ++dim)
    if (table.getDimSize(dim) == 1 && pairs.type.getDimSize(dim) != 1)
      summed.push_back(dim);
  if (pairs.getSize() != table.getShape().back())
    summed.push_back(pairs.dim);
  if (!summed.empty())
    full = hlo::reduceAdd(pairs.b, pairs.loc, full, summed);
  return pairs.leave(full, table.getShape());
}

struct RotaryAnswers : AnswerDefaults<RotaryOp> {
  using Op = RotaryOp;
  static ShardingRule rule(Op op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = getRankedType(op.getOperand());
    int64_t last = type.getRank() - 1;
    for (int64_t dim = 0; dim <= last; ++dim) {
      int factor =
          rule.addFactor(type.getDimSize(dim),
                         dim == last ? FactorKind::Whole : FactorKind::Pass);
      rule.operands[0][dim] = rule.results[0][dim] = {factor};
      int64_t size = getRankedType(op.getCosine()).getDimSize(dim);
      if (size == type.getDimSize(dim) && size != 1)
        rule.operands[1][dim] = rule.operands[2][dim] = {factor};
      else if (dim == last && size != 1)
        rule.operands[1][dim] =
            rule.operands[2][dim] = {rule.addFactor(size, FactorKind::Whole)};
    }
    rule.addLinear(ReductionKind::sum, {{0}});
    return rule;
  }

  static OpCost cost(Op op) {
    OpCost cost = getTrafficCost(op);
    cost.flops = 3 * getRankedType(op.getOperand()).getNumElements();
    return cost;
  }

  static KernelForm form(Op) { return KernelForm::Decompose; }

  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    Location loc = op.getLoc();
    Pairs pairs(op, b, loc);
    Value x = pairs.enter(op.getOperand());
    Value cosine = pairs.spread(op.getCosine());
    Value sine = pairs.spread(op.getSine());
    Value turned = hlo::mul(b, loc, hlo::reverse(b, loc, x, {pairs.dim}),
                            hlo::mul(b, loc, sine, pairs.signs()));
    Value sum = hlo::add(b, loc, hlo::mul(b, loc, x, cosine), turned);
    results.push_back(
        pairs.leave(sum, getRankedType(op.getOperand()).getShape()));
    return success();
  }

  /// The sines of the opposite angles, exchanged where each element has one.
  static Value buildBack(Op op, const Pairs &pairs) {
    Value sine = op.getSine();
    ArrayRef<int64_t> shape = getRankedType(sine).getShape();
    if (shape.back() == pairs.getSize()) {
      sine = hlo::reshape(pairs.b, pairs.loc, sine, pairs.cut(shape, 2));
      sine = hlo::reverse(pairs.b, pairs.loc, sine, {pairs.dim});
      sine = hlo::reshape(pairs.b, pairs.loc, sine, shape);
    }
    return hlo::neg(pairs.b, pairs.loc, sine);
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Pairs pairs(op, b, call.loc);
    Value g = call.cotangents[0], x = op.getOperand();
    RankedTensorType table = getRankedType(op.getCosine());
    if (call.needed[0])
      call.gradients[0] = RotaryOp::create(b, call.loc, g, op.getCosine(),
                                           buildBack(op, pairs));
    if (call.needed[1])
      call.gradients[1] = sumToTable(
          pairs, hlo::mul(b, call.loc, pairs.enter(g), pairs.enter(x)), table);
    if (call.needed[2]) {
      auto none =
          RankedTensorType::get(table.getShape(), table.getElementType());
      Value turned = RotaryOp::create(b, call.loc, x,
                                      hlo::constantSplat(b, call.loc, none, 0),
                                      hlo::constantSplat(b, call.loc, none, 1));
      call.gradients[2] = sumToTable(
          pairs, hlo::mul(b, call.loc, pairs.enter(g), pairs.enter(turned)),
          table);
    }
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    RankedTensorType type = getRankedType(op.getOperand()),
                     table = getRankedType(op.getCosine());
    HostTensor result(getRankedType(op.getResult()));
    int64_t size = type.getShape().back(), half = size / 2;
    bool isHalf = table.getShape().back() != size;
    for (int64_t i = 0; i < result.getNumElements(); ++i) {
      int64_t j = i % size, pair = j % half;
      bool isFirst = j < half;
      // The number's place in the tables, from the last dim on.
      int64_t place = isHalf ? pair : j, stride = isHalf ? half : size;
      int64_t rest = i / size;
      for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
        if (table.getDimSize(dim) != 1)
          place += rest % type.getDimSize(dim) * stride;
        stride *= table.getDimSize(dim);
        rest /= type.getDimSize(dim);
      }
      double other = call.operands[0].getFloat(isFirst ? i + half : i - half);
      result.setFloat(
          i, call.operands[0].getFloat(i) * call.operands[1].getFloat(place) +
                 (isFirst ? -other : other) * call.operands[2].getFloat(place));
    }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void nn::registerRotaryModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachAnswers<RotaryOp, RotaryAnswers>(context);
  });
}
