//===- AttendGradient.cpp - Gradients of an attention, by blocks ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks that own rows make dq, blocks that own columns dk and dv, each in the
// order of its tiles, so that nothing is added to memory that another block
// has. Both make the weights again, from the logsumexp of each row:
//
//   weights = exp(scores - logsumexp)
//   ds      = weights * (cotangent * v^T - delta)
//   dq      = scale * ds * k
//   dv      = weights^T * cotangent     dk = scale * ds^T * q
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "../WriterFaults.h"
#include "AttendCode.h"
#include <cmath>

using namespace mlir;

namespace llmc::kernels {

namespace {

using rt::AttentionIndex;

/// Of the lines of a thread that are rows.
struct RowSums {
  Values logsumexp, delta;
};

/// What both launches have in common.
class GradientWriter {
public:
  GradientWriter(GridCode &code, const Attention &attention,
                 const AttendTile &tile, ArrayRef<StringRef> arguments,
                 bool ownsRows)
      : with(code, attention, tile, arguments, ownsRows), code(code),
        attention(attention), tile(tile) {}

  void writeRows();
  void writeColumns();

private:
  RowSums loadRows(const AttendPart &part, const AttendPlace &place,
                   Value first);
  /// Stages the weights of a tile; of those that are dropped what is below
  /// zero.
  void stageWeights(const AttendPlace &place, Value first, const RowSums &rows);
  /// Stages ds in place of the weights.
  void stageTerms(const AttendPlace &place, Value first, const RowSums &rows);
  Values addColumns(ValueRange carried, Value first, Value group);
  Value findPoison();
  void store(ArrayRef<Value> sums, StringRef name, AttendStride stride,
             int64_t columns, ArrayRef<Value> poison);
  /// Whether rows count what they do not see, and tiles that no row sees are
  /// left out.
  bool isPoisoned() const {
    return attention.shape.isCausal && !attention.shape.isSafe;
  }

