//===- LossWatch.cpp - Which loss is none to go on from -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossWatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace llmc::rt::exec {

double LossWatch::median() const {
  std::vector<double> sorted(good.begin(), good.end());
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

Status LossWatch::judge(double loss, int64_t step) {
  if (!std::isfinite(loss)) {
    return refusesNan
               ? makeError(ErrorKind::numeric,
                           fmt::format("expected a finite loss, got {} at "
                                       "step {}",
                                       loss, step))
               : Status::success();
  }
  if (factor > 0 && good.size() >= least) {
    double middle = median();
    if (middle > 0 && loss > factor * middle) {
      return makeError(ErrorKind::numeric,
                       fmt::format("expected a loss of at most {:g} times "
                                   "the median of the last {}, {:.4g}, got "
                                   "{:.4g} at step {}",
                                   factor, good.size(), middle, loss, step));
    }
  }
  good.push_back(loss);
  if (good.size() > most) {
    good.pop_front();
  }
  return Status::success();
}

} // namespace llmc::rt::exec
