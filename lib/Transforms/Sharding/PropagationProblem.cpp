//===- PropagationProblem.cpp - A module's variables and rules ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PropagationProblem.h.
//
//===----------------------------------------------------------------------===//

#include "PropagationProblem.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;
using dist::PortAttr;
using func::FuncOp;

//===----------------------------------------------------------------------===//
// What is given
//===----------------------------------------------------------------------===//

LogicalResult PropagationProblem::checkGiven(LayoutAttr given,
                                             RankedTensorType type,
                                             Location loc, StringRef name) {
  if (given.getRank() != type.getRank())
    return emitRefusal(loc)
           << "expected a layout of " << type.getRank() << " dims for " << name
           << ", got " << given.getRank();
  if (failed(dist::verifyAxesOnMesh(given, mesh.getAxes(),
                                    [&] { return emitRefusal(loc); })))
    return failure();
  if (given.isPartial())
    return emitRefusal(loc)
           << "expected a layout that is not partial for " << name
           << ": where values are partial is decided later";
  for (dist::DimAttr dim : given.getDims()) {
    if (dim.isPadded())
      return emitRefusal(loc)
             << "expected a layout without extents for " << name
             << ": they are chosen together with those of other values";
    for (dist::AxisAttr axis : dim.getAxes()) {
      if (axis.isSubAxis())
        return emitRefusal(loc, rt::ErrorKind::unsupported)
               << "expected whole axes in the layout of " << name
               << ", got a part of " << axis.getName()
               << ": parts of axes are not supported yet; declare the parts as "
                  "axes of the mesh";
      if (mesh.getPipeline() && axis.getName() == *mesh.getPipeline() &&
          axis.getSize(mesh.getAxes()) > 1)
        return emitRefusal(loc)
               << "expected axes other than the pipeline's in the layout of "
               << name << ", got " << axis.getName();
    }
  }
  return success();
}

