//===- ProgramGraph.cpp - What a program does, over buffers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramGraph.h. What overwrites a value runs after what reads it
// (Solvers/Memory/BufferGraph.h); what reads through a fence runs after the
// values that the fence names; collectives keep the program's order, messages
// that of their names, so that all members agree on both.
//
// Test: test/Transforms/Ordering/order-values.mlir
//===----------------------------------------------------------------------===//

#include "ProgramGraph.h"
#include "../Frames/SlotBytes.h"
#include "../PlanNames.h"
#include "ProgramValues.h"
#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

/// The last op that uses a value under any alias.
using LastUses = llvm::DenseMap<Value, Operation *>;

static LastUses findLastUses(func::FuncOp function) {
  LastUses lastUse;
  for (Operation &op : function.front())
    for (Value operand : op.getOperands())
      lastUse[getAliasRoot(operand)] = &op;
  return lastUse;
}

/// What arrives lies in a slot of its own until it is read.
static LogicalResult addReceive(ProgramValues &values, BlockArgument argument,
                                PortAttr port) {
  ProgramGraph &graph = values.graph;
  FailureOr<int32_t> number =
      addClass(graph, argument.getLoc(), argument.getType());
  if (failed(number))
    return failure();
  int32_t node = addNode(graph, {nullptr, argument.getLoc(), -1, *number,
                                 cast<RankedTensorType>(argument.getType()),
                                 port.getSymbol()});
  graph.classes[*number].slot = port.getSlot();
  values.known[argument] = {*number, graph.uses.addWrite(node, *number), {}};
  return success();
}

static bool isReturnedIn(func::FuncOp function, PortAttr slot) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::getResultPort(function, i).getSlot() == slot)
      return true;
  return false;
}

static LogicalResult addArgument(ProgramValues &values,
                                 BlockArgument argument) {
  func::FuncOp function = values.function;
  PortAttr port = dist::getArgumentPort(function, argument.getArgNumber());
  if (dist::isPort(port, PortKind::Recv))
    return addReceive(values, argument, port);
  if (dist::isPort(port, PortKind::Microbatch)) {
    if (argument.use_empty())
      return success();
    return function.emitOpError()
           << "expected argument " << argument.getArgNumber()
           << " to be a slot or a transfer, got the microbatch's number";
  }
  PortAttr slot = port.getSlot();
  auto [known, isNew] = values.argumentIn.insert({slot, -1});
  int32_t place = known->second;
  // Rows of a slot and all of it may be read side by side.
  bool isView = !isNew && values.graph.classes[place].rows != port.getRows();
  if (isView && isReturnedIn(function, slot))
    return function.emitOpError()
           << "expected to read slot " << slot
           << ", in which it returns, by rows or as a whole, got both";
  if (isNew || isView) {
    FailureOr<int32_t> number =
        addClass(values.graph, argument.getLoc(), argument.getType());
    if (failed(number))
      return failure();
    place = *number;
    values.graph.classes[place].slot = slot;
    values.graph.classes[place].rows = port.getRows();
    values.graph.uses.buffers[place].versions.emplace_back();
  }
  if (isNew)
    values.argumentIn[slot] = place;
  values.known[argument] = {place, 0, {}};
  return success();
}

/// The operand is the program's own or a sum, and nobody reads it afterwards. A
/// slot of a microbatch is written once, so what is returned there is made
/// apart.
static bool mayReduceInPlace(const ProgramValues &values,
                             const LastUses &lastUse, Operation &op,
                             unsigned number) {
  Value root = getAliasRoot(op.getOperand(number));
  if (lastUse.lookup(root) != &op)
    return false;
  auto value = values.known.find(op.getOperand(number));
  PortAttr slot = values.graph.classes[value->second.number].slot;
  bool isOwn = !slot || slot.isSum();
  bool isLatest =
      values.graph.uses.isLatest(value->second.number, value->second.version);
  auto others = llvm::count_if(op.getOperands(), [&](Value other) {
    return getAliasRoot(other) == root;
  });
  return isOwn && isLatest && others == 1 &&
         !endsInSlot(values.function, op.getResult(number));
}

