//===- ReshardPlanner.h - Cheapest way between two layouts ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout is a node of a graph, a move an edge, a plan the cheapest path.
// n = devices of a group, L = bytes of a device before the move:
//
//   slice            an axis appended to a dim           local
//   lift             full or split -> partial            local
//   drop             some stages forget the value        local
//   reduce-scatter   partial axes to the end of a dim    L (n-1) / n
//   all-reduce       partial axes                        2 L (n-1) / n
//   all-to-all       a dim's suffix to another's end     L (n-1) / n
//   permute          axes reordered, equal local shape   L
//   send, broadcast  to other stages                     L
//   reduce           to one stage                        L
//   all-gather       a dim's suffix                      L (n-1)
//
// Cost = bytes received by a device x slowness of the slowest axis crossed, and
// 1 % of the unpadded tensor for each communicating move, and the latency of
// the slowest axis to answer (in bytes) if one is given. Ties: fewer moves,
// then move by move the order above, then fewer axes. For example on x = y = 2:
//
//   P{x,y} -> [{x},{}]:  reduce-scatter x, all-reduce y
//
// A value is lifted only to axes over which the target is partial. The graph is
// searched by Dijkstra after the common prefix of the lists of each dim. What
// is claimed of the plans, and proofs: docs/layout-algebra.md, section 5.
//
// Test: test/Solvers/Reshard/ReshardPlannerTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_RESHARD_RESHARDPLANNER_H
#define LLMC_SOLVERS_RESHARD_RESHARDPLANNER_H

#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Runtime/Layout/Mesh.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llmc {

struct ReshardLayout {
  static constexpr uint64_t everywhere = ~uint64_t(0);

  /// Mesh axes of each dim, major to minor.
  std::vector<std::vector<int32_t>> dims;
  /// Mesh axes over which the value is partial, ascending.
  std::vector<int32_t> partial;
  /// Of all partial axes; `Sum` where there are none.
  ReductionKind kind = ReductionKind::sum;
  /// Bit s: the value lives at stage s. A value that is partial over the
  /// pipeline axis has its terms at these stages.
  uint64_t stages = everywhere;

  bool operator==(const ReshardLayout &other) const;
  bool operator!=(const ReshardLayout &other) const {
    return !(*this == other);
  }
  /// `[{x,y},{}] P{t} @[0,1]`
  std::string describe(const rt::Mesh &mesh) const;
};

struct ReshardTensor {
  std::vector<int64_t> sizes;
  /// Stored, with padding: for each dim at least the size.
  std::vector<int64_t> extents;
  int64_t elementBytes = 4;
  /// Extents of the factors of each dim, major to minor: axes are poured into
  /// them. None: one factor for each dim.
  std::vector<std::vector<int64_t>> factors;
};

struct ReshardMove {
  enum class Kind : uint8_t {
#define LLMC_RESHARD_MOVE(kind, name, collective) kind,
#include "llmc/Solvers/Reshard/ReshardMoves.def"
  };

  Kind kind = Kind::Slice;
  /// What the move works on, major to minor. Permute: the axes whose place
  /// changes; moves between stages: the pipeline axis.
  std::vector<int32_t> axes;
  /// Dims that lose and gain `axes`, or -1.
  int32_t from = -1;
  int32_t to = -1;
  /// Received by a device.
  int64_t bytes = 0;
  /// In 1/1600 of a byte over the fastest link.
  int64_t cost = 0;
  ReshardLayout result;
};

/// What runs the move; none where nothing moves, and of a send.
std::optional<CollectiveKind> collectiveOf(ReshardMove::Kind kind);
/// `all-gather`
const char *nameOf(ReshardMove::Kind kind);

struct ReshardPlan {
  std::vector<ReshardMove> moves;
  int64_t bytes = 0;
  int64_t cost = 0;

  /// `reduce-scatter y to 1, all-gather x from 0`
  std::string describe(const rt::Mesh &mesh) const;
};

/// What messages along each mesh axis cost.
struct ReshardLinks {
  /// In sixteenths, at least 16.
  std::vector<int64_t> slowness;
  /// Bytes over the fastest link in the time of a message's latency.
  std::vector<int64_t> latencyBytes;
  /// Whether the pipeline axis, and axes that neither source nor target name,
  /// may split a value on the way.
  bool slicesPipeline = true;
  bool slicesIdle = true;
  bool liftsAllKinds = true;
};

class ReshardPlanner {
public:
  /// Cost units of one byte at slowness 1: sixteenths of a slowness, and the
  /// hundredth part of a tensor that a move adds.
  static constexpr int64_t costUnits = 1600;

  /// `slowness`: of each mesh axis, at least 1, taken in sixteenths.
  /// `latencyBytes`: of each mesh axis, what a message costs beside its bytes.
  ReshardPlanner(rt::Mesh mesh, const std::vector<double> &slowness,
                 const std::vector<double> &latencyBytes = {});

  /// The first fault of a layout, or an empty string. What follows assumes that
  /// both layouts have none.
  std::string check(const ReshardTensor &tensor,
                    const ReshardLayout &layout) const;

  /// The cheapest plan. Where the search would visit more than `maxLayouts`,
  /// the greedy one.
  ReshardPlan plan(const ReshardTensor &tensor, const ReshardLayout &from,
                   const ReshardLayout &to);

  /// The ladder in use elsewhere, for comparison and as a bound: reduce, slice,
  /// permute, all-to-all, gather to the common prefix.
  ReshardPlan greedyPlan(const ReshardTensor &tensor, const ReshardLayout &from,
                         const ReshardLayout &to) const;

  /// Layouts that one search may visit.
  size_t maxLayouts = 200000;

  /// Values at all stages are never split by the pipeline axis on the way: the
  /// stages may run different programs at different times.
  void keepStagesApart() { links.slicesPipeline = false; }
  /// Values are not split by axes that neither source nor target name: that
  /// saves some bytes for more collectives.
  void leaveIdleAxes() { links.slicesIdle = false; }
  /// Only sums and products are lifted, by `dist.keep`, and along the pipeline
  /// axis only sums, by `dist.join`; of other kinds a full value is a term.
  void liftTermsOnly() { links.liftsAllKinds = false; }

  const rt::Mesh &getMesh() const { return mesh; }

private:
  rt::Mesh mesh;
  ReshardLinks links;
  /// By what follows the common prefixes.
  std::map<std::string, ReshardPlan> plans;
};

} // namespace llmc

#endif // LLMC_SOLVERS_RESHARD_RESHARDPLANNER_H
