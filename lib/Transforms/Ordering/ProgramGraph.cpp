//===- ProgramGraph.cpp - What a program does, over buffers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramGraph.h. An edge stands for: the reader's value is made before it;
// what reads a value runs before what overwrites it; what reads through a fence
// runs after the values that the fence names; collectives keep the program's
// order, messages that of their names, so that all members agree on both.
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "ProgramGraph.h"
#include "PlanNames.h"
#include "SlotBytes.h"
#include "llmc/Analysis/Program/Aliases.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Solvers/Memory/OpOrder.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

namespace {

/// A value as (class, version), and what must run before it is read.
struct Seen {
  int32_t number = -1;
  int32_t version = 0;
  SmallVector<int32_t> fences;
};

class GraphBuilder {
public:
  explicit GraphBuilder(func::FuncOp function) : function(function) {}

  FailureOr<ProgramGraph> run();

private:
  void findLastUses();
  LogicalResult addArgument(BlockArgument argument);
  LogicalResult addReceive(BlockArgument argument, PortAttr port);
  LogicalResult addOp(Operation &op);
  LogicalResult addNode(Operation &op);
  LogicalResult addResults(Operation *terminator);
  FailureOr<int32_t> addResult(Value value, PortAttr slot, Location loc);
  void addSend(FlatSymbolRefAttr transfer, int32_t from, Value value,
               Location loc);
  void orderMessages();
  FailureOr<int32_t> addClass(Location loc, Type type);
  int32_t addCopy(Value value, const Seen &from, int32_t to, Location loc);
  FailureOr<Seen> lookup(Value value, Operation *user);
  /// The results of `op` that take over an operand's bytes.
  SmallVector<std::pair<int64_t, int64_t>> getTies(Operation &op);
  bool mayReduceInPlace(Operation &op, unsigned number);
  void read(int32_t node, const Seen &value);

  bool mayLieIn(const ProgramGraph::Class &values, PortAttr slot) const;
  bool isInOrder() const;
  bool mayRunAfter(int32_t node, ArrayRef<int32_t> readers);
  bool reaches(int32_t from, ArrayRef<int32_t> targets) const;
  SmallVector<int32_t> getReaders(int32_t number) const;
  std::vector<SmallVector<int32_t>> getEdges() const;
  /// Everything that reads what `slot` held runs before `node`.
  void overwrite(PortAttr slot, int32_t node);
  void finish();

  func::FuncOp function;
  ProgramGraph graph;
  llvm::DenseMap<Value, Seen> seen;
  /// The last op that uses a value under any alias.
  llvm::DenseMap<Value, Operation *> lastUse;
  int32_t lastCollective = -1;
  /// Classes of arguments.
  llvm::DenseMap<Attribute, int32_t> argumentIn;
  /// Every edge so far leads from a node to one of a greater number.
  bool ascends = true;
  /// (slot, first node that writes it).
  SmallVector<std::pair<PortAttr, int32_t>> overwrites;
};

} // namespace

void GraphBuilder::findLastUses() {
  for (Operation &op : function.front())
    for (Value operand : op.getOperands())
      lastUse[getAliasRoot(operand)] = &op;
}

FailureOr<int32_t> GraphBuilder::addClass(Location loc, Type type) {
  FailureOr<int64_t> bytes = getBytes(loc, type);
  if (failed(bytes))
    return failure();
  graph.classes.push_back({*bytes, {}, {}});
  return static_cast<int32_t>(graph.classes.size() - 1);
}

/// What arrives lies in a slot of its own until it is read.
LogicalResult GraphBuilder::addReceive(BlockArgument argument, PortAttr port) {
  FailureOr<int32_t> number = addClass(argument.getLoc(), argument.getType());
  if (failed(number))
    return failure();
  auto node = static_cast<int32_t>(graph.nodes.size());
  graph.nodes.push_back({nullptr,
                         -1,
                         *number,
                         cast<RankedTensorType>(argument.getType()),
                         argument.getLoc(),
                         {},
                         {*number},
                         port.getSymbol()});
  graph.classes[*number].slot = port.getSlot();
  graph.classes[*number].versions.push_back({node, {}});
  seen[argument] = {*number, 0, {}};
  return success();
}

