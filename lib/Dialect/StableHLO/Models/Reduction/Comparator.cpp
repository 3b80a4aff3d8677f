//===- Comparator.cpp - Orders by keys ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Comparator.h.
//
// Tests: test/EndToEnd/sorting.test, test/Import/StableHLO/expand-sort.mlir
//===----------------------------------------------------------------------===//

#include "Comparator.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

using ValuePair = std::pair<Value, Value>;

/// Pushes what must be alike for `x` and `y` to be; false where they are not.
static bool pushAlike(Region &body, ValuePair both,
                      SmallVectorImpl<ValuePair> &worklist) {
  auto [x, y] = both;
  if (x.getParentRegion() != &body || y.getParentRegion() != &body)
    return x == y;
  Operation *ofX = x.getDefiningOp(), *ofY = y.getDefiningOp();
  if (!ofX && !ofY) {
    unsigned number = cast<BlockArgument>(x).getArgNumber();
    return number % 2 == 0 &&
           cast<BlockArgument>(y).getArgNumber() == number + 1;
  }
  if (!ofX || !ofY ||
      cast<OpResult>(x).getResultNumber() !=
          cast<OpResult>(y).getResultNumber() ||
      !OperationEquivalence::isEquivalentTo(
          ofX, ofY, OperationEquivalence::ignoreValueEquivalence, nullptr,
          OperationEquivalence::IgnoreLocations))
    return false;
  for (auto [ownX, ownY] :
       llvm::zip_equal(ofX->getOperands(), ofY->getOperands()))
    worklist.push_back({ownX, ownY});
  return true;
}

/// `x` is of the first of each pair of arguments what `y` is of the second.
static bool isMirrored(Region &body, Value x, Value y) {
  SmallVector<ValuePair> worklist = {{x, y}};
  DenseSet<ValuePair> seen;
  while (!worklist.empty()) {
    ValuePair both = worklist.pop_back_val();
    if (seen.insert(both).second && !pushAlike(body, both, worklist))
      return false;
  }
  return true;
}

/// The key that a comparison of two elements compares.
static std::optional<ComparatorKey> readKey(Region &body, CompareOp compare) {
  ComparisonDirection direction = compare.getComparisonDirection();
  bool isLess = direction == ComparisonDirection::LT;
  if (!isLess && direction != ComparisonDirection::GT)
    return std::nullopt;
  bool isOfNumbers = compare.getOrderType() == ComparisonType::FLOAT;
  if (isMirrored(body, compare.getLhs(), compare.getRhs()))
    return ComparatorKey{compare.getLhs(), !isLess, isOfNumbers};
  if (isMirrored(body, compare.getRhs(), compare.getLhs()))
    return ComparatorKey{compare.getRhs(), isLess, isOfNumbers};
  return std::nullopt;
}

namespace {
/// `first` decides unless its two values are equal, then `rest` does.
struct Lexicographic {
  CompareOp first;
  Value rest;
};
} // namespace

/// Whether `is` tells by `direction` whether the values that `first` compares
/// are equal.
static bool comparesSame(Value is, ComparisonDirection direction,
                         CompareOp first) {
  auto compare = is.getDefiningOp<CompareOp>();
  return compare && first && compare.getComparisonDirection() == direction &&
         compare.getOrderType() == first.getOrderType() &&
         compare.getLhs() == first.getLhs() &&
         compare.getRhs() == first.getRhs();
}

/// or(first, and(equal, rest)), select(equal, rest, first) or select(unequal,
/// first, rest).
static std::optional<Lexicographic> readLexicographic(Value is) {
  if (auto choice = is.getDefiningOp<SelectOp>()) {
    Value yes = choice.getOnTrue(), no = choice.getOnFalse();
    auto first = no.getDefiningOp<CompareOp>();
    if (comparesSame(choice.getPred(), ComparisonDirection::EQ, first))
      return Lexicographic{first, yes};
    first = yes.getDefiningOp<CompareOp>();
    if (comparesSame(choice.getPred(), ComparisonDirection::NE, first))
      return Lexicographic{first, no};
  }
  auto either = is.getDefiningOp<OrOp>();
  for (unsigned i = 0; either && i < 2; ++i) {
    auto first = either->getOperand(i).getDefiningOp<CompareOp>();
    auto both = either->getOperand(1 - i).getDefiningOp<AndOp>();
    for (unsigned j = 0; both && j < 2; ++j)
      if (comparesSame(both->getOperand(j), ComparisonDirection::EQ, first))
        return Lexicographic{first, both->getOperand(1 - j)};
  }
  return std::nullopt;
}

SmallVector<ComparatorKey> stablehlo::readComparator(Region &body) {
  SmallVector<ComparatorKey> keys;
  Value is = body.front().getTerminator()->getOperand(0);
  while (std::optional<Lexicographic> order = readLexicographic(is)) {
    std::optional<ComparatorKey> key = readKey(body, order->first);
    if (!key)
      return {};
    keys.push_back(*key);
    is = order->rest;
  }
  auto last = is.getDefiningOp<CompareOp>();
  std::optional<ComparatorKey> key;
  if (last)
    key = readKey(body, last);
  if (!key)
    return {};
  keys.push_back(*key);
  return keys;
}
