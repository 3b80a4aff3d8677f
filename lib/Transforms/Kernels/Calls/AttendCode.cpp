//===- AttendCode.cpp - Scores of a tile, in code -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places, masks and arithmetic; products are in AttendProducts.cpp, random bits
// in AttendBits.cpp.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "AttendCode.h"
#include "../WriterFaults.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace llmc::kernels {

using rt::AttentionIndex;

static Type sumTypeOf(GridCode &code, rt::DType accumulate) {
  MLIRContext *context = code.getBuilder().getContext();
  return accumulate == rt::DType::f64 ? Type(Float64Type::get(context))
                                      : Type(Float32Type::get(context));
}

/// Elements of the chunks of both sides of a product; with tensor cores, of a
/// sum over the block.
static int64_t chunkSize(const AttendTile &tile) {
  if (tile.isMatrix)
    return 16;
  int64_t width = std::max(tile.depth, tile.value) * tile.threadsN;
  return AttendTile::chunk *
         std::max(tile.blockOwn() + tile.blockOther() + 8, width + 4);
}

AttendCode::AttendCode(GridCode &code, const Attention &attention,
                       const AttendTile &tile, ArrayRef<StringRef> arguments,
                       bool ownsRows)
    : code(code), attention(attention), tile(tile),
      sumType(sumTypeOf(code, attention.shape.accumulate)), isRowOwn(ownsRows),
      arguments(arguments), chunks(code.makeShared(sumType, chunkSize(tile))) {
  const rt::AttentionShape &shape = attention.shape;
  if (tile.isMatrix)
    makePairMemory();
  else
    staged = code.makeShared(sumType, tile.blockOwn() * tile.blockOther());
  if (shape.hasOffset)
    offset = toWide(code.load(memory("offset"), code.constant(0)));
  if (shape.hasDropout())
    loadState();
}

