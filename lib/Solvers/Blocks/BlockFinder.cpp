//===- BlockFinder.cpp - Repeated segments of a forward graph -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 1. The spine as a sequence of symbols: an op's signature and, for each
//    operand, either "of the spine" or the structural hash of its cone.
// 2. Candidates for the period p: distances between equal windows of the
//    sequence, for windows of 1, 2, 4, ... symbols. A primitive segment occurs
//    in its own repetition at multiples of p only, so p wins the vote among
//    windows about as long as itself.
// 3. For each candidate the longest run s[i] == s[i + p], the rotation whose
//    cuts are cheapest, and a check that the operands correspond. The run may
//    begin a segment earlier, with one that takes something else where the
//    others take what the segment before them has made.
// 4. The same for the stretches before and after the run.
//
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Blocks/BlockFinder.h"
#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

using namespace llmc;

static uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t x = seed * 0x9E3779B97F4A7C15ull + value + 0x7F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

std::string BlockGraph::check() const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].bytes < 0)
      return "expected bytes of node " + std::to_string(i) +
             " to be at least 0, got " + std::to_string(nodes[i].bytes);
    for (int32_t operand : nodes[i].operands)
      if (operand < 0 || operand >= static_cast<int32_t>(i))
        return "expected operands of node " + std::to_string(i) +
               " to be earlier nodes, got " + std::to_string(operand);
  }
  return {};
}

namespace {

constexpr uint64_t kSpineOperand = 0x5350494E45ull;

/// The ops that depend on inputs and parameters, in program order; with
/// `hasInputs` inputs too, and the ops that depend on them alone.
struct Spine {
  /// Node of each position, and position of each node (-1: not of the spine).
  std::vector<int32_t> nodes, positions;
  std::vector<uint64_t> symbols;
  /// The signature alone, without operands.
  std::vector<uint64_t> shapes;
  /// All operands, as positions; -1 for those that are not of the spine.
  std::vector<std::vector<int32_t>> operands;
  /// Structural hashes of these operands; of the spine all are alike.
  std::vector<std::vector<uint64_t>> cones;
  /// Number of ops before each position that take a parameter, and that depend
  /// on inputs and parameters.
  std::vector<int32_t> parametersBefore, mixedBefore;
  /// Bytes of values that cross the cut before each position.
  std::vector<int64_t> cutBytes;

  int32_t size() const { return static_cast<int32_t>(nodes.size()); }
  bool takesParameter(int32_t from, int32_t to) const {
    return parametersBefore[to] > parametersBefore[from];
  }
  int32_t countMixed(int32_t from, int32_t to) const {
    return mixedBefore[to] - mixedBefore[from];
  }
  /// Whether the op at `first` is that at `next`, but for operands that are of
  /// the spine at `next` alone.
  bool beginsAlike(int32_t first, int32_t next) const {
    if (shapes[first] != shapes[next] ||
        cones[first].size() != cones[next].size())
      return false;
    for (size_t o = 0; o < cones[next].size(); ++o)
      if (cones[first][o] != cones[next][o] && operands[next][o] < 0)
        return false;
    return true;
  }
};

/// `count` segments of `period` positions from `start`.
struct Run {
  int32_t start = 0, period = 0, count = 0;
  int64_t cost = 0;

  bool betterThan(const Run &other) const {
    int64_t covered = int64_t(period) * count;
    int64_t otherCovered = int64_t(other.period) * other.count;
    if (covered != otherCovered)
      return covered > otherCovered;
    if (period != other.period)
      return period < other.period;
    return cost < other.cost;
  }
};

} // namespace

/// Bit 0: depends on a parameter; bit 1: depends on an input.
static std::vector<uint8_t> computeDependence(const BlockGraph &graph) {
  std::vector<uint8_t> bits(graph.nodes.size());
  for (size_t i = 0; i < bits.size(); ++i) {
    const BlockGraph::Node &node = graph.nodes[i];
    bits[i] = node.source == BlockGraph::Source::Parameter ? 1
              : node.source == BlockGraph::Source::Input   ? 2
                                                           : 0;
    for (int32_t operand : node.operands)
      bits[i] |= bits[operand];
  }
  return bits;
}