/// The operands, by result, whose bytes results of `op` take over.
static llvm::SmallDenseMap<int64_t, int64_t>
getTies(const ProgramValues &values, const LastUses &lastUse, Operation &op) {
  llvm::SmallDenseMap<int64_t, int64_t> tieOf;
  for (auto [result, operand] : getFormedTies(op))
    tieOf[result] = operand;
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  if (collective && traitsOf(collective.getCollectiveKind()).worksInPlace())
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (mayReduceInPlace(values, lastUse, op, i))
        tieOf[i] = i;
  return tieOf;
}

/// The class of operand `number`, in which `op` makes the next value.
static FailureOr<int32_t> overwriteOperand(const ProgramValues &values,
                                           Operation &op, int64_t number) {
  FailureOr<ProgramValue> old = lookUp(values, op.getOperand(number), &op);
  if (failed(old))
    return failure();
  if (!values.graph.uses.isLatest(old->number, old->version))
    return op.emitOpError() << "works in place on operand " << number
                            << ", which is no longer there";
  PortAttr slot = values.graph.classes[old->number].slot;
  // What is kept for one program alone, formation lets it overwrite.
  if (slot && !slot.isSum() &&
      !dist::isAnyPort(slot,
                       {PortKind::Buffer, PortKind::Carry, PortKind::Act}))
    return op.emitOpError() << "expected to work in place on a state, a sum or "
                               "an activation, got slot "
                            << slot;
  return old->number;
}

/// A launch, contraction or collective.
static LogicalResult addWork(ProgramValues &values, const LastUses &lastUse,
                             Operation &op) {
  ProgramGraph &graph = values.graph;
  int32_t node = addNode(graph, {&op, op.getLoc(), -1, -1, {}, {}});
  for (Value operand : op.getOperands()) {
    if (getScalar(operand) && isa<dist::LaunchOp>(op))
      continue;
    FailureOr<ProgramValue> value = lookUp(values, operand, &op);
    if (failed(value))
      return failure();
    addRead(graph, node, *value);
  }
  llvm::SmallDenseMap<int64_t, int64_t> tieOf = getTies(values, lastUse, op);
  for (OpResult result : op.getResults()) {
    auto tie = tieOf.find(result.getResultNumber());
    FailureOr<int32_t> number =
        tie == tieOf.end() ? addClass(graph, op.getLoc(), result.getType())
                           : overwriteOperand(values, op, tie->second);
    if (failed(number))
      return failure();
    values.known[result] = {*number, graph.uses.addWrite(node, *number), {}};
  }
  return success();
}

static LogicalResult addFence(ProgramValues &values, dist::FenceOp fence) {
  SmallVector<int32_t> after;
  for (Value value : fence.getAfter()) {
    FailureOr<ProgramValue> before = lookUp(values, value, fence);
    if (failed(before))
      return failure();
    int32_t node = values.graph.uses.buffers[before->number]
                       .versions[before->version]
                       .definedBy;
    if (node >= 0)
      after.push_back(node);
  }
  for (auto [input, result] :
       llvm::zip(fence.getInputs(), fence.getResults())) {
    FailureOr<ProgramValue> value = lookUp(values, input, fence);
    if (failed(value))
      return failure();
    llvm::append_range(value->fences, after);
    values.known[result] = *value;
  }
  return success();
}

static LogicalResult addAlias(ProgramValues &values,
                              graph::KernelOpInterface alias) {
  Operation *op = alias;
  for (OpResult result : op->getResults()) {
    unsigned operand = alias.getAliasedOperand(result.getResultNumber());
    FailureOr<ProgramValue> value = lookUp(values, op->getOperand(operand), op);
    if (failed(value))
      return failure();
    values.known[result] = *value;
  }
  return success();
}

