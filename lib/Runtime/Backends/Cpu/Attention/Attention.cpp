//===- Attention.cpp - Cuts attention into tickets ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   8 batches of 1024 rows, 2 threads, causal
//     forward   32 pieces of 256 rows, which weigh what they see
//     gradient  batches [0, 4) [4, 8)
//   1 batch of 1024 rows, 2 threads
//     gradient  dq of rows [0, 1024) and dk, dv of columns [0, 128),
//               dk, dv of columns [128, 1024)
//
// Tested by test/Runtime/Device/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Attention.h"

#include "AttentionTask.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <fmt/format.h>

#include <numeric>

namespace llmc::rt::cpu {

namespace {

/// Blocks of so many rows or columns of each of `batches`, with their weights.
struct Segment {
  AttentionPiece::Kind kind = AttentionPiece::Kind::rows;
  int64_t batches = 0, extent = 0, step = 1;
  std::vector<double> weights;

  int64_t pieces() const {
    return batches * static_cast<int64_t>(weights.size());
  }
  double weight() const {
    return static_cast<double>(batches) *
           std::accumulate(weights.begin(), weights.end(), 0.0);
  }
  AttentionPiece at(int64_t piece) const {
    auto blocks = static_cast<int64_t>(weights.size());
    int64_t begin = piece % blocks * step;
    return {kind, piece / blocks, begin, std::min(extent, begin + step)};
  }
  /// The first piece before which there is as much as `target`.
  int64_t find(double target) const {
    double each = std::accumulate(weights.begin(), weights.end(), 0.0);
    auto batch = std::min(batches, static_cast<int64_t>(target / each));
    double before = static_cast<double>(batch) * each;
    int64_t piece = batch * static_cast<int64_t>(weights.size());
    for (size_t i = 0; i < weights.size() && batch < batches; ++i, ++piece) {
      // Nearer to the piece's begin than to its end.
      if (before + weights[i] / 2 >= target) {
        break;
      }
      before += weights[i];
    }
    return piece;
  }
};

class AttentionOp final : public CpuLibraryOp {
public:
  AttentionOp(AttentionSizes sizes, int threads);

  int tickets() const override { return static_cast<int>(ends.size()); }
  uint64_t workspaceBytes() const override { return ends.size() * bytes; }
  void run(const uint64_t *buffers, void *workspace, int ticket) const override;

private:
  void addRows(int64_t batches, int64_t step, double factor);
  void addColumns(double factor);
  void addGradient(int threads);
  void cut(int threads);
  AttentionBuffers name(const uint64_t *buffers) const;

