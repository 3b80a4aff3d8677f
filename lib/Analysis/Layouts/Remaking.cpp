//===- Remaking.cpp - What is made again rather than moved ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/Remaking.h"

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;
using graph::KernelForm;

/// Ops in a row that are made again.
static constexpr int kMostOps = 8;

static std::optional<KernelForm> getForm(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  return kernel ? std::optional(kernel.getKernelForm()) : std::nullopt;
}

bool llmc::isLight(Operation *op) {
  std::optional<KernelForm> form = getForm(op);
  return form && *form != KernelForm::Library && *form != KernelForm::Decompose;
}

Value llmc::skipConstraints(Value value) {
  while (auto constraint = value.getDefiningOp<dist::ConstraintOp>())
    value = constraint.getInput();
  return value;
}

static bool isOfElements(Operation *op) {
  std::optional<KernelForm> form = getForm(op);
  return form == KernelForm::Element || form == KernelForm::Alias;
}

OpLayouts Remaking::getRuns(Operation *op, LayoutAttr want) const {
  auto model = cast<graph::ShardingRuleOpInterface>(op);
  LayoutProblem problem{
      op, model.getShardingRule(), reshards.getAxes(), {}, {want}};
  if (auto operands = program.operandsOf(op))
    for (Value operand : *operands)
      problem.operands.push_back(program.layoutOf(operand));
  return getOpLayouts(problem);
}

/// How the op runs to make just the layout, where it may be made again.
std::optional<OpLayouts> Remaking::getRunsAgain(Operation *op,
                                                LayoutAttr want) {
  if (!isa<graph::ShardingRuleOpInterface>(op) || op->getNumResults() != 1 ||
      !isMemoryEffectFree(op))
    return std::nullopt;
  std::optional<SmallVector<Value>> operands = program.operandsOf(op);
  if (!operands || (operands->size() > 1 && !isOfElements(op)))
    return std::nullopt;
  OpLayouts runs = getRuns(op, want);
  if (!runs.reduced.empty() || runs.results.front() != want)
    return std::nullopt;
  return runs;
}

/// By the op, where it makes just the layout.
std::optional<Remaking::Way> Remaking::remake(Operation *op, LayoutAttr want,
                                              int depth) {
  std::optional<OpLayouts> runs;
  if (depth < kMostOps)
    runs = getRunsAgain(op, want);
  if (!runs)
    return std::nullopt;
  std::optional<SmallVector<Value>> operands = program.operandsOf(op);
  Way way;
  way.isRemade = true;
  for (auto [operand, read] : llvm::zip_equal(*operands, runs->operands)) {
    std::optional<Way> found;
    if (read)
      found = find(operand, read, depth + 1);
    if (!found)
      return std::nullopt;
    for (const Move &move : found->moves)
      if (llvm::none_of(way.moves, [&](const Move &other) {
            return other.value == move.value && other.to == move.to;
          })) {
        way.moves.push_back(move);
        way.cost += move.cost;
      }
  }
  bool isFree = way.moves.empty() && operands->size() <= 1;
  LayoutAttr have = program.layoutOf(op->getResult(0));
  bool isMove = !have.isPartial() && !want.isPartial() &&
                have.getAt() == want.getAt() && isOfElements(op);
  return isFree || isMove ? std::optional(std::move(way)) : std::nullopt;
}

int64_t llmc::getLocalElements(RankedTensorType type, LayoutAttr layout,
                               dist::MeshAxesAttr mesh) {
  int64_t elements = 1;
  for (int64_t size : layout.getLocalShape(type.getShape(), mesh))
    elements *= size;
  return elements;
}

/// A layout in which others want the value, of which `want` is a part.
LayoutAttr Remaking::findSource(Value value, LayoutAttr have, LayoutAttr want) {
  auto type = cast<RankedTensorType>(value.getType());
  auto isPlain = [&](LayoutAttr layout) {
    return !layout.isPartial() && layout.getAt() == have.getAt();
  };
  int64_t elements = getLocalElements(type, want, reshards.getAxes());
  // An argument is moved for each chunk that reads it.
  if (isa<BlockArgument>(value) || !isPlain(have) || !isPlain(want))
    return {};
  for (Attribute other : program.wantsOf(value)) {
    auto source = cast<LayoutAttr>(other);
    std::string error;
    if (!isPlain(source) ||
        getLocalElements(type, source, reshards.getAxes()) <= elements)
      continue;
    FailureOr<int64_t> cut = reshards.price(type, source, want, error);
    if (succeeded(cut) && *cut == 0)
      return source;
  }
  return {};
}

