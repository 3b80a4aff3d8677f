//===- Padding.cpp - What the padding of values holds ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Padding.h. Test: test/Transforms/Partition/localize-padding.mlir
//
//===----------------------------------------------------------------------===//

#include "Padding.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using graph::FactorKind;
using graph::ShardingRule;
using graph::TensorFactors;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static TypedAttr getZero(Type element) {
  return stablehlo::getNeutralElement(ReductionKind::sum, element);
}

bool Held::is(TypedAttr element) const {
  if (!isConstant() || !isExact)
    return false;
  auto x = dyn_cast<FloatAttr>(value), y = dyn_cast<FloatAttr>(element);
  if (x && y && x.getType() == y.getType())
    return x.getValue().compare(y.getValue()) == APFloat::cmpEqual;
  return value == element;
}

bool Held::isNear(TypedAttr element) const {
  Held exact = *this;
  exact.isExact = true;
  return exact.is(element);
}

bool Held::isZero() const {
  return isConstant() && is(getZero(value.getType()));
}

bool Held::isFinite() const {
  if (kind == Kind::Copy)
    return true;
  auto real = dyn_cast_or_null<FloatAttr>(value);
  return isConstant() && (!real || real.getValue().isFinite());
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static int64_t getExtent(Type type, int64_t dim) {
  dist::LayoutAttr layout = dist::getLayout(type);
  int64_t size = cast<RankedTensorType>(type).getDimSize(dim);
  return layout ? layout.getDims()[dim].getExtent(size) : size;
}

bool PaddingAnalysis::isPadded(Type type, int64_t dim) {
  return getExtent(type, dim) != cast<RankedTensorType>(type).getDimSize(dim);
}

SmallVector<int64_t> PaddingAnalysis::getPaddedDims(Type type) {
  SmallVector<int64_t> dims;
  auto tensor = dyn_cast<RankedTensorType>(type);
  for (int64_t d = 0; tensor && d < tensor.getRank(); ++d)
    if (isPadded(type, d))
      dims.push_back(d);
  return dims;
}

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

void PaddingAnalysis::setZero(Value value) {
  Held zero = Held::constant(getZero(elementOf(value)));
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  facts[value] = {SmallVector<Held>(rank, zero), zero};
}

void PaddingAnalysis::pass(Value from, Value to) {
  int64_t rank = cast<RankedTensorType>(to.getType()).getRank();
  Held zero = Held::constant(getZero(elementOf(to)));
  bool isNew = false, wasPadded = !getPaddedDims(from.getType()).empty();
  PaddingFacts result;
  for (int64_t d = 0; d < rank; ++d) {
    bool had = isPadded(from.getType(), d);
    bool fills = getExtent(to.getType(), d) != getExtent(from.getType(), d);
    Held held = had ? getDim(from, d) : zero;
    result.dims.push_back(fills && !held.isZero() ? Held() : held);
    isNew |= fills;
  }
  Held old = wasPadded ? getEverywhere(from) : zero;
  result.everywhere = isNew && !old.isZero() ? Held() : old;
  facts[to] = result;
}

void PaddingAnalysis::passZeros(Value from, Value to) {
  pass(from, to);
  PaddingFacts &result = facts[to];
  for (Held &held : result.dims)
    held = held.isZero() ? held : Held();
  if (!result.everywhere.isZero())
    result.everywhere = {};
}

void PaddingAnalysis::meet(Value from, Value to) {
  PaddingFacts &result = facts[to];
  for (auto [d, held] : llvm::enumerate(result.dims))
    if (isPadded(from.getType(), d) && !getDim(from, d).isZero())
      held = {};
  if (!getEverywhere(from).isZero())
    result.everywhere = {};
}

Held PaddingAnalysis::getDim(Value value, int64_t dim) const {
  auto found = facts.find(value);
  return found == facts.end() ? Held() : found->second.dims[dim];
}

Held PaddingAnalysis::getEverywhere(Value value) const {
  auto found = facts.find(value);
  return found == facts.end() ? Held() : found->second.everywhere;
}

SmallVector<int64_t> PaddingAnalysis::getUnmasked(Value value,
                                                  ArrayRef<int64_t> among,
                                                  TypedAttr wanted) const {
  SmallVector<int64_t> unmasked;
  for (int64_t d : among)
    if (!getDim(value, d).is(wanted))
      unmasked.push_back(d);
  // Positions outside of two dims that need no mask are known by `everywhere`.
  if (unmasked.size() + 1 < among.size() && !getEverywhere(value).is(wanted))
    unmasked.assign(among.begin(), among.end());
  return unmasked;
}

//===----------------------------------------------------------------------===//
// Following an op
//===----------------------------------------------------------------------===//

/// Larger slices of padding are not evaluated: nothing is known of them then.
static constexpr int64_t kMaxEvaluated = int64_t(1) << 20;

namespace {
/// One padded dim of a result.
class DimFollower {
public:
  DimFollower(const PaddingAnalysis &analysis, Operation *op,
              const ShardingRule &rule, ArrayRef<int> factors)
      : analysis(analysis), op(op), rule(rule) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      held.push_back(readOperand(analysis, operand, rule.operands[i], factors));
  }

  Held follow(unsigned result) {
    bool isUniform = cast<graph::ShardingRuleOpInterface>(op).isUniform();
    Held constant = isUniform ? evaluate(result) : Held();
    TypedAttr zero = getZero(elementOf(op->getResult(result)));
    for (const graph::Linearity &linearity : rule.carries)
      for (ArrayRef<int> group : linearity.groups)
        if ((linearity.kind == ReductionKind::sum ||
             linearity.kind == ReductionKind::bitOr) &&
            keepsZero(group, /*mayOthersBeZero=*/constant.isNear(zero)))
          return Held::constant(zero);
    bool isCopy = isUniform && llvm::all_of(held, [](const auto &h) {
                    return !h || h->kind == Held::Kind::Copy;
                  });
    return isCopy && !constant.isConstant() ? Held::copy() : constant;
  }

private:
  /// Nothing where the operand lacks the factors.
  static std::optional<Held> readOperand(const PaddingAnalysis &analysis,
                                         Value operand,
                                         const TensorFactors &tensor,
                                         ArrayRef<int> factors) {
    SmallVector<int64_t> dims;
    for (auto [d, list] : llvm::enumerate(tensor))
      if (PaddingAnalysis::isPadded(operand.getType(), d) &&
          llvm::any_of(list,
                       [&](int f) { return llvm::is_contained(factors, f); }))
        dims.push_back(d);
    if (dims.empty())
      return std::nullopt;
    return dims.size() == 1 ? analysis.getDim(operand, dims.front())
                            : analysis.getEverywhere(operand);
  }

  /// Linear in a group that holds zero, with nothing else that spoils it: zero
  /// divided by zero would.
  bool keepsZero(ArrayRef<int> group, bool mayOthersBeZero) {
    bool isTerm = !rule.addends.empty() && group == ArrayRef(rule.addends);
    bool holdsZero = false;
    for (auto [i, h] : llvm::enumerate(held)) {
      if (llvm::is_contained(group, static_cast<int>(i))) {
        // Terms that lack the factor are placed on elements alone.
        if (!h && !isTerm)
          return false;
        if (h && !h->isZero())
          return false;
        holdsZero |= h.has_value();
      } else if (h && !elementOf(op->getOperand(i)).isInteger(1) &&
                 (!h->isFinite() || (h->isZero() && !mayOthersBeZero))) {
        return false;
      }
    }
    return holdsZero;
  }

  /// The operand's element in padding where it is one constant.
  TypedAttr getElement(unsigned i) {
    if (held[i])
      return held[i]->isConstant() ? held[i]->value : TypedAttr();
    Held uniform = analysis.getUniform(op->getOperand(i));
    isUniformExact &= uniform.isExact;
    return uniform.value;
  }

  /// One slice of padding: size 1 along factors that pass.
  SmallVector<int64_t> getSliceShape(const TensorFactors &tensor) {
    SmallVector<int64_t> shape;
    for (const SmallVector<int, 1> &dim : tensor) {
      int64_t size = 1;
      for (int f : dim)
        if (rule.factors[f].kind != FactorKind::Pass)
          size *= rule.factors[f].size;
      shape.push_back(size);
    }
    return shape;
  }

  Held evaluate(unsigned result);
  bool isExact();

  const PaddingAnalysis &analysis;
  Operation *op;
  const ShardingRule &rule;
  SmallVector<std::optional<Held>> held;
  bool isUniformExact = true;
};
} // namespace

