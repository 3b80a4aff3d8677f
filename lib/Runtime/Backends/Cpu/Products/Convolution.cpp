//===- Convolution.cpp - Cuts convolutions into slices --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   64 samples, 2 threads              ->  samples [0, 32) [32, 64)
//   1 sample, 64 features, 2 threads   ->  features [0, 32) [32, 64)
//
// Tested by test/Runtime/Backends/Cpu/ConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "../Entry.h"
#include "ConvolutionRoles.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cpu {

static Status checkIndices(const ConvolutionShape &shape,
                           const std::string &name) {
  for (const ContractionIndex &index : shape.indices) {
    if (index.size < 0 || index.strideA < 0 || index.strideB < 0 ||
        index.strideC < 0 || index.strideBias < 0) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected sizes and strides of at least 0 in "
                      "convolution '{}'",
                      name));
    }
  }
  return Status::success();
}

/// Windows whose places are numbers.
static Status checkWindows(const ConvolutionShape &shape,
                           const std::string &name) {
  constexpr int64_t most = int64_t(1) << 62;
  constexpr size_t mostWindows = 32;
  bool sound = shape.windows.size() <= mostWindows;
  for (const ConvolutionWindow &w : shape.windows) {
    for (int64_t value :
         {w.sizeA, w.sizeB, w.sizeC, w.strideA, w.strideB, w.strideC}) {
      sound = sound && value >= 0;
    }
    Checked far = Checked(w.stepC) * w.sizeC + Checked(w.dilationB) * w.sizeB;
    sound = sound && w.dilationA >= 1 && w.dilationB >= 1 && w.stepC >= 1 &&
            w.low >= -most && w.low <= most && far.within(0, most) &&
            (Checked(w.dilationA) * w.sizeA).within(0, most);
  }
  return sound
             ? Status::success()
             : makeError(ErrorKind::mismatch,
                         fmt::format("expected at most {} windows of less than "
                                     "2^62 positions in convolution '{}'",
                                     mostWindows, name));
}

/// What neither oneDNN nor the loops have.
static Status checkShape(const ConvolutionShape &shape,
                         const std::string &name) {
  LLMC_TRY(checkIndices(shape, name));
  LLMC_TRY(checkWindows(shape, name));
  if (shape.beta != 0 && shape.beta != 1) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected a beta of 0 or 1 in convolution '{}', "
                    "got {}",
                    name, shape.beta));
  }
  bool floats = isFloat(shape.c);
  if (isFloat(shape.a) != floats || isFloat(shape.b) != floats ||
      isFloat(shape.accumulate) != floats ||
      (shape.hasBias && isFloat(shape.bias) != floats)) {
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected operands of convolution '{}' to be all "
                    "float or all integer, got {}, {}, {}",
                    name, nameOf(shape.a), nameOf(shape.b), nameOf(shape.c)));
  }
  return Status::success();
}

static Result<std::unique_ptr<OpSlice>> makeSlice(const ConvolutionShape &shape,
                                                  const std::string &name) {
  LLMC_TRY_ASSIGN(auto slice, makeLibraryConvolution(shape, name));
  return slice ? std::move(slice) : makeLoopConvolution(shape);
}

/// How well an index is cut: samples best, since parts of them are separate
/// pieces of memory and no part has to read all of the other operand's;
/// features where a part still has a block of them.
static int rankOf(const ContractionIndex &index, ContractionIndexKind samples,
                  int threads) {
  constexpr int64_t block = 16;
  if (index.kind == samples) {
    return 2;
  }
  return index.size >= block * threads ? 1 : 0;
}

/// The index of the result to cut, or null.
static ContractionIndex *findCut(ConvolutionShape &shape, int threads) {
  ContractionIndexKind samples = findSamples(shape);
  ContractionIndex *found = nullptr;
  auto rank = [&](const ContractionIndex &index) {
    return std::pair(rankOf(index, samples, threads), index.strideC);
  };
  for (ContractionIndex &index : shape.indices) {
    if (index.kind != ContractionIndexKind::k && index.size >= threads &&
        (!found || rank(index) > rank(*found))) {
      found = &index;
    }
  }
  return found;
}

Result<std::unique_ptr<CpuLibraryOp>>
makeConvolution(const ConvolutionShape &shape, const std::string &name,
                int threads) {
  LLMC_TRY(checkShape(shape, name));
  auto convolution = std::make_unique<SlicedOp>(shape.hasBias);
  ConvolutionShape part = shape;
  ContractionIndex *cut = findCut(part, threads);
  int64_t extent = cut ? cut->size : 1;
  int tickets = cut ? threads : 1;
  for (int ticket = 0; ticket < tickets; ++ticket) {
    Range range = ticketRange(extent, ticket, tickets);
    if (cut) {
      cut->size = range.end - range.begin;
    }
    LLMC_TRY_ASSIGN(auto work, makeSlice(part, name));
    convolution->add(std::move(work),
                     cut ? placeOf(shape, *cut, range.begin) : SlicePlace());
  }
  return std::unique_ptr<CpuLibraryOp>(std::move(convolution));
}

} // namespace llmc::rt::cpu
