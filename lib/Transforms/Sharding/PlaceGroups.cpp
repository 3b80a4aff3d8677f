//===- PlaceGroups.cpp - Rows stay where their groups are -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No list of axes says on which device a row is whose group's matrix lies
// there: the run does. So each device has all rows, of which those of its own
// groups are right, and a leading dim of the devices says that they differ:
//
//   [m, n] on 2 devices   ->   [2, m, n], split along its first dim
//
// Followers are ops that compute each row of their results from the same rows
// of their operands, and whose results nothing reads but followers and products
// of the same groups, as rows. What a product makes is 0 in the rows of others,
// so that its sum over the leading dim is what all else reads. Whether more is
// sent than for the matrices is not asked: with these on each device, each
// would multiply all rows.
//
// Test: test/Transforms/Sharding/place-groups.mlir
//===----------------------------------------------------------------------===//

#include "LayoutFiller.h"
#include "llmc/Analysis/Layouts/UsesInPlace.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/RowGroups.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Transforms/Sharding/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::DistDialect;
using dist::LayoutAttr;
using graph::RowGroups;
using graph::RowGroupsOpInterface;

namespace llmc {
#define GEN_PASS_DEF_PLACEGROUPSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct PlaceGroupsPass : llmc::impl::PlaceGroupsPassBase<PlaceGroupsPass> {
  void runOnOperation() override;
};

using Products = llvm::SmallSetVector<Operation *, 8>;

/// Values of members: each has a leading dim.
using MemberValues = llvm::DenseMap<Value, Value>;

/// A follower on its way.
class MemberForm : public graph::BatchForm {
public:
  MemberForm(OpBuilder &builder, Operation *op, ArrayRef<int64_t> members,
             const MemberValues &ofMembers,
             SmallVectorImpl<graph::DeviceValue> &results)
      : BatchForm(builder, op, members, results), ofMembers(ofMembers) {}

  graph::DeviceValue getValue(Value value) override {
    Value found = ofMembers.lookup(value);
    return found ? graph::DeviceValue{found, {0}}
                 : graph::DeviceValue{value, {}};
  }
  Value repeat(const graph::DeviceValue &value,
               ArrayRef<unsigned> axes) override;
  Value spread(const graph::DeviceValue &scalar, ArrayRef<unsigned> axes,
               ArrayRef<int64_t> shape) override;
  graph::DeviceValue place(const graph::DeviceValue &value,
                           ArrayRef<int64_t>) override {
    return value;
  }
  graph::DeviceValue takeFirst(const graph::DeviceValue &value,
                               ArrayRef<unsigned>) override {
    return value;
  }
  void setKnown(ArrayRef<int64_t>) override {}
  ArrayRef<unsigned> getCarriedAxes() override { return {}; }

private:
  const MemberValues &ofMembers;
};

/// Products of one list of sizes, whose matrices the same axes split.
class GroupPlacer {
public:
  GroupPlacer(Block &block, const Products &products, ArrayRef<AxisAttr> axes,
              dist::MeshAxesAttr mesh);

  LogicalResult run();

private:
  std::optional<SmallVector<int64_t>> findRows(Operation *op) const;
  void findFollowers();
  bool dropFollowers();
  bool reads(OpOperand &use) const;
  LayoutAttr getMemberLayout(LayoutAttr layout) const;
  LogicalResult replaceFollower(Operation *op);
  LogicalResult replaceProduct(Operation *op);
  Value sumUp(OpBuilder &builder, Operation *op, Value result);
  LogicalResult fill(Operation *op, Operation *before,
                     ArrayRef<std::pair<Value, LayoutAttr>> given);

  Block &block;
  const Products &products;
  SmallVector<AxisAttr> axes;
  dist::MeshAxesAttr mesh;
  int64_t members = 1;
  /// The dim of each value that counts rows.
  llvm::MapVector<Value, int64_t> rows;
  llvm::SetVector<Operation *> followers;
  MemberValues ofMembers;
};
} // namespace

Value MemberForm::repeat(const graph::DeviceValue &value,
                         ArrayRef<unsigned> axes) {
  if (value.axes.size() == axes.size())
    return value.value;
  auto type = cast<RankedTensorType>(value.value.getType());
  return stablehlo::broadcastInDim(
      builder, loc, value.value, getType(type, axes),
      llvm::to_vector(llvm::seq<int64_t>(1, type.getRank() + 1)));
}

Value MemberForm::spread(const graph::DeviceValue &scalar,
                         ArrayRef<unsigned> axes, ArrayRef<int64_t> shape) {
  auto element = cast<RankedTensorType>(scalar.value.getType());
  SmallVector<int64_t> dims;
  if (scalar.varies())
    dims.push_back(0);
  RankedTensorType of = RankedTensorType::get(shape, element.getElementType());
  return stablehlo::broadcastInDim(builder, loc, scalar.value,
                                   getType(of, axes), dims);
}

