//===- Layout.cpp - Which part of a tensor a device stores ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Layout/LayoutTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Layout/Layout.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt {

int64_t DimLayout::size() const {
  int64_t product = 1;
  for (const Factor &factor : factors) {
    product *= factor.size;
  }
  return product;
}

int64_t DimLayout::extent() const {
  int64_t product = 1;
  for (const Factor &factor : factors) {
    product *= factor.extent;
  }
  return product;
}

Layout Layout::whole(const std::vector<int64_t> &shape) {
  Layout layout;
  for (int64_t size : shape) {
    layout.dims.push_back({{}, {{size, size}}});
  }
  return layout;
}

Layout Layout::split(const std::vector<int64_t> &shape,
                     const std::vector<std::vector<int32_t>> &axes,
                     const Mesh &mesh) {
  Layout layout = whole(shape);
  for (size_t d = 0; d < shape.size() && d < axes.size(); ++d) {
    int64_t shards = mesh.groupSize(axes[d]);
    layout.dims[d].axes = axes[d];
    layout.dims[d].factors[0].extent =
        (shape[d] + shards - 1) / shards * shards;
  }
  return layout;
}

static Status layoutError(size_t dim, std::string what) {
  return makeError(ErrorKind::malformed,
                   fmt::format("dim {} of a layout: {}", dim, what));
}

static Status checkDim(const DimLayout &layout, size_t dim, const Mesh &mesh,
                       std::vector<bool> &seen) {
  Checked shards = 1, extent = 1;
  for (int32_t axis : layout.axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(mesh.axes.size())) {
      return layoutError(dim, fmt::format("expected an axis below {}, got {}",
                                          mesh.axes.size(), axis));
    }
    if (seen[axis]) {
      return layoutError(
          dim, fmt::format("axis \"{}\" occurs twice", mesh.axes[axis].name));
    }
    seen[axis] = true;
    shards = shards * mesh.axes[axis].size;
  }
  if (layout.factors.empty()) {
    return layoutError(dim, "expected at least one factor");
  }
  for (const Factor &factor : layout.factors) {
    if (factor.size < 0 || factor.extent < factor.size) {
      return layoutError(
          dim, fmt::format("expected an extent of at least {}, got {}",
                           factor.size, factor.extent));
    }
    extent = extent * factor.extent;
  }
  if (!extent.valid()) {
    return layoutError(dim, "the extent overflows");
  }
  if (extent.value() % shards.value() != 0) {
    return layoutError(dim,
                       fmt::format("expected the extent {} to be divisible "
                                   "by {} shards",
                                   extent.value(), shards.value()));
  }
  return Status::success();
}

Status Layout::check(const Mesh &mesh) const {
  std::vector<bool> seen(mesh.axes.size());
  Checked elements = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    LLMC_TRY(checkDim(dims[d], d, mesh, seen));
    // A dimension of size 0 must not hide the overflow of the others.
    elements = elements * std::max<int64_t>(dims[d].extent(), 1);
  }
  // Room for the bytes of each element.
  if (!(elements * 16).valid()) {
    return makeError(ErrorKind::malformed,
                     "the number of elements of a layout overflows");
  }
  return Status::success();
}

std::vector<int64_t> Layout::globalShape() const {
  std::vector<int64_t> shape;
  for (const DimLayout &dim : dims) {
    shape.push_back(dim.size());
  }
  return shape;
}

std::vector<int64_t> Layout::localShape(const Mesh &mesh) const {
  std::vector<int64_t> shape;
  for (const DimLayout &dim : dims) {
    shape.push_back(dim.extent() / mesh.groupSize(dim.axes));
  }
  return shape;
}

int64_t Layout::localElements(const Mesh &mesh) const {
  int64_t product = 1;
  for (int64_t size : localShape(mesh)) {
    product *= size;
  }
  return product;
}

namespace {
/// Walks the digits of the factors, major to minor, within a range of storage
/// positions. Each visited node meets the range, so the work is proportional to
/// the number of runs.
class RunWalk {
public:
  RunWalk(const DimLayout &dim, int64_t low, int64_t high, size_t maxRuns)
      : low_(low), high_(high), maxRuns_(maxRuns) {
    for (const Factor &factor : dim.factors) {
      // An unpadded factor continues the one before it.
      if (!factors_.empty() && factor.size == factor.extent) {
        factors_.back().size *= factor.size;
        factors_.back().extent *= factor.extent;
      } else {
        factors_.push_back(factor);
      }
    }
  }