static std::vector<int64_t>
computeCutBytes(const BlockGraph &graph, const std::vector<int32_t> &nodes,
                const std::vector<std::vector<int32_t>> &operands) {
  int32_t size = static_cast<int32_t>(nodes.size());
  std::vector<int32_t> lastUse(size, -1);
  for (int32_t i = 0; i < size; ++i)
    for (int32_t operand : operands[i])
      if (operand >= 0)
        lastUse[operand] = i;
  std::vector<int64_t> bytes(size + 1, 0);
  for (int32_t i = 0; i < size; ++i) {
    if (lastUse[i] < 0)
      continue;
    bytes[i + 1] += graph.nodes[nodes[i]].bytes;
    if (lastUse[i] + 1 <= size)
      bytes[lastUse[i] + 1] -= graph.nodes[nodes[i]].bytes;
  }
  for (int32_t i = 0; i < size; ++i)
    bytes[i + 1] += bytes[i];
  return bytes;
}

static Spine buildSpine(const BlockGraph &graph, bool hasInputs) {
  std::vector<uint8_t> depends = computeDependence(graph);
  size_t numNodes = graph.nodes.size();
  Spine spine;
  spine.positions.assign(numNodes, -1);
  spine.parametersBefore.push_back(0);
  spine.mixedBefore.push_back(0);
  std::vector<uint64_t> cones(numNodes, 0);
  for (size_t i = 0; i < numNodes; ++i) {
    const BlockGraph::Node &node = graph.nodes[i];
    uint64_t symbol = mix(static_cast<uint64_t>(node.source), node.signature);
    uint64_t shape = symbol;
    std::vector<int32_t> operands;
    std::vector<uint64_t> operandCones;
    bool takesParameter = false;
    for (int32_t operand : node.operands) {
      int32_t position = spine.positions[operand];
      operandCones.push_back(position >= 0 ? kSpineOperand : cones[operand]);
      symbol = mix(symbol, operandCones.back());
      operands.push_back(position);
      takesParameter |= position < 0 && (depends[operand] & 1) != 0;
    }
    cones[i] = symbol;
    if (hasInputs ? !(depends[i] & 2) : depends[i] != 3)
      continue;
    spine.positions[i] = spine.size();
    spine.nodes.push_back(static_cast<int32_t>(i));
    spine.symbols.push_back(symbol);
    spine.shapes.push_back(shape);
    spine.operands.push_back(std::move(operands));
    spine.cones.push_back(std::move(operandCones));
    spine.parametersBefore.push_back(spine.parametersBefore.back() +
                                     takesParameter);
    spine.mixedBefore.push_back(spine.mixedBefore.back() + (depends[i] == 3));
  }
  spine.cutBytes = computeCutBytes(graph, spine.nodes, spine.operands);
  return spine;
}

