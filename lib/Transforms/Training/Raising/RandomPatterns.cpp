//===- RandomPatterns.cpp - Random bits as texts draw them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/raise-attention-dropout.mlir
//===----------------------------------------------------------------------===//

#include "RandomPatterns.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The one element that the value repeats, or null.
static Value getRepeated(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  bool isOne = cast<RankedTensorType>(value.getType()).getNumElements() == 1;
  return isOne ? value : Value();
}

static unsigned getWidth(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

static uint64_t truncate(uint64_t number, Value like) {
  unsigned width = getWidth(like);
  return width < 64 ? number & ((uint64_t(1) << width) - 1) : number;
}

/// The number that all elements are, as a scalar of their type.
static std::optional<HostTensor> getScalar(Value value, ConstantCones &cones) {
  HostTensor scalar(getElementTypeOrSelf(value.getType()), {});
  if (Attribute splat = stablehlo::getSplatElement(value)) {
    if (auto real = dyn_cast<FloatAttr>(splat))
      scalar.setFloat(0, real.getValueAsDouble());
    else if (auto integer = dyn_cast<IntegerAttr>(splat))
      scalar.setInt(0, static_cast<int64_t>(integer.getValue().getZExtValue()));
    else
      return std::nullopt;
    return scalar;
  }
  Value one = getRepeated(value);
  const HostTensor *known = one ? cones.evaluate(one) : nullptr;
  if (!known)
    return std::nullopt;
  if (known->isFloat())
    scalar.setFloat(0, known->getFloat(0));
  else
    scalar.setInt(0, known->getInt(0));
  return scalar;
}

/// Of an integer.
static std::optional<uint64_t> getUnsigned(Value value, ConstantCones &cones) {
  std::optional<HostTensor> scalar = getScalar(value, cones);
  if (!scalar)
    return std::nullopt;
  return truncate(static_cast<uint64_t>(scalar->getInt(0)), value);
}

/// An integer that all elements share, without the numbers added to it.
static std::optional<ScalarSum> getSum(Value value, ConstantCones &cones) {
  ScalarSum sum;
  if (std::optional<uint64_t> number = getUnsigned(value, cones)) {
    sum.number = *number;
    return sum;
  }
  sum.scalar = getRepeated(value);
  while (sum.scalar) {
    auto add = sum.scalar.getDefiningOp<stablehlo::AddOp>();
    std::optional<uint64_t> number =
        add ? getUnsigned(add.getRhs(), cones) : std::nullopt;
    if (!number)
      return sum;
    sum.number = truncate(sum.number + *number, value);
    sum.scalar = getRepeated(add.getLhs());
  }
  return std::nullopt;
}

std::optional<ScalarSum> training::splitScalar(Value &tensor,
                                               ConstantCones &cones) {
  ScalarSum sum;
  while (auto add = tensor.getDefiningOp<stablehlo::AddOp>()) {
    std::optional<ScalarSum> part = getSum(add.getRhs(), cones);
    Value rest = add.getLhs();
    if (!part) {
      part = getSum(add.getLhs(), cones);
      rest = add.getRhs();
    }
    if (!part)
      break;
    if (part->scalar && sum.scalar)
      return std::nullopt;
    sum.scalar = part->scalar ? part->scalar : sum.scalar;
    sum.number = truncate(sum.number + part->number, tensor);
    tensor = rest;
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// Threefry
//===----------------------------------------------------------------------===//

namespace {
/// Goes from the words that threefry has made back to those it began with.
class Threefry {
public:
  explicit Threefry(ConstantCones &cones) : cones(cones) {}

  /// Makes `x` and `y` the words before key and rounds.
  bool match(Value &x, Value &y);

  std::optional<ScalarSum> keys[3];

private:
  bool takeKey(unsigned key, Value &word, uint64_t more);
  bool matchRound(Value &x, Value &y, uint64_t distance);
  bool isParity();
  bool takeParity(Value value, SmallVectorImpl<ScalarSum> &words,
                  uint64_t &number, int depth);

  ConstantCones &cones;
};
} // namespace

/// Takes word `key` of the key and a number off; it is the same each time.
bool Threefry::takeKey(unsigned key, Value &word, uint64_t more) {
  std::optional<ScalarSum> sum = splitScalar(word, cones);
  if (!sum)
    return false;
  sum->number = truncate(sum->number - more, word);
  if (!keys[key])
    keys[key] = sum;
  return *keys[key] == *sum;
}

/// x + y, and y turned left, mixed with that.
bool Threefry::matchRound(Value &x, Value &y, uint64_t distance) {
  auto mix = y.getDefiningOp<stablehlo::XorOp>();
  auto add = x.getDefiningOp<stablehlo::AddOp>();
  if (!mix || !add || (mix.getLhs() != x && mix.getRhs() != x))
    return false;
  Value turned = mix.getLhs() == x ? mix.getRhs() : mix.getLhs();
  auto both = turned.getDefiningOp<stablehlo::OrOp>();
  if (!both)
    return false;
  auto left = both.getLhs().getDefiningOp<stablehlo::ShiftLeftOp>();
  auto right = both.getRhs().getDefiningOp<stablehlo::ShiftRightLogicalOp>();
  if (!left || !right) {
    left = both.getRhs().getDefiningOp<stablehlo::ShiftLeftOp>();
    right = both.getLhs().getDefiningOp<stablehlo::ShiftRightLogicalOp>();
  }
  if (!left || !right || left.getLhs() != right.getLhs() ||
      getUnsigned(left.getRhs(), cones) != distance ||
      getUnsigned(right.getRhs(), cones) != 32 - distance)
    return false;
  y = left.getLhs();
  if (add.getLhs() != y && add.getRhs() != y)
    return false;
  x = add.getRhs() == y ? add.getLhs() : add.getRhs();
  return true;
}

/// Takes the factors of an exclusive or, numbers and words.
bool Threefry::takeParity(Value value, SmallVectorImpl<ScalarSum> &words,
                          uint64_t &number, int depth) {
  constexpr int most = 4;
  std::optional<ScalarSum> sum = getSum(value, cones);
  if (!sum || depth == most)
    return false;
  if (!sum->scalar) {
    number ^= sum->number;
    return true;
  }
  auto *found = llvm::find(words, *sum);
  if (found != words.end()) {
    words.erase(found);
    return true;
  }
  auto parts = sum->scalar.getDefiningOp<stablehlo::XorOp>();
  return parts && sum->number == 0 &&
         takeParity(parts.getLhs(), words, number, depth + 1) &&
         takeParity(parts.getRhs(), words, number, depth + 1);
}

/// The third word of the key is the exclusive or of the others and a number.
bool Threefry::isParity() {
  uint64_t wanted = 0x1BD11BDA, number = 0;
  SmallVector<ScalarSum> words;
  for (unsigned i : {0, 1}) {
    if (keys[i]->scalar)
      words.push_back(*keys[i]);
    else
      wanted ^= keys[i]->number;
  }
  if (!keys[2]->scalar)
    return words.empty() && keys[2]->number == wanted;
  return keys[2]->number == 0 &&
         takeParity(keys[2]->scalar, words, number, 0) && words.empty() &&
         number == wanted;
}

bool Threefry::match(Value &x, Value &y) {
  constexpr uint64_t distances[2][4] = {{6, 26, 15, 13}, {24, 16, 29, 17}};
  for (unsigned group = 5; group-- > 0;) {
    if (!takeKey((group + 1) % 3, x, 0) ||
        !takeKey((group + 2) % 3, y, group + 1))
      return false;
    for (uint64_t distance : distances[group % 2])
      if (!matchRound(x, y, distance))
        return false;
  }
  return takeKey(0, x, 0) && takeKey(1, y, 0) && isParity();
}

/// The number of 64 bits of which these are the halves.
static Value matchHalves(Value low, Value high, ConstantCones &cones) {
  auto lower = low.getDefiningOp<stablehlo::ConvertOp>(),
       upper = high.getDefiningOp<stablehlo::ConvertOp>();
  if (!lower || !upper)
    return {};
  auto shift =
      upper.getOperand().getDefiningOp<stablehlo::ShiftRightLogicalOp>();
  Value whole = lower.getOperand();
  bool isWhole = shift && shift.getLhs() == whole &&
                 getElementTypeOrSelf(whole.getType()).isUnsignedInteger(64) &&
                 getUnsigned(shift.getRhs(), cones) == 32u;
  return isWhole ? whole : Value();
}

/// A draw whose words are `x` and `y`, and its counter's halves low first or
/// high first.
static std::optional<BitDraw> matchWords(rt::RandomBits bits, Value x, Value y,
                                         ConstantCones &cones) {
  if (!getElementTypeOrSelf(x.getType()).isUnsignedInteger(32))
    return std::nullopt;
  Threefry threefry(cones);
  if (!threefry.match(x, y))
    return std::nullopt;
  bool isLowFirst = bits == rt::RandomBits::threefry;
  Value counter =
      isLowFirst ? matchHalves(x, y, cones) : matchHalves(y, x, cones);
  if (!counter)
    return std::nullopt;
  return BitDraw{bits, {*threefry.keys[0], *threefry.keys[1]}, counter};
}

std::optional<BitDraw> training::matchDraw(Value bits, ConstantCones &cones) {
  if (auto mix = bits.getDefiningOp<stablehlo::XorOp>()) {
    for (auto [x, y] : {std::pair(mix.getLhs(), mix.getRhs()),
                        std::pair(mix.getRhs(), mix.getLhs())})
      if (std::optional<BitDraw> draw =
              matchWords(rt::RandomBits::jax32, x, y, cones))
        return draw;
    return std::nullopt;
  }
  auto join = bits.getDefiningOp<stablehlo::OrOp>();
  if (!join || !getElementTypeOrSelf(bits.getType()).isUnsignedInteger(64))
    return std::nullopt;
  Value low = join.getLhs(), high = join.getRhs();
  if (low.getDefiningOp<stablehlo::ShiftLeftOp>())
    std::swap(low, high);
  auto shift = high.getDefiningOp<stablehlo::ShiftLeftOp>();
  auto lower = low.getDefiningOp<stablehlo::ConvertOp>();
  auto upper = shift ? shift.getLhs().getDefiningOp<stablehlo::ConvertOp>()
                     : stablehlo::ConvertOp();
  if (!lower || !upper || getUnsigned(shift.getRhs(), cones) != 32u)
    return std::nullopt;
  Value x = lower.getOperand(), y = upper.getOperand();
  if (std::optional<BitDraw> draw =
          matchWords(rt::RandomBits::threefry, x, y, cones))
    return draw;
  return matchWords(rt::RandomBits::jax64, y, x, cones);
}

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

namespace {
/// A chain of element-wise ops from bits to flags, each with numbers beside it,
/// on one element.
class BitFunction {
public:
  explicit BitFunction(ConstantCones &cones) : cones(cones) {}

  /// Ends with `op`; finds where the chain begins.
  Value build(Operation *op);
  /// No step decreases where the bits increase.
  bool isMonotone();
  bool evaluate(uint64_t bits);
  uint64_t getMost() const;

private:
  struct Step {
    Operation *op;
    unsigned number;                  ///< The operand on the way.
    SmallVector<HostTensor> operands; ///< The others.
  };
  bool addStep(Operation *op);
  std::optional<HostTensor> apply(Step &step, const HostTensor &x);
  static bool isMonotone(const Step &step, const HostTensor &most,
                         const HostTensor &result);

  ConstantCones &cones;
  SmallVector<Step> steps; ///< Last to first.
  Value bits;
};
} // namespace

uint64_t BitFunction::getMost() const { return truncate(~uint64_t(0), bits); }

/// The op's one operand that is no number becomes the next value of the chain.
bool BitFunction::addStep(Operation *op) {
  if (!isa<stablehlo::CompareOp, stablehlo::ShiftRightLogicalOp,
           stablehlo::ConvertOp, stablehlo::BitcastConvertOp, stablehlo::OrOp,
           stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
           stablehlo::DivOp, stablehlo::MaxOp, stablehlo::MinOp>(op))
    return false;
  Step step{op, 0, {}};
  unsigned unknown = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<HostTensor> scalar = getScalar(operand.get(), cones);
    if (!scalar) {
      step.number = operand.getOperandNumber();
      ++unknown;
    }
    step.operands.push_back(scalar.value_or(HostTensor()));
  }
  if (unknown != 1)
    return false;
  steps.push_back(std::move(step));
  return true;
}

Value BitFunction::build(Operation *op) {
  Value value;
  while (op && addStep(op)) {
    value = steps.back().op->getOperand(steps.back().number);
    op = value.getDefiningOp();
  }
  bits = value;
  auto type = value
                  ? dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()))
                  : IntegerType();
  return type && type.isUnsigned() ? value : Value();
}

