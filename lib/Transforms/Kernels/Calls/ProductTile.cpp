//===- ProductTile.cpp - A tile of sums, by a block -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads of a block load 16 terms of each row and column of its tile into
// shared memory, and each adds up the products of its rows and columns in
// registers, while the next terms are on their way:
//
//   next = terms of the first step
//   for each step:   barrier; shared = next; barrier
//                    next = terms of the next step
//                    for each of 16 terms: sums += left[rows] * right[columns]
//
// What lies beyond the tile's rows, columns or terms is zero and is not stored.
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "../WriterFaults.h"
#include "ProductCode.h"
#include "ProductGroups.h"
#include <cmath>

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Which rows or columns a thread has: runs of neighbours, of which those of
/// all threads lie side by side.
struct ThreadPart {
  int64_t count, threads;

  int64_t run() const { return std::min<int64_t>(count, 4); }
  /// Where run `number` of the thread begins.
  Value begin(GridCode &code, Value thread, int64_t number) const {
    return code.add(code.mul(thread, run()),
                    code.constant(number * threads * run()));
  }
};

/// The elements of a side in shared memory: `rows` lines of the tile by `depth`
/// terms, of which a thread loads every `threads`-th.
struct Side {
  int64_t rows = 0;
  bool alongTerms = false; ///< Neighbouring threads load neighbouring terms.
  int64_t threads = 0;
  Value shared;

  int64_t pitch() const { return alongTerms ? rows + 4 : rows; }
  int64_t size() const { return rows * ProductTile::depth; }
  int64_t loads() const { return llvm::divideCeil(size(), threads); }
  /// The line and the term of a thread's load.
  std::pair<Value, Value> place(GridCode &code, int64_t load) const {
    Value number = code.add(code.getThread(), code.constant(load * threads));
    int64_t inner = alongTerms ? ProductTile::depth : rows;
    Value minor = code.rem(number, inner), major = code.div(number, inner);
    return alongTerms ? std::pair(major, minor) : std::pair(minor, major);
  }
};

class TileWriter {
public:
  TileWriter(GridCode &code, const Product &product, const ProductTile &tile)
      : code(code), product(product), tile(tile), sum(code, product) {}

  void write();

private:
  void placeTile();
  void placeGroups(Value tileM, Value group);
  void makeSides();
  Values loadStep(Value first);
  void storeStep(ArrayRef<Value> terms);
  Values addStep(ValueRange sums);
  void storeSums(ArrayRef<Value> sums);
  /// Number of the memory that the sums go to.
  unsigned resultMemory() const {
    return 2 + (product.hasBias && tile.splits == 1) +
           (product.groups ? 1 + product.groups->hasFirst : 0);
  }

  GridCode &code;
  const Product &product;
  const ProductTile &tile;
  ProductCode sum;
  /// Where the batch and the group's matrix lie, number of the batch, and of
  /// the split.
  ProductWalk base;
  Value batch, split;
  /// First row and column of the tile, and the ends of rows and terms.
  Value firstM, firstN, endM, beginK, endK;
  /// Set where the sizes of groups do not fit.
  Value isWrong;
  Side left, right;
  SmallVector<ProductWalk> leftLines, rightLines;
  Values leftIsIn, rightIsIn;
};

} // namespace

//===----------------------------------------------------------------------===//
// The tile of a block
//===----------------------------------------------------------------------===//

