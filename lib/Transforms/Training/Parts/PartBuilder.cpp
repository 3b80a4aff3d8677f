//===- PartBuilder.cpp - Values cut along one dimension -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartBuilder.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "llmc/Dialect/Graph/IR/LocalForm.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using llmc::dist::DistDialect;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType cutType(RankedTensorType type, Cut cut) {
  SmallVector<int64_t> shape(type.getShape());
  shape[cut.dim] = cut.getSize();
  return RankedTensorType::get(shape, type.getElementType());
}

static bool isWhole(Value value, Cut cut) {
  return cut.begin == 0 && cut.end == typeOf(value).getDimSize(cut.dim);
}

void training::copyMarks(Operation *from, Operation *to) {
  for (StringRef mark :
       {StringRef(DistDialect::kBlock), StringRef(DistDialect::kPhase)})
    if (Attribute value = from->getAttr(mark))
      to->setAttr(mark, value);
}

//===----------------------------------------------------------------------===//
// What a cut cuts
//===----------------------------------------------------------------------===//

/// The product of the factors right of the major one of a dimension.
static int64_t getMinorSize(const graph::ShardingRule &rule,
                            ArrayRef<int> factors) {
  int64_t size = 1;
  for (int factor : factors.drop_front())
    size *= rule.factors[factor].size;
  return size;
}

/// The cuts of tensors by positions [begin, end) of `factor`; nothing where it
/// is not the major factor of its dimension.
static std::optional<SmallVector<std::optional<Cut>>>
cutTensors(const graph::ShardingRule &rule,
           ArrayRef<graph::TensorFactors> tensors, int factor, int64_t begin,
           int64_t end) {
  SmallVector<std::optional<Cut>> cuts;
  for (const graph::TensorFactors &tensor : tensors) {
    std::optional<Cut> &cut = cuts.emplace_back();
    for (auto [dim, factors] : llvm::enumerate(tensor)) {
      if (!llvm::is_contained(factors, factor))
        continue;
      if (cut || factors.front() != factor)
        return std::nullopt;
      int64_t minor = getMinorSize(rule, factors);
      cut = Cut{static_cast<int64_t>(dim), begin * minor, end * minor};
    }
  }
  return cuts;
}

/// Forms whose local form is the op itself on parts.
static bool letsCutsPass(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (!kernel || !isa<graph::ShardingRuleOpInterface>(op))
    return false;
  graph::KernelForm form = kernel.getKernelForm();
  return form == graph::KernelForm::Element ||
         form == graph::KernelForm::Alias ||
         form == graph::KernelForm::Library ||
         form == graph::KernelForm::Reduction;
}

static std::optional<OpCut> cutOp(Operation *op, bool isResult, unsigned number,
                                  Cut cut) {
  if (!letsCutsPass(op))
    return std::nullopt;
  graph::ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
  ArrayRef<int> factors =
      (isResult ? rule.results : rule.operands)[number][cut.dim];
  if (factors.empty())
    return std::nullopt;
  int64_t minor = getMinorSize(rule, factors);
  graph::FactorKind kind = rule.factors[factors.front()].kind;
  bool passes = kind == graph::FactorKind::Pass ||
                (!isResult && kind == graph::FactorKind::Reduced);
  if (!passes || cut.begin % minor != 0 || cut.end % minor != 0)
    return std::nullopt;
  OpCut all;
  all.factor = factors.front();
  auto operands = cutTensors(rule, rule.operands, all.factor, cut.begin / minor,
                             cut.end / minor);
  auto results = cutTensors(rule, rule.results, all.factor, cut.begin / minor,
                            cut.end / minor);
  if (!operands || !results)
    return std::nullopt;
  // An operand that stands twice must be cut in the same way.
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (op->getOperand(i) == op->getOperand(j) &&
          ((*operands)[i].has_value() != (*operands)[j].has_value() ||
           ((*operands)[i] && (*operands)[i]->dim != (*operands)[j]->dim)))
        return std::nullopt;
  all.operands = std::move(*operands);
  all.results = std::move(*results);
  return all;
}