bool DimFollower::isExact() {
  bool sums = llvm::any_of(rule.factors, [](const graph::Factor &factor) {
    return factor.kind == FactorKind::Reduced &&
           !isIdempotent(factor.reduction);
  });
  return !sums && isUniformExact &&
         llvm::all_of(held, [](const auto &h) { return !h || h->isExact; });
}

Held DimFollower::evaluate(unsigned number) {
  Block scratch;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&scratch);
  IRMapping mapping;
  SmallVector<HostTensor> operands, results;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    TypedAttr element = getElement(i);
    if (!element)
      return {};
    auto type = RankedTensorType::get(getSliceShape(rule.operands[i]),
                                      elementOf(operand));
    if (type.getNumElements() > kMaxEvaluated)
      return {};
    auto value = DenseElementsAttr::get(type, Attribute(element));
    FailureOr<HostTensor> tensor = HostTensor::fromAttribute(value);
    if (failed(tensor))
      return {};
    operands.push_back(*tensor);
    mapping.map(operand,
                stablehlo::ConstantOp::create(builder, op->getLoc(), value)
                    .getResult());
  }
  Operation *slice = builder.clone(*op, mapping);
  for (auto [i, value] : llvm::enumerate(slice->getResults()))
    value.setType(RankedTensorType::get(getSliceShape(rule.results[i]),
                                        elementOf(value)));
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(Interpreter().evaluateOp(slice, operands, results)))
    return {};
  auto elements = dyn_cast<DenseElementsAttr>(results[number].toAttribute());
  if (!elements || !elements.isSplat())
    return {};
  return Held::constant(elements.getSplatValue<TypedAttr>(), isExact());
}