LogicalResult GraphBuilder::addArgument(BlockArgument argument) {
  PortAttr port = dist::getArgumentPort(function, argument.getArgNumber());
  if (dist::isPort(port, PortKind::Recv))
    return addReceive(argument, port);
  if (dist::isPort(port, PortKind::Microbatch)) {
    if (argument.use_empty())
      return success();
    return function.emitOpError()
           << "expected argument " << argument.getArgNumber()
           << " to be a slot or a transfer, got the microbatch's number";
  }
  PortAttr slot = port.getSlot();
  auto [known, isNew] = argumentIn.insert({slot, -1});
  if (isNew) {
    FailureOr<int32_t> number = addClass(argument.getLoc(), argument.getType());
    if (failed(number))
      return failure();
    known->second = *number;
    graph.classes[*number].slot = slot;
    graph.classes[*number].versions.emplace_back();
  }
  seen[argument] = {known->second, 0, {}};
  return success();
}

FailureOr<Seen> GraphBuilder::lookup(Value value, Operation *user) {
  auto found = seen.find(value);
  if (found == seen.end())
    return user->emitOpError()
           << "expected operands that lie in buffers, got " << value.getType();
  return found->second;
}

SmallVector<std::pair<int64_t, int64_t>> GraphBuilder::getTies(Operation &op) {
  SmallVector<std::pair<int64_t, int64_t>> ties = getFormedTies(op);
  auto collective = dyn_cast<dist::CollectiveInterface>(op);
  if (collective && traitsOf(collective.getCollectiveKind()).worksInPlace())
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      if (mayReduceInPlace(op, i))
        ties.push_back({i, i});
  return ties;
}

/// The operand is the program's own or a sum, and nobody reads it afterwards. A
/// slot of a microbatch is written once, so what is returned there is made
/// apart.
bool GraphBuilder::mayReduceInPlace(Operation &op, unsigned number) {
  Value root = getAliasRoot(op.getOperand(number));
  auto value = seen.find(op.getOperand(number));
  if (value == seen.end() || lastUse.lookup(root) != &op)
    return false;
  const ProgramGraph::Class &values = graph.classes[value->second.number];
  bool isOwn = !values.slot || values.slot.isSum();
  bool isLatest =
      value->second.version + 1 == static_cast<int32_t>(values.versions.size());
  auto others = llvm::count_if(op.getOperands(), [&](Value other) {
    return getAliasRoot(other) == root;
  });
  return isOwn && isLatest && others == 1 &&
         !endsInSlot(function, op.getResult(number));
}

void GraphBuilder::read(int32_t node, const Seen &value) {
  ProgramGraph::Version &version =
      graph.classes[value.number].versions[value.version];
  if (!llvm::is_contained(version.readers, node))
    version.readers.push_back(node);
  ProgramGraph::Node &reader = graph.nodes[node];
  reader.touches.push_back(value.number);
  if (version.definedBy >= 0)
    reader.after.push_back(version.definedBy);
  llvm::append_range(reader.after, value.fences);
}

