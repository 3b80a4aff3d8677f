//===- FactorSplits.cpp - Layouts seen through a sharding rule ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FactorSplits.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::DimAttr;

int64_t FactorSplit::getExtent(int64_t size) const {
  int64_t extent = atoms.empty() ? size : 1;
  for (const Atom &atom : atoms)
    extent *= atom.extent;
  return extent;
}

std::string llmc::showAxes(ArrayRef<AxisAttr> axes) {
  std::string text = "{";
  for (auto [i, axis] : llvm::enumerate(axes)) {
    text += (i ? ", \"" : "\"") + axis.getName().str() + "\"";
    if (axis.isSubAxis())
      text += ":(" + std::to_string(axis.getPreSize()) + ")" +
              std::to_string(axis.getSubSize());
  }
  return text + "}";
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

Atoms llmc::canonicalAtoms(ArrayRef<Atom> atoms) {
  Atoms merged;
  bool isPadded = false;
  for (const Atom &atom : atoms) {
    isPadded |= atom.extent != atom.size;
    if (atom.size == 1 && atom.extent == 1)
      continue;
    if (!merged.empty() && atom.extent == atom.size) {
      merged.back().size *= atom.size;
      merged.back().extent *= atom.extent;
    } else {
      merged.push_back(atom);
    }
  }
  return isPadded ? merged : Atoms();
}

/// The atoms of a dim, explicit.
static Atoms atomsOf(DimAttr dim, int64_t size) {
  if (!dim.isPadded())
    return {{size, size}};
  if (dim.getSizes().empty())
    return {{size, dim.getExtents().front()}};
  Atoms atoms;
  for (auto [part, extent] : llvm::zip(dim.getSizes(), dim.getExtents()))
    atoms.push_back({part, extent});
  return atoms;
}

/// Without axes that split nothing.
static SmallVector<AxisAttr, 1> splittingAxes(ArrayRef<AxisAttr> axes,
                                              dist::MeshAxesAttr mesh) {
  SmallVector<AxisAttr, 1> kept;
  for (AxisAttr axis : axes)
    if (axis.getSize(mesh) > 1)
      kept.push_back(axis);
  return kept;
}

static DimAttr makeDim(MLIRContext *context, ArrayRef<AxisAttr> axes,
                       bool isOpen, int64_t priority, const Atoms &atoms) {
  SmallVector<int64_t> sizes, extents;
  for (const Atom &atom : atoms) {
    sizes.push_back(atom.size);
    extents.push_back(atom.extent);
  }
  if (sizes.size() == 1)
    sizes.clear();
  return DimAttr::get(context, axes, isOpen, priority, sizes, extents);
}

DimAttr llmc::canonicalDim(DimAttr dim, int64_t size, dist::MeshAxesAttr mesh) {
  return makeDim(dim.getContext(), splittingAxes(dim.getAxes(), mesh),
                 dim.getIsOpen(), dim.getPriority(),
                 canonicalAtoms(atomsOf(dim, size)));
}

dist::LayoutAttr llmc::canonicalLayout(dist::LayoutAttr layout,
                                       ArrayRef<int64_t> shape,
                                       dist::MeshAxesAttr mesh) {
  SmallVector<DimAttr> dims;
  for (auto [dim, size] : llvm::zip(layout.getDims(), shape))
    dims.push_back(canonicalDim(dim, size, mesh));
  return layout.withDims(dims);
}

//===----------------------------------------------------------------------===//
// From dims to factors
//===----------------------------------------------------------------------===//

namespace {
/// Cuts the atoms of a dim at the boundaries of factors.
class AtomCutter {
public:
  explicit AtomCutter(Atoms atoms) : atoms(std::move(atoms)) {
    if (!this->atoms.empty())
      current = this->atoms.front();
  }

  /// The atoms of the next factor; false when a boundary cannot be met.
  bool take(int64_t size, Atoms &taken) {
    while (size > 1) {
      if (current.size == 1) {
        if (++at >= atoms.size())
          return false;
        current = atoms[at];
        continue;
      }
      if (size % current.size == 0) {
        taken.push_back(current);
        size /= current.size;
        current = {1, 1};
        continue;
      }
      // The major part of this atom: what is left must not be padded.
      int64_t rest = current.size / size;
      if (current.size % size != 0 || current.extent % rest != 0)
        return false;
      taken.push_back({size, current.extent / rest});
      current = {rest, rest};
      return true;
    }
    return true;
  }

private:
  Atoms atoms;
  size_t at = 0;
  Atom current;
};
} // namespace

static std::string showSizes(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "1" : text;
}

static std::string padsAcross(DimAttr dim, ArrayRef<int64_t> sizes) {
  return "padding to " + showSizes(dim.getExtents()) +
         " does not end at the boundaries of the factors " + showSizes(sizes);
}

std::string llmc::projectDim(DimAttr dim, ArrayRef<int64_t> sizes,
                             dist::MeshAxesAttr mesh,
                             SmallVectorImpl<FactorSplit> &splits) {
  splits.assign(sizes.size(), FactorSplit());
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  // Where axes go is a question of extents alone.
  SmallVector<int64_t> left(sizes);
  if (dim.isPadded()) {
    AtomCutter cutter(canonicalAtoms(atomsOf(dim, product)));
    for (auto [i, size] : llvm::enumerate(sizes)) {
      Atoms taken;
      if (!cutter.take(size, taken))
        return padsAcross(dim, sizes);
      splits[i].atoms = canonicalAtoms(taken);
      left[i] = splits[i].getExtent(size);
    }
  }
  size_t at = 0;
  for (AxisAttr axis : splittingAxes(dim.getAxes(), mesh)) {
    int64_t parts = axis.getSize(mesh);
    while (at + 1 < left.size() && left[at] == 1)
      ++at;
    int64_t meets = left.empty() ? 1 : left[at];
    if (meets % parts)
      return "axis \"" + axis.getName().str() + "\" of size " +
             std::to_string(parts) + " does not divide what is left (" +
             std::to_string(meets) + ")";
    left[at] /= parts;
    splits[at].axes.push_back(axis);
  }
  return "";
}

static SmallVector<int64_t> sizesOf(ArrayRef<int> dim,
                                    ArrayRef<graph::Factor> factors) {
  return llvm::map_to_vector(dim, [&](int f) { return factors[f].size; });
}

std::string llmc::projectToFactors(
    dist::LayoutAttr layout, const graph::TensorFactors &tensor,
    ArrayRef<graph::Factor> factors, dist::MeshAxesAttr mesh, StringRef where,
    function_ref<void(int factor, const FactorSplit &split)> visit) {
  for (size_t d = 0; d < tensor.size(); ++d) {
    SmallVector<FactorSplit> poured;
    std::string reason = projectDim(layout.getDims()[d],
                                    sizesOf(tensor[d], factors), mesh, poured);
    if (!reason.empty())
      return reason + " of dim " + std::to_string(d) + " of " + where.str();
    for (auto [factor, split] : llvm::zip(tensor[d], poured))
      visit(factor, split);
  }
  return "";
}

std::string llmc::projectToFactors(dist::LayoutAttr layout,
                                   const graph::TensorFactors &tensor,
                                   ArrayRef<graph::Factor> factors,
                                   dist::MeshAxesAttr mesh, StringRef where,
                                   FactorSplits &splits) {
  splits.resize(factors.size());
  std::string conflict;
  std::string reason = projectToFactors(
      layout, tensor, factors, mesh, where,
      [&](int factor, const FactorSplit &split) {
        if (splits[factor] && *splits[factor] != split && conflict.empty())
          conflict = "factor " + std::to_string(factor) + " is split by " +
                     showAxes(splits[factor]->axes) + " elsewhere and by " +
                     showAxes(split.axes) + " in " + where.str();
        splits[factor] = split;
      });
  return reason.empty() ? conflict : reason;
}

//===----------------------------------------------------------------------===//
// From factors to dims
//===----------------------------------------------------------------------===//

DimAttr llmc::assembleDim(MLIRContext *context, ArrayRef<FactorSplit> splits,
                          ArrayRef<int64_t> sizes, dist::MeshAxesAttr mesh) {
  SmallVector<AxisAttr> axes;
  SmallVector<Atom> atoms;
  // Of all factors so far: stored elements for each part.
  int64_t left = 1;
  for (auto [split, size] : llvm::zip(splits, sizes)) {
    int64_t parts = 1;
    for (AxisAttr axis : split.axes)
      parts *= axis.getSize(mesh);
    if (parts > 1 && left != 1)
      return DimAttr();
    left *= split.getExtent(size) / parts;
    llvm::append_range(axes, split.axes);
    if (split.isPadded())
      llvm::append_range(atoms, split.atoms);
    else
      atoms.push_back({size, size});
  }
  return makeDim(context, splittingAxes(axes, mesh), false, -1,
                 canonicalAtoms(atoms));
}

dist::LayoutAttr llmc::layoutFromFactors(const graph::TensorFactors &tensor,
                                         ArrayRef<graph::Factor> factors,
                                         const FactorSplits &splits,
                                         dist::MeshAxesAttr mesh,
                                         dist::LayoutAttr like) {
  SmallVector<DimAttr> dims;
  for (ArrayRef<int> list : tensor) {
    SmallVector<FactorSplit> parts;
    for (int factor : list)
      parts.push_back(splits[factor].value_or(FactorSplit()));
    DimAttr dim =
        assembleDim(like.getContext(), parts, sizesOf(list, factors), mesh);
    if (!dim)
      return {};
    dims.push_back(dim);
  }
  return dist::LayoutAttr::get(like.getContext(), like.getMesh(), dims, {}, {},
                               like.getAt());
}
