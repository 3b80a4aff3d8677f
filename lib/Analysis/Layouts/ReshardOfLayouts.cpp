//===- ReshardOfLayouts.cpp - Plans between layout attributes -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A way is cut in legs with one extent for each dim. Along a leg the planner
// sees the padded extents; what it returns gets them back as dims of the leg.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"

#include "llmc/Analysis/Layouts/MachineOfMesh.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Support/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <functional>

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;

rt::Mesh llmc::toRuntimeMesh(dist::MeshOp mesh) {
  rt::Mesh result;
  dist::MeshAxesAttr axes = mesh.getAxes();
  for (auto [name, size] : llvm::zip(axes.getNames(), axes.getSizes()))
    result.axes.push_back({name.str(), size});
  if (mesh.getPipeline())
    if (std::optional<size_t> at = axes.find(*mesh.getPipeline()))
      result.pipelineAxis = static_cast<int32_t>(*at);
  return result;
}

FailureOr<LayoutReshards> LayoutReshards::of(dist::MeshOp mesh) {
  FailureOr<MachineModel> machine = readMachine(mesh);
  if (failed(machine))
    return failure();
  LayoutReshards result;
  result.axes = mesh.getAxes();
  std::vector<double> slowness = machine->slowness();
  result.planner = std::make_unique<ReshardPlanner>(
      toRuntimeMesh(mesh), slowness, machine->latencyBytes());
  result.planner->keepStagesApart();
  // Only past a slow link do the idle replicas of a value help.
  if (std::adjacent_find(slowness.begin(), slowness.end(),
                         std::not_equal_to<>()) == slowness.end())
    result.planner->leaveIdleAxes();
  result.planner->liftTermsOnly();
  return result;
}

//===----------------------------------------------------------------------===//
// From attributes
//===----------------------------------------------------------------------===//

namespace {
/// Plans one leg: both layouts agree on the extents of dims split in both.
class Leg {
public:
  Leg(ReshardPlanner &planner, RankedTensorType type, LayoutAttr from,
      LayoutAttr to)
      : planner(planner), mesh(planner.getMesh()), type(type), from(from),
        to(to) {}

  /// Appends its steps to `plan`; returns the reason when it cannot.
  std::string run(LayoutPlan &plan);

private:
  std::string toPlainAxes(ArrayRef<dist::AxisAttr> axes,
                          std::vector<int32_t> &list);
  std::string toPlainLayout(LayoutAttr layout, ReshardLayout &plain);
  void chooseDims();
  LayoutAttr toAttribute(const ReshardLayout &plain);
  SmallVector<dist::AxisAttr> toAxes(const std::vector<int32_t> &list);

  ReshardPlanner &planner;
  const rt::Mesh &mesh;
  RankedTensorType type;
  LayoutAttr from, to;
  ReshardTensor tensor;
  /// Gives each dim its extents along the leg.
  SmallVector<dist::DimAttr> dims;
};
} // namespace

std::string Leg::toPlainAxes(ArrayRef<dist::AxisAttr> axes,
                             std::vector<int32_t> &list) {
  for (dist::AxisAttr axis : axes) {
    StringRef name = axis.getName().getValue();
    int32_t index = mesh.axisNamed({name.data(), name.size()});
    if (index < 0)
      return "expected an axis of the mesh, got '" + name.str() + "'";
    if (axis.isSubAxis() && axis.getSubSize() != mesh.axes[index].size)
      return "expected whole mesh axes, got a part of '" + name.str() + "'";
    list.push_back(index);
  }
  return "";
}

std::string Leg::toPlainLayout(LayoutAttr layout, ReshardLayout &plain) {
  plain.dims.resize(layout.getRank());
  for (auto [dim, list] : llvm::zip(layout.getDims(), plain.dims))
    if (std::string reason = toPlainAxes(dim.getAxes(), list); !reason.empty())
      return reason;
  if (layout.getPartial().size() > 1)
    return "expected partial values of one kind, got several kinds at once";
  for (dist::PartialAttr partial : layout.getPartial()) {
    plain.kind = partial.getKind();
    if (plain.kind == ReductionKind::max && isSeeded(Fault::maxIsPlannedAsMin))
      plain.kind = ReductionKind::min;
    if (std::string reason = toPlainAxes(partial.getAxes(), plain.partial);
        !reason.empty())
      return reason;
  }
  llvm::sort(plain.partial);
  for (dist::PinAttr pin : layout.getAt()) {
    if (mesh.pipelineAxis < 0 ||
        mesh.axes[mesh.pipelineAxis].name != pin.getAxis().getValue())
      return "expected pins along the pipeline axis, got '" +
             pin.getAxis().str() + "'";
    plain.stages = 0;
    for (int64_t stage : pin.getCoordinates())
      plain.stages |= uint64_t(1) << stage;
  }
  return "";
}

/// A split dim keeps its extents, an unsplit one takes those of the other end.
void Leg::chooseDims() {
  tensor.elementBytes = getElementBytes(type.getElementType());
  for (auto [size, a, b] :
       llvm::zip(type.getShape(), from.getDims(), to.getDims())) {
    dist::DimAttr dim =
        !a.getAxes().empty()                                                 ? a
        : !b.getAxes().empty() && !isSeeded(Fault::unsplitDimKeepsItsExtent) ? b
        : a.getExtents() == b.getExtents()
            ? a
            : dist::DimAttr::get(type.getContext());
    dims.push_back(dim);
    tensor.sizes.push_back(std::max<int64_t>(size, 1));
    tensor.extents.push_back(std::max<int64_t>(dim.getExtent(size), 1));
    std::vector<int64_t> factors(dim.getExtents().begin(),
                                 dim.getExtents().end());
    if (factors.empty())
      factors.push_back(tensor.extents.back());
    tensor.factors.push_back(std::move(factors));
  }
}