LogicalResult GraphBuilder::addNode(Operation &op) {
  auto node = static_cast<int32_t>(graph.nodes.size());
  graph.nodes.push_back({&op, -1, -1, {}, op.getLoc(), {}, {}, {}});
  if (isa<dist::CollectiveInterface>(op)) {
    if (lastCollective >= 0)
      graph.nodes[node].after.push_back(lastCollective);
    lastCollective = node;
  }
  for (Value operand : op.getOperands()) {
    if (getScalar(operand) && isa<dist::LaunchOp>(op))
      continue;
    FailureOr<Seen> value = lookup(operand, &op);
    if (failed(value))
      return failure();
    read(node, *value);
  }
  llvm::SmallDenseMap<int64_t, int64_t> tieOf;
  for (auto [result, operand] : getTies(op))
    tieOf[result] = operand;
  for (OpResult result : op.getResults()) {
    auto tie = tieOf.find(result.getResultNumber());
    int32_t number;
    if (tie != tieOf.end()) {
      const Seen &old = seen[op.getOperand(tie->second)];
      number = old.number;
      const ProgramGraph::Class &values = graph.classes[number];
      if (old.version + 1 != static_cast<int32_t>(values.versions.size()))
        return op.emitOpError() << "works in place on operand " << tie->second
                                << ", which is no longer there";
      if (values.slot && values.slot.getKind() != PortKind::Buffer &&
          !values.slot.isSum())
        return op.emitOpError()
               << "expected to work in place on a state or a sum, got slot "
               << values.slot;
    } else {
      FailureOr<int32_t> fresh = addClass(op.getLoc(), result.getType());
      if (failed(fresh))
        return failure();
      number = *fresh;
    }
    auto &versions = graph.classes[number].versions;
    versions.push_back({node, {}});
    graph.nodes[node].touches.push_back(number);
    seen[result] = {number, static_cast<int32_t>(versions.size()) - 1, {}};
  }
  return success();
}

LogicalResult GraphBuilder::addOp(Operation &op) {
  if (isa<dist::CoordinateOp>(op))
    return success();
  if (isa<dist::LaunchOp, dist::ContractOp, dist::CollectiveInterface>(op))
    return addNode(op);
  if (auto fence = dyn_cast<dist::FenceOp>(op)) {
    SmallVector<int32_t> after;
    for (Value value : fence.getAfter()) {
      FailureOr<Seen> before = lookup(value, &op);
      if (failed(before))
        return failure();
      int32_t node =
          graph.classes[before->number].versions[before->version].definedBy;
      if (node >= 0)
        after.push_back(node);
    }
    for (auto [input, result] :
         llvm::zip(fence.getInputs(), fence.getResults())) {
      FailureOr<Seen> value = lookup(input, &op);
      if (failed(value))
        return failure();
      llvm::append_range(value->fences, after);
      seen[result] = *value;
    }
    return success();
  }
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  if (!kernel || kernel.getKernelForm() != graph::KernelForm::Alias)
    return op.emitOpError() << "expected a launch, a contraction, a "
                               "collective, an alias or a fence after kernels "
                               "are formed";
  for (OpResult result : op.getResults()) {
    unsigned operand = kernel.getAliasedOperand(result.getResultNumber());
    FailureOr<Seen> value = lookup(op.getOperand(operand), &op);
    if (failed(value))
      return failure();
    seen[result] = *value;
  }
  return success();
}

SmallVector<int32_t> GraphBuilder::getReaders(int32_t number) const {
  SmallVector<int32_t> readers;
  for (const auto &version : graph.classes[number].versions)
    llvm::append_range(readers, version.readers);
  return readers;
}

/// Slots of a microbatch are written once: what is read before the last version
/// is made must lie elsewhere.
bool GraphBuilder::mayLieIn(const ProgramGraph::Class &values,
                            PortAttr slot) const {
  if (!isOfMicrobatch(slot))
    return true;
  for (size_t i = 0; i + 1 < values.versions.size(); ++i)
    for (int32_t reader : values.versions[i].readers)
      if (reader != values.versions[i + 1].definedBy)
        return false;
  return true;
}

/// What each node runs after, all kinds of edges together.
std::vector<SmallVector<int32_t>> GraphBuilder::getEdges() const {
  std::vector<SmallVector<int32_t>> edges;
  for (const ProgramGraph::Node &node : graph.nodes)
    edges.push_back(node.after);
  auto follow = [&](int32_t node, int32_t before) {
    if (node != before && before >= 0)
      edges[node].push_back(before);
  };
  for (const ProgramGraph::Class &values : graph.classes)
    for (size_t i = 1; i < values.versions.size(); ++i) {
      const ProgramGraph::Version &old = values.versions[i - 1];
      for (int32_t reader : old.readers)
        follow(values.versions[i].definedBy, reader);
      follow(values.versions[i].definedBy, old.definedBy);
    }
  for (auto [slot, node] : overwrites)
    for (int32_t reader : getReaders(argumentIn.lookup(slot)))
      follow(node, reader);
  return edges;
}

