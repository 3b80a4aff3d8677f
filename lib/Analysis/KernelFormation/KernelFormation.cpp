//===- KernelFormation.cpp - Which ops share a kernel ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a block into nodes (KernelClusters.h) and writes the clusters back as
// kernels. Cheap ops (constants, broadcasts, short chains that read no more
// than they would write) are no nodes: every kernel that needs them computes
// them again. All facts come from the ops' kernel forms, rules and costs.
//
// Test: test/Solvers/Fusion/KernelClustersTest.cpp, test/Transforms/Kernels
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/KernelFormation/KernelFormation.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Solvers/Fusion/KernelClusters.h"
#include "llvm/ADT/DenseMap.h"
#include <set>

using namespace mlir;

namespace llmc {

namespace {

using graph::KernelForm;

int64_t getBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8u);
}

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The form as kernels see it: a reduction over dims of size 1 is an Element.
/// An alias that is more than another view of one value (a fence orders what is
/// around it) has none: no kernel reads through it.
std::optional<KernelForm> getForm(Operation *op) {
  auto kernel = dyn_cast_or_null<graph::KernelOpInterface>(op);
  if (!kernel)
    return std::nullopt;
  if (kernel.getKernelForm() == KernelForm::Alias && !isView(op))
    return std::nullopt;
  return isElementwise(op) ? KernelForm::Element : kernel.getKernelForm();
}

/// Of an Update: what it changes in place.
OpOperand &getChanged(Operation *op) {
  auto update = cast<graph::KernelOpInterface>(op);
  return op->getOpOperand(update.getChangedOperand());
}

bool isExpensive(Operation *op) {
  auto cost = dyn_cast<graph::CostOpInterface>(op);
  return !cost || cost.getCost().transcendentals > 0;
}

class FormationBuilder {
public:
  using IsRead = function_ref<bool(OpOperand &)>;

  explicit FormationBuilder(Block &block, IsRead isRead = nullptr)
      : block(block), isRead(isRead) {}

  LogicalResult checkForms();
  KernelFormation run();

private:
  /// What a cheap op reads in the end, and how many ops are between.
  struct Chain {
    llvm::SmallSetVector<Value, 4> leaves;
    int64_t ops = 0;
  };
  static constexpr int64_t maxChain = 12;
  static constexpr size_t maxLeaves = 8;

  bool isHere(Operation *op) const { return op && op->getBlock() == &block; }
  bool isInline(Operation *op) const { return isHere(op) && chains.count(op); }
  void findCheapOps();
  void addRequired();
  void require(Value value);
  Value getMoved(Value value) const;
  void requireForUpdate(Operation &op);
  void makeNodes();
  KernelNode makeNode(Operation *op);
  void addAccesses(KernelNode &node, Value value, std::vector<int> dims,
                   bool fromMemory);
  static std::vector<int> mapThrough(Operation *op, unsigned operand,
                                     const std::vector<int> &dims);
  static std::vector<int> mapThroughAlias(ArrayRef<int64_t> from,
                                          ArrayRef<int64_t> to,
                                          const std::vector<int> &dims);
  KernelSpec makeSpec(const KernelCluster &cluster);
  void addInline(Operation *op, llvm::SetVector<Operation *> &ops);

  Block &block;
  IsRead isRead;
  llvm::DenseMap<Operation *, Chain> chains;
  llvm::DenseSet<Operation *> required;
  std::vector<Operation *> nodeOps;
  std::vector<KernelNode> nodes;
  llvm::DenseMap<Operation *, int> nodeOf;
  llvm::DenseMap<Operation *, int> clusterOf;
  llvm::DenseMap<Value, int> externals;
  std::optional<int> lastNamed;
  std::set<std::pair<void *, std::vector<int>>> visited;
};

LogicalResult FormationBuilder::checkForms() {
  for (Operation &op : block)
    if (getForm(&op) == KernelForm::Decompose)
      return op.emitError("expected '")
             << op.getName() << "' to be decomposed before kernels are formed";
  return success();
}

/// True when each row of `result` reads a row of its own of `leaf`. Tables and
/// what is broadcast are read again by other rows, so how many rows a device
/// has does not change what is fused.
static bool hasRowsOf(Value result, Value leaf) {
  ArrayRef<int64_t> rows = getShape(result), own = getShape(leaf);
  return rows.empty() || (!own.empty() && own.front() == rows.front());
}

