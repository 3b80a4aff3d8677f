//===- DimAtoms.cpp - What dims are after reshapes ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimAtoms.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::getShape;

AtomList DimAtoms::add(int64_t size) {
  if (size == 1)
    return {};
  sizes.push_back(size);
  parts.push_back({-1, -1});
  return {static_cast<int>(sizes.size()) - 1};
}

int64_t DimAtoms::sizeOf(ArrayRef<int> atoms) const {
  int64_t size = 1;
  for (int atom : atoms)
    size *= sizes[atom];
  return size;
}

AtomList DimAtoms::expand(ArrayRef<int> atoms) const {
  AtomList expanded;
  for (int atom : atoms) {
    if (parts[atom].first < 0)
      expanded.push_back(atom);
    else
      expanded.append(expand({parts[atom].first, parts[atom].second}));
  }
  return expanded;
}

AtomList DimAtoms::flatten(ArrayRef<AtomList> dims) const {
  AtomList atoms;
  for (ArrayRef<int> dim : dims)
    atoms.append(expand(dim));
  return atoms;
}

std::optional<AtomDims> DimAtoms::regroup(ArrayRef<int> atoms,
                                          ArrayRef<int64_t> shape) {
  SmallVector<int> left(llvm::reverse(expand(atoms)));
  AtomDims dims;
  for (int64_t size : shape) {
    AtomList dim;
    while (size > 1) {
      if (left.empty())
        return std::nullopt;
      int atom = left.pop_back_val();
      int64_t own = sizes[atom];
      if (own == 0 || (size % own != 0 && own % size != 0))
        return std::nullopt;
      if (own > size) {
        int major = add(size).front(), minor = add(own / size).front();
        parts[atom] = {major, minor};
        left.push_back(minor);
        atom = major;
      }
      dim.push_back(atom);
      size /= sizes[atom];
    }
    if (size == 0)
      return std::nullopt;
    dims.push_back(dim);
  }
  if (!left.empty())
    return std::nullopt;
  return dims;
}

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

bool DimAtoms::lookThrough(AtomView &view) {
  Operation *op = view.value.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(op)) {
    AtomDims dims(view.dims.size());
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      dims[from] = view.dims[to];
    view.dims = dims;
  } else if (isa_and_nonnull<stablehlo::ReshapeOp>(op)) {
    std::optional<AtomDims> dims =
        regroup(flatten(view.dims), getShape(op->getOperand(0)));
    if (!dims)
      return false;
    view.dims = *dims;
  } else if (auto broadcast =
                 dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    ArrayRef<int64_t> shape = getShape(broadcast.getOperand());
    AtomDims dims(shape.size());
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (shape[from] != 1)
        dims[from] = view.dims[to];
    view.dims = dims;
  } else {
    return false;
  }
  view.value = op->getOperand(0);
  return true;
}

std::optional<AtomDims> DimAtoms::follow(Operation *op,
                                         ArrayRef<AtomList> dims) {
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    AtomDims permuted;
    for (int64_t from : transpose.getPermutation())
      permuted.push_back(dims[from]);
    return permuted;
  }
  // A broadcast that only adds dims of size 1 is a reshape.
  auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op);
  if (broadcast && !llvm::is_sorted(broadcast.getBroadcastDimensions()))
    return std::nullopt;
  if ((!broadcast && !isa<stablehlo::ReshapeOp>(op)) ||
      countElements(op->getOperand(0)) != countElements(op->getResult(0)))
    return std::nullopt;
  return regroup(flatten(dims), getShape(op->getResult(0)));
}
