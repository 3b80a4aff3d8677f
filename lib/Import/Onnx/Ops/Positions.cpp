//===- Positions.cpp - Each sample at places of its own -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Along the sequence each sample has its own length, or its own place where
// something is written.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// One i64 for each sample, in the shape of `x`.
static rt::Result<Value> spreadSamples(NodeImport &node, Value samples, Value x,
                                       int64_t batch) {
  if (rankOf(samples) != 1 || shapeOf(samples)[0] != shapeOf(x)[batch])
    return node.refuse("expected a number for each of " +
                       std::to_string(shapeOf(x)[batch]) + " samples, got " +
                       show(samples.getType()));
  auto type = RankedTensorType::get(shapeOf(x), node.b.getI64Type());
  return hlo::broadcastInDim(node.b, node.loc,
                             node.convert(samples, node.b.getI64Type()), type,
                             {batch});
}

/// The first elements of each sample in reverse, as many as it is long.
static rt::Status importReverseSequence(NodeImport &node) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  int64_t time = node.getInt("time_axis", 0);
  int64_t batch = node.getInt("batch_axis", 1);
  if (node.rank(0) < 2 || time + batch != 1 || (time != 0 && time != 1))
    return node.refuse(
        "expected axes 0 and 1 of at least two dimensions, got " +
        std::to_string(time) + " and " + std::to_string(batch) + " of " +
        show(Type(node.type(0))));
  Value x = node.input(0);
  LLMC_TRY_ASSIGN(Value length, spreadSamples(node, node.input(1), x, batch));
  Value place =
      hlo::iota(b, loc, cast<RankedTensorType>(length.getType()), time);
  Value last = hlo::sub(b, loc, length, node.like(length, 1));
  Value isWithin =
      hlo::compare(b, loc, hlo::ComparisonDirection::LT, place, length);
  Value from =
      hlo::select(b, loc, isWithin, hlo::sub(b, loc, last, place), place);
  return node.finish({hlo::gatherAlong(b, loc, x, from, time)});
}

/// An update in place of a part of a cache that begins elsewhere for each
/// sample: each place of the cache reads the update where it lies within it.
static rt::Status importTensorScatter(NodeImport &node) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", -2), node.rank(0)));
  SmallVector<int64_t> expected(node.shape(0));
  if (node.rank(1) == node.rank(0))
    expected[axis] = node.shape(1)[axis];
  StringRef mode = node.getText("mode", "linear");
  if (axis == 0 || ArrayRef<int64_t>(expected) != node.shape(1) ||
      node.shape(1)[axis] > node.shape(0)[axis])
    return node.refuse("expected an update that fits " +
                       show(Type(node.type(0))) + " along axis " +
                       std::to_string(axis) + ", got " +
                       show(Type(node.type(1))));
  if (mode != "linear" && mode != "circular")
    return node.refuse("expected mode linear or circular, got '" + mode.str() +
                       "'");
  Value cache = node.input(0);
  auto type = RankedTensorType::get(node.shape(0), b.getI64Type());
  Value place = hlo::iota(b, loc, type, axis);
  if (node.has(2)) {
    LLMC_TRY_ASSIGN(Value begin, spreadSamples(node, node.input(2), cache, 0));
    place = hlo::sub(b, loc, place, begin);
  }
  if (mode == "circular") {
    Value size = node.like(place, double(node.shape(0)[axis]));
    Value rest = hlo::RemOp::create(b, loc, type, place, size);
    Value isNegative = hlo::compare(b, loc, hlo::ComparisonDirection::LT, rest,
                                    node.like(rest, 0));
    place = hlo::select(b, loc, isNegative, hlo::add(b, loc, rest, size), rest);
  }
  double count = double(node.shape(1)[axis]);
  if (count == 0)
    return node.finish({cache});
  Value isWithin =
      hlo::logicalAnd(b, loc,
                      hlo::compare(b, loc, hlo::ComparisonDirection::GE, place,
                                   node.like(place, 0)),
                      hlo::compare(b, loc, hlo::ComparisonDirection::LT, place,
                                   node.like(place, count)));
  Value from = hlo::select(b, loc, isWithin, place, node.like(place, 0));
  Value moved = hlo::gatherAlong(b, loc, node.input(1), from, axis);
  return node.finish({hlo::select(b, loc, isWithin, moved, cache)});
}

void onnx::addPositionOps(OpTable &table) {
  table["ReverseSequence"] = {importReverseSequence, 2, 2, kNewestKnown};
  table["TensorScatter"] = {importTensorScatter, 2, 3, kNewestKnown};
}