/// A new variable; its number, or -1 for what is no tensor of static shape.
int PropagationProblem::addVariable(RankedTensorType type, LayoutAttr given,
                                    Seed seed, Location loc, std::string name,
                                    Operation *op) {
  LayoutVariable variable;
  variable.shape.assign(type.getShape().begin(), type.getShape().end());
  variable.bytes =
      type.hasStaticShape()
          ? type.getNumElements() * getElementBytes(type.getElementType())
          : 0;
  variable.dims.resize(type.getRank());
  if (given) {
    variable.seed = seed;
    for (auto [d, dim] : llvm::enumerate(given.getDims())) {
      if (!dim.getIsOpen())
        variable.closed |= uint64_t(1) << d;
      variable.priorities.push_back(std::max<int64_t>(dim.getPriority(), 0));
      for (dist::AxisAttr axis : dim.getAxes())
        if (axis.getSize(mesh.getAxes()) > 1)
          variable.dims[d].push_back(
              *mesh.getAxes().find(axis.getName().getValue()));
    }
    for (dist::AxisAttr axis : given.getReplicated())
      variable.blocked |= uint64_t(1)
                          << *mesh.getAxes().find(axis.getName().getValue());
  }
  names.push_back({loc, std::move(name), op});
  return engine.addVariable(std::move(variable));
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void PropagationProblem::addRelation(LayoutRelation relation, Operation *op) {
  engine.addRelation(std::move(relation));
  ops.push_back(op);
}

void PropagationProblem::addIdentity(int from, int to, uint8_t phase,
                                     bool onlyTies, Operation *op) {
  if (from < 0 || to < 0 || from == to)
    return;
  ArrayRef<int64_t> shape = engine.getVariable(from).shape;
  if (shape != ArrayRef<int64_t>(engine.getVariable(to).shape))
    return;
  LayoutRelation relation;
  graph::TensorFactors tensor;
  for (int64_t size : shape)
    tensor.push_back({relation.rule.addFactor(size)});
  relation.rule.operands = {tensor};
  relation.rule.results = {tensor};
  relation.operands = {from};
  relation.results = {to};
  relation.phase = phase;
  relation.isOneWay = true;
  relation.onlyTies = onlyTies;
  addRelation(std::move(relation), op);
}

void PropagationProblem::findInputAxes(ArrayRef<ProgramFunction> functions) {
  for (const ProgramFunction &program : functions)
    for (PortAttr port : dist::Signature(program.function).arguments)
      if (LayoutAttr layout =
              dist::getInput(port) ? dist::getLayout(port) : LayoutAttr())
        for (dist::DimAttr dim : layout.getDims())
          for (dist::AxisAttr axis : dim.getAxes())
            if (mesh.getAxes().find(axis.getName().getValue()))
              inputAxes.insert(axis.getName());
}

/// The layout without axes that split inputs; dims that lose some are open.
LayoutAttr PropagationProblem::dropInputAxes(LayoutAttr rest) const {
  SmallVector<dist::DimAttr> dims;
  for (dist::DimAttr dim : rest.getDims()) {
    SmallVector<dist::AxisAttr> kept;
    for (dist::AxisAttr axis : dim.getAxes())
      if (!inputAxes.contains(axis.getName()))
        kept.push_back(axis);
    bool isOpen = dim.getIsOpen() || kept.size() < dim.getAxes().size();
    dims.push_back(dist::DimAttr::get(rest.getContext(), kept, isOpen,
                                      dim.getPriority(), {}, {}));
  }
  return rest.withDims(dims);
}

/// The axes by which a state that is stored so is not used split either: the
/// dims of its use are open for its own axes alone, unless the user opens one.
uint64_t PropagationProblem::findForeignAxes(LayoutAttr rest) {
  uint64_t foreign = ~uint64_t(0);
  for (dist::DimAttr dim : rest.getDims()) {
    if (dim.getIsOpen())
      return 0;
    for (dist::AxisAttr axis : dim.getAxes())
      foreign &=
          ~(uint64_t(1) << *mesh.getAxes().find(axis.getName().getValue()));
  }
  return foreign;
}

LogicalResult PropagationProblem::addRow(dist::StateOp state) {
  RankedTensorType type = state.getTensorType();
  std::string name = ("state @" + state.getSymName()).str();
  StringAttr symbol = state.getSymNameAttr();
  LayoutAttr rest = rows.getRest(state), use = rows.getUse(state);
  for (LayoutAttr layout : {rest, use, rows.getGradient(state)})
    if (layout && failed(checkGiven(layout, type, state.getLoc(), name)))
      return failure();
  dist::StateOp parameter = rows.getParameter(state);
  bool isAlike =
      parameter && parameter.getTensorType().getShape() == type.getShape();
  if (isAlike && (!rest || rest == rows.getRest(parameter))) {
    rests[symbol] = rests.lookup(parameter.getSymNameAttr());
    return success();
  }
  // What is only stored so spreads last.
  bool isStored = false;
  if (rest && !use && !parameter) {
    use = dropInputAxes(rest);
    isStored = use != rest;
  }
  Seed seed = isStored ? Seed::Stored : Seed::State;
  int variable = addVariable(type, rest, seed, state.getLoc(), name);
  rests[symbol] = uses[symbol] = variable;
  if (parameter)
    addIdentity(rests.lookup(parameter.getSymNameAttr()), variable, 1,
                /*onlyTies=*/true, state);
  if (use && use != rest) {
    uses[symbol] = addVariable(type, use, Seed::State, state.getLoc(),
                               "the use of " + name);
    if (isStored)
      engine.block(uses[symbol], findForeignAxes(rest));
    addIdentity(variable, uses[symbol], 0, /*onlyTies=*/!isStored, state);
  }
  return success();
}

/// Parameters before their optimizer states.
LogicalResult PropagationProblem::addStates() {
  auto module = mesh->getParentOfType<ModuleOp>();
  for (bool isOptimizer : {false, true})
    for (dist::StateOp state : module.getOps<dist::StateOp>())
      if (static_cast<bool>(rows.getParameter(state)) == isOptimizer &&
          failed(addRow(state)))
        return failure();
  return success();
}

LogicalResult PropagationProblem::addArgument(const ProgramFunction &program,
                                              BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || values.contains(argument))
    return success();
  FuncOp function = program.function;
  unsigned number = argument.getArgNumber();
  PortAttr port = dist::getArgumentPort(function, number);
  if (FlatSymbolRefAttr symbol = dist::getState(port)) {
    StringAttr state = symbol.getAttr();
    bool isUsed = program.kind != FunctionKind::Update && uses.contains(state);
    values[argument] = (isUsed ? uses : rests).lookup(state) + 1;
    return success();
  }
  int known = -1;
  if (program.kind == FunctionKind::Update && dist::isSum(port)) {
    auto found = sums.find({program.owner, port.getSlot()});
    known = found == sums.end() ? -1 : found->second;
  }
  if (known >= 0) {
    // The update follows its states: one gradient is moved rather than all.
    sumsTaken[argument] = known;
    int seen = addVariable(type, {}, Seed::None, argument.getLoc(), "a sum");
    values[argument] = seen + 1;
    addIdentity(known, seen, 1, /*onlyTies=*/true, function);
    return success();
  }
  std::string name = "argument " + std::to_string(number);
  if (StringAttr input = dist::getInput(port))
    name = "input \"" + input.getValue().str() + "\"";
  LayoutAttr given = dist::getLayout(port);
  if (given && failed(checkGiven(given, type, argument.getLoc(), name)))
    return failure();
  values[argument] =
      addVariable(type, given, Seed::Input, argument.getLoc(), name) + 1;
  return success();
}