static LogicalResult addOp(ProgramValues &values, const LastUses &lastUse,
                           Operation &op) {
  if (isa<dist::CoordinateOp>(op))
    return success();
  if (isa<dist::LaunchOp, graph::LibraryCallOpInterface,
          dist::CollectiveInterface>(op))
    return addWork(values, lastUse, op);
  if (auto fence = dyn_cast<dist::FenceOp>(op))
    return addFence(values, fence);
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (kernel && kernel.getKernelForm() == graph::KernelForm::Alias)
    return addAlias(values, kernel);
  return op.emitOpError() << "expected a launch, a library call, a "
                             "collective, an alias or a fence after kernels "
                             "are formed";
}

/// A state, or what a step prepares: it is there before the program.
static bool isState(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return dist::isAnyPort(
      dist::getArgumentPort(function, argument.getArgNumber()),
      {dist::PortKind::Buffer, dist::PortKind::Kept});
}

/// Whether the collective reads states alone, or what one op makes of them: it
/// could run at any time before its use, such as the gather of a weight.
static bool readsStates(dist::CollectiveInterface collective) {
  auto isOfStates = [](Value value) {
    Operation *op = value.getDefiningOp();
    return isState(value) || (op && !isa<dist::CollectiveInterface>(op) &&
                              llvm::all_of(op->getOperands(), isState));
  };
  // Other stages meet in those that have names.
  return !collective.getSymbolAttr() &&
         llvm::all_of(collective.getInputs(), isOfStates);
}

/// Each collective after the one before it, but for those that could run at any
/// time before their use.
static void orderCollectives(ProgramGraph &graph) {
  int32_t last = -1;
  for (auto [i, node] : llvm::enumerate(graph.nodes)) {
    auto number = static_cast<int32_t>(i);
    auto collective = dyn_cast_or_null<dist::CollectiveInterface>(node.op);
    if (!collective)
      continue;
    BufferGraph::Op &uses = graph.uses.ops[number];
    uses.runsBeside = readsStates(collective);
    if (uses.runsBeside)
      continue;
    if (last >= 0)
      uses.after.push_back(last);
    last = number;
  }
}

/// Both ends of a pair of stages take messages in the order of their names.
static void orderMessages(ProgramGraph &graph) {
  for (bool sends : {true, false}) {
    SmallVector<std::pair<StringRef, int32_t>> list;
    for (auto [number, node] : llvm::enumerate(graph.nodes))
      if (node.transfer && (node.from >= 0) == sends)
        list.push_back({node.transfer.getValue(), int32_t(number)});
    llvm::sort(list);
    for (size_t i = 1; i < list.size(); ++i)
      graph.uses.ops[list[i].second].after.push_back(list[i - 1].second);
  }
}

dist::CoordinateOp getScalar(Value value) {
  return value.getDefiningOp<dist::CoordinateOp>();
}

FailureOr<ProgramGraph> buildProgramGraph(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expected a program of one block";
  // 1 what arguments and ops hold and do
  ProgramValues values;
  values.function = function;
  Block &block = function.front();
  LastUses lastUse = findLastUses(function);
  for (BlockArgument argument : block.getArguments())
    if (failed(addArgument(values, argument)))
      return failure();
  for (Operation &op : block.without_terminator())
    if (failed(addOp(values, lastUse, op)))
      return failure();
  orderCollectives(values.graph);
  // 2 where results lie
  if (failed(placeResults(values)))
    return failure();
  orderMessages(values.graph);
  for (auto &[value, known] : values.known)
    values.graph.classOf[value] = known.number;
  return std::move(values.graph);
}

FailureOr<std::vector<int32_t>> orderNodes(const ProgramGraph &graph,
                                           func::FuncOp function) {
  std::vector<int64_t> bytes;
  for (const ProgramGraph::Class &values : graph.classes)
    bytes.push_back(values.slot ? 0 : alignUp(values.bytes));
  OpOrderProblem problem = makeOrderProblem(graph.uses, std::move(bytes));
  if (std::string error = problem.check(); !error.empty())
    return function.emitOpError()
           << "cannot be ordered: " << error
           << "; an operand that is worked on in place is read later";
  return orderOps(problem);
}

} // namespace llmc::ordering
