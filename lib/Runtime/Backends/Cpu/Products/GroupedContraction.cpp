//===- GroupedContraction.cpp - Products of groups of rows ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   100 rows of a group   ->  runs of 64, 32 and 4 rows
//   columns 64, 2 threads ->  each group's columns [0, 32) [32, 64)
//
// Threads share an index of the matrices, so that each has its part of every
// group, however uneven these are. Where rows are contracted, runs after the
// first are added to c; a c of fewer bits than the sums gets them at the end.
// What no group fills is written as a contraction over nothing.
//
// Tested by test/Runtime/Device/GroupedContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "GroupedContraction.h"

#include "../Entry.h"
#include "Contraction.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

namespace {

using Index = ContractionIndex;
using Kind = ContractionIndexKind;

/// Rows of the longest run: with more a primitive gets no faster.
constexpr int64_t mostRows = 512;

/// Contractions of 1, 2, 4 ... rows.
class RowRuns {
public:
  /// `rows` is the number of the index that counts rows.
  Status prepare(ContractionShape shape, const std::string &name, size_t rows) {
    index = shape.indices[rows];
    types = shape;
    int64_t all = std::min(index.size, mostRows);
    for (int64_t count = 1; count <= all; count *= 2) {
      shape.indices[rows].size = count;
      MatrixShape matrix = toMatrix(shape, name);
      LLMC_TRY_ASSIGN(auto slice, makeSlice(matrix));
      workspace = std::max(workspace, slice->workspaceBytes());
      slices.push_back(std::move(slice));
    }
    return Status::success();
  }
  uint64_t workspaceBytes() const { return workspace; }

  /// How many rows the next run of `count` has.
  int64_t next(int64_t count) const {
    size_t power = powerOf(count);
    return int64_t(1) << power;
  }
  /// Runs the next run of the rows from `begin` on.
  void run(int64_t begin, int64_t count, SliceBuffers at) const {
    SlicePlace place = placeOf(types, index, begin);
    at.a = static_cast<const char *>(at.a) + place.a;
    at.b = static_cast<const char *>(at.b) + place.b;
    at.c = static_cast<char *>(at.c) + place.c;
    slices[powerOf(count)]->run(at);
  }
  void runAll(int64_t begin, int64_t end, const SliceBuffers &at) const {
    for (int64_t run = 0; begin < end; begin += run) {
      run = next(end - begin);
      this->run(begin, end - begin, at);
    }
  }

private:
  size_t powerOf(int64_t count) const {
    size_t power = 0;
    while (power + 1 < slices.size() && (int64_t(2) << power) <= count) {
      ++power;
    }
    return power;
  }

  ContractionShape types;
  Index index;
  std::vector<std::unique_ptr<OpSlice>> slices;
  uint64_t workspace = 0;
};

bool isContracted(const GroupedContractionShape &shape) {
  return shape.product.indices[shape.rows].kind == Kind::k;
}

/// `shape` with sums in memory of their own, row-major, and how they become the
/// result: times one.
struct WideSums {
  ContractionShape sums, rounding;
  int64_t elements = 1;

  explicit WideSums(const ContractionShape &shape)
      : sums(shape), rounding(shape) {
    sums.c = rounding.a = rounding.b = shape.accumulate;
    sums.beta = 0;
    rounding.indices.clear();
    for (size_t i = sums.indices.size(); i-- > 0;) {
      Index &index = sums.indices[i];
      if (index.kind == Kind::k) {
        continue;
      }
      rounding.indices.insert(
          rounding.indices.begin(),
          Index{Kind::m, index.size, elements, 0, index.strideC, 0});
      index.strideC = elements;
      elements *= index.size;
    }
  }
};

/// What one thread does of a group's rows.
class TicketWork {
public:
  Status prepare(const GroupedContractionShape &part, const std::string &name,
                 const SlicePlace &begin) {
    place = begin;
    strideB = isContracted(part) ? 0 : part.stride * sizeOf(part.product.b);
    strideC = isContracted(part) ? part.stride * sizeOf(part.product.c) : 0;
    isAdded = part.product.beta != 0;
    accumulate = part.product.accumulate;
    rows = part.product.indices[part.rows].size;
    ContractionShape nothing = part.product;
    if (!isContracted(part)) {
      for (Index &index : nothing.indices) {
        index.size = index.kind == Kind::k ? 0 : index.size;
      }
      nothing.indices.push_back(Index{Kind::k, 0, 0, 0, 0, 0});
      LLMC_TRY(zeros.prepare(nothing, name, part.rows));
      return products.prepare(part.product, name, part.rows);
    }
    nothing.indices[part.rows].size = 0;
    LLMC_TRY_ASSIGN(zero, makeLoopSlice(toMatrix(nothing, name)));
    ContractionShape first = part.product;
    if (isFloat(first.c) && sizeOf(first.c) < sizeOf(first.accumulate)) {
      WideSums wide(first);
      first = wide.sums;
      sumBytes = (wide.elements * sizeOf(first.c) + 63) / 64 * 64;
      LLMC_TRY_ASSIGN(rounding, makeLoopSlice(toMatrix(wide.rounding, name)));
    }
    LLMC_TRY(products.prepare(first, name, part.rows));
    first.beta = 1;
    return more.prepare(first, name, part.rows);
  }