/// All members of a group are one variable.
void PropagationProblem::joinGroup(Operation &op) {
  std::optional<int64_t> group = dist::getGroup(&op);
  if (!group)
    return;
  auto [known, isNew] =
      groups.try_emplace({op.getParentOp(), *group}, op.getResult(0));
  if (!isNew)
    values[op.getResult(0)] = values.lookup(known->second);
}

/// Whether axes pass the op in one direction, or none, which is added.
bool PropagationProblem::addBarrier(Operation &op, uint8_t phase) {
  std::optional<dist::Direction> direction = dist::getDirection(&op);
  if (!direction)
    return false;
  int from = variableOf(op.getOperand(0)), to = variableOf(op.getResult(0));
  if (*direction == dist::Direction::Backward)
    std::swap(from, to);
  addIdentity(from, to, phase, *direction == dist::Direction::None, &op);
  return true;
}

LogicalResult PropagationProblem::addOp(Operation &op, uint8_t phase) {
  auto constraint = dyn_cast<dist::ConstraintOp>(op);
  joinGroup(op);
  // What a loop carries lies alike in all trips, and so it leaves.
  bool isCarried = dist::isOfCarried(&op) && !isa<dist::EnterOp>(op);
  if (isCarried)
    values[op.getResult(0)] = values.lookup(op.getOperand(0));
  for (Value result : op.getResults()) {
    if (values.contains(result))
      continue;
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    LayoutAttr given = constraint ? constraint.getLayout() : LayoutAttr();
    if (given &&
        failed(checkGiven(given, type, op.getLoc(), "'dist.constraint'")))
      return failure();
    values[result] =
        addVariable(type, given, Seed::Constraint, op.getLoc(), "", &op) + 1;
  }
  if (addBarrier(op, phase))
    return success();
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model)
    return mesh.getAxes().getNumDevices() == 1
               ? success()
               : graph::emitMissingAnswer(&op, graph::Answer::Rule);
  LayoutRelation relation;
  relation.rule = model.getShardingRule();
  for (Value operand : op.getOperands())
    relation.operands.push_back(variableOf(operand));
  for (Value result : op.getResults())
    relation.results.push_back(variableOf(result));
  if (isCarried)
    relation.operands[0] = -1;
  relation.phase = phase;
  addRelation(std::move(relation), &op);
  return success();
}

