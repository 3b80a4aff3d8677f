//===- CopyPlan.h - Boxes as copies and fills that a driver has -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver copies rows of bytes: `height` rows of `width` bytes, a row every
// so many bytes at either end. A box (Device.h) is the rows of one of its dims,
// once for each index of the others:
//
//   12 bytes along {4, to 12, from 48}          one copy of 48 bytes where from
//                                               is 12 too, else 4 rows
//   8 bytes along {2, to 8, from 64}            3 rows, twice
//              {3, to 16, from 16}
//
// No memory is taken: whoever enqueues visits the parts.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_COPYPLAN_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_COPYPLAN_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Device/Device.h"

#include <array>
#include <cstdint>
#include <string>

namespace llmc::rt::cuda {

/// Calls of the driver that one entry may become; a step with more of them
/// would wait for the host.
constexpr uint64_t mostCalls = 4096;

/// Dims that remain after neighbours are merged.
constexpr size_t mostDims = 8;

/// The largest pitch of any device (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
constexpr int64_t mostPitch = INT32_MAX;

/// Offsets in bytes from the two ends of the box. A single row has a height of
/// 1 and no pitches.
struct RowCopy {
  int64_t to = 0, from = 0;
  uint64_t width = 0, height = 1;
  uint64_t toPitch = 0, fromPitch = 0;
};

/// A box with its dims merged, and the dim whose indices are rows.
class CopyPlan {
public:
  /// `fills`: strides of `from` do not count. Error (5) where the box needs
  /// more than `mostCalls` calls or has more dims than `mostDims`; `name` is
  /// what errors call it.
  static Result<CopyPlan> make(const CopyBox &box, bool fills,
                               const std::string &name);

  uint64_t numCalls() const { return calls; }
  /// The parts by number, less than `numCalls`.
  RowCopy part(uint64_t number) const;

private:
  RowCopy rows;
  std::array<CopyDim, mostDims> outer;
  size_t numOuter = 0;
  uint64_t calls = 0;
};

/// One call of cuMemsetD{8,16,32}Async, or of the 2D form where the height is
/// above 1: `width` elements of `size` bytes.
struct RowFill {
  int64_t to = 0;
  unsigned size = 1;
  uint32_t value = 0;
  uint64_t width = 0, height = 1;
  uint64_t pitch = 0;
};

/// The parts of a fill. A pattern of 8 bytes whose halves differ is two fills
/// of elements of 4 bytes, one every 8.
class FillPlan {
public:
  static Result<FillPlan> make(const CopyBox &box, uint64_t pattern,
                               unsigned size, const std::string &name);

  uint64_t numCalls() const;
  RowFill part(uint64_t number) const;

private:
  CopyPlan rows;
  uint64_t pattern = 0;
  unsigned size = 1;
  bool isPair = false;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_COPYPLAN_H
