//===- PropagationOrigins.cpp - By what way each axis came ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Category `origins` has a remark for each value that a user can name: states,
// inputs and metrics by their names, other values by the names and places of
// their locations. Its text is of several lines; for each axis one goes back,
// op by op, to what gave it:
//
//   in use: [{"data"}, {}]
//     "data" on dim 0: dim 0 of it is dim 0 of 'stablehlo.add' in
//     'stablehlo.multiply' at model.py:31:7; ... input "x" has it from the
//     start
//
// Nothing is decided here: the way is what propagation noted when it set an
// axis (LayoutVariable::origins).
//
// Test: test/Transforms/Sharding/propagate-origins.mlir
//===----------------------------------------------------------------------===//

#include "CostRemarks.h"
#include "PropagationProblem.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Support/FirstError.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;

static constexpr StringLiteral kCategory = "origins";
/// Steps of a way at its begin and at its end that are shown.
static constexpr size_t kFirstSteps = 3, kLastSteps = 2;

/// The dim of the variable that the axis splits; -1: none.
static int findDim(const LayoutVariable &variable, int8_t axis) {
  for (auto [d, list] : llvm::enumerate(variable.dims))
    if (llvm::is_contained(list, axis))
      return static_cast<int>(d);
  return -1;
}

/// A line; what a name alone says, the text says already.
static std::string describePlaceOf(Location loc) {
  std::string place = describeLocation(loc);
  return StringRef(place).starts_with("\"") ? "" : place;
}

std::string PropagationProblem::describeWay(int variable, int8_t axis) {
  std::vector<LayoutPropagation::WayStep> way = engine.findWay(variable, axis);
  auto dimOf = [&](int each) {
    return "dim " + std::to_string(findDim(engine.getVariable(each), axis));
  };
  std::string text;
  for (size_t i = 0; i + 1 < way.size(); ++i) {
    if (i == kFirstSteps && way.size() > kFirstSteps + kLastSteps + 1) {
      size_t left = way.size() - 1 - kLastSteps - i;
      text += std::to_string(left) + " more ops; ";
      i += left;
    }
    Operation *op = ops[way[i].relation];
    std::string place = describePlaceOf(op->getLoc());
    text += dimOf(way[i].variable) + " of " +
            (i == 0 ? "it" : nameOf(way[i].variable)) + " is " +
            dimOf(way[i + 1].variable) + " of " + nameOf(way[i + 1].variable) +
            " in '" + op->getName().getStringRef().str() + "'" +
            (place.empty() ? "" : " at " + place) + "; ";
  }
  int giver = way.back().variable;
  std::string place = names[giver].op ? describeLocation(names[giver].loc) : "";
  return text + nameOf(giver) + (place.empty() ? "" : " at " + place) +
         " has it from the start";
}

/// The layout, and a line for each axis.
std::string PropagationProblem::describeWays(StringRef kind, int variable) {
  if (variable < 0)
    return "";
  std::string text = kind.str() + ": ";
  llvm::raw_string_ostream os(text);
  os << "[";
  const LayoutVariable &known = engine.getVariable(variable);
  llvm::interleaveComma(known.dims, os,
                        [&](const AxisList &list) { os << show(list); });
  os << "]\n";
  for (const AxisList &list : known.dims)
    for (int8_t axis : list) {
      int8_t alone[] = {axis};
      os << "  " << show(alone) << " on dim " << findDim(known, axis) << ": "
         << describeWay(variable, axis) << "\n";
    }
  return text;
}

void PropagationProblem::emitOrigin(StringRef name, Location loc,
                                    llvm::function_ref<std::string()> text) {
  // Where nobody listens no text is made.
  auto remark =
      remark::analysis(loc, remark::RemarkOpts::name(name).category(kCategory));
  if (remark)
    remark << text();
}

std::string
PropagationProblem::describeState(dist::StateOp state,
                                  ArrayRef<dist::StateOp> optimizers) {
  auto find = [](const auto &map, StringAttr name) {
    auto found = map.find(name);
    return found == map.end() ? -1 : found->second;
  };
  StringAttr name = state.getSymNameAttr();
  int rest = find(rests, name), use = find(uses, name);
  std::string text = describeWays("at rest", rest);
  if (use != rest)
    text += describeWays("in use", use);
  text += describeWays("gradient", find(gradients, name));
  for (dist::StateOp each : optimizers)
    if (int lies = find(rests, each.getSymNameAttr()); lies != rest)
      text += describeWays(
          "optimizer state " + rt::unescapeName(each.getSymName().str()), lies);
    else
      text += "optimizer state " + rt::unescapeName(each.getSymName().str()) +
              ": as at rest\n";
  return text;
}

void PropagationProblem::emitStateOrigins() {
  auto module = mesh->getParentOfType<ModuleOp>();
  llvm::DenseMap<Attribute, SmallVector<dist::StateOp>> optimizers;
  for (dist::StateOp state : module.getOps<dist::StateOp>())
    if (dist::StateOp parameter = rows.getParameter(state))
      optimizers[parameter.getSymNameAttr()].push_back(state);
  for (dist::StateOp state : module.getOps<dist::StateOp>())
    emitOrigin(rt::unescapeName(state.getSymName().str()), state.getLoc(), [&] {
      return describeState(state, optimizers.lookup(state.getSymNameAttr()));
    });
}

/// The name that the text gives an op's result, or its place.
static std::string nameOfLocation(Location loc) {
  if (auto name = loc->findInstanceOf<NameLoc>())
    return name.getName().str();
  return describeLocation(loc);
}

/// What a run calls a result; "" where it prints none.
static std::string nameOfMetric(dist::PortAttr port) {
  if (dist::isPort(port, dist::PortKind::Loss) ||
      dist::isPort(port, dist::PortKind::LossSum))
    return "loss";
  if (dist::isPort(port, dist::PortKind::Count))
    return "count";
  StringAttr metric = dist::getMetric(port);
  if (!metric && dist::isPort(port, dist::PortKind::Output))
    metric = port.getName();
  return metric ? metric.str() : "";
}

/// Metrics and outputs, by the places of the ops that make them.
void PropagationProblem::emitResultOrigins(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    Value value = end->getOperand(i);
    std::string name = nameOfMetric(dist::getResultPort(function, i));
    if (name.empty() || variableOf(value) < 0)
      continue;
    emitOrigin(name, value.getLoc(),
               [&] { return describeWays("result", variableOf(value)); });
  }
}

void PropagationProblem::emitOrigins(ArrayRef<ProgramFunction> functions) {
  if (!wantsRemarks(*mesh.getContext()))
    return;
  emitStateOrigins();
  llvm::DenseSet<Operation *> seen;
  for (const ProgramFunction &program : functions) {
    func::FuncOp function = program.function;
    if (!seen.insert(function).second)
      continue;
    emitResultOrigins(function);
    if (program.kind == FunctionKind::Update)
      continue;
    for (BlockArgument argument : function.getArguments())
      if (StringAttr input = dist::getInput(
              dist::getArgumentPort(function, argument.getArgNumber())))
        emitOrigin(input.getValue(), argument.getLoc(),
                   [&] { return describeWays("input", variableOf(argument)); });
    for (Operation &op : function.front().without_terminator())
      for (Value result : op.getResults())
        if (std::string name = nameOfLocation(op.getLoc());
            !name.empty() && variableOf(result) >= 0)
          emitOrigin(name, op.getLoc(), [&] {
            return describeWays("'" + op.getName().getStringRef().str() + "'",
                                variableOf(result));
          });
  }
}
