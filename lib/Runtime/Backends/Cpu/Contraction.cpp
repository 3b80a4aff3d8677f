//===- Contraction.cpp - Cuts contractions into slices --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   m = 1000, threads = 3   ->  rows [0, 334) [334, 667) [667, 1000)
//   batch = [8], m = 2      ->  batches [0, 3) [3, 6) [6, 8)
//
// Tested by test/Runtime/Backends/Cpu/ContractionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "Entry.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

static uint64_t alignScratch(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static Status checkShape(const ContractionShape &shape) {
  for (const ContractionIndex &index : shape.indices) {
    if (index.size < 0 || index.strideA < 0 || index.strideB < 0 ||
        index.strideC < 0) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected sizes and strides of at least 0 in contraction "
                      "'{}'",
                      shape.name));
    }
  }
  if (shape.threads < 1) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at least 1 thread in contraction "
                                 "'{}', got {}",
                                 shape.name, shape.threads));
  }
  return Status::success();
}

/// The indices of one kind, neighbours merged where they are one walk.
static std::vector<ContractionIndex> collect(const ContractionShape &shape,
                                             ContractionIndexKind kind) {
  std::vector<ContractionIndex> found;
  for (const ContractionIndex &index : shape.indices) {
    if (index.kind != kind || index.size == 1) {
      continue;
    }
    bool merges = !found.empty() &&
                  found.back().strideA == index.strideA * index.size &&
                  found.back().strideB == index.strideB * index.size &&
                  found.back().strideC == index.strideC * index.size;
    if (merges) {
      int64_t outer = found.back().size;
      found.back() = index;
      found.back().size = outer * index.size;
    } else {
      found.push_back(index);
    }
  }
  return found;
}

/// Takes the last index out of `indices`, or one of size 1.
static ContractionIndex takeMinor(std::vector<ContractionIndex> &indices,
                                  ContractionIndexKind kind) {
  ContractionIndex minor;
  minor.kind = kind;
  if (!indices.empty()) {
    minor = indices.back();
    indices.pop_back();
  }
  return minor;
}

MatrixShape toMatrix(const ContractionShape &shape) {
  using Kind = ContractionIndexKind;
  MatrixShape matrix{shape.name,
                     shape.a,
                     shape.b,
                     shape.c,
                     shape.accumulate,
                     collect(shape, Kind::batch),
                     collect(shape, Kind::k),
                     {},
                     {},
                     {},
                     shape.alpha,
                     shape.addToResult};
  std::vector<ContractionIndex> m = collect(shape, Kind::m);
  std::vector<ContractionIndex> n = collect(shape, Kind::n);
  matrix.m = takeMinor(m, Kind::m);
  matrix.n = takeMinor(n, Kind::n);
  matrix.k = takeMinor(matrix.outerK, Kind::k);
  matrix.batch.insert(matrix.batch.end(), m.begin(), m.end());
  matrix.batch.insert(matrix.batch.end(), n.begin(), n.end());
  return matrix;
}

static Result<std::unique_ptr<ContractionSlice>>
makeSlice(const MatrixShape &shape) {
  LLMC_TRY_ASSIGN(auto slice, makeLibrarySlice(shape));
  if (slice) {
    return std::move(slice);
  }
  return makeLoopSlice(shape);
}

/// The index to cut: the first batch index with enough of it, else the rows.
static ContractionIndex &cutIndex(MatrixShape &shape, int threads) {
  for (ContractionIndex &index : shape.batch) {
    if (index.size >= threads) {
      return index;
    }
  }
  return shape.m;
}

Result<std::unique_ptr<CpuContraction>>
CpuContraction::make(const ContractionShape &shape) {
  LLMC_TRY(checkShape(shape));
  auto contraction = std::make_unique<CpuContraction>();
  MatrixShape part = toMatrix(shape);
  ContractionIndex &cut = cutIndex(part, shape.threads);
  int64_t extent = cut.size;
  int tickets = static_cast<int>(std::clamp<int64_t>(extent, 1, shape.threads));
  int64_t scratch = 0;
  for (int ticket = 0; ticket < tickets; ++ticket) {
    Range range = ticketRange(extent, ticket, tickets);
    cut.size = range.end - range.begin;
    LLMC_TRY_ASSIGN(auto work, makeSlice(part));
    uint64_t bytes = alignScratch(work->scratchBytes());
    contraction->slices.push_back(
        {std::move(work), range.begin * cut.strideA * sizeOf(part.a),
         range.begin * cut.strideB * sizeOf(part.b),
         range.begin * cut.strideC * sizeOf(part.c), scratch});
    scratch += static_cast<int64_t>(bytes);
  }
  return std::move(contraction);
}

uint64_t CpuContraction::scratchBytes() const {
  const Slice &last = slices.back();
  return static_cast<uint64_t>(last.scratch) +
         alignScratch(last.work->scratchBytes());
}

void CpuContraction::run(const void *a, const void *b, void *c, void *scratch,
                         int ticket) const {
  const Slice &slice = slices[static_cast<size_t>(ticket)];
  slice.work->run(static_cast<const char *>(a) + slice.a,
                  static_cast<const char *>(b) + slice.b,
                  static_cast<char *>(c) + slice.c,
                  static_cast<char *>(scratch) + slice.scratch);
}

} // namespace llmc::rt::cpu