Value AttendCode::memory(StringRef name) const {
  return code.getMemory(llvm::find(arguments, name) - arguments.begin());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value AttendPart::begin(GridCode &code, int64_t number) const {
  return code.add(code.mul(thread, run()),
                  code.constant(number * (step ? step : threads * run())));
}

Value AttendPart::at(GridCode &code, Value first, int64_t i) const {
  return code.add(first,
                  code.add(begin(code, i / run()), code.constant(i % run())));
}

AttendPlace AttendCode::place(ArrayRef<AttentionIndex> indices, Value &number) {
  AttendPlace place;
  for (const AttentionIndex &index : llvm::reverse(indices)) {
    place.push_back({index, code.rem(number, index.size)});
    number = code.div(number, index.size);
  }
  return place;
}

Value AttendCode::baseOf(AttendStride stride, const AttendPlace &place) {
  Value base = code.constant(0);
  for (const auto &[index, position] : place)
    base = code.add(base, code.mul(position, index.*stride));
  return base;
}

AttendPart AttendCode::ownPart() const {
  Value line = code.div(code.getThread(), tile.threadsN);
  if (!tile.isMatrix)
    return {tile.own, tile.threadsM, line};
  Value warp = code.div(code.getThread(), 32);
  line = code.add(code.mul(warp, 16), code.rem(line, 8));
  return {tile.own, tile.threadsM, line, /*most=*/1, /*step=*/8};
}

AttendPart AttendCode::otherPart() const { return columnPart(tile.other); }

AttendPart AttendCode::columnPart(int64_t columns) const {
  return {columns, tile.threadsN, code.rem(code.getThread(), tile.threadsN),
          tile.isMatrix ? 2 : 4};
}

/// Rows that see most come first, where that is asked for, so that no block is
/// left alone at the end.
Value AttendCode::placeBlock(bool isReversed) {
  Value rest = code.getBlockRow();
  part = code.rem(rest, tile.parts);
  rest = code.div(rest, tile.parts);
  int64_t lines = isRowOwn ? attention.row.size : attention.column.size,
          tiles = llvm::divideCeil(lines, tile.blockOwn());
  Value own = code.rem(rest, tiles);
  if (isReversed)
    own = code.sub(code.constant(tiles - 1), own);
  firstOwn = code.mul(own, tile.blockOwn());
  return code.div(rest, tiles);
}

AttendMatrix AttendCode::lines(StringRef name, AttendStride stride,
                               const AttendPlace &place, bool isOwn,
                               Value first) {
  const AttentionIndex &line =
      isOwn == isRowOwn ? attention.row : attention.column;
  const AttentionIndex &term =
      name == "q" || name == "k" ? attention.depth : attention.value;
  return {memory(name),
          baseOf(stride, place),
          line.*stride,
          term.*stride,
          isOwn ? ownPart() : otherPart(),
          isOwn ? firstOwn : first,
          code.constant(line.size),
          code.constant(term.size),
          line.size % (isOwn ? tile.blockOwn() : tile.blockOther()) == 0,
          term.size % (tile.isMatrix ? 16 : AttendTile::chunkOf(term.size)) ==
              0,
          widthOf(stride),
          !isOwn                       ? Value()
          : name == "q" || name == "k" ? keptDepth
                                       : keptValue};
}

AttendMatrix AttendCode::columns(StringRef name, AttendStride stride,
                                 const AttendPlace &place, int64_t width) {
  const AttentionIndex &term = isRowOwn ? attention.column : attention.row;
  const AttentionIndex &line =
      name == "q" || name == "k" ? attention.depth : attention.value;
  AttendPart columns = columnPart(width);
  return {memory(name),
          baseOf(stride, place),
          line.*stride,
          term.*stride,
          columns,
          code.mul(part, columns.size()),
          code.constant(line.size),
          code.constant(term.size),
          line.size % columns.size() == 0,
          term.size % tile.blockOther() == 0,
          widthOf(stride),
          Value()};
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

Value AttendCode::wide(int64_t value) {
  OpBuilder &builder = code.getBuilder();
  return arith::ConstantOp::create(builder, code.getLoc(),
                                   builder.getI64IntegerAttr(value));
}

Value AttendCode::toWide(Value integer) {
  Type type = code.getBuilder().getI64Type();
  return integer.getType() == type
             ? integer
             : Value(arith::ExtSIOp::create(code.getBuilder(), code.getLoc(),
                                            type, integer));
}

/// A wide number, at least 0 and at most `most`, as a word.
Value AttendCode::clampToWord(Value value, int64_t most) {
  using arith::CmpIPredicate;
  value = code.select(code.compare(CmpIPredicate::slt, value, wide(0)), wide(0),
                      value);
  value = code.select(code.compare(CmpIPredicate::sgt, value, wide(most)),
                      wide(most), value);
  return code.toWidth(value, code.getWordType());
}

/// Columns that row 0 sees beyond the first. Beyond all there are, one shift is
/// like another.
Value AttendCode::diagonal() {
  constexpr int64_t most = int64_t(1) << 40;
  Value shift = wide(std::clamp(attention.shape.shift, -most, most));
  return offset ? code.add(shift, offset) : shift;
}

Value AttendCode::seenBy(Value row) {
  int64_t columns = attention.column.size;
  if (!attention.shape.isCausal)
    return code.constant(columns);
  int64_t next = isSeeded(WriterFault::diagonalIsHidden) ? 0 : 1;
  Value wideRow = code.toWidth(row, code.getBuilder().getI64Type());
  return clampToWord(code.add(wideRow, code.add(diagonal(), wide(next))),
                     columns);
}

Value AttendCode::firstThatSees(Value column) {
  if (!attention.shape.isCausal)
    return code.constant(0);
  Value wideColumn = code.toWidth(column, code.getBuilder().getI64Type());
  return clampToWord(code.sub(wideColumn, diagonal()), attention.row.size);
}

void AttendCode::finishScores(Values &sums, const AttendPlace &place,
                              Value first) {
  const rt::AttentionShape &shape = attention.shape;
  AttendPart own = ownPart(), other = otherPart();
  Value none = number(-INFINITY);
  // What has no column is no part of any sum where columns are owned.
  bool allSeen = !shape.isCausal &&
                 (!isRowOwn || attention.column.size % tile.blockOther() == 0);
  Value base =
      shape.hasBias ? baseOf(&AttentionIndex::strideBias, place) : Value();
  for (int64_t i = 0; i < own.count; ++i) {
    for (int64_t j = 0; j < other.count; ++j) {
      Value &sum = sums[i * other.count + j];
      Value ownLine = own.at(code, firstOwn, i),
            otherLine = other.at(code, first, j);
      Value row = isRowOwn ? ownLine : otherLine,
            column = isRowOwn ? otherLine : ownLine;
      Value isSeen = code.isLess(column, seenBy(row));
      sum = mulF(sum, number(shape.scale));
      if (base) {
        Value isIn = code.both(
            code.both(isSeen, code.isLess(column, code.constant(
                                                      attention.column.size))),
            code.isLess(row, code.constant(attention.row.size)));
        Value at = code.add(
            base, code.add(code.mul(row, attention.row.strideBias),
                           code.mul(column, attention.column.strideBias)));
        sum = addF(sum, toSum(code.loadIf(isIn, memory("bias"), at)));
      }
      if (!allSeen)
        sum = code.select(isSeen, sum, none);
    }
  }
}

//===----------------------------------------------------------------------===//
// Rows of a gradient
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttendCode::loadRow(const AttendPlace &place,
                                            Value row) {
  Value isIn = code.isLess(row, code.constant(attention.row.size));
  Value at = code.add(baseOf(&AttentionIndex::strideRows, place),
                      code.mul(row, attention.row.strideRows));
  at = code.select(isIn, at, code.constant(0));
  Value logsumexp = code.load(memory("logsumexp"), at);
  if (attention.shape.isSafe)
    isIn = code.both(isIn, greaterF(logsumexp, number(-INFINITY),
                                    /*orNone=*/true));
  return {code.select(isIn, logsumexp, number(INFINITY)),
          code.select(isIn, code.load(memory("delta"), at), zero())};
}

Value AttendCode::poisonOf(Value logsumexp) {
  return code.select(greaterF(logsumexp, number(-INFINITY), /*orNone=*/false),
                     zero(), number(std::nan("")));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value AttendCode::toSum(Value element) {
  unsigned from = element.getType().getIntOrFloatBitWidth(),
           to = sumType.getIntOrFloatBitWidth();
  if (from == to)
    return element;
  OpBuilder &builder = code.getBuilder();
  return from < to ? Value(arith::ExtFOp::create(builder, code.getLoc(),
                                                 sumType, element))
                   : Value(arith::TruncFOp::create(builder, code.getLoc(),
                                                   sumType, element));
}

void AttendCode::store(Value sum, Value memory, Value at) {
  Type type = cast<MemRefType>(memory.getType()).getElementType();
  unsigned from = sumType.getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  OpBuilder &builder = code.getBuilder();
  if (from > to)
    sum = arith::TruncFOp::create(builder, code.getLoc(), type, sum);
  else if (from < to)
    sum = arith::ExtFOp::create(builder, code.getLoc(), type, sum);
  code.store(sum, memory, at);
}

void AttendCode::storeColumn(Value sum, StringRef name, Value base,
                             Value column, const AttentionIndex &index,
                             AttendStride stride) {
  code.ifTrue(code.isLess(column, code.constant(index.size)), [&] {
    store(sum, memory(name), code.add(base, code.mul(column, index.*stride)));
  });
}

Value AttendCode::addOverBlock(Value value) {
  for (int64_t distance = 1; distance < 32; distance *= 2)
    value = addF(value, code.shuffle(value, distance));
  Value thread = code.getThread();
  code.ifTrue(code.isEqual(code.rem(thread, 32), code.constant(0)),
              [&] { code.store(value, chunks, code.div(thread, 32)); });
  code.barrier();
  Value sum = zero();
  for (int64_t warp = 0; warp < tile.threads() / 32; ++warp)
    sum = addF(sum, code.load(chunks, code.constant(warp)));
  return sum;
}

Value AttendCode::addF(Value a, Value b) {
  return arith::AddFOp::create(code.getBuilder(), code.getLoc(), a, b);
}

Value AttendCode::subF(Value a, Value b) {
  return arith::SubFOp::create(code.getBuilder(), code.getLoc(), a, b);
}

Value AttendCode::mulF(Value a, Value b) {
  return arith::MulFOp::create(code.getBuilder(), code.getLoc(), a, b);
}

Value AttendCode::divF(Value a, Value b) {
  return arith::DivFOp::create(code.getBuilder(), code.getLoc(), a, b);
}

Value AttendCode::negateF(Value a) {
  return arith::NegFOp::create(code.getBuilder(), code.getLoc(), a);
}

Value AttendCode::exp(Value a) {
  return math::ExpOp::create(code.getBuilder(), code.getLoc(), a);
}

Value AttendCode::log(Value a) {
  return math::LogOp::create(code.getBuilder(), code.getLoc(), a);
}

Value AttendCode::greaterF(Value a, Value b, bool orNone) {
  return arith::CmpFOp::create(
      code.getBuilder(), code.getLoc(),
      orNone ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::OGT, a, b);
}

} // namespace llmc::kernels
