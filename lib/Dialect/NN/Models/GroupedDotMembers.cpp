//===- GroupedDotMembers.cpp - Groups on several members ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of n members, of which each has g / n matrices, all rows and all sizes:
//
//   m k, g k n -> m n   becomes   n m k, (n g/n) k n -> n m n
//   m k, m n -> g k n   becomes   n m k, n m n -> n g/n k n = g k n
//
// Members are batch dims, and the first group of member i is i g / n.
//
// Test: test/Transforms/Sharding/place-groups.mlir
//===----------------------------------------------------------------------===//

#include "GroupedDotSides.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/Graph/IR/RowGroups.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// Each member is one batch more, whose first group is its own.
class GroupMembers {
public:
  GroupMembers(GroupedDotOp op, OpBuilder &b, int64_t members, Value lhs,
               Value rhs)
      : op(op), b(b), loc(op.getLoc()), members(members), lhs(lhs), rhs(rhs),
        dims(getGroupedDims(op)) {}

  Value build();

private:
  Value buildFirst();
  Value buildSizes();
  void splitMatrices();
  Value joinMatrices(Value result);
  SmallVector<int64_t> getBatchShape();

  GroupedDotOp op;
  OpBuilder &b;
  Location loc;
  int64_t members;
  Value lhs, rhs;
  GroupedDims dims;
};

/// Of the members, then of the op.
SmallVector<int64_t> GroupMembers::getBatchShape() {
  SmallVector<int64_t> shape = {members};
  for (int64_t dim : op.getLhsBatch())
    shape.push_back(op.getLhs().getType().getDimSize(dim));
  return shape;
}

Value GroupMembers::buildFirst() {
  auto [value, dim] = getMatrices(op);
  auto type = RankedTensorType::get(
      getBatchShape(), tensorTypeOf(op.getSizes()).getElementType());
  Value number = hlo::iota(b, loc, type, 0);
  int64_t each = tensorTypeOf(value).getDimSize(dim) / members;
  Value first =
      hlo::mul(b, loc, number,
               hlo::constantLike(b, loc, number, static_cast<double>(each)));
  if (!op.getFirst())
    return first;
  auto behind = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
  return hlo::add(b, loc, first,
                  hlo::broadcastInDim(b, loc, op.getFirst(), type, behind));
}

Value GroupMembers::buildSizes() {
  if (!hasOwnSizes(op))
    return op.getSizes();
  RankedTensorType type = tensorTypeOf(op.getSizes());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), members);
  auto behind = llvm::to_vector(llvm::seq<int64_t>(1, shape.size()));
  return hlo::broadcastInDim(b, loc, op.getSizes(), type.clone(shape), behind);
}

/// Dim g of the right side becomes members and groups of each.
void GroupMembers::splitMatrices() {
  int64_t at = *dims.groups;
  SmallVector<int64_t> shape(tensorTypeOf(rhs).getShape());
  shape[at] /= members;
  shape.insert(shape.begin() + at, members);
  rhs = hlo::reshape(b, loc, rhs, shape);
  for (SmallVector<int64_t> *list : {&dims.rhsBatch, &dims.rhsContracting})
    for (int64_t &dim : *list)
      dim += dim > at ? 1 : 0;
  dims.groups = at + 1;
  dims.rhsBatch.insert(dims.rhsBatch.begin(), at);
}

/// Members and, behind the op's batch, groups of each become all groups.
Value GroupMembers::joinMatrices(Value result) {
  int64_t batch = op.getLhsBatch().size();
  auto order =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorTypeOf(result).getRank()));
  std::rotate(order.begin(), order.begin() + 1, order.begin() + batch + 1);
  return hlo::reshape(b, loc, hlo::transpose(b, loc, result, order),
                      op.getType().getShape());
}

Value GroupMembers::build() {
  auto [value, dim] = getMatrices(op);
  int64_t each = tensorTypeOf(value).getDimSize(dim) / members;
  bool isFree = dims.groups.has_value();
  if (isFree) {
    splitMatrices();
  } else {
    dims.rhsBatch = withLeading(dims.rhsBatch, 1);
    dims.rhsContracting = behindLeading(dims.rhsContracting, 1);
  }
  dims.lhsBatch = withLeading(dims.lhsBatch, 1);
  dims.lhsContracting = behindLeading(dims.lhsContracting, 1);
  ++dims.rows;
  Value result =
      GroupedDotOp::create(b, loc, lhs, rhs, buildSizes(), buildFirst(), dims,
                           each, op.getType().getElementType());
  return isFree ? result : joinMatrices(result);
}

struct GroupedDotRows
    : RowGroupsOpInterface::ExternalModel<GroupedDotRows, GroupedDotOp> {
  RowGroups getRowGroups(Operation *of) const {
    auto op = cast<GroupedDotOp>(of);
    GroupedSides sides(op);
    RowGroups groups;
    groups.sizes = op.getSizes();
    std::tie(groups.matrices, groups.groups) = getMatrices(op);
    groups.rows.push_back({0, sides.rows});
    auto at = [&](ArrayRef<int64_t> list) {
      return llvm::find(list, sides.rows) - list.begin();
    };
    if (sides.contractsRows())
      groups.rows.push_back(
          {1, sides.rhsContracting[at(sides.lhsContracting)]});
    else
      groups.resultRows = sides.getResultDim(at(sides.lhsFree));
    return groups;
  }
  Value buildOfMembers(Operation *of, OpBuilder &builder, int64_t members,
                       ValueRange operands) const {
    return GroupMembers(cast<GroupedDotOp>(of), builder, members, operands[0],
                        operands[1])
        .build();
  }
};
} // namespace

void nn::registerGroupedDotMembers(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    GroupedDotOp::attachInterface<GroupedDotRows>(*context);
  });
}