/// Whether to make the op's value again by this way rather than by moving it.
bool Remaking::isBetter(const Way &again, const Way &moved,
                        Operation *op) const {
  if (again.moves.empty() && op->getNumOperands() <= 1)
    return true;
  bool isOfValues = llvm::none_of(again.moves, [](const Move &move) {
    return isa<BlockArgument>(move.value);
  });
  return again.cost < moved.cost ||
         (isEager && isOfValues && again.cost == moved.cost);
}

std::optional<Remaking::Way> Remaking::find(Value value, LayoutAttr want,
                                            int depth) {
  LayoutAttr have = program.layoutOf(value);
  if (!have)
    return std::nullopt;
  if (isReadableAs(have, want) ||
      (depth > 0 && llvm::is_contained(program.wantsOf(value), want)))
    return Way();
  std::pair<Value, Attribute> key(value, want);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  std::string error;
  std::optional<Way> best;
  FailureOr<int64_t> price = reshards.price(
      cast<RankedTensorType>(value.getType()), have, want, error);
  if (succeeded(price))
    best = Way{false, {}, {{value, want, *price}}, *price};
  if (best && best->cost > 0)
    if (LayoutAttr source = findSource(value, have, want))
      return known[key] = Way{false, source, {}, 0};
  Operation *op = value.getDefiningOp();
  std::optional<Way> again =
      op ? remake(op, want, depth) : std::optional<Way>();
  if (again && (!best || isBetter(*again, *best, op)))
    best = again;
  return known[key] = best;
}

//===----------------------------------------------------------------------===//
// One move for several values
//===----------------------------------------------------------------------===//

/// What is moved so that the value of `move` is made of it by its op, where
/// that is one value; none where it is made of several, or not again.
std::optional<Remaking::Move> Remaking::findOrigin(const Move &move) {
  Operation *op = move.value.getDefiningOp();
  LayoutAttr have = program.layoutOf(move.value);
  if (!op || have.isPartial() || move.to.isPartial() ||
      have.getAt() != move.to.getAt())
    return std::nullopt;
  std::optional<OpLayouts> runs = getRunsAgain(op, move.to);
  if (!runs)
    return std::nullopt;
  std::optional<Move> origin;
  std::optional<SmallVector<Value>> operands = program.operandsOf(op);
  for (auto [operand, read] : llvm::zip_equal(*operands, runs->operands)) {
    std::optional<Way> way;
    if (read)
      way = find(operand, read, 1);
    if (!way || (origin && !way->moves.empty()))
      return std::nullopt;
    if (way->moves.empty())
      continue;
    std::string error;
    FailureOr<int64_t> price =
        reshards.price(cast<RankedTensorType>(operand.getType()),
                       program.layoutOf(operand), read, error);
    if (failed(price))
      return std::nullopt;
    origin = Move{operand, read, *price};
  }
  return origin;
}

SmallVector<Remaking::Move> Remaking::findShared(ArrayRef<Need> needs) {
  using Key = std::tuple<Value, Attribute, int64_t>;
  // What is sent now, and by what it could be replaced.
  llvm::MapVector<Key, Move> sent;
  llvm::MapVector<Key, std::pair<Move, SmallVector<Key>>> origins;
  for (const Need &need : needs)
    if (std::optional<Way> way = find(need.value, need.want))
      for (const Move &move : way->moves)
        if (move.cost > 0)
          sent.insert({Key(move.value, move.to, need.chunk), move});
  for (auto &[key, move] : sent) {
    int64_t chunk = std::get<2>(key);
    std::optional<Move> origin = findOrigin(move);
    for (int depth = 0; origin && depth + 1 < kMostOps; ++depth) {
      auto &made = origins[Key(origin->value, origin->to, chunk)];
      made.first = *origin;
      made.second.push_back(key);
      origin = findOrigin(*origin);
    }
  }
  SmallVector<Move> shared;
  llvm::DenseSet<Key> replaced;
  for (auto &[key, made] : origins) {
    auto &[origin, values] = made;
    llvm::erase_if(values, [&](const Key &v) { return replaced.contains(v); });
    int64_t cost = 0;
    for (const Key &value : values)
      cost += sent.find(value)->second.cost;
    if (values.size() < 2 || cost <= origin.cost)
      continue;
    replaced.insert(values.begin(), values.end());
    shared.push_back(origin);
  }
  return shared;
}
