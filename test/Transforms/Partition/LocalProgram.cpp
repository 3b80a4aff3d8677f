//===- LocalProgram.cpp - One op in random layouts ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LocalProgram.h.
//
//===----------------------------------------------------------------------===//

#include "LocalProgram.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/LayoutCheck.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

using namespace llmc;
using namespace llmc::test;
using graph::FactorKind;

using Engine = std::mt19937_64;

/// One op with layouts drawn for it.
class llmc::test::LayoutDraw {
public:
  LayoutDraw(Operation *op, dist::MeshOp mesh, Engine &engine)
      : op(op), mesh(mesh), axes(mesh.getAxes()), engine(engine),
        rule(cast<graph::ShardingRuleOpInterface>(op).getShardingRule()),
        splits(rule.factors.size()), partial(op->getNumOperands()) {}

  /// False where the draw makes no legal layouts.
  bool draw();

  SmallVector<dist::LayoutAttr> operands, results;

private:
  void placeAxis(dist::AxisAttr axis);
  void makePartial(dist::AxisAttr axis);
  void drawExtent(int factor);
  bool assemble();

  Operation *op;
  dist::MeshOp mesh;
  dist::MeshAxesAttr axes;
  Engine &engine;
  graph::ShardingRule rule;
  FactorSplits splits;
  /// Of each operand, and of the results.
  using Partial = SmallVector<std::pair<dist::AxisAttr, ReductionKind>>;
  SmallVector<Partial> partial;
  Partial partialResults;
};

