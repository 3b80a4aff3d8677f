//===- AttendProducts.cpp - Products of tiles, in shared memory -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both sides of a product come 16 terms at a time, while the ones before are
// multiplied, as in ProductTile.cpp. The left side of a second product is what
// the threads have staged: of line l and other line k
//
//   staged[k * own + (run of l ^ run of k) * 4 + l mod 4]
//
// so that neither those that store a run nor those that load one meet in a
// bank.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "../WriterFaults.h"
#include "AttendCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmc::kernels {

namespace {
/// The elements of a chunk that a thread loads: some steps of lines or terms
/// apart. All sizes are powers of two.
struct ChunkWalk {
  int64_t lines, terms, threads;
  bool isAlongTerms;

  int64_t size() const { return lines * terms; }
  int64_t loads() const { return llvm::divideCeil(size(), threads); }
  int64_t inner() const { return isAlongTerms ? terms : lines; }
  /// Line and term of the first one.
  std::pair<Value, Value> first(GridCode &code) const {
    Value thread = code.getThread(), minor = code.rem(thread, inner()),
          major = code.div(thread, inner());
    return isAlongTerms ? std::pair(major, minor) : std::pair(minor, major);
  }
  /// How much further one lies.
  std::pair<int64_t, int64_t> step(int64_t load) const {
    int64_t number = load * threads, minor = number % inner(),
            major = number / inner();
    return isAlongTerms ? std::pair(major, minor) : std::pair(minor, major);
  }
};
} // namespace

static ChunkWalk walkOf(const AttendMatrix &matrix, int64_t terms,
                        const AttendTile &tile) {
  return {matrix.part.size(), terms, tile.threads(), matrix.isAlongTerms()};
}

/// Nothing wraps, so that what is beside needs no address of its own.
Value AttendCode::place(Value at, int64_t beside) {
  if (beside == 0)
    return at;
  auto flags = arith::IntegerOverflowFlags::nuw;
  return arith::AddIOp::create(code.getBuilder(), code.getLoc(), at,
                               code.constant(beside), flags);
}

/// None where all is.
Value AttendCode::isInside(const AttendMatrix &matrix, Value line, Value term) {
  if (matrix.linesFit && matrix.termsFit)
    return {};
  Value isLine = code.isLess(line, matrix.endLine),
        isTerm = code.isLess(term, matrix.endTerm);
  return matrix.linesFit   ? isTerm
         : matrix.termsFit ? isLine
                           : code.both(isLine, isTerm);
}

Values AttendCode::loadChunk(const AttendMatrix &matrix, int64_t terms,
                             Value first) {
  ChunkWalk walk = walkOf(matrix, terms, tile);
  auto [line, term] = walk.first(code);
  line = code.add(matrix.firstLine, line);
  term = code.add(first, term);
  Value at = code.add(matrix.base, code.add(code.mul(line, matrix.lineStride),
                                            code.mul(term, matrix.termStride)));
  Values elements;
  for (int64_t load = 0; load < walk.loads(); ++load) {
    auto [lines, steps] = walk.step(load);
    Value isIn = isInside(matrix, place(line, lines), place(term, steps));
    Value here =
        place(at, lines * matrix.lineStride + steps * matrix.termStride);
    elements.push_back(toSum(isIn ? code.loadIf(isIn, matrix.memory, here)
                                  : code.load(matrix.memory, here)));
  }
  return elements;
}

void AttendCode::storeChunk(const AttendMatrix &matrix, int64_t terms,
                            int64_t offset, ArrayRef<Value> elements) {
  ChunkWalk walk = walkOf(matrix, terms, tile);
  auto [line, term] = walk.first(code);
  Value at = code.add(code.mul(term, matrix.pitch()), line);
  for (int64_t load = 0; load < walk.loads(); ++load) {
    auto [lines, steps] = walk.step(load);
    Value here = place(at, offset + lines + steps * matrix.pitch());
    auto store = [&, value = elements[load]] {
      code.store(value, chunks, here);
    };
    if (walk.size() >= walk.threads)
      store();
    else
      code.ifTrue(code.isLess(code.getThread(), code.constant(walk.size())),
                  store);
  }
}

Value AttendCode::nextChunk(Value at, int64_t terms, int64_t size) {
  Value next = place(at, terms), end = code.constant(size);
  return code.select(code.isLess(next, end), next, code.constant(0));
}

Values AttendCode::loadPart(const AttendMatrix &matrix, int64_t offset,
                            Value term) {
  const AttendPart &part = matrix.part;
  Value line = code.add(code.constant(offset), code.mul(term, matrix.pitch()));
  Values elements;
  for (int64_t run = 0; run < part.count / part.run(); ++run)
    llvm::append_range(
        elements, code.loadRun(chunks, code.add(line, part.begin(code, run)),
                               part.run()));
  return elements;
}

/// sums + left * right of `terms` terms in shared memory.
Values AttendCode::addTerms(int64_t terms, ValueRange sums,
                            function_ref<Values(Value)> left,
                            function_ref<Values(Value)> right) {
  OpBuilder &builder = code.getBuilder();
  return code.loop(code.constant(0), code.constant(terms), 1, sums,
                   [&](Value term, ValueRange carried) {
                     Values rows = left(term), columns = right(term), next;
                     for (Value row : rows)
                       for (Value column : columns)
                         next.push_back(
                             math::FmaOp::create(builder, code.getLoc(), row,
                                                 column, carried[next.size()]));
                     return next;
                   });
}

