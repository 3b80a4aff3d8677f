//===- AttendCode.h - Scores of a tile, in code -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the three launches of an attention (AttendForm.h) share: products of
// tiles through shared memory, masks, random bits, and where all of it lies.
//
// A thread has the sums [i, j] of its own lines i and columns j, row-major.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDCODE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDCODE_H

#include "AttendForm.h"

namespace llmc::kernels {

/// Which of an index's strides.
using AttendStride = int64_t rt::AttentionIndex::*;
/// Indices and a position of each.
using AttendPlace = SmallVector<std::pair<rt::AttentionIndex, Value>>;

/// Which lines or columns a thread has: runs of neighbours, of which those of
/// all threads lie side by side.
struct AttendPart {
  int64_t count = 1, threads = 1;
  Value thread;
  /// Of a run at most; from one run of a thread to the next, where it is not
  /// that of all threads.
  int64_t most = 4, step = 0;

  int64_t run() const { return std::min<int64_t>(count, most); }
  int64_t size() const { return count * threads; }
  /// Where run `number` of the thread begins.
  Value begin(GridCode &code, int64_t number) const;
  /// Number `i` of the thread, from `first` on.
  Value at(GridCode &code, Value first, int64_t i) const;
};

/// A matrix of lines and terms in memory, and which lines a block loads: `part`
/// of them from `firstLine` on. What does not lie below `endLine` and `endTerm`
/// is zero.
struct AttendMatrix {
  Value memory, base;
  int64_t lineStride = 0, termStride = 0;
  AttendPart part;
  Value firstLine, endLine, endTerm;
  /// Whether tiles of lines and chunks of terms have no rest.
  bool linesFit = false, termsFit = false;
  /// Neighbours in memory that lie together or not at all, and begin at a
  /// multiple of as many.
  int64_t width = 1;
  /// Where its lines lie in a block's memory, if they stay there.
  Value kept;

  bool isAlongTerms() const { return termStride < lineStride; }
  /// Of a chunk in shared memory, from one term to the next.
  int64_t pitch() const { return part.size() + 4; }
};

class AttendCode {
public:
  AttendCode(GridCode &code, const Attention &attention, const AttendTile &tile,
             ArrayRef<StringRef> arguments, bool ownsRows);

  GridCode &code;
  const Attention &attention;
  const AttendTile &tile;

  Value memory(StringRef name) const;
  /// Takes the position of each of `indices` off `number`.
  AttendPlace place(ArrayRef<rt::AttentionIndex> indices, Value &number);
  Value baseOf(AttendStride stride, const AttendPlace &place);

  /// Which lines the block owns, and which part of a result's columns it makes;
  /// returns the number of the batch.
  Value placeBlock(bool isReversed);
  AttendPart ownPart() const;
  AttendPart otherPart() const;
  AttendPart columnPart(int64_t columns) const;
  Value firstOwn, part;

  /// The query, key, value or cotangent `name`, with the depth or values as
  /// terms; its lines are those that the block owns, or others from `first` on.
  AttendMatrix lines(StringRef name, AttendStride stride,
                     const AttendPlace &place, bool isOwn, Value first);
  /// The same with the other lines as terms: columns of a result as lines.
  AttendMatrix columns(StringRef name, AttendStride stride,
                       const AttendPlace &place, int64_t width);
  /// sums + left * right^T, over all of `size` terms.
  Values multiply(const AttendMatrix &left, const AttendMatrix &right,
                  int64_t size, Values sums);
  /// The lines that the block owns, of which all tiles are multiplied: with
  /// tensor cores they stay in shared memory.
  void keepLines(StringRef name, AttendStride stride, const AttendPlace &place);
  /// The thread's scores or what is made of them for others to read. What was
  /// there has been read by all.
  void stage(ArrayRef<Value> scores);
  /// What the thread has staged.
  Values loadStaged();
  /// sums + staged scores * right, whose terms are from `first` on; without
  /// those below zero where `skipsNegative`.
  Values multiplyStaged(const AttendMatrix &right, Value first, Values sums,
                        bool skipsNegative = false);

  /// How many columns `row` sees.
  Value seenBy(Value row);
  /// The first of the rows that see `column`, of all rows or one too many.
  Value firstThatSees(Value column);
  /// What products become scores by: scale, bias and masks. `first` is that of
  /// the others.
  void finishScores(Values &sums, const AttendPlace &place, Value first);
  /// Which weights dropout keeps; none where there is no dropout.
  Values drawKept(const AttendPlace &place, Value first);
  /// A weight, or what becomes of it, where it is kept.
  Value keep(Value value, ArrayRef<Value> kept, size_t number);

  /// Logsumexp and delta of a row, so that exponentials of what is no row, and
  /// of safe rows that see nothing, are zero.
  std::pair<Value, Value> loadRow(const AttendPlace &place, Value row);
  /// Not a number where a row has a logsumexp that is no number above -inf, so
  /// that what it does not see counts as well; else 0.
  Value poisonOf(Value logsumexp);

