//===- LoopNumbers.cpp - Integers that are known in each trip -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopNumbers.h.
//
// Test: test/Import/StableHLO/count-loops.mlir
//===----------------------------------------------------------------------===//

#include "LoopNumbers.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

/// Numbers beyond this are no counters: a double holds them and their sums.
static constexpr int64_t kGreatest = int64_t(1) << 51;
/// Longer tensors are not computed with.
static constexpr int64_t kMostElements = 4096;
/// Of more trips only the counters themselves are known.
static constexpr int64_t kMostTrips = 65536;
/// Longer chains of ops are not looked through.
static constexpr int kDeepest = 128;

static bool isInteger(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<IntegerType>(type.getElementType()) &&
         !type.getEncoding() && type.getNumElements() <= kMostElements;
}

/// The value before conversions that change nothing.
static Value strip(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>()) {
    if (convert.getOperand().getType() != value.getType())
      break;
    value = convert.getOperand();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Values of a trip
//===----------------------------------------------------------------------===//

bool LoopNumbers::isSame(unsigned number) {
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(number) == body.getArgument(number);
}

std::optional<HostTensor>
LoopNumbers::computeArgument(BlockArgument argument, int64_t trip, int depth) {
  if (argument.getOwner()->getParentOp() != loop)
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  if (isSame(number))
    return compute(loop->getOperand(number), trip, depth + 1);
  if (!counters[number])
    return std::nullopt;
  HostTensor value(cast<RankedTensorType>(argument.getType()));
  value.setInt(0, counters[number]->at(trip));
  return value;
}

std::optional<HostTensor> LoopNumbers::computeAnew(Value value, int64_t trip,
                                                   int depth) {
  if (!isInteger(value) || depth > kDeepest)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeArgument(argument, trip, depth);
  if (std::optional<HostTensor> constant = graph::getConstant(value))
    return constant;
  Operation *op = value.getDefiningOp();
  SmallVector<HostTensor> operands, results;
  for (Value operand : op->getOperands()) {
    std::optional<HostTensor> part = compute(operand, trip, depth + 1);
    if (!part)
      return std::nullopt;
    operands.push_back(*part);
  }
  if (!graph::computePure(op, operands, results))
    return std::nullopt;
  return results[cast<OpResult>(value).getResultNumber()];
}

std::optional<HostTensor> LoopNumbers::compute(Value value, int64_t trip,
                                               int depth) {
  if (trip != knownTrip) {
    known.clear();
    knownTrip = trip;
  }
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<HostTensor> result = computeAnew(value, trip, depth);
  known[value] = result;
  return result;
}

std::optional<int64_t> LoopNumbers::getNumber(Value value, int64_t trip) {
  std::optional<HostTensor> number = compute(value, trip);
  if (!number || number->getNumElements() != 1 ||
      std::abs(number->getInt(0)) > kGreatest)
    return std::nullopt;
  return number->getInt(0);
}

//===----------------------------------------------------------------------===//
// Counters
//===----------------------------------------------------------------------===//

/// Reads `argument + step` and `argument - step`.
std::optional<Sequence> LoopNumbers::matchCounter(unsigned number) {
  Block &body = loop.getBody().front();
  Value own = body.getArgument(number);
  auto type = cast<RankedTensorType>(own.getType());
  if (type.getRank() != 0 || !isInteger(own) ||
      type.getElementTypeBitWidth() < 8)
    return std::nullopt;
  Operation *op =
      strip(body.getTerminator()->getOperand(number)).getDefiningOp();
  if (!isa_and_present<AddOp, SubtractOp>(op))
    return std::nullopt;
  Value lhs = strip(op->getOperand(0)), rhs = strip(op->getOperand(1));
  bool isDown = isa<SubtractOp>(op);
  if (!isDown && rhs == own)
    std::swap(lhs, rhs);
  if (lhs != own)
    return std::nullopt;
  std::optional<int64_t> first = getNumber(loop->getOperand(number)),
                         step = getNumber(rhs);
  if (!first || !step)
    return std::nullopt;
  return Sequence{*first, isDown ? -*step : *step};
}

/// Trips from `counter` on as long as it is smaller than `end`.
static std::optional<int64_t> countUpTo(Sequence counter, int64_t end) {
  if (counter.first >= end)
    return 0;
  if (counter.step <= 0)
    return std::nullopt;
  return llvm::divideCeil(end - counter.first, counter.step);
}

/// Trips as long as a counter is not `end`.
static std::optional<int64_t> countUntil(Sequence counter, int64_t end) {
  int64_t way = end - counter.first;
  if (way == 0)
    return 0;
  if (counter.step == 0 || way % counter.step != 0 || way / counter.step < 0)
    return std::nullopt;
  return way / counter.step;
}

std::optional<int64_t> stablehlo::countTrips(Sequence counter, int64_t end,
                                             ComparisonDirection direction) {
  Sequence mirrored{-counter.first, -counter.step};
  switch (direction) {
  case ComparisonDirection::LT:
    return countUpTo(counter, end);
  case ComparisonDirection::LE:
    return countUpTo(counter, end + 1);
  case ComparisonDirection::GT:
    return countUpTo(mirrored, -end);
  case ComparisonDirection::GE:
    return countUpTo(mirrored, -end + 1);
  case ComparisonDirection::NE:
    return countUntil(counter, end);
  case ComparisonDirection::EQ:
    return std::nullopt;
  }
  llvm_unreachable("a direction is one of the six");
}

ComparisonDirection stablehlo::turn(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::LT:
    return ComparisonDirection::GT;
  case ComparisonDirection::LE:
    return ComparisonDirection::GE;
  case ComparisonDirection::GT:
    return ComparisonDirection::LT;
  case ComparisonDirection::GE:
    return ComparisonDirection::LE;
  case ComparisonDirection::EQ:
  case ComparisonDirection::NE:
    return direction;
  }
  llvm_unreachable("a direction is one of the six");
}

