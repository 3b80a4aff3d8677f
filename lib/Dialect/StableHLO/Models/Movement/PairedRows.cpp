//===- PairedRows.cpp - Positions that count along the indices ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `x[arange(8)[:, None], i]` reads of each row of `x` what the row of `i` of
// the same number says. In the text the row is a position that is looked up, as
// any other: whoever splits the rows does not see that they stay apart. So it
// becomes a batching dim of both tensors:
//
//   gather %x, concatenate(iota along rows, %i), start_index_map = [0, 1]
//     ->
//   gather %x, %i, operand_batching_dims = [0],
//                  start_indices_batching_dims = [0], start_index_map = [1]
//
// One position stays where all of them count.
//
// Test: test/Import/StableHLO/paired-rows.mlir
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Indexing.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// What counts
//===----------------------------------------------------------------------===//

/// The dim of the indices along which `piece` counts all of the operand's dim.
static std::optional<int64_t> findRows(const Addressing &address, Value piece,
                                       int64_t dim) {
  ArrayRef<int64_t> shape = getShape(piece);
  int64_t count = address.operand.getDimSize(dim);
  if (!llvm::is_contained(address.dropped, dim) || count == 1)
    return std::nullopt;
  for (int64_t rows = 0; rows < static_cast<int64_t>(shape.size()); ++rows)
    if (rows != address.vectorDim && shape[rows] == count &&
        !llvm::is_contained(address.indicesBatch, rows) &&
        countsAlong(piece, rows))
      return rows;
  return std::nullopt;
}

/// The operand's batching dims are listed in their order.
static void addBatch(Addressing &address, int64_t dim, int64_t rows) {
  llvm::erase(address.dropped, dim);
  auto place = llvm::lower_bound(address.operandBatch, dim);
  address.indicesBatch.insert(address.indicesBatch.begin() +
                                  (place - address.operandBatch.begin()),
                              rows);
  address.operandBatch.insert(place, dim);
}

/// The pieces of the indices that stay positions; those that count leave the
/// map and become batching dims.
static SmallVector<Value> pairRows(Addressing &address, ValueRange pieces) {
  SmallVector<Value> kept;
  SmallVector<int64_t> map = std::move(address.map);
  address.map.clear();
  for (auto [k, dim] : llvm::enumerate(map)) {
    bool isLast = k + 1 == map.size() && kept.empty();
    std::optional<int64_t> rows =
        isLast ? std::nullopt : findRows(address, pieces[k], dim);
    if (rows) {
      addBatch(address, dim, *rows);
      continue;
    }
    kept.push_back(pieces[k]);
    address.map.push_back(dim);
  }
  return kept;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static MutableOperandRange getIndices(GatherOp op) {
  return op.getStartIndicesMutable();
}
static MutableOperandRange getIndices(ScatterOp op) {
  return op.getScatterIndicesMutable();
}

static void setNumbers(GatherOp op, const Addressing &a) {
  op.setDimensionNumbersAttr(GatherDimensionNumbersAttr::get(
      op.getContext(), a.window, a.dropped, a.operandBatch, a.indicesBatch,
      a.map, a.vectorDim));
}
static void setNumbers(ScatterOp op, const Addressing &a) {
  op.setScatterDimensionNumbersAttr(ScatterDimensionNumbersAttr::get(
      op.getContext(), a.window, a.dropped, a.operandBatch, a.indicesBatch,
      a.map, a.vectorDim));
}

namespace {
template <typename OpT>
struct PairedRows
    : SimplificationOpInterface::ExternalModel<PairedRows<OpT>, OpT> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    Addressing address = Addressing::of(cast<OpT>(op));
    Value indices = getIndices(cast<OpT>(op))[0].get();
    auto join = indices.getDefiningOp<ConcatenateOp>();
    size_t count = address.map.size();
    if (!join || join.getInputs().size() != count ||
        static_cast<int64_t>(join.getDimension()) != address.vectorDim ||
        !llvm::is_sorted(address.operandBatch))
      return false;
    SmallVector<Value> kept = pairRows(address, join.getInputs());
    if (kept.size() == count)
      return false;
    Value rest = kept.size() == 1 ? kept.front()
                                  : concatenate(builder, op->getLoc(), kept,
                                                address.vectorDim);
    auto paired = cast<OpT>(builder.clone(*op));
    getIndices(paired).assign(rest);
    setNumbers(paired, address);
    // They were sorted by what is no position any more.
    paired.setIndicesAreSorted(false);
    llvm::append_range(results, paired->getResults());
    return true;
  }
};
} // namespace

void stablehlo::registerPairedRows(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    GatherOp::attachInterface<PairedRows<GatherOp>>(*context);
    ScatterOp::attachInterface<PairedRows<ScatterOp>>(*context);
  });
}