  AttendCode with;
  GridCode &code;
  const Attention &attention;
  const AttendTile &tile;
  AttendPlace place; ///< Of the block, without groups where it owns columns.
};

} // namespace

RowSums GradientWriter::loadRows(const AttendPart &part, const AttendPlace &at,
                                 Value first) {
  RowSums rows;
  for (int64_t i = 0; i < part.count; ++i) {
    auto [logsumexp, delta] = with.loadRow(at, part.at(code, first, i));
    rows.logsumexp.push_back(logsumexp);
    rows.delta.push_back(delta);
  }
  return rows;
}

void GradientWriter::stageWeights(const AttendPlace &at, Value first,
                                  const RowSums &rows) {
  bool isRowOwn = with.isRowOwn;
  AttendMatrix q = with.lines("q", &AttentionIndex::strideQ, at, isRowOwn,
                              first),
               k = with.lines("k", &AttentionIndex::strideK, at, !isRowOwn,
                              first);
  Values weights =
      with.multiply(isRowOwn ? q : k, isRowOwn ? k : q, attention.depth.size,
                    Values(tile.own * tile.other, with.zero()));
  with.finishScores(weights, at, first);
  Values kept = with.drawKept(at, first);
  for (auto [number, weight] : llvm::enumerate(weights)) {
    int64_t row = isRowOwn ? number / tile.other : number % tile.other;
    weight = with.exp(with.subF(weight, rows.logsumexp[row]));
    if (!kept.empty())
      weight = code.select(kept[number], weight, with.negateF(weight));
  }
  with.stage(weights);
}

/// The weights wait in shared memory, where nobody else writes, so that they
/// take no registers beside the sums of this product.
void GradientWriter::stageTerms(const AttendPlace &at, Value first,
                                const RowSums &rows) {
  bool isRowOwn = with.isRowOwn, isDropped = attention.shape.hasDropout();
  AttendMatrix v = with.lines("v", &AttentionIndex::strideV, at, !isRowOwn,
                              first),
               g = with.lines("cotangent", &AttentionIndex::strideOut, at,
                              isRowOwn, first);
  Values terms =
      with.multiply(isRowOwn ? g : v, isRowOwn ? v : g, attention.value.size,
                    Values(tile.own * tile.other, with.zero()));
  Values weights = with.loadStaged();
  Value factor = with.number(attention.shape.dropout.factor);
  for (auto [number, weight, term] : llvm::enumerate(weights, terms)) {
    int64_t row = isRowOwn ? number / tile.other : number % tile.other;
    if (isDropped) {
      Value isNegative = with.greaterF(with.zero(), weight, /*orNone=*/false);
      term = code.select(isNegative, with.zero(), with.mulF(term, factor));
      weight = code.select(isNegative, with.negateF(weight), weight);
    }
    if (!isSeeded(WriterFault::deltaIsForgotten))
      term = with.subF(term, rows.delta[row]);
    term = with.mulF(weight, term);
  }
  with.stage(terms);
}

void GradientWriter::store(ArrayRef<Value> sums, StringRef name,
                           AttendStride stride, int64_t columns,
                           ArrayRef<Value> poison) {
  const AttentionIndex &line = with.isRowOwn ? attention.row : attention.column,
                       &column =
                           name == "dv" ? attention.value : attention.depth;
  AttendPart own = with.ownPart(), part = with.columnPart(columns);
  const rt::AttentionShape &shape = attention.shape;
  bool isScaled = name != "dv" || shape.hasDropout();
  Value scale = with.number(name != "dv" ? shape.scale : shape.dropout.factor);
  Value base = with.baseOf(stride, place);
  for (int64_t i = 0; i < tile.own; ++i) {
    Value at = own.at(code, with.firstOwn, i);
    code.ifTrue(code.isLess(at, code.constant(line.size)), [&] {
      Value lineBase = code.add(base, code.mul(at, line.*stride));
      for (int64_t j = 0; j < columns; ++j) {
        Value sum = sums[i * columns + j];
        if (isScaled)
          sum = with.mulF(sum, scale);
        if (!poison.empty())
          sum = with.addF(sum, poison[i % poison.size()]);
        with.storeColumn(sum, name, lineBase,
                         part.at(code, code.mul(with.part, part.size()), j),
                         column, stride);
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// dq
//===----------------------------------------------------------------------===//

void GradientWriter::writeRows() {
  Value number = with.placeBlock(/*isReversed=*/attention.shape.isCausal);
  place = with.place(attention.group, number);
  llvm::append_range(place, with.place(attention.batch, number));
  RowSums rows = loadRows(with.ownPart(), place, with.firstOwn);
  with.keepLines("q", &AttentionIndex::strideQ, place);
  with.keepLines("cotangent", &AttentionIndex::strideOut, place);
  Value lastRow = code.add(with.firstOwn, code.constant(tile.blockOwn() - 1));
  Values none(tile.own * tile.depth, with.zero());
  Values sums = code.loopThatStays(
      code.constant(0), with.seenBy(lastRow), tile.blockOther(), none,
      [&](Value first, ValueRange carried) -> Values {
        stageWeights(place, first, rows);
        stageTerms(place, first, rows);
        return with.multiplyStaged(
            with.columns("k", &AttentionIndex::strideK, place, tile.depth),
            first, Values(carried));
      });
  Values poison;
  if (isPoisoned())
    for (Value logsumexp : rows.logsumexp)
      poison.push_back(with.poisonOf(logsumexp));
  store(sums, "dq", &AttentionIndex::strideDq, tile.depth, poison);
}

//===----------------------------------------------------------------------===//
// dk and dv
//===----------------------------------------------------------------------===//

Values GradientWriter::addColumns(ValueRange carried, Value first,
                                  Value group) {
  AttendPlace at = with.place(attention.group, group);
  llvm::append_range(at, place);
  RowSums rows = loadRows(with.otherPart(), at, first);
  stageWeights(at, first, rows);
  size_t numKeys = tile.own * tile.depth;
  Values values = with.multiplyStaged(
      with.columns("cotangent", &AttentionIndex::strideOut, at, tile.value),
      first, Values(carried.drop_front(numKeys)),
      /*skipsNegative=*/attention.shape.hasDropout());
  stageTerms(at, first, rows);
  Values keys = with.multiplyStaged(
      with.columns("q", &AttentionIndex::strideQ, at, tile.depth), first,
      Values(carried.take_front(numKeys)));
  llvm::append_range(keys, values);
  return keys;
}

/// Not a number where any row of the block's batch is to count columns that it
/// does not see.
Value GradientWriter::findPoison() {
  int64_t groups = 1;
  for (const AttentionIndex &index : attention.group)
    groups *= index.size;
  int64_t rows = attention.row.size;
  Values found =
      code.loop(code.getThread(), code.constant(groups * rows), tile.threads(),
                with.zero(), [&](Value number, ValueRange carried) -> Values {
                  Value group = code.div(number, rows);
                  AttendPlace at = with.place(attention.group, group);
                  llvm::append_range(at, place);
                  Value row = code.rem(number, rows);
                  return {with.addF(
                      carried[0], with.poisonOf(with.loadRow(at, row).first))};
                });
  return with.addOverBlock(found[0]);
}

void GradientWriter::writeColumns() {
  Value number = with.placeBlock(/*isReversed=*/false);
  place = with.place(attention.batch, number);
  int64_t groups = 1;
  for (const AttentionIndex &index : attention.group)
    groups *= index.size;
  Values poison;
  if (isPoisoned())
    poison.push_back(findPoison());
  with.keepLines("k", &AttentionIndex::strideK, place);
  with.keepLines("v", &AttentionIndex::strideV, place);
  size_t numKeys = tile.own * tile.depth;
  Values none(tile.own * (tile.depth + tile.value), with.zero());
  // Of whole tiles.
  Value begin =
      code.mul(code.div(with.firstThatSees(with.firstOwn), tile.blockOther()),
               tile.blockOther());
  Values sums = code.loopThatStays(
      code.constant(0), code.constant(groups), 1, none,
      [&](Value group, ValueRange ofGroups) {
        return code.loopThatStays(begin, code.constant(attention.row.size),
                                  tile.blockOther(), ofGroups,
                                  [&](Value first, ValueRange carried) {
                                    return addColumns(carried, first, group);
                                  });
      });
  store(ArrayRef(sums).take_front(numKeys), "dk", &AttentionIndex::strideDk,
        tile.depth, poison);
  store(ArrayRef(sums).drop_front(numKeys), "dv", &AttentionIndex::strideDv,
        tile.value, poison);
}

void writeAttendRows(GridCode &code, const Attention &attention,
                     const AttendTile &tile, ArrayRef<StringRef> arguments) {
  GradientWriter(code, attention, tile, arguments, /*ownsRows=*/true)
      .writeRows();
}

void writeAttendColumns(GridCode &code, const Attention &attention,
                        const AttendTile &tile, ArrayRef<StringRef> arguments) {
  GradientWriter(code, attention, tile, arguments, /*ownsRows=*/false)
      .writeColumns();
}

} // namespace llmc::kernels