std::optional<int64_t> LoopNumbers::matchTrips() {
  Value condition = loop.getCond().front().getTerminator()->getOperand(0);
  auto compare = condition.getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  Value lhs = strip(compare.getLhs()), rhs = strip(compare.getRhs());
  ComparisonDirection direction = compare.getComparisonDirection();
  auto isCounter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == &loop.getCond().front() &&
           counters[argument.getArgNumber()];
  };
  if (!isCounter(lhs)) {
    std::swap(lhs, rhs);
    direction = turn(direction);
  }
  // A number that depends on a counter would be that of one trip.
  if (!isCounter(lhs))
    return std::nullopt;
  unsigned number = cast<BlockArgument>(lhs).getArgNumber();
  SmallVector<std::optional<Sequence>> all(counters.size());
  std::swap(all, counters);
  known.clear();
  std::optional<int64_t> end = getNumber(rhs);
  std::swap(all, counters);
  known.clear();
  if (!end)
    return std::nullopt;
  std::optional<int64_t> found = countTrips(*counters[number], *end, direction);
  Type element = getElementTypeOrSelf(lhs.getType());
  return found && fitsCounter(element, *counters[number], *found)
             ? found
             : std::nullopt;
}

bool stablehlo::fitsCounter(Type element, Sequence counter, int64_t trips) {
  int64_t width = element.getIntOrFloatBitWidth(), way = 0;
  if (llvm::MulOverflow(counter.step, trips, way) || std::abs(way) > kGreatest)
    return false;
  for (int64_t value : {counter.first, counter.first + way})
    if (element.isUnsignedInteger() ? value < 0 || !llvm::isUIntN(width, value)
                                    : !llvm::isIntN(width, value))
      return false;
  return true;
}

LoopNumbers::LoopNumbers(WhileOp loop)
    : loop(loop), counters(loop->getNumOperands()) {
  SmallVector<std::optional<Sequence>> found;
  for (unsigned i = 0; i < counters.size(); ++i)
    found.push_back(matchCounter(i));
  counters = std::move(found);
  trips = matchTrips();
  for (unsigned i = 0; i < counters.size(); ++i) {
    Type element = getElementTypeOrSelf(loop->getOperand(i).getType());
    if (!trips || (counters[i] && !fitsCounter(element, *counters[i], *trips)))
      counters[i] = std::nullopt;
  }
  known.clear();
}

//===----------------------------------------------------------------------===//
// Values of all trips
//===----------------------------------------------------------------------===//

std::optional<SmallVector<int64_t>> LoopNumbers::getNumbers(Value value) {
  if (!trips || *trips > kMostTrips)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (int64_t trip = 0; trip < *trips; ++trip) {
    std::optional<int64_t> number = getNumber(value, trip);
    if (!number)
      return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<Sequence> LoopNumbers::getSequence(Value value) {
  auto argument = dyn_cast<BlockArgument>(strip(value));
  if (argument && argument.getOwner() == &loop.getBody().front() &&
      counters[argument.getArgNumber()])
    return counters[argument.getArgNumber()];
  std::optional<SmallVector<int64_t>> numbers = getNumbers(value);
  if (!numbers || numbers->empty())
    return std::nullopt;
  Sequence sequence{numbers->front(), 0};
  if (numbers->size() > 1)
    sequence.step = (*numbers)[1] - sequence.first;
  for (auto [trip, number] : llvm::enumerate(*numbers))
    if (number != sequence.at(trip))
      return std::nullopt;
  return sequence;
}

bool LoopNumbers::isKnownToVary(Value value) {
  std::optional<SmallVector<int64_t>> numbers = getNumbers(value);
  return numbers && !numbers->empty() && !llvm::all_equal(*numbers);
}