/// The step on one element: the op with results of rank 0.
std::optional<HostTensor> BitFunction::apply(Step &step, const HostTensor &x) {
  SmallVector<HostTensor> operands(step.operands), results;
  operands[step.number] = x;
  Operation *one = step.op->clone();
  Value result = one->getResult(0);
  result.setType(
      RankedTensorType::get({}, getElementTypeOrSelf(result.getType())));
  bool isKnown = graph::computePure(one, operands, results);
  one->destroy();
  if (!isKnown || results.size() != 1)
    return std::nullopt;
  return results[0];
}

/// `most` is the greatest that the step is given, `result` what it makes of it.
bool BitFunction::isMonotone(const Step &step, const HostTensor &most,
                             const HostTensor &result) {
  const HostTensor *other =
      step.operands.size() == 2 ? &step.operands[1 - step.number] : nullptr;
  if (isa<stablehlo::CompareOp>(step.op))
    return !other->isFloat() || !std::isnan(other->getFloat(0));
  if (isa<stablehlo::ShiftRightLogicalOp>(step.op))
    return step.number == 0;
  if (isa<stablehlo::ConvertOp>(step.op)) {
    if (result.isFloat())
      return true;
    return !most.isFloat() && most.getInt(0) >= 0 &&
           result.getInt(0) == most.getInt(0);
  }
  if (isa<stablehlo::BitcastConvertOp>(step.op))
    return result.isFloat() && std::isfinite(result.getFloat(0)) &&
           !std::signbit(result.getFloat(0));
  if (isa<stablehlo::OrOp>(step.op)) {
    auto flags = static_cast<uint64_t>(other->getInt(0));
    return static_cast<uint64_t>(most.getInt(0)) < (flags & (~flags + 1));
  }
  if (!result.isFloat() || !std::isfinite(other->getFloat(0)))
    return false;
  if (isa<stablehlo::MulOp>(step.op))
    return other->getFloat(0) > 0;
  if (isa<stablehlo::DivOp>(step.op))
    return step.number == 0 && other->getFloat(0) > 0;
  return !isa<stablehlo::SubtractOp>(step.op) || step.number == 0;
}