std::optional<OpCut> training::cutThroughResult(Operation *op, unsigned number,
                                                Cut cut) {
  return cutOp(op, true, number, cut);
}

std::optional<OpCut> training::cutThroughOperand(Operation *op, unsigned number,
                                                 Cut cut) {
  return cutOp(op, false, number, cut);
}

std::optional<Cut> training::getCutOfSlice(Operation *op) {
  auto slice = dyn_cast<stablehlo::SliceOp>(op);
  if (!slice)
    return std::nullopt;
  std::optional<Cut> cut;
  RankedTensorType type = typeOf(slice.getOperand());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Cut here{d, slice.getStartIndices()[d], slice.getLimitIndices()[d]};
    if (slice.getStrides()[d] != 1)
      return std::nullopt;
    if (isWhole(slice.getOperand(), here))
      continue;
    if (cut)
      return std::nullopt;
    cut = here;
  }
  if (!cut && type.getRank() > 0)
    cut = Cut{0, 0, type.getDimSize(0)};
  return cut;
}

//===----------------------------------------------------------------------===//
// Ops on parts
//===----------------------------------------------------------------------===//

namespace {
/// The local form of an op on parts: of what is cut, the "device" holds one
/// part, at a place that is known here.
class PartForm : public graph::LocalForm {
public:
  PartForm(OpBuilder &builder, Operation *op, SmallVectorImpl<Value> &results)
      : LocalForm(builder, op, results) {}

  void addOperand(Value global, Value local, std::optional<Cut> cut) {
    locals[global] = local;
    addCut(global, cut);
  }
  void addCut(Value global, std::optional<Cut> cut) {
    if (cut)
      cuts[global] = *cut;
  }

  Value getLocal(Value global) override {
    Value local = locals.lookup(global);
    return local ? local : global;
  }
  RankedTensorType getLocalType(Value global) override {
    auto cut = cuts.find(global);
    return cut == cuts.end() ? typeOf(global)
                             : cutType(typeOf(global), cut->second);
  }
  graph::LocalDim getDim(Value global, int64_t dim) override {
    int64_t size = typeOf(global).getDimSize(dim);
    return {size, size, getLocalType(global).getDimSize(dim), {{size, size}}};
  }
  Value buildOffset(Value global, int64_t dim, Type element) override {
    auto cut = cuts.find(global);
    bool isCut = cut != cuts.end() && cut->second.dim == dim;
    return stablehlo::scalar(builder, loc, element,
                             isCut ? static_cast<double>(cut->second.begin)
                                   : 0.0);
  }

private:
  llvm::DenseMap<Value, Value> locals;
  llvm::DenseMap<Value, Cut> cuts;
};
} // namespace

/// The first block of what an op takes from other ops of the backward; nothing
/// where it takes anything else but constants.
static std::optional<int64_t> findBackwardBlock(Operation *op) {
  std::optional<int64_t> block;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (def && def->hasTrait<OpTrait::ConstantLike>())
      continue;
    auto phase = def ? def->getAttrOfType<dist::PhaseAttr>(DistDialect::kPhase)
                     : nullptr;
    if (!phase || phase.getValue() == dist::Phase::Forward)
      return std::nullopt;
    int64_t other = getBlockMark(def).value_or(0);
    block = std::min(other, block.value_or(other));
  }
  return block;
}

namespace {
/// Gives what is built the marks of an op, but for its sharding group, whose
/// values have the shape of the whole. A part of what is put together in the
/// backward of several blocks stands no lower than what it is made of.
struct Marking : OpBuilder::Listener {
  explicit Marking(Operation *from) : from(from) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    copyMarks(from, op);
    op->removeAttr(dist::kGroup);
    std::optional<int64_t> block = findBackwardBlock(op);
    if (block && *block > getBlockMark(op).value_or(*block))
      setBlockMark(op, *block);
  }
  Operation *from;
};
} // namespace