  AttentionSizes sizes;
  std::unique_ptr<AttentionTask> task;
  std::vector<Segment> segments;
  std::vector<int64_t> ends; ///< Of the pieces of each ticket.
  uint64_t bytes = 0;        ///< Of a ticket.
};

} // namespace

/// What a row or column costs beside the elements that it sees.
constexpr double fixedWeight = 32;

void AttentionOp::addRows(int64_t batches, int64_t step, double factor) {
  Segment segment{
      AttentionPiece::Kind::rows, batches, sizes.row.size, step, {}};
  for (int64_t row = 0; row < segment.extent; row += step) {
    int64_t end = std::min(segment.extent, row + step);
    int64_t seen = sizes.column.size;
    if (sizes.shape.isCausal) {
      seen = std::clamp<int64_t>((row + end) / 2 + sizes.shape.shift, 0, seen);
    }
    segment.weights.push_back(factor * static_cast<double>(end - row) *
                              (static_cast<double>(seen) + fixedWeight));
  }
  segments.push_back(std::move(segment));
}

void AttentionOp::addColumns(double factor) {
  Segment segment{AttentionPiece::Kind::columns,
                  sizes.batches,
                  sizes.column.size,
                  tileColumns,
                  {}};
  for (int64_t column = 0; column < segment.extent; column += tileColumns) {
    int64_t end = std::min(segment.extent, column + tileColumns);
    int64_t rows = sizes.row.size;
    if (sizes.shape.isCausal) {
      int64_t first = (column + end) / 2 - sizes.shape.shift;
      rows -= std::clamp<int64_t>(first, 0, rows);
    }
    segment.weights.push_back(
        factor * static_cast<double>(end - column) *
        static_cast<double>(std::max<int64_t>(sizes.groups, 1)) *
        (static_cast<double>(rows) + fixedWeight));
  }
  segments.push_back(std::move(segment));
}

/// Whole batches make five products, their blocks seven, but so many that no
/// thread waits.
void AttentionOp::addGradient(int threads) {
  int64_t rounds = (sizes.batches + threads - 1) / threads;
  if (7.0 * static_cast<double>(sizes.batches) <
      5.0 * threads * static_cast<double>(rounds)) {
    addRows(sizes.batches * sizes.groups, tileRows, 3);
    addColumns(4);
    return;
  }
  segments.push_back({AttentionPiece::Kind::whole, sizes.batches, 1, 1, {1.0}});
}

void AttentionOp::cut(int threads) {
  int64_t pieces = 0;
  double total = 0;
  for (const Segment &segment : segments) {
    pieces += segment.pieces();
    total += segment.weight();
  }
  int64_t tickets = std::clamp<int64_t>(pieces, 1, threads);
  for (int64_t ticket = 1; ticket < tickets; ++ticket) {
    double target =
        total * static_cast<double>(ticket) / static_cast<double>(tickets);
    int64_t before = 0;
    for (const Segment &segment : segments) {
      double weight = segment.weight();
      if (target <= weight) {
        before += segment.find(target);
        break;
      }
      target -= weight;
      before += segment.pieces();
    }
    ends.push_back(before);
  }
  ends.push_back(pieces);
}

AttentionOp::AttentionOp(AttentionSizes of, int threads)
    : sizes(std::move(of)) {
  if (sizes.shape.isGradient) {
    addGradient(threads);
    task = makeGradientTask(sizes);
  } else {
    constexpr int64_t most = 256, least = 32, piecesOfThread = 4;
    sizes.blockRows = most;
    while (sizes.blockRows > least &&
           sizes.batches *
                   ((sizes.row.size + sizes.blockRows - 1) / sizes.blockRows) <
               piecesOfThread * threads) {
      sizes.blockRows /= 2;
    }
    addRows(sizes.batches, sizes.blockRows, 1);
    task = makeForwardTask(sizes);
  }
  bytes = task->workspaceBytes();
  cut(threads);
}

AttentionBuffers AttentionOp::name(const uint64_t *buffers) const {
  const AttentionShape &shape = sizes.shape;
  auto next = [&] { return reinterpret_cast<void *>(*buffers++); };
  AttentionBuffers named = {};
  named.q = next();
  named.k = next();
  named.v = next();
  named.bias = shape.hasBias ? next() : nullptr;
  named.offset = shape.hasOffset ? next() : nullptr;
  named.state = shape.hasDropout() ? next() : nullptr;
  if (!shape.isGradient) {
    named.out = next();
    named.logsumexp = next();
    return named;
  }
  named.logsumexp = next();
  named.delta = next();
  named.out = next();
  named.dq = next();
  named.dk = next();
  named.dv = next();
  return named;
}

void AttentionOp::run(const uint64_t *buffers, void *workspace,
                      int ticket) const {
  AttentionBuffers named = name(buffers);
  void *mine = static_cast<char *>(workspace) + ticket * bytes;
  int64_t piece = ticket == 0 ? 0 : ends[ticket - 1];
  int64_t before = 0;
  AttentionPacked packed;
  for (const Segment &segment : segments) {
    int64_t end = std::min(ends[ticket] - before, segment.pieces());
    for (; piece - before < end; ++piece) {
      task->run(named, mine, segment.at(piece - before), packed);
    }
    before += segment.pieces();
  }
}

static Status refuse(const std::string &name, std::string_view expected) {
  return makeError(
      ErrorKind::mismatch,
      fmt::format("expected {} in attention '{}'", expected, name));
}

static Status checkTypes(const AttentionShape &shape, const std::string &name) {
  if (!isFloat(shape.dtype) || !isFloat(shape.bias) ||
      (shape.accumulate != DType::f32 && shape.accumulate != DType::f64)) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected floats, summed in f32 or f64, in attention '{}', "
                    "got {}, {} and {}",
                    name, nameOf(shape.dtype), nameOf(shape.bias),
                    nameOf(shape.accumulate)));
  }
  return Status::success();
}

