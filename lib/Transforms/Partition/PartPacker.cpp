//===- PartPacker.cpp - Ops on parts become ops on what they make ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PartPacker.h. That equal ops may be one follows from their rule: the
// dimension's factor passes, so that splitting it splits every tensor that has
// it and changes nothing else; no operand holds positions along it. The merged
// op is the local form of the first one with larger types.
//
// Test: test/Transforms/Partition/merge-parts.mlir
//===----------------------------------------------------------------------===//

#include "PartPacker.h"
#include "DeadOps.h"
#include "EqualOps.h"
#include "OpPositions.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <set>

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using graph::FactorKind;
using graph::ShardingRule;

/// Of equal ops, and how they become one.
struct PartPacker::Merge {
  std::vector<Operation *> ops;
  /// For each operand the dim along which those of the ops are packed, or -1
  /// where it is one for all.
  SmallVector<int64_t> operandDims;
  /// The same for each result; -1 where results are summands.
  SmallVector<int64_t> resultDims;
};

bool Pack::operator<(const Pack &other) const {
  auto key = [](const Pack &pack) {
    std::vector<const void *> pointers;
    for (Value part : pack.parts)
      pointers.push_back(part.getAsOpaquePointer());
    return std::pair(pack.dim, pointers);
  };
  return key(*this) < key(other);
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType getWholeType(const Pack &pack) {
  RankedTensorType type = typeOf(pack.parts.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[pack.dim] = 0;
  for (Value part : pack.parts)
    shape[pack.dim] += typeOf(part).getDimSize(pack.dim);
  return RankedTensorType::get(shape, type.getElementType());
}

static std::optional<Attribute> getSplat(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<Attribute>();
}

/// All are splats of one element.
static bool areSplats(const Pack &pack) {
  std::optional<Attribute> first = getSplat(pack.parts.front());
  return first && llvm::all_of(pack.parts, [&](Value part) {
           return getSplat(part) == first;
         });
}

/// The dim of a tensor that is this factor alone, -1 without one, nothing when
/// the factor stands elsewhere.
static std::optional<int64_t> findDim(const graph::TensorFactors &tensor,
                                      int factor) {
  int64_t found = -1;
  for (auto [d, factors] : llvm::enumerate(tensor)) {
    if (!llvm::is_contained(factors, factor))
      continue;
    if (factors.size() != 1 || found >= 0)
      return std::nullopt;
    found = d;
  }
  return found;
}

static bool isLibrary(Operation *op) {
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  return kernel && kernel.getKernelForm() == graph::KernelForm::Library;
}

/// Where and when an op runs.
static constexpr StringRef kPlaceMarks[] = {
    DistDialect::kBlock, DistDialect::kPhase, DistDialect::kAt};

/// All are made by ops of one segment: none comes from other stages, or is
/// made of what several have.
static bool areMadeTogether(const Pack &pack) {
  Operation *first = pack.parts.front().getDefiningOp();
  return llvm::all_of(pack.parts, [&](Value part) {
    Operation *op = part.getDefiningOp();
    return op && !isa<dist::TransferOp, dist::JoinOp>(op) &&
           llvm::all_of(kPlaceMarks, [&](StringRef name) {
             return op->getAttr(name) == first->getAttr(name);
           });
  });
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

void PartPacker::addKnown(const Pack &pack, Value whole) {
  // A value that is several parts stays as it is.
  std::set<const void *> apart;
  for (Value part : pack.parts)
    apart.insert(part.getAsOpaquePointer());
  if (known.insert({pack, whole}).second && apart.size() == pack.parts.size())
    order.push_back(pack);
  known[pack] = whole;
}

static Pack getOperands(ArrayRef<Operation *> ops, unsigned operand,
                        int64_t dim) {
  Pack pack;
  pack.dim = dim;
  for (Operation *op : ops)
    pack.parts.push_back(op->getOperand(operand));
  return pack;
}

std::optional<PartPacker::Merge>
PartPacker::findMergeOf(ArrayRef<Operation *> ops, int factor,
                        const ShardingRule &rule, bool mayCopy) {
  if (rule.factors[factor].isAddressed)
    return std::nullopt;
  Merge merge;
  merge.ops = ops.vec();
  llvm::SmallPtrSet<Value, 4> shared, packed;
  for (unsigned i = 0; i < ops.front()->getNumOperands(); ++i) {
    std::optional<int64_t> dim = findDim(rule.operands[i], factor);
    if (!dim)
      return std::nullopt;
    merge.operandDims.push_back(*dim);
    Value first = ops.front()->getOperand(i);
    (*dim < 0 ? shared : packed).insert(first);
    bool isOne = llvm::all_of(
        ops, [&](Operation *op) { return op->getOperand(i) == first; });
    if (*dim < 0 ? !isOne
                 : !canHave(getOperands(ops, i, *dim), ops.front(), mayCopy))
      return std::nullopt;
  }
  for (const graph::TensorFactors &result : rule.results) {
    std::optional<int64_t> dim = findDim(result, factor);
    if (!dim)
      return std::nullopt;
    merge.resultDims.push_back(*dim);
  }
  bool isMixed =
      llvm::any_of(shared, [&](Value value) { return packed.contains(value); });
  // Without packed operands the results are constant along the dim.
  if (isMixed || !areApart(ops))
    return std::nullopt;
  return merge;
}

/// A join of wholes: the terms of each stage are packed there.
std::optional<PartPacker::Merge>
PartPacker::findMergeOfJoins(ArrayRef<Operation *> ops, int64_t dim,
                             bool mayCopy) {
  Merge merge{ops.vec(), {}, {dim}};
  for (unsigned i = 0; i < ops.front()->getNumOperands(); ++i) {
    if (!canHave(getOperands(ops, i, dim), ops.front(), mayCopy))
      return std::nullopt;
    merge.operandDims.push_back(dim);
  }
  return areApart(ops) ? std::optional(merge) : std::nullopt;
}

std::optional<PartPacker::Merge> PartPacker::findMerge(const Pack &pack,
                                                       bool mayCopy) {
  std::vector<Operation *> ops;
  for (Value part : pack.parts) {
    Operation *op = part.getDefiningOp();
    if (!op ||
        (!ops.empty() && op != ops.front() && !areEqual(ops.front(), op)) ||
        cast<OpResult>(part).getResultNumber() !=
            cast<OpResult>(pack.parts.front()).getResultNumber())
      return std::nullopt;
    ops.push_back(op);
  }
  Operation *first = ops.front();
  if (isa<dist::CollectiveInterface>(first)) {
    bool isDim = false;
    for (StringRef name : {"dim", "split_dim", "concat_dim"})
      if (auto dim = first->getAttrOfType<IntegerAttr>(name))
        isDim |= dim.getInt() == pack.dim;
    if (isDim || first->getNumOperands() != 1 || !areApart(ops) ||
        !canHave(getOperands(ops, 0, pack.dim), first, mayCopy))
      return std::nullopt;
    return Merge{ops, {pack.dim}, {pack.dim}};
  }
  if (isa<dist::JoinOp>(first))
    return findMergeOfJoins(ops, pack.dim, mayCopy);
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(first);
  if (!answers || first->getNumOperands() == 0)
    return std::nullopt;
  ShardingRule rule = answers.getShardingRule();
  for (Operation *op : ops) {
    ShardingRule other =
        cast<graph::ShardingRuleOpInterface>(op).getShardingRule();
    if (other.operands != rule.operands || other.results != rule.results)
      return std::nullopt;
  }
  unsigned number = cast<OpResult>(pack.parts.front()).getResultNumber();
  ArrayRef<int> factors = rule.results[number][pack.dim];
  if (factors.size() != 1 ||
      rule.factors[factors.front()].kind != FactorKind::Pass)
    return std::nullopt;
  return findMergeOf(ops, factors.front(), rule, mayCopy);
}

bool PartPacker::canPack(const Pack &pack) {
  if (known.count(pack) || areSplats(pack))
    return true;
  auto [answer, isNew] = answers.try_emplace(pack, false);
  if (!isNew)
    return answer->second;
  bool can = findMerge(pack, /*mayCopy=*/false).has_value();
  return answers[pack] = can;
}

bool PartPacker::canContract(const Pack &pack) {
  return pack.parts.front().getDefiningOp() &&
         findMerge(pack, /*mayCopy=*/true).has_value();
}

/// Values that are made, each its own part: weights are never copied.
static bool mayBeCopied(const Pack &pack) {
  llvm::SmallPtrSet<Value, 4> seen;
  return llvm::all_of(pack.parts, [&](Value part) {
    return part.getDefiningOp() && seen.insert(part).second;
  });
}

bool PartPacker::canCopyLine(const Pack &pack) {
  return typeOf(pack.parts.front()).getRank() == 1 && mayBeCopied(pack) &&
         areMadeTogether(pack);
}

/// Whether `user` can have its operand so: a library may have it copied,
/// and a collective or join after it passes that on.
bool PartPacker::canHave(const Pack &operand, Operation *user, bool mayCopy) {
  if (canPack(operand) || !mayCopy)
    return canPack(operand);
  if (isLibrary(user))
    return mayBeCopied(operand);
  bool isJoin = isa<dist::JoinOp>(user);
  return ((isJoin || isa<dist::CollectiveInterface>(user)) &&
          canContract(operand)) ||
         (isJoin && canCopyLine(operand));
}

std::optional<std::vector<Operation *>>
PartPacker::findEqualUsers(const Pack &pack, OpOperand &use) {
  std::vector<Operation *> ops = {use.getOwner()};
  for (Value part : ArrayRef(pack.parts).drop_front()) {
    Operation *found = nullptr;
    size_t most = 0;
    for (OpOperand &other : part.getUses()) {
      Operation *user = other.getOwner();
      if (other.getOperandNumber() != use.getOperandNumber() ||
          llvm::is_contained(ops, user) || !areEqual(ops.front(), user))
        continue;
      // Of several the one that has most operands in common.
      size_t common = 1;
      for (auto [x, y] :
           llvm::zip(ops.front()->getOperands(), user->getOperands()))
        common += x == y;
      if (common > most)
        found = user;
      most = std::max(most, common);
    }
    if (!found)
      return std::nullopt;
    ops.push_back(found);
  }
  return ops;
}

/// Linear in both operands jointly and symmetric in them: an addition.
static bool isAddition(Operation *op) {
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!answers || op->getNumOperands() != 2 || op->getNumResults() != 1 ||
      !op->hasTrait<OpTrait::IsCommutative>())
    return false;
  return llvm::any_of(
      answers.getShardingRule().carries, [](const graph::Linearity &linear) {
        return linear.kind == ReductionKind::sum &&
               llvm::any_of(linear.groups, [](ArrayRef<int> group) {
                 return group.size() == 2;
               });
      });
}

Operation *PartPacker::findSum(ArrayRef<Operation *> ops, unsigned operand,
                               int64_t dim) {
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(ops.front());
  if (!answers || ops.front()->getNumResults() != 1)
    return nullptr;
  ShardingRule rule = answers.getShardingRule();
  ArrayRef<int> factors = rule.operands[operand][dim];
  bool isSummed = factors.size() == 1 &&
                  rule.factors[factors.front()].kind == FactorKind::Reduced &&
                  rule.factors[factors.front()].reduction == ReductionKind::sum;
  if (!isSummed || !findMergeOf(ops, factors.front(), rule, /*mayCopy=*/true))
    return nullptr;
  // Additions whose both operands are terms or sums of terms, each used once:
  // what is used elsewhere too would be computed a second time for that.
  llvm::SmallPtrSet<Value, 8> sums;
  for (Operation *op : ops)
    sums.insert(op->getResult(0));
  auto isTerm = [&](Value value) {
    return sums.contains(value) && value.hasOneUse();
  };
  size_t numLeft = ops.size();
  for (size_t i = 0; i < ops.size(); ++i) {
    Operation *term = ops[i];
    while (term->getResult(0).hasOneUse()) {
      Operation *add = *term->getResult(0).getUsers().begin();
      if (!isAddition(add) || !isTerm(add->getOperand(0)) ||
          !isTerm(add->getOperand(1)))
        break;
      if (sums.insert(add->getResult(0)).second && --numLeft == 1)
        return add;
      term = add;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// The first of equal ops, with operands and results of all of them.
class MergedForm : public graph::LocalForm {
public:
  using LocalForm::LocalForm;
  Value getLocal(Value global) override {
    Value merged = operands.lookup(global);
    return merged ? merged : global;
  }
  RankedTensorType getLocalType(Value global) override {
    auto found = types.find(global);
    return found == types.end() ? typeOf(global) : found->second;
  }
  graph::LocalDim getDim(Value global, int64_t dim) override {
    int64_t size = getLocalType(global).getDimSize(dim);
    return {size, size, size, {{size, size}}};
  }
  Value buildOffset(Value, int64_t, Type) override { return {}; }

  llvm::DenseMap<Value, Value> operands;
  llvm::DenseMap<Value, RankedTensorType> types;
};
} // namespace

/// After all of the values and ops.
static void setInsertionAfter(OpBuilder &builder, Block &block,
                              ArrayRef<Operation *> ops, ValueRange values) {
  Operation *last = nullptr;
  auto see = [&](Operation *op) {
    if (op && op->getBlock() == &block && (!last || last->isBeforeInBlock(op)))
      last = op;
  };
  llvm::for_each(ops, see);
  for (Value value : values)
    see(value.getDefiningOp());
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(&block);
}

static void copyMarks(Operation *from, Operation *to) {
  for (StringRef name : kPlaceMarks)
    if (Attribute mark = from ? from->getAttr(name) : Attribute())
      to->setAttr(name, mark);
}

Operation *
PartPacker::mergeOps(ArrayRef<Operation *> ops, const Merge &merge,
                     ArrayRef<std::pair<unsigned, int64_t>> packedResults) {
  Operation *first = ops.front();
  OpBuilder builder(first->getContext(), &created);
  SmallVector<Value> results, operands;
  replaced.insert(ops.begin(), ops.end());
  for (auto [i, dim] : llvm::enumerate(merge.operandDims))
    operands.push_back(dim < 0 ? first->getOperand(i)
                               : buildFor(first, getOperands(ops, i, dim)));
  setInsertionAfter(builder, block, ops, operands);
  MergedForm form(builder, first, results);
  for (auto [old, merged] : llvm::zip(first->getOperands(), operands))
    form.operands[old] = merged;
  for (auto [result, dim] : packedResults) {
    Pack pack{{}, dim};
    for (Operation *op : ops)
      pack.parts.push_back(op->getResult(result));
    form.types[first->getResult(result)] = getWholeType(pack);
  }
  auto answers = dyn_cast<graph::ShardingRuleOpInterface>(first);
  if (!answers || failed(answers.buildLocalForm(form))) {
    results.clear();
    form.cloneOp();
  }
  Operation *merged = results.front().getDefiningOp();
  merged->removeAttr(DistDialect::kName);
  return merged;
}

Value PartPacker::buildMerge(const Pack &pack, const Merge &merge) {
  SmallVector<std::pair<unsigned, int64_t>> packed;
  for (auto [r, dim] : llvm::enumerate(merge.resultDims))
    packed.push_back({r, dim});
  Operation *merged = mergeOps(merge.ops, merge, packed);
  for (auto [r, dim] : packed) {
    Pack results{{}, dim};
    for (Operation *op : merge.ops)
      results.parts.push_back(op->getResult(r));
    addKnown(results, merged->getResult(r));
  }
  return known[pack];
}

/// A copy that runs where `like` does.
Value PartPacker::copyTogether(const Pack &pack, Operation *like) {
  OpBuilder builder(pack.parts.front().getContext(), &created);
  setInsertionAfter(builder, block, {}, pack.parts);
  Value copy = stablehlo::concatenate(builder, pack.parts.back().getLoc(),
                                      pack.parts, pack.dim);
  copyMarks(like, copy.getDefiningOp());
  return copy;
}

/// What several segments make is copied by the segment that uses it; each has a
/// copy of its own.
Value PartPacker::buildFor(Operation *user, const Pack &pack) {
  bool isCopied = !canPack(pack) && !canContract(pack);
  return isCopied && !areMadeTogether(pack) ? copyTogether(pack, user)
                                            : build(pack);
}

Value PartPacker::build(const Pack &pack) {
  if (Value whole = known.count(pack) ? known[pack] : Value())
    return whole;
  if (areSplats(pack)) {
    Operation *first = pack.parts.front().getDefiningOp();
    OpBuilder builder(first, &created);
    Value splat = stablehlo::ConstantOp::create(
        builder, first->getLoc(),
        DenseElementsAttr::get(getWholeType(pack),
                               *getSplat(pack.parts.front())));
    copyMarks(first, splat.getDefiningOp());
    return known[pack] = splat;
  }
  bool mayCopy = !canPack(pack);
  std::optional<Merge> merge;
  if (!mayCopy || canContract(pack))
    merge = findMerge(pack, mayCopy);
  if (merge)
    return buildMerge(pack, *merge);
  Value copy = copyTogether(pack, pack.parts.back().getDefiningOp());
  return known[pack] = copy;
}

void PartPacker::buildSum(Operation *sum, ArrayRef<Operation *> ops) {
  ShardingRule rule =
      cast<graph::ShardingRuleOpInterface>(ops.front()).getShardingRule();
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    if (rule.factors[f].kind != FactorKind::Reduced)
      continue;
    std::optional<Merge> merge = findMergeOf(ops, f, rule, /*mayCopy=*/true);
    if (!merge)
      continue;
    Operation *merged = mergeOps(ops, *merge, {});
    sum->getResult(0).replaceAllUsesWith(merged->getResult(0));
    replaced.insert(sum);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Finishing
//===----------------------------------------------------------------------===//

/// Uses of the parts by ops that stay become slices with the user's marks. What
/// several stages have is never read by an op: such parts stay joins.
void PartPacker::sliceKnown(const Pack &pack, Value whole, DeadOps &dead) {
  if (whole.getDefiningOp<dist::JoinOp>())
    return;
  int64_t end = typeOf(whole).getDimSize(pack.dim);
  SmallVector<Operation *> madeLess;
  // Each slice is put right after the whole: the last one first.
  for (Value part : llvm::reverse(pack.parts)) {
    RankedTensorType type = typeOf(part);
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
    limits[pack.dim] = end;
    end -= type.getDimSize(pack.dim);
    starts[pack.dim] = end;
    Operation *maker = part.getDefiningOp();
    llvm::MapVector<Attribute, Value> slices;
    for (OpOperand &use : llvm::make_early_inc_range(part.getUses())) {
      Operation *user = use.getOwner();
      if (dead.contains(user) || user->getBlock() != &block)
        continue;
      Operation *like = maker ? maker : user;
      NamedAttrList marks;
      for (StringRef name : kPlaceMarks)
        if (Attribute mark = like->getAttr(name))
          marks.append(name, mark);
      Value &slice = slices[marks.getDictionary(part.getContext())];
      if (!slice) {
        OpBuilder builder(part.getContext(), &created);
        setInsertionAfter(builder, block, {}, whole);
        slice =
            stablehlo::slice(builder, user->getLoc(), whole, starts, limits);
        copyMarks(like, slice.getDefiningOp());
      }
      use.set(slice);
    }
    if (!slices.empty()) {
      dead.revive(whole.getDefiningOp());
      madeLess.push_back(maker);
    }
  }
  dead.add(madeLess);
}

bool PartPacker::finish() {
  DeadOps dead(block);
  for (const auto &[pack, whole] : known)
    for (Value part : pack.parts)
      if (Operation *maker = part.getDefiningOp())
        replaced.insert(maker);
  dead.add(replaced.getArrayRef());
  dead.add(created.ops.getArrayRef());
  for (const Pack &pack : order)
    if (Value whole = known[pack])
      sliceKnown(pack, whole, dead);
  for (Operation *op : dead.take()) {
    created.ops.remove(op);
    op->dropAllUses();
    op->erase();
  }
  bool isSorted = putUsersAfter(created.ops.getArrayRef());
  known.clear();
  order.clear();
  answers.clear();
  replaced.clear();
  created.ops.clear();
  return isSorted;
}