bool GraphBuilder::isInOrder() const {
  for (const auto &[node, after] : llvm::enumerate(getEdges()))
    for (int32_t before : after)
      if (before >= static_cast<int32_t>(node))
        return false;
  return true;
}

/// Whether `node` may be put after all of `readers`. Numbers tell as long as
/// all edges ascend; else the graph is searched.
bool GraphBuilder::mayRunAfter(int32_t node, ArrayRef<int32_t> readers) {
  auto isBefore = [&](int32_t reader) { return reader < node; };
  if (ascends && llvm::all_of(readers, isBefore))
    return true;
  if (reaches(node, readers))
    return false;
  ascends = false;
  return true;
}

/// True when `from` is one of `targets` or runs before one.
bool GraphBuilder::reaches(int32_t from, ArrayRef<int32_t> targets) const {
  std::vector<SmallVector<int32_t>> edges = getEdges();
  std::vector<bool> isSeen(graph.nodes.size(), false);
  SmallVector<int32_t> pending(targets);
  while (!pending.empty()) {
    int32_t node = pending.pop_back_val();
    if (node == from)
      return true;
    if (!isSeen[node])
      llvm::append_range(pending, edges[node]);
    isSeen[node] = true;
  }
  return false;
}

void GraphBuilder::overwrite(PortAttr slot, int32_t node) {
  overwrites.push_back({slot, node});
}

int32_t GraphBuilder::addCopy(Value value, const Seen &from, int32_t to,
                              Location loc) {
  auto node = static_cast<int32_t>(graph.nodes.size());
  graph.nodes.push_back({nullptr,
                         from.number,
                         to,
                         cast<RankedTensorType>(value.getType()),
                         loc,
                         {},
                         {to},
                         {}});
  read(node, from);
  graph.classes[to].versions.push_back({node, {}});
  return node;
}

/// The result in its slot: it is there, it can be made there, or it is copied.
FailureOr<int32_t> GraphBuilder::addResult(Value value, PortAttr slot,
                                           Location loc) {
  FailureOr<Seen> found = lookup(value, function);
  if (failed(found))
    return failure();
  Seen from = *found;
  ProgramGraph::Class &values = graph.classes[from.number];
  bool isLast =
      from.version + 1 == static_cast<int32_t>(values.versions.size());
  if (values.slot == slot) {
    if (isLast)
      return from.number;
    return function.emitOpError()
           << "returns in slot " << slot << " what it overwrites there";
  }
  auto old = argumentIn.find(slot);
  bool hasOld = old != argumentIn.end();
  int32_t first = values.versions.front().definedBy;
  if (!values.slot && isLast && mayLieIn(values, slot) &&
      (!hasOld || mayRunAfter(first, getReaders(old->second)))) {
    values.slot = slot;
    if (hasOld)
      overwrite(slot, first);
    return from.number;
  }
  // What another slot holds may itself be overwritten: it is saved first.
  if (hasOld && values.slot) {
    FailureOr<int32_t> saved = addClass(loc, value.getType());
    if (failed(saved))
      return failure();
    addCopy(value, from, *saved, loc);
    from = {*saved, 0, {}};
  }
  FailureOr<int32_t> to = addClass(loc, value.getType());
  if (failed(to))
    return failure();
  graph.classes[*to].slot = slot;
  int32_t copy = addCopy(value, from, *to, loc);
  if (hasOld)
    overwrite(slot, copy);
  return *to;
}

