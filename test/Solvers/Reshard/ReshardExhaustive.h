//===- ReshardExhaustive.h - All ways between all layouts -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner's judge: every layout of a tensor, the price of the single move
// between any two, recognised from how they differ, and the cheapest chains.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ANALYSIS_RESHARDEXHAUSTIVE_H
#define LLMC_TEST_ANALYSIS_RESHARDEXHAUSTIVE_H

#include "llmc/Solvers/Reshard/ReshardPlanner.h"

#include <algorithm>
#include <iterator>

namespace llmc {

/// All layouts of a tensor, and the price of the single move between any two,
/// recognised from how the two differ.
class AllLayouts {
public:
  static constexpr int64_t never = int64_t(1) << 60;

  AllLayouts(const rt::Mesh &mesh, std::vector<double> slowness,
             const ReshardTensor &tensor)
      : mesh(mesh), slowness(slowness), tensor(tensor) {}

  /// Every layout with partial axes out of `mayBePartial` and these stages.
  void enumerate(const std::vector<int32_t> &mayBePartial, uint64_t stages) {
    ReshardLayout layout;
    layout.dims.resize(tensor.sizes.size());
    layout.stages = stages;
    add(layout, mayBePartial);
  }

  /// Cheapest way between any two; lifts to what `target` is partial over.
  std::vector<std::vector<int64_t>> distances(const ReshardLayout &target) {
    size_t n = layouts.size();
    std::vector<std::vector<int64_t>> d(n, std::vector<int64_t>(n, never));
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b)
        d[a][b] = a == b ? 0 : price(layouts[a], layouts[b], target);
    for (size_t k = 0; k < n; ++k)
      for (size_t a = 0; a < n; ++a)
        if (d[a][k] < never)
          for (size_t b = 0; b < n; ++b)
            d[a][b] = std::min(d[a][b], d[a][k] + d[k][b]);
    return d;
  }

  std::vector<ReshardLayout> layouts;

private:
  using Set = std::vector<int32_t>;

  void add(ReshardLayout layout, const Set &mayBePartial) {
    bool isNew =
        std::find(layouts.begin(), layouts.end(), layout) == layouts.end();
    if (!isNew)
      return;
    layouts.push_back(layout);
    for (int32_t axis = 0; axis < int32_t(mesh.axes.size()); ++axis) {
      if (uses(layout, axis))
        continue;
      bool pinned = axis == mesh.pipelineAxis &&
                    layout.stages != ReshardLayout::everywhere;
      for (size_t dim = 0; dim < layout.dims.size() && !pinned; ++dim) {
        ReshardLayout next = layout;
        next.dims[dim].push_back(axis);
        if (tensor.extents[dim] % parts(next.dims[dim]) == 0)
          add(next, mayBePartial);
      }
      if (std::count(mayBePartial.begin(), mayBePartial.end(), axis)) {
        ReshardLayout next = layout;
        next.partial.push_back(axis);
        std::sort(next.partial.begin(), next.partial.end());
        add(next, mayBePartial);
      }
    }
  }
  static bool uses(const ReshardLayout &layout, int32_t axis) {
    bool found =
        std::count(layout.partial.begin(), layout.partial.end(), axis) > 0;
    for (auto &list : layout.dims)
      found |= std::count(list.begin(), list.end(), axis) > 0;
    return found;
  }
  int64_t parts(const Set &list) const {
    int64_t count = 1;
    for (int32_t axis : list)
      count *= mesh.axes[axis].size;
    return count;
  }
  int64_t local(const ReshardLayout &layout) const {
    int64_t bytes = tensor.elementBytes;
    for (size_t dim = 0; dim < layout.dims.size(); ++dim)
      bytes *= tensor.extents[dim] / parts(layout.dims[dim]);
    return bytes;
  }
  /// Devices that hold terms over `axes`.
  int64_t terms(const ReshardLayout &layout, const Set &axes) const {
    int64_t count = 1;
    for (int32_t axis : axes)
      if (axis != mesh.pipelineAxis)
        count *= mesh.axes[axis].size;
      else
        for (int64_t s = 0, n = 0; s < mesh.axes[axis].size; ++s)
          if (layout.stages >> s & 1 && ++n > 1)
            count = count / (n - 1) * n;
    return count;
  }
  int64_t weigh(double bytes, const Set &axes) const {
    double slowest = 1;
    for (int32_t axis : axes)
      slowest = std::max(slowest, slowness[axis]);
    double whole = double(tensor.elementBytes);
    for (int64_t size : tensor.sizes)
      whole *= double(size);
    return int64_t(bytes) * int64_t(slowest * 1600) + int64_t(whole * 16);
  }
  /// `longer` = `shorter` and something after it.
  static bool extends(const Set &shorter, const Set &longer, Set &rest) {
    if (longer.size() <= shorter.size() ||
        !std::equal(shorter.begin(), shorter.end(), longer.begin()))
      return false;
    rest.assign(longer.begin() + shorter.size(), longer.end());
    return true;
  }
  static Set minus(const Set &a, const Set &b) {
    Set result;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(),
                        std::back_inserter(result));
    return result;
  }

  int64_t price(const ReshardLayout &a, const ReshardLayout &b,
                const ReshardLayout &target) const;
  int64_t priceOfDims(const ReshardLayout &a, const ReshardLayout &b,
                      const std::vector<size_t> &changed) const;

  const rt::Mesh &mesh;
  std::vector<double> slowness;
  ReshardTensor tensor;
};

} // namespace llmc

#endif // LLMC_TEST_ANALYSIS_RESHARDEXHAUSTIVE_H