/// Gradients follow the use of their parameter; results that have a layout of
/// their own share extents with what is returned.
void PropagationProblem::addResults(const ProgramFunction &program) {
  FuncOp function = program.function;
  Operation *end = function.front().getTerminator();
  uint8_t phase = program.kind == FunctionKind::Update;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    PortAttr port = dist::getResultPort(function, i);
    int value = variableOf(end->getOperand(i)), result = value;
    if (value < 0)
      continue;
    if (FlatSymbolRefAttr state = dist::getState(port)) {
      result = rests.lookup(state.getAttr());
      addIdentity(result, value, phase, /*onlyTies=*/true, end);
    } else if (FlatSymbolRefAttr symbol = dist::getGradientOf(port)) {
      StringAttr state = symbol.getAttr();
      if (uses.contains(state))
        addIdentity(uses.lookup(state), value, phase, /*onlyTies=*/false, end);
      dist::StateOp op = rows.lookup(state);
      if (LayoutAttr given = op ? rows.getGradient(op) : LayoutAttr()) {
        result =
            addVariable(op.getTensorType(), given, Seed::State, op.getLoc(),
                        ("gradient of @" + state.getValue()).str());
        addIdentity(value, result, phase, /*onlyTies=*/true, end);
        gradientRows[state] = result;
      }
      gradients[state] = result;
    }
    if (program.kind == FunctionKind::Microbatch && dist::isSum(port))
      sums[{program.owner, port.getSlot()}] = result;
    results[{function, i}] = result;
  }
}

