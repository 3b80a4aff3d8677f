//===- SelectAndScatter.cpp - Expansion of select_and_scatter -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows are combined as those of reduce_window, each value beside the number
// of its element, so that the number of the selected element remains. Each
// source element and that number are then repeated over the elements that the
// window may have selected, and stay where the numbers agree:
//
//   operand 3 5 2 4, window 2, stride 2    selected  1     3
//   source    7   9                        repeated  1 1   3 3
//                                          result    0 7   0 9
//
// Windows that overlap give one term for each window that an element lies in;
// terms are combined in the order of the source. No index is read, and
// dimensions without a window are not touched, so that splits of the batch
// pass.
//
// An element before stays where `select` holds, as XLA does it: step by step.
// An order of floats is not associative beside NaN, which goes at the next
// element. So runs of elements also tell whether they have one: what comes
// before such a run is forgotten.
//
// Tests: test/Import/StableHLO/expand-select-and-scatter.mlir,
// test/EndToEnd/{expansions,derivatives}.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "ScalarFunction.h"
#include "Windows.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// Windows that one element lies in, or elements of a window that an order by
/// an unknown function looks at: each is a few ops.
static constexpr int64_t kMostTerms = 1024;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

namespace {
/// A selection that compares: the element before stays if this holds of it and
/// the later one.
struct Order {
  ComparisonDirection direction;
  ComparisonTypeAttr type;
};
} // namespace

/// Of operands that change places.
static std::optional<ComparisonDirection>
mirror(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::EQ:
  case ComparisonDirection::NE:
    return std::nullopt;
  }
  return std::nullopt;
}

