//===- Argsort.cpp - Orders along a dim on CPU ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   64 rows, 2 threads                 ->  rows [0, 32) [32, 64)
//   1 row of 1,000,000, 2 threads      ->  the lesser half, the greater half
//   the first 8 of a row of 50,000     ->  a heap of 8 items
//
// Each thread of a long row finds the items between two splitters, which all
// find alike in a sample of the row. As many items as are less stand before
// these, so the threads need not wait for one another.
//
// Tested by test/Runtime/Device/ArgsortTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Argsort.h"

#include "Entry.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

namespace {

struct Numbers {
  uint64_t *begin;
  int64_t count;
};

/// A key as an unsigned number that grows in its order: negative floats have
/// all bits flipped, positive ones and integers with a sign have that flipped.
class KeyBits {
public:
  explicit KeyBits(const ArgsortKey &key) : bytes(sizeOf(key.dtype)) {
    uint64_t all = ~uint64_t(0) >> (64 - bits());
    bool isUnsigned = !isFloat(key.dtype) && !isSignedInteger(key.dtype);
    // The other bits of its byte count for nothing.
    used = key.dtype == DType::u4 ? 15 : all;
    sign = isUnsigned ? 0 : uint64_t(1) << (bits() - 1);
    flipped = sign;
    flippedOfNegative = isFloat(key.dtype) ? all : sign;
    if (key.isDescending) {
      flipped ^= all;
      flippedOfNegative ^= all;
    }
  }

  int64_t bits() const { return 8 * bytes; }
  uint64_t at(const void *base, int64_t i) const {
    uint64_t number = 0;
    append(base, i, 1, {&number, 1});
    return number;
  }
  /// Appends the numbers of elements to the bits that `all` has: those of
  /// `first` and of every `stride`th after it.
  void append(const void *base, int64_t first, int64_t stride,
              Numbers all) const {
    switch (bytes) {
    case 1:
      return appendAs<uint8_t>(base, first, stride, all);
    case 2:
      return appendAs<uint16_t>(base, first, stride, all);
    case 4:
      return appendAs<uint32_t>(base, first, stride, all);
    default:
      return appendAs<uint64_t>(base, first, stride, all);
    }
  }

private:
  template <typename T>
  void appendAs(const void *base, int64_t first, int64_t stride,
                Numbers all) const {
    const T *from = static_cast<const T *>(base) + first;
    for (int64_t i = 0; i < all.count; ++i) {
      T value;
      std::memcpy(&value, from + i * stride, sizeof(T));
      uint64_t number =
          (value & used) ^ ((value & sign) != 0 ? flippedOfNegative : flipped);
      constexpr int width = 8 * sizeof(T);
      all.begin[i] =
          width == 64 ? number : all.begin[i] << (width % 64) | number;
    }
  }

  int64_t bytes;
  uint64_t sign = 0, used = 0, flipped = 0, flippedOfNegative = 0;
};

/// The keys of a call. The first ones, as many as have 64 bits together, are
/// one number.
struct Keys {
  std::vector<KeyBits> list;
  size_t numLeading = 0;
  int64_t leadingBits = 0;

  explicit Keys(const ArgsortShape &shape) {
    for (const ArgsortKey &key : shape.keys) {
      list.emplace_back(key);
      if (numLeading + 1 == list.size() &&
          leadingBits + list.back().bits() <= 64) {
        leadingBits += list.back().bits();
        ++numLeading;
      }
    }
  }
  /// An item is one number of 64 bits.
  bool isNarrow() const {
    return numLeading == list.size() && leadingBits <= 32;
  }
};

/// A row of a call: where its elements lie in the buffers of the keys.
struct Row {
  const Keys &keys;
  const uint64_t *buffers;
  int64_t begin, stride;

  uint64_t keyAt(size_t key, int64_t position) const {
    return keys.list[key].at(reinterpret_cast<const void *>(buffers[key]),
                             begin + position * stride);
  }
  /// The leading keys of the elements from `position` on.
  void readLeading(int64_t position, Numbers all) const {
    std::fill_n(all.begin, all.count, 0);
    for (size_t key = 0; key < keys.numLeading; ++key) {
      keys.list[key].append(reinterpret_cast<const void *>(buffers[key]),
                            begin + position * stride, stride, all);
    }
  }
};

/// Keys of at most 32 bits, and the position.
struct NarrowItem {
  uint64_t both;

