//===- OpOrder.cpp - An order of ops with a low peak of memory ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Solvers/Memory/OpOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/OpOrder.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace llmc {

namespace {

enum class Policy {
  /// The op of the least (allotted - freed) bytes.
  LeastBytes,
  /// The same among those that free, else the first in original order.
  FreeElseFirst
};

/// Runs ops one by one and keeps the ready ones sorted by what they cost now.
class ListScheduler {
public:
  ListScheduler(const OpOrderProblem &problem, Policy policy)
      : problem(problem), policy(policy) {}

  std::vector<int32_t> run();

private:
  using Key = std::pair<int64_t, int32_t>;

  Key getKey(int32_t op) const;
  /// The ops whose cost may change when `buffer` does.
  void refresh(int32_t buffer);
  void finish(int32_t op);

  const OpOrderProblem &problem;
  Policy policy;
  std::vector<std::vector<int32_t>> successors, touchers;
  std::vector<int32_t> openInputs, openTouches;
  std::vector<bool> isAlive;
  /// Keys of ready ops; others have none.
  std::vector<Key> keys;
  std::vector<bool> isReady;
  std::set<Key> ready;
};

} // namespace

/// The buffers of an op, each once.
static std::vector<int32_t> getBuffers(const OpOrderProblem::Op &op) {
  std::vector<int32_t> buffers = op.touches;
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  return buffers;
}

ListScheduler::Key ListScheduler::getKey(int32_t op) const {
  int64_t cost = 0;
  for (int32_t buffer : getBuffers(problem.ops[op])) {
    if (!isAlive[buffer])
      cost += problem.bytes[buffer];
    if (openTouches[buffer] == 1)
      cost -= problem.bytes[buffer];
  }
  if (policy == Policy::FreeElseFirst && cost >= 0)
    cost = 0;
  return {cost, op};
}

void ListScheduler::refresh(int32_t buffer) {
  for (int32_t op : touchers[buffer])
    if (isReady[op]) {
      ready.erase(keys[op]);
      keys[op] = getKey(op);
      ready.insert(keys[op]);
    }
}

void ListScheduler::finish(int32_t op) {
  isReady[op] = false;
  for (int32_t buffer : getBuffers(problem.ops[op])) {
    bool first = !isAlive[buffer];
    isAlive[buffer] = true;
    --openTouches[buffer];
    if (first || openTouches[buffer] == 1)
      refresh(buffer);
  }
  for (int32_t next : successors[op])
    if (--openInputs[next] == 0) {
      isReady[next] = true;
      keys[next] = getKey(next);
      ready.insert(keys[next]);
    }
}

std::vector<int32_t> ListScheduler::run() {
  size_t numOps = problem.ops.size(), numBuffers = problem.bytes.size();
  successors.resize(numOps);
  touchers.resize(numBuffers);
  openInputs.assign(numOps, 0);
  openTouches.assign(numBuffers, 0);
  isAlive.assign(numBuffers, false);
  isReady.assign(numOps, false);
  keys.resize(numOps);
  for (size_t op = 0; op < numOps; ++op) {
    for (int32_t before : problem.ops[op].after) {
      successors[before].push_back(op);
      ++openInputs[op];
    }
    for (int32_t buffer : getBuffers(problem.ops[op])) {
      touchers[buffer].push_back(op);
      ++openTouches[buffer];
    }
  }
  for (size_t op = 0; op < numOps; ++op)
    if (openInputs[op] == 0) {
      isReady[op] = true;
      keys[op] = getKey(op);
      ready.insert(keys[op]);
    }
  std::vector<int32_t> order;
  while (!ready.empty()) {
    int32_t op = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(op);
    finish(op);
  }
  return order;
}

std::string OpOrderProblem::check() const {
  for (size_t op = 0; op < ops.size(); ++op) {
    for (int32_t before : ops[op].after)
      if (before < 0 || before >= static_cast<int32_t>(ops.size()))
        return "op " + std::to_string(op) + " follows an op that is not there";
    for (int32_t buffer : ops[op].touches)
      if (buffer < 0 || buffer >= static_cast<int32_t>(bytes.size()))
        return "op " + std::to_string(op) +
               " touches a buffer that is not there";
  }
  for (int64_t size : bytes)
    if (size < 0)
      return "a buffer has a negative size";
  if (ListScheduler(*this, Policy::FreeElseFirst).run().size() != ops.size())
    return "dependencies have a cycle";
  return "";
}

std::string OpOrderProblem::verify(const std::vector<int32_t> &order) const {
  std::vector<int64_t> position(ops.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= static_cast<int32_t>(ops.size()) ||
        position[order[i]] >= 0)
      return "expected each op once";
    position[order[i]] = static_cast<int64_t>(i);
  }
  if (order.size() != ops.size())
    return "expected each op once";
  for (size_t op = 0; op < ops.size(); ++op)
    for (int32_t before : ops[op].after)
      if (position[before] >= position[op])
        return "op " + std::to_string(op) + " stands before op " +
               std::to_string(before) + ", which it needs";
  return "";
}

int64_t OpOrderProblem::getPeak(const std::vector<int32_t> &order) const {
  std::vector<int32_t> open(bytes.size(), 0);
  for (const Op &op : ops)
    for (int32_t buffer : getBuffers(op))
      ++open[buffer];
  std::vector<bool> isAlive(bytes.size(), false);
  int64_t live = 0, peak = 0;
  for (int32_t op : order) {
    std::vector<int32_t> buffers = getBuffers(ops[op]);
    for (int32_t buffer : buffers)
      if (!isAlive[buffer]) {
        isAlive[buffer] = true;
        live += bytes[buffer];
      }
    peak = std::max(peak, live);
    for (int32_t buffer : buffers)
      if (--open[buffer] == 0)
        live -= bytes[buffer];
  }
  return peak;
}

