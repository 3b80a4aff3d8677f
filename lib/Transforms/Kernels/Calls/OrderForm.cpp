//===- OrderForm.cpp - Orders along a dim by own kernels ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OrderForm.h. Runs of a long row lie in memory as positions, the part of
// each that may be among the `count` first:
//
//   count 3 of 9 elements, parts of 4:  5 1 8 2 | 7 0 3 9 | 4
//   after the parts:                    1 3 0   | 1 2 0   | 0   (+ part's
//   begin) after one merge:                    5 1 3             | 8 after the
//   next one, the result:     5 1 3
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "OrderForm.h"
#include "../WriterFaults.h"
#include "OrderKeys.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

/// Elements of a row where each counts what stands before it.
constexpr int64_t shortRow = 64;

/// Threads of a block.
constexpr int64_t rankThreads = 128, blockThreads = 256;

/// Shared memory of a block (GpuTarget.cpp).
constexpr int64_t mostShared = 24 << 10, mostPart = 2048;

/// Runs of a row, in order each: number r is of the elements from r * span on.
struct Runs {
  int64_t size = 1, count = 1; ///< Of the row; what is asked for.
  int64_t span = 1;            ///< Elements that a run is of.

  int64_t number() const { return llvm::divideCeil(size, span); }
  /// Elements of a run that are kept, and what lies from run to run.
  int64_t kept() const { return std::min(count, span); }
  Runs merged() const { return {size, count, 2 * span}; }
  /// Elements of run `run` that there are.
  Value lengthOf(GridCode &code, Value run) const {
    Value begin = code.min(code.mul(run, span), code.constant(size));
    return code.min(code.sub(code.constant(size), begin),
                    code.constant(kept()));
  }
};

/// Elements that a block puts into order at most: a power of two.
int64_t findPart(const rt::ArgsortShape &shape) {
  int64_t bytes = 4; // Of the position.
  for (const rt::ArgsortKey &key : shape.keys)
    bytes += rt::sizeOf(key.dtype);
  int64_t part = mostPart;
  while (part > 2 && part * bytes > mostShared)
    part /= 2;
  return part;
}

//===----------------------------------------------------------------------===//
// Short rows
//===----------------------------------------------------------------------===//

void writeRanks(GridCode &code, const rt::ArgsortShape &shape) {
  OrderKeys keys(code, shape);
  code.forRow(rankThreads, [&](Value number) {
    Value row = code.div(number, shape.size);
    OrderItem mine = keys.load(row, code.rem(number, shape.size));
    Values rank = code.loop(
        code.constant(0), code.constant(shape.size), 1, code.constant(0),
        [&](Value place, ValueRange carried) -> Values {
          Value isBefore = keys.isBefore(keys.load(row, place), mine);
          return {code.add(carried[0], code.select(isBefore, code.constant(1),
                                                   code.constant(0)))};
        });
    code.ifTrue(code.isLess(rank[0], code.constant(shape.count)), [&] {
      keys.storeResult(code.getMemory(shape.keys.size()), row, rank[0],
                       mine.place);
    });
  });
}

//===----------------------------------------------------------------------===//
// Rows of a block
//===----------------------------------------------------------------------===//

/// A part of a row in shared memory.
class BlockOrder {
public:
  BlockOrder(GridCode &code, const rt::ArgsortShape &shape, int64_t part,
             int64_t threads)
      : code(code), shape(shape), keys(code, shape), part(part),
        threads(threads) {
    for (unsigned key = 0; key < shape.keys.size(); ++key)
      shared.push_back(code.makeShared(keys.getType(key), part));
    places = code.makeShared(code.getWordType(), part);
  }

  /// Brings the elements of `row` from `begin` on.
  void load(Value row, Value begin);
  void sort();
  /// `body` is given each place of the part and the element there.
  void forEach(function_ref<void(Value, Value)> body);

private:
  OrderItem get(Value at);
  void set(const OrderItem &item, Value at);
  void exchange(Value size, Value distance, Value pair);

  GridCode &code;
  const rt::ArgsortShape &shape;
  OrderKeys keys;
  int64_t part, threads;
  Values shared;
  Value places;
};

OrderItem BlockOrder::get(Value at) {
  OrderItem item;
  for (Value memory : shared)
    item.keys.push_back(code.load(memory, at));
  item.place = code.load(places, at);
  return item;
}

void BlockOrder::set(const OrderItem &item, Value at) {
  for (auto [memory, key] : llvm::zip_equal(shared, item.keys))
    code.store(key, memory, at);
  code.store(item.place, places, at);
}

void BlockOrder::load(Value row, Value begin) {
  code.loop(code.getThread(), code.constant(part), threads, {},
            [&](Value at, ValueRange) -> Values {
              Value place = code.add(begin, at);
              Value isIn = code.isLess(place, code.constant(shape.size));
              OrderItem item =
                  keys.load(row, code.select(isIn, place, code.constant(0)));
              OrderItem last = keys.makeLast(place);
              item.place = place;
              set(keys.select(isIn, item, last), at);
              return {};
            });
}