GroupPlacer::GroupPlacer(Block &block, const Products &products,
                         ArrayRef<AxisAttr> axes, dist::MeshAxesAttr mesh)
    : block(block), products(products), axes(axes), mesh(mesh) {
  for (AxisAttr axis : axes)
    members *= axis.getSize(mesh);
}

//===----------------------------------------------------------------------===//
// Followers
//===----------------------------------------------------------------------===//

/// The results' dims that count rows, of an op that takes each row for itself.
std::optional<SmallVector<int64_t>> GroupPlacer::findRows(Operation *op) const {
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!model || !isa<graph::BatchingOpInterface>(op) ||
      isa<RowGroupsOpInterface>(op) || isa<DistDialect>(op->getDialect()))
    return std::nullopt;
  graph::ShardingRule rule = model.getShardingRule();
  std::optional<int> factor;
  for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
    const auto *found = rows.find(operand);
    if (found == rows.end())
      continue;
    ArrayRef<int> list = dims[found->second];
    if (list.size() != 1 || (factor && *factor != list.front()))
      return std::nullopt;
    factor = list.front();
  }
  if (!factor || rule.factors[*factor].kind != graph::FactorKind::Pass ||
      rule.factors[*factor].isAddressed)
    return std::nullopt;
  SmallVector<int64_t> ofResults;
  for (const graph::TensorFactors &dims : rule.results) {
    const auto *found = llvm::find_if(dims, [&](ArrayRef<int> list) {
      return list.size() == 1 && list.front() == *factor;
    });
    if (found == dims.end())
      return std::nullopt;
    ofResults.push_back(found - dims.begin());
  }
  return ofResults;
}

void GroupPlacer::findFollowers() {
  for (Operation &op : block) {
    if (products.contains(&op)) {
      RowGroups groups = cast<RowGroupsOpInterface>(op).getRowGroups();
      if (groups.resultRows)
        rows[op.getResult(0)] = *groups.resultRows;
      continue;
    }
    std::optional<SmallVector<int64_t>> found = findRows(&op);
    if (!found)
      continue;
    followers.insert(&op);
    for (auto [result, dim] : llvm::zip(op.getResults(), *found))
      rows[result] = dim;
  }
}

/// The use wants rows of the own groups only.
bool GroupPlacer::reads(OpOperand &use) const {
  Operation *user = use.getOwner();
  if (followers.contains(user))
    return true;
  return products.contains(user) &&
         cast<RowGroupsOpInterface>(user).getRowGroups().isRow(
             use.getOperandNumber());
}

/// Drops those whose results others read, or that follow nothing any more.
bool GroupPlacer::dropFollowers() {
  SmallVector<Operation *> dropped;
  for (Operation *op : followers) {
    bool isRead = llvm::all_of(op->getResults(), [&](OpResult result) {
      return llvm::all_of(result.getUses(),
                          [&](OpOperand &use) { return reads(use); });
    });
    if (!isRead || !findRows(op))
      dropped.push_back(op);
  }
  for (Operation *op : dropped) {
    followers.remove(op);
    for (OpResult result : op->getResults())
      rows.erase(result);
  }
  return !dropped.empty();
}

//===----------------------------------------------------------------------===//
// Replacement
//===----------------------------------------------------------------------===//

/// The leading dim has the axes, which no other dim has.
LayoutAttr GroupPlacer::getMemberLayout(LayoutAttr layout) const {
  MLIRContext *context = layout.getContext();
  SmallVector<dist::DimAttr> dims = {dist::DimAttr::get(context, axes)};
  for (dist::DimAttr dim : layout.getDims()) {
    SmallVector<AxisAttr> others;
    llvm::copy_if(dim.getAxes(), std::back_inserter(others),
                  [&](AxisAttr axis) {
                    return llvm::none_of(
                        axes, [&](AxisAttr a) { return a.overlaps(axis); });
                  });
    dims.push_back(
        dist::DimAttr::get(context, others, dim.getSizes(), dim.getExtents()));
  }
  return layout.withDims(dims);
}

/// Gives the ops between `before` and `op` their layouts and marks.
LogicalResult GroupPlacer::fill(Operation *op, Operation *before,
                                ArrayRef<std::pair<Value, LayoutAttr>> given) {
  SmallVector<Operation *> made;
  for (Operation *next = before ? before->getNextNode() : &block.front();
       next != op; next = next->getNextNode())
    made.push_back(next);
  LayoutFiller filler(made, mesh, getDecidedLayout(op->getResult(0)));
  llvm::SmallSetVector<Value, 8> outside;
  for (Operation *each : made)
    for (Value operand : each->getOperands())
      if (!llvm::is_contained(made, operand.getDefiningOp()))
        outside.insert(operand);
  for (Value operand : outside)
    filler.fix(operand, getDecidedLayout(operand));
  for (auto [value, layout] : given)
    filler.fix(value, layout);
  if (failed(filler.run()))
    return failure();
  for (Operation *each : made)
    for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
      if (Attribute value = op->getAttr(mark))
        each->setAttr(mark, value);
  return success();
}

