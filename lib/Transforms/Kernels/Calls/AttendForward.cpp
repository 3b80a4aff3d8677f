//===- AttendForward.cpp - Rows of an attention, by a block ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a row have its greatest score, and each the sum of its own
// exponentials and its own columns of the result, all of them by the greatest
// score until now:
//
//   for each tile of columns that a row of the block sees:
//     scores = q * k^T            greatest, factor = max(greatest, scores)
//     sum    = factor * sum + exp(scores - greatest)
//     out    = factor * out + exp(scores - greatest) * v
//   logsumexp = greatest + log(sum)
//   out       = out / sum
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

class ForwardWriter {
public:
  ForwardWriter(GridCode &code, const Attention &attention,
                const AttendTile &tile, ArrayRef<StringRef> arguments)
      : with(code, attention, tile, arguments, /*ownsRows=*/true), code(code),
        attention(attention), tile(tile) {}

  void write();

private:
  /// What is carried from tile to tile: the result's sums, and of each row the
  /// greatest score and the sum.
  struct State {
    Values out, greatest, sum;
  };
  State unpack(ValueRange carried) const;
  static Values pack(const State &state);
  void addTile(State &state, Value first);
  Value weigh(State &state, Values &scores, ArrayRef<Value> kept, int64_t i);
  void store(const State &state);
  Value overRow(Value value, function_ref<Value(Value, Value)> combine);

  AttendCode with;
  GridCode &code;
  const Attention &attention;
  const AttendTile &tile;
  AttendPlace place;
};

} // namespace

ForwardWriter::State ForwardWriter::unpack(ValueRange carried) const {
  size_t rows = tile.own, sums = rows * tile.value;
  return {Values(carried.take_front(sums)), Values(carried.slice(sums, rows)),
          Values(carried.slice(sums + rows, rows))};
}

Values ForwardWriter::pack(const State &state) {
  Values carried = state.out;
  llvm::append_range(carried, state.greatest);
  llvm::append_range(carried, state.sum);
  return carried;
}

/// Of the threads that have a row, which are neighbours.
Value ForwardWriter::overRow(Value value,
                             function_ref<Value(Value, Value)> combine) {
  for (int64_t distance = 1; distance < tile.threadsN; distance *= 2)
    value = combine(value, code.shuffle(value, distance));
  return value;
}

/// Makes exponentials of row i's scores; returns what earlier ones are
/// multiplied by.
Value ForwardWriter::weigh(State &state, Values &scores, ArrayRef<Value> kept,
                           int64_t i) {
  auto greater = [&](Value a, Value b) -> Value {
    return code.select(with.greaterF(b, a, /*orNone=*/false), b, a);
  };
  Value none = with.number(-INFINITY), greatest = none;
  MutableArrayRef<Value> row =
      MutableArrayRef(scores).slice(i * tile.other, tile.other);
  for (Value score : row)
    greatest = greater(greatest, score);
  greatest = greater(state.greatest[i], overRow(greatest, greater));
  // A row that has seen nothing has no greatest score to subtract.
  Value base = code.select(with.greaterF(greatest, none, /*orNone=*/false),
                           greatest, with.zero());
  Value factor = with.exp(with.subF(state.greatest[i], base));
  state.greatest[i] = greatest;
  Value sum = with.mulF(state.sum[i], factor);
  for (auto [j, score] : llvm::enumerate(row)) {
    Value weight = with.exp(with.subF(score, base));
    sum = with.addF(sum, weight);
    score = with.keep(weight, kept, i * tile.other + j);
  }
  state.sum[i] = sum;
  return factor;
}

void ForwardWriter::addTile(State &state, Value first) {
  Values scores(tile.own * tile.other, with.zero());
  scores = with.multiply(
      with.lines("q", &AttentionIndex::strideQ, place, true, first),
      with.lines("k", &AttentionIndex::strideK, place, false, first),
      attention.depth.size, scores);
  with.finishScores(scores, place, first);
  Values kept = with.drawKept(place, first);
  for (int64_t i = 0; i < tile.own; ++i) {
    Value factor = weigh(state, scores, kept, i);
    if (isSeeded(WriterFault::sumsKeepTheirScale))
      continue;
    for (int64_t j = 0; j < tile.value; ++j) {
      Value &out = state.out[i * tile.value + j];
      out = with.mulF(out, factor);
    }
  }
  with.stage(scores);
  state.out = with.multiplyStaged(
      with.columns("v", &AttentionIndex::strideV, place, tile.value), first,
      state.out);
}

void ForwardWriter::store(const State &state) {
  AttendPart own = with.ownPart(), columns = with.columnPart(tile.value);
  auto add = [&](Value a, Value b) { return with.addF(a, b); };
  Value isFirst = code.both(code.isEqual(columns.thread, code.constant(0)),
                            code.isEqual(with.part, code.constant(0)));
  Value outBase = with.baseOf(&AttentionIndex::strideOut, place),
        rowsBase = with.baseOf(&AttentionIndex::strideRows, place);
  for (int64_t i = 0; i < tile.own; ++i) {
    Value sum = overRow(state.sum[i], add);
    Value logsumexp = with.addF(state.greatest[i], with.log(sum));
    Value inverse = with.divF(with.number(1), sum);
    Value row = own.at(code, with.firstOwn, i);
    Value isRow = code.isLess(row, code.constant(attention.row.size));
    code.ifTrue(code.both(isFirst, isRow), [&] {
      code.store(logsumexp, with.memory("logsumexp"),
                 code.add(rowsBase, code.mul(row, attention.row.strideRows)));
    });
    code.ifTrue(isRow, [&] {
      Value base = code.add(outBase, code.mul(row, attention.row.strideOut));
      for (int64_t j = 0; j < tile.value; ++j) {
        Value out = with.mulF(state.out[i * tile.value + j], inverse);
        if (attention.shape.isSafe)
          out = code.select(with.greaterF(logsumexp, with.number(-INFINITY),
                                          /*orNone=*/true),
                            out, with.zero());
        Value column = columns.at(code, code.mul(with.part, columns.size()), j);
        with.storeColumn(out, "out", base, column, attention.value,
                         &AttentionIndex::strideOut);
      }
    });
  }
}

void ForwardWriter::write() {
  Value number = with.placeBlock(/*isReversed=*/attention.shape.isCausal);
  place = with.place(attention.batch, number);
  with.keepLines("q", &AttentionIndex::strideQ, place);
  Value lastRow = code.add(with.firstOwn, code.constant(tile.blockOwn() - 1));
  Values none(tile.own * tile.value, with.zero());
  State state{none, Values(tile.own, with.number(-INFINITY)),
              Values(tile.own, with.zero())};
  Values made = code.loopThatStays(
      code.constant(0), with.seenBy(lastRow), tile.blockOther(), pack(state),
      [&](Value first, ValueRange carried) -> Values {
        State now = unpack(carried);
        addTile(now, first);
        return pack(now);
      });
  store(unpack(made));
}

void writeAttend(GridCode &code, const Attention &attention,
                 const AttendTile &tile, ArrayRef<StringRef> arguments) {
  ForwardWriter(code, attention, tile, arguments).write();
}

} // namespace llmc::kernels
