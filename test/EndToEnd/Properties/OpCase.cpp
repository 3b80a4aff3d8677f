//===- OpCase.cpp - One op in random layouts ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OpCase.h.
//
//===----------------------------------------------------------------------===//

#include "OpCase.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;
using dist::DistDialect;
using graph::FactorKind;

OpCase::OpCase(Operation *op, ArrayRef<HostTensor> values,
               const std::string &mesh, uint64_t seed)
    : context(op->getContext()), op(op), operands(values), engine(seed),
      rule(cast<graph::ShardingRuleOpInterface>(op).getShardingRule()),
      axes(cast<dist::MeshAxesAttr>(
          parseAttribute("#dist.mesh_axes<" + mesh + ">", context))) {}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool canSplit(const graph::Factor &factor) {
  return (factor.kind == FactorKind::Pass ||
          factor.kind == FactorKind::Reduced) &&
         factor.size > 1;
}

/// Each axis goes to a random factor, or to none.
void OpCase::drawSplits() {
  splits.assign(rule.factors.size(), FactorSplit());
  SmallVector<int> candidates;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (canSplit(factor))
      candidates.push_back(f);
  SmallVector<size_t> order =
      llvm::to_vector(llvm::seq<size_t>(0, axes.getNames().size()));
  std::shuffle(order.begin(), order.end(), engine);
  for (size_t axis : order) {
    if (candidates.empty() || engine() % 5 == 0)
      continue;
    int f = candidates[engine() % candidates.size()];
    FactorSplit &split = *splits[f];
    split.axes.push_back(
        dist::AxisAttr::get(context, axes.getNames()[axis].getValue()));
    int64_t size = rule.factors[f].size, parts = 1;
    for (dist::AxisAttr each : split.axes)
      parts *= each.getSize(axes);
    int64_t extent = (size + parts - 1) / parts * parts;
    // Sometimes more than is needed.
    if (engine() % 4 == 0 && extent + parts < 2 * size)
      extent += parts;
    if (extent >= 2 * size) {
      split.axes.pop_back();
      continue;
    }
    split.atoms = canonicalAtoms({Atom{size, extent}});
  }
}

/// Booleans are combined by logic, numbers are not. Terms of short floats would
/// be rounded.
static bool fits(Type type, ReductionKind kind) {
  if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)))
    if (element.getWidth() < 64)
      return false;
  return getElementTypeOrSelf(type).isInteger(1) == isBitwise(kind);
}

/// Over an axis that splits nothing, the operands of one group may be partial.
/// Reduced factors make results partial, and addends must be so too.
void OpCase::drawPartial() {
  partialOperands.assign(op->getNumOperands(), {});
  partialResults.clear();
  std::map<std::string, int> homes;
  for (auto [f, split] : llvm::enumerate(splits))
    for (dist::AxisAttr axis : split->axes)
      homes[axis.getName().str()] = f;
  for (auto &entry : homes) {
    int home = entry.second;
    const std::string &axis = entry.first;
    const graph::Factor &factor = rule.factors[home];
    if (factor.kind != FactorKind::Reduced)
      continue;
    partialResults[axis] = factor.reduction;
    for (int i : rule.addends)
      if (llvm::none_of(rule.operands[i], [&](ArrayRef<int> list) {
            return llvm::is_contained(list, home);
          }))
        partialOperands[i][axis] = factor.reduction;
  }
  for (StringAttr axis : axes.getNames()) {
    if (homes.count(axis.str()) || rule.carries.empty() || engine() % 2)
      continue;
    const graph::Linearity &linearity =
        rule.carries[engine() % rule.carries.size()];
    if (linearity.groups.empty())
      continue;
    ArrayRef<int> group = linearity.groups[engine() % linearity.groups.size()];
    // Reductions of two kinds do not commute.
    bool isMixed = llvm::any_of(partialResults, [&](auto &other) {
      return other.second != linearity.kind;
    });
    if (isMixed)
      continue;
    if (!llvm::all_of(group,
                      [&](int i) {
                        return fits(op->getOperand(i).getType(),
                                    linearity.kind);
                      }) ||
        !fits(op->getResult(0).getType(), linearity.kind))
      continue;
    for (int i : group)
      partialOperands[i][axis.str()] = linearity.kind;
    partialResults[axis.str()] = linearity.kind;
  }
}