LogicalResult GroupPlacer::replaceFollower(Operation *op) {
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  SmallVector<graph::DeviceValue> results;
  SmallVector<int64_t> mesh = {members};
  MemberForm form(builder, op, mesh, ofMembers, results);
  if (failed(cast<graph::BatchingOpInterface>(op).buildBatched(form)))
    return failure();
  SmallVector<std::pair<Value, LayoutAttr>> given;
  for (auto [result, made] : llvm::zip_equal(op->getResults(), results)) {
    Value value = form.repeat(made, {0});
    ofMembers[result] = value;
    given.push_back({value, getMemberLayout(getDecidedLayout(result))});
  }
  return fill(op, before, given);
}

/// What all else reads of a product.
Value GroupPlacer::sumUp(OpBuilder &builder, Operation *op, Value result) {
  OpResult whole = op->getResult(0);
  auto isOther = [&](OpOperand &use) { return !reads(use); };
  if (llvm::none_of(whole.getUses(), isOther))
    return {};
  Value sum = stablehlo::reduceAdd(builder, op->getLoc(), result, {0});
  whole.replaceUsesWithIf(sum, isOther);
  return sum;
}

LogicalResult GroupPlacer::replaceProduct(Operation *op) {
  OpBuilder builder(op);
  Operation *before = op->getPrevNode();
  auto model = cast<RowGroupsOpInterface>(op);
  RowGroups groups = model.getRowGroups();
  SmallVector<graph::DeviceValue> none;
  SmallVector<int64_t> mesh = {members};
  MemberForm form(builder, op, mesh, ofMembers, none);
  SmallVector<Value> operands(op->getOperands());
  SmallVector<std::pair<Value, LayoutAttr>> given;
  LayoutAttr layout = getDecidedLayout(op->getResult(0));
  for (auto [operand, dim] : groups.rows) {
    Value value = operands[operand];
    operands[operand] = form.getAlong(value, {0});
    // It lives where the product does.
    if (!ofMembers.contains(value))
      given.push_back(
          {operands[operand],
           getMemberLayout(getDecidedLayout(value)).withPins(layout.getAt())});
  }
  Value result = model.buildOfMembers(builder, members, operands);
  if (!groups.resultRows) {
    op->getResult(0).replaceAllUsesWith(result);
    given.push_back({result, layout});
    return fill(op, before, given);
  }
  ofMembers[op->getResult(0)] = result;
  given.push_back({result, getMemberLayout(layout)});
  if (Value sum = sumUp(builder, op, result))
    given.push_back({sum, layout});
  return fill(op, before, given);
}

LogicalResult GroupPlacer::run() {
  findFollowers();
  while (dropFollowers())
    ;
  SmallVector<Operation *> replaced;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!products.contains(&op) && !followers.contains(&op))
      continue;
    replaced.push_back(&op);
    if (failed(products.contains(&op) ? replaceProduct(&op)
                                      : replaceFollower(&op)))
      return failure();
  }
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The axes that split an op's matrices, as many for each part.
static SmallVector<AxisAttr> findAxes(RowGroupsOpInterface op,
                                      dist::MeshAxesAttr mesh) {
  RowGroups groups = op.getRowGroups();
  LayoutAttr layout = getDecidedLayout(groups.matrices);
  if (!layout)
    return {};
  auto type = cast<RankedTensorType>(groups.matrices.getType());
  dist::DimAttr dim = layout.getDims()[groups.groups];
  bool isEven = type.getDimSize(groups.groups) % dim.getNumParts(mesh) == 0;
  return isEven && !dim.isPadded() ? SmallVector<AxisAttr>(dim.getAxes())
                                   : SmallVector<AxisAttr>();
}

static LogicalResult placeGroups(Block &block, dist::MeshAxesAttr mesh) {
  using Key = std::pair<Value, ArrayAttr>;
  llvm::MapVector<Key, Products> products;
  for (Operation &op : block)
    if (auto model = dyn_cast<RowGroupsOpInterface>(op)) {
      SmallVector<AxisAttr> axes = findAxes(model, mesh);
      SmallVector<Attribute> list(axes.begin(), axes.end());
      if (!axes.empty())
        products[{model.getRowGroups().sizes,
                  ArrayAttr::get(op.getContext(), list)}]
            .insert(&op);
    }
  for (auto &[key, list] : products) {
    auto axes = llvm::to_vector(key.second.getAsRange<AxisAttr>());
    if (failed(GroupPlacer(block, list, axes, mesh).run()))
      return failure();
  }
  return success();
}

void PlaceGroupsPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  llvm::SmallSetVector<Block *, 4> blocks;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    blocks.insert(&program.function.getBody().front());
  for (Block *block : blocks)
    if (failed(placeGroups(*block, mesh->getAxes())))
      return signalPassFailure();
}
