//===- FetchedPlan.h - A plan that hands out one value ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_FETCHEDPLAN_H
#define LLMC_TEST_RUNTIME_EXECUTOR_FETCHEDPLAN_H

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

namespace llmc::rt::plan {

/// Places the builder's frames and takes its plan, whose only entry, 'forward',
/// runs program `f` for each of two microbatches. The program hands out 'y',
/// `count` elements of i32, of each microbatch or of both.
inline Plan takeFetchedPlan(PlanBuilder &b, int32_t f, int64_t count,
                            bool eachMicrobatch = true) {
  b.place();
  Entry entry;
  entry.name = "forward";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = 2;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}, {f, 1}};
  Fetch fetch;
  fetch.name = "y";
  fetch.dtype = DType::i32;
  fetch.layout = Layout::whole({count});
  fetch.eachMicrobatch = eachMicrobatch;
  entry.fetches = {fetch};
  b.plan().entries = {entry};
  return b.take();
}

} // namespace llmc::rt::plan

#endif // LLMC_TEST_RUNTIME_EXECUTOR_FETCHEDPLAN_H
