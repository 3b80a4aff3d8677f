//===- AttendTiles.cpp - Products of tiles, by tensor cores ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp has 16 lines of its own, of which the block keeps all terms in shared
// memory; other tiles come there as a whole, before each product. Pairs of
// terms are words, so that a factor of a thread (LaneTiles.h) is a word:
//
//   [line][pair]   where terms are neighbours in memory
//   [pair][line]   where lines are: two lines are loaded, and their elements
//                  laid beside each other
//
// From one of the first to the next there are 4 words more than pairs, of the
// second 8 more than lines, so that the 32 words of a factor lie in 32 banks.
// Scores and what is made of them are the left factor of a second product as a
// thread has them: columns 2t and 2t + 1 of two tiles of 8 are its terms.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "../WriterFaults.h"
#include "AttendCode.h"
#include <numeric>

using namespace mlir;

namespace llmc::kernels {

using rt::AttentionIndex;

Type AttendCode::getElementType() const {
  MLIRContext *context = code.getBuilder().getContext();
  return attention.shape.dtype == rt::DType::bf16
             ? Type(BFloat16Type::get(context))
             : Type(Float16Type::get(context));
}

/// At most 8, which are 16 bytes.
int64_t AttendCode::widthOf(AttendStride stride) const {
  int64_t width = 8;
  for (const AttentionIndex &index : attention.shape.indices) {
    int64_t apart = index.*stride;
    if (apart == 0 || (index.size == 1 && apart != 1))
      continue;
    width = std::gcd(width, apart == 1 ? index.size : apart);
  }
  return width;
}

AttendCode::PairTile AttendCode::tileOf(const AttendMatrix &matrix,
                                        int64_t lines, int64_t terms) const {
  bool isAlongTerms = matrix.isAlongTerms() || matrix.lineStride != 1;
  int64_t stride = isAlongTerms ? matrix.termStride : matrix.lineStride;
  return {lines, terms, stride == 1 ? matrix.width : 1, tile.threads(),
          isAlongTerms};
}

void AttendCode::makePairMemory() {
  auto wordsOf = [](int64_t lines, int64_t terms) {
    return std::max(PairTile{lines, terms, 1, 1, true}.words(),
                    PairTile{lines, terms, 1, 1, false}.words());
  };
  int64_t depth = AttendTile::padded(attention.depth.size),
          value = AttendTile::padded(attention.value.size),
          own = tile.blockOwn(), other = tile.blockOther();
  int64_t columns = std::max(tile.depth, tile.value) * tile.threadsN;
  int64_t words = std::max(wordsOf(other, depth), wordsOf(columns, other));
  Type word = code.getBuilder().getI32Type();
  keptDepth = code.makeShared(word, wordsOf(own, depth));
  if (attention.shape.isGradient) {
    keptValue = code.makeShared(word, wordsOf(own, value));
    words = std::max(words, wordsOf(other, value));
  }
  pairMemory = code.makeShared(word, words);
}

//===----------------------------------------------------------------------===//
// Into shared memory
//===----------------------------------------------------------------------===//

/// Where the thread's first load begins.
AttendCode::PairPlace AttendCode::placeOf(const PairTile &pairs) {
  Value thread = code.getThread();
  Value minor = code.mul(code.rem(thread, pairs.inner()), pairs.span()),
        major = code.div(thread, pairs.inner());
  return pairs.isAlongTerms ? PairPlace{major, minor}
                            : PairPlace{minor, code.mul(major, 2)};
}

/// Whether load `number` is one of the thread; none where it is one of all.
Value AttendCode::isLoaded(const PairTile &pairs, int64_t number) {
  int64_t left = pairs.outer() - number * pairs.step();
  int64_t threads = std::min(left, pairs.step()) * pairs.inner();
  return threads == pairs.threads
             ? Value()
             : code.isLess(code.getThread(), code.constant(threads));
}

/// The pairs of `load`, which begins so many lines and terms beyond `first`.
Values AttendCode::loadPairs(const AttendMatrix &matrix, const PairTile &pairs,
                             const PairPlace &first, int64_t load) {
  int64_t step = load * pairs.step();
  Value line = pairs.isAlongTerms ? place(first.line, step) : first.line;
  int64_t terms = pairs.isAlongTerms ? 0 : 2 * step,
          further = pairs.isAlongTerms ? step * matrix.lineStride : 0;
  Value at =
      code.add(matrix.base, code.add(code.mul(first.line, matrix.lineStride),
                                     code.mul(first.term, matrix.termStride)));
  Value isOne = isLoaded(pairs, load);
  auto get = [&](int64_t beside) {
    Value isIn = isInside(matrix, line, place(first.term, terms + beside));
    if (isOne)
      isIn = isIn ? code.both(isIn, isOne) : isOne;
    int64_t apart = further + (terms + beside) * matrix.termStride;
    return code.loadBits(isIn, matrix.memory, place(at, apart), pairs.width);
  };
  Value bits = get(0);
  if (pairs.isAlongTerms && pairs.width > 1)
    return code.pairUp(bits);
  return isSeeded(WriterFault::pairsAreTurned) ? code.pairUp(get(1), bits)
                                               : code.pairUp(bits, get(1));
}

/// The thread's loads of a tile whose terms begin at `firstTerm`.
SmallVector<Values> AttendCode::loadTile(const AttendMatrix &matrix,
                                         const PairTile &pairs,
                                         Value firstTerm) {
  PairPlace first = placeOf(pairs);
  first.line = code.add(matrix.firstLine, first.line);
  first.term = code.add(firstTerm, first.term);
  SmallVector<Values> loads;
  for (int64_t load = 0; load < pairs.loads(); ++load)
    loads.push_back(loadPairs(matrix, pairs, first, load));
  return loads;
}

void AttendCode::storeTile(const PairTile &pairs, Value memory,
                           ArrayRef<Values> loads) {
  PairPlace first = placeOf(pairs);
  Value pair = code.div(first.term, 2);
  Value at = pairs.isAlongTerms
                 ? code.add(code.mul(first.line, pairs.pitch()), pair)
                 : code.add(code.mul(pair, pairs.pitch()), first.line);
  for (auto [load, words] : llvm::enumerate(loads)) {
    int64_t beside = static_cast<int64_t>(load) * pairs.step() * pairs.pitch();
    auto store = [&, words = ArrayRef<Value>(words)] {
      for (size_t from = 0; from < words.size(); from += 4)
        code.storeRun(words.slice(from, std::min<size_t>(4, words.size())),
                      memory, place(at, beside + from));
    };
    if (Value isOne = isLoaded(pairs, load))
      code.ifTrue(isOne, store);
    else
      store();
  }
}

void AttendCode::keepLines(StringRef name, AttendStride stride,
                           const AttendPlace &place) {
  if (!tile.isMatrix)
    return;
  AttendMatrix matrix = lines(name, stride, place, /*isOwn=*/true, Value());
  int64_t size =
      (name == "q" || name == "k" ? attention.depth : attention.value).size;
  PairTile pairs = tileOf(matrix, tile.blockOwn(), AttendTile::padded(size));
  storeTile(pairs, matrix.kept, loadTile(matrix, pairs, code.constant(0)));
}

/// In place of the tile before, which all have read.
void AttendCode::shareTile(const AttendMatrix &matrix, const PairTile &pairs,
                           Value firstTerm) {
  SmallVector<Values> loads = loadTile(matrix, pairs, firstTerm);
  if (!isSeeded(WriterFault::pairsOverwriteWhatIsRead))
    code.barrier();
  storeTile(pairs, pairMemory, loads);
  if (!isSeeded(WriterFault::pairsAreReadBeforeTheyAreStored))
    code.barrier();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The thread's first pair of a factor whose first line is `line`.
Value AttendCode::firstPair(const PairTile &pairs, Value line) {
  Value pair = code.rem(code.getThread(), 4);
  return pairs.isAlongTerms ? code.add(code.mul(line, pairs.pitch()), pair)
                            : code.add(code.mul(pair, pairs.pitch()), line);
}

/// So many lines and pairs further.
Value AttendCode::loadPair(const PairTile &pairs, Value memory, Value first,
                           int64_t line, int64_t pair) {
  int64_t beside = pairs.isAlongTerms ? line * pairs.pitch() + pair
                                      : pair * pairs.pitch() + line;
  return code.load(memory, place(first, beside));
}

/// sums + left * the tile that is shared; `left` gives the factor of 16 terms.
Values AttendCode::addTile(const PairTile &pairs, Values sums,
                           function_ref<Values(int64_t)> left) {
  Type type = getElementType();
  int64_t count = pairs.lines / 4;
  Value first = firstPair(pairs, code.rem(code.div(code.getThread(), 4), 8));
  for (int64_t step = 0; step < pairs.terms / 16; ++step) {
    Values a = left(step);
    for (int64_t line = 0; line < pairs.lines; line += 8) {
      Values b;
      for (int64_t half : {0, 4})
        b.push_back(loadPair(pairs, pairMemory, first, line, step * 8 + half));
      Value *upper = &sums[line / 4], *lower = &sums[count + line / 4];
      Values made = code.multiplyTiles(
          type, a, b, {upper[0], upper[1], lower[0], lower[1]});
      upper[0] = made[0], upper[1] = made[1];
      lower[0] = made[2], lower[1] = made[3];
    }
  }
  return sums;
}

Values AttendCode::multiplyKept(const AttendMatrix &left,
                                const AttendMatrix &right, int64_t size,
                                Values sums) {
  int64_t terms = AttendTile::padded(size);
  PairTile own = tileOf(left, tile.blockOwn(), terms),
           other = tileOf(right, tile.blockOther(), terms);
  shareTile(right, other, code.constant(0));
  Value first = firstPair(own, ownPart().thread);
  return addTile(other, std::move(sums), [&](int64_t step) {
    Values factor;
    for (int64_t half : {0, 4})
      for (int64_t line : {0, 8})
        factor.push_back(
            loadPair(own, left.kept, first, line, step * 8 + half));
    return factor;
  });
}

Values AttendCode::multiplyScores(const AttendMatrix &right, Value first,
                                  Values sums, bool skipsNegative) {
  shareTile(right, tileOf(right, right.part.size(), tile.blockOther()), first);
  auto get = [&](int64_t own, int64_t other) -> Value {
    Value score = scores[own * tile.other + other];
    return skipsNegative
               ? code.select(greaterF(zero(), score, false), zero(), score)
               : score;
  };
  return addTile(tileOf(right, right.part.size(), tile.blockOther()),
                 std::move(sums), [&](int64_t step) {
                   Values factor;
                   for (int64_t half : {0, 2})
                     for (int64_t own : {0, 1})
                       factor.push_back(code.roundPair(
                           getElementType(), get(own, step * 4 + half),
                           get(own, step * 4 + half + 1)));
                   return factor;
                 });
}

} // namespace llmc::kernels
