//===- EntryWalk.h - What one device of each stage enqueues -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expands an entry as the executor walks it, for one representative device of
// each stage: prologue, rows of the table, epilogue, calls and trips in place.
// Each wait is tied to the signal that it waits for: the latest one of its
// event that was enqueued before it on the same device.
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_PLAN_ENTRYWALK_H
#define LLMC_LIB_RUNTIME_PLAN_ENTRYWALK_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <map>
#include <tuple>
#include <vector>

namespace llmc::rt::plan {

/// One run of a program.
struct Invocation {
  int32_t program = 0;
  /// Of the expressions; 0 in prologue and epilogue.
  int64_t microbatch = 0;
  /// The microbatch that values belong to; -1 in prologue and epilogue.
  int64_t tag = -1;
  std::vector<int64_t> parameters;
};

struct Item {
  const Instruction *instruction = nullptr;
  /// Of the instruction in its program.
  int32_t number = 0;
  int32_t invocation = 0;
  /// Of a wait: the item that signals, or -1 (initially set).
  int32_t signal = -1;
  /// Of a signal: how many waits wait for it.
  int32_t waits = 0;
};

struct StageWalk {
  std::vector<int64_t> coordinates;
  std::vector<Invocation> invocations;
  std::vector<Item> items;
  /// Items of each stream, in order.
  std::vector<std::vector<int32_t>> queues;
};

class EntryWalk {
public:
  /// What the plan leaves open.
  struct Choice {
    /// Coordinates of axes other than the pipeline's are the last ones, not 0.
    bool atEnd = false;
    /// Trips of each while.
    int whileTrips = 1;
  };
  EntryWalk(const Plan &plan, const Entry &entry, Choice choice,
            int64_t maxSteps);

  Status run();

  const Plan &plan() const { return plan_; }
  const Entry &entry() const { return entry_; }
  std::vector<StageWalk> stages;

  /// Assumes that the expression is valid at this item, else 0.
  int64_t evaluateAt(const StageWalk &stage, const Invocation &invocation,
                     ExprId id) const;
  int32_t slotOf(const StageWalk &stage, const Invocation &invocation,
                 int32_t frame) const;
  /// "instruction 3 of program 'c0.F' (stage 0, microbatch 1)"
  std::string describe(int64_t stage, const Item &item) const;

private:
  Status call(StageWalk &stage, Invocation invocation);
  Status enqueue(StageWalk &stage, int32_t invocation, int32_t number);
  Status enqueueCall(StageWalk &stage, const Invocation &caller,
                     const Call &call);
  Status enqueueLoop(StageWalk &stage, const Invocation &caller,
                     const Loop &loop);
  Status enqueueWhile(StageWalk &stage, const Invocation &caller,
                      const While &loop, const Item &item);
  void push(StageWalk &stage, const Item &item);

  using EventKey = std::tuple<int32_t, int32_t, int32_t>;

  const Plan &plan_;
  const Entry &entry_;
  Choice choice_;
  int64_t maxSteps_;
  int64_t steps_ = 0;
  /// (frame, slot, event) -> the latest signal, of the stage being walked.
  std::map<EventKey, int32_t> signals_;
};

} // namespace llmc::rt::plan

#endif // LLMC_LIB_RUNTIME_PLAN_ENTRYWALK_H
