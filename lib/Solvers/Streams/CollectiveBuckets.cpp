//===- CollectiveBuckets.cpp - Collectives that go together ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives are looked at in order, each with the open bucket of its key. The
// clock is that of the given order: an op starts when those before it have
// computed. The new order is that of the times at which groups begin, when each
// stream takes the first one that is ready.
//
// Test: test/Solvers/Streams/CollectiveBucketsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Streams/CollectiveBuckets.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace llmc {

std::string BucketProblem::check() const {
  for (size_t op = 0; op < ops.size(); ++op) {
    for (int32_t before : ops[op].after)
      if (before < 0 || before >= static_cast<int32_t>(op))
        return "op " + std::to_string(op) +
               " follows one that does not stand before it";
    if (ops[op].key >= static_cast<int32_t>(full.size()))
      return "op " + std::to_string(op) + " has a key that is not there";
    if (ops[op].stream < 0 || ops[op].stream >= numStreams)
      return "op " + std::to_string(op) + " is on a stream that is not there";
    if (ops[op].ready > 0)
      return "op " + std::to_string(op) + " is ready after the start";
    if (ops[op].startup < 0 || ops[op].time < ops[op].startup ||
        ops[op].bytes < 0)
      return "op " + std::to_string(op) + " has a negative cost";
  }
  return "";
}

namespace {

class BucketFinder {
public:
  explicit BucketFinder(const BucketProblem &problem)
      : problem(problem), groupOf(problem.ops.size()),
        seenBy(problem.ops.size(), -1), open(problem.full.size(), -1) {}

  std::vector<std::vector<int32_t>> run();

private:
  void readTimes();
  bool mayJoin(int32_t op, int32_t group);
  bool dependsOn(int32_t op, int32_t group);
  void add(int32_t op);
  int64_t getTime(int32_t group) const;

  struct Group {
    std::vector<int32_t> members;
    int64_t bytes = 0;
    /// When the last member's inputs are there.
    int64_t ready = 0;
    /// No op before this one depends on a member: no bucket holds one of each
    /// side.
    int32_t begin = 0;
  };
  const BucketProblem &problem;
  std::vector<Group> groups;
  std::vector<int32_t> groupOf;
  /// The op that has last looked at the group.
  std::vector<int32_t> seenBy;
  /// Of each key the bucket that is not full, or -1.
  std::vector<int32_t> open;
  /// By op: when its inputs are there and when it starts, in the given order;
  /// for how long it may wait.
  std::vector<int64_t> ready, start, slack;
};

} // namespace

void BucketFinder::readTimes() {
  size_t numOps = problem.ops.size();
  ready.assign(numOps, 0);
  start.assign(numOps, 0);
  auto computes = [&](int32_t op) {
    return problem.ops[op].stream == 0 ? problem.ops[op].time : 0;
  };
  int64_t now = 0;
  for (size_t op = 0; op < numOps; ++op) {
    start[op] = now;
    now += computes(op);
    ready[op] = problem.ops[op].ready;
    for (int32_t before : problem.ops[op].after)
      ready[op] = std::max(ready[op], start[before] + computes(before));
  }
  // The longest way from each op to the end.
  std::vector<int64_t> rest(numOps, 0);
  slack.assign(numOps, 0);
  for (size_t op = numOps; op-- > 0;) {
    rest[op] += computes(op);
    for (int32_t before : problem.ops[op].after)
      rest[before] = std::max(rest[before], rest[op]);
    slack[op] = now - start[op] - rest[op];
  }
}

/// Whether a way leads from a member of the group to the op. Groups hold ops
/// before it only, so none leads back.
bool BucketFinder::dependsOn(int32_t op, int32_t group) {
  std::vector<int32_t> pending = problem.ops[op].after;
  while (!pending.empty()) {
    int32_t at = groupOf[pending.back()];
    pending.pop_back();
    if (at == group)
      return true;
    if (seenBy[at] == op || groups[at].members.back() < groups[group].begin)
      continue;
    seenBy[at] = op;
    for (int32_t member : groups[at].members)
      pending.insert(pending.end(), problem.ops[member].after.begin(),
                     problem.ops[member].after.end());
  }
  return false;
}

bool BucketFinder::mayJoin(int32_t op, int32_t group) {
  int64_t issue = std::max(groups[group].ready, ready[op]);
  for (int32_t member : groups[group].members)
    if (issue - start[member] > slack[member])
      return false;
  return !dependsOn(op, group);
}

void BucketFinder::add(int32_t op) {
  const BucketProblem::Op &self = problem.ops[op];
  bool isOpen = self.key >= 0 && problem.full[self.key] > 0;
  int32_t group = isOpen ? open[self.key] : -1;
  if (group < 0 || !mayJoin(op, group)) {
    group = static_cast<int32_t>(groups.size());
    groups.emplace_back();
    groups[group].begin = op;
    // Those of other keys may still get members behind this one.
    for (int32_t key = 0; isOpen && key < int32_t(open.size()); ++key)
      if (key != self.key && open[key] >= 0)
        groups[group].begin =
            std::min(groups[group].begin, groups[open[key]].begin);
  }
  groupOf[op] = group;
  groups[group].members.push_back(op);
  groups[group].bytes += self.bytes;
  groups[group].ready = std::max(groups[group].ready, ready[op]);
  if (isOpen)
    open[self.key] = groups[group].bytes < problem.full[self.key] ? group : -1;
}

