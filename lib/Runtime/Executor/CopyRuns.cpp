//===- CopyRuns.cpp - Strided copies as contiguous runs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   to   [4, 6] contiguous, from [4, 6] with strides [12, 1]
//     ->  4 runs of 6 elements; from both contiguous 1 run of 24
//
//===----------------------------------------------------------------------===//

#include "Binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace llmc::rt::exec {

constexpr int64_t mostRuns = 65536;

static std::vector<int64_t> stridesOf(const plan::Operand &operand) {
  if (!operand.strides.empty()) {
    return operand.strides;
  }
  std::vector<int64_t> strides(operand.shape.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * operand.shape[i];
  }
  return strides;
}

/// Elements that lie side by side from any multiple of their number on.
static int64_t blockOf(const plan::Operand &operand) {
  std::vector<int64_t> strides = stridesOf(operand);
  int64_t block = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    if (operand.shape[i] != 1 && strides[i] != block) {
      break;
    }
    block *= operand.shape[i];
  }
  return block;
}

/// Where element `index` in row-major order lies, in elements.
static int64_t placeOf(const plan::Operand &operand,
                       const std::vector<int64_t> &strides, int64_t index) {
  int64_t place = 0;
  for (size_t i = strides.size(); i-- > 0;) {
    place += index % operand.shape[i] * strides[i];
    index /= operand.shape[i];
  }
  return place;
}

Result<std::vector<CopyRun>> copyRuns(const plan::Operand &to,
                                      const plan::Operand &from) {
  const plan::Operand &given = to.present() ? to : from;
  int64_t count = plan::elementsOf(given), bytes = sizeOf(given.dtype);
  std::vector<CopyRun> runs;
  if (count == 0) {
    return runs;
  }
  int64_t block = std::gcd(to.present() ? blockOf(to) : count,
                           from.present() ? blockOf(from) : count);
  if (count / block > mostRuns) {
    return makeError(ErrorKind::unsupported,
                     fmt::format("expected a copy of at most {} contiguous "
                                 "runs, got {}",
                                 mostRuns, count / block));
  }
  std::vector<int64_t> toStrides = stridesOf(to), fromStrides = stridesOf(from);
  for (int64_t i = 0; i < count; i += block) {
    CopyRun run{i * bytes, i * bytes, static_cast<uint64_t>(block * bytes)};
    if (to.present()) {
      run.to = placeOf(to, toStrides, i) * bytes;
    }
    if (from.present()) {
      run.from = placeOf(from, fromStrides, i) * bytes;
    }
    runs.push_back(run);
  }
  return runs;
}

} // namespace llmc::rt::exec