/// The order by which `select` compares its arguments; nothing if it does
/// something else.
static std::optional<Order> findOrder(Region &select) {
  Block &block = select.front();
  Value holds = block.getTerminator()->getOperand(0);
  auto compare = holds.getDefiningOp<CompareOp>();
  if (!compare || compare->getBlock() != &block)
    return std::nullopt;
  Value first = block.getArgument(0), second = block.getArgument(1);
  ComparisonDirection direction = compare.getComparisonDirection();
  std::optional<ComparisonDirection> swapped = mirror(direction);
  auto type =
      ComparisonTypeAttr::get(compare.getContext(), compare.getOrderType());
  if (swapped && compare.getLhs() == first && compare.getRhs() == second)
    return Order{direction, type};
  if (swapped && compare.getLhs() == second && compare.getRhs() == first)
    return Order{*swapped, type};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The expansion
//===----------------------------------------------------------------------===//

namespace {
/// How source elements reach the elements of the operand along a dimension:
/// `terms` times, in the order of the source. Either each is repeated over a
/// stride and the whole is moved by strides, or term i is source element i, for
/// all elements of the operand.
struct Reach {
  int64_t terms = 1;
  bool isEach = false;
};

class SelectAndScatterExpansion {
public:
  SelectAndScatterExpansion(SelectAndScatterOp op, OpBuilder &b)
      : b(b), loc(op.getLoc()), op(op), window(op.getWindow()),
        operand(op.getOperand().getType()), places(op.getSource().getType()),
        order(findOrder(op.getSelect())) {
    // One place has any stride.
    for (auto [dim, count] : llvm::zip_equal(window, places.getShape()))
      if (count == 1)
        dim.stride = dim.window;
    for (const WindowDim &dim : window)
      isPadded |= dim.low > 0 || dim.high > 0;
  }

  FailureOr<Value> run();

private:
  LogicalResult verify();
  bool isTouched(int64_t d) const;
  Type getNumberType() const;
  Value buildNumbers();
  Value compareWith(Value x, double number, ComparisonDirection direction);

  Tensors startSelection(Value numbers);
  Value stays(ArrayRef<Value> earlier, ArrayRef<Value> later);
  Tensors selectOne(ArrayRef<Value> earlier, ArrayRef<Value> later);
  Tensors walkWindow(ArrayRef<Value> xs);
  Value findSelected(Value numbers);

  Value repeat(Value x);
  Value reachBy(Value x, ArrayRef<int64_t> term, double fill);
  Value combineAt(Value hit, Value result, Value source);
  Value scatter(Value selected, Value numbers);

  OpBuilder &b;
  Location loc;
  SelectAndScatterOp op;
  SmallVector<WindowDim> window;
  RankedTensorType operand, places;
  std::optional<Order> order;
  SmallVector<Reach> reaches;
  bool isPadded = false;
};

/// Windows of one element, one after another, leave a dimension alone.
bool SelectAndScatterExpansion::isTouched(int64_t d) const {
  const WindowDim &dim = window[d];
  return dim.window != 1 || dim.stride != 1 || dim.low != 0 ||
         dim.size != places.getDimSize(d);
}

LogicalResult SelectAndScatterExpansion::verify() {
  if (failed(verifyElementwise(op.getSelect())) ||
      failed(verifyElementwise(op.getScatter())))
    return failure();
  int64_t terms = 1, steps = 1;
  bool isTooLarge = false;
  for (auto [dim, count] : llvm::zip_equal(window, places.getShape())) {
    Reach reach{int64_t(llvm::divideCeil(dim.window, dim.stride))};
    if (count < reach.terms)
      reach = {count, true};
    reaches.push_back(reach);
    isTooLarge |=
        llvm::MulOverflow(terms, reach.terms, terms) || terms > kMostTerms;
    isTooLarge |= !order && (llvm::MulOverflow(steps, dim.window, steps) ||
                             steps > kMostTerms);
  }
  if (!isTooLarge)
    return success();
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected an element in at most " << kMostTerms
         << " windows, and windows of as many elements where 'select' is no "
            "comparison of them, got more";
}

//===----------------------------------------------------------------------===//
// Numbers of elements
//===----------------------------------------------------------------------===//

Type SelectAndScatterExpansion::getNumberType() const {
  int64_t count = 1;
  for (auto [d, size] : llvm::enumerate(operand.getShape()))
    if (isTouched(d))
      count *= size; // below 2^63 bytes, as the operand
  return count > std::numeric_limits<int32_t>::max() ? b.getI64Type()
                                                     : b.getI32Type();
}

/// Of each element of the operand the number, in row-major order, among those
/// that differ in dimensions with a window.
Value SelectAndScatterExpansion::buildNumbers() {
  RankedTensorType type =
      RankedTensorType::get(operand.getShape(), getNumberType());
  Value numbers;
  int64_t step = 1;
  for (int64_t d = operand.getRank() - 1; d >= 0; --d) {
    if (!isTouched(d))
      continue;
    Value along = iota(b, loc, type, d);
    if (step > 1)
      along = mul(b, loc, along, constantLike(b, loc, along, step));
    numbers = numbers ? add(b, loc, numbers, along) : along;
    step *= operand.getDimSize(d);
  }
  return numbers ? numbers : constantSplat(b, loc, type, 0);
}

Value SelectAndScatterExpansion::compareWith(Value x, double number,
                                             ComparisonDirection direction) {
  return compare(b, loc, direction, x, constantLike(b, loc, x, number));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// Padded: value, number (-1 for padding), and for an order of floats whether
/// it is NaN.
Tensors SelectAndScatterExpansion::startSelection(Value numbers) {
  Value x = op.getOperand();
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, operand.getRank()));
  Type number = getNumberType();
  Tensors xs = {
      padWindows(b, loc, x, op.getInitValue(), dims, window),
      padWindows(b, loc, numbers, scalar(b, loc, number, -1), dims, window)};
  if (order && order->type.getValue() == ComparisonType::FLOAT) {
    Value isNaN = compare(b, loc, ComparisonDirection::NE, x, x);
    Value no = scalar(b, loc, b.getI1Type(), 0);
    xs.push_back(padWindows(b, loc, isNaN, no, dims, window));
  }
  return xs;
}

/// Whether the element selected of the earlier ones stays before the later
/// ones.
Value SelectAndScatterExpansion::stays(ArrayRef<Value> earlier,
                                       ArrayRef<Value> later) {
  RankedTensorType type = typeOf(earlier[0]);
  Value holds;
  if (order)
    holds = CompareOp::create(b, loc, type.clone(b.getI1Type()), earlier[0],
                              later[0], order->direction, order->type);
  else
    holds = applyElementwise(op.getSelect(), b, type.getShape(),
                             {earlier[0], later[0]})
                .front();
  if (later.size() == 3)
    holds = logicalAnd(b, loc, holds, logicalNot(b, loc, later[2]));
  if (!isPadded)
    return holds;
  Value isAlone = compareWith(later[1], 0, ComparisonDirection::LT);
  Value isThere = compareWith(earlier[1], 0, ComparisonDirection::GE);
  Value wins = OrOp::create(b, loc, holds, isAlone);
  return logicalAnd(b, loc, isThere, wins);
}

Tensors SelectAndScatterExpansion::selectOne(ArrayRef<Value> earlier,
                                             ArrayRef<Value> later) {
  Value kept = stays(earlier, later);
  Tensors result = {select(b, loc, kept, earlier[0], later[0]),
                    select(b, loc, kept, earlier[1], later[1])};
  if (later.size() == 3)
    result.push_back(OrOp::create(b, loc, earlier[2], later[2]));
  return result;
}

/// One element of each window after another, in row-major order.
Tensors SelectAndScatterExpansion::walkWindow(ArrayRef<Value> xs) {
  int64_t count = 1;
  for (const WindowDim &dim : window)
    count *= dim.window;
  Tensors result;
  for (int64_t number = 0; number < count; ++number) {
    Tensors element(xs);
    int64_t rest = number;
    for (int64_t d = operand.getRank() - 1; d >= 0; --d) {
      for (Value &x : element)
        x = takeAlong(b, loc, x, d, rest % window[d].window,
                      places.getDimSize(d), window[d].stride);
      rest /= window[d].window;
    }
    result = number ? selectOne(result, element) : element;
  }
  return result;
}

/// At each place the number of the element that its window selects.
Value SelectAndScatterExpansion::findSelected(Value numbers) {
  Tensors xs = startSelection(numbers);
  if (!order)
    return walkWindow(xs)[1];
  auto combine = [&](ArrayRef<Value> earlier, ArrayRef<Value> later) {
    return selectOne(earlier, later);
  };
  for (int64_t d = operand.getRank() - 1; d >= 0; --d)
    xs = combineAlong(b, loc, std::move(xs), d, window[d], places.getDimSize(d),
                      combine);
  return xs[1];
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Each element over a stride of each dimension, where terms are moved.
Value SelectAndScatterExpansion::repeat(Value x) {
  SmallVector<int64_t> shape, merged, dims;
  for (auto [d, size] : llvm::enumerate(places.getShape())) {
    dims.push_back(shape.size());
    shape.push_back(size);
    merged.push_back(size);
    if (reaches[d].isEach || window[d].stride == 1)
      continue;
    shape.push_back(window[d].stride);
    merged.back() *= window[d].stride;
  }
  if (shape.size() == merged.size())
    return x;
  x = broadcastInDim(b, loc, x, typeOf(x).clone(shape), dims);
  return reshape(b, loc, x, merged);
}

/// The repeated elements that reach each element of the operand in this term;
/// `fill` where none does.
Value SelectAndScatterExpansion::reachBy(Value x, ArrayRef<int64_t> term,
                                         double fill) {
  SmallVector<int64_t> low(operand.getRank(), 0), high(low);
  bool isMoved = false;
  for (auto [d, reach] : llvm::enumerate(reaches)) {
    if (reach.isEach) {
      x = takeAlong(b, loc, x, d, term[d], 1);
      continue;
    }
    // The first term has the earliest windows.
    int64_t strides = reach.terms - 1 - term[d];
    low[d] = strides * window[d].stride - window[d].low;
    high[d] = operand.getDimSize(d) - typeOf(x).getDimSize(d) - low[d];
    isMoved |= low[d] != 0 || high[d] != 0;
  }
  if (isMoved)
    x = pad(b, loc, x, scalar(b, loc, typeOf(x).getElementType(), fill), low,
            high);
  if (typeOf(x).getShape() == operand.getShape())
    return x;
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, operand.getRank()));
  return broadcastInDim(b, loc, x, typeOf(x).clone(operand.getShape()), dims);
}

