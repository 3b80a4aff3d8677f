//===- ReshardOfLayouts.h - Plans between layout attributes -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reshard planner works on plain data; this is the bridge from and to
// `#dist.layout`. A plan is a list of steps, each with the layout after it:
//
//   [{}, {}] sum{"t"}  ->  [{"t"}, {}] at [1]  from [0]
//   reduce-scatter t: [{"t"}, {}] at [0];  send: [{"t"}, {}] at [1]
//
// Extents: a split dim keeps its extent under every move. An unsplit dim takes
// another one for free, by a step of its own, the *view* (no move). A dim that
// is split on both sides with different extents is gathered in between.
//
// Prices count slowness and latency of the machine (MachineOfMesh.h) and are
// memoised, so that asking for them again costs a look-up.
//
// Test: test/Analysis/Layouts/ReshardOfLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_RESHARDOFLAYOUTS_H
#define LLMC_ANALYSIS_LAYOUTS_RESHARDOFLAYOUTS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Solvers/Reshard/ReshardPlanner.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace llmc {

struct ReshardStep {
  /// Absent for a view: only extents of unsplit dims change, or axes that are
  /// marked as replicated.
  std::optional<ReshardMove::Kind> kind;
  /// What the move works on, major to minor; of a move between stages the
  /// pipeline axis.
  SmallVector<dist::AxisAttr> axes;
  /// Dims that lose and gain `axes`, or -1.
  int64_t from = -1;
  int64_t to = -1;
  /// Received by a device.
  int64_t bytes = 0;
  /// Of the value after the step.
  dist::LayoutAttr layout;

  /// Nothing is sent: view, slice, lift, drop.
  bool isLocal() const {
    return !kind || *kind == ReshardMove::Kind::Slice ||
           *kind == ReshardMove::Kind::Lift || *kind == ReshardMove::Kind::Drop;
  }
};

struct LayoutPlan {
  /// The last one's layout is the target; none where the layouts are equal.
  SmallVector<ReshardStep> steps;
  int64_t bytes = 0;
  /// In `ReshardPlanner::costUnits` of a byte over the fastest link.
  int64_t cost = 0;
};

class LayoutReshards {
public:
  /// Reads axes, pipeline axis and machine; a faulty machine is reported.
  static FailureOr<LayoutReshards> of(dist::MeshOp mesh);

  /// The cheapest plan; `error` gets the reason when there is none (layouts
  /// that do not fit the mesh, parts of axes, several kinds of partial sums).
  FailureOr<LayoutPlan> plan(mlir::RankedTensorType type, dist::LayoutAttr from,
                             dist::LayoutAttr to, std::string &error);

  /// The cost of the plan alone, memoised.
  FailureOr<int64_t> price(mlir::RankedTensorType type, dist::LayoutAttr from,
                           dist::LayoutAttr to, std::string &error);

  dist::MeshAxesAttr getAxes() const { return axes; }
  const rt::Mesh &getMesh() const { return planner->getMesh(); }

private:
  LayoutReshards() = default;

  dist::MeshAxesAttr axes;
  std::unique_ptr<ReshardPlanner> planner;
  llvm::DenseMap<std::tuple<mlir::Type, Attribute, Attribute>, int64_t> prices;
};

/// The mesh of `mesh` as plain data.
rt::Mesh toRuntimeMesh(dist::MeshOp mesh);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_RESHARDOFLAYOUTS_H
