//===- FakeSession.h - A session that only pretends -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_EXECUTOR_FAKESESSION_H
#define LLMC_TEST_RUNTIME_EXECUTOR_FAKESESSION_H

#include "llmc/Runtime/Executor/Session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace llmc::rt {

/// Values that a test sets, and what the loop asked for.
class FakeSession final : public Session {
public:
  plan::Plan source;
  std::vector<NamedValue> values = {{"lr", 1e-3}, {"loss", 2.5}, {"norm", 7}};
  /// The loss of each step; the last one stays.
  std::vector<double> losses = {2.5};
  std::vector<plan::Traffic> counted;
  uint64_t transferBytes = 0;
  std::vector<std::string> fetched;
  /// Those that were submitted, and those that were waited for.
  std::vector<int64_t> submitted, steps;
  size_t mostAhead = 0;
  int64_t refuseAt = -1;
  std::vector<int64_t> most = {2};
  std::atomic<bool> *stopAt1 = nullptr;

  const plan::Plan &plan() const override { return source; }
  uint64_t seed() const override { return 0; }
  Status useFiles(const SourceFiles &) override { return {}; }
  /// Of each evaluation; the steps that were trained before it.
  std::vector<double> held = {4.5, 3.5, 3.25};
  std::vector<size_t> evaluatedAfter;
  std::vector<int64_t> batches;
  Status checkEvaluation(const std::string &entry) override {
    return entry == "evaluate" ? Status::success()
                               : makeError(ErrorKind::usage, "no " + entry);
  }
  Result<std::pair<std::vector<NamedValue>, int64_t>>
  evaluate(const std::string &, int64_t count) override {
    EXPECT_EQ(submitted.size(), steps.size()) << "a step runs";
    std::vector<NamedValue> means = {{"t$", 0.5},
                                     {"loss", held.at(evaluatedAfter.size())}};
    evaluatedAfter.push_back(steps.size());
    batches.push_back(count);
    return std::make_pair(means, count ? count : 7);
  }
  std::optional<double> epochs(const std::string &,
                               int64_t step) const override {
    return perEpoch ? std::optional(double(step) / perEpoch) : std::nullopt;
  }
  double perEpoch = 0;
  uint64_t bytesRead() const override { return 0; }
  Status setInput(const std::string &, const std::string &, int64_t,
                  const HostTensor &) override {
    return {};
  }
  Status setExternal(const std::string &, double) override { return {}; }
  void leaveOut(int64_t count) override { left = count; }
  int64_t leftOut() const override { return left; }
  int64_t left = 0;
  Status submit(const std::string &, int64_t step) override {
    if (step == refuseAt) {
      return makeError(ErrorKind::malformed, "no data");
    }
    submitted.push_back(step);
    mostAhead = std::max(mostAhead, submitted.size() - steps.size());
    return {};
  }
  Status wait() override {
    values[1].value = losses[std::min(steps.size(), losses.size() - 1)];
    steps.push_back(submitted.at(steps.size()));
    if (stopAt1 && steps.back() == 1) {
      *stopAt1 = true;
    }
    return {};
  }
  Status run(const std::string &entry, int64_t step) override {
    LLMC_TRY(submit(entry, step));
    return wait();
  }
  const std::vector<NamedValue> &metrics() const override { return values; }
  Result<HostTensor> fetch(const std::string &name, int64_t m) override {
    fetched.push_back(name + "." + std::to_string(m));
    return HostTensor::zeros(DType::i32, {2});
  }
  Result<std::vector<TensorBox>> ownedBoxes() override {
    return std::vector<TensorBox>();
  }
  Status
  readBoxes(const std::function<Status(const std::byte *, size_t)> &) override {
    return {};
  }
  Status guardStates() override { return {}; }
  Result<std::shared_ptr<BoxReading>> readBoxesAside(BoxSink) override {
    return makeError(ErrorKind::internal, "a session that only pretends");
  }
  Status restore(const StoredTensors &) override { return {}; }
  void say(double word) override { words[0] = word; }
  const std::vector<double> &heard() const override { return words; }
  std::vector<double> words = {0};
  Result<HostTensor> readState(const std::string &) override {
    return HostTensor();
  }
  Status writeState(const std::string &, const HostTensor &) override {
    return {};
  }
  Result<bool> copiesAgree(const std::string &) override { return true; }
  std::vector<DeviceMemory> memory() const override {
    return {{1000, 2000, 100000}, {3000, 1500, 100000}};
  }
  Result<MemoryAudit> auditMemory() override { return MemoryAudit{}; }
  Result<CommunicatorCounts> communication() const override {
    CommunicatorCounts counts;
    counts.transferBytes = transferBytes;
    return counts;
  }
  Result<std::vector<plan::Traffic>> traffic(int64_t) const override {
    return counted;
  }
  const std::vector<int64_t> &inFlight() const override { return most; }
  OrderDigest order() const override { return {}; }
  std::string printTrace() override {
    return "trace " + std::to_string(++traces);
  }
  int traces = 0;
  double onData = 0; ///< Seconds for each step that is submitted.
  double dataSeconds() const override {
    return onData * static_cast<double>(submitted.size());
  }
  std::optional<double> exposed;
  std::optional<double> exposedSeconds() const override { return exposed; }
};

} // namespace llmc::rt

#endif // LLMC_TEST_RUNTIME_EXECUTOR_FAKESESSION_H