/// Members share the startup.
int64_t BucketFinder::getTime(int32_t group) const {
  int64_t time = 0, startup = 0;
  for (int32_t member : groups[group].members) {
    const BucketProblem::Op &op = problem.ops[member];
    time += op.time - op.startup;
    startup = std::max(startup, op.startup);
  }
  return time + startup;
}

namespace {

/// Runs groups on streams, the one that may begin first before all others.
class GroupOrder {
public:
  struct Group {
    int32_t stream = 0;
    int64_t time = 0;
    std::vector<int32_t> next;
    int32_t numBefore = 0;
    /// When all before it have ended.
    int64_t ready = std::numeric_limits<int64_t>::min();
  };

  GroupOrder(std::vector<Group> groups, int32_t numStreams)
      : groups(std::move(groups)), streams(numStreams) {
    int64_t first = 0;
    for (const Group &group : this->groups)
      first = std::min(first, group.ready);
    for (int32_t stream = 1; stream < numStreams; ++stream)
      streams[stream].now = first;
  }

  std::vector<int32_t> run();

private:
  template <typename T>
  using Least = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct Stream {
    int64_t now = 0;
    /// Groups all of whose predecessors have their times: by the time at which
    /// they are ready, and those that are, by number.
    Least<std::pair<int64_t, int32_t>> coming;
    Least<int32_t> ready;
  };

  void release(int32_t group);
  int64_t getBegin(const Stream &stream) const;
  int32_t take(Stream &stream);

  std::vector<Group> groups;
  std::vector<Stream> streams;
};

} // namespace

void GroupOrder::release(int32_t group) {
  streams[groups[group].stream].coming.push({groups[group].ready, group});
}

int64_t GroupOrder::getBegin(const Stream &stream) const {
  if (!stream.ready.empty())
    return stream.now;
  return stream.coming.empty()
             ? std::numeric_limits<int64_t>::max()
             : std::max(stream.now, stream.coming.top().first);
}

int32_t GroupOrder::take(Stream &stream) {
  stream.now = getBegin(stream);
  for (; !stream.coming.empty() && stream.coming.top().first <= stream.now;
       stream.coming.pop())
    stream.ready.push(stream.coming.top().second);
  int32_t group = stream.ready.top();
  stream.ready.pop();
  stream.now += groups[group].time;
  return group;
}

std::vector<int32_t> GroupOrder::run() {
  for (size_t group = 0; group < groups.size(); ++group)
    if (groups[group].numBefore == 0)
      release(static_cast<int32_t>(group));
  std::vector<int32_t> order;
  while (order.size() < groups.size()) {
    // At one time, what others wait for is issued before the computation.
    auto first = std::min_element(streams.rbegin(), streams.rend(),
                                  [&](const Stream &a, const Stream &b) {
                                    return getBegin(a) < getBegin(b);
                                  });
    int32_t group = take(*first);
    order.push_back(group);
    for (int32_t next : groups[group].next) {
      groups[next].ready = std::max(groups[next].ready, first->now);
      if (--groups[next].numBefore == 0)
        release(next);
    }
  }
  return order;
}

std::vector<std::vector<int32_t>> BucketFinder::run() {
  readTimes();
  for (size_t op = 0; op < problem.ops.size(); ++op)
    add(static_cast<int32_t>(op));
  // Groups are numbered in the order of their first members.
  std::vector<GroupOrder::Group> list(groups.size());
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    GroupOrder::Group &group = list[groupOf[op]];
    group.stream = problem.ops[op].stream;
    group.time = getTime(groupOf[op]);
    group.ready = std::max(group.ready, problem.ops[op].ready);
    for (int32_t before : problem.ops[op].after) {
      list[groupOf[before]].next.push_back(groupOf[op]);
      ++group.numBefore;
    }
  }
  std::vector<std::vector<int32_t>> result;
  for (int32_t group : GroupOrder(std::move(list), problem.numStreams).run())
    result.push_back(groups[group].members);
  return result;
}

/// The problem in the order in which its ops alone would run.
static BucketProblem reorder(const BucketProblem &problem,
                             const std::vector<std::vector<int32_t>> &order) {
  BucketProblem result = problem;
  result.ops.clear();
  std::vector<int32_t> numbers(problem.ops.size());
  for (const std::vector<int32_t> &group : order) {
    numbers[group.front()] = static_cast<int32_t>(result.ops.size());
    result.ops.push_back(problem.ops[group.front()]);
    for (int32_t &before : result.ops.back().after)
      before = numbers[before];
  }
  return result;
}

std::vector<std::vector<int32_t>> findBuckets(const BucketProblem &problem) {
  bool isEarly = std::any_of(problem.ops.begin(), problem.ops.end(),
                             [](const auto &op) { return op.ready < 0; });
  if (!isEarly)
    return BucketFinder(problem).run();
  // What is there first may stand behind: buckets are found in the order of
  // the ops' times.
  BucketProblem alone = problem;
  std::fill(alone.full.begin(), alone.full.end(), 0);
  std::vector<std::vector<int32_t>> order = BucketFinder(alone).run();
  std::vector<std::vector<int32_t>> groups =
      BucketFinder(reorder(problem, order)).run();
  for (std::vector<int32_t> &group : groups)
    for (int32_t &member : group)
      member = order[member].front();
  return groups;
}

} // namespace llmc
