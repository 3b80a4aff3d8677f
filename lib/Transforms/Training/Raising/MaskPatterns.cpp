//===- MaskPatterns.cpp - Causal masks in their spellings -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/raise-attention-masks.mlir
//===----------------------------------------------------------------------===//

#include "MaskPatterns.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;
using Direction = stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// A mask of 2,048 by 2,048 positions.
static constexpr int64_t kMostElements = int64_t(1) << 22;

/// Whether a constant or an op of constants may make the value.
static bool isComputable(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return op && type && type.getNumElements() <= kMostElements &&
         op->getNumRegions() == 0 && op->getNumResults() == 1 && isPure(op);
}

const HostTensor *ConstantCones::evaluate(Value value) {
  // Chains of keys are long, so operands wait on a list.
  SmallVector<Value> waiting{value};
  while (!waiting.empty()) {
    Value next = waiting.back();
    Value missing;
    if (!known.contains(next) && isComputable(next))
      missing = findMissing(next.getDefiningOp());
    if (missing) {
      waiting.push_back(missing);
      continue;
    }
    if (!known.contains(next))
      known[next] = compute(next);
    waiting.pop_back();
  }
  return known[value].get();
}

/// The first operand that has not been evaluated, if none before it is unknown.
Value ConstantCones::findMissing(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end())
      return operand;
    if (!found->second)
      break;
  }
  return {};
}

std::unique_ptr<HostTensor> ConstantCones::compute(Value value) {
  if (!isComputable(value))
    return nullptr;
  if (std::optional<HostTensor> constant = graph::getConstant(value))
    return std::make_unique<HostTensor>(std::move(*constant));
  SmallVector<HostTensor> operands, results;
  for (Value operand : value.getDefiningOp()->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end() || !found->second)
      return nullptr;
    operands.push_back(*found->second);
  }
  if (!graph::computePure(value.getDefiningOp(), operands, results) ||
      results.size() != 1)
    return nullptr;
  return std::make_unique<HostTensor>(std::move(results[0]));
}

std::optional<double> training::getNumber(Value value, ConstantCones &cones) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<stablehlo::BroadcastInDimOp, stablehlo::ReshapeOp,
             stablehlo::TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (Attribute splat = stablehlo::getSplatElement(value)) {
    if (auto real = dyn_cast<FloatAttr>(splat))
      return real.getValueAsDouble();
    if (auto integer = dyn_cast<IntegerAttr>(splat))
      return static_cast<double>(integer.getType().isInteger(1)
                                     ? integer.getValue().getZExtValue()
                                     : integer.getValue().getSExtValue());
  }
  if (cast<RankedTensorType>(value.getType()).getNumElements() != 1)
    return std::nullopt;
  const HostTensor *known = cones.evaluate(value);
  if (!known)
    return std::nullopt;
  return known->isFloat() ? known->getFloat(0)
                          : static_cast<double>(known->getInt(0));
}

//===----------------------------------------------------------------------===//
// Conjunctions
//===----------------------------------------------------------------------===//

bool MaskReader::isTrue(const Mask &mask) {
  double wanted = mask.isNegated ? 0 : 1;
  if (std::optional<double> number = getNumber(mask.flags.value, cones))
    return *number == wanted;
  const HostTensor *known = cones.evaluate(mask.flags.value);
  if (!known)
    return false;
  for (int64_t i = 0; i < known->getNumElements(); ++i)
    if (known->getInt(i) != wanted)
      return false;
  return true;
}

void MaskReader::split(Mask mask, SmallVectorImpl<Mask> &masks) {
  while (atoms.lookThrough(mask.flags))
    ;
  Operation *op = mask.flags.value.getDefiningOp();
  auto splitOf = [&](Value operand, bool flips) {
    split({{operand, mask.flags.dims}, mask.isNegated != flips}, masks);
  };
  if (isa_and_nonnull<stablehlo::NotOp>(op))
    return splitOf(op->getOperand(0), true);
  if (mask.isNegated ? isa_and_nonnull<stablehlo::OrOp>(op)
                     : isa_and_nonnull<stablehlo::AndOp>(op)) {
    splitOf(op->getOperand(0), false);
    return splitOf(op->getOperand(1), false);
  }
  if (std::optional<Mask> choice = matchChoice(mask))
    return split(*choice, masks);
  if (!isTrue(mask))
    masks.push_back(mask);
}

static bool compareNumbers(Direction direction, double x, double y) {
  switch (direction) {
  case Direction::EQ:
    return x == y;
  case Direction::NE:
    return x != y;
  case Direction::LT:
    return x < y;
  case Direction::LE:
    return x <= y;
  case Direction::GT:
    return x > y;
  case Direction::GE:
    return x >= y;
  }
  return false;
}