  uint64_t workspaceBytes() const {
    uint64_t most = std::max({products.workspaceBytes(), more.workspaceBytes(),
                              zeros.workspaceBytes()});
    return sumBytes + (most + 63) / 64 * 64;
  }

  /// The group's matrix is number `matrix` of b.
  void multiply(int64_t matrix, int64_t begin, int64_t end,
                SliceBuffers at) const {
    at.b = static_cast<const char *>(at.b) + matrix * strideB;
    products.runAll(begin, end, cut(at));
  }
  /// Rows of no group.
  void clear(int64_t begin, int64_t end, const SliceBuffers &at) const {
    if (!isAdded) {
      zeros.runAll(begin, end, cut(at));
    }
  }
  /// The rows' sum is matrix number `matrix` of c.
  void contract(int64_t matrix, int64_t begin, int64_t end,
                SliceBuffers at) const {
    at.c = static_cast<char *>(at.c) + matrix * strideC;
    at = cut(at);
    if (begin == end) {
      if (!isAdded) {
        zero->run(at);
      }
      return;
    }
    SliceBuffers to = at;
    to.workspace = static_cast<char *>(at.workspace) + sumBytes;
    if (rounding) {
      to.c = at.workspace;
    }
    products.run(begin, end - begin, to);
    more.runAll(begin + products.next(end - begin), end, to);
    if (rounding) {
      static constexpr float one = 1;
      static constexpr double wideOne = 1;
      bool isWide = accumulate == DType::f64;
      const void *factor = isWide ? static_cast<const void *>(&wideOne) : &one;
      rounding->run({to.c, factor, nullptr, at.c, to.workspace});
    }
  }

  int64_t rows = 0; ///< Of all groups and of none.

private:
  SliceBuffers cut(SliceBuffers at) const {
    at.a = static_cast<const char *>(at.a) + place.a;
    at.b = static_cast<const char *>(at.b) + place.b;
    at.c = static_cast<char *>(at.c) + place.c;
    return at;
  }

  SlicePlace place;
  int64_t strideB = 0, strideC = 0; ///< From group to group, in bytes.
  bool isAdded = false;
  DType accumulate = DType::f32;
  RowRuns products, more, zeros;
  std::unique_ptr<OpSlice> zero, rounding;
  uint64_t sumBytes = 0;
};

/// The lists of a call.
struct Groups {
  const GroupedContractionShape &shape;
  const uint64_t *buffers;

  int64_t size(int64_t batch, int64_t group) const {
    int64_t line = shape.hasOwnSizes ? batch * shape.numSizes : 0;
    return loadInteger(shape.sizes, reinterpret_cast<const void *>(buffers[2]),
                       line + group);
  }
  /// The number of the first matrix' group.
  int64_t first(int64_t batch) const {
    return shape.hasFirst
               ? loadInteger(shape.sizes,
                             reinterpret_cast<const void *>(buffers[3]), batch)
               : 0;
  }
};

class GroupedContraction final : public CpuLibraryOp {
public:
  explicit GroupedContraction(const GroupedContractionShape &shape)
      : shape(shape) {}

  Status prepare(const std::string &name, int threads);