FailureOr<SmallVector<Value>> PartBuilder::buildOp(Operation *op,
                                                   const OpCut &cut) {
  SmallVector<Value> parts;
  for (auto [operand, part] :
       llvm::zip_equal(op->getOperands(), cut.operands)) {
    parts.push_back(part ? build(operand, *part, op) : operand);
  }
  Marking marking(op);
  OpBuilder marked(op, &marking);
  SmallVector<Value> results;
  PartForm form(marked, op, results);
  for (auto [operand, part, of] :
       llvm::zip_equal(op->getOperands(), parts, cut.operands))
    form.addOperand(operand, part, of);
  for (auto [result, of] : llvm::zip_equal(op->getResults(), cut.results))
    form.addCut(result, of);
  // An op without a form for this cut is no fault of the program.
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  LogicalResult made =
      cast<graph::ShardingRuleOpInterface>(op).buildLocalForm(form);
  for (Value result : results)
    if (succeeded(made) && result.getDefiningOp())
      made = verify(result.getDefiningOp());
  if (failed(made))
    return failure();
  return results;
}

/// A splat of the value of `value`, if that is one.
static Attribute getSplat(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat())
    return {};
  return constant.getSplatValue<Attribute>();
}

static bool isZeroSplat(Value value) {
  auto number = dyn_cast_or_null<FloatAttr>(getSplat(value));
  return number && number.getValue().isZero();
}

static Value makeSplat(OpBuilder &builder, Location loc, Attribute element,
                       RankedTensorType type) {
  return stablehlo::ConstantOp::create(
      builder, loc, cast<ElementsAttr>(DenseElementsAttr::get(type, element)));
}

Value PartBuilder::buildSlice(Value value, Cut cut, Operation *marks) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  starts[cut.dim] = cut.begin;
  limits[cut.dim] = cut.end;
  Value slice =
      stablehlo::slice(builder, marks->getLoc(), value, starts, limits);
  copyMarks(marks, slice.getDefiningOp());
  return slice;
}

Value PartBuilder::buildOfOp(OpResult value, Cut cut) {
  Operation *op = value.getOwner();
  if (Attribute element = getSplat(value)) {
    builder.setInsertionPoint(op);
    Value splat =
        makeSplat(builder, op->getLoc(), element, cutType(typeOf(value), cut));
    copyMarks(op, splat.getDefiningOp());
    return splat;
  }
  if (auto parts = dyn_cast<graph::PartOpInterface>(op)) {
    Marking marking(op);
    OpBuilder marked(op, &marking);
    auto partOf = [&](Value operand, Cut of) { return build(operand, of, op); };
    if (Value part = parts.buildPart(marked, cut, partOf))
      return part;
  }
  std::optional<OpCut> through =
      cutThroughResult(op, value.getResultNumber(), cut);
  FailureOr<SmallVector<Value>> results = failure();
  if (through)
    results = buildOp(op, *through);
  if (failed(results)) {
    builder.setInsertionPointAfter(op);
    return buildSlice(value, cut, op);
  }
  Value part = (*results)[value.getResultNumber()];
  // What a slice's derivative adds beside it.
  if (auto add = part.getDefiningOp<stablehlo::AddOp>()) {
    if (isZeroSplat(add.getLhs()))
      return add.getRhs();
    if (isZeroSplat(add.getRhs()))
      return add.getLhs();
  }
  return part;
}

Value PartBuilder::build(Value value, Cut cut, Operation *user) {
  if (isWhole(value, cut))
    return value;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (Value part = argumentPart ? argumentPart(argument, cut) : Value())
      return part;
    builder.setInsertionPoint(user);
    return buildSlice(value, cut, user);
  }
  auto key =
      std::make_tuple(value.getAsOpaquePointer(), cut.dim, cut.begin, cut.end);
  if (auto known = built.find(key); known != built.end())
    return known->second;
  Value part = buildOfOp(cast<OpResult>(value), cut);
  built[key] = part;
  return part;
}
