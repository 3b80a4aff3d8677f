//===- CopyPlan.cpp - Boxes as copies and fills that a driver has ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cuda/CopyPlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CopyPlan.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cuda {

/// Whether `outer` goes on where `inner` ends, at both ends.
static bool continues(const CopyDim &outer, const CopyDim &inner) {
  auto extent = static_cast<int64_t>(inner.extent);
  return outer.to == inner.to * extent && outer.from == inner.from * extent;
}

static bool canBeRows(const CopyDim &dim, uint64_t width) {
  auto least = static_cast<int64_t>(width);
  return dim.to >= least && dim.from >= least && dim.to <= mostPitch &&
         dim.from <= mostPitch;
}

static Status tooMany(const std::string &name, const char *what, uint64_t most,
                      uint64_t got) {
  return makeError(ErrorKind::unsupported,
                   fmt::format("expected at most {} {} in '{}', got {}", most,
                               what, name, got));
}

Result<CopyPlan> CopyPlan::make(const CopyBox &box, bool fills,
                                const std::string &name) {
  CopyPlan plan;
  plan.rows.width = box.bytes;
  bool isEmpty = box.bytes == 0;
  // From the innermost dim outwards.
  std::array<CopyDim, mostDims> dims;
  size_t count = 0;
  for (size_t i = box.dims.size(); i-- > 0;) {
    CopyDim dim = box.dims[i];
    isEmpty |= dim.extent == 0;
    if (dim.extent <= 1) {
      continue;
    }
    dim.from = fills ? dim.to : dim.from;
    auto width = static_cast<int64_t>(plan.rows.width);
    if (count == 0 && dim.to == width && dim.from == width) {
      plan.rows.width *= dim.extent;
    } else if (count > 0 && continues(dim, dims[count - 1])) {
      dims[count - 1].extent *= dim.extent;
    } else if (count == mostDims) {
      return tooMany(name, "dims that lie apart", mostDims, box.dims.size());
    } else {
      dims[count++] = dim;
    }
  }
  if (isEmpty) {
    return plan;
  }
  // The rows are the indices of the longest dim that has room for them.
  size_t chosen = count;
  for (size_t i = 0; i < count; ++i) {
    bool isLonger = chosen == count || dims[i].extent > dims[chosen].extent;
    chosen = canBeRows(dims[i], plan.rows.width) && isLonger ? i : chosen;
  }
  plan.calls = 1;
  for (size_t i = count; i-- > 0;) {
    if (i == chosen) {
      plan.rows.height = dims[i].extent;
      plan.rows.toPitch = static_cast<uint64_t>(dims[i].to);
      plan.rows.fromPitch = static_cast<uint64_t>(dims[i].from);
      continue;
    }
    if (dims[i].extent > mostCalls || plan.calls * dims[i].extent > mostCalls) {
      return tooMany(name, "rows or planes that lie apart", mostCalls,
                     plan.calls * dims[i].extent);
    }
    plan.calls *= dims[i].extent;
    plan.outer[plan.numOuter++] = dims[i];
  }
  return plan;
}

RowCopy CopyPlan::part(uint64_t number) const {
  RowCopy part = rows;
  for (size_t i = numOuter; i-- > 0;) {
    auto index = static_cast<int64_t>(number % outer[i].extent);
    number /= outer[i].extent;
    part.to += index * outer[i].to;
    part.from += index * outer[i].from;
  }
  return part;
}

Result<FillPlan> FillPlan::make(const CopyBox &box, uint64_t pattern,
                                unsigned size, const std::string &name) {
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a pattern of 1, 2, 4 or 8 bytes in "
                                 "'{}', got {}",
                                 name, size));
  }
  FillPlan plan;
  plan.pattern = pattern;
  plan.size = size;
  CopyBox lines = box;
  if (size == 8) {
    bool isOne = static_cast<uint32_t>(pattern) == pattern >> 32;
    plan.size = 4;
    plan.isPair = !isOne;
    if (plan.isPair) {
      lines.dims.push_back({box.bytes / 8, 8, 8});
      lines.bytes = 4;
    }
  }
  LLMC_TRY_ASSIGN(plan.rows, CopyPlan::make(lines, true, name));
  if (plan.numCalls() > mostCalls) {
    return tooMany(name, "rows or planes that lie apart", mostCalls,
                   plan.numCalls());
  }
  return plan;
}

uint64_t FillPlan::numCalls() const {
  return rows.numCalls() * (isPair ? 2 : 1);
}

RowFill FillPlan::part(uint64_t number) const {
  bool isHigh = isPair && number % 2 == 1;
  RowCopy row = rows.part(isPair ? number / 2 : number);
  RowFill part;
  part.to = row.to + (isHigh ? 4 : 0);
  part.size = size;
  uint64_t value = isHigh ? pattern >> 32 : pattern;
  part.value = static_cast<uint32_t>(size == 1   ? value & 0xff
                                     : size == 2 ? value & 0xffff
                                                 : value & 0xffffffff);
  part.width = row.width / size;
  part.height = row.height;
  part.pitch = row.toPitch;
  return part;
}

} // namespace llmc::rt::cuda