/// Puts elements `distance` apart into the order that runs of `size` have,
/// every other of which descends.
void BlockOrder::exchange(Value size, Value distance, Value pair) {
  // The bits of the pair's number make room for that of the distance.
  Value below = code.sub(distance, code.constant(1));
  Value low =
      arith::AndIOp::create(code.getBuilder(), code.getLoc(), pair, below);
  Value at = code.add(code.mul(code.sub(pair, low), 2), low);
  Value partner = code.add(at, distance);
  OrderItem left = get(at), right = get(partner);
  Value ascends = code.isEqual(
      arith::AndIOp::create(code.getBuilder(), code.getLoc(), at, size),
      code.constant(0));
  Value isWrong = code.isEqual(keys.isBefore(right, left), ascends);
  code.ifTrue(isWrong, [&] {
    set(right, at);
    set(left, partner);
  });
}

void BlockOrder::sort() {
  auto power = [&](Value exponent) -> Value {
    return arith::ShLIOp::create(code.getBuilder(), code.getLoc(),
                                 code.constant(1), exponent);
  };
  int64_t last = llvm::Log2_64(part);
  code.loop(code.constant(1), code.constant(last + 1), 1, {},
            [&](Value exponent, ValueRange) -> Values {
              Value size = power(exponent);
              code.loop(code.constant(0), exponent, 1, {},
                        [&](Value step, ValueRange) -> Values {
                          Value distance = power(code.sub(
                              code.sub(exponent, code.constant(1)), step));
                          if (!isSeeded(WriterFault::exchangesHaveNoBarrier))
                            code.barrier();
                          code.loop(code.getThread(), code.constant(part / 2),
                                    threads, {},
                                    [&](Value pair, ValueRange) -> Values {
                                      exchange(size, distance, pair);
                                      return {};
                                    });
                          return {};
                        });
              return {};
            });
  code.barrier();
}

void BlockOrder::forEach(function_ref<void(Value, Value)> body) {
  code.loop(code.getThread(), code.constant(part), threads, {},
            [&](Value at, ValueRange) -> Values {
              body(at, code.load(places, at));
              return {};
            });
}

/// Puts the parts of rows into order: `runs` of `part` elements each. One is
/// the row's whole order.
void writeParts(GridCode &code, const rt::ArgsortShape &shape, const Runs &runs,
                int64_t part, int64_t threads) {
  BlockOrder order(code, shape, part, threads);
  Value number = code.getBlockRow();
  Value row = code.div(number, runs.number()),
        run = code.rem(number, runs.number());
  order.load(row, code.mul(run, part));
  order.sort();
  OrderKeys keys(code, shape);
  Value memory = code.getMemory(shape.keys.size());
  Value length = runs.lengthOf(code, run);
  order.forEach([&](Value at, Value place) {
    code.ifTrue(code.isLess(at, length), [&] {
      if (runs.number() == 1)
        return keys.storeResult(memory, row, at, place);
      Value to = code.add(code.mul(number, runs.kept()), at);
      code.store(code.toWidth(place, code.getBuilder().getI32Type()), memory,
                 to);
    });
  });
}

//===----------------------------------------------------------------------===//
// Long rows
//===----------------------------------------------------------------------===//

/// Merges each two runs: an element stands as far as it stands in its run, and
/// as many elements of the other run stand before it.
class Merge {
public:
  Merge(GridCode &code, const rt::ArgsortShape &shape, const Runs &runs)
      : code(code), shape(shape), runs(runs), keys(code, shape) {}

  void write();

private:
  Value loadPlace(Value row, Value run, Value at);
  Value countBefore(Value row, Value run, const OrderItem &item);

  GridCode &code;
  const rt::ArgsortShape &shape;
  const Runs &runs;
  OrderKeys keys;
};

Value Merge::loadPlace(Value row, Value run, Value at) {
  Value line = code.add(code.mul(row, runs.number()), run);
  Value from = code.add(code.mul(line, runs.kept()), at);
  return code.toWidth(code.load(code.getMemory(shape.keys.size()), from),
                      code.getWordType());
}