/// The batch index is one that dk and dv are sums over; without elements they
/// are sums over anything.
static bool isGroup(const AttentionSizes &sizes, const AttentionIndex &index) {
  return sizes.shape.isGradient && index.size != 1 &&
         (index.strideDk == 0 || sizes.depth.size == 0) &&
         (index.strideDv == 0 || sizes.value.size == 0);
}

static Status sortBatches(AttentionSizes &sizes, const std::string &name) {
  bool hasBoth =
      sizes.column.size != 0 && sizes.depth.size != 0 && sizes.value.size != 0;
  for (const AttentionIndex &index : sizes.shape.indices) {
    if (index.kind != AttentionIndexKind::batch) {
      continue;
    }
    if (sizes.shape.isGradient && index.size != 1 && hasBoth &&
        (index.strideDk == 0) != (index.strideDv == 0)) {
      return refuse(name, "dk and dv to be sums over the same batch indices");
    }
    (isGroup(sizes, index) ? sizes.group : sizes.batch).push_back(index);
  }
  return Status::success();
}

/// Sorts the indices by kind; each kind but batch has one.
static Result<AttentionSizes> sortIndices(const AttentionShape &shape,
                                          const std::string &name) {
  AttentionSizes sizes;
  sizes.shape = shape;
  std::array<int, attentionIndexNames.size()> counts = {};
  AttentionIndex batch;
  AttentionIndex *single[] = {&batch, &sizes.row, &sizes.column, &sizes.depth,
                              &sizes.value};
  for (const AttentionIndex &index : shape.indices) {
    auto kind = static_cast<size_t>(index.kind);
    bool isSound = kind < counts.size() && index.size >= 0;
    for (const AttentionStride &each : attentionStrides) {
      isSound = isSound && index.*each.stride >= 0;
    }
    if (!isSound || (kind != 0 && ++counts[kind] > 1)) {
      return refuse(name, "one index of each kind but batch, and sizes and "
                          "strides of at least 0");
    }
    *single[kind] = index;
  }
  if (std::accumulate(counts.begin(), counts.end(), 0) != 4) {
    return refuse(name, "an index each of row, column, depth and value");
  }
  LLMC_TRY(sortBatches(sizes, name));
  return std::move(sizes);
}

/// Numbers of pieces and bytes are numbers.
static Status countBatches(AttentionSizes &sizes, int threads,
                           const std::string &name) {
  constexpr int64_t most = int64_t(1) << 60;
  auto count = [](const std::vector<AttentionIndex> &indices) {
    std::vector<int64_t> extents;
    for (const AttentionIndex &index : indices) {
      extents.push_back(index.size);
    }
    return checkedProduct(extents);
  };
  Checked batches = count(sizes.batch), groups = count(sizes.group);
  Checked rows = batches * groups * sizes.row.size;
  Checked columns = batches * sizes.column.size;
  Checked width = Checked(sizes.depth.size) + sizes.value.size + 64;
  Checked tiles = (Checked(sizes.shape.isGradient ? sizes.column.size : 0) +
                   8 * tileColumns) *
                  width * 8 * threads;
  if (!rows.within(0, most) || !columns.within(0, most) ||
      !(tiles * 4).within(0, most)) {
    return refuse(name, "less than 2^60 rows, columns and bytes of tiles");
  }
  sizes.batches = batches.value();
  sizes.groups = sizes.row.size == 0 ? 0 : groups.value();
  return Status::success();
}

Result<std::unique_ptr<CpuLibraryOp>> makeAttention(const AttentionShape &shape,
                                                    const std::string &name,
                                                    int threads) {
  constexpr int64_t most = int64_t(1) << 61;
  LLMC_TRY(checkTypes(shape, name));
  LLMC_TRY_ASSIGN(AttentionSizes sizes, sortIndices(shape, name));
  if (shape.shift < -most || shape.shift > most) {
    return refuse(name, "a shift of at most 2^61");
  }
  LLMC_TRY(countBatches(sizes, threads, name));
  return std::unique_ptr<CpuLibraryOp>(
      std::make_unique<AttentionOp>(std::move(sizes), threads));
}

} // namespace llmc::rt::cpu