void LayoutDraw::makePartial(dist::AxisAttr axis) {
  if (rule.carries.empty() || engine() % 2)
    return;
  const graph::Linearity &linearity =
      rule.carries[engine() % rule.carries.size()];
  bool isLogic = linearity.kind == ReductionKind::bitAnd ||
                 linearity.kind == ReductionKind::bitOr;
  if (linearity.groups.empty() ||
      isLogic != mlir::getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return;
  for (int i : linearity.groups[engine() % linearity.groups.size()])
    partial[i].push_back({axis, linearity.kind});
  partialResults.push_back({axis, linearity.kind});
}

void LayoutDraw::placeAxis(dist::AxisAttr axis) {
  SmallVector<int> candidates;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (factor.size > 1 &&
        (factor.kind == FactorKind::Pass || factor.kind == FactorKind::Reduced))
      candidates.push_back(f);
  if (candidates.empty() || engine() % 6 == 0)
    return makePartial(axis);
  int f = candidates[engine() % candidates.size()];
  if (!splits[f])
    splits[f] = FactorSplit();
  splits[f]->axes.push_back(axis);
  const graph::Factor &factor = rule.factors[f];
  if (factor.kind != FactorKind::Reduced)
    return;
  partialResults.push_back({axis, factor.reduction});
  for (int i : rule.addends)
    if (llvm::none_of(rule.operands[i], [&](const auto &dim) {
          return llvm::is_contained(dim, f);
        }))
      partial[i].push_back({axis, factor.reduction});
}

/// A padded extent, now and then in two atoms or more than the axes need.
void LayoutDraw::drawExtent(int f) {
  int64_t size = rule.factors[f].size, parts = 1;
  bool mayPad = rule.factors[f].kind == FactorKind::Pass ||
                rule.factors[f].kind == FactorKind::Reduced;
  if (!mayPad || (!splits[f] && engine() % 8))
    return;
  if (!splits[f])
    splits[f] = FactorSplit();
  for (dist::AxisAttr axis : splits[f]->axes)
    parts *= axes.getSize(axis.getName());
  if (size % parts == 0 && engine() % 3)
    return;
  int64_t major = parts == 1 ? 2 : parts;
  if (size % major == 0 && size / major > 1 && engine() % 2) {
    int64_t minor = size / major;
    splits[f]->atoms = {{major, major}, {minor, minor + 1}};
    return;
  }
  int64_t extent = (size + parts - 1) / parts * parts;
  if (engine() % 2 || extent == size)
    extent += parts;
  if (extent < 2 * size)
    splits[f]->atoms = {{size, extent}};
}

bool LayoutDraw::assemble() {
  auto like = dist::LayoutAttr::getReplicated(
      mlir::FlatSymbolRefAttr::get(mesh.getSymNameAttr()), 0);
  auto add = [&](const graph::TensorFactors &tensor, const Partial &sums,
                 SmallVectorImpl<dist::LayoutAttr> &into) {
    dist::LayoutAttr layout =
        layoutFromFactors(tensor, rule.factors, splits, axes, like);
    for (auto [axis, kind] : sums)
      if (layout)
        layout = layout.withPartialOver(axis, kind);
    into.push_back(layout);
    return layout != nullptr;
  };
  for (auto [tensor, sums] : llvm::zip(rule.operands, partial))
    if (!add(tensor, sums, operands))
      return false;
  for (const graph::TensorFactors &tensor : rule.results)
    if (!add(tensor, partialResults, results))
      return false;
  auto fits = [&](dist::LayoutAttr layout, Type type) {
    return succeeded(dist::verifyLayoutOnMesh(
        layout, cast<RankedTensorType>(type).getShape(), axes,
        [&] { return op->emitRemark(); }));
  };
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (unsigned j = 0; j < i; ++j)
      if (op->getOperand(i) == op->getOperand(j) && operands[i] != operands[j])
        return false;
  LayoutProblem problem{op, rule, axes, operands, results};
  return llvm::all_of_zip(operands, op->getOperandTypes(), fits) &&
         llvm::all_of_zip(results, op->getResultTypes(), fits) &&
         checkLayouts(problem).empty();
}

bool LayoutDraw::draw() {
  SmallVector<mlir::StringAttr> names(axes.getNames());
  std::shuffle(names.begin(), names.end(), engine);
  for (mlir::StringAttr name : names)
    placeAxis(dist::AxisAttr::get(op->getContext(), name.getValue()));
  for (size_t f = 0; f < rule.factors.size(); ++f)
    drawExtent(f);
  return assemble();
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

LocalProgram::LocalProgram(const char *mesh, const char *text, uint64_t seed)
    : engine(seed) {
  module = context.parse(std::string(mesh) + "\n" + text);
  if (!module)
    return;
  function = getFunction(*module);
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<stablehlo::ConstantOp>(op) || op.getNextNode() == nullptr ||
        op.getNextNode()->hasTrait<mlir::OpTrait::IsTerminator>())
      target = &op;
  meshOp = *module->getOps<dist::MeshOp>().begin();
}

std::string LocalProgram::print() {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

/// In front of float operands that are whole values.
void LocalProgram::addUnaries(const LayoutDraw &draw) {
  mlir::OpBuilder builder(target);
  for (auto [operand, layout] :
       llvm::zip(target->getOpOperands(), draw.operands)) {
    Value value = operand.get();
    bool isFloat = isa<mlir::FloatType>(
        cast<RankedTensorType>(value.getType()).getElementType());
    if (!isFloat || layout.isPartial() || !value.hasOneUse() ||
        value.getDefiningOp())
      continue;
    mlir::Location loc = target->getLoc();
    switch (engine() % 4) {
    case 0:
      value = stablehlo::CosineOp::create(builder, loc, value);
      break;
    case 1:
      value = stablehlo::NegOp::create(builder, loc, value);
      break;
    default:
      break;
    }
    operand.set(value);
  }
}

void LocalProgram::drawArguments() {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    HostTensor tensor = drawIntegers(type, engine);
    for (int64_t e = 0; e < tensor.getNumElements(); ++e)
      if (!tensor.isFloat() && !type.getElementType().isInteger(1))
        tensor.setInt(e, static_cast<int64_t>(engine() % 16) - 2);
    arguments.push_back(tensor);
  }
}

void LocalProgram::setTypes(const LayoutDraw &draw) {
  auto whole = [&](RankedTensorType type) {
    return dist::LayoutAttr::getReplicated(
        mlir::FlatSymbolRefAttr::get(meshOp.getSymNameAttr()), type.getRank());
  };
  auto set = [&](Value value, dist::LayoutAttr layout) {
    value.setType(
        dist::withLayout(cast<RankedTensorType>(value.getType()), layout));
  };
  for (auto [operand, layout] : llvm::zip(target->getOperands(), draw.operands))
    set(operand, layout);
  for (auto [result, layout] : llvm::zip(target->getResults(), draw.results))
    set(result, layout);
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (op.getNumOperands() == 1 && &op != target)
      op.getOperand(0).setType(op.getResult(0).getType());
    auto constant = dyn_cast<stablehlo::ConstantOp>(op);
    if (!constant)
      continue;
    if (!dist::getLayout(constant.getType()))
      set(constant, whole(constant.getType()));
    auto value = cast<mlir::DenseElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(constant.getType());
    constant.setValueAttr(value.isSplat() ? value.resizeSplat(type)
                                          : value.reshape(type));
  }
  for (Value argument : function.getArguments())
    argumentLayouts.push_back(dist::getLayout(argument.getType()));
  for (Value result : target->getResults()) {
    resultLayouts.push_back(dist::getLayout(result.getType()));
    resultTypes.push_back(dist::withLayout(
        cast<RankedTensorType>(result.getType()), dist::LayoutAttr()));
  }
}