/// By halving what is left of the run, as often as a whole one needs.
Value Merge::countBefore(Value row, Value run, const OrderItem &item) {
  Value length = runs.lengthOf(code, run);
  int64_t rounds = llvm::Log2_64_Ceil(runs.kept() + 1);
  Values range = code.loop(
      code.constant(0), code.constant(rounds), 1,
      ValueRange{code.constant(0), length},
      [&](Value, ValueRange now) -> Values {
        Value low = now[0], high = now[1];
        Value middle = code.add(low, code.div(code.sub(high, low), 2));
        Value isAny = code.isLess(low, high);
        // There is a first element of each run that is asked.
        Value at = code.select(isAny, middle, code.constant(0));
        OrderItem other = keys.load(row, loadPlace(row, run, at));
        Value isBefore = keys.isBefore(other, item);
        Value up = code.both(isAny, isBefore);
        return {code.select(up, code.add(middle, code.constant(1)), low),
                code.select(up, high, code.select(isAny, middle, high))};
      });
  return range[0];
}

void Merge::write() {
  Runs next = runs.merged();
  code.forRow(blockThreads, [&](Value number) {
    Value at = code.rem(number, runs.kept());
    Value line = code.div(number, runs.kept());
    Value run = code.rem(line, runs.number()),
          row = code.div(line, runs.number());
    code.ifTrue(code.isLess(at, runs.lengthOf(code, run)), [&] {
      OrderItem item = keys.load(row, loadPlace(row, run, at));
      Value isOdd = code.rem(run, 2);
      Value partner =
          code.sub(code.add(run, code.constant(1)), code.mul(isOdd, 2));
      // The last run may have none, and then stays as it is.
      Value isThere = code.isLess(partner, code.constant(runs.number()));
      Value asked = code.select(isThere, partner, run);
      Value before =
          code.select(isThere, countBefore(row, asked, item), code.constant(0));
      Value rank = code.add(at, before);
      Value isKept = code.isLess(rank, code.constant(next.kept()));
      if (isSeeded(WriterFault::lastRunIsForgotten))
        isKept = code.both(isKept, isThere);
      Value memory = code.getMemory(shape.keys.size() + 1);
      code.ifTrue(isKept, [&] {
        if (next.number() == 1)
          return keys.storeResult(memory, row, rank, item.place);
        Value to = code.add(
            code.mul(code.add(code.mul(row, next.number()), code.div(run, 2)),
                     next.kept()),
            rank);
        code.store(code.toWidth(item.place, code.getBuilder().getI32Type()),
                   memory, to);
      });
    });
  });
}

} // namespace

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A launch that reads all keys and `from`, where it is one, and writes `to`.
static CallLaunch makeLaunch(const rt::ArgsortShape &shape, bool isWide,
                             std::optional<unsigned> from, unsigned to) {
  CallLaunch launch;
  launch.isWide = isWide;
  for (unsigned key = 0; key < shape.keys.size(); ++key)
    launch.memory.push_back({key});
  if (from)
    launch.memory.push_back({*from});
  launch.memory.push_back({to, dist::Access::Write});
  launch.shape.alignment = 16;
  return launch;
}

CallPlan planOrder(const rt::ArgsortShape &shape,
                   ArrayRef<RankedTensorType> buffers) {
  int64_t rows = shape.outer * shape.inner, part = findPart(shape);
  unsigned result = shape.keys.size();
  bool isWide = needsWide(4 * rows * std::max(shape.size, part));
  CallPlan plan;
  if (shape.size <= shortRow) {
    CallLaunch launch = makeLaunch(shape, isWide, {}, result);
    launch.rows = rows * shape.size;
    launch.shape.threads = launch.shape.rowsPerBlock = rankThreads;
    launch.write = [shape](GridCode &code) { writeRanks(code, shape); };
    return {{}, {launch}};
  }
  part = std::min<int64_t>(part, llvm::PowerOf2Ceil(shape.size));
  Runs runs{shape.size, shape.count, part};
  int64_t threads = std::min(blockThreads, std::max<int64_t>(32, part / 2));
  Builder builder(buffers[0].getContext());
  /// The memory of `runs`: the result, or a temporary.
  auto add = [&](const Runs &made) -> unsigned {
    if (made.number() == 1)
      return result;
    plan.temporaries.push_back(RankedTensorType::get(
        {rows * made.number() * made.kept()}, builder.getI32Type()));
    return result + plan.temporaries.size();
  };
  unsigned last = add(runs);
  CallLaunch parts = makeLaunch(shape, isWide, {}, last);
  parts.rows = rows * runs.number();
  parts.shape.threads = threads;
  parts.write = [shape, runs, part, threads](GridCode &code) {
    writeParts(code, shape, runs, part, threads);
  };
  plan.launches.push_back(parts);
  for (; runs.number() > 1; runs = runs.merged()) {
    unsigned next = add(runs.merged());
    CallLaunch merge = makeLaunch(shape, isWide, last, next);
    merge.rows = rows * runs.number() * runs.kept();
    merge.shape.threads = merge.shape.rowsPerBlock = blockThreads;
    merge.write = [shape, runs](GridCode &code) {
      Merge(code, shape, runs).write();
    };
    plan.launches.push_back(merge);
    last = next;
  }
  return plan;
}

} // namespace llmc::kernels