Held PaddingAnalysis::getUniform(Value value) const {
  auto found = uniform.find(value);
  return found == uniform.end() ? Held() : found->second;
}

/// A value that is one constant all over, padding included.
void PaddingAnalysis::visitUniform(Operation *op, const ShardingRule &rule) {
  DenseElementsAttr splat;
  if (matchPattern(op, m_Constant(&splat)) && splat.isSplat()) {
    uniform[op->getResult(0)] =
        Held::constant(splat.getSplatValue<TypedAttr>());
    return;
  }
  bool areUniform = op->getNumOperands() > 0 && op->getNumResults() == 1 &&
                    llvm::all_of(op->getOperands(), [&](Value operand) {
                      return getUniform(operand).isConstant();
                    });
  if (!areUniform || !cast<graph::ShardingRuleOpInterface>(op).isUniform())
    return;
  Held held = DimFollower(*this, op, rule, {}).follow(0);
  if (held.isConstant())
    uniform[op->getResult(0)] = held;
}

void PaddingAnalysis::visit(Operation *op, const ShardingRule &rule) {
  visitUniform(op, rule);
  for (auto [r, value] : llvm::enumerate(op->getResults())) {
    SmallVector<int64_t> padded = getPaddedDims(value.getType());
    if (padded.empty())
      continue;
    Held all = getUniform(value);
    PaddingFacts result;
    result.dims.resize(rule.results[r].size());
    for (int64_t d : padded)
      result.dims[d] =
          all.isConstant()
              ? all
              : DimFollower(*this, op, rule, rule.results[r][d]).follow(r);
    // Outside of several dims an op still reads what operands hold there.
    Held first = result.dims[padded.front()];
    bool agree = first.isConstant() && llvm::all_of(padded, [&](int64_t d) {
                   return result.dims[d].is(first.value);
                 });
    bool isCovered = padded.size() == 1 || all.isConstant() ||
                     llvm::all_of(op->getOperands(), [&](Value operand) {
                       return getPaddedDims(operand.getType()).empty() ||
                              getEverywhere(operand).isConstant();
                     });
    if (agree && isCovered)
      result.everywhere = first;
    facts[value] = result;
  }
}