namespace {

/// Puts ops that communicate and need nothing in front of their first use.
class SourceOrder {
public:
  explicit SourceOrder(const OpOrderProblem &problem);

  bool hasSources() const { return !sources.empty(); }
  std::vector<int32_t> run();

private:
  void findSources();
  std::vector<int32_t> orderOthers() const;
  void sortByUse(const std::vector<int32_t> &others);

  struct Source {
    /// What is made for it alone, then the op.
    std::vector<int32_t> ops;
    int64_t bytes = 0;
    /// The number of its first use among the others.
    size_t use = 0;
  };
  const OpOrderProblem &problem;
  std::vector<std::vector<int32_t>> successors;
  std::vector<Source> sources;
  /// By op: the number of its source, or -1.
  std::vector<int32_t> sourceOf;
};

} // namespace

SourceOrder::SourceOrder(const OpOrderProblem &problem)
    : problem(problem), successors(problem.ops.size()),
      sourceOf(problem.ops.size(), -1) {
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (int32_t before : problem.ops[op].after)
      successors[before].push_back(static_cast<int32_t>(op));
  findSources();
}

void SourceOrder::findSources() {
  for (size_t number = 0; number < problem.ops.size(); ++number) {
    const OpOrderProblem::Op &op = problem.ops[number];
    auto isForIt = [&](int32_t before) {
      const OpOrderProblem::Op &feeder = problem.ops[before];
      return feeder.after.empty() && !feeder.runsBeside &&
             std::all_of(successors[before].begin(), successors[before].end(),
                         [&](int32_t next) {
                           return next == static_cast<int32_t>(number);
                         });
    };
    if (!op.runsBeside || successors[number].empty() ||
        !std::all_of(op.after.begin(), op.after.end(), isForIt))
      continue;
    Source source;
    source.ops = op.after;
    std::sort(source.ops.begin(), source.ops.end());
    source.ops.erase(std::unique(source.ops.begin(), source.ops.end()),
                     source.ops.end());
    source.ops.push_back(static_cast<int32_t>(number));
    for (int32_t buffer : getBuffers(op))
      source.bytes += problem.bytes[buffer];
    for (int32_t member : source.ops)
      sourceOf[member] = static_cast<int32_t>(sources.size());
    sources.push_back(std::move(source));
  }
}

/// All but the sources, as if these had run.
std::vector<int32_t> SourceOrder::orderOthers() const {
  OpOrderProblem rest;
  rest.bytes = problem.bytes;
  std::vector<int32_t> number(problem.ops.size(), -1), original;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (sourceOf[op] < 0) {
      number[op] = static_cast<int32_t>(original.size());
      original.push_back(static_cast<int32_t>(op));
    }
  for (int32_t op : original) {
    OpOrderProblem::Op other{{}, problem.ops[op].touches};
    for (int32_t before : problem.ops[op].after)
      if (number[before] >= 0)
        other.after.push_back(number[before]);
    rest.ops.push_back(std::move(other));
  }
  std::vector<int32_t> order = orderOps(rest);
  for (int32_t &op : order)
    op = original[op];
  return order;
}

void SourceOrder::sortByUse(const std::vector<int32_t> &others) {
  std::vector<size_t> position(problem.ops.size());
  for (size_t i = 0; i < others.size(); ++i)
    position[others[i]] = i;
  for (Source &source : sources) {
    source.use = others.size();
    for (int32_t next : successors[source.ops.back()])
      source.use = std::min(source.use, position[next]);
  }
  std::stable_sort(
      sources.begin(), sources.end(),
      [](const Source &a, const Source &b) { return a.use < b.use; });
}

std::vector<int32_t> SourceOrder::run() {
  std::vector<int32_t> others = orderOthers(), order;
  sortByUse(others);
  int64_t most = 0;
  for (const Source &source : sources)
    most = std::max(most, 2 * source.bytes);
  // Sources before `next` have begun, those before `used` are used.
  size_t next = 0, used = 0;
  int64_t ahead = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    for (; used < next && sources[used].use <= i; ++used)
      ahead -= sources[used].bytes;
    for (; next < sources.size() &&
           (sources[next].use <= i || ahead + sources[next].bytes <= most);
         ++next) {
      order.insert(order.end(), sources[next].ops.begin(),
                   sources[next].ops.end());
      if (sources[next].use > i)
        ahead += sources[next].bytes;
      else
        ++used;
    }
    order.push_back(others[i]);
  }
  return order;
}

std::vector<int32_t> orderOps(const OpOrderProblem &problem) {
  if (SourceOrder late(problem); late.hasSources())
    return late.run();
  std::vector<std::vector<int32_t>> candidates(1);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    candidates[0].push_back(static_cast<int32_t>(op));
  if (!problem.verify(candidates[0]).empty())
    candidates.clear();
  candidates.push_back(ListScheduler(problem, Policy::FreeElseFirst).run());
  candidates.push_back(ListScheduler(problem, Policy::LeastBytes).run());
  size_t best = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < candidates.size(); ++i) {
    int64_t peak = problem.getPeak(candidates[i]);
    if (peak < least) {
      least = peak;
      best = i;
    }
  }
  return candidates[best];
}

} // namespace llmc
