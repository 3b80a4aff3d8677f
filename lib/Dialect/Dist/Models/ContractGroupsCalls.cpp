//===- ContractGroupsCalls.cpp - Products of groups by a library ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dist.contract_groups %x, %w, %sizes contracting [1] x [1] rows 0 groups 0
//   a: x   b: w   sizes   c: the result   indices: m (the rows), n, k
//   8 matrices, one every k * n elements of b
//
// Tested by test/Dialect/Dist/Models/ContractGroupsCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LibraryTypes.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include "llmc/Support/GroupedDims.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

/// Batch, m and n in the order of the result's dims, then k; of them the rows.
static void addIndices(ContractGroupsOp op,
                       rt::GroupedContractionShape &shape) {
  using Kind = rt::ContractionIndexKind;
  GroupedDims dims = getGroupedDims(op);
  RankedTensorType left = op.getLhs().getType(), right = op.getRhs().getType();
  SmallVector<int64_t> a = getStrides(left), b = getStrides(right),
                       c = getStrides(op.getResult().getType());
  std::vector<rt::ContractionIndex> &indices = shape.product.indices;
  size_t at = 0;
  auto add = [&](int64_t l, const rt::ContractionIndex &index) {
    if (l == dims.rows)
      shape.rows = static_cast<int32_t>(indices.size());
    indices.push_back(index);
  };
  for (auto [l, r] : llvm::zip(dims.lhsBatch, dims.rhsBatch))
    add(l, {Kind::batch, left.getDimSize(l), a[l], b[r], c[at++]});
  if (dims.contractsRows())
    ++at;
  for (int64_t d : dims.getLhsFree(left.getRank()))
    add(d, {Kind::m, left.getDimSize(d), a[d], 0, c[at++]});
  for (int64_t d : dims.getRhsFree(right.getRank()))
    add(-1, {Kind::n, right.getDimSize(d), 0, b[d], c[at++]});
  for (auto [l, r] : llvm::zip(dims.lhsContracting, dims.rhsContracting))
    add(l, {Kind::k, left.getDimSize(l), a[l], b[r], 0});
}

static void addGroups(ContractGroupsOp op, rt::GroupedContractionShape &shape) {
  GroupedDims dims = getGroupedDims(op);
  RankedTensorType matrices =
      dims.groups ? op.getRhs().getType() : op.getResult().getType();
  int64_t dim = dims.groups.value_or(dims.lhsBatch.size());
  shape.groups = matrices.getDimSize(dim);
  shape.stride = getStrides(matrices)[dim];
  shape.numSizes = op.getSizes().getType().getShape().back();
  shape.hasOwnSizes = op.getSizes().getType().getRank() > 1;
  shape.hasFirst = static_cast<bool>(op.getFirst());
}

namespace {
struct ContractGroupsModel
    : graph::LibraryCallOpInterface::ExternalModel<ContractGroupsModel,
                                                   ContractGroupsOp> {
  FailureOr<rt::LibraryDescriptor> getDescriptor(Operation *of) const {
    auto op = cast<ContractGroupsOp>(of);
    FailureOr<SumTypes> types =
        getSumTypes(op, op.getLhs().getType(), op.getResult().getType());
    std::optional<rt::DType> sizes =
        getRuntimeDType(op.getSizes().getType().getElementType());
    if (failed(types) || !sizes)
      return failure();
    rt::GroupedContractionShape shape;
    shape.product.a = shape.product.b = types->side;
    shape.product.c = types->result;
    shape.product.accumulate = types->accumulate;
    shape.product.beta = op.getAccumulator() ? 1 : 0;
    shape.sizes = *sizes;
    addIndices(op, shape);
    addGroups(op, shape);
    return rt::LibraryDescriptor(std::move(shape));
  }
  SmallVector<Value> getBuffers(Operation *of) const {
    auto op = cast<ContractGroupsOp>(of);
    SmallVector<Value> buffers = {op.getLhs(), op.getRhs(), op.getSizes()};
    if (Value first = op.getFirst())
      buffers.push_back(first);
    buffers.push_back(op.getResult());
    return buffers;
  }
  SmallVector<std::pair<int64_t, int64_t>> getTiedPairs(Operation *of) const {
    if (cast<ContractGroupsOp>(of).getAccumulator())
      return {{0, of->getNumOperands() - 1}};
    return {};
  }
  /// The order of several free dims is the result's: they stay where they are.
  bool readPermuted(Operation *of, unsigned operand,
                    ArrayRef<int64_t> permutation) const {
    auto op = cast<ContractGroupsOp>(of);
    GroupedDims dims = getGroupedDims(op);
    int64_t rank = permutation.size();
    auto permute = [&](SmallVector<int64_t> &list) {
      for (int64_t &dim : list)
        dim = permutation[dim];
    };
    if (operand == 0 && dims.getLhsFree(rank).size() <= 1) {
      permute(dims.lhsBatch);
      permute(dims.lhsContracting);
      op.setLhsBatch(dims.lhsBatch);
      op.setLhsContracting(dims.lhsContracting);
      op.setRows(permutation[dims.rows]);
      return true;
    }
    if (operand != 1 || dims.getRhsFree(rank).size() > 1)
      return false;
    permute(dims.rhsBatch);
    permute(dims.rhsContracting);
    op.setRhsBatch(dims.rhsBatch);
    op.setRhsContracting(dims.rhsContracting);
    if (dims.groups)
      op.setGroups(permutation[*dims.groups]);
    return true;
  }
  bool addTo(Operation *of, Value accumulator) const {
    auto op = cast<ContractGroupsOp>(of);
    if (op.getAccumulator() ||
        accumulator.getType() != op.getResult().getType())
      return false;
    op.getAccumulatorMutable().assign(accumulator);
    return true;
  }
};
} // namespace

void dist::registerContractGroupsCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    ContractGroupsOp::attachInterface<ContractGroupsModel>(*context);
  });
}
