//===- Places.cpp - Offsets for buffers of known lifetimes ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Best fit: a buffer takes the smallest gap, among those that buffers placed
// before it leave during its life, into which it fits. What differs is the
// order in which buffers are placed. Where too many pairs of buffers live at
// once for that, they are placed as they begin, with a list of gaps. The local
// search follows the idea of hill climbing over that order (as in TVM's unified
// static memory planner).
//
// Test: test/Solvers/Memory/PlacesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Memory/Places.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace llmc {

/// Pairs of buffers that live at once, above which buffers are placed as they
/// begin and that is all: what else is tried looks at each pair.
constexpr int64_t mostPairs = 4'000'000;

/// Tries of the local search for a problem of `size` buffers, `pairs` of which
/// live at once.
static int64_t getNumTries(size_t size, int64_t pairs) {
  return std::min({int64_t(400), 200'000 / static_cast<int64_t>(size + 1),
                   10 * mostPairs / (pairs + 1)});
}

static int64_t roundUp(int64_t bytes, int64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

std::string PlaceProblem::check() const {
  if (alignment < 1)
    return "expected an alignment of at least 1";
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].bytes < 0 || buffers[i].begin > buffers[i].end)
      return "buffer " + std::to_string(i) + " has a negative size or lifetime";
  return "";
}

/// Buffers that take space, by their begin.
static std::vector<int32_t> listByBegin(const PlaceProblem &problem) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].bytes > 0 &&
        problem.buffers[i].begin < problem.buffers[i].end)
      order.push_back(static_cast<int32_t>(i));
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(problem.buffers[a].begin, a) <
           std::pair(problem.buffers[b].begin, b);
  });
  return order;
}

namespace {

/// Buffers that take space, with those that live at the same time.
class Placer {
public:
  explicit Placer(const PlaceProblem &problem);

  using Order = std::vector<int32_t>;
  /// The size when placed in this order; offsets go to `offsets`.
  int64_t place(const Order &order, std::vector<int64_t> &offsets) const;

  std::vector<Order> getOrders() const;
  /// Moves a buffer that ends at the top, or one that it meets, further to the
  /// front.
  Order perturb(const Order &order, const std::vector<int64_t> &offsets,
                int64_t size, std::mt19937_64 &random) const;

private:
  const PlaceProblem &problem;
  std::vector<int64_t> bytes;
  std::vector<std::vector<int32_t>> neighbours;
  Order present;
};

} // namespace

Placer::Placer(const PlaceProblem &problem) : problem(problem) {
  neighbours.resize(problem.buffers.size());
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const PlaceProblem::Buffer &buffer = problem.buffers[i];
    bytes.push_back(roundUp(buffer.bytes, problem.alignment));
    if (bytes[i] > 0 && buffer.begin < buffer.end)
      present.push_back(static_cast<int32_t>(i));
  }
  // Ends of those that live: each new buffer meets all of them.
  std::multimap<int64_t, int32_t> live;
  for (int32_t buffer : listByBegin(problem)) {
    int64_t begin = problem.buffers[buffer].begin;
    live.erase(live.begin(), live.upper_bound(begin));
    for (const auto &[end, other] : live) {
      neighbours[buffer].push_back(other);
      neighbours[other].push_back(buffer);
    }
    live.emplace(problem.buffers[buffer].end, buffer);
  }
}

int64_t Placer::place(const Order &order, std::vector<int64_t> &offsets) const {
  offsets.assign(problem.buffers.size(), -1);
  int64_t size = 0;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (int32_t buffer : order) {
    taken.clear();
    for (int32_t other : neighbours[buffer])
      if (offsets[other] >= 0)
        taken.push_back({offsets[other], offsets[other] + bytes[other]});
    std::sort(taken.begin(), taken.end());
    int64_t end = 0, best = -1, bestGap = 0;
    for (const auto &[first, after] : taken) {
      int64_t gap = first - end;
      if (gap >= bytes[buffer] && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, after);
    }
    offsets[buffer] = best >= 0 ? best : end;
    size = std::max(size, offsets[buffer] + bytes[buffer]);
  }
  for (int64_t &offset : offsets)
    offset = std::max<int64_t>(offset, 0);
  return size;
}

