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

#include "../Entry.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

Status checkContraction(const ContractionShape &shape,
                        const std::string &name) {
  for (const ContractionIndex &index : shape.indices) {
    if (index.size < 0 || index.strideA < 0 || index.strideB < 0 ||
        index.strideC < 0 || index.strideBias < 0) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected sizes and strides of at least 0 in "
                      "contraction '{}'",
                      name));
    }
  }
  if (shape.beta != 0 && shape.beta != 1) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected a beta of 0 or 1 in contraction '{}', "
                    "got {}",
                    name, shape.beta));
  }
  if (shape.hasBias && isFloat(shape.bias) != isFloat(shape.c)) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected a bias of contraction '{}' to be float "
                    "where its result is, got {} and {}",
                    name, nameOf(shape.bias), nameOf(shape.c)));
  }
  if (shape.activation != Activation::none && !isFloat(shape.c)) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected no activation of integers in "
                                 "contraction '{}', got {}",
                                 name, nameOf(shape.activation)));
  }
  if (static_cast<size_t>(shape.activation) >= activationNames.size()) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected an activation that a processor has in "
                    "contraction '{}', got number {}",
                    name, static_cast<int>(shape.activation)));
  }
  return Status::success();
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

MatrixShape toMatrix(const ContractionShape &shape, std::string name) {
  using Kind = ContractionIndexKind;
  MatrixShape matrix{std::move(name),
                     shape,
                     walksOf(shape, Kind::batch),
                     walksOf(shape, Kind::k),
                     {},
                     {},
                     {}};
  matrix.shape.indices.clear();
  std::vector<ContractionIndex> m = walksOf(shape, Kind::m);
  std::vector<ContractionIndex> n = walksOf(shape, Kind::n);
  matrix.m = takeMinor(m, Kind::m);
  matrix.n = takeMinor(n, Kind::n);
  matrix.k = takeMinor(matrix.outerK, Kind::k);
  matrix.batch.insert(matrix.batch.end(), m.begin(), m.end());
  matrix.batch.insert(matrix.batch.end(), n.begin(), n.end());
  return matrix;
}

Result<std::unique_ptr<OpSlice>> makeSlice(const MatrixShape &shape) {
  LLMC_TRY_ASSIGN(auto slice, makeLibrarySlice(shape));
  if (!slice) {
    LLMC_TRY_ASSIGN(slice, makeWidenedSlice(shape));
  }
  if (slice) {
    return std::move(slice);
  }
  if (auto tiled = makeTiledSlice(shape)) {
    return std::unique_ptr<OpSlice>(std::move(tiled));
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

static Status lacksForm(const std::string &name, ContractionForm form) {
  auto number = static_cast<size_t>(form);
  return makeError(
             ErrorKind::mismatch,
             number < contractionFormNames.size()
                 ? fmt::format("expected a form that contraction '{}' has on "
                               "this machine, got '{}'",
                               name, contractionFormNames[number])
                 : fmt::format("expected a form of contraction '{}' below {}, "
                               "got {}",
                               name, contractionFormNames.size(), number))
      .withHint("compile the plan on this machine");
}

Result<std::unique_ptr<CpuLibraryOp>>
makeContraction(const ContractionShape &shape, const std::string &name,
                int threads, ContractionForm form) {
  LLMC_TRY(checkContraction(shape, name));
  if (static_cast<size_t>(form) >= contractionFormNames.size()) {
    return lacksForm(name, form);
  }
  bool isPacked = static_cast<int>(form) & 1;
  bool isByColumns = static_cast<int>(form) & 2;
  auto contraction = std::make_unique<SlicedOp>(shape.hasBias);
  MatrixShape part = toMatrix(shape, name);
  ContractionIndex &cut = isByColumns ? part.n : cutIndex(part, threads);
  if (isByColumns && cut.size < threads) {
    return lacksForm(name, form);
  }
  int64_t extent = cut.size;
  int tickets = static_cast<int>(std::clamp<int64_t>(extent, 1, threads));
  for (int ticket = 0; ticket < tickets; ++ticket) {
    Range range = ticketRange(extent, ticket, tickets);
    cut.size = range.end - range.begin;
    LLMC_TRY_ASSIGN(auto work,
                    isPacked ? makePackedSlice(part) : makeSlice(part));
    if (!work) {
      return lacksForm(name, form);
    }
    contraction->add(std::move(work), placeOf(shape, cut, range.begin));
  }
  return std::unique_ptr<CpuLibraryOp>(std::move(contraction));
}

} // namespace llmc::rt::cpu