/// Half of the float arguments are states; a result may write one.
void LocalProgram::addStates() {
  mlir::OpBuilder builder(function);
  MLIRContext *c = context.get();
  auto addState = [&](llvm::Twine name, Type type) {
    auto plain =
        dist::withLayout(cast<RankedTensorType>(type), dist::LayoutAttr());
    return dist::StateOp::create(builder, function.getLoc(), name.str(), plain,
                                 dist::Role::Carried);
  };
  dist::Signature signature(function);
  for (unsigned i = 0; i < argumentLayouts.size(); ++i) {
    isState.push_back(arguments[i].isFloat() &&
                      !argumentLayouts[i].isPartial() && engine() % 2);
    if (!isState[i]) {
      signature.arguments[i] = dist::PortAttr::get(
          c, dist::PortKind::Input, StringRef("x" + std::to_string(i)));
      continue;
    }
    auto state =
        addState("s" + llvm::Twine(i), function.getArgument(i).getType());
    signature.arguments[i] = dist::PortAttr::get(
        c, dist::PortKind::Carried,
        mlir::FlatSymbolRefAttr::get(state.getSymNameAttr()));
  }
  for (auto [i, result] : llvm::enumerate(target->getResults())) {
    isWritten.push_back(!resultLayouts[i].isPartial() && engine() % 2);
    if (!isWritten[i]) {
      signature.results[i] = dist::PortAttr::get(
          c, dist::PortKind::Output, StringRef("y" + std::to_string(i)));
      continue;
    }
    auto state = addState("w" + llvm::Twine(i), result.getType());
    auto symbol = mlir::FlatSymbolRefAttr::get(state.getSymNameAttr());
    signature.results[i] =
        dist::PortAttr::get(c, dist::PortKind::Carried, symbol);
    signature.arguments.push_back(signature.results[i]);
    (void)function.insertArgument(function.getNumArguments(), result.getType(),
                                  {}, function.getLoc());
    arguments.push_back(HostTensor(resultTypes[i]));
    argumentLayouts.push_back(resultLayouts[i]);
    isState.push_back(true);
  }
  SmallVector<Type> results(
      function.getBody().front().getTerminator()->getOperandTypes());
  function.setType(mlir::FunctionType::get(
      c, function.getBody().getArgumentTypes(), results));
  signature.write(function);
  builder.setInsertionPointAfter(function);
  dist::EntryOp::create(builder, function.getLoc(), "e",
                        mlir::FlatSymbolRefAttr(), "f",
                        builder.getDenseI64ArrayAttr({0}), dist::TableAttr());
}

/// A state's padding is zero: it splits into the same parts again.
std::string LocalProgram::checkPadding(const DeviceTensors &parts,
                                       dist::LayoutAttr layout,
                                       RankedTensorType type,
                                       const rt::Mesh &devices) {
  HostTensor whole(type);
  std::string error = gatherTensor(parts, layout, devices, whole);
  DeviceTensors again = splitTensor(whole, layout, devices);
  for (size_t device = 0; error.empty() && device < parts.size(); ++device)
    error = compareTensors(again[device], parts[device], 0);
  return error.empty() ? "" : "padding of a state: " + error;
}

std::string LocalProgram::compare(ArrayRef<HostTensor> expected) {
  LockstepInterpreter lockstep(*module->getOps<dist::MeshOp>().begin());
  const rt::Mesh &devices = lockstep.getMesh();
  SmallVector<DeviceTensors> inputs, results;
  for (auto [i, argument] : llvm::enumerate(arguments))
    inputs.push_back(splitIntoTerms(argument, argumentLayouts[i], devices,
                                    engine, /*poison=*/!isState[i]));
  if (failed(lockstep.run(function, inputs, results)))
    return context.takeMessages();
  for (auto [i, want] : llvm::enumerate(expected)) {
    HostTensor got(resultTypes[i]);
    std::string error =
        gatherTensor(results[i], resultLayouts[i], devices, got);
    if (error.empty())
      error = compareTensors(want, got, 1e-5);
    if (error.empty() && isWritten[i])
      error =
          checkPadding(results[i], resultLayouts[i], resultTypes[i], devices);
    if (!error.empty())
      return "result " + std::to_string(i) + ": " + error;
  }
  return "";
}

std::string LocalProgram::check(bool &ran) {
  if (!module)
    return context.takeMessages();
  LayoutDraw draw(target, meshOp, engine);
  ran = draw.draw();
  context.takeMessages();
  if (!ran)
    return "";
  addUnaries(draw);
  drawArguments();
  SmallVector<HostTensor> expected;
  if (failed(Interpreter().interpret(function, arguments, expected)))
    return context.takeMessages();
  setTypes(draw);
  addStates();
  std::string before = print();
  mlir::PassManager manager(context.get());
  manager.addPass(createLocalizePass());
  if (failed(mlir::verify(*module)) || failed(manager.run(*module)))
    return before + context.takeMessages();
  function = getFunction(*module);
  std::string error = compare(expected);
  return error.empty() ? "" : before + print() + error;
}