static dist::LayoutAttr
withPartials(dist::LayoutAttr layout,
             const std::map<std::string, ReductionKind> &partial) {
  for (auto &[axis, kind] : partial)
    layout = layout.withPartialOver(
        dist::AxisAttr::get(layout.getContext(), axis), kind);
  return layout;
}

bool OpCase::makeLayouts() {
  auto like =
      dist::LayoutAttr::get(context, FlatSymbolRefAttr::get(context, "mesh"),
                            ArrayRef<dist::DimAttr>());
  operandLayouts.clear();
  resultLayouts.clear();
  auto make = [&](const graph::TensorFactors &tensor,
                  const std::map<std::string, ReductionKind> &partial,
                  SmallVectorImpl<dist::LayoutAttr> &out) {
    dist::LayoutAttr layout =
        layoutFromFactors(tensor, rule.factors, splits, axes, like);
    if (layout)
      out.push_back(withPartials(layout, partial));
    return bool(layout);
  };
  for (auto [tensor, partial] : llvm::zip_equal(rule.operands, partialOperands))
    if (!make(tensor, partial, operandLayouts))
      return false;
  for (const graph::TensorFactors &tensor : rule.results)
    if (!make(tensor, partialResults, resultLayouts))
      return false;
  LayoutProblem problem{op, rule, axes, operandLayouts, resultLayouts};
  return checkLayouts(problem).empty();
}

bool OpCase::draw() {
  for (int tries = 0; tries < 20; ++tries) {
    drawSplits();
    drawPartial();
    bool isTrivial =
        partialResults.empty() &&
        llvm::all_of(splits, [](auto &split) { return split->isWhole(); });
    if (!isTrivial && makeLayouts())
      return true;
  }
  return false;
}

void OpCase::count(SplitCounts &counts) const {
  std::string name = op->getName().getStringRef().str();
  for (auto [factor, split] : llvm::zip_equal(rule.factors, splits)) {
    if (split->axes.empty())
      continue;
    std::string kind =
        factor.kind == FactorKind::Reduced ? " reduced" : " pass";
    ++counts[name + kind];
    if (split->isPadded())
      ++counts[name + kind + " padded"];
  }
  for (auto &partial : partialOperands)
    if (!partial.empty())
      ++counts[name + " partial"];
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool OpCase::isSplatConstant(unsigned operand) const {
  DenseElementsAttr value;
  return matchPattern(op->getOperand(operand), m_Constant(&value)) &&
         value.isSplat() && !operandLayouts[operand].isPartial();
}

/// A clone of the constant, in this layout.
static Value cloneConstant(OpBuilder &builder, Value constant,
                           dist::LayoutAttr layout) {
  Operation *clone = builder.clone(*constant.getDefiningOp());
  RankedTensorType type =
      dist::withLayout(cast<RankedTensorType>(constant.getType()), layout);
  DenseElementsAttr value;
  matchPattern(constant, m_Constant(&value));
  clone->getResult(0).setType(type);
  for (NamedAttribute attribute : clone->getAttrs())
    if (attribute.getValue() == value)
      clone->setAttr(attribute.getName(), value.reshape(type));
  return clone->getResult(0);
}

static void mark(Operation *op) {
  Builder builder(op->getContext());
  op->setAttr(DistDialect::kBlock, builder.getI64IntegerAttr(0));
  op->setAttr(DistDialect::kPhase,
              dist::PhaseAttr::get(op->getContext(), dist::Phase::Forward));
}

void OpCase::fillFunction(func::FuncOp function) {
  Block *block = function.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  IRMapping mapping;
  SmallVector<Value> values;
  unsigned next = 0;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    values.push_back(
        isSplatConstant(i)
            ? cloneConstant(builder, op->getOperand(i), operandLayouts[i])
            : Value(block->getArgument(next++)));
  Operation *clone = builder.clone(*op);
  clone->setOperands(values);
  for (auto [result, layout] :
       llvm::zip_equal(clone->getResults(), resultLayouts))
    result.setType(
        dist::withLayout(cast<RankedTensorType>(result.getType()), layout));
  for (Operation &each : *block)
    mark(&each);
  func::ReturnOp::create(builder, op->getLoc(), clone->getResults());
}

void OpCase::buildModule() {
  Location loc = op->getLoc();
  module = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  dist::MeshOp::create(builder, loc, "mesh", axes);
  SmallVector<Type> arguments, results;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!isSplatConstant(i))
      arguments.push_back(
          dist::withLayout(cast<RankedTensorType>(op->getOperand(i).getType()),
                           operandLayouts[i]));
  for (auto [result, layout] : llvm::zip_equal(op->getResults(), resultLayouts))
    results.push_back(
        dist::withLayout(cast<RankedTensorType>(result.getType()), layout));
  auto function = func::FuncOp::create(
      builder, loc, "f", builder.getFunctionType(arguments, results));
  fillFunction(function);
  dist::Signature signature(function);
  for (unsigned i = 0; i < arguments.size(); ++i)
    signature.arguments[i] = dist::PortAttr::get(
        context, dist::PortKind::Input, StringRef("x" + std::to_string(i)));
  for (unsigned i = 0; i < results.size(); ++i)
    signature.results[i] = dist::PortAttr::get(
        context, dist::PortKind::Output, StringRef("y" + std::to_string(i)));
  signature.write(function);
  dist::EntryOp::create(builder, loc, builder.getStringAttr("forward"),
                        mlir::FlatSymbolRefAttr(),
                        FlatSymbolRefAttr::get(context, "f"),
                        builder.getDenseI64ArrayAttr({0}), dist::TableAttr());
}

