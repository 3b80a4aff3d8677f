//===- BoxReads.h - The states of a step's edge are read --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between two steps, or while later ones run. Then a thread reads the boxes in
// the order of WriteOrder.h and opens the gate of their devices box by box;
// what would write a box that is not read yet stands there.
//
//   thread   read 1, open 1 | read 2, open 2 | read 3, ..  | close, open all
//   device   forward, backward             | [2] goes on   | [3] stands
//
// Where the sink waits for a disk, so does the update; where it fails, all
// gates open, and the error is that of the reading.
//
// Tested by test/Runtime/Executor/BoxReadsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_BOXREADS_H
#define LLMC_LIB_RUNTIME_EXECUTOR_BOXREADS_H

#include "States.h"
#include "llmc/Runtime/Executor/BoxReading.h"

#include <memory>

namespace llmc::rt::exec {

class BoxReader;

/// The boxes that this process reads for checkpoints.
class BoxReads {
public:
  BoxReads(const plan::Plan &plan, std::vector<LocalDevice> &devices,
           States &states)
      : plan(plan), devices(devices), states(states) {}
  ~BoxReads();

  /// After all programs are bound; their instructions learn what they wait for.
  Status find();
  std::vector<TensorBox> boxes() const;
  /// Between steps.
  Status readAll(const States::Sink &sink);

  /// Makes gates, and what reads beside steps. Before the first step is bound
  /// to its queues.
  Status guard();
  /// When no step runs: gives what is small, and begins the thread. Error (2):
  /// nothing is guarded.
  Result<std::shared_ptr<BoxReading>> begin(BoxSink sink);
  /// Until nobody reads. How that ended is for who asked for it.
  void wait();
  /// The thread reads no more, and nothing waits for it.
  void stop();

private:
  const plan::Plan &plan;
  std::vector<LocalDevice> &devices;
  States &states;
  std::vector<States::OwnedBox> owned;
  size_t numAtEdge = 0; ///< Of these, how many are read before a step begins.
  bool isGuarded = false;
  std::shared_ptr<BoxReader> reading;
};

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_BOXREADS_H