Values AttendCode::multiply(const AttendMatrix &left, const AttendMatrix &right,
                            int64_t size, Values sums) {
  if (tile.isMatrix)
    return multiplyKept(left, right, size, std::move(sums));
  int64_t terms = AttendTile::chunkOf(size), offset = terms * left.pitch();
  size_t numSums = sums.size();
  auto load = [&](Value first) {
    Values elements = loadChunk(left, terms, first);
    llvm::append_range(elements, loadChunk(right, terms, first));
    return elements;
  };
  int64_t loads = walkOf(left, terms, tile).loads();
  llvm::append_range(sums, load(code.constant(0)));
  Values made = code.loopThatStays(
      code.constant(0), code.constant(size), terms, sums,
      [&](Value first, ValueRange now) -> Values {
        Values elements(now.drop_front(numSums));
        code.barrier();
        storeChunk(left, terms, 0, ArrayRef(elements).take_front(loads));
        storeChunk(right, terms, offset, ArrayRef(elements).drop_front(loads));
        if (!isSeeded(WriterFault::scoresReadBeforeKeysAreStored))
          code.barrier();
        Values next = load(nextChunk(first, terms, size));
        Values added = addTerms(
            terms, now.take_front(numSums),
            [&](Value term) { return loadPart(left, 0, term); },
            [&](Value term) { return loadPart(right, offset, term); });
        llvm::append_range(added, next);
        return added;
      });
  made.truncate(numSums);
  return made;
}

//===----------------------------------------------------------------------===//
// Staged scores
//===----------------------------------------------------------------------===//

/// Where run `run` of the thread's lines lies, of the other line `other`.
Value AttendCode::stagedAt(Value other, int64_t run) {
  AttendPart own = ownPart();
  Value place = code.add(own.thread, code.constant(run * own.threads));
  Value turn = code.rem(code.div(other, otherPart().run()), own.threads);
  place = arith::XOrIOp::create(code.getBuilder(), code.getLoc(), place, turn);
  return code.add(code.mul(other, own.size()), code.mul(place, own.run()));
}

void AttendCode::stage(ArrayRef<Value> scores) {
  if (tile.isMatrix) {
    this->scores = Values(scores);
    return;
  }
  AttendPart own = ownPart(), other = otherPart();
  for (int64_t j = 0; j < other.count; ++j) {
    Value line = other.at(code, code.constant(0), j);
    for (int64_t run = 0; run < own.count / own.run(); ++run) {
      Values column;
      for (int64_t i = 0; i < own.run(); ++i)
        column.push_back(scores[(run * own.run() + i) * other.count + j]);
      code.storeRun(column, staged, stagedAt(line, run));
    }
  }
}

Values AttendCode::loadStaged() {
  if (tile.isMatrix)
    return scores;
  AttendPart own = ownPart(), other = otherPart();
  Values scores(own.count * other.count);
  for (int64_t j = 0; j < other.count; ++j) {
    Value line = other.at(code, code.constant(0), j);
    for (int64_t run = 0; run < own.count / own.run(); ++run)
      for (auto [i, score] : llvm::enumerate(
               code.loadRun(staged, stagedAt(line, run), own.run())))
        scores[(run * own.run() + i) * other.count + j] = score;
  }
  return scores;
}

/// The thread's lines of what all have staged of the other line `other`.
Values AttendCode::loadLines(Value other, bool skipsNegative) {
  AttendPart own = ownPart();
  Values lines;
  for (int64_t run = 0; run < own.count / own.run(); ++run)
    llvm::append_range(lines,
                       code.loadRun(staged, stagedAt(other, run), own.run()));
  if (skipsNegative)
    for (Value &line : lines)
      line =
          code.select(greaterF(zero(), line, /*orNone=*/false), zero(), line);
  return lines;
}

Values AttendCode::multiplyStaged(const AttendMatrix &right, Value first,
                                  Values sums, bool skipsNegative) {
  if (tile.isMatrix)
    return multiplyScores(right, first, std::move(sums), skipsNegative);
  int64_t size = tile.blockOther(), terms = AttendTile::chunkOf(size);
  size_t numSums = sums.size();
  llvm::append_range(sums, loadChunk(right, terms, first));
  Values made = code.loopThatStays(
      code.constant(0), code.constant(size), terms, sums,
      [&](Value at, ValueRange now) -> Values {
        Values elements(now.drop_front(numSums));
        if (!isSeeded(WriterFault::valuesOverwriteKeys))
          code.barrier();
        storeChunk(right, terms, 0, elements);
        code.barrier();
        Values next = loadChunk(right, terms,
                                code.add(first, nextChunk(at, terms, size)));
        Values added = addTerms(
            terms, now.take_front(numSums),
            [&](Value term) {
              return loadLines(code.add(at, term), skipsNegative);
            },
            [&](Value term) { return loadPart(right, 0, term); });
        llvm::append_range(added, next);
        return added;
      });
  made.truncate(numSums);
  return made;
}

} // namespace llmc::kernels