/// Step 2: periods worth a look between two positions, in ascending order.
static std::vector<int32_t> collectPeriods(const Spine &spine, int32_t from,
                                           int32_t to) {
  constexpr size_t kPeriodsPerWindow = 4;
  std::vector<int32_t> periods;
  std::vector<uint64_t> windows(spine.symbols.begin() + from,
                                spine.symbols.begin() + to);
  for (int32_t length = 1; length <= (to - from) / 2; length *= 2) {
    std::unordered_map<uint64_t, int32_t> last;
    std::map<int32_t, int32_t> votes;
    for (int32_t i = 0; i < static_cast<int32_t>(windows.size()); ++i) {
      auto [it, isNew] = last.try_emplace(windows[i], i);
      if (!isNew)
        ++votes[i - std::exchange(it->second, i)];
    }
    std::vector<std::pair<int32_t, int32_t>> ranked;
    for (auto [distance, count] : votes)
      ranked.push_back({-count, distance});
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min(ranked.size(), kPeriodsPerWindow));
    for (auto [count, distance] : ranked)
      periods.push_back(distance);
    for (size_t i = 0; i + length < windows.size(); ++i)
      windows[i] = mix(windows[i], windows[i + length]);
    windows.resize(windows.size() - std::min<size_t>(windows.size(), length));
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

/// Whether segment `k` (>= 1) takes what segment k - 1 takes: values of its own
/// at the same places, those of the segment before at the same places, or the
/// same value from before the run. Where the second segment takes what the
/// first one makes, the first may take anything.
static bool segmentsCorrespond(const Spine &spine, const Run &run, int32_t k) {
  int32_t begin = run.start + k * run.period;
  for (int32_t i = begin; i < begin + run.period; ++i) {
    const std::vector<int32_t> &here = spine.operands[i];
    const std::vector<int32_t> &before = spine.operands[i - run.period];
    if (here.size() != before.size())
      return false;
    for (size_t o = 0; o < here.size(); ++o) {
      if (here[o] < 0)
        continue;
      bool same = here[o] == before[o] && here[o] < run.start;
      // Of two values from before the run none follows the other.
      bool shifted = here[o] == before[o] + run.period && here[o] >= run.start;
      if (before[o] < 0) {
        if (k != 1 || here[o] < run.start || here[o] >= begin)
          return false;
        continue;
      }
      if (before[o] >= begin - run.period) {
        if (!shifted)
          return false;
        continue;
      }
      bool fromPrologue =
          k == 1 && here[o] >= run.start && here[o] < run.start + run.period;
      if (!same && !shifted && !fromPrologue)
        return false;
    }
  }
  return true;
}

/// The longest stretch of corresponding segments of `run`.
static Run keepCorresponding(const Spine &spine, Run run) {
  int32_t bestFirst = 0, bestCount = 1, first = 0;
  for (int32_t k = 1; k < run.count; ++k) {
    if (!segmentsCorrespond(spine, run, k))
      first = k;
    if (k - first + 1 > bestCount) {
      bestFirst = first;
      bestCount = k - first + 1;
    }
  }
  run.start += bestFirst * run.period;
  run.count = bestCount;
  return run;
}

/// Step 3 for the stretch [begin, end) of period `period`.
static Run rotate(const Spine &spine, int32_t period, int32_t begin,
                  int32_t end) {
  constexpr size_t kRotations = 8;
  int32_t count = (end - begin) / period;
  std::vector<std::pair<int64_t, int32_t>> rotations;
  for (int32_t start = begin; start + count * period <= end; ++start) {
    int64_t cost = 0;
    for (int32_t k = 0; k <= count; ++k)
      cost += spine.cutBytes[start + k * period];
    rotations.push_back({cost, start});
  }
  std::sort(rotations.begin(), rotations.end());
  rotations.resize(std::min(rotations.size(), kRotations));
  Run best;
  for (auto [cost, start] : rotations) {
    if (!spine.takesParameter(start, start + period))
      continue;
    Run run = keepCorresponding(spine, {start, period, count, cost});
    if (run.betterThan(best))
      best = run;
    if (best.count == count)
      break;
  }
  return best;
}

/// The longest stretches [begin, end) of one period between two positions: of
/// equal symbols, and one whose first segment may begin alike. Ops that differ
/// in that lie within one segment.
static std::array<std::pair<int32_t, int32_t>, 2>
findStretches(const Spine &spine, int32_t period, int32_t from, int32_t to) {
  std::pair<int32_t, int32_t> equal = {from, from}, alike = equal;
  auto keepLonger = [](auto &longest, int32_t begin, int32_t end) {
    if (end - begin > longest.second - longest.first)
      longest = {begin, end};
  };
  int32_t begin = from, beginAlike = from;
  for (int32_t i = from; i + period <= to; ++i) {
    bool isLast = i + period == to;
    if (!isLast && spine.symbols[i] == spine.symbols[i + period])
      continue;
    keepLonger(equal, begin, i + period);
    keepLonger(alike, std::max(beginAlike, begin - period), i + period);
    begin = i + 1;
    if (!isLast && !spine.beginsAlike(i, i + period))
      beginAlike = i + 1;
  }
  return {equal, alike};
}

/// The best run between two positions.
static Run findRun(const Spine &spine, int32_t from, int32_t to) {
  Run best;
  for (int32_t period : collectPeriods(spine, from, to))
    for (auto [begin, end] : findStretches(spine, period, from, to)) {
      if (end - begin < 2 * period ||
          !spine.takesParameter(begin, begin + period))
        continue;
      Run run = rotate(spine, period, begin, end);
      if (run.count >= 2 && run.betterThan(best))
        best = run;
    }
  return best;
}

/// Step 4: `best` and the runs beside it, in order.
static std::vector<Run> findOtherRuns(const Spine &spine, const Run &best) {
  std::vector<Run> runs;
  if (best.count == 0)
    return runs;
  // Stretches that are not searched yet, the first one at the end.
  std::vector<std::pair<int32_t, int32_t>> open = {
      {best.start + best.period * best.count, spine.size()}, {0, best.start}};
  runs.push_back(best);
  while (!open.empty()) {
    auto [from, to] = open.back();
    open.pop_back();
    Run run = findRun(spine, from, to);
    if (run.count == 0 || 2 * run.period < best.period)
      continue;
    open.push_back({run.start + run.period * run.count, to});
    open.push_back({from, run.start});
    runs.push_back(run);
  }
  std::sort(runs.begin(), runs.end(), [](const Run &one, const Run &other) {
    return one.start < other.start;
  });
  return runs;
}

/// Everything beside the spine stands in the block of its first use.
static void placeCones(const BlockGraph &graph, const Spine &spine,
                       std::vector<int32_t> &block) {
  int32_t numNodes = static_cast<int32_t>(graph.nodes.size());
  std::vector<int32_t> firstUse(numNodes, -1);
  for (int32_t i = numNodes - 1; i >= 0; --i) {
    if (spine.positions[i] < 0)
      block[i] = std::max(firstUse[i], 0);
    for (int32_t operand : graph.nodes[i].operands)
      firstUse[operand] = firstUse[operand] < 0
                              ? block[i]
                              : std::min(firstUse[operand], block[i]);
  }
  for (int32_t i = 0; i < numNodes; ++i)
    if (graph.nodes[i].source != BlockGraph::Source::None)
      block[i] = -1;
}

static int32_t countCovered(const Spine &spine, const Run &run) {
  return spine.countMixed(run.start, run.start + run.period * run.count);
}

BlockSolution llmc::findBlocks(const BlockGraph &graph) {
  Spine spine = buildSpine(graph, false), whole = buildSpine(graph, true);
  Run run = findRun(spine, 0, spine.size()),
      runFromInputs = findRun(whole, 0, whole.size());
  BlockSolution solution;
  solution.hasInputs =
      countCovered(whole, runFromInputs) > countCovered(spine, run);
  if (solution.hasInputs) {
    spine = std::move(whole);
    run = runFromInputs;
  }
  solution.numRepeated = run.count;
  solution.period = run.period;
  solution.block.assign(graph.nodes.size(), 0);
  for (const Run &each : findOtherRuns(spine, run)) {
    int32_t first = solution.getLastBlock() + 1;
    solution.repeated.push_back({first, each.count});
    int32_t end = each.start + each.period * each.count;
    for (int32_t p = each.start; p < spine.size(); ++p)
      solution.block[spine.nodes[p]] =
          p < end ? first + (p - each.start) / each.period
                  : solution.getLastBlock();
  }
  placeCones(graph, spine, solution.block);
  return solution;
}

/// Whether the spine falls into at most `count` stretches of at most `most`.
static bool fits(const std::vector<int64_t> &costBefore, int32_t count,
                 int64_t most) {
  int32_t size = static_cast<int32_t>(costBefore.size()) - 1;
  int32_t begin = 0;
  for (; count > 0 && begin < size; --count) {
    auto end = std::upper_bound(costBefore.begin() + begin, costBefore.end(),
                                costBefore[begin] + most);
    int32_t next = static_cast<int32_t>(end - costBefore.begin()) - 1;
    if (next == begin)
      return false;
    begin = next;
  }
  return begin == size;
}

/// The least possible cost of the dearest of `count` stretches.
static int64_t findLeastMost(const std::vector<int64_t> &costBefore,
                             int32_t count) {
  int64_t low = 0, high = costBefore.back();
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (fits(costBefore, count, middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Ends of `count` stretches of at least `least` and at most `most`, none
/// empty, whose cuts have the fewest bytes; nothing where there are none.
/// best[k][i] = bytes of the cuts of k stretches over the first i ops; the
/// window of starts that the bounds allow only moves on, so its least element
/// is at the front of a queue.
static std::vector<int32_t>
findCheapestCuts(const Spine &spine, const std::vector<int64_t> &costBefore,
                 int32_t count, int64_t least, int64_t most) {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  int32_t size = spine.size();
  std::vector<std::vector<int64_t>> best(count + 1);
  std::vector<std::vector<int32_t>> from(count + 1);
  for (int32_t k = 0; k <= count; ++k) {
    best[k].assign(size + 1, none);
    from[k].assign(size + 1, -1);
  }
  best[0][0] = 0;
  for (int32_t k = 1; k <= count; ++k) {
    std::deque<int32_t> starts;
    auto price = [&](int32_t j) {
      return best[k - 1][j] + (j ? spine.cutBytes[j] : 0);
    };
    int32_t next = 0;
    for (int32_t i = 1; i <= size; ++i) {
      for (; next < i && costBefore[i] - costBefore[next] >= least; ++next) {
        if (best[k - 1][next] == none)
          continue;
        while (!starts.empty() && price(starts.back()) > price(next))
          starts.pop_back();
        starts.push_back(next);
      }
      while (!starts.empty() &&
             costBefore[i] - costBefore[starts.front()] > most)
        starts.pop_front();
      if (starts.empty())
        continue;
      best[k][i] = price(starts.front());
      from[k][i] = starts.front();
    }
  }
  std::vector<int32_t> ends(count, size);
  if (best[count][size] == none)
    return {};
  for (int32_t k = count; k > 1; --k)
    ends[k - 2] = from[k][ends[k - 1]];
  return ends;
}

BlockSolution llmc::cutBlocks(const BlockGraph &graph, int32_t numBlocks) {
  Spine spine = buildSpine(graph, false);
  BlockSolution solution;
  solution.block.assign(graph.nodes.size(), 0);
  if (numBlocks > 1 && spine.size() >= numBlocks) {
    solution.numCut = numBlocks;
    std::vector<int64_t> costBefore = {0};
    for (int32_t node : spine.nodes)
      costBefore.push_back(costBefore.back() + graph.nodes[node].cost);
    int64_t most = findLeastMost(costBefore, numBlocks);
    // No stretch is idle where that can be helped.
    std::vector<int32_t> ends;
    int64_t mean = costBefore.back() / numBlocks;
    for (int64_t least : {mean / 2, mean / 4, mean / 8, int64_t(0)}) {
      ends = findCheapestCuts(spine, costBefore, numBlocks, least,
                              most + most / 8);
      if (!ends.empty())
        break;
    }
    for (int32_t p = 0, b = 0; p < spine.size(); ++p) {
      b += p == ends[b];
      solution.block[spine.nodes[p]] = b;
    }
  }
  placeCones(graph, spine, solution.block);
  return solution;
}

/// Whether segments have the same ops, one by one.
static bool areAlike(const Spine &spine, const std::vector<int32_t> &before,
                     const std::vector<int32_t> &here, bool isFirst) {
  return std::equal(before.begin(), before.end(), here.begin(), here.end(),
                    [&](int32_t one, int32_t other) {
                      return spine.symbols[one] == spine.symbols[other] ||
                             (isFirst && spine.beginsAlike(one, other));
                    });
}

std::string BlockSolution::verify(const BlockGraph &graph) const {
  if (block.size() != graph.nodes.size())
    return "expected a block for each of " +
           std::to_string(graph.nodes.size()) + " nodes, got " +
           std::to_string(block.size());
  int32_t last = getLastBlock();
  Spine spine = buildSpine(graph, hasInputs);
  std::vector<std::vector<int32_t>> segments(last + 1);
  for (size_t i = 0; i < block.size(); ++i) {
    bool isSource = graph.nodes[i].source != BlockGraph::Source::None;
    if (isSource ? block[i] != -1 : block[i] < 0 || block[i] > last)
      return "expected a block of node " + std::to_string(i) + " in 0 ... " +
             std::to_string(last) + ", got " + std::to_string(block[i]);
    for (int32_t operand : graph.nodes[i].operands)
      if (block[operand] > block[i])
        return "expected node " + std::to_string(operand) + " of block " +
               std::to_string(block[operand]) +
               " to be used in no earlier block, got a use in block " +
               std::to_string(block[i]);
    if (!isSource && spine.positions[i] >= 0)
      segments[block[i]].push_back(spine.positions[i]);
  }
  for (const RepeatedBlocks &blocks : repeated)
    for (int32_t b = blocks.first + 1; b < blocks.first + blocks.count; ++b)
      if (!areAlike(spine, segments[b - 1], segments[b],
                    /*isFirst=*/b == blocks.first + 1))
        return "expected block " + std::to_string(b) +
               " to have the ops of block " + std::to_string(b - 1);
  return {};
}