std::vector<Placer::Order> Placer::getOrders() const {
  auto lengthOf = [&](int32_t i) {
    return problem.buffers[i].end - problem.buffers[i].begin;
  };
  std::vector<Order> orders;
  auto add = [&](auto less) {
    orders.push_back(present);
    std::sort(orders.back().begin(), orders.back().end(),
              [&](int32_t a, int32_t b) {
                return less(a, b) || (!less(b, a) && a < b);
              });
  };
  add([&](int32_t a, int32_t b) {
    return std::pair(bytes[a], lengthOf(a)) > std::pair(bytes[b], lengthOf(b));
  });
  add([&](int32_t a, int32_t b) {
    return problem.buffers[a].begin < problem.buffers[b].begin;
  });
  add([&](int32_t a, int32_t b) {
    return static_cast<double>(bytes[a]) * lengthOf(a) >
           static_cast<double>(bytes[b]) * lengthOf(b);
  });
  add([&](int32_t a, int32_t b) {
    return std::pair(lengthOf(a), bytes[a]) > std::pair(lengthOf(b), bytes[b]);
  });
  return orders;
}

Placer::Order Placer::perturb(const Order &order,
                              const std::vector<int64_t> &offsets, int64_t size,
                              std::mt19937_64 &random) const {
  std::vector<size_t> position(problem.buffers.size());
  Order top;
  for (size_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    if (offsets[order[i]] + bytes[order[i]] == size)
      top.push_back(order[i]);
  }
  int32_t chosen = top[random() % top.size()];
  const auto &met = neighbours[chosen];
  if (!met.empty() && random() % 2 == 0)
    chosen = met[random() % met.size()];
  size_t from = position[chosen];
  size_t to = from == 0 ? 0 : random() % from;
  Order next = order;
  std::rotate(next.begin() + to, next.begin() + from, next.begin() + from + 1);
  return next;
}

int64_t PlaceProblem::getMaxLive() const {
  std::map<int64_t, int64_t> change;
  for (const Buffer &buffer : buffers) {
    if (buffer.begin < buffer.end) {
      change[buffer.begin] += roundUp(buffer.bytes, alignment);
      change[buffer.end] -= roundUp(buffer.bytes, alignment);
    }
  }
  int64_t live = 0, most = 0;
  for (const auto &[time, delta] : change) {
    live += delta;
    most = std::max(most, live);
  }
  return most;
}

int64_t PlaceProblem::getSize(const std::vector<int64_t> &offsets) const {
  int64_t size = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    size = std::max(size, offsets[i] + roundUp(buffers[i].bytes, alignment));
  return size;
}

std::string PlaceProblem::verify(const std::vector<int64_t> &offsets) const {
  if (offsets.size() != buffers.size())
    return "expected an offset for each buffer";
  std::vector<size_t> byStart;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (offsets[i] < 0 || offsets[i] % alignment != 0)
      return "offset of buffer " + std::to_string(i) + " is not aligned";
    if (buffers[i].begin < buffers[i].end && buffers[i].bytes > 0)
      byStart.push_back(i);
  }
  std::sort(byStart.begin(), byStart.end(), [&](size_t a, size_t b) {
    return std::pair(buffers[a].begin, a) < std::pair(buffers[b].begin, b);
  });
  std::vector<size_t> live;
  for (size_t i : byStart) {
    auto isOver = [&](size_t j) { return buffers[j].end <= buffers[i].begin; };
    live.erase(std::remove_if(live.begin(), live.end(), isOver), live.end());
    for (size_t j : live)
      if (offsets[i] < offsets[j] + buffers[j].bytes &&
          offsets[j] < offsets[i] + buffers[i].bytes)
        return "buffers " + std::to_string(j) + " and " + std::to_string(i) +
               " overlap while both live";
    live.push_back(i);
  }
  return "";
}

/// Every buffer after the one before, and where the last one ends.
static std::pair<std::vector<int64_t>, int64_t>
placeSideBySide(const PlaceProblem &problem) {
  std::vector<int64_t> offsets(problem.buffers.size(), 0);
  int64_t end = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const PlaceProblem::Buffer &buffer = problem.buffers[i];
    if (buffer.bytes <= 0 || buffer.begin >= buffer.end)
      continue;
    offsets[i] = end;
    end += roundUp(buffer.bytes, problem.alignment);
  }
  return {std::move(offsets), end};
}