  static NarrowItem of(uint64_t leading, int64_t position) {
    return {leading << 32 | static_cast<uint64_t>(position)};
  }
  int32_t position() const { return static_cast<int32_t>(both); }
  bool isBefore(const NarrowItem &other, const Row &) const {
    return both < other.both;
  }
};

/// The leading keys, and the position; the other keys are read where they lie.
struct WideItem {
  uint64_t leading;
  int32_t place;

  static WideItem of(uint64_t leading, int64_t position) {
    return {leading, static_cast<int32_t>(position)};
  }
  int32_t position() const { return place; }
  bool isBefore(const WideItem &other, const Row &row) const {
    if (leading != other.leading) {
      return leading < other.leading;
    }
    for (size_t key = row.keys.numLeading; key < row.keys.list.size(); ++key) {
      uint64_t mine = row.keyAt(key, place),
               theirs = row.keyAt(key, other.place);
      if (mine != theirs) {
        return mine < theirs;
      }
    }
    return place < other.place;
  }
};

/// Visits the items of the elements from `first` to `end`.
template <typename Item, typename Visit>
void forEachItem(const Row &row, int64_t first, int64_t end, Visit visit) {
  constexpr int64_t most = 128;
  uint64_t leading[most];
  for (; first < end; first += most) {
    int64_t count = std::min(most, end - first);
    row.readLeading(first, {leading, count});
    for (int64_t i = 0; i < count; ++i) {
      visit(Item::of(leading[i], first + i));
    }
  }
}

/// How a call is cut.
struct Cut {
  /// All tickets work on each row; else each has rows of its own.
  bool sharesRows = false;
  /// The first ones are kept in a heap while the row is read.
  bool isHeap = false;
  int tickets = 1;
};

/// A row that is worth more than one thread.
constexpr int64_t leastShared = 16384;
/// The first of so many are kept in a heap.
constexpr int64_t mostOfHeap = 8;
/// Of each ticket.
constexpr int64_t samples = 64;

Cut cutOf(const ArgsortShape &shape, int threads) {
  Cut cut;
  int64_t rows = shape.outer * shape.inner;
  cut.isHeap = shape.count <= shape.size / mostOfHeap;
  cut.sharesRows = rows < threads && !cut.isHeap && shape.size >= leastShared;
  cut.tickets = cut.sharesRows
                    ? threads
                    : static_cast<int>(std::clamp<int64_t>(rows, 1, threads));
  return cut;
}

template <typename Item> class ArgsortOp final : public CpuLibraryOp {
public:
  ArgsortOp(const ArgsortShape &shape, int threads)
      : shape(shape), keys(shape), cut(cutOf(shape, threads)) {}

  int tickets() const override { return cut.tickets; }
  /// Items of the rows, then the samples of all tickets.
  uint64_t workspaceBytes() const override {
    int64_t items = cut.isHeap ? shape.count : shape.size;
    items *= cut.sharesRows ? rows() : cut.tickets;
    items += cut.sharesRows ? cut.tickets * numSamples() : 0;
    return static_cast<uint64_t>(items) * sizeof(Item);
  }

  void run(const uint64_t *buffers, void *workspace,
           int ticket) const override {
    auto *items = static_cast<Item *>(workspace);
    if (cut.sharesRows) {
      Item *sample = items + rows() * shape.size + ticket * numSamples();
      for (int64_t row = 0; row < rows(); ++row) {
        orderPart(rowAt(buffers, row), items + row * shape.size, sample, ticket,
                  outAt(buffers, row));
      }
      return;
    }
    items += ticket * (cut.isHeap ? shape.count : shape.size);
    Range range = ticketRange(rows(), ticket, cut.tickets);
    for (int64_t row = range.begin; row < range.end; ++row) {
      if (cut.isHeap) {
        selectFirst(rowAt(buffers, row), items, outAt(buffers, row));
      } else {
        orderRow(rowAt(buffers, row), items, outAt(buffers, row));
      }
    }
  }

private:
  int64_t rows() const { return shape.outer * shape.inner; }
  int64_t numSamples() const { return samples * cut.tickets; }

  Row rowAt(const uint64_t *buffers, int64_t row) const {
    int64_t begin =
        row / shape.inner * shape.size * shape.inner + row % shape.inner;
    return {keys, buffers, begin, shape.inner};
  }
  /// The result's first element of a row; the next lies `inner` after it.
  int32_t *outAt(const uint64_t *buffers, int64_t row) const {
    return reinterpret_cast<int32_t *>(buffers[keys.list.size()]) +
           row / shape.inner * shape.count * shape.inner + row % shape.inner;
  }
  static auto orderOf(const Row &row) {
    return [&row](const Item &a, const Item &b) { return a.isBefore(b, row); };
  }

  /// Puts the items [first, last), which come to stand at `place` of the row,
  /// into order, as far as the result has them.
  void finish(const Row &row, Item *first, Item *last, int64_t place,
              int32_t *out) const {
    int64_t wanted = std::min<int64_t>(last - first, shape.count - place);
    if (wanted <= 0) {
      return;
    }
    if (first + wanted != last) {
      std::nth_element(first, first + wanted, last, orderOf(row));
    }
    std::sort(first, first + wanted, orderOf(row));
    for (int64_t i = 0; i < wanted; ++i) {
      out[(place + i) * shape.inner] = first[i].position();
    }
  }

  void orderRow(const Row &row, Item *items, int32_t *out) const {
    Item *last = items;
    forEachItem<Item>(row, 0, shape.size, [&](Item item) { *last++ = item; });
    finish(row, items, last, 0, out);
  }

  /// The last of the heap's items is its first.
  void selectFirst(const Row &row, Item *heap, int32_t *out) const {
    auto isBefore = orderOf(row);
    Item *end = heap;
    forEachItem<Item>(row, 0, shape.count, [&](Item item) { *end++ = item; });
    if (heap == end) {
      return;
    }
    std::make_heap(heap, end, isBefore);
    forEachItem<Item>(row, shape.count, shape.size, [&](Item item) {
      if (isBefore(item, *heap)) {
        std::pop_heap(heap, end, isBefore);
        end[-1] = item;
        std::push_heap(heap, end, isBefore);
      }
    });
    std::sort_heap(heap, end, isBefore);
    for (int64_t i = 0; i < shape.count; ++i) {
      out[i * shape.inner] = heap[i].position();
    }
  }

  /// The items from this ticket's splitter to the next one's.
  void orderPart(const Row &row, Item *items, Item *sample, int ticket,
                 int32_t *out) const {
    auto isBefore = orderOf(row);
    for (int64_t i = 0; i < numSamples(); ++i) {
      int64_t at = shape.size / numSamples() * i;
      forEachItem<Item>(row, at, at + 1, [&](Item item) { sample[i] = item; });
    }
    std::sort(sample, sample + numSamples(), isBefore);
    const Item *low = ticket == 0 ? nullptr : sample + ticket * samples;
    const Item *high =
        ticket + 1 == cut.tickets ? nullptr : sample + (ticket + 1) * samples;
    int64_t below = 0;
    forEachItem<Item>(row, 0, low ? shape.size : 0, [&](Item item) {
      below += isBefore(item, *low) ? 1 : 0;
    });
    // Parts of the tickets lie side by side.
    Item *first = items + below, *last = first;
    forEachItem<Item>(row, 0, shape.size, [&](Item item) {
      if (!(low && isBefore(item, *low)) && !(high && !isBefore(item, *high))) {
        *last++ = item;
      }
    });
    finish(row, first, last, below, out);
  }

  ArgsortShape shape;
  Keys keys;
  Cut cut;
};

} // namespace