  int tickets() const override { return static_cast<int>(work.size()); }
  uint64_t workspaceBytes() const override { return bytes * work.size(); }
  Status check(const uint64_t *buffers) const override;
  void run(const uint64_t *buffers, void *workspace, int ticket) const override;

private:
  bool hasLists() const { return shape.hasOwnSizes || shape.hasFirst; }
  SliceBuffers placeOf(const uint64_t *buffers, int64_t batch) const;
  void runFree(const TicketWork &part, const Groups &groups, int64_t batch,
               const SliceBuffers &at) const;
  void runContracted(const TicketWork &part, const Groups &groups,
                     int64_t batch, const SliceBuffers &at) const;

  GroupedContractionShape shape;
  std::vector<Index> batch; ///< Where each has a list.
  int64_t numBatches = 1;
  std::vector<TicketWork> work;
  uint64_t bytes = 0; ///< Of one ticket.
};

/// The index that threads share: a long one of the matrices.
Index *findCut(GroupedContractionShape &shape, int threads) {
  Index *best = nullptr;
  auto isBetter = [&](const Index &index) {
    return !best || std::min<int64_t>(index.size, threads) >
                        std::min<int64_t>(best->size, threads);
  };
  for (Kind kind : {Kind::batch, Kind::n, Kind::m}) {
    for (Index &index : shape.product.indices) {
      bool isRows = &index == &shape.product.indices[shape.rows];
      if (index.kind == kind && !isRows && isBetter(index)) {
        best = &index;
      }
    }
  }
  return best;
}

/// The same without the indices of the batch.
GroupedContractionShape ofOneBatch(const GroupedContractionShape &shape) {
  GroupedContractionShape one = shape;
  one.product.indices.clear();
  for (size_t i = 0; i < shape.product.indices.size(); ++i) {
    if (i == static_cast<size_t>(shape.rows)) {
      one.rows = static_cast<int32_t>(one.product.indices.size());
    }
    if (shape.product.indices[i].kind != Kind::batch) {
      one.product.indices.push_back(shape.product.indices[i]);
    }
  }
  return one;
}

} // namespace

Status GroupedContraction::prepare(const std::string &name, int threads) {
  GroupedContractionShape part = shape;
  if (hasLists()) {
    part = ofOneBatch(shape);
    for (const Index &index : shape.product.indices) {
      if (index.kind == Kind::batch) {
        batch.push_back(index);
        numBatches *= index.size;
      }
    }
  }
  Index *cut = findCut(part, threads);
  int64_t extent = cut ? cut->size : 1;
  int tickets = static_cast<int>(std::clamp<int64_t>(extent, 1, threads));
  work.resize(tickets);
  for (int ticket = 0; ticket < tickets; ++ticket) {
    Range range = ticketRange(extent, ticket, tickets);
    SlicePlace place;
    if (cut) {
      cut->size = range.end - range.begin;
      place = cpu::placeOf(part.product, *cut, range.begin);
    }
    LLMC_TRY(work[ticket].prepare(part, name, place));
    bytes = std::max(bytes, work[ticket].workspaceBytes());
  }
  return Status::success();
}

Status GroupedContraction::check(const uint64_t *buffers) const {
  Groups groups{shape, buffers};
  int64_t rows = work.front().rows;
  for (int64_t b = 0; b < (shape.hasOwnSizes ? numBatches : 1); ++b) {
    int64_t left = rows;
    for (int64_t group = 0; group < shape.numSizes; ++group) {
      int64_t size = groups.size(b, group);
      if (size < 0 || size > left) {
        return makeError(ErrorKind::mismatch,
                         fmt::format("expected groups of at least 0 rows and "
                                     "at most {} together, got {} of group {} "
                                     "behind {}",
                                     rows, size, group, rows - left));
      }
      left -= size;
    }
  }
  return Status::success();
}

SliceBuffers GroupedContraction::placeOf(const uint64_t *buffers,
                                         int64_t number) const {
  SlicePlace place;
  for (size_t i = batch.size(); i-- > 0; number /= batch[i].size) {
    SlicePlace step =
        cpu::placeOf(shape.product, batch[i], number % batch[i].size);
    place.a += step.a;
    place.b += step.b;
    place.c += step.c;
  }
  auto at = [&](size_t operand, int64_t offset) {
    return reinterpret_cast<char *>(buffers[operand]) + offset;
  };
  return {at(0, place.a), at(1, place.b), nullptr,
          at(shape.hasFirst ? 4 : 3, place.c), nullptr};
}