/// The columns come last, so that blocks beside each other read the same rows.
void TileWriter::placeTile() {
  int64_t m = countOf(product.m), n = countOf(product.n),
          k = countOf(product.k);
  Value rest = code.getBlockRow();
  auto take = [&](int64_t count) {
    Value taken = code.rem(rest, count);
    rest = code.div(rest, count);
    return taken;
  };
  firstN = code.mul(take(llvm::divideCeil(n, tile.blockN())), tile.blockN());
  int64_t tilesM = llvm::divideCeil(m, tile.blockM());
  if (product.groups && !product.groups->isContracted)
    tilesM += product.groups->numSizes + 1;
  Value tileM = take(tilesM);
  Value group = product.groups && product.groups->isContracted
                    ? take(product.groups->groups)
                    : Value();
  split = take(tile.splits);
  batch = rest;
  base = sum.add(sum.start(), sum.walk(product.batch, batch));
  firstM = code.mul(tileM, tile.blockM());
  endM = code.constant(m);
  beginK = code.constant(0);
  endK = code.constant(k);
  if (product.groups)
    placeGroups(tileM, group);
  if (tile.splits > 1) {
    int64_t steps = llvm::divideCeil(k, tile.depth);
    int64_t part = llvm::divideCeil(steps, tile.splits) * tile.depth;
    beginK = code.mul(split, part);
    endK = code.min(code.add(beginK, code.constant(part)), endK);
  }
}