Value SelectAndScatterExpansion::combineAt(Value hit, Value result,
                                           Value source) {
  // Sums of narrow floats are wide here: the body's op is written on them.
  Value combined = typeOf(result).getElementType() == operand.getElementType()
                       ? applyElementwise(op.getScatter(), b,
                                          operand.getShape(), {result, source})
                             .front()
                       : add(b, loc, result, source);
  return select(b, loc, hit, combined, result);
}

Value SelectAndScatterExpansion::scatter(Value selected, Value numbers) {
  Type element = operand.getElementType(), wide = element;
  bool isNarrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  if (isNarrow && reduceKindOf(op.getScatter()) == ReductionKind::sum)
    wide = b.getF32Type();
  Value sources = repeat(convertTo(b, loc, op.getSource(), wide));
  selected = repeat(selected);
  Value result =
      broadcastInDim(b, loc, convertTo(b, loc, op.getInitValue(), wide),
                     RankedTensorType::get(operand.getShape(), wide), {});
  SmallVector<int64_t> term(reaches.size(), 0);
  for (bool isLast = false; !isLast;) {
    Value hit = compare(b, loc, ComparisonDirection::EQ,
                        reachBy(selected, term, -1), numbers);
    result = combineAt(hit, result, reachBy(sources, term, 0));
    isLast = true;
    for (int64_t d = term.size() - 1; d >= 0 && isLast; --d) {
      isLast = ++term[d] == reaches[d].terms;
      term[d] = isLast ? 0 : term[d];
    }
  }
  return convertTo(b, loc, result, element);
}

FailureOr<Value> SelectAndScatterExpansion::run() {
  if (failed(verify()))
    return failure();
  if (operand.getNumElements() == 0 || places.getNumElements() == 0)
    return broadcastInDim(b, loc, op.getInitValue(),
                          withoutEncoding(op.getType()), {});
  Value numbers = buildNumbers();
  return scatter(findSelected(numbers), numbers);
}

struct SelectAndScatterModel
    : graph::ExpansionOpInterface::ExternalModel<SelectAndScatterModel,
                                                 SelectAndScatterOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    FailureOr<Value> result =
        SelectAndScatterExpansion(cast<SelectAndScatterOp>(of), builder).run();
    if (failed(result))
      return failure();
    results.push_back(*result);
    return success();
  }
};
} // namespace

void stablehlo::registerSelectAndScatterModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    SelectAndScatterOp::attachInterface<SelectAndScatterModel>(*context);
  });
}