/// Sizes are numbers of rows: `check` has been asked. What they are not in a
/// group whose matrix lies here, nothing is computed of.
void GroupedContraction::runFree(const TicketWork &part, const Groups &groups,
                                 int64_t batch, const SliceBuffers &at) const {
  auto first = static_cast<uint64_t>(groups.first(batch));
  int64_t row = 0, filled = 0;
  for (int64_t group = 0; group < shape.numSizes; ++group) {
    int64_t size = groups.size(batch, group);
    uint64_t matrix = static_cast<uint64_t>(group) - first;
    if (matrix < static_cast<uint64_t>(shape.groups) && size > 0) {
      part.clear(filled, row, at);
      part.multiply(static_cast<int64_t>(matrix), row, row + size, at);
      filled = row + size;
    }
    row += size;
  }
  part.clear(filled, part.rows, at);
}

void GroupedContraction::runContracted(const TicketWork &part,
                                       const Groups &groups, int64_t batch,
                                       const SliceBuffers &at) const {
  auto first = static_cast<uint64_t>(groups.first(batch));
  int64_t row = 0;
  for (int64_t group = 0; group < shape.numSizes; ++group) {
    int64_t size = groups.size(batch, group);
    uint64_t matrix = static_cast<uint64_t>(group) - first;
    if (matrix < static_cast<uint64_t>(shape.groups)) {
      part.contract(static_cast<int64_t>(matrix), row, row + size, at);
    }
    row += size;
  }
  for (int64_t matrix = 0; matrix < shape.groups; ++matrix) {
    if (static_cast<uint64_t>(matrix) + first >=
        static_cast<uint64_t>(shape.numSizes)) {
      part.contract(matrix, 0, 0, at);
    }
  }
}

void GroupedContraction::run(const uint64_t *buffers, void *workspace,
                             int ticket) const {
  const TicketWork &part = work[static_cast<size_t>(ticket)];
  Groups groups{shape, buffers};
  for (int64_t b = 0; b < numBatches; ++b) {
    SliceBuffers at = placeOf(buffers, b);
    at.workspace = static_cast<char *>(workspace) + ticket * bytes;
    if (isContracted(shape)) {
      runContracted(part, groups, b, at);
    } else {
      runFree(part, groups, b, at);
    }
  }
}

/// What a processor does not have.
static Status checkShape(const GroupedContractionShape &shape,
                         const std::string &name) {
  const ContractionShape &product = shape.product;
  LLMC_TRY(checkContraction(product, name));
  auto rows = static_cast<size_t>(shape.rows);
  bool sound = shape.rows >= 0 && rows < product.indices.size() &&
               product.indices[rows].kind != Kind::batch &&
               product.indices[rows].kind != Kind::n && !product.hasBias &&
               product.alpha == 1 && product.activation == Activation::none &&
               !isFloat(shape.sizes) && shape.stride >= 0 &&
               shape.groups >= 0 && shape.numSizes >= 0;
  constexpr int64_t most = int64_t(1) << 60;
  Checked sums = 8;
  for (const Index &index : product.indices) {
    sums = index.kind == Kind::k ? sums : sums * index.size;
  }
  sound = sound && sums.within(0, most);
  return sound ? Status::success()
               : makeError(ErrorKind::mismatch,
                           fmt::format("expected rows m or k, integer sizes, "
                                       "counts of at least 0, less than 2^60 "
                                       "bytes, and no bias, factor or "
                                       "activation in grouped contraction "
                                       "'{}'",
                                       name));
}

Result<std::unique_ptr<CpuLibraryOp>>
makeGroupedContraction(const GroupedContractionShape &shape,
                       const std::string &name, int threads) {
  LLMC_TRY(checkShape(shape, name));
  auto op = std::make_unique<GroupedContraction>(shape);
  LLMC_TRY(op->prepare(name, threads));
  return std::unique_ptr<CpuLibraryOp>(std::move(op));
}

} // namespace llmc::rt::cpu