LogicalResult PropagationProblem::build(ArrayRef<ProgramFunction> functions) {
  findInputAxes(functions);
  if (failed(addStates()))
    return failure();
  for (bool isUpdate : {false, true})
    for (const ProgramFunction &program : functions) {
      FuncOp function = program.function;
      if ((program.kind == FunctionKind::Update) != isUpdate ||
          results.contains({function, ~0u}))
        continue;
      for (BlockArgument argument : function.getArguments())
        if (failed(addArgument(program, argument)))
          return failure();
      for (Operation &op : function.front().without_terminator())
        if (failed(addOp(op, isUpdate)))
          return failure();
      addResults(program);
      results[{function, ~0u}] = -1;
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Solving and reading
//===----------------------------------------------------------------------===//

std::string PropagationProblem::show(ArrayRef<int8_t> list) {
  std::string text = "{";
  for (int8_t axis : list)
    text += (text.size() > 1 ? ", \"" : "\"") +
            mesh.getAxes().getNames()[axis].getValue().str() + "\"";
  return text + "}";
}

static bool isHint(Operation *op) {
  auto constraint = dyn_cast_or_null<dist::ConstraintOp>(op);
  return constraint && constraint.getHint();
}

/// Erases the hint that is at fault, and those that do not fit either. Whether
/// the fault is that of a hint.
bool PropagationProblem::dropHints(const LayoutPropagation::Fault &fault) {
  if (!isHint(names[fault.variable].op))
    return false;
  auto drop = [&](int variable, size_t dim, const std::string &reason) {
    Name &name = names[variable];
    const LayoutVariable &given = engine.getVariable(variable);
    remark::missed(name.loc,
                   remark::RemarkOpts::name("hint").category("layouts"))
        << show(given.dims[dim]) + " of a manual region not taken on dim " +
               std::to_string(dim) + " of size " +
               std::to_string(given.shape[dim]) + ": it " + reason;
    name.op->replaceAllUsesWith(name.op->getOperands());
    name.op->erase();
    name.op = nullptr;
  };
  drop(fault.variable, fault.dim, fault.reason);
  for (size_t number = 0; number < names.size(); ++number)
    for (size_t dim = 0; dim < engine.getVariable(number).dims.size(); ++dim)
      if (isHint(names[number].op))
        if (std::string reason = engine.refuse(number, dim); !reason.empty())
          drop(number, dim, reason);
  return true;
}

FailureOr<bool> PropagationProblem::solve() {
  std::optional<LayoutPropagation::Fault> fault = engine.solve();
  if (!fault)
    return true;
  if (dropHints(*fault))
    return false;
  Location loc = names[fault->variable].loc;
  std::string name = nameOf(fault->variable);
  const LayoutVariable &variable = engine.getVariable(fault->variable);
  return emitRefusal(loc) << "expected axes that fit dim " << fault->dim
                          << " of " << name << " of size "
                          << variable.shape[fault->dim] << ", got "
                          << show(variable.dims[fault->dim]) << ", which "
                          << fault->reason
                          << ": use fewer axes on it, or smaller ones";
}

std::string PropagationProblem::nameOf(int variable) const {
  const Name &name = names[variable];
  return name.op ? "'" + name.op->getName().getStringRef().str() + "'"
                 : name.text;
}

LayoutAttr PropagationProblem::layoutOf(int variable) {
  if (variable < 0)
    return {};
  solved.resize(std::max(solved.size(), names.size()));
  if (solved[variable])
    return solved[variable];
  const LayoutVariable &known = engine.getVariable(variable);
  SmallVector<dist::DimAttr> dims;
  dist::DimAttr whole = dist::DimAttr::get(mesh.getContext());
  for (auto [d, list] : llvm::enumerate(known.dims)) {
    if (list.empty()) {
      dims.push_back(whole);
      continue;
    }
    FactorSplit split;
    for (int8_t axis : list)
      split.axes.push_back(dist::AxisAttr::get(
          mesh.getContext(), mesh.getAxes().getNames()[axis].getValue()));
    split.atoms = engine.getStored(variable, d);
    dims.push_back(assembleDim(mesh.getContext(), {split}, {known.shape[d]},
                               mesh.getAxes()));
  }
  return solved[variable] = LayoutAttr::get(
             mesh.getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
             dims);
}

LayoutAttr PropagationProblem::getLayout(Value value) {
  return layoutOf(variableOf(value));
}

LayoutAttr PropagationProblem::getArgumentLayout(BlockArgument argument) {
  auto function = cast<FuncOp>(argument.getOwner()->getParentOp());
  FlatSymbolRefAttr state =
      dist::getState(dist::getArgumentPort(function, argument.getArgNumber()));
  if (auto sum = sumsTaken.find(argument); sum != sumsTaken.end())
    return layoutOf(sum->second);
  return state ? layoutOf(rests.lookup(state.getAttr())) : getLayout(argument);
}

void PropagationProblem::writeRows() {
  auto module = mesh->getParentOfType<ModuleOp>();
  for (dist::StateOp state : module.getOps<dist::StateOp>()) {
    dist::RowAttr row = rows.getRow(state);
    if (!row || !rests.contains(state.getSymNameAttr()))
      continue;
    auto solvedOf = [&](LayoutAttr given, int variable) {
      return given ? layoutOf(variable) : given;
    };
    StringAttr name = state.getSymNameAttr();
    auto gradient = gradientRows.find(name);
    auto use = uses.find(name);
    bool hasUse = use != uses.end() && use->second != rests.lookup(name);
    state.setRowAttr(dist::RowAttr::get(
        state.getContext(), solvedOf(row.getRest(), rests.lookup(name)),
        hasUse ? layoutOf(use->second)
               : solvedOf(row.getUse(), rests.lookup(name)),
        gradient == gradientRows.end()
            ? row.getGradient()
            : solvedOf(row.getGradient(), gradient->second),
        row.getOptimizer(), row.getStored(), row.getComputed(), row.getSent(),
        row.getAccumulate(), row.getMemory()));
  }
}

LayoutAttr PropagationProblem::getResultLayout(FuncOp function,
                                               unsigned result) {
  auto found = results.find({function, result});
  return found == results.end() ? LayoutAttr() : layoutOf(found->second);
}
