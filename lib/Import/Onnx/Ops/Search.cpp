//===- Search.cpp - Where the greatest elements stand ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// i64: the first or last position along `axis` at which the extreme stands; a
/// NaN is one.
static Value buildPosition(NodeImport &node, Value x, int64_t axis, bool isMax,
                           bool isLast) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  auto type = cast<RankedTensorType>(x.getType());
  Value best = hlo::reduce(
      b, loc, isMax ? ReductionKind::max : ReductionKind::min, x, {axis});
  Value spread = hlo::broadcastAlong(b, loc, best, type, {axis});
  Value is = hlo::compare(b, loc, hlo::ComparisonDirection::EQ, x, spread);
  if (isa<FloatType>(type.getElementType())) {
    Value isNaN = hlo::compare(b, loc, hlo::ComparisonDirection::NE, x, x);
    is = hlo::OrOp::create(b, loc, is.getType(), is, isNaN);
  }
  Value place = hlo::iota(b, loc, type.clone(b.getI64Type()), axis);
  double outside = isLast ? -1 : double(type.getDimSize(axis));
  Value candidates = hlo::select(b, loc, is, place, node.like(place, outside));
  return hlo::reduce(b, loc, isLast ? ReductionKind::max : ReductionKind::min,
                     candidates, {axis});
}

static rt::Status importPosition(NodeImport &node, bool isMax) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  Value position = buildPosition(node, node.input(0), axis, isMax,
                                 node.getInt("select_last_index", 0));
  if (node.getInt("keepdims", 1)) {
    SmallVector<int64_t> kept(node.shape(0));
    kept[axis] = 1;
    position = hlo::reshape(node.b, node.loc, position, kept);
  }
  return node.finish({position});
}

static rt::Status importArgMax(NodeImport &node) {
  return importPosition(node, true);
}
static rt::Status importArgMin(NodeImport &node) {
  return importPosition(node, false);
}

/// 1 where the first maximum stands, else 0; before version 13 the dimensions
/// from the axis on are one.
static rt::Status importHardmax(NodeImport &node) {
  bool isOld = node.version < 13;
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", isOld ? 1 : -1), node.rank(0)));
  Value x = node.input(0);
  if (isOld) {
    int64_t inner = 1;
    for (int64_t size : node.shape(0).drop_front(axis))
      inner *= size;
    SmallVector<int64_t> flat(node.shape(0).take_front(axis));
    flat.push_back(inner);
    x = hlo::reshape(node.b, node.loc, x, flat);
  }
  auto type = cast<RankedTensorType>(x.getType());
  auto places = cast<RankedTensorType>(type.clone(node.b.getI64Type()));
  Value position = hlo::broadcastAlong(
      node.b, node.loc, buildPosition(node, x, axis, true, false), places,
      {axis});
  Value is = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ,
                          hlo::iota(node.b, node.loc, places, axis), position);
  Value result = node.convert(is, type.getElementType());
  return node.finish({hlo::reshape(node.b, node.loc, result, node.shape(0))});
}

static rt::Status importTopK(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", -1), node.rank(0)));
  int64_t count = node.getInt("k", 0);
  if (node.version >= 10 && !node.has(1))
    return node.refuse("expected a number of elements, got none");
  if (node.version >= 10) {
    LLMC_TRY_ASSIGN(count, node.integer(1, "K"));
  }
  if (count < 0 || count > node.shape(0)[axis])
    return node.refuse(
        "expected at most the " + std::to_string(node.shape(0)[axis]) +
        " elements that there are, got " + std::to_string(count));
  // NaN stands as the greatest, as in PyTorch.
  bool isLargest = node.getInt("largest", 1) != 0;
  Value x = node.input(0);
  Value key = hlo::buildNumberKey(node.b, node.loc, x);
  Value order =
      nn::ArgsortOp::create(node.b, node.loc, ValueRange(key), axis, count,
                            /*descending=*/{isLargest});
  Value values = hlo::gatherAlong(node.b, node.loc, x, order, axis);
  return node.finish({values, node.convert(order, node.b.getI64Type())});
}

void onnx::addSearchOps(OpTable &table) {
  table["ArgMax"] = {importArgMax, 1, 1, kNewestKnown};
  table["ArgMin"] = {importArgMin, 1, 1, kNewestKnown};
  table["Hardmax"] = {importHardmax, 1, 1, kNewestKnown};
  table["TopK"] = {importTopK, 1, 2, kNewestKnown};
}