/// The flags by which a value is one of two numbers: a choice of flags,
/// a choice of numbers that is compared with one, flags that are converted.
std::optional<Mask> MaskReader::matchChoice(Mask mask) {
  Operation *op = mask.flags.value.getDefiningOp();
  auto compare = dyn_cast_or_null<stablehlo::CompareOp>(op);
  std::optional<double> limit =
      compare ? getNumber(compare.getRhs(), cones) : std::nullopt;
  if (compare && !limit)
    return std::nullopt;
  AtomView view = mask.flags;
  if (compare)
    view.value = compare.getLhs();
  while (atoms.lookThrough(view))
    ;
  std::optional<double> onTrue, onFalse;
  Operation *choice = view.value.getDefiningOp();
  if (auto select = dyn_cast_or_null<stablehlo::SelectOp>(choice)) {
    onTrue = getNumber(select.getOnTrue(), cones);
    onFalse = getNumber(select.getOnFalse(), cones);
    // A scalar predicate has no dims.
    if (getShape(select.getPred()).empty())
      return std::nullopt;
  } else if (isa_and_nonnull<stablehlo::ConvertOp>(choice) &&
             getElementTypeOrSelf(choice->getOperand(0)).isInteger(1)) {
    onTrue = 1;
    onFalse = 0;
  }
  if (!onTrue || !onFalse)
    return std::nullopt;
  auto isFlag = [&](double number) {
    return compare ? compareNumbers(compare.getComparisonDirection(), number,
                                    *limit)
                   : number != 0;
  };
  if (isFlag(*onTrue) == isFlag(*onFalse))
    return std::nullopt;
  return Mask{{choice->getOperand(0), view.dims},
              mask.isNegated != isFlag(*onFalse)};
}

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

void Affine::add(const Affine &other, int64_t sign) {
  constant += sign * other.constant;
  for (auto [atom, factor] : other.terms)
    add(atom, sign * factor);
}

void Affine::add(int atom, int64_t factor) {
  for (auto &term : terms)
    if (term.first == atom) {
      term.second += factor;
      return;
    }
  terms.push_back({atom, factor});
}

void Affine::addDim(const DimAtoms &atoms, ArrayRef<int> dim, int64_t factor) {
  AtomList parts = atoms.expand(dim);
  for (int atom : llvm::reverse(parts)) {
    add(atom, factor);
    factor *= atoms.sizeOf(atom);
  }
}

std::pair<int64_t, int64_t> Affine::getRange(const DimAtoms &atoms) const {
  std::pair<int64_t, int64_t> range(constant, constant);
  for (auto [atom, factor] : terms)
    (factor < 0 ? range.first : range.second) +=
        factor * (atoms.sizeOf(atom) - 1);
  return range;
}

/// Whether an integer type has all numbers of the range.
static bool holds(Value value, std::pair<int64_t, int64_t> range) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  if (!type)
    return false;
  if (type.getWidth() >= 64)
    return !type.isUnsigned() || range.first >= 0;
  int64_t most = (int64_t(1) << (type.getWidth() - !type.isUnsigned())) - 1;
  return range.first >= (type.isUnsigned() ? 0 : -most - 1) &&
         range.second <= most;
}

/// first + i * step, if the integers are.
static std::optional<std::pair<int64_t, int64_t>>
matchProgression(const HostTensor &table) {
  int64_t count = table.getNumElements();
  if (count == 0)
    return std::nullopt;
  int64_t first = table.getInt(0);
  int64_t step = count > 1 ? table.getInt(1) - first : 0;
  for (int64_t i = 0; i < count; ++i)
    if (table.getInt(i) != first + i * step)
      return std::nullopt;
  return std::pair(first, step);
}