void FormationBuilder::findCheapOps() {
  for (Operation &op : block) {
    std::optional<KernelForm> form = getForm(&op);
    if (form == KernelForm::Alias) {
      // No code of its own; where it stands in memory it is a view.
      Chain &chain = chains[&op];
      Value source = op.getOperand(
          cast<graph::KernelOpInterface>(op).getAliasedOperand(0));
      if (isInline(source.getDefiningOp()))
        chain = Chain(chains[source.getDefiningOp()]);
      else
        chain.leaves.insert(source);
      continue;
    }
    if (form != KernelForm::Element || isExpensive(&op))
      continue;
    Chain chain;
    chain.ops = 1;
    for (Value operand : op.getOperands()) {
      if (!isInline(operand.getDefiningOp())) {
        chain.leaves.insert(operand);
        continue;
      }
      const Chain &inner = chains[operand.getDefiningOp()];
      chain.ops += inner.ops;
      chain.leaves.insert(inner.leaves.begin(), inner.leaves.end());
    }
    int64_t bytes = 0, written = 0;
    for (Value leaf : chain.leaves)
      if (hasRowsOf(op.getResult(0), leaf))
        bytes += getBytes(leaf);
    for (Value result : op.getResults())
      written += getBytes(result);
    if (chain.ops <= maxChain && chain.leaves.size() <= maxLeaves &&
        bytes <= written + written / 8)
      chains[&op] = chain;
  }
}

/// `value` is read from memory: the op under its aliases is a node.
void FormationBuilder::require(Value value) {
  Operation *op = value.getDefiningOp();
  while (isHere(op) && getForm(op) == KernelForm::Alias) {
    value =
        op->getOperand(cast<graph::KernelOpInterface>(op).getAliasedOperand(0));
    op = value.getDefiningOp();
  }
  if (!isHere(op))
    return;
  required.insert(op);
  // What reads nothing is computed again all the same.
  auto chain = chains.find(op);
  if (chain != chains.end() && !chain->second.leaves.empty())
    chains.erase(chain);
}

/// What a library call reads in place when it is not yet formed: `value`
/// without ops that only move elements.
Value FormationBuilder::getMoved(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    auto cost = dyn_cast<graph::CostOpInterface>(op);
    if (!isRead || !isHere(op) || getForm(op) != KernelForm::Element || !cost ||
        op->getNumOperands() != 1 || cost.getCost().flops ||
        getBytes(op->getOperand(0)) != getBytes(value))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// What is changed in place must not be read on the way to the updates. What
/// ordered updates read, many of them read again.
void FormationBuilder::requireForUpdate(Operation &op) {
  OpOperand &changed = getChanged(&op);
  bool isOrdered =
      cast<graph::KernelOpInterface>(op).getUpdateOrder().has_value();
  require(changed.get());
  for (OpOperand &operand : op.getOpOperands()) {
    auto chain = chains.find(operand.get().getDefiningOp());
    if (&operand != &changed && chain != chains.end() &&
        (isOrdered || chain->second.leaves.contains(changed.get())))
      require(operand.get());
  }
}

void FormationBuilder::addRequired() {
  for (Operation &op : block) {
    std::optional<KernelForm> form = getForm(&op);
    if (form == KernelForm::Update)
      requireForUpdate(op);
    bool isTerminator = op.hasTrait<OpTrait::IsTerminator>();
    if (!form || form == KernelForm::Library || form == KernelForm::Decompose)
      for (OpOperand &operand : op.getOpOperands())
        if (!isTerminator || !isRead || isRead(operand))
          require(form == KernelForm::Library ? getMoved(operand.get())
                                              : operand.get());
  }
}

/// How the dims of operand `operand` follow the space, given how the dims of
/// the op's result do.
std::vector<int> FormationBuilder::mapThrough(Operation *op, unsigned operand,
                                              const std::vector<int> &dims) {
  ArrayRef<int64_t> shape = getShape(op->getOperand(operand));
  if (getForm(op) == KernelForm::Alias)
    return mapThroughAlias(shape, getShape(op->getResult(0)), dims);
  std::vector<int> mapped(shape.size(), KernelAccess::unknown);
  auto ruled = dyn_cast<graph::ShardingRuleOpInterface>(op);
  graph::ShardingRule rule;
  if (ruled)
    rule = ruled.getShardingRule();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (size == 1) {
      mapped[dim] = KernelAccess::single;
      continue;
    }
    if (!ruled || rule.operands[operand].size() != shape.size())
      continue;
    const auto &factors = rule.operands[operand][dim];
    if (factors.size() != 1 ||
        rule.factors[factors[0]].kind != graph::FactorKind::Pass)
      continue;
    for (auto [at, other] : llvm::enumerate(rule.results[0]))
      if (other.size() == 1 && other[0] == factors[0])
        mapped[dim] = dims[at];
  }
  return mapped;
}