bool BitFunction::isMonotone() {
  HostTensor most(getElementTypeOrSelf(bits.getType()), {});
  most.setInt(0, static_cast<int64_t>(getMost()));
  for (Step &step : llvm::reverse(steps)) {
    std::optional<HostTensor> result = apply(step, most);
    if (!result || !isMonotone(step, most, *result))
      return false;
    most = *result;
  }
  return true;
}

bool BitFunction::evaluate(uint64_t number) {
  HostTensor value(getElementTypeOrSelf(bits.getType()), {});
  value.setInt(0, static_cast<int64_t>(number));
  for (Step &step : llvm::reverse(steps))
    value = *apply(step, value);
  return value.getInt(0) != 0;
}

std::optional<BitThreshold> training::matchThreshold(Value flags,
                                                     ConstantCones &cones) {
  using Direction = stablehlo::ComparisonDirection;
  auto compare = flags.getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare.getComparisonDirection() == Direction::EQ ||
      compare.getComparisonDirection() == Direction::NE)
    return std::nullopt;
  BitFunction function(cones);
  Value bits = function.build(compare);
  if (!bits || !function.isMonotone())
    return std::nullopt;
  uint64_t low = 0, high = function.getMost();
  bool first = function.evaluate(low);
  if (function.evaluate(high) == first)
    return std::nullopt;
  // The flag of `low` is the first one, that of `high` the last one.
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (function.evaluate(middle) == first ? low : high) = middle;
  }
  return BitThreshold{bits, first, high};
}