/// How many pairs of buffers live at once.
static int64_t countPairs(const PlaceProblem &problem) {
  std::vector<int32_t> order = listByBegin(problem);
  std::vector<int64_t> ends;
  for (int32_t buffer : order)
    ends.push_back(problem.buffers[buffer].end);
  std::sort(ends.begin(), ends.end());
  int64_t pairs = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    int64_t begin = problem.buffers[order[i]].begin;
    auto over = std::upper_bound(ends.begin(), ends.end(), begin);
    pairs += static_cast<int64_t>(i) - (over - ends.begin());
  }
  return pairs;
}

namespace {

/// Bytes below `top` that nothing takes, for best fit in logarithmic time.
class FreeGaps {
public:
  /// The start of the smallest gap of that many bytes, or the top.
  int64_t take(int64_t bytes) {
    auto found = bySize.lower_bound({bytes, 0});
    if (found == bySize.end()) {
      top += bytes;
      return top - bytes;
    }
    auto [size, begin] = *found;
    erase(begin);
    if (size > bytes)
      insert(begin + bytes, size - bytes);
    return begin;
  }

  void give(int64_t begin, int64_t bytes) {
    auto after = sizes.lower_bound(begin);
    if (after != sizes.end() && after->first == begin + bytes) {
      bytes += after->second;
      erase(after->first);
    }
    auto before = sizes.lower_bound(begin);
    if (before != sizes.begin()) {
      --before;
      if (before->first + before->second == begin) {
        begin = before->first;
        bytes += before->second;
        erase(begin);
      }
    }
    if (begin + bytes == top)
      top = begin;
    else
      insert(begin, bytes);
  }

private:
  void insert(int64_t begin, int64_t size) {
    sizes[begin] = size;
    bySize.insert({size, begin});
  }
  void erase(int64_t begin) {
    auto gap = sizes.find(begin);
    bySize.erase({gap->second, begin});
    sizes.erase(gap);
  }

  std::map<int64_t, int64_t> sizes;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0;
};

} // namespace

/// Best fit in the order of begins: those that live are all that is met.
static std::vector<int64_t> placeAsTheyBegin(const PlaceProblem &problem) {
  std::vector<int64_t> offsets(problem.buffers.size(), 0);
  std::multimap<int64_t, int32_t> live;
  FreeGaps gaps;
  auto bytesOf = [&](int32_t buffer) {
    return roundUp(problem.buffers[buffer].bytes, problem.alignment);
  };
  for (int32_t buffer : listByBegin(problem)) {
    auto over = live.upper_bound(problem.buffers[buffer].begin);
    for (auto ended = live.begin(); ended != over; ++ended)
      gaps.give(offsets[ended->second], bytesOf(ended->second));
    live.erase(live.begin(), over);
    offsets[buffer] = gaps.take(bytesOf(buffer));
    live.emplace(problem.buffers[buffer].end, buffer);
  }
  return offsets;
}

std::vector<int64_t> assignPlaces(const PlaceProblem &problem) {
  int64_t bound = problem.getMaxLive();
  // Where all buffers live at once there is nothing to search for.
  if (auto [offsets, end] = placeSideBySide(problem); end == bound)
    return offsets;
  int64_t pairs = countPairs(problem);
  if (pairs > mostPairs)
    return placeAsTheyBegin(problem);
  Placer placer(problem);
  std::vector<int64_t> best, offsets;
  Placer::Order bestOrder;
  int64_t bestSize = -1;
  for (const Placer::Order &order : placer.getOrders()) {
    int64_t size = placer.place(order, offsets);
    if (bestSize < 0 || size < bestSize) {
      bestSize = size;
      best = offsets;
      bestOrder = order;
    }
  }
  // A fixed seed: the same problem gives the same places.
  std::mt19937_64 random(1);
  std::vector<int64_t> current = best;
  Placer::Order order = bestOrder;
  int64_t size = bestSize;
  for (int64_t i = getNumTries(order.size(), pairs); i > 0 && bestSize > bound;
       --i) {
    Placer::Order next = placer.perturb(order, current, size, random);
    int64_t nextSize = placer.place(next, offsets);
    if (nextSize > size)
      continue;
    order = std::move(next);
    current = offsets;
    size = nextSize;
    if (size < bestSize) {
      bestSize = size;
      best = offsets;
    }
  }
  return best;
}

} // namespace llmc