/// [8, 128, 384] seen as [8, 128, 4, 96]: the first two dims are the same.
std::vector<int>
FormationBuilder::mapThroughAlias(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                  const std::vector<int> &dims) {
  std::vector<int> mapped(from.size(), KernelAccess::unknown);
  size_t a = 0, b = 0;
  while (b < from.size()) {
    if (from[b] == 1) {
      mapped[b++] = KernelAccess::single;
      continue;
    }
    while (a < to.size() && to[a] == 1)
      ++a;
    if (a == to.size() || to[a] != from[b])
      break;
    mapped[b++] = dims[a++];
  }
  return mapped;
}

void FormationBuilder::addAccesses(KernelNode &node, Value value,
                                   std::vector<int> dims, bool fromMemory) {
  Operation *op = value.getDefiningOp();
  if (!visited.insert({value.getAsOpaquePointer(), dims}).second)
    return;
  if (!isHere(op)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    int64_t size = 1;
    for (int64_t extent : node.space)
      size *= extent;
    if (type && type.getNumElements() == size)
      node.externals.push_back(
          externals.try_emplace(value, externals.size()).first->second);
    return;
  }
  bool isNode = fromMemory && nodeOf.count(op);
  if (isInline(op) && !isNode) {
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      addAccesses(node, op->getOperand(i), mapThrough(op, i, dims), fromMemory);
    return;
  }
  KernelAccess access;
  access.producer = nodeOf.lookup(op);
  access.shape = getShape(value).vec();
  access.dims = std::move(dims);
  node.accesses.push_back(std::move(access));
}

KernelNode FormationBuilder::makeNode(Operation *op) {
  KernelNode node;
  visited.clear();
  node.required = required.contains(op);
  std::optional<KernelForm> form = getForm(op);
  std::vector<int> identity;
  if (form == KernelForm::Element || form == KernelForm::Reduction) {
    bool reduces = form == KernelForm::Reduction;
    node.kind =
        reduces ? KernelNode::Kind::Reduction : KernelNode::Kind::Element;
    node.space = getShape(reduces ? op->getOperand(0) : op->getResult(0)).vec();
    for (size_t dim = 0; dim < node.space.size(); ++dim)
      identity.push_back(dim);
  }
  graph::ReductionShape reduction;
  if (form == KernelForm::Reduction) {
    reduction = cast<graph::KernelOpInterface>(op).getReduction();
    node.reduced.assign(node.space.size(), false);
    for (int64_t dim : reduction.dims)
      node.reduced[dim] = true;
  }
  if (form == KernelForm::Update)
    node.kind = KernelNode::Kind::Update;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type)
      continue;
    std::vector<int> dims(type.getRank(), KernelAccess::unknown);
    if (form == KernelForm::Element)
      dims = mapThrough(op, number, identity);
    else if (form == KernelForm::Reduction && number < reduction.numInputs)
      dims = identity;
    bool fromMemory = node.kind == KernelNode::Kind::Other ||
                      (form == KernelForm::Update &&
                       &getChanged(op) == &op->getOpOperand(number));
    addAccesses(node, operand, dims, fromMemory);
  }
  return node;
}

void FormationBuilder::makeNodes() {
  for (Operation &op : block) {
    if ((isInline(&op) && !required.contains(&op)) ||
        op.hasTrait<OpTrait::IsTerminator>())
      continue;
    nodeOf[&op] = nodeOps.size();
    nodeOps.push_back(&op);
    nodes.push_back(makeNode(&op));
    // The programs of all members have named collectives in one order.
    auto collective = dyn_cast<dist::CollectiveInterface>(op);
    if (!collective || !collective.getSymbolAttr())
      continue;
    if (lastNamed) {
      KernelAccess after;
      after.producer = *lastNamed;
      nodes.back().accesses.push_back(std::move(after));
    }
    lastNamed = nodeOf.lookup(&op);
  }
}

void FormationBuilder::addInline(Operation *op,
                                 llvm::SetVector<Operation *> &ops) {
  bool isUpdate = getForm(op) == KernelForm::Update;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *source = operand.get().getDefiningOp();
    if (isUpdate && &operand == &getChanged(op))
      continue;
    if (isInline(source) && ops.insert(source))
      addInline(source, ops);
  }
}