std::string OpCase::printed() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

dist::MeshOp OpCase::getMeshOp() {
  return *module->getOps<dist::MeshOp>().begin();
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

/// Sums of integers below 2^53 are exact.
static bool isExact(const HostTensor &tensor) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = tensor.getFloat(i);
    if (value != std::floor(value) || std::fabs(value) > 0x1p30)
      return false;
  }
  return true;
}

/// The largest magnitude of a term of the result.
static double largest(const DeviceTensors &parts) {
  double scale = 1;
  for (const HostTensor &part : parts)
    for (int64_t i = 0; i < part.getNumElements(); ++i)
      if (double value = std::fabs(part.getFloat(i)); std::isfinite(value))
        scale = std::max(scale, value);
  return scale;
}

std::string OpCase::compare(ArrayRef<DeviceTensors> results,
                            const rt::Mesh &devices) {
  bool exact = llvm::all_of(operands, isExact);
  for (auto [i, want] : llvm::enumerate(expected)) {
    HostTensor got(want.getType());
    std::string error =
        gatherTensor(results[i], resultLayouts[i], devices, got);
    double tolerance = 1e-12;
    if (resultLayouts[i].isPartial())
      tolerance *= largest(results[i]);
    if (error.empty())
      error = compareTensors(want, got, exact && isExact(want) ? 0 : tolerance);
    if (!error.empty())
      return "result " + std::to_string(i) + ": " + error;
  }
  return "";
}

static bool isFinite(const HostTensor &tensor) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (!std::isfinite(tensor.getFloat(i)))
      return false;
  return true;
}

/// Half of the cases take integers, so that sums are exact, where the op gives
/// finite results for them.
bool OpCase::evaluate() {
  Interpreter interpreter;
  SmallVector<HostTensor> given(operands);
  if (engine() % 2)
    for (auto [i, value] : llvm::enumerate(operands))
      if (value.isFloat() && !isSplatConstant(i))
        value = drawIntegers(value.getType(), engine);
  if (failed(interpreter.evaluateOp(op, operands, expected)))
    return false;
  if (llvm::all_of(expected, isFinite))
    return true;
  operands = given;
  expected.clear();
  return succeeded(interpreter.evaluateOp(op, operands, expected));
}

std::string OpCase::check(SplitCounts &counts) {
  count(counts);
  if (!evaluate())
    return "no evaluation";
  buildModule();
  std::string text = printed();
  if (failed(mlir::verify(*module)))
    return "invalid program\n" + text;
  PassManager manager(context);
  manager.addPass(createLocalizePass());
  if (failed(manager.run(*module)))
    return "not localized\n" + text;
  LockstepInterpreter lockstep(getMeshOp());
  SmallVector<DeviceTensors> arguments, results;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!isSplatConstant(i))
      arguments.push_back(splitIntoTerms(operands[i], operandLayouts[i],
                                         lockstep.getMesh(), engine,
                                         /*poison=*/true));
  if (failed(lockstep.run(getFunction(*module), arguments, results)))
    return "not run\n" + text + printed();
  std::string error = compare(results, lockstep.getMesh());
  return error.empty() ? error : error + "\n" + text + printed();
}