/// Numbers of rows and bytes are numbers.
static Status checkShape(const ArgsortShape &shape, const std::string &name,
                         int threads) {
  constexpr int64_t most = int64_t(1) << 60;
  bool sound = !shape.keys.empty() && shape.outer >= 0 && shape.inner >= 0 &&
               shape.size >= 0 && shape.size <= INT32_MAX && shape.count >= 0 &&
               shape.count <= shape.size;
  for (const ArgsortKey &key : shape.keys) {
    sound = sound && static_cast<int>(key.dtype) < numDTypes;
  }
  Checked elements = Checked(shape.outer) * shape.inner * shape.size * 8;
  Checked scratch = (Checked(shape.size) + samples * threads) * threads *
                    static_cast<int64_t>(sizeof(WideItem));
  sound = sound && elements.within(0, most) && scratch.within(0, most);
  return sound ? Status::success()
               : makeError(ErrorKind::mismatch,
                           fmt::format("expected keys, a count of at most the "
                                       "size, and less than 2^31 elements in a "
                                       "row and 2^60 bytes in argsort '{}'",
                                       name));
}

Result<std::unique_ptr<CpuLibraryOp>>
makeArgsort(const ArgsortShape &shape, const std::string &name, int threads) {
  LLMC_TRY(checkShape(shape, name, threads));
  if (Keys(shape).isNarrow()) {
    return std::unique_ptr<CpuLibraryOp>(
        std::make_unique<ArgsortOp<NarrowItem>>(shape, threads));
  }
  return std::unique_ptr<CpuLibraryOp>(
      std::make_unique<ArgsortOp<WideItem>>(shape, threads));
}

} // namespace llmc::rt::cpu