/// The integer that all elements of `value` are. None of those whose sums with
/// positions may be more than 64 bits hold: a text counts below zero in them.
static std::optional<int64_t> getInteger(Value value, ConstantCones &cones) {
  constexpr double most = int64_t(1) << 53;
  std::optional<double> number = getNumber(value, cones);
  if (!number || std::abs(*number) > most)
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

/// A number times what is affine.
std::optional<Affine> MaskReader::matchMultiple(AtomView view) {
  Operation *op = view.value.getDefiningOp();
  for (unsigned number : {0, 1}) {
    std::optional<int64_t> factor = getInteger(op->getOperand(number), cones);
    if (!factor)
      continue;
    std::optional<Affine> source =
        matchAffine({op->getOperand(1 - number), view.dims});
    if (!source)
      return std::nullopt;
    Affine product;
    product.add(*source, *factor);
    return product;
  }
  return std::nullopt;
}

std::optional<Affine> MaskReader::matchAffine(AtomView view) {
  while (atoms.lookThrough(view))
    ;
  Affine affine;
  Operation *op = view.value.getDefiningOp();
  if (!op || !isa<IntegerType>(getElementTypeOrSelf(view.value.getType())))
    return std::nullopt;
  if (auto iota = dyn_cast<stablehlo::IotaOp>(op)) {
    affine.addDim(atoms, view.dims[iota.getIotaDimension()], 1);
    return affine;
  }
  if (std::optional<int64_t> number = getInteger(view.value, cones)) {
    affine.constant = *number;
    return affine;
  }
  if (isa<stablehlo::ConvertOp>(op)) {
    std::optional<Affine> source = matchAffine({op->getOperand(0), view.dims});
    return source && holds(view.value, source->getRange(atoms)) ? source
                                                                : std::nullopt;
  }
  if (isa<stablehlo::MulOp>(op))
    return matchMultiple(view);
  if (isa<stablehlo::AddOp, stablehlo::SubtractOp>(op)) {
    std::optional<Affine> lhs = matchAffine({op->getOperand(0), view.dims}),
                          rhs = matchAffine({op->getOperand(1), view.dims});
    if (!lhs || !rhs)
      return std::nullopt;
    lhs->add(*rhs, isa<stablehlo::AddOp>(op) ? 1 : -1);
    return lhs;
  }
  const HostTensor *table = cones.evaluate(view.value);
  std::optional<std::pair<int64_t, int64_t>> progression;
  if (table && getShape(view.value).size() == 1)
    progression = matchProgression(*table);
  if (!progression)
    return std::nullopt;
  affine.constant = progression->first;
  affine.addDim(atoms, view.dims[0], progression->second);
  return affine;
}

std::optional<Band> MaskReader::matchCompare(Mask mask) {
  auto compare = mask.flags.value.getDefiningOp<stablehlo::CompareOp>();
  if (!compare)
    return std::nullopt;
  std::optional<Affine> difference =
      matchAffine({compare.getLhs(), mask.flags.dims});
  std::optional<Affine> rhs = matchAffine({compare.getRhs(), mask.flags.dims});
  if (!difference || !rhs)
    return std::nullopt;
  difference->add(*rhs, -1);
  Direction direction = compare.getComparisonDirection();
  if (direction == Direction::EQ || direction == Direction::NE)
    return std::nullopt;
  // x < y is x - y <= -1, x > y the negation of x - y <= 0.
  bool isStrict = direction == Direction::LT || direction == Direction::GE;
  bool flips = direction == Direction::GT || direction == Direction::GE;
  Band band{-1, -1, (isStrict ? -1 : 0) - difference->constant,
            mask.isNegated != flips};
  for (auto [atom, factor] : difference->terms) {
    if (factor == 0)
      continue;
    int &place = factor == 1 ? band.plus : band.minus;
    if ((factor != 1 && factor != -1) || place >= 0)
      return std::nullopt;
    place = atom;
  }
  if (band.plus < 0 || band.minus < 0)
    return std::nullopt;
  return band;
}

/// A table of flags over two atoms, the last dims of more than one element but
/// for those along which it repeats.
std::optional<Band>
MaskReader::matchTable(const AtomView &view, const HostTensor &table,
                       function_ref<bool(int64_t)> isTrueAt) {
  SmallVector<int64_t> dims;
  for (auto [dim, size] : llvm::enumerate(table.getShape()))
    if (size != 1)
      dims.push_back(dim);
  if (dims.size() < 2)
    return std::nullopt;
  int64_t rowDim = dims[dims.size() - 2], columnDim = dims.back();
  if (view.dims[rowDim].size() != 1 || view.dims[columnDim].size() != 1)
    return std::nullopt;
  int64_t rows = table.getShape()[rowDim],
          columns = table.getShape()[columnDim];
  auto at = [&](int64_t row, int64_t column) {
    return isTrueAt(row * columns + column);
  };
  // Column 0 is seen by the last rows, or it is the negation. The first row in
  // which a part is seen says how far.
  bool seen = at(rows - 1, 0);
  std::optional<int64_t> shift;
  for (int64_t row = 0; row < rows && !shift; ++row) {
    int64_t count = 0;
    while (count < columns && at(row, count) == seen)
      ++count;
    if (count > 0 && count < columns)
      shift = count - 1 - row;
  }
  if (!shift)
    return std::nullopt;
  for (int64_t i = 0; i < table.getNumElements(); ++i) {
    int64_t column = i % columns, row = i / columns % rows;
    if (isTrueAt(i) != ((column - row <= *shift) == seen))
      return std::nullopt;
  }
  return Band{view.dims[columnDim].front(), view.dims[rowDim].front(), *shift,
              !seen};
}

std::optional<Band> MaskReader::matchBand(Mask mask) {
  while (atoms.lookThrough(mask.flags))
    ;
  if (std::optional<Band> band = matchCompare(mask))
    return band;
  const HostTensor *table = cones.evaluate(mask.flags.value);
  if (!table || table->getNumElements() == 0)
    return std::nullopt;
  std::optional<Band> band = matchTable(
      mask.flags, *table, [&](int64_t i) { return table->getInt(i) != 0; });
  if (band)
    band->isNegated = band->isNegated != mask.isNegated;
  return band;
}

std::optional<Band> MaskReader::matchBandOfNumbers(AtomView view,
                                                   double &fill) {
  while (atoms.lookThrough(view))
    ;
  const HostTensor *table = cones.evaluate(view.value);
  if (!table || table->getNumElements() == 0 || !table->isFloat())
    return std::nullopt;
  fill = 0;
  for (int64_t i = 0; i < table->getNumElements(); ++i)
    if (double number = table->getFloat(i); number != 0) {
      if (fill != 0 && number != fill)
        return std::nullopt;
      fill = number;
    }
  return matchTable(view, *table,
                    [&](int64_t i) { return table->getFloat(i) == 0; });
}