SmallVector<dist::AxisAttr> Leg::toAxes(const std::vector<int32_t> &list) {
  SmallVector<dist::AxisAttr> axes;
  for (int32_t axis : list)
    axes.push_back(
        dist::AxisAttr::get(type.getContext(), mesh.axes[axis].name));
  return axes;
}

LayoutAttr Leg::toAttribute(const ReshardLayout &plain) {
  MLIRContext *context = type.getContext();
  SmallVector<dist::DimAttr> lists;
  for (auto [dim, axes] : llvm::zip(dims, plain.dims))
    lists.push_back(dist::DimAttr::get(context, toAxes(axes), dim.getSizes(),
                                       dim.getExtents()));
  SmallVector<dist::PartialAttr> partial;
  if (!plain.partial.empty())
    partial.push_back(
        dist::PartialAttr::get(context, plain.kind, toAxes(plain.partial)));
  SmallVector<dist::PinAttr> pins;
  bool isPinned = !from.getAt().empty() || !to.getAt().empty();
  if (isPinned && mesh.pipelineAxis >= 0) {
    const rt::MeshAxis &axis = mesh.axes[mesh.pipelineAxis];
    SmallVector<int64_t> stages;
    for (int64_t stage = 0; stage < axis.size; ++stage)
      if (plain.stages >> stage & 1)
        stages.push_back(stage);
    pins.push_back(dist::PinAttr::get(
        context, StringAttr::get(context, axis.name), stages));
  }
  return LayoutAttr::get(context, to.getMesh(), lists, partial, {}, pins);
}

std::string Leg::run(LayoutPlan &plan) {
  chooseDims();
  ReshardLayout source, target;
  for (auto [layout, plain] : {std::pair(from, &source), {to, &target}}) {
    if (std::string reason = toPlainLayout(layout, *plain); !reason.empty())
      return reason;
    if (std::string reason = planner.check(tensor, *plain); !reason.empty())
      return reason;
  }
  auto isTerm = [&](ReductionKind kind, int32_t axis) {
    return kind == ReductionKind::sum ||
           (!isIdempotent(kind) && axis != mesh.pipelineAxis);
  };
  for (int32_t axis : target.partial)
    if (!isTerm(target.kind, axis) &&
        (source.kind != target.kind ||
         !llvm::is_contained(source.partial, axis)))
      return "expected a value that becomes partial to be a sum, or a product "
             "over an axis other than the pipeline's";
  ReshardPlan found = planner.plan(tensor, source, target);
  LayoutAttr at = from;
  auto append = [&](ReshardStep step) {
    at = step.layout;
    plan.steps.push_back(std::move(step));
  };
  auto view = [&](LayoutAttr layout) {
    if (layout != at)
      append({std::nullopt, {}, -1, -1, 0, layout});
  };
  if (!found.moves.empty())
    view(toAttribute(source));
  for (const ReshardMove &move : found.moves)
    append({move.kind, toAxes(move.axes), move.from, move.to, move.bytes,
            toAttribute(move.result)});
  view(to);
  plan.bytes += found.bytes;
  plan.cost += found.cost;
  return "";
}

//===----------------------------------------------------------------------===//
// Plans and prices
//===----------------------------------------------------------------------===//

/// `from` with those dims whole that both split with different extents.
static LayoutAttr getMiddle(RankedTensorType type, LayoutAttr from,
                            LayoutAttr to) {
  LayoutAttr middle = from;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    dist::DimAttr a = from.getDims()[i], b = to.getDims()[i];
    if (!a.getAxes().empty() && !b.getAxes().empty() &&
        (a.getExtent(size) != b.getExtent(size) ||
         (a.isPadded() && a.getSizes() != b.getSizes())))
      middle = middle.withDim(i, dist::DimAttr::get(type.getContext()));
  }
  return middle;
}

FailureOr<LayoutPlan> LayoutReshards::plan(RankedTensorType type,
                                           LayoutAttr from, LayoutAttr to,
                                           std::string &error) {
  LayoutPlan plan;
  if (from == to)
    return plan;
  error = "";
  if (from.getRank() != type.getRank() || to.getRank() != type.getRank())
    error = "expected layouts of " + std::to_string(type.getRank()) + " dims";
  LayoutAttr middle = error.empty() ? getMiddle(type, from, to) : from;
  if (error.empty() && middle != from)
    error = Leg(*planner, type, from, middle).run(plan);
  if (error.empty())
    error = Leg(*planner, type, middle, to).run(plan);
  if (!error.empty())
    return failure();
  return plan;
}

FailureOr<int64_t> LayoutReshards::price(RankedTensorType type, LayoutAttr from,
                                         LayoutAttr to, std::string &error) {
  if (from == to)
    return 0;
  auto key = std::make_tuple(Type(type), Attribute(from), Attribute(to));
  auto found = prices.find(key);
  if (found != prices.end())
    return found->second;
  FailureOr<LayoutPlan> way = plan(type, from, to, error);
  if (failed(way))
    return failure();
  prices[key] = way->cost;
  return way->cost;
}