void TileWriter::placeGroups(Value tileM, Value group) {
  const ProductGroups &groups = *product.groups;
  if (groups.isContracted) {
    GroupTile found =
        findGroup(code, groups, batch, group, countOf(product.k) / groups.rows);
    beginK = found.begin;
    endK = found.end;
    base.c = code.add(base.c, code.mul(group, groups.stride));
    isWrong = found.isWrong;
    return;
  }
  GroupTile found =
      findFreeTile(code, groups, batch, tileM, countOf(product.m) / groups.rows,
                   tile.blockM());
  firstM = found.begin;
  endM = found.end;
  // Rows of no group are sums of nothing.
  endK = code.select(found.hasMatrix, endK, beginK);
  base.b = code.add(base.b, code.mul(found.matrix, groups.stride));
  isWrong = found.isWrong;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// How a side is loaded, and where the lines of a thread's loads stand.
void TileWriter::makeSides() {
  Type type = sum.getSumType();
  left = {tile.blockM(), product.loadsLeftAlongTerms(), tile.threads(), {}};
  right = {tile.blockN(), product.loadsRightAlongTerms(), tile.threads(), {}};
  for (Side *side : {&left, &right})
    side->shared = code.makeShared(type, side->pitch() * tile.depth);
  for (int64_t load = 0; load < left.loads(); ++load) {
    Value row = code.add(firstM, left.place(code, load).first);
    leftLines.push_back(sum.add(base, sum.walk(product.m, row)));
    leftIsIn.push_back(code.isLess(row, endM));
  }
  for (int64_t load = 0; load < right.loads(); ++load) {
    Value column = code.add(firstN, right.place(code, load).first);
    rightLines.push_back(sum.add(base, sum.walk(product.n, column)));
    rightIsIn.push_back(code.isLess(column, code.constant(countOf(product.n))));
  }
}

/// The terms of a step from `first` on that this thread loads.
Values TileWriter::loadStep(Value first) {
  Values terms;
  for (int64_t load = 0; load < left.loads(); ++load) {
    Value term = code.add(first, left.place(code, load).second);
    Value isIn = code.both(leftIsIn[load], code.isLess(term, endK));
    terms.push_back(sum.loadLeft(
        code.getMemory(0), sum.add(leftLines[load], sum.walk(product.k, term)),
        isIn));
  }
  for (int64_t load = 0; load < right.loads(); ++load) {
    Value term = code.add(first, right.place(code, load).second);
    Value isIn = code.both(rightIsIn[load], code.isLess(term, endK));
    Value at = sum.add(rightLines[load], sum.walk(product.k, term)).b;
    terms.push_back(sum.loadTerm(code.getMemory(1), product.b, at, isIn));
  }
  return terms;
}

void TileWriter::storeStep(ArrayRef<Value> terms) {
  for (const Side *side : {&left, &right}) {
    for (int64_t load = 0; load < side->loads(); ++load) {
      auto [line, term] = side->place(code, load);
      Value at = code.add(code.mul(term, side->pitch()), line);
      auto store = [&, value = terms.front()] {
        code.store(value, side->shared, at);
      };
      if (side->size() >= side->threads)
        store();
      else
        code.ifTrue(code.isLess(code.getThread(), code.constant(side->size())),
                    store);
      terms = terms.drop_front();
    }
  }
}

/// The terms in shared memory, added to the thread's sums.
Values TileWriter::addStep(ValueRange sums) {
  ThreadPart partM{tile.threadM, tile.threadsM},
      partN{tile.threadN, tile.threadsN};
  Value threadN = code.rem(code.getThread(), tile.threadsN),
        threadM = code.div(code.getThread(), tile.threadsN);
  auto load = [&](const Side &side, const ThreadPart &part, Value thread,
                  Value term) {
    Values elements;
    for (int64_t run = 0; run < part.count / part.run(); ++run)
      llvm::append_range(elements,
                         code.loadRun(side.shared,
                                      code.add(code.mul(term, side.pitch()),
                                               part.begin(code, thread, run)),
                                      part.run()));
    return elements;
  };
  return code.loop(
      code.constant(0), code.constant(tile.depth), 1, sums,
      [&](Value term, ValueRange carried) {
        Values rows = load(left, partM, threadM, term);
        Values columns = load(right, partN, threadN, term);
        Values next;
        for (Value row : rows)
          for (Value column : columns)
            next.push_back(sum.multiplyAdd(row, column, carried[next.size()]));
        return next;
      });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void TileWriter::storeSums(ArrayRef<Value> sums) {
  ThreadPart partM{tile.threadM, tile.threadsM},
      partN{tile.threadN, tile.threadsN};
  Value threadN = code.rem(code.getThread(), tile.threadsN),
        threadM = code.div(code.getThread(), tile.threadsN);
  int64_t m = countOf(product.m), n = countOf(product.n);
  Value bias =
      product.hasBias && tile.splits == 1 ? code.getMemory(2) : Value();
  for (int64_t i = 0; i < tile.threadM; ++i) {
    int64_t run = partM.run();
    Value row = code.add(firstM, code.add(partM.begin(code, threadM, i / run),
                                          code.constant(i % run)));
    code.ifTrue(code.isLess(row, endM), [&] {
      for (int64_t j = 0; j < tile.threadN; ++j) {
        int64_t width = partN.run();
        Value column =
            code.add(firstN, code.add(partN.begin(code, threadN, j / width),
                                      code.constant(j % width)));
        Value value = sums[i * tile.threadN + j];
        // Nobody can be told here, so nothing that is computed is a number.
        if (isWrong)
          value = code.select(
              isWrong, code.constant(sum.getSumType(), std::nan("")), value);
        code.ifTrue(code.isLess(column, code.constant(n)), [&] {
          if (tile.splits > 1) {
            Value all = code.constant(countOf(product.batch) * m * n);
            Value line = code.add(code.mul(batch, m), row);
            Value at = code.add(code.mul(split, all),
                                code.add(code.mul(line, n), column));
            return code.store(value, code.getMemory(resultMemory()), at);
          }
          sum.storeSum(value,
                       sum.add(base, sum.add(sum.walk(product.m, row),
                                             sum.walk(product.n, column))),
                       bias, code.getMemory(resultMemory()));
        });
      }
    });
  }
}

void TileWriter::write() {
  placeTile();
  makeSides();
  Values carried(tile.threadM * tile.threadN, sum.zero());
  size_t numSums = carried.size();
  llvm::append_range(carried, loadStep(beginK));
  Values made =
      code.loop(beginK, endK, tile.depth, carried,
                [&](Value first, ValueRange now) -> Values {
                  if (!isSeeded(WriterFault::stepOverwritesBeforeItIsRead))
                    code.barrier();
                  storeStep(Values(now.drop_front(numSums)));
                  if (!isSeeded(WriterFault::stepReadsBeforeItIsStored))
                    code.barrier();
                  Values terms =
                      loadStep(code.add(first, code.constant(tile.depth)));
                  Values next = addStep(now.take_front(numSums));
                  llvm::append_range(next, terms);
                  return next;
                });
  storeSums(ArrayRef(made).take_front(numSums));
}

void writeTile(GridCode &code, const Product &product,
               const ProductTile &tile) {
  TileWriter(code, product, tile).write();
}

} // namespace llmc::kernels
