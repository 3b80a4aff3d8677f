//===- ProductGroups.cpp - The rows that a block finds its tile in --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of groups are known when a kernel runs, so each thread walks along
// their list and finds the rows of its block: of the tiles of free rows, number
// `tile` counts those of each group and then those of rows without one.
//
//   sizes 70, 0, 30 of 128 rows, tiles of 64
//   tile 0, 1: rows 0..63, 64..69 of group 0   tile 2: rows 70..99 of group 2
//   tile 3: rows 100..127, which are zero      tile 4, 5: none
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "ProductGroups.h"
#include "../WriterFaults.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// The walk along the sizes of one batch.
class GroupWalk {
public:
  GroupWalk(GridCode &code, const ProductGroups &groups, Value batch)
      : code(code), groups(groups), batch(batch),
        wide(code.getBuilder().getI64Type()) {}

  /// A size or first, with its sign, as 64 bits.
  Value load(unsigned memory, Value at);
  Value first() {
    return groups.hasFirst ? load(3, batch) : makeWide(code.constant(0));
  }
  Value makeWide(Value word) { return code.toWidth(word, wide); }
  Value makeWide(int64_t value) {
    return arith::ConstantOp::create(
        code.getBuilder(), code.getLoc(),
        code.getBuilder().getI64IntegerAttr(value));
  }

  /// `found` becomes what `step` makes of it for each group, given the first
  /// row of the group, behind its last row and its number. The last of what is
  /// returned are the first row of no group, and whether sizes do not fit.
  Values walk(ValueRange found,
              function_ref<Values(Value, Value, Value, ValueRange)> step);

private:
  GridCode &code;
  const ProductGroups &groups;
  Value batch;
  Type wide;
};

} // namespace

Value GroupWalk::load(unsigned memory, Value at) {
  Value loaded = code.load(code.getMemory(memory), at);
  if (loaded.getType() == wide)
    return loaded;
  OpBuilder &builder = code.getBuilder();
  return rt::isSignedInteger(groups.sizes)
             ? Value(
                   arith::ExtSIOp::create(builder, code.getLoc(), wide, loaded))
             : code.toWidth(loaded, wide);
}

Values
GroupWalk::walk(ValueRange found,
                function_ref<Values(Value, Value, Value, ValueRange)> step) {
  Value none = code.constant(0);
  Value line = groups.hasOwnSizes ? code.mul(batch, groups.numSizes) : none;
  Value rows = code.constant(groups.rows);
  Values carried(found);
  carried.push_back(none);
  carried.push_back(code.isLess(none, none));
  return code.loop(
      none, code.constant(groups.numSizes), 1, carried,
      [&](Value group, ValueRange now) -> Values {
        Value begin = now[now.size() - 2];
        Value size = load(2, code.add(line, group));
        // Also of a size below zero, which is large without its sign.
        Value isWrong = code.isLess(makeWide(code.sub(rows, begin)), size);
        Value length =
            code.select(isWrong, none, code.toWidth(size, code.getWordType()));
        Value end = code.add(begin, length);
        Values next = step(begin, end, group, now.drop_back(2));
        next.push_back(isSeeded(WriterFault::groupsBeginTogether) ? begin
                                                                  : end);
        next.push_back(code.either(now.back(), isWrong));
        return next;
      });
}

GroupTile findFreeTile(GridCode &code, const ProductGroups &groups, Value batch,
                       Value tile, int64_t rowsOfOne, int64_t tileRows) {
  GroupWalk list(code, groups, batch);
  Value none = code.constant(0), noGroup = code.constant(groups.numSizes);
  // The group, its first row and end, its first tile; tiles of all so far.
  Values start = {noGroup, none, none, none, none};
  Values found = list.walk(
      start,
      [&](Value begin, Value end, Value group, ValueRange now) -> Values {
        Value lines = code.mul(code.sub(end, begin), rowsOfOne);
        Value tiles =
            code.div(code.add(lines, code.constant(tileRows - 1)), tileRows);
        Value before = now[4];
        Value isHere = code.isLess(code.sub(tile, before), tiles);
        return {code.select(isHere, group, now[0]),
                code.select(isHere, begin, now[1]),
                code.select(isHere, end, now[2]),
                code.select(isHere, before, now[3]), code.add(before, tiles)};
      });
  Value isRest = code.isEqual(found[0], noGroup);
  Value begin = code.select(isRest, found[5], found[1]);
  Value end = code.select(isRest, code.constant(groups.rows), found[2]);
  Value before = code.select(isRest, found[4], found[3]);
  GroupTile result;
  result.begin = code.add(code.mul(begin, rowsOfOne),
                          code.mul(code.sub(tile, before), tileRows));
  result.end = code.mul(end, rowsOfOne);
  OpBuilder &builder = code.getBuilder();
  Value matrix = arith::SubIOp::create(builder, code.getLoc(),
                                       list.makeWide(found[0]), list.first());
  Value isMatrix = code.isLess(matrix, list.makeWide(groups.groups));
  Value isGroup = code.isLess(found[0], noGroup);
  result.hasMatrix = code.both(isGroup, isMatrix);
  result.matrix = code.select(result.hasMatrix,
                              code.toWidth(matrix, code.getWordType()), none);
  result.isWrong = found.back();
  return result;
}

GroupTile findGroup(GridCode &code, const ProductGroups &groups, Value batch,
                    Value matrix, int64_t rowsOfOne) {
  GroupWalk list(code, groups, batch);
  Value none = code.constant(0);
  Value wanted = arith::AddIOp::create(code.getBuilder(), code.getLoc(),
                                       list.makeWide(matrix), list.first());
  Values start = {none, none};
  Values found = list.walk(
      start,
      [&](Value begin, Value end, Value group, ValueRange now) -> Values {
        Value isHere = code.isEqual(list.makeWide(group), wanted);
        return {code.select(isHere, begin, now[0]),
                code.select(isHere, end, now[1])};
      });
  GroupTile result;
  result.begin = code.mul(found[0], rowsOfOne);
  result.end = code.mul(found[1], rowsOfOne);
  result.matrix = matrix;
  result.isWrong = found.back();
  return result;
}

} // namespace llmc::kernels