  /// False when there are more than maxRuns.
  bool run() { return low_ >= high_ || visit(0, 0, 0); }
  std::vector<Run> takeRuns() { return std::move(runs_); }

private:
  bool visit(size_t level, int64_t storage, int64_t global) {
    const Factor &factor = factors_[level];
    int64_t storageBlock = 1, globalBlock = 1;
    for (size_t i = level + 1; i < factors_.size(); ++i) {
      storageBlock *= factors_[i].extent;
      globalBlock *= factors_[i].size;
    }
    if (storageBlock == 0 || globalBlock == 0) {
      return true;
    }
    if (level + 1 == factors_.size()) {
      int64_t first = std::max(low_, storage);
      int64_t last = std::min(high_, storage + factor.size);
      return first >= last || add(first, global + (first - storage), last);
    }
    int64_t begin = std::max<int64_t>(0, (low_ - storage) / storageBlock);
    int64_t end = std::min(factor.size,
                           (high_ - storage + storageBlock - 1) / storageBlock);
    for (int64_t digit = begin; digit < end; ++digit) {
      if (!visit(level + 1, storage + digit * storageBlock,
                 global + digit * globalBlock)) {
        return false;
      }
    }
    return true;
  }

  bool add(int64_t first, int64_t global, int64_t last) {
    runs_.push_back({first - low_, global, last - first});
    return runs_.size() <= maxRuns_;
  }

  std::vector<Factor> factors_;
  int64_t low_;
  int64_t high_;
  size_t maxRuns_;
  std::vector<Run> runs_;
};
} // namespace

Result<std::vector<Run>> Layout::runs(size_t dim, const Mesh &mesh,
                                      const std::vector<int64_t> &coordinates,
                                      size_t maxRuns) const {
  const DimLayout &layout = dims[dim];
  int64_t local = layout.extent() / mesh.groupSize(layout.axes);
  int64_t shard = mesh.memberIndex(layout.axes, coordinates);
  RunWalk walk(layout, shard * local, (shard + 1) * local, maxRuns);
  if (!walk.run()) {
    return makeError(
        ErrorKind::unsupported,
        fmt::format("dim {} of a layout has more than {} runs", dim, maxRuns));
  }
  return walk.takeRuns();
}

Result<std::vector<Box>> Layout::boxes(const Mesh &mesh,
                                       const std::vector<int64_t> &coordinates,
                                       size_t maxBoxes) const {
  std::vector<Box> boxes(1);
  for (size_t d = 0; d < dims.size(); ++d) {
    LLMC_TRY_ASSIGN(std::vector<Run> line,
                    runs(d, mesh, coordinates, maxBoxes));
    if (line.size() * boxes.size() > maxBoxes) {
      return makeError(
          ErrorKind::unsupported,
          fmt::format("a layout has more than {} boxes", maxBoxes));
    }
    std::vector<Box> next;
    for (const Box &box : boxes) {
      for (const Run &run : line) {
        next.push_back(box);
        next.back().local.push_back(run.local);
        next.back().global.push_back(run.global);
        next.back().size.push_back(run.length);
      }
    }
    boxes = std::move(next);
  }
  return boxes;
}

std::string Layout::describe(const Mesh &mesh) const {
  std::string text = "[";
  for (size_t d = 0; d < dims.size(); ++d) {
    text += d ? ", {" : "{";
    for (size_t i = 0; i < dims[d].axes.size(); ++i) {
      text += fmt::format("{}\"{}\"", i ? ", " : "",
                          mesh.axes[dims[d].axes[i]].name);
    }
    text += "}:";
    for (size_t i = 0; i < dims[d].factors.size(); ++i) {
      const Factor &factor = dims[d].factors[i];
      text += fmt::format("{}{}", i ? "x" : "", factor.size);
      if (factor.extent != factor.size) {
        text += fmt::format(":{}", factor.extent);
      }
    }
  }
  return text + "]";
}

} // namespace llmc::rt