KernelSpec FormationBuilder::makeSpec(const KernelCluster &cluster) {
  KernelSpec spec;
  spec.kind = cluster.kind == KernelCluster::Kind::Rows ? KernelSpec::Kind::Rows
              : cluster.kind == KernelCluster::Kind::Reduce
                  ? KernelSpec::Kind::Reduce
                  : KernelSpec::Kind::Update;
  llvm::SetVector<Operation *> ops;
  for (int node : cluster.nodes) {
    ops.insert(nodeOps[node]);
    bool isRow = spec.kind == KernelSpec::Kind::Rows ||
                 nodes[node].kind != KernelNode::Kind::Element;
    if (isRow)
      spec.aligned.insert(nodeOps[node]);
  }
  for (int node : cluster.nodes)
    addInline(nodeOps[node], ops);
  spec.ops.assign(ops.begin(), ops.end());
  llvm::sort(spec.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (cluster.hasRowShape)
    spec.rowShape.assign(cluster.rowShape.begin(), cluster.rowShape.end());
  // What an Update changes is not computed inside: it is there, in memory.
  OpOperand *changed = nullptr;
  if (spec.kind == KernelSpec::Kind::Update)
    changed = &getChanged(nodeOps[cluster.nodes[0]]);
  llvm::SmallDenseSet<Value> read;
  for (Operation *op : spec.ops)
    for (OpOperand &operand : op->getOpOperands()) {
      if (&operand == changed)
        spec.changed = spec.inputs.size();
      else if (ops.contains(operand.get().getDefiningOp()) ||
               !read.insert(operand.get()).second)
        continue;
      spec.inputs.push_back(operand.get());
    }
  return spec;
}

KernelFormation FormationBuilder::run() {
  findCheapOps();
  addRequired();
  makeNodes();
  std::vector<KernelCluster> clusters = formKernelClusters(nodes);
  for (auto [index, cluster] : llvm::enumerate(clusters))
    for (int node : cluster.nodes)
      clusterOf[nodeOps[node]] = index;
  // A value is kept when a node of another cluster reads it.
  llvm::SetVector<Value> kept;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    for (const KernelAccess &access : node.accesses)
      if (clusterOf[nodeOps[access.producer]] != clusterOf[nodeOps[index]])
        kept.insert_range(nodeOps[access.producer]->getResults());
    if (node.required)
      kept.insert_range(nodeOps[index]->getResults());
  }
  KernelFormation formation;
  for (const KernelCluster &cluster : clusters) {
    if (cluster.kind == KernelCluster::Kind::Other) {
      formation.others.push_back(nodeOps[cluster.nodes[0]]);
      formation.order.push_back({false, formation.others.size() - 1});
      continue;
    }
    KernelSpec spec = makeSpec(cluster);
    for (int node : cluster.nodes)
      for (Value result : nodeOps[node]->getResults())
        if (kept.contains(result))
          spec.outputs.push_back(result);
    if (spec.outputs.empty())
      continue;
    formation.order.push_back({true, formation.kernels.size()});
    formation.kernels.push_back(std::move(spec));
  }
  formation.kept = std::move(kept);
  return formation;
}

} // namespace

bool isView(Operation *op) {
  auto kernel = cast<graph::KernelOpInterface>(op);
  return kernel.getKernelForm() == KernelForm::Alias && isPure(op) &&
         op->getNumOperands() == 1 && op->getNumResults() == 1;
}

bool isElementwise(Operation *op) {
  auto kernel = cast<graph::KernelOpInterface>(op);
  if (kernel.getKernelForm() != KernelForm::Reduction)
    return kernel.getKernelForm() == KernelForm::Element;
  graph::ReductionShape reduction = kernel.getReduction();
  return llvm::all_of(reduction.dims, [&](int64_t dim) {
    return getShape(op->getOperand(0))[dim] == 1;
  });
}

FailureOr<KernelFormation> formKernels(Block &block) {
  FormationBuilder builder(block);
  if (failed(builder.checkForms()))
    return failure();
  return builder.run();
}

llvm::SetVector<Value> findKeptValues(Block &block,
                                      function_ref<bool(OpOperand &)> isRead) {
  return FormationBuilder(block, isRead).run().kept;
}

KernelPrice getKernelPrice(const KernelSpec &spec) {
  KernelPrice price;
  for (Value input : spec.inputs)
    price.bytesRead += getBytes(input);
  for (Value output : spec.outputs)
    price.bytesWritten += getBytes(output);
  return price;
}

std::string describeKernel(const KernelSpec &spec) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  switch (spec.kind) {
  case KernelSpec::Kind::Rows:
    stream << (spec.rowShape.empty() ? "elements" : "rows ");
    llvm::interleave(spec.rowShape, stream, "x");
    break;
  case KernelSpec::Kind::Reduce:
    stream << "reduce";
    break;
  case KernelSpec::Kind::Update:
    stream << "update";
    break;
  }
  stream << ": " << spec.ops.size() << " ops, " << spec.inputs.size()
         << " inputs, " << spec.outputs.size() << " outputs";
  return text;
}

} // namespace llmc