  Type sumType;
  bool isRowOwn;

  Value zero() { return code.constant(sumType, 0); }
  Value number(double value) { return code.constant(sumType, value); }
  Value toSum(Value element);
  Value addF(Value a, Value b);
  Value subF(Value a, Value b);
  Value mulF(Value a, Value b);
  Value divF(Value a, Value b);
  Value negateF(Value a);
  Value exp(Value a);
  Value log(Value a);
  /// a > b, or where one of them is no number.
  Value greaterF(Value a, Value b, bool orNone);
  /// The sum of a number of each thread, in an order of its own. Nobody reads
  /// shared memory before it.
  Value addOverBlock(Value value);
  /// A result of `name` in `column` of a line that begins at `base`, where that
  /// is one of `index`.
  void storeColumn(Value sum, StringRef name, Value base, Value column,
                   const rt::AttentionIndex &index, AttendStride stride);

private:
  // Of tensor cores, in AttendTiles.cpp.
  /// How a tile lies in shared memory, and who loads what.
  struct PairTile {
    int64_t lines, terms, width, threads;
    bool isAlongTerms;

    int64_t pitch() const { return isAlongTerms ? terms / 2 + 4 : lines + 8; }
    int64_t words() const {
      return (isAlongTerms ? lines : terms / 2) * pitch();
    }
    /// Of a load: neighbouring floats, and pairs that are made of them.
    int64_t span() const {
      return isAlongTerms ? std::max<int64_t>(width, 2) : width;
    }
    /// Loads of a line, or of a pair of terms, of which there are `outer`, and
    /// `step` at a time.
    int64_t inner() const { return (isAlongTerms ? terms : lines) / span(); }
    int64_t outer() const { return isAlongTerms ? lines : terms / 2; }
    int64_t step() const { return threads / inner(); }
    int64_t loads() const { return llvm::divideCeil(outer(), step()); }
  };
  struct PairPlace {
    Value line, term;
  };
  PairTile tileOf(const AttendMatrix &matrix, int64_t lines,
                  int64_t terms) const;
  void makePairMemory();
  PairPlace placeOf(const PairTile &pairs);
  Value isLoaded(const PairTile &pairs, int64_t number);
  Values loadPairs(const AttendMatrix &matrix, const PairTile &pairs,
                   const PairPlace &first, int64_t load);
  SmallVector<Values> loadTile(const AttendMatrix &matrix,
                               const PairTile &pairs, Value firstTerm);
  void storeTile(const PairTile &pairs, Value memory, ArrayRef<Values> loads);
  void shareTile(const AttendMatrix &matrix, const PairTile &pairs,
                 Value firstTerm);
  Value firstPair(const PairTile &pairs, Value line);
  Value loadPair(const PairTile &pairs, Value memory, Value first, int64_t line,
                 int64_t pair);
  Values addTile(const PairTile &pairs, Values sums,
                 function_ref<Values(int64_t)> left);
  Values multiplyKept(const AttendMatrix &left, const AttendMatrix &right,
                      int64_t size, Values sums);
  Values multiplyScores(const AttendMatrix &right, Value first, Values sums,
                        bool skipsNegative);
  int64_t widthOf(AttendStride stride) const;
  Type getElementType() const;

  /// In 64 bits, with sign.
  Value wide(int64_t value);
  Value toWide(Value word);
  Value clampToWord(Value value, int64_t most);
  Value diagonal();
  Value isInside(const AttendMatrix &matrix, Value line, Value term);
  Values loadChunk(const AttendMatrix &matrix, int64_t terms, Value first);
  void storeChunk(const AttendMatrix &matrix, int64_t terms, int64_t offset,
                  ArrayRef<Value> elements);
  /// Where the chunk after the one `at` lies; the first, where there is none.
  Value nextChunk(Value at, int64_t terms, int64_t size);
  /// The sum of places, which is one, with as much as a number beside it.
  Value place(Value at, int64_t beside);
  Values loadPart(const AttendMatrix &matrix, int64_t offset, Value term);
  Value stagedAt(Value other, int64_t run);
  Values loadLines(Value other, bool skipsNegative);
  Values addTerms(int64_t terms, ValueRange sums,
                  function_ref<Values(Value)> left,
                  function_ref<Values(Value)> right);
  void loadState();
  Value half(Value wideNumber, bool isHigh);
  std::pair<Value, Value> threefry(Value x, Value y);
  Value isKept(Value number);
  void store(Value sum, Value memory, Value at);

  ArrayRef<StringRef> arguments;
  /// Chunks, and the staged scores: [other][own].
  Value chunks, staged;
  /// With tensor cores: pairs of lines that stay, by depth and by values, and
  /// of others; scores stay with the thread.
  Value keptDepth, keptValue, pairMemory;
  Values scores;
  Value offset, keyLow, keyHigh, counter;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ATTENDCODE_H