void GraphBuilder::addSend(FlatSymbolRefAttr transfer, int32_t from,
                           Value value, Location loc) {
  auto node = static_cast<int32_t>(graph.nodes.size());
  graph.nodes.push_back({nullptr,
                         from,
                         -1,
                         cast<RankedTensorType>(value.getType()),
                         loc,
                         {},
                         {},
                         transfer});
  auto version = static_cast<int32_t>(graph.classes[from].versions.size()) - 1;
  read(node, {from, version, {}});
}

/// Both ends of a pair of stages take messages in the order of their names.
void GraphBuilder::orderMessages() {
  for (bool sends : {true, false}) {
    SmallVector<std::pair<StringRef, int32_t>> list;
    for (auto [number, node] : llvm::enumerate(graph.nodes))
      if (node.transfer && (node.from >= 0) == sends)
        list.push_back({node.transfer.getValue(), int32_t(number)});
    llvm::sort(list);
    for (size_t i = 1; i < list.size(); ++i)
      graph.nodes[list[i].second].after.push_back(list[i - 1].second);
  }
}

LogicalResult GraphBuilder::addResults(Operation *terminator) {
  SmallVector<PortAttr> slots;
  llvm::DenseSet<Attribute> known;
  for (unsigned i = 0; i < terminator->getNumOperands(); ++i) {
    slots.push_back(dist::getResultPort(function, i).getSlot());
    if (!known.insert(slots.back()).second)
      return function.emitOpError()
             << "expected one result in slot " << slots.back();
  }
  // Copies of arguments first: they are readers of what others overwrite.
  for (bool isArgument : {true, false}) {
    ascends = isInOrder();
    for (OpOperand &operand : terminator->getOpOperands()) {
      auto found = seen.find(operand.get());
      bool lies = found != seen.end() &&
                  graph.classes[found->second.number].versions[0].definedBy < 0;
      if (lies != isArgument)
        continue;
      unsigned number = operand.getOperandNumber();
      FailureOr<int32_t> place =
          addResult(operand.get(), slots[number], terminator->getLoc());
      if (failed(place))
        return failure();
      if (slots[number].getKind() == PortKind::Send)
        addSend(slots[number].getSymbol(), *place, operand.get(),
                terminator->getLoc());
    }
  }
  orderMessages();
  return success();
}

void GraphBuilder::finish() {
  std::vector<SmallVector<int32_t>> edges = getEdges();
  for (auto [node, after] : llvm::zip(graph.nodes, edges)) {
    llvm::sort(after);
    after.erase(llvm::unique(after), after.end());
    node.after = std::move(after);
  }
  for (auto &[value, known] : seen)
    graph.classOf[value] = known.number;
}

FailureOr<ProgramGraph> GraphBuilder::run() {
  Block &block = function.front();
  findLastUses();
  for (BlockArgument argument : block.getArguments())
    if (failed(addArgument(argument)))
      return failure();
  for (Operation &op : block.without_terminator())
    if (failed(addOp(op)))
      return failure();
  if (failed(addResults(block.getTerminator())))
    return failure();
  finish();
  return std::move(graph);
}

dist::CoordinateOp getScalar(Value value) {
  return value.getDefiningOp<dist::CoordinateOp>();
}

FailureOr<ProgramGraph> buildProgramGraph(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError() << "expected a program of one block";
  return GraphBuilder(function).run();
}

FailureOr<std::vector<int32_t>>
ProgramGraph::order(func::FuncOp function) const {
  OpOrderProblem problem;
  for (const Node &node : nodes)
    problem.ops.push_back({{node.after.begin(), node.after.end()},
                           {node.touches.begin(), node.touches.end()}});
  for (const Class &values : classes)
    problem.bytes.push_back(values.slot ? 0 : alignUp(values.bytes));
  if (std::string error = problem.check(); !error.empty())
    return function.emitOpError()
           << "cannot be ordered: " << error
           << "; an operand that is worked on in place is read later";
  return orderOps(problem);
}

} // namespace llmc::ordering
